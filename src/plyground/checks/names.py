"""Names of the contract that a game does not define, and names of its own that may be misspelt ones."""

from __future__ import annotations

from pathlib import Path

from plyground.game import Game
from plyground.games.interface import TABLE
from plyground.games.near_names import questions


def undefined(game: Game) -> list[str]:
    """The optional names of the contract that a game does not define, in the order of the table."""
    return [name for name in TABLE if game.rules.defined(name) is None]


def misspelt(game: Game) -> list[str]:
    """A question for each name of a game file that is nearly an undefined name of the contract, of the same kind."""
    missing = {name: TABLE[name].is_function for name in undefined(game)}
    return questions(Path(game.path), missing, TABLE) if game.path else []
