"""Policy gradients: their losses by hand, what they resume and refuse, and that they learn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT, TINY
from plyground.agents.agent import make
from plyground.agents.network import View
from plyground.arena.match import play_match
from plyground.errors import Error
from plyground.kernels.replay import RUNS_ON, TERMINATED
from plyground.kernels.threads import available
from plyground.learners.a2c import A2C, A2CLearner
from plyground.learners.loop import train
from plyground.learners.network_learner import faster_threads
from plyground.learners.policy import PolicyLearner, PolicySettings, SamplingAgent
from plyground.learners.ppo import PPO, PPOLearner, clipped_loss
from plyground.learners.reinforce import Reinforce, ReinforceLearner
from plyground.learners.returns import log_probabilities, policy_gradient_loss
from plyground.runs.directory import read_metrics
from resumed import begin, check_resume, silent

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SHORT: dict[str, Any] = {
    "game": ROW, "network": "16+value", "cycles": 3, "games_per_cycle": 60, "concurrency": 8, "rollout": 6,
    "batch": 16, "evaluation_games": 4, "threads": 1, "yardsticks": ("random",), "target_kl": 0.0,
}  # fmt: skip
LEARNERS = {"reinforce": (Reinforce, ReinforceLearner), "a2c": (A2C, A2CLearner), "ppo": (PPO, PPOLearner)}
EVERYTHING = {"opponents": ("0.4 self", "0.3 snapshot", "0.3 greedy"), "snapshot_interval": 1, "snapshots": 2}
EVERYTHING |= {"opening_plies": 3, "entropy_bonus_end": 0.1}
OTHERWISE = {"game": TINY[1], "max_steps": 9, "opponents": ("0.5 self", "0.5 random"), "symmetries": False}


def short(word: str, **changes: Any) -> PolicySettings:
    kind, _ = LEARNERS[word]
    settings = {**SHORT, **changes}
    return kind(**{name: value for name, value in settings.items() if name in kind.__dataclass_fields__})


def learner_of(word: str, **changes: Any) -> PolicyLearner[Any]:
    return LEARNERS[word][1](short(word, **changes).resolved())


# ---- losses ----


def test_the_clipped_loss_at_ratio_1_has_the_gradient_of_the_policy_gradient() -> None:
    generator = torch.Generator().manual_seed(3)
    values, advantages = torch.randn(20, 5, generator=generator), torch.randn(20, generator=generator)
    actions, legal = torch.randint(0, 5, (20, 1), generator=generator), torch.ones(20, 5, dtype=torch.bool)
    gradients: list[torch.Tensor] = []
    for loss_of in (
        lambda logs: clipped_loss(logs, logs.detach(), advantages, 0.2),
        lambda logs: policy_gradient_loss(logs, advantages),
    ):
        free = values.clone().requires_grad_()
        loss_of(log_probabilities(free, legal).gather(1, actions)[:, 0]).backward()
        assert free.grad is not None
        gradients.append(free.grad)
    torch.testing.assert_close(*gradients)
    assert gradients[0].abs().max() > 0


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "moves"),
    [
        (1.1, 2.0, -2.2, True),
        (1.5, 2.0, -2.4, False),  # good and already much likelier: enough
        (0.5, 2.0, -1.0, True),  # good but became less likely: back
        (0.5, -2.0, 1.6, False),  # bad and already much less likely: enough
        (1.5, -2.0, 3.0, True),  # bad but became likelier: back
    ],
)
def test_the_clip_by_hand(ratio: float, advantage: float, loss: float, moves: bool) -> None:
    logs = torch.tensor([ratio]).log().requires_grad_()
    found = clipped_loss(logs, torch.zeros(1), torch.tensor([advantage]), 0.2)
    assert found.item() == pytest.approx(loss)
    found.backward()
    assert logs.grad is not None
    assert (logs.grad.item() != 0) == moves


# ---- what came of a ply ----


def scripted(word: str, plies: list[tuple[int, int, float, int]], values: list[float], **changes: Any) -> Any:
    """A learner with one game whose rollout was this: (side, next side, reward, ended) and the critic's words."""
    learner = learner_of(word, concurrency=1, rollout=len(plies), discount=0.9, **changes)
    memory = learner.memory
    for row, (side, next_side, reward, ended) in enumerate(plies):
        memory.sides[row], memory.next_sides[row], memory.rewards[row] = side, next_side, reward
        memory.ended[row], memory.usable[row], learner.values[row] = ended, True, values[row]
    memory.time = len(plies)
    return learner


CHAIN = [
    (0, 0, 0.0, RUNS_ON),
    (0, 1, 0.0, RUNS_ON),
    (1, 0, 0.0, RUNS_ON),
    (0, 1, 0.0, RUNS_ON),
    (1, 0, 1.0, TERMINATED),
]


