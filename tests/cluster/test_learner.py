"""A learner whose games are played elsewhere: its blocks, checkpoints, counts and metrics."""

from __future__ import annotations

import copy
import itertools
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cluster_runs import RUNS, cluster_learner, config_of, kept, plain, same, trained
from plyground.cluster.actors import Actor, Task
from plyground.cluster.streams import distributed, weights_of
from plyground.errors import UnknownName
from plyground.kernels import threads
from plyground.learners import training
from plyground.learners.state import Diverged
from plyground.learners.training import train
from plyground.runs.directory import create, newest_whole, open_run
from pretended_ray import PretendedRay
from resumed import after_steps, silent

pytestmark = pytest.mark.once


def actor_of(run: str, rows: int = 8) -> tuple[Actor, bytes]:
    """An actor, and the weights that the learner publishes at first."""
    name, config = config_of(run)
    actor = Actor(name, plain(config), rows)
    threads.limit(2**31)
    return actor, weights_of(distributed(name, config))


# ---- blocks ----


def _of(actor: Any) -> Any:
    """The learner within an actor."""
    return actor.own.learner


def test_a_block_of_alphazero_holds_whole_games_with_their_targets() -> None:
    """The values are the λ-returns of one machine's learner that has played the same games."""
    actor, weights = actor_of("alphazero", 24)
    block, _ = actor.play(Task(0, 0, 1, 0.0), weights, None)
    plies, lam = block.plies, _of(actor).config.td_lambda
    assert len(plies["states"]) == block.counts["plies"], "all plies of the games that have ended"
    final = plies["ended"] == 1
    assert final.sum() == block.counts["games"] > 8
    sums = np.add.reduceat(plies["searched.policy"].astype(np.float32), np.cumsum([0, *plies["lengths"][:-1]]))
    assert np.allclose(sums, 1.0, atol=2e-3)
    value, reward = plies["searched.values"][final], plies["rewards"][final]
    proven = np.isin(value, (-1.0, 0.0, 1.0))
    assert ((value[~proven] - lam * reward[~proven]) <= 1 - lam + 1e-6).all()
    assert (np.abs(plies["searched.values"]) <= 1 + 1e-6).all()


def test_the_learner_learns_from_the_values_of_a_block() -> None:
    whole = cluster_learner("alphazero")
    while (learner := whole.learner).replay.time < 10:
        whole.iterate()
    indices = learner.replay.draw(200)
    assert learner.replay.at(learner.replay.usable, indices).all()
    targets = learner.replay.lambda_returns(indices, learner.found.values, 1.0, 0.85)
    assert torch.equal(targets, learner.replay.at(learner.found.values, indices))
    assert learner.found.ended == learner.state.plies == 10 * learner.config.num_envs


