"""TD(λ) with n-tuples: targets and updates beside a slow twin, threads, chance, memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ROOT
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.errors import InvalidValue
from plyground.game import load
from plyground.learners.config import TD
from plyground.learners.defaults import resolve
from plyground.learners.td import TDLearner
from plyground.learners.training import progress
from plyground.models.numbers import tanh

ROW = str(ROOT / "examples" / "three_in_a_row.py")
COINS = str(Path(__file__).parents[1] / "tiny_games" / "coins.py")


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
