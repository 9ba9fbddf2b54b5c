"""The DQN learner: what it resumes, what it refuses, and that it learns."""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT, TINY
from every_line import losses_against_everything
from killed import go_on, work
from plyground.agents.agent import make
from plyground.agents.network import NetworkAgent, View, load_run
from plyground.arena.match import play_match
from plyground.errors import Error, IllegalAction
from plyground.learners import dqn
from plyground.learners.dqn import DQN, DQNLearner
from plyground.learners.loop import train
from plyground.learners.returns import td_targets
from plyground.networks import make_network
from plyground.runs.directory import Run, create, find_checkpoint, newest_whole, read_metrics, steps_of
from resumed import after_steps, check_resume, silent

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SMALL = DQN(game=ROW, network="16", cycles=3, games_per_cycle=40, concurrency=8, memory=400, warm_up=32, batch=16)
SMALL = replace(SMALL, samples_per_ply=1.0, target_update=20, evaluation_games=4, threads=1, yardsticks=("random",))
EVERYTHING = replace(
    SMALL, prioritised=True, n_step=3, opponents=("0.4 self", "0.3 snapshot", "0.3 greedy"), snapshot_interval=1,
    snapshots=2, opening_plies=3, dueling=True, double_dqn=True, epsilon=0.9, epsilon_end=0.1, epsilon_spread=1.0,
    shaping=0.1,
)  # fmt: skip
OTHERWISE = replace(
    SMALL, game=TINY[1], exploration="boltzmann", bootstrap="own", opponents=("0.5 self", "0.5 random"), loss="mse",
    target_soft=0.01, max_steps=9, step_limit_penalty=0.1, share_good=0.3, share_recent=0.3, recent=100, n_step=2,
)  # fmt: skip


def repeat(action: Callable[[], None]) -> None:
    for _ in range(50):
        action()


def begin(path: Path, config: DQN) -> tuple[DQNLearner, Run]:
    config = config.resolved()
    return DQNLearner(config), create(path, {"learner": "dqn", **asdict(config)})


@pytest.mark.parametrize("config", [SMALL, EVERYTHING, OTHERWISE], ids=["small", "everything", "otherwise"])
@pytest.mark.parametrize("stop", [7, 60])
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, config: DQN, stop: int) -> None:
    check_resume(tmp_path, replace(config, cycles=9), DQNLearner, stop)


def test_a_run_of_three_cycles_says_three_of_three(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", EVERYTHING)
    with run:
        assert train(learner, run, silent)
    records = read_metrics(run.path)
    assert [(r["cycle"], r["cycles"]) for r in records if r["event"] == "cycle"] == [(1, 3), (2, 3), (3, 3)]
    assert all(r["illegal_moves"] == 0 for r in records if r["event"] == "cycle")
    texts = [r["text"] for r in records if r["event"] == "note"]
    assert sum("next-state masking is active" in text for text in texts) == 1
    assert any("legal next actions of the first sample" in text for text in texts)
    assert "target network synchronised at update 20 (every 20)" in texts
    evaluations = [r for r in records if r["event"] == "evaluation"]
    assert len(evaluations) == 3
    assert evaluations[-1]["yardsticks"]["random"]["low"] <= evaluations[-1]["yardsticks"]["random"]["score"]
    best = json.loads((run.path / "best.json").read_text())
    assert best["step"] in steps_of(run.path)
    assert (run.path / "games" / f"{learner.step}.txt").read_text().count("#") == 3
    assert len(learner.snapshots) == 2
    again, run = go_on(run.path)
    with run:
        assert train(again, run, silent)
    assert again.step == learner.step, "nothing is left to do"


def test_a_checkpoint_is_there_before_the_first_update(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", replace(SMALL, keep_every=1))
    fresh = {name: value.clone() for name, value in learner.network.state_dict().items()}
    with run:
        train(learner, run, silent, after_steps(learner, 20))
    assert steps_of(run.path)[0] == 0
    saved = find_checkpoint(run.path, "0").tensors("network")
    assert all((fresh[name].numpy() == saved[name]).all() for name in fresh)
    assert any((fresh[name] != value).any() for name, value in learner.network.state_dict().items())


def _killed_again_and_again(path: Path, kills: int) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["killed"])
    learner, run = begin(path, replace(EVERYTHING, cycles=100_000, games_per_cycle=20))
    with run:
        learner.save(run)
    chance, seen, metrics = random.Random(5), 0, path / "metrics.jsonl"
    for kill in range(kills):
        size = metrics.stat().st_size
        process = context.Process(target=work, args=(str(path),))
        process.start()
        while process.is_alive() and metrics.stat().st_size == size:  # it has begun
            time.sleep(0.01)
        while process.is_alive() and kill % 3 == 0 and steps_of(path)[-1] <= seen:  # now and then it gets ahead
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.3))
        process.kill()
        process.join()
        checkpoint = newest_whole(path)
        assert checkpoint.step >= seen, "nothing that was saved is lost"
        learner, run = go_on(path)
        with run:
            records = [r for r in read_metrics(path) if r["event"] == "cycle"]
            assert [r["cycle"] for r in records] == list(range(1, learner.cycle + 1)), "each cycle once"
        seen = checkpoint.step
    assert seen > 0


