"""The DQN learner: what it resumes, what it refuses, and that it learns."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT, TINY
from every_line import losses_against_everything
from killed import go_on, kill_again_and_again
from plyground.agents.registry import load_run, make
from plyground.arena.match import play_match
from plyground.errors import Error, IllegalAction
from plyground.games.interface import FIRST_WINS
from plyground.learners import dqn, saving, training
from plyground.learners.config import DQN
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner, best_legal, td_targets, value_spread
from plyground.learners.training import train
from plyground.networks import entropy
from plyground.runs.directory import find_checkpoint, newest_whole, steps_of
from resumed import after_steps, begin, check_resume, silent
from runs_on_disk import read_records

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SMALL = DQN(game=ROW, network="16", cycles=3, games_per_cycle=40, num_envs=8, buffer_size=400, learning_starts=32)
SMALL = replace(SMALL, batch_size=16, replay_ratio=1.0, target_update_interval=20, eval_games=4, threads=1)
SMALL = replace(SMALL, eval_opponents=("random",))
EVERYTHING = replace(
    SMALL, prioritized_replay=True, n_step=3, opponents=("0.4 self", "0.3 snapshot", "0.3 greedy"), shaping_coef=0.1,
    snapshot_interval=1, snapshots=2, opening_plies=3, dueling=True, double_dqn=True, exploration_initial_eps=0.9,
    exploration_final_eps=0.1, exploration_spread=1.0,
)  # fmt: skip
KILLED = replace(EVERYTHING, cycles=100_000, games_per_cycle=20)
OTHERWISE = replace(
    SMALL, game=TINY[1], exploration="boltzmann", bootstrap="own_turn", opponents=("0.5 self", "0.5 random"),
    loss="mse", tau=0.01, max_plies=9, truncation_penalty=0.1, decided_share=0.3, recent_share=0.3, recent_size=100,
    n_step=2, undecided_share=0.5,
)  # fmt: skip


def repeat(action: Callable[[], None]) -> None:
    for _ in range(50):
        action()


def small_learner(**changes: Any) -> DQNLearner:
    return DQNLearner(resolve(replace(SMALL, **changes)))


@pytest.mark.parametrize("config", [SMALL, EVERYTHING, OTHERWISE], ids=["small", "everything", "otherwise"])
@pytest.mark.parametrize("stop", [7, 60])
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, config: DQN, stop: int) -> None:
    check_resume(tmp_path, replace(config, cycles=9), stop)


def test_a_run_of_three_cycles_says_three_of_three(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", EVERYTHING)
    with run:
        assert train(learner, run, silent)
    records = read_records(run.path)
    assert [(r["cycle"], r["cycles"]) for r in records if r["event"] == "cycle"] == [(1, 3), (2, 3), (3, 3)]
    assert all(r["illegal_moves"] == 0 for r in records if r["event"] == "cycle")
    texts = [r["text"] for r in records if r["event"] == "note"]
    assert sum("next-state masking is active" in text for text in texts) == 1
    assert any("legal next actions of the first sample" in text for text in texts)
    assert "target network synchronised at update 20 (every 20)" in texts
    evaluations = [r for r in records if r["event"] == "evaluation"]
    assert len(evaluations) == 3
    score = evaluations[-1]["eval_opponents"]["random"]
    assert score["low"] <= score["score"] <= score["high"]
    assert score["games"] == score["wins"] + score["draws"] + score["losses"] + score["truncated"] == 4
    best = json.loads((run.path / "best.json").read_text())
    assert best["step"] in steps_of(run.path)
    assert (run.path / "games" / f"{learner.state.step}.txt").read_text().count("#") == 3
    assert len(learner.model.snapshots.networks) == 2
    again, run = go_on(run.path)
    with run:
        assert train(again, run, silent)
    assert again.state.step == learner.state.step, "nothing is left to do"


def test_a_checkpoint_is_there_before_the_first_update(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", replace(SMALL, keep_every=1))
    fresh = {name: value.clone() for name, value in learner.q_network.state_dict().items()}
    with run:
        train(learner, run, silent, after_steps(learner, 20))
    assert steps_of(run.path)[0] == 0
    saved = find_checkpoint(run.path, "0").tensors("network")
    assert all((fresh[name].numpy() == saved[name]).all() for name in fresh)
    assert any((fresh[name] != value).any() for name, value in learner.q_network.state_dict().items())


def test_a_killed_run_resumes(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "run", KILLED, 3)


@pytest.mark.slow
def test_a_run_killed_at_fifty_moments_resumes(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "run", KILLED, 50)


# ---- what is refused ----


@pytest.fixture
def small(tmp_path: Path) -> Path:
    learner, run = begin(tmp_path / "small", SMALL)
    with run:
        train(learner, run, silent, after_steps(learner, 20))
    return run.path


def test_another_config_is_refused_by_name(small: Path) -> None:
    checkpoint = newest_whole(small)
    learner = small_learner(batch_size=32)
    before = learner.q_network.state_dict()["head.weight"].clone()
    with pytest.raises(Error, match="batch_size: 32 instead of 16"):
        saving.load(learner, checkpoint)
    assert (learner.q_network.state_dict()["head.weight"] == before).all(), "nothing was used"


def test_another_game_or_network_is_refused(small: Path) -> None:
    checkpoint = newest_whole(small)
    with pytest.raises(Error, match="network: '18-16-9' instead of '18-8-9'"):
        saving.load(small_learner(network="8"), checkpoint)
    with pytest.raises(Error, match="game: "):
        saving.load(small_learner(game="connect_four"), checkpoint)
    with pytest.raises(Error, match=r"learned .*three_in_a_row.py, not connect_four"):
        make(f"run:{small}", pg.load("connect_four"))


def test_a_network_trained_on_connect_four_with_other_rules_settings_is_another_game(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "hops", replace(OTHERWISE, game=f"{TINY[1]}:length=5"))
    with run:
        training.save(learner, run)
    with pytest.raises(Error, match=r"learned .*length=5, not"):
        load_run(str(run.path), pg.load(TINY[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"batch_size": 0}, "batch_size is a number of at least 1, not 0"),
        ({"learning_rate": float("nan")}, "learning_rate is a number of at least 0, not nan"),
        ({"exploration_initial_eps": 1.5}, "exploration_initial_eps is at most 1, not 1.5"),
        ({"eval_games": 5}, "eval_games is even, not 5"),
        ({"opponents": ("greedy",)}, "an opponent is a weight and an agent spec, such as '0.2 greedy', not 'greedy'"),
        ({"opponents": ("x greedy",)}, "an opponent is a weight and an agent spec"),
        ({"snapshots": 0}, "snapshots is a number of at least 1"),
        ({"buffer_size": 39, "learning_starts": 40}, "buffer_size holds 32 plies, but updates begin with 40"),
        ({"decided_share": 0.8, "recent_share": 0.8}, "together"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        replace(SMALL, **change)


def test_a_run_on_a_gpu_that_is_not_here_is_refused_in_a_sentence() -> None:
    if not torch.cuda.is_available():
        with pytest.raises(Error, match="CUDA"):
            small_learner(device="cuda")


# ---- masks and signs ----


def test_a_broken_mask_at_selection_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = small_learner(exploration_initial_eps=0.0, exploration_final_eps=0.0)
    real = learner.view.legal
    monkeypatch.setattr(learner.view, "legal", lambda states: torch.ones_like(real(states)))
    with pytest.raises(IllegalAction):
        repeat(learner.play)


def test_targets_use_the_mask_of_each_next_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target network with high values for illegal actions: they change no target, and would without the mask."""
    learner = small_learner()
    for _ in range(30):
        learner.play()

    def target_network(observations: torch.Tensor) -> torch.Tensor:
        own, other = observations[:, 0], observations[:, 1]
        return torch.where(own + other > 0, 1000.0, 0.0)

    monkeypatch.setattr(learner, "target_network", target_network)
    monkeypatch.setattr(learner, "_update_target_network", lambda: None)
    batch = learner.replay.sample(200, gamma=0.9)
    assert learner.targets(batch).abs().max() <= 1
    assert learner.update()["td_error"] < 2
    real = learner.view.legal
    monkeypatch.setattr(learner.view, "legal", lambda states: torch.ones_like(real(states)))
    assert learner.targets(batch).abs().max() > 100
    learner.state.updates = 10  # the metrics of the next update are read
    assert learner.update()["td_error"] > 10


