"""What tables compute by the rules of their games. For our own games that is done in the server. What a game file
computes is done in a process of the file (`workers.py`): it gets a table as it is kept, and remembers the newest ones.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from plyground.game import Game, load
from plyground.play.redraw import Redraw, taken_back
from plyground.position import Position
from plyground.web import messages
from plyground.web.table import GameTable, Saved

HELD = 16  # games that a process keeps loaded
TABLES: dict[str, GameTable] = {}  # those of this process, the newest last
JOBS: dict[str, Callable[..., Any]] = {}  # what a worker may be asked for
Function = TypeVar("Function", bound=Callable[..., Any])


def job(function: Function) -> Function:
    """A function that workers carry out. Its first argument is a `Game`, or a `Position` that the server names by its
    `Place`; all others and what it returns, or yields again and again, are plain data."""
    JOBS[function.__name__] = function
    return function


class Place(msgspec.Struct, frozen=True):
    """A position: the game's spec, its record and its generator."""

    game: str
    states: bytes  # [1] of STATE
    rngs: bytes  # [1] uint64

    def read(self) -> Position:
        game = load_game(self.game)
        states: NDArray[np.void] = np.frombuffer(self.states, game.rules.STATE)
        return Position(game, states, rngs=np.frombuffer(self.rngs, np.uint64))


def place_of(position: Position) -> Place:
    return Place(position.game.full, position.states.tobytes(), position.rngs.tobytes())


@functools.lru_cache(maxsize=HELD)
def load_game(spec: str) -> Game:
    return load(spec)


class Now(msgspec.Struct):
    """A table as it is now: all that the server knows of it."""

    saved: Saved
    table: messages.Table
    position: messages.Position
    place: Place
    seat: int
    """that acts, or would"""
    agent: str
    """the id of the agent that is to act; empty: a person, or nobody"""
    left: float | None
    """seconds until the clock of the side to move runs out; None: no clock runs"""


class Seen(msgspec.Struct):
    """A position of a table, or one after a line from there."""

    position: messages.Position
    place: Place
    seat: int
    over: bool


def table_of(game: Game, saved: Saved) -> GameTable:
    """The table of this process, or one that plays the kept actions again."""
    table = TABLES.pop(saved.id, None)
    if table is None or (table.saved is not saved and table.saved != saved):
        table = GameTable(saved, game)
    TABLES[saved.id] = table
    return table


def keep_newest(count: int) -> None:
    for name in list(TABLES)[:-count]:
        del TABLES[name]


# ---- what is computed ----


@job
def prepare(game: Game) -> Place:
    """Load all that a table needs; the first time, it is compiled. Returns the start."""
    start = game.start()
    start.play(start.legal()[0]).redrawn(0, 0).scene()
    return place_of(start)


@job
def change(game: Game, saved: Saved, command: str, arguments: dict[str, Any], watched: bool) -> Now:
    """A command of `GameTable`, or none; its clock runs if somebody watches."""
    table = table_of(game, saved)
    if command:
        getattr(table, command)(**arguments)
    table.run_clock(time.monotonic(), watched and not table.saved.paused)
    position, runs = table.position, table.clock_since is not None
    return Now(
        saved=table.saved,
        table=table.message(),
        position=table.position_message(len(table.moves)),
        place=place_of(position),
        seat=table.seat,
        agent=table.agent_to_move,
        left=table.time_left(time.monotonic())[position.to_move] if runs else None,
    )


@job
def look(game: Game, saved: Saved, ply: int, line: Sequence[int], request: int) -> Seen:
    """A position that a page walks to."""
    table = table_of(game, saved)
    position = table.along(ply, line)[-1]
    return Seen(table.position_message(ply, line, request), place_of(position), position.seat, position.over)


@job
def redraws_of_fork(game: Game, saved: Saved, ply: int) -> list[Redraw]:
    """The redraws of a game that is tried again from a ply on: what its person has not seen there is drawn anew."""
    table = table_of(game, saved)
    return taken_back(table.along(ply, ())[0], ply, table.view(ply), saved.redraws)[1]


@job
def record(game: Game, saved: Saved, ply: int) -> tuple[str, str]:
    """The text of a position, and the game in its file format."""
    table = table_of(game, saved)
    return game.rules.view(table.along(ply, ())[0].state, table.view(ply)), table.record()


@job
def check_position(game: Game, text: str) -> None:
    """Read a text as a position; the error says what is wrong with it."""
    game.position(text)