def test_k_step_returns_go_from_own_turn_to_own_turn() -> None:
    learner = scripted("a2c", CHAIN, [0.1, 0.2, 0.3, 0.4, 0.5], k_step=1)
    judged = learner.judge()
    assert judged.picked.tolist() == [0, 1, 2, 3, 4]
    # The next ply is mine: its value. Mine again after the opponent's: discounted twice. Then the opponent wins.
    assert judged.targets.tolist() == pytest.approx([0.2, 0.81 * 0.4, 0.81 * 0.5, -0.9, 1.0])
    learner = scripted("a2c", CHAIN, [0.1, 0.2, 0.3, 0.4, 0.5], k_step=2)
    assert learner.judge().targets.tolist() == pytest.approx([0.81 * 0.4, -(0.9**3), 0.81, -0.9, 1.0])


def test_a_ply_whose_next_own_turn_has_not_come_waits() -> None:
    judged = scripted("a2c", CHAIN[:3], [0.1, 0.2, 0.3], k_step=1).judge()
    assert judged.picked.tolist() == [0, 1], "the last ply was the opponent's: its next turn is not there yet"


def test_reinforce_learns_from_each_game_once_when_it_has_ended() -> None:
    learner = learner_of("reinforce", rollout=4, concurrency=16)
    learned: list[tuple[int, int]] = []
    ended = 0
    for _ in range(10):
        for _ in range(4):
            learner.play()
        memory = learner.memory
        judged = learner.judge()
        rows = (memory.newest - judged.picked // 16) % 8
        learned += [(memory.time - 1 - int(age), int(game)) for age, game in zip(rows, judged.picked % 16, strict=True)]
        ended += int((memory.ended[(memory.newest - np.arange(4)) % 8] != RUNS_ON).sum())
        results = np.abs(judged.targets)
        assert np.isclose(results[:, None], [0.0, *(0.99**k for k in range(9))]).any(axis=1).all()
    games = learner.tally.games
    assert ended == games > 50
    assert len(set(learned)) == len(learned), "no ply twice"
    plies = learner.tally.counts["plies"]
    assert plies - 2 * games < len(learned) <= plies, "only plies further back than two rollouts are missing"


def test_plies_of_others_are_not_learned_from() -> None:
    learner = learner_of("ppo", opponents=("1 random",))
    for _ in range(6):
        learner.play()
    theirs = learner.memory.sides != learner.selfplay.side
    running = np.cumsum(learner.memory.ended[::-1] != RUNS_ON, axis=0)[::-1] == 0  # the games that go on still
    assert (learner.memory.usable[running] == ~theirs[running]).all()
    assert set(learner.judge().picked) == set(np.flatnonzero(learner.memory.usable))


def test_what_is_learned_from_is_the_image_that_was_seen() -> None:
    learner = learner_of("ppo", game="connect_four", concurrency=64, opening_plies=9)
    for _ in range(6):
        learner.play()
    memory, view = learner.memory, learner.view
    states, actions = memory.states.reshape(-1), memory.actions.reshape(-1).astype(np.int64)
    logits, values = learner.network.with_value(view.observe(states))
    logs = log_probabilities(logits, view.legal(states)).gather(1, torch.from_numpy(actions)[:, None])[:, 0]
    np.testing.assert_allclose(logs.detach().numpy(), learner.logs.reshape(-1), atol=1e-5)
    np.testing.assert_allclose(values.detach().numpy(), learner.values.reshape(-1), atol=1e-5)
    played, after = states.copy(), memory.after.reshape(-1)
    game = learner.game
    game.kernels().play_all(played, actions.astype(np.int32), np.zeros(len(played), np.uint64), game.work())
    mirrored = played.copy()
    game.kernels().transform_all(mirrored, np.ones(len(played), np.int32))
    same, turned = played["stones"] == after["stones"], mirrored["stones"] == after["stones"]
    assert (same.all(1) | turned.all(1)).all()
    assert 100 < same.all(1).sum() < 284, "about half of them are turned"


def test_a_sampling_agent_plays_as_often_as_its_network_says(connect_four: pg.Game) -> None:
    learner = learner_of("ppo", game="connect_four")
    with torch.no_grad():
        learner.network.head.policy.bias[:] = torch.arange(7) / 3  # type: ignore
        start = connect_four.start().states
        wanted = learner.network(learner.view.observe(start)).softmax(1)[0].numpy()
    agent = SamplingAgent(learner.view, learner.network)
    actions = agent.act(np.repeat(start, 20_000), pg.Batch(connect_four, 20_000, seed=5).rngs)
    np.testing.assert_allclose(np.bincount(actions, minlength=7) / 20_000, wanted, atol=0.02)


# ---- passes ----


def test_passes_end_where_the_policy_has_moved_far_enough() -> None:
    counts: list[int] = []
    for target in (0.0, 1e-7):
        learner = learner_of("ppo", target_kl=target, learning_rate=0.01)
        for _ in range(6):
            learner.advance()
        counts.append(learner.updates)
    assert counts == [9, 2], "48 plies in batches of 16, three passes; or until it has moved at all"


# ---- runs ----


@pytest.mark.parametrize("word", LEARNERS)
@pytest.mark.parametrize("changes", [{}, EVERYTHING, OTHERWISE], ids=["small", "everything", "otherwise"])
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, word: str, changes: dict[str, Any]) -> None:
    check_resume(tmp_path, short(word, **changes, cycles=9), LEARNERS[word][1], 33)