def test_a_network_may_know_only_the_first_actions() -> None:
    """Resting is the last action of that game: never played by the network, never learned from."""
    learner = small_learner(game=TINY[1], outputs=2, exploration_initial_eps=0.5, exploration_final_eps=0.5)
    repeat(learner.play)
    replay = learner.replay
    actions, usable = replay.actions[: replay.filled], replay.usable[: replay.filled]
    assert (actions == 2).any(), "exploration may play it"
    assert usable[actions != 2].all()
    assert not usable[actions == 2].any()
    states = replay.games.to_records(replay.states[: replay.filled].flatten(0, 1))
    running = states[states["outcome"] == 0]
    assert len(running) > 100
    chosen = learner.model.agent().act(running, np.zeros(len(running), np.uint64))
    assert (chosen < 2).all()


# ---- the imitation reward ----


def test_the_imitation_reward_is_for_the_teachers_choice(connect_four: pg.Game) -> None:
    learner = small_learner(game="connect_four", imitation_coef=0.25, cycles=10)
    states = learner.view.rows(np.repeat(connect_four.position("121212").states, 3))  # column 1 wins
    actions = torch.tensor([0, 1, 6], dtype=torch.int32)
    rewards = learner._imitation_rewards(states, actions)
    assert isinstance(rewards, torch.Tensor)
    assert rewards.tolist() == [0.25, 0.0, 0.0]
    learner.state.cycle = 5
    learner.state.progress = training.progress(learner)  # half of the run is over
    assert learner.guidance == 0.5
    rewards = learner._imitation_rewards(states, actions)
    assert isinstance(rewards, torch.Tensor)
    assert rewards.tolist() == [0.125, 0.0, 0.0]
    assert small_learner(shaping_fraction=0.25).guidance == 1.0


