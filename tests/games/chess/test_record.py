"""A game of chess is written as PGN."""

from __future__ import annotations

import plyground as pg
from plyground.games.chess import pgn


def test_a_resigned_game_keeps_its_result_players_and_moves() -> None:
    game = pg.load("chess")
    start = game.start()
    actions = [start.action("e4"), start.play("e4").action("e5")]
    assert game.rules.write_record is not None
    written = game.rules.write_record(start, actions, ("you", "greedy"), pg.Outcome.SECOND_WINS)
    (record,) = pgn.read(written)
    assert game.rules.read_records is not None
    assert game.rules.read_records(written, game) == [(start, actions, ("you", "greedy"), pg.Outcome.SECOND_WINS)]
    assert (record.actions, record.result) == (actions, "0-1")
    assert (record.tags["White"], record.tags["Black"]) == ("you", "greedy")
