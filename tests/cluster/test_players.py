"""Blocks that players play: the same bytes whoever plays them, and what the learner makes of them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cluster_runs import RUNS, cluster_learner, config_of, plain
from plyground.cluster.blocks import decode
from plyground.cluster.feed import Task
from plyground.cluster.learner import results_of
from plyground.cluster.players import BlockPlayer, make_sink
from plyground.cluster.streams import to_bytes
from plyground.errors import UnknownName
from plyground.learners import training
from plyground.learners.training import train
from plyground.runs.directory import create, newest_whole, open_run
from resumed import after_steps, contents, silent

pytestmark = pytest.mark.once


@pytest.mark.parametrize("run", RUNS)
def test_a_block_depends_on_its_stream_and_weights_alone(run: str) -> None:
    """One player plays two streams in turn, from bytes; others play only one of them, block after block."""
    name, config = config_of(run)
    weights = to_bytes(make_sink(name, config).weights())
    busy, states = BlockPlayer(name, plain(config), 8), dict[int, bytes | None]({0: None, 1: None})
    played: dict[tuple[int, int], bytes] = {}
    for number in range(8):
        task = Task(number // 2, number % 2, 1, 0.5, 9)
        played[task.stream, task.number], states[task.stream] = busy.play(task, weights, states[task.stream])
    for stream in (0, 1):
        alone, before = BlockPlayer(name, plain(config), 8), None
        for number in range(4):
            block, before = alone.play(Task(number, stream, 1, 0.5, 9), weights, before)
            assert block == played[stream, number]
    assert played[0, 3] != played[1, 3]


def test_a_block_of_alphazero_holds_whole_games_with_their_targets() -> None:
    """The values are the λ-returns of one machine's learner that has played the same games."""
    name, config = config_of("alphazero")
    player = BlockPlayer(name, plain(config), 24)
    found = player.play(Task(0, 0, 1, 0.0, 5), to_bytes(make_sink(name, config).weights()), None)[0]
    block, learner = decode(found, name, player.player.games.game), player.player.learner
    counts = block.results["counts"]
    assert len(block) == counts["plies"], "all plies of the games that have ended"
    ended = block.plies["flags"] & 3
    assert (ended == 1).sum() == counts["games"] > 8
    assert np.allclose(block.plies["policy"].astype(np.float32).sum(1), 1.0, atol=2e-3)
    final = ended == 1
    value, reward = block.plies["values"][final], block.plies["rewards"][final]
    proven = np.isin(value, (-1.0, 0.0, 1.0))
    lam = learner.config.td_lambda
    assert ((value[~proven] - lam * reward[~proven]) <= 1 - lam + 1e-6).all()
    assert (np.abs(block.plies["values"]) <= 1 + 1e-6).all()


def test_the_learner_learns_from_the_values_of_a_block() -> None:
    learner = cluster_learner("alphazero")
    while learner.learner.replay.time < 10:
        learner.iterate()
    own = learner.learner
    indices = own.replay.draw(200)
    assert own.replay.at(own.replay.usable, indices).all()
    targets = own.replay.lambda_returns(indices, own.found.values, 1.0, 0.85)
    assert torch.equal(targets, own.replay.at(own.found.values, indices))
    assert own.found.ended == own.state.plies == 10 * own.config.num_envs


def test_a_rollout_is_learned_from_as_on_one_machine() -> None:
    """The first rollout of a stream gives the learner the same advantages as its player computes."""
    name, config = config_of("ppo, otherwise")
    player, sink = BlockPlayer(name, plain(config), 8), make_sink(name, config)
    block, _ = player.play(Task(0, 0, 1, 0.0, 5), to_bytes(sink.weights()), None)
    plies, found = decode(block, name, sink.learner.game).plies, list[Any]()
    sink.learner.learn_from_rollout = lambda: found.append(sink.learner.advantages())
    for row in range(config.rollout_length):
        sink.add_row({each: values[row * 8 : row * 8 + 8] for each, values in plies.items()})
    rollout = player.player.rollout
    sink.learner.rollout, sink.learner.model = rollout, rollout.model
    for one, other in zip(found[0], sink.learner.advantages(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("run", RUNS)
def test_a_stopped_run_continues_exactly(run: str, tmp_path: Path) -> None:
    """As every run of one machine does; in deterministic mode."""
    name, config = config_of(run)

    def begin(path: Path) -> Any:
        return create(path, {"learner": name, **asdict(config)})

    learner = cluster_learner(run)
    with begin(tmp_path / "whole") as held:
        train(learner, held, silent, after_steps(learner, 60))
    learner = cluster_learner(run)
    with begin(tmp_path / "parts") as held:
        train(learner, held, silent, after_steps(learner, 30))
    again = cluster_learner(run)
    with open_run(tmp_path / "parts") as held:
        training.load(again, held)
        held.rewind(newest_whole(tmp_path / "parts"))
        train(again, held, silent, after_steps(again, 30))
    assert again.state.updates > 0
    whole, parts = (contents(tmp_path / each) for each in ("whole", "parts"))
    for each in (whole, parts):
        for record in each["metrics"]:
            for timed in ("positions_per_second", "seconds_waited", "staleness", "bytes_per_position"):
                record.pop(timed, None)
    assert whole.keys() == parts.keys()
    for each, values in whole.items():
        assert values == parts[each], each


def test_a_checkpoint_of_a_cluster_continues_on_one_machine_and_back(tmp_path: Path) -> None:
    name, config = config_of("alphazero")
    learner = cluster_learner("alphazero", deterministic=False)
    with create(tmp_path / "run", {"learner": name, **asdict(config)}) as held:
        train(learner, held, silent, after_steps(learner, 30))
        alone = type(learner.learner)(config)
        training.load(alone, held)
        assert len(alone.replay) == len(learner.learner.replay)
        train(alone, held, silent, after_steps(alone, 20))
        again = cluster_learner("alphazero", deterministic=False)
        training.load(again, held)
        train(again, held, silent, after_steps(again, 20))
    assert again.state.step == 70


def test_games_are_counted_and_metrics_say_what_the_cluster_did(tmp_path: Path) -> None:
    name, config = config_of("ppo")
    learner, events = cluster_learner("ppo"), list[Any]()
    with create(tmp_path / "run", {"learner": name, **asdict(config)}) as held:
        train(learner, held, events.append, lambda: learner.state.cycle >= 2)
    cycle = next(event for event in events if event["event"] == "cycle")
    assert cycle["games"] >= config.games_per_cycle
    assert cycle["actors"] == 1
    assert cycle["positions_per_second"] > 0
    assert 0 < cycle["staleness"] <= 2
    assert 10 < cycle["bytes_per_position"] < 100
    assert learner.cycle.cluster().startswith("actors: 1 · ")
    assert results_of(learner.learner).games < config.games_per_cycle


def test_other_learners_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"no learner on a cluster 'dqn'.*known: alphazero, ppo"):
        make_sink("dqn", None)
