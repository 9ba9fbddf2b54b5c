"""Plyground teaches machines to play board games, and lets people watch, measure and play them.

>>> import plyground as pg
>>> game = pg.load("connect_four")

Notices, such as that a game compiles, go to standard error through the logger `plyground`; to silence them:
`logging.getLogger("plyground").setLevel("WARNING")`.
"""

from __future__ import annotations

import importlib
import logging
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plyground.agents.registry import make as agent
    from plyground.arena.grade import grade
    from plyground.arena.ladder import ladder
    from plyground.arena.match import Match
    from plyground.arena.match import play_match as match
    from plyground.batch import Batch, Step, TensorBatch
    from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue, UnknownName
    from plyground.game import Game, load
    from plyground.games.interface import Outcome
    from plyground.learners.launch import train
    from plyground.play.session import Session
    from plyground.position import Position

__version__ = "0.1.0"
__all__ = ["Batch", "Error", "Game", "IllegalAction", "InvalidText", "InvalidValue", "Match"]
__all__ += ["Outcome", "Position", "Session", "Step", "TensorBatch", "UnknownName", "agent", "grade", "ladder", "load"]
__all__ += ["match", "train"]

_MODULES = {
    **dict.fromkeys(("Batch", "Step", "TensorBatch"), "batch"),
    **dict.fromkeys(("Error", "IllegalAction", "InvalidText", "InvalidValue", "UnknownName"), "errors"),
    **dict.fromkeys(("Game", "load"), "game"),
    **dict.fromkeys(("Match", "match"), "arena.match"),
    "Outcome": "games.interface",
    "Position": "position",
    "Session": "play.session",
    "agent": "agents.registry",
    "grade": "arena.grade",
    "ladder": "arena.ladder",
    "train": "learners.launch",
}
_NAMES_THERE = {"agent": "make", "match": "play_match"}


def __getattr__(name: str) -> Any:
    """Import a name when it is used: `plyground --help` imports no compiler."""
    if name in _MODULES:
        from plyground.errors import naming_extras

        with naming_extras():
            value = getattr(importlib.import_module(f"plyground.{_MODULES[name]}"), _NAMES_THERE.get(name, name))
        if name in _NAMES_THERE:  # errors and help(...) name it as people do
            value.__module__, value.__name__, value.__qualname__ = __name__, name, name
        return value
    raise AttributeError(f"module 'plyground' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Notices(logging.Handler):
    """Writes notices to the present standard error, as one line each."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"plyground: {record.getMessage()}\n")
        sys.stderr.flush()


_logger = logging.getLogger(__name__)
if not _logger.handlers:
    _logger.addHandler(_Notices())
    _logger.setLevel(logging.INFO)
    _logger.propagate = False  # a root handler would write them twice
