"""How datasets write a game's positions, sides and actions."""

from __future__ import annotations

import numpy as np

import plyground as pg


def test_a_game_without_a_format_writes_positions_sides_and_actions_as_they_are(connect_four: pg.Game) -> None:
    form, actions = connect_four.rules.DATASET, np.array([[0, 3, -1]], np.int32)
    assert (form.position, form.sides, form.clocks) == ("position", connect_four.rules.SIDES, 0)
    assert form.actions(connect_four.start().states, actions) is actions


def test_chess_writes_fens_and_letters_and_numbers_promotions_by_their_squares() -> None:
    chess = pg.load("chess")
    position = chess.position("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    names = dict(zip(position.names(), position.legal(), strict=True))
    form, promotions = chess.rules.DATASET, [names[f"a7a8{kind}"] for kind in "qrbn"]
    assert (form.position, form.sides, form.clocks) == ("fen", ("w", "b"), 2)
    assert form.actions(position.states, np.array([promotions], np.int32)).tolist() == [[48 * 64 + 56] * 4]
