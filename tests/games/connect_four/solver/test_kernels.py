"""The steps of the solver's search, one by one."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from compiled import Compiled, compiled
from naive.connect_four import Board
from plyground.games.connect_four import rules
from plyground.games.connect_four.solver import kernels as module
from plyground.games.connect_four.solver.solver import sides
from plyground.games.connect_four.text import columns

kernels = Compiled(module)
winning_cells = compiled(rules.winning_cells)
SHIFT = np.uint64(64 - 4)  # of a table of 16 entries


def test_bisection_goes_towards_zero_and_ends() -> None:
    asked = ((-20, 20), (-20, 0), (0, 18), (4, 18), (-18, -4))
    assert [kernels.question(low, high) for low, high in asked] == [-10, -10, 9, 11, -11]
    for low in range(-20, 20):
        for high in range(low + 1, 21):
            assert low <= kernels.question(low, high) < high


def test_the_table_keeps_both_bounds_of_a_position() -> None:
    table, key = np.zeros(16, np.uint64), np.uint64(2**48 + 12345)
    assert kernels.find(table, SHIFT, key) == 0
    kernels.store(table, SHIFT, key, 10, True, -3)
    kernels.store(table, SHIFT, key, 10, False, 7)
    kernels.store(table, SHIFT, key, 10, True, -5)  # weaker than what is known
    entry = kernels.find(table, SHIFT, key)
    assert (kernels.lower_bound(entry), kernels.upper_bound(entry)) == (-3, 7)
    assert kernels.answer(entry, -4) == (True, -3)
    assert kernels.answer(entry, 7) == (True, 7)
    assert not kernels.answer(entry, 0)[0]
    assert np.count_nonzero(table) == 1


@pytest.mark.compiled
def test_safe_moves_are_those_after_which_the_opponent_cannot_win(connect_four: pg.Game) -> None:
    batch, compared = pg.Batch(connect_four, 6, seed=4), 0
    for _ in range(30):
        batch.step(batch.random_actions())
        for state in batch.states[batch.states["ply"] > 8][:3]:
            text = columns(state) or ""
            mine, theirs = (int(each[0]) for each in sides(np.array([state])))
            threat = np.uint64(winning_cells(np.uint64(theirs), np.uint64(mine | theirs)))
            safe = int(kernels.safe_moves(np.uint64(mine | theirs), threat))
            expected = {column for column in naive(text).legal() if not loses_at_once(text, column)}
            if not wins_at_once(text):
                assert {column for column in range(7) if safe >> 7 * column & 0x7F} == expected, text
                compared += 1
    assert compared > 30


def naive(text: str) -> Board:
    board = Board()
    for column in text:
        board.play(int(column) - 1)
    return board


def wins_at_once(text: str) -> bool:
    for column in naive(text).legal():
        board = naive(text)
        board.play(column)
        if board.outcome not in ("RUNNING", "DRAW"):
            return True
    return False


def loses_at_once(text: str, column: int) -> bool:
    board = naive(text)
    board.play(column)
    return board.outcome == "RUNNING" and wins_at_once(text + str(column + 1))