def test_a_killed_run_resumes(tmp_path: Path) -> None:
    _killed_again_and_again(tmp_path / "run", 3)


@pytest.mark.slow
def test_a_run_killed_at_fifty_moments_resumes(tmp_path: Path) -> None:
    _killed_again_and_again(tmp_path / "run", 50)


# ---- what is refused ----


@pytest.fixture
def small(tmp_path: Path) -> Path:
    learner, run = begin(tmp_path / "small", SMALL)
    with run:
        train(learner, run, silent, after_steps(learner, 20))
    return run.path


def test_another_config_is_refused_by_name(small: Path) -> None:
    checkpoint = newest_whole(small)
    learner = DQNLearner(replace(SMALL.resolved(), batch=32))
    before = learner.network.state_dict()["head.weight"].clone()
    with pytest.raises(Error, match="batch: 32 instead of 16"):
        learner.restore(checkpoint)
    assert (learner.network.state_dict()["head.weight"] == before).all(), "nothing was used"


def test_another_game_or_network_is_refused(small: Path) -> None:
    checkpoint = newest_whole(small)
    with pytest.raises(Error, match="network: '18-16-9' instead of '18-8-9'"):
        DQNLearner(replace(SMALL.resolved(), network="8")).restore(checkpoint)
    with pytest.raises(Error, match="game: "):
        DQNLearner(replace(SMALL, game="connect_four").resolved()).restore(checkpoint)
    with pytest.raises(Error, match=r"learned .*three_in_a_row.py, not connect_four"):
        make(f"run:{small}", pg.load("connect_four"))


