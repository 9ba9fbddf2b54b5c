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
    games: list[tuple[Position, list[int], tuple[str, str], Outcome]] = []
    for each in pgn.read(text, game):
        white, black = (each.tags.get(side, "").removeprefix("?") for side in ("White", "Black"))  # `?` stands for none
        games.append((each.start, each.actions, (white, black), outcomes.get(each.result, Outcome.RUNNING)))
    return games
