"""Puzzles: found by the rules, solved by those who look ahead."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.registry import make
from plyground.arena.puzzles import EACH, puzzles_of, solved
from plyground.position import Position


def outcomes(position: Position) -> dict[int, bool]:
    """For each move, whether it wins at once."""
    side = position.to_move
    return {move: position.play(move).outcome == (2, 3)[side] for move in position.legal()}


@pytest.mark.parametrize("word", ["connect_four", str(ROOT / "examples" / "three_in_a_row.py")])
def test_solutions_are_those_that_playing_finds(word: str) -> None:
    game = pg.load(word)
    puzzles = puzzles_of(game)
    for name in ("win_in_1", "block_in_1"):
        states, solutions = puzzles[name].states, puzzles[name].solutions
        assert len(states) == EACH
        assert len(np.unique(states)) == EACH
        for state, wanted in list(zip(states, solutions, strict=True))[:60]:
            position = Position(game, np.array([state]))
            wins = outcomes(position)
            if name == "win_in_1":
                right = {move for move, win in wins.items() if win}
            else:
                assert not any(wins.values())
                after = {move: position.play(move) for move in wins}
                right = {move for move, each in after.items() if each.over or not any(outcomes(each).values())}
                assert len(right) == 1
            assert set(np.flatnonzero(wanted).tolist()) == right


def test_who_looks_two_plies_ahead_solves_all(connect_four: pg.Game) -> None:
    assert solved(connect_four, make("minimax:depth=2", connect_four)) == {"win_in_1": 1.0, "block_in_1": 1.0}
    at_once = solved(connect_four, make("minimax:depth=1", connect_four))
    assert at_once["win_in_1"] == 1.0
    assert at_once["block_in_1"] < 0.5
    assert max(solved(connect_four, make("random", connect_four)).values()) < 0.3


def test_they_are_the_same_every_time(connect_four: pg.Game) -> None:
    first = puzzles_of(connect_four)["block_in_1"].states
    puzzles_of.cache_clear()
    assert (puzzles_of(connect_four)["block_in_1"].states == first).all()


def test_games_of_chance_and_of_many_choices_have_none() -> None:
    assert puzzles_of(pg.load("sequence")) == {}
    assert puzzles_of(pg.load("chess")) == {}