def test_the_imitation_reward_is_for_any_of_the_teachers_k_best(connect_four: pg.Game) -> None:
    position = connect_four.position("44")
    for k in (1, 3):
        learner = small_learner(game="connect_four", imitation_coef=0.25, imitation_top_k=k)
        assert learner.teacher is not None
        best = learner.teacher.lessons(position.states, 7, 1.0).moves[0].tolist()
        rewards = learner._imitation_rewards(
            learner.view.rows(np.repeat(position.states, 7)), torch.tensor(best, dtype=torch.int32)
        )
        assert isinstance(rewards, torch.Tensor)
        assert rewards.tolist() == [0.25] * k + [0.0] * (7 - k)


def test_the_imitation_reward_is_for_own_plies_only() -> None:
    """An opponent that plays as the teacher would is not rewarded for it."""
    learner = small_learner(
        game="connect_four", num_envs=32, buffer_size=32 * 40, learning_starts=32 * 40, exploration_initial_eps=0.2,
        exploration_final_eps=0.2, imitation_coef=0.25, opponents=("0.5 self", "0.5 greedy"), games_per_cycle=10**9,
    )  # fmt: skip
    own: list[list[bool]] = []
    for _ in range(40):
        own.append(learner.games.own_turns().tolist())
        learner.play()
    replay, mine, teacher = learner.replay, np.array(own), learner.teacher
    assert teacher is not None
    states = replay.games.to_records(replay.states.flatten(0, 1))
    after = replay.games.to_records(replay.next_states.flatten(0, 1))
    agrees = teacher.act(states, np.zeros(len(states), np.uint64)).reshape(mine.shape) == replay.actions.numpy()
    plain = (after["outcome"] == FIRST_WINS + states["to_move"]).reshape(mine.shape)  # nobody loses by an own move
    assert replay.plies.rewards.numpy() - plain == pytest.approx(0.25 * (agrees & mine), abs=1e-6)
    assert (agrees & ~mine).sum() > 20
    assert (agrees & mine).sum() > 20


# ---- learning ----

SOLVES = replace(
    SMALL, network="128-64", num_envs=128, games_per_cycle=3000, cycles=5, buffer_size=50_000, batch_size=128,
    learning_starts=1000, replay_ratio=8.0, target_update_interval=50, opening_plies=5, eval_games=50,
)  # fmt: skip


