"""Search: exact scores, captures beyond the depth, and helpers that change no answer."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from naive.minimax import naive_minimax
from plyground.agents.registry import make
from plyground.checks import laws
from plyground.games.chess.evaluate import loudness
from plyground.games.rng import seeds
from plyground.search.minimax import Minimax

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def chess() -> pg.Game:
    return pg.load("chess")


def positions(game: pg.Game, n: int, seed: int = 5) -> np.ndarray:
    states = laws.sample(game, 8, seed=seed).states
    return states[:: max(1, len(states) // n)][:n]


def score_of(game: pg.Game, fen: str, move: str, quiescence: int = 0) -> float:
    """What one move is worth."""
    position = game.position(fen)
    actions, scores = Minimax(game, 1, quiescence).scores(position.states)
    return float(scores[0, list(actions[0]).index(position.action(move))])


@pytest.mark.parametrize("word", ["connect_four", TINY[1], "chess"])
@pytest.mark.parametrize("depth", [1, 2])
def test_the_score_of_every_first_move_is_exact(word: str, depth: int) -> None:
    game = pg.load(word)
    states = positions(game, 6 if word == "chess" and depth == 2 else 20)
    actions, scores = Minimax(game, depth).scores(states)
    for row in range(len(states)):
        position = pg.Position(game, states[row : row + 1])
        legal = position.legal()
        assert actions[row, : len(legal)].tolist() == legal
        assert (actions[row, len(legal) :] == -1).all()
        for action, score in list(zip(legal, scores[row], strict=False))[:: 1 if word != "chess" else 7]:
            child = position.play(action)
            value = naive_minimax(child, depth - 1, ply=1)
            assert score == pytest.approx(value if child.to_move == position.to_move else -value, abs=1e-5)


def evaluation(position: pg.Position) -> float:
    value = np.empty(1, np.float32)
    position.game.kernels("evaluate").evaluate_all(position.states, value)
    return float(value[0])


def naive_quiet(position: pg.Position, plies: int, ply: int) -> float:
    """For the side to move: leave things as they are, or the best of the loud moves. Sees heads, as search does."""
    if position.over:
        return -(1000.0 - (ply - 1)) if position.reason == "checkmate" else 0.0
    best = evaluation(position)
    for action in position.legal() if plies else []:
        if loudness(position.state, action) > 0:
            best = max(best, -naive_quiet(position.play(action), plies - 1, ply + 1))
    return best


def test_quiescence_is_what_the_naive_one_finds(chess: pg.Game) -> None:
    states = positions(chess, 12, seed=9)
    actions, scores = Minimax(chess, 1, quiescence=3).scores(states)
    for row in range(len(states)):
        position = pg.Position(chess, states[row : row + 1])
        for k in range(0, len(position.legal()), 5):
            child = position.play(int(actions[row, k]))
            assert scores[row, k] == pytest.approx(-naive_quiet(child, 3, 1), abs=1e-5)


def test_captures_are_followed_to_their_end(chess: pg.Game) -> None:
    guarded = "4k3/8/2p5/3p4/8/8/3Q4/4K3 w - - 0 1"  # the pawn on d5 is protected: taking it loses the queen
    assert score_of(chess, guarded, "d2d5") > score_of(chess, guarded, "d2e2"), "one ply sees a pawn won"
    assert score_of(chess, guarded, "d2d5", quiescence=4) < score_of(chess, guarded, "d2e2", quiescence=4) - 0.3


def test_what_is_loud(chess: pg.Game) -> None:
    position = chess.position("1n2k3/P7/8/3pP3/1p6/q1N5/8/R3K3 w - d6 0 1")
    loud = {name: int(loudness(position.state, position.action(name))) for name in position.names()}
    order = sorted((name for name in loud if loud[name]), key=lambda name: -loud[name])
    assert order == ["a7b8q", "a1a3", "a7a8q", "e5d6", "c3d5"], "victims by value, then attackers; quiet ones are 0"


def test_neither_order_nor_table_changes_an_answer(chess: pg.Game) -> None:
    states = positions(chess, 10, seed=11)
    plain = Minimax(chess, 3, quiescence=2, ordering=False).scores(states)
    for settings in ({"table": 4}, {"table": 16}, {"ordering": False, "table": 12}, {}):
        search = Minimax(chess, 3, quiescence=2, **settings)  # pyright: ignore[reportArgumentType]
        for _ in range(2):  # what the table remembers from the first time must not matter either
            actions, scores = search.scores(states)
            there = actions >= 0
            assert np.array_equal(actions, plain[0])
            assert np.array_equal(scores[there], plain[1][there])


@pytest.mark.parametrize("word", ["connect_four", TINY[1]])
def test_what_the_table_keeps_of_the_positions_before_changes_no_value(word: str) -> None:
    """A win that it knows is nearer now."""
    game = pg.load(word)
    states, kept, won = positions(game, 10_000)[:500], Minimax(game, 4, table=14, threads=1), 0
    for row in range(len(states)):
        one = states[row : row + 1]
        actions, scores = kept.scores(one)
        expected = Minimax(game, 4, threads=1).scores(one)[1]
        assert np.array_equal(scores[actions >= 0], expected[actions >= 0])
        won += bool((scores[actions >= 0] > 500).any())
    assert won > 10


def test_the_best_scores_are_exact_and_the_others_are_bounds_below_them(chess: pg.Game) -> None:
    states = np.concatenate([chess.start().states, positions(chess, 30, seed=15)])
    for depth in (1, 2):
        search = Minimax(chess, depth, quiescence=2)
        actions, exact = search.scores(states)
        exact = np.where(actions >= 0, exact, -np.inf)
        for best in (1, 3, 8):
            found = np.where(actions >= 0, search.scores(states, best)[1], -np.inf)
            first = np.argsort(-exact, 1, kind="stable")[:, :best]
            assert np.array_equal(np.argsort(-found, 1, kind="stable")[:, :best], first), "equal ones in the same order"
            assert np.array_equal(np.take_along_axis(found, first, 1), np.take_along_axis(exact, first, 1))
            assert (found >= exact).all()


def test_a_search_for_the_best_move_has_the_best_score(chess: pg.Game) -> None:
    states = positions(chess, 12, seed=13)
    actions, scores = Minimax(chess, 2, quiescence=2).scores(states)
    chosen, values = Minimax(chess, 2, quiescence=2, table=10).search(states, seeds(0, len(states)))
    best = np.where(actions >= 0, scores, -np.inf)
    assert np.array_equal(values, best.max(1))
    for row in range(len(states)):
        assert scores[row, list(actions[row]).index(chosen[row])] == values[row]


def test_the_words_and_their_limits(chess: pg.Game, connect_four: pg.Game) -> None:
    assert str(make("minimax:depth=2,quiescence=4,table=10", chess)) == "minimax:depth=2,quiescence=4"
    with pytest.raises(pg.InvalidValue, match="follows captures for 0 to 40"):
        make("minimax:quiescence=41", chess)
    with pytest.raises(pg.InvalidValue, match="remembers up to"):
        make("minimax:table=60", chess)
    with pytest.raises(pg.InvalidValue, match="which actions are loud"):
        make("minimax:quiescence=1", connect_four)
