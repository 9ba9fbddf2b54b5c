"""Connect Four against its naive twin."""

from __future__ import annotations

import re

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from naive.connect_four import Board
from plyground.checks import laws
from plyground.games.connect_four import rules

GAMES = 1000 if JIT else 20


def test_random_games_agree_with_the_naive_twin(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, GAMES, seed=11)
    boards = [Board() for _ in range(GAMES)]
    going = np.ones(GAMES, np.bool_)
    evaluate = connect_four.kernels("evaluate").evaluate_all
    while going.any():
        actions, values = batch.random_actions(), np.empty(GAMES, np.float32)
        masks = batch.legal_mask()
        evaluate(batch.states, values)
        for row in np.flatnonzero(going):
            board, side = boards[row], boards[row].moves % 2
            assert batch.to_move[row] == side
            assert np.flatnonzero(masks[row]).tolist() == board.legal()
            if row < 300:
                assert values[row] == pytest.approx((board.open_lines(side) - board.open_lines(1 - side)) / 69)
            board.play(int(actions[row]))
        step = batch.step(actions)
        for row in np.flatnonzero(going):
            position = pg.Position(connect_four, batch.next_states[row : row + 1])
            assert position.text == "/".join(boards[row].rows())
            assert position.outcome.name == boards[row].outcome
            assert step.terminated[row] == (boards[row].outcome != "RUNNING")
        going &= ~step.terminated


def test_the_drawing_of_the_bits_is_true() -> None:
    drawn = re.findall(r"^ {4}((?: ?[ \d]\d){7})", rules.__doc__ or "", re.MULTILINE)
    assert len(drawn) == 6
    for row, line in zip(reversed(range(6)), drawn, strict=True):
        assert [int(number) for number in line.split()] == [7 * column + row for column in range(7)]


def test_four_in_each_direction_wins(connect_four: pg.Game) -> None:
    for moves in ("1121314", "1212121", "12233434464", "76655454424"):
        position = connect_four.position(moves)
        assert position.outcome == pg.Outcome.FIRST_WINS, moves
        assert position.reason == "four in a row"
        assert position.legal() == []
        assert connect_four.position(moves[:-1]).outcome == pg.Outcome.RUNNING


@pytest.mark.compiled
def test_winning_cells_are_those_that_make_four(connect_four: pg.Game) -> None:
    sample = laws.sample(connect_four, 200, seed=8)
    features = pg.Batch(connect_four, 1).encode("features", sample.states)
    wins = np.zeros(len(sample.states))
    for action in range(7):
        after = sample.states.copy()
        fits = connect_four.legal_mask(sample.states)[:, action]
        moved = after[fits]
        columns, rngs = np.full(len(moved), action, np.int32), np.zeros(len(moved), np.uint64)
        connect_four.kernels().play_all(moved, columns, rngs, connect_four.work())
        wins[fits] += moved["outcome"] >= 2
    assert (features[:, 3] == wins).all()
    assert wins.sum() > 100