def test_it_solves_three_in_a_row(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", SOLVES)
    with run:
        train(learner, run, silent)
    game, agent = learner.game, learner.model.agent()
    perfect = play_match(game, agent, make("minimax:depth=9", game), 200, seed=3, opening_plies=0)
    assert perfect.losses == 0
    assert losses_against_everything(game, agent) == 0
    assert play_match(game, agent, make("random", game), 200, seed=3).score > 0.9


def score_after(updates: int, opponent: str) -> float:
    """Against an opponent, after a few updates on Connect Four."""
    learner = DQNLearner(resolve(replace(SOLVES, game="connect_four", seed=2, replay_ratio=4.0, opening_plies=24)))
    while learner.state.updates < updates:
        learner.iterate()
    return play_match(learner.game, learner.model.agent(), make(opponent, learner.game), 200, seed=3).score


def test_a_wrong_sign_of_the_outcome_plays_below_random(monkeypatch: pytest.MonkeyPatch) -> None:
    assert score_after(500, "random") > 0.7
    monkeypatch.setattr(dqn, "td_targets", lambda returns, *rest: td_targets(-returns, *rest))
    assert score_after(500, "random") < 0.4


def test_a_wrong_sign_of_the_bootstrap_helps_the_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    right = score_after(1000, "greedy")
    monkeypatch.setattr(dqn, "td_targets", lambda returns, signed, *rest: td_targets(returns, signed.abs(), *rest))
    assert score_after(1000, "greedy") < 0.05
    assert right > 0.1


def test_bad_numbers_roll_back_to_the_last_checkpoint(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", SMALL)
    with run:
        train(learner, run, silent, after_steps(learner, 60))
        with torch.no_grad():
            next(learner.q_network.parameters())[0, 0] = torch.nan
        train(learner, run, silent, after_steps(learner, 40))
        assert learner.state.rollbacks == 1
        assert all(value.isfinite().all() for value in learner.q_network.state_dict().values())
        assert any("rolled back to step 60" in r.get("text", "") for r in read_records(run.path))
        assert learner.model.optimizer.param_groups[0]["lr"] <= SMALL.learning_rate / 2


def test_what_keeps_going_wrong_stops(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "hopeless", replace(SMALL, rollback_grad_norm=1e-12))
    with run, pytest.raises(Error, match="after 5 rollbacks: try a smaller learning_rate"):
        train(learner, run, silent)


# ---- by hand ----

LEGAL = torch.tensor([[True, True, False], [False, True, True]])
TARGET = torch.tensor([[0.2, 0.5, 9.0], [9.0, -0.5, -0.25]])
ONLINE = torch.tensor([[0.9, 0.1, 8.0], [8.0, 0.3, 0.2]])


def test_targets_with_sign_and_mask() -> None:
    # The turn passed: minus and discounted. It did not: plus and whole.
    found = td_targets(torch.tensor([0.0, 0.1]), torch.tensor([-0.9, 1.0]), TARGET, LEGAL)
    assert found.tolist() == pytest.approx([-0.45, -0.15])


def test_in_double_dqn_the_online_network_selects_and_the_target_network_evaluates() -> None:
    found = td_targets(torch.tensor([0.0, 0.0]), torch.tensor([-0.9, 1.0]), TARGET, LEGAL, ONLINE)
    assert found.tolist() == pytest.approx([-0.18, -0.5])


def test_nothing_comes_after_the_end() -> None:
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    found = td_targets(torch.tensor([1.0, -1.0]), torch.tensor([0.0, 0.0]), TARGET, nothing)
    assert found.tolist() == [1.0, -1.0]
    assert best_legal(TARGET, nothing).tolist() == [0.0, 0.0]


def test_the_entropy_of_values_depends_on_their_differences_not_on_their_scale() -> None:
    """Of a softmax with temperature 1 it would be that of an even choice for all values near 0."""
    legal = torch.ones(2, 4, dtype=torch.bool)
    clear, vague = torch.tensor([[1.0, 0, 0, 0]] * 2), torch.tensor([[1.0, 0.9, 0.1, 0]] * 2)
    found = {
        (name, scale): float(entropy(values * scale, legal, value_spread(values * scale, legal)).mean())
        for name, values in (("clear", clear), ("vague", vague))
        for scale in (1.0, 0.01)
    }
    assert found["clear", 1.0] == pytest.approx(found["clear", 0.01], abs=1e-3)
    assert found["clear", 1.0] < found["vague", 1.0] < np.log(4) - 0.2
    assert float(value_spread(torch.zeros(2, 4), legal)) > 0


def test_undecided_games_leave_the_replay_buffer_when_they_end() -> None:
    config = {"num_envs": 16, "buffer_size": 16 * 60, "learning_starts": 900, "games_per_cycle": 10**9, "max_plies": 6}
    learners = {share: small_learner(undecided_share=share, **config) for share in (0.0, 1.0)}
    for learner in learners.values():
        for _ in range(60):
            learner.play()
    replay = learners[0.0].replay
    decided, usable = replay.decided.numpy(), replay.usable.numpy()
    lasts = np.cumsum(replay.plies.ended.numpy()[::-1] != 0, axis=0)[::-1] > 0  # plies of games that have ended
    assert (usable[lasts] == decided[lasts]).all(), "of the games that ended, those that were won are left"
    assert usable[~lasts].all(), "a game that goes on is learned from"
    assert 0.1 < decided[lasts].mean() < 0.9
    assert learners[1.0].replay.usable.all()


def test_a_row_alone_equals_the_same_row_in_a_batch() -> None:
    alone = td_targets(torch.tensor([0.1]), torch.tensor([1.0]), TARGET[1:], LEGAL[1:], ONLINE[1:])
    both = td_targets(torch.tensor([0.0, 0.1]), torch.tensor([-0.9, 1.0]), TARGET, LEGAL, ONLINE)
    assert alone[0] == both[1]
