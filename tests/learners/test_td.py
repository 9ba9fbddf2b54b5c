"""TD(λ) with n-tuples: targets and updates beside a slow twin, threads, chance, memory."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT, TESTS
from killed import kill_again_and_again
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.errors import InvalidValue
from plyground.game import load
from plyground.games.interface import value_for
from plyground.learners.config import TD
from plyground.learners.defaults import resolve
from plyground.learners.td import TDLearner
from plyground.learners.training import progress
from plyground.models.numbers import tanh
from resumed import check_resume

ROW = str(ROOT / "examples" / "three_in_a_row.py")
COINS, STONES = (str(TESTS / "tiny_games" / name) for name in ("coins.py", "stones.py"))


def learner_of(game: str, **settings: Any) -> TDLearner:
    small = {"tuples": 6, "length": 4, "games_per_round": 32, "opening_plies": 2, "cycles": 1, "threads": 1}
    return TDLearner(resolve(TD(game=game, **{**small, **settings})))


def run(learner: TDLearner, rounds: int) -> None:
    """As the training loop does."""
    for step in range(rounds):
        learner.state.progress = step / rounds
        learner.iterate()
        learner.state.step += 1


def naive_sum(entries: Any, codes: Any) -> float:
    lanes = [np.float32(0)] * 8
    for place, code in enumerate(codes):
        lanes[place % 8] = lanes[place % 8] + entries[code]
    a, b, c, d, e, f, g, h = lanes
    return float(((a + b) + (c + d)) + ((e + f) + (g + h)))


def learned_naively(learner: TDLearner, tables: Any, steps: Any) -> None:
    """What `learn_games` does to tables and steps, ply by ply in Python."""
    played, settings, one = learner.played, learner._settings(), np.float32(1)
    alpha, keep = np.float32(settings.alpha), np.float32(settings.coherence_memory)
    for game, length in enumerate(played.lengths.tolist()):
        target = played.values[game, length - 1]  # of side 0
        for k in reversed(range(length - 1)):
            following = played.values[game, k + 1]
            if played.explored[game, k + 1]:
                target = played.values[game, k]
                continue
            target = settings.td_lambda * target + (1.0 - settings.td_lambda) * following
            table, codes = played.tables[game, k], played.codes[game, k]
            wanted = target if played.sides[game, k] == 0 else -target
            found = tanh(naive_sum(tables[table], codes))
            change = np.float32((wanted - found) * (1.0 - found * found))
            for code in codes[: learner.network.used]:
                net, size = steps[table, code]
                tables[table, code] += alpha * (one if size == 0 else abs(net) / size) * change
                steps[table, code] = keep * net + change, keep * size + abs(change)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("name", [ROW, "connect_four", "paco_sako", "sequence"])
def test_a_round_teaches_what_the_twin_learns_bit_for_bit(name: str, shared: bool) -> None:
    learner = learner_of(name, shared=shared, games_per_round=4)
    for _ in range(3):
        tables, steps = learner.network.table.copy(), learner.steps.copy()
        run(learner, 1)
        learned_naively(learner, tables, steps)
        assert (tables == learner.network.table).all()
        assert (steps == learner.steps).all()
    assert np.count_nonzero(learner.network.table) > 0


@pytest.mark.parametrize("name", [ROW, "sequence"])
def test_any_number_of_threads_gives_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plyground.learners.td.available", lambda: 5)
    found = []
    for threads in (1, 2, 5):
        learner = learner_of(name, threads=threads)
        run(learner, 4)
        found.append((learner.network.table.tobytes(), learner.steps.tobytes(), learner.state.plies))
    assert found[0] == found[1] == found[2]


def test_it_learns_three_in_a_row_within_a_second() -> None:
    learner = learner_of(ROW, tuples=1, length=9, alpha=1.0, opening_plies=6, games_per_round=64)
    run(learner, 400)
    game = load(ROW)
    own, perfect = learner.model.agent(), make("minimax:depth=9", game)
    scores = [play_match(game, agent, make("random", game), 200, 1).score for agent in (own, perfect)]
    assert scores[0] > scores[1] - 0.03
    assert play_match(game, own, perfect, 100, 1).score > 0.47


def test_where_only_chance_decides_values_stay_at_its_mean() -> None:
    """A learner that foresaw its coins would find actions that win."""
    learner = learner_of(COINS, tuples=3, length=3, opening_plies=0, games_per_round=256, redraws=4)
    assert (learner._settings().redraws, learner.network.redraws) == (4, 8), "of learning and of play"
    run(learner, 60)
    played = learner.played
    first = played.values[:, 0]  # after one coin of three: 1/2 or -1/2
    assert abs(float(first.mean())) < 0.1
    assert 0.4 < float(np.abs(first).mean()) < 0.6
    game = load(COINS)
    match = play_match(game, learner.model.agent(), make("random", game), 2000, 1)
    assert match.interval[0] <= 0.5 <= match.interval[1]


def test_openings_and_exploration_are_not_learned_from() -> None:
    learner = learner_of(ROW, epsilon=1.0, epsilon_final=1.0)
    learner.iterate()
    assert learner.state.updates == 0
    assert learner.state.plies > 0


def test_steps_and_exploration_fall_in_the_second_half() -> None:
    learner = learner_of(ROW, alpha=0.01, epsilon=0.2)
    learner.network.used = 1
    found = []
    for share in (0.0, 0.5, 0.75, 1.0):
        learner.state.progress = share
        found.append((learner._settings().alpha, learner._settings().epsilon))
    assert found == [(0.01, 0.2), (0.01, 0.2), pytest.approx((0.0055, 0.11)), pytest.approx((0.001, 0.02))]


def test_memory_is_bounded_and_said() -> None:
    with pytest.raises(InvalidValue, match=r"200 tuples of 8 cells learn in .* MB, and memory allows 100: .*--memory"):
        learner_of("connect_four", tuples=200, length=8, memory=100)
    learner = learner_of(ROW)
    assert "MB" in learner.size()
    assert progress(learner) == 0.0


# ---- returns and values that are known ----

HALF = 0.5  # λ of the cases


@pytest.mark.parametrize(
    ("values", "sides", "explored", "expected"),
    [
        # of side 0: after each ply, the last one the result; whose eyes saw it; random plies; targets of those eyes
        ([0.2, -0.4, 0.6, 1.0], [0, 1, 0, 1], [], [0.2, -0.8, 1.0]),  # alternating: 1, (1 + 0.6) / 2, (0.8 - 0.4) / 2
        ([0.2, -0.4, 0.6, 1.0], [0, 0, 0, 1], [], [0.2, 0.8, 1.0]),  # the same side three times: no sign changes
        ([0.2, -0.4, 0.6, -1.0], [1, 1, 0, 0], [], [0.3, 0.2, -1.0]),  # -1, (-1 + 0.6) / 2, (-0.2 - 0.4) / 2
        ([0.2, -0.4, 0.6, 1.0], [0, 1, 0, 1], [3], [0.1, -0.6, None]),  # a random last ply: 0.6 is where targets begin
        ([0.2, -0.4, 0.6, 1.0], [0, 0, 1, 1], [2], [-0.4, None, -1.0]),  # -0.4 itself is what the first one learns
        ([0.2, -0.4, 0.6, 1.0], [0, 0, 1, 1], [1, 2, 3], [None, None, None]),
        ([0.5], [0], [], []),  # a game of one ply teaches nothing
    ],
)
def test_returns_by_hand(values: list[float], sides: list[int], explored: list[int], expected: list[Any]) -> None:
    """Each position has an entry of its own, which is 0, and so has its value: its change is its target."""
    learner = learner_of(ROW, tuples=1, games_per_round=1, td_lambda=HALF, alpha=0.0)
    played, plies, used = learner.played, len(values), learner.network.used
    played.lengths[0], played.values[0, :plies], played.sides[0, :plies] = plies, values, sides
    played.explored[0, :], played.tables[0, :] = False, 0
    played.explored[0, explored] = True
    played.codes[0, :plies] = np.arange(plies)[:, None]
    learner.kernels.learn_games(0, learner.network.table[0], learner.steps[0], learner._settings(), played, np.zeros(2))
    changes = learner.steps[0, : len(expected), 0] / used  # a code stands for all tuples and images
    assert [None if each == 0 else pytest.approx(each) for each in changes] == expected


@functools.cache
def winner(stones: int, again: int) -> int:
    """1 if the side to act wins, else -1."""
    found = list[int]()
    for taken in range(1, min(stones, 3) + 1):
        if taken == stones:
            found.append(1)
        elif taken == 2 and not again:
            found.append(winner(stones - taken, 1))
        else:
            found.append(-winner(stones - taken, 0))
    return max(found)


@pytest.mark.parametrize("shared", [False, True])
def test_values_converge_to_the_true_ones_where_turns_do_not_alternate(shared: bool) -> None:
    learner = learner_of(STONES, shared=shared, tuples=1, length=2, alpha=1.0, games_per_round=64, opening_plies=12)
    run(learner, 300)
    values = dict[tuple[int, int, int], float]()
    for stones, again, side in itertools.product(range(1, 20), (0, 1), (0, 1)):
        state = learner.game.position(f"{stones} {again} {side} 0").states
        values[stones, again, side] = float(learner.network.judge(state)[0]) * winner(stones, again)
    met = {key: value for key, value in values.items() if value != 0.0}  # the others are in no game
    assert len(met) > 65
    assert {key: value for key, value in met.items() if value < 0.5} == {}


def test_values_of_three_in_a_row_converge_to_the_true_ones() -> None:
    """Of all positions, alone in their entries: won, drawn and lost ones, for the side to move."""
    learner = learner_of(ROW, tuples=1, length=9, alpha=1.0, opening_plies=8, opening_share=1.0, games_per_round=64)
    run(learner, 1500)
    found: dict[float, list[float]] = {-1.0: [], 0.0: [], 1.0: []}
    known = dict[str, float]()

    def true_value(position: Any) -> float:
        if position.text not in known:
            after = [position.play(action) for action in position.legal()]
            ends = [
                value_for(int(each.outcome), position.to_move) if each.over else -true_value(each) for each in after
            ]
            known[position.text] = max(ends)
            found[max(ends)].append(float(learner.network.judge(position.states)[0]))
        return known[position.text]

    assert true_value(learner.game.start()) == 0.0
    assert np.mean(np.array(found[1.0]) > 0.5) > 0.97
    assert np.mean(np.array(found[-1.0]) < -0.5) > 0.97
    assert np.mean(np.abs(found[0.0]) < 0.5) > 0.9


# ---- runs ----

SMALL = TD(game=ROW, tuples=5, length=4, games_per_round=8, games_per_cycle=200, cycles=9, eval_games=4, threads=1)
SMALL = replace(SMALL, eval_opponents=("random",))


@pytest.mark.parametrize(("word", "stop"), [(ROW, 7), (ROW, 40), (COINS, 40)], ids=["7", "40", "chance"])
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, word: str, stop: int) -> None:
    check_resume(tmp_path, replace(SMALL, game=word), stop)


def test_a_killed_run_resumes(tmp_path: Path) -> None:
    kill_again_and_again(tmp_path / "run", replace(SMALL, games_per_cycle=2000, cycles=100_000), 3)
