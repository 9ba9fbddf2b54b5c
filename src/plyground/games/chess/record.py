"""Games of chess as PGN files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from plyground.game import Game
from plyground.games.chess import pgn
from plyground.games.interface import Outcome
from plyground.position import Position


def write_record(start: Position, actions: Sequence[int], players: tuple[str, str], outcome: Outcome) -> str:
    """The game as PGN, dated today; `outcome` counts where the rules have not ended the game (a resignation)."""
    tags = {"Date": f"{date.today():%Y.%m.%d}", "White": players[0], "Black": players[1]}
    return pgn.write(pgn.Record(start, list(actions), tags, pgn.RESULTS[outcome]))


def read_records(text: str, game: Game) -> list[tuple[Position, list[int], tuple[str, str], Outcome]]:
    """The games of a PGN: first positions, actions, players and results."""
    outcomes = {result: outcome for outcome, result in pgn.RESULTS.items()}
    return [
        (each.start, each.actions, _players(each), outcomes.get(each.result, Outcome.RUNNING))
        for each in pgn.read(text, game)
    ]


def _players(record: pgn.Record) -> tuple[str, str]:
    """The names of White and Black; `?` stands for none."""
    white, black = (record.tags.get(side, "").removeprefix("?") for side in ("White", "Black"))
    return white, black
