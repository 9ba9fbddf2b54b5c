"""Chess agents: greedy takes what it gets and mates where it can."""

from __future__ import annotations

import chess
import numpy as np
import pytest

import plyground as pg
from plyground.agents.registry import known, make
from plyground.arena.match import play_match
from plyground.games.rng import seeds

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def rules() -> pg.Game:
    return pg.load("chess")


def choices(rules: pg.Game, word: str, fen: str, tries: int = 40) -> set[str]:
    position = rules.position(fen)
    actions = make(word, rules).act(np.repeat(position.states, tries), seeds(3, tries))
    return {position.name(int(action)) for action in actions}


def test_greedy_beats_random(rules: pg.Game) -> None:
    result = play_match(rules, make("greedy", rules), make("random", rules), games=100, seed=4)
    assert result.wins >= 95
    assert result.unfinished == 0


@pytest.mark.parametrize("fen", ["6k1/5ppp/8/8/8/8/q4PPP/3R2K1 w - - 0 1", "7k/5K2/6Q1/8/8/8/8/q7 w - - 0 1"])
def test_greedy_mates_in_one_with_any_move_that_does(rules: pg.Game, fen: str) -> None:
    board, mates = chess.Board(fen), set[str]()
    for move in board.legal_moves:
        board.push(move)
        mates |= {move.uci()} if board.is_checkmate() else set()
        board.pop()
    chosen = choices(rules, "greedy", fen, tries=200)
    assert chosen == mates
    assert mates


def test_greedy_takes_the_queen_and_does_not_stalemate(rules: pg.Game) -> None:
    assert choices(rules, "greedy", "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1") == {"e4d5"}
    assert "g1g6" not in choices(rules, "greedy", "7k/8/8/8/8/8/8/K5Q1 w - - 0 1")


def test_a_winning_side_avoids_the_third_occurrence(rules: pg.Game) -> None:
    """The best move by judgement alone would repeat; the whole state knows that this is a draw."""
    for word in ("greedy", "minimax:depth=2"):
        position = rules.position("7k/8/8/8/8/8/2Q5/K7 w - - 0 1")
        best = next(iter(choices(rules, word, position.text)))
        twin = rules.position(position.text).play(best)
        states = position.states.copy()
        after = int(twin.state["history"][twin.state["clock"]])
        states["clock"] = 20
        states["history"][0, 21 - 4 : 0 : -2][:2] = after  # as if it had been there twice
        actions = make(word, rules).act(np.repeat(states, 20), seeds(3, 20))
        assert best not in {position.name(int(action)) for action in actions}


def test_the_words_for_agents(rules: pg.Game) -> None:
    assert known(rules)[:3] == ["random", "greedy", "minimax:depth=3"]
