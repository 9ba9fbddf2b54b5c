"""Plyground teaches machines to play board games, and lets people watch, measure and play them.

>>> import plyground as pg
>>> game = pg.load("connect_four")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plyground.agents.agent import make as agent
    from plyground.arena.match import Match
    from plyground.arena.match import play_match as match
    from plyground.backend.batch import TensorBatch
    from plyground.batch import Batch, Step
    from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue, UnknownName
    from plyground.game import Game, load
    from plyground.games.interface import Outcome
    from plyground.position import Position

__version__ = "0.1.0"
__all__ = ["Batch", "Error", "Game", "IllegalAction", "InvalidText", "InvalidValue", "Match"]
__all__ += ["Outcome", "Position", "Step", "TensorBatch", "UnknownName", "agent", "load", "match"]

_HOMES = {
    **dict.fromkeys(("Batch", "Step"), "batch"),
    **dict.fromkeys(("Error", "IllegalAction", "InvalidText", "InvalidValue", "UnknownName"), "errors"),
    **dict.fromkeys(("Game", "load"), "game"),
    **dict.fromkeys(("Match", "match"), "arena.match"),
    "Outcome": "games.interface",
    "Position": "position",
    "TensorBatch": "backend.batch",
    "agent": "agents.agent",
}
_THERE = {"agent": "make", "match": "play_match"}  # what they are called at home


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: `plyground --help` need not wait for a compiler."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"plyground.{_HOMES[name]}"), _THERE.get(name, name))
    raise AttributeError(f"module 'plyground' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