def test_a_network_trained_on_connect_four_with_other_rules_settings_is_another_game(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "hops", replace(OTHERWISE, game=f"{TINY[1]}:length=5"))
    with run:
        learner.save(run)
    with pytest.raises(Error, match=r"learned .*length=5, not"):
        load_run(str(run.path), pg.load(TINY[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch": 0}, "batch is a number of at least 1, not 0"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"epsilon": 1.5}, "epsilon is at most 1"),
        ({"cycles": 0}, "needs an end"),
        ({"evaluation_games": 5}, "even"),
        ({"opponents": ("greedy",)}, "an opponent is a weight and a word"),
        ({"opponents": ("x greedy",)}, "an opponent is a weight and a word"),
        ({"opponents": ()}, "no opponent"),
        ({"snapshots": 0}, "snapshots is a number of at least 1"),
        ({"memory": 39, "warm_up": 40}, "memory has room for 32 plies, but learning begins with 40"),
        ({"share_good": 0.8, "share_recent": 0.8}, "together"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        replace(SMALL, **change)


def test_a_run_on_a_gpu_that_is_not_here_is_refused_in_a_sentence() -> None:
    if not torch.cuda.is_available():
        with pytest.raises(Error, match="CUDA"):
            DQNLearner(replace(SMALL.resolved(), device="cuda"))


# ---- masks and signs ----


def test_a_broken_mask_at_selection_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = DQNLearner(replace(SMALL.resolved(), epsilon=0.0, epsilon_end=0.0))
    real = learner.view.legal
    monkeypatch.setattr(learner.view, "legal", lambda states: torch.ones_like(real(states)))
    with pytest.raises(IllegalAction):
        repeat(learner.play)


def test_targets_use_the_mask_of_each_position_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target network that loves illegal actions: learning must not notice, and would without the mask."""
    learner = DQNLearner(SMALL.resolved())
    for _ in range(30):
        learner.play()

    def target(shown: torch.Tensor) -> torch.Tensor:
        own, other = shown[:, 0], shown[:, 1]
        return torch.where(own + other > 0, 1000.0, 0.0)

    monkeypatch.setattr(learner, "target", target)
    learner._update()
    assert learner.averages["td_error"] < 2
    real = learner.view.legal
    monkeypatch.setattr(learner.view, "legal", lambda states: torch.ones_like(real(states)))
    learner.updates = 10
    learner._update()
    assert learner.averages["td_error"] > 10


class Turned(View):
    """A view whose outputs stand for the actions backwards for the second seat."""

    def __init__(self, game: pg.Game) -> None:
        super().__init__(game, "")
        self.slots[1] = self.slots[1, ::-1]
        self.actions, self.turned = np.argsort(self.slots, axis=1).astype(np.int32), True


def test_an_encoder_that_turns_actions() -> None:
    game = pg.load(ROW)
    view, plain = Turned(game), View(game, "")
    states = np.concatenate([game.position("x........").states, game.position("xo.......").states])
    assert view.legal(states)[1].tolist() == plain.legal(states)[1].tolist(), "the first side's turn"
    assert view.legal(states)[0].tolist() == plain.legal(states)[0].tolist()[::-1]
    actions = np.array([3, 4])
    assert view.output_of(states, actions).tolist() == [5, 4]
    assert view.action_of(states, view.output_of(states, actions)).tolist() == [3, 4]


def test_a_network_may_know_only_the_first_actions() -> None:
    """Resting is the last action of that game: never played by the network, never learned from."""
    learner = DQNLearner(replace(replace(SMALL, game=TINY[1]).resolved(), outputs=2, epsilon=0.5, epsilon_end=0.5))
    repeat(learner.play)
    memory = learner.memory
    actions, usable = memory.actions[: memory.filled], memory.usable[: memory.filled]
    assert (actions == 2).any(), "chance may play it"
    assert usable[actions != 2].all()
    assert not usable[actions == 2].any()
    states = memory.states[: memory.filled].reshape(-1)
    running = states[states["outcome"] == 0]
    chosen = NetworkAgent(learner.view, learner.network).act(running, np.zeros(len(running), np.uint64))
    assert (chosen < 2).all()


def test_an_agent_without_states_has_no_actions(connect_four: pg.Game) -> None:
    view = View(connect_four, "")
    agent = NetworkAgent(view, make_network("8", view.shape, view.outputs))
    assert agent.act(pg.Batch(connect_four, 3).states[:0], np.zeros(0, np.uint64)).shape == (0,)


# ---- learning ----

SOLVES = replace(
    SMALL, network="128-64", concurrency=128, games_per_cycle=3000, cycles=5, memory=50_000, batch=128, warm_up=1000,
    samples_per_ply=8.0, target_update=50, opening_plies=5, learning_rate=2e-3, evaluation_games=50, threads=1,
)  # fmt: skip


def test_it_solves_three_in_a_row(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", SOLVES)
    with run:
        train(learner, run, silent)
    game, agent = learner.game, NetworkAgent(learner.view, learner.network)
    perfect = play_match(game, agent, make("minimax:depth=9", game), 200, seed=3, opening_plies=0)
    assert perfect.losses == 0
    assert losses_against_everything(game, agent) == 0
    assert play_match(game, agent, make("random", game), 200, seed=3).score > 0.9


def score_after(updates: int, opponent: str) -> float:
    """Against an opponent, after a few updates on Connect Four."""
    config = replace(SOLVES, game="connect_four", samples_per_ply=4.0, target_update=50, opening_plies=24)
    learner = DQNLearner(config.resolved())
    while learner.updates < updates:
        learner.play()
        learner.learn()
    agent = NetworkAgent(learner.view, learner.network)
    return play_match(learner.game, agent, make(opponent, learner.game), 200, seed=3).score


def test_a_wrong_sign_of_the_outcome_plays_below_random(monkeypatch: pytest.MonkeyPatch) -> None:
    assert score_after(500, "random") > 0.7
    monkeypatch.setattr(dqn, "td_targets", lambda returns, *rest: td_targets(-returns, *rest))
    assert score_after(500, "random") < 0.4


def test_a_wrong_sign_of_the_bootstrap_helps_the_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    right = score_after(1000, "greedy")
    monkeypatch.setattr(dqn, "td_targets", lambda returns, factors, *rest: td_targets(returns, factors.abs(), *rest))
    assert score_after(1000, "greedy") < 0.05 < right


def test_it_learns_something_on_every_game(game: pg.Game, tmp_path: Path) -> None:
    config = replace(SMALL, game=str(game), network="32", max_steps=60, warm_up=64, memory=2000, opponents=("1 self",))
    if any(len(each.shape) == 3 for each in game.encoders.values()):
        config = replace(config, network="b1c4")
    learner = DQNLearner(config.resolved())
    before = {name: value.clone() for name, value in learner.network.state_dict().items()}
    while learner.updates < 50:
        learner.play()
        learner.learn()
    assert any((before[name] != value).any() for name, value in learner.network.state_dict().items())
    assert learner.step > 0


def test_bad_numbers_roll_back_to_the_last_checkpoint(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", SMALL)
    with run:
        train(learner, run, silent, after_steps(learner, 60))
        with torch.no_grad():
            next(learner.network.parameters())[0, 0] = torch.nan
        train(learner, run, silent, after_steps(learner, 40))
        assert learner.rollbacks == 1
        assert all(value.isfinite().all() for value in learner.network.state_dict().values())
        assert any("rolled back to step 60" in r.get("text", "") for r in read_metrics(run.path))
        assert learner.optimizer.param_groups[0]["lr"] <= SMALL.learning_rate / 2


def test_what_keeps_going_wrong_stops(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "hopeless", replace(SMALL, gradient_limit=1e-12))
    with run, pytest.raises(Error, match="after 5 rollbacks: try a smaller learning_rate"):
        train(learner, run, silent)