def test_a_run_tells_its_numbers_and_puzzles(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("ppo"), PPOLearner)
    with run:
        assert train(learner, run, silent)
    records = read_metrics(run.path)
    cycles = [record for record in records if record["event"] == "cycle"]
    assert {"policy_loss", "value_error", "entropy", "gradient", "kl", "distinct"} <= cycles[-1].keys()
    evaluation = next(record for record in records if record["event"] == "evaluation")
    assert evaluation["puzzles"].keys() == {"win_in_1", "block_in_1"}


@pytest.mark.parametrize(
    ("word", "change", "message"),
    [
        ("ppo", {"network": "16"}, r"value head: 16\+value, not 16"),
        ("ppo", {"trace": 1.5}, "trace is at most 1"),
        ("ppo", {"epochs": 0}, "epochs is a number of at least 1"),
        ("a2c", {"k_step": 0}, "k_step is a number of at least 1"),
        ("reinforce", {"rollout": 1}, "rollout is a number of at least 2"),
        ("reinforce", {"entropy_bonus_end": 2.0}, "entropy_bonus_end is at most 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(word: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        short(word, **change)


@pytest.mark.parametrize("name", ["paco_sako", "sequence", "chess"])
def test_any_game_of_ours(name: str) -> None:
    learner = learner_of("ppo", game=name, max_steps=8, concurrency=4)
    for _ in range(12):
        learner.advance()
    assert learner.updates > 0
    assert all(np.isfinite(value) for value in learner.averages.values())


# ---- learning ----

SOLVES: dict[str, Any] = {
    "network": "128-64+value", "games_per_cycle": 3000, "batch": 256, "opening_plies": 3, "entropy_bonus_end": 0.1,
}  # fmt: skip
PPO_SOLVES = SOLVES | {"concurrency": 128, "rollout": 16, "learning_rate": 2e-3, "entropy_bonus": 0.02, "cycles": 6}
REINFORCE_SOLVES = SOLVES | {"concurrency": 32, "rollout": 9, "learning_rate": 4e-3, "entropy_bonus": 0.1, "cycles": 10}


def trained(word: str, **changes: Any) -> PolicyLearner[Any]:
    learner = learner_of(word, **changes)
    while not learner.finished:
        learner.advance()
        if learner.cycle_is_full:
            learner.end_cycle()
    return learner


@pytest.mark.parametrize(("word", "changes"), [("ppo", PPO_SOLVES), ("reinforce", REINFORCE_SOLVES)])
def test_it_never_loses_three_in_a_row_to_perfect_play_as_first_player(word: str, changes: dict[str, Any]) -> None:
    learner = trained(word, **changes)
    game, agent = learner.game, learner.agent()
    match = play_match(game, agent, make("minimax:depth=9", game), 1000, seed=3, opening_plies=0)
    as_first = match.scores[:, 0]
    assert len(as_first) == 500
    assert (as_first > 0).all()
    assert play_match(game, agent, make("random", game), 200, seed=3).score > 0.85


def test_a_wrong_sign_plays_below_random(monkeypatch: pytest.MonkeyPatch) -> None:
    def score() -> float:
        learner = trained("a2c", **{**PPO_SOLVES, "rollout": 4, "learning_rate": 4e-3, "cycles": 3})
        return play_match(learner.game, learner.agent(), make("random", learner.game), 400, seed=3).score

    assert score() > 0.6
    real = A2CLearner.judge

    def wrong(self: A2CLearner) -> Any:
        judged = real(self)
        return judged._replace(advantages=-judged.advantages)

    monkeypatch.setattr(A2CLearner, "judge", wrong)
    assert score() < 0.4


def test_another_algorithm_is_refused(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("a2c"), A2CLearner)
    with run:
        checkpoint = learner.save(run)
    with pytest.raises(Error, match="k_step"):
        learner_of("ppo").restore(checkpoint)


def test_choosing_threads_takes_no_time_worth_waiting_for(connect_four: pg.Game) -> None:
    """However large the batch, and however slow the network."""
    view, rows = View(connect_four, ""), list[int]()

    class Slow(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
            rows.append(len(input))
            time.sleep(0.1)
            return super().forward(input.flatten(1))

    assert faster_threads(Slow(view.shape[0] * 42, 7), view, 1 << 20) in (1, available())
    assert len(rows) <= 2 * 4  # one of each that is not timed, and what a quarter of a second has room for
    assert max(rows) <= 256