def test_a_rollout_is_learned_from_as_on_one_machine() -> None:
    """The first rollout of a stream gives the learner the same advantages as its player computes."""
    run, found = "ppo, otherwise", list[Any]()
    (actor, weights), own = actor_of(run), distributed(*config_of(run))
    learner: Any = own.learner
    plies = own.unpack(actor.play(Task(0, 0, 1, 0.0), weights, None)[0].plies)
    learner.learn_from_rollout = lambda: found.append(learner.advantages())
    for row in range(learner.config.rollout_length):
        own.add({each: values[row * 8 : row * 8 + 8] for each, values in plies.items()})
    for one, other in zip(found[0], _of(actor).advantages(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("run", RUNS)
def test_a_block_depends_on_its_stream_and_weights_alone(run: str) -> None:
    """One actor plays two streams in turn; others play only one of them, block after block."""
    busy, weights = actor_of(run)
    states, played = dict[int, Any]({0: None, 1: None}), dict[tuple[int, int], Any]()

    def play(actor: Actor, number: int, stream: int, before: Any) -> Any:
        block, after = copy.deepcopy(actor.play(Task(number, stream, 1, 0.5), weights, before))  # as Ray sends it
        return ({name: each.tobytes() for name, each in block.plies.items()}, *block[1:]), after

    for number, stream in itertools.product(range(4), range(2)):
        played[stream, number], states[stream] = play(busy, number, stream, states[stream])
    for stream in range(2):
        (alone, _), before = actor_of(run), None
        for number in range(4):
            block, before = play(alone, number, stream, before)
            assert block == played[stream, number]
    assert played[0, 3] != played[1, 3]
    name, config = config_of(run)
    block, one = play(busy, 0, 0, None)
    weights = weights_of(distributed(name, replace(config, seed=9)))  # of the same version, as after a rollback
    another, other = play(busy, 0, 0, None)
    assert block != another or any(one[each].tobytes() != other[each].tobytes() for each in one)


@pytest.mark.parametrize("run", RUNS)
def test_the_games_of_a_stream_go_on_in_its_next_block(run: str) -> None:
    """All plies are those of games that have ended or go on; a new stream leaves nothing of the one before."""
    (actor, weights), before, ended = actor_of(run), None, 0
    config = actor.own.learner.config
    rows = getattr(config, "rollout_length", 8)
    for number in range(4):
        block, before = copy.deepcopy(actor.play(Task(number, 0, 1, 0.5), weights, before))
        ended += block.counts["plies"]
        assert ended + before["games.plies"].sum() == (number + 1) * rows * config.num_envs
    left = actor.own.games.turns
    _, other = actor.play(Task(0, 0, 1, 0.5), weights, None)
    assert other["games.plies"].sum() <= rows * config.num_envs
    assert actor.own.games.turns is not left


def test_an_actor_with_a_short_buffer_sends_the_last_plies_of_its_games() -> None:
    """In the same order and with the same targets as one that holds whole games."""
    name, config = config_of("alphazero")
    found = list[list[tuple[bytes, ...]]]()
    for size in (400, 16):  # rows of 9 plies and more, and of 6
        actor = Actor(name, plain(replace(config, buffer_size=size, learning_starts=1, batch_size=1)), 4)
        weights, before, rows = weights_of(actor.own), None, list[tuple[bytes, ...]]()
        for number in range(6):
            block, before = copy.deepcopy(actor.play(Task(number, 0, 1, 0.5), weights, before))
            columns = (block.plies[each] for each in ("states", "actions", "searched.values"))
            rows += [tuple(each.tobytes() for each in ply) for ply in zip(*columns, strict=True)]
        found.append(rows)
    threads.limit(2**31)
    whole = iter(found[0])
    assert all(ply in whole for ply in found[1])
    assert len(found[0]) > len(found[1]) > 20


def test_other_learners_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"no learner on a cluster 'dqn'.*known: alphazero, ppo"):
        distributed("dqn", None)


# ---- runs ----


def begun(path: Path, run: str) -> Any:
    name, config = config_of(run)
    return create(path, {"learner": name, **asdict(config)})


@pytest.mark.parametrize("run", RUNS)
def test_a_stopped_run_continues_exactly_and_the_order_of_arrival_changes_nothing(run: str, tmp_path: Path) -> None:
    """As every run of one machine does; in deterministic mode."""
    learner = cluster_learner(run, PretendedRay(order=max), actors=3)
    whole = trained(run, tmp_path / "whole", learner, after_steps(learner, 60))
    learner = cluster_learner(run)
    trained(run, tmp_path / "parts", learner, after_steps(learner, 30))
    again = cluster_learner(run)
    with open_run(tmp_path / "parts") as held:
        training.load(again, held)
        held.rewind(newest_whole(tmp_path / "parts"))
        train(again, held, silent, after_steps(again, 30))
    assert again.state.updates > 0
    same(whole, kept(tmp_path / "parts"))


def test_a_checkpoint_of_a_cluster_continues_on_one_machine_and_back(tmp_path: Path) -> None:
    learner = cluster_learner("alphazero", deterministic=False)
    with begun(tmp_path / "run", "alphazero") as held:
        train(learner, held, silent, after_steps(learner, 30))
        alone = type(learner.learner)(learner.config)
        training.load(alone, held)
        assert len(alone.replay) == len(learner.learner.replay)
        train(alone, held, silent, after_steps(alone, 20))
        again = cluster_learner("alphazero", deterministic=False)
        training.load(again, held)
        train(again, held, silent, after_steps(again, 20))
    assert again.state.step == 70


def test_a_checkpoint_of_an_older_version_begins_new_games() -> None:
    """Its blocks and streams were bytes of another form; nothing that was learned is lost."""
    learner = cluster_learner("ppo")
    older = {name: np.zeros(9, np.uint8) for name in ("stream0", "block0")}
    learner.feed.load_state(
        {"number": 7, "version": 3, "changed": False, "epoch": 0, "tasks.0": [6, 0, 3, 0.5, 0], **older}
    )
    learner.queue.load_state({"flags": np.zeros(5, np.uint8), "states": np.zeros((5, 8), np.uint8)})
    assert len(learner.queue) == 0
    while learner.iterate() is None:
        pass
    first = next(call.arguments for call in learner.actors.ray.calls if call.name == "play")
    assert (first[0].number, first[0].version, first[2]) == (7, 3, None)


def test_games_are_counted_and_metrics_say_what_the_cluster_did(tmp_path: Path) -> None:
    learner, events = cluster_learner("ppo"), list[Any]()
    with begun(tmp_path / "run", "ppo") as held:
        train(learner, held, events.append, lambda: learner.state.cycle >= 2)
    cycle = next(event for event in events if event["event"] == "cycle")
    assert cycle["games"] >= learner.config.games_per_cycle
    assert cycle["actors"] == 1
    assert cycle["positions_per_second"] > 0
    assert 0 < cycle["staleness"] <= 2
    assert 10 < cycle["bytes_per_position"] < 100
    assert learner.cluster().startswith("actors: 1 · ")
    assert learner.own.games.results.games < learner.config.games_per_cycle


def test_a_run_that_diverges_goes_back_to_its_checkpoint_and_on(tmp_path: Path) -> None:
    learner = cluster_learner("ppo")
    with begun(tmp_path / "run", "ppo") as held:
        train(learner, held, silent, after_steps(learner, 30))
        while learner.state.step < 47:
            learner.state.step += learner.iterate() is not None
        training.roll_back(learner, held, Diverged("the loss is nan"))
        assert (learner.state.step, learner.state.rollbacks) == (30, 1)
        train(learner, held, silent, after_steps(learner, 20))
    assert learner.state.step == 50
