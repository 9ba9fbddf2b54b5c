"""Requests: what a page may send, as strict schemas; `messages.py` describes the protocol, and has the replies."""

from __future__ import annotations

from typing import Annotated, Any, Union

import msgspec
from msgspec import Meta

LARGEST = 1_000_000  # characters of a request: the longest text fits, each of its characters escaped

Name = Annotated[str, Meta(min_length=1, max_length=100)]  # an id that the server has made
Text = Annotated[str, Meta(max_length=400_000)]  # a position or a whole game
Ply = Annotated[int, Meta(ge=0, le=100_000)]
Action = Annotated[int, Meta(ge=0, le=1_000_000)]
Revision = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=0, le=2**53)]


def snake_case(name: str) -> str:
    """The name of a message's class as its type."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


class Asked(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True, tag=snake_case):
    """A request; what answers it alone (`refused`, `opened`, `record`, ...) names the same number."""

    request: Number = 0


class OfTable(Asked, frozen=True, kw_only=True):
    """A request about a table that the page has opened (or opens)."""

    table: Name


class Change(OfTable, frozen=True, kw_only=True):
    """Changes a table by its command of that name; refused where the page has seen an older revision."""

    revision: Revision


class Clock(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Seconds for the whole game of each side, and seconds that are added after each of its turns."""

    seconds: Annotated[float, Meta(ge=1, le=36_000)]
    increment: Annotated[float, Meta(ge=0, le=600)] = 0.0


class NewGame(Asked, frozen=True, kw_only=True):
    """Begin a game. All agents: a game to watch. All `you`: both sides on one page, to study a position or a game."""

    game: Name
    """the id of a game of `welcome`"""
    settings: Annotated[dict[Name, Name], Meta(max_length=20)] = {}
    """name → value, of those that `welcome` lists; the others have their defaults"""
    players: Annotated[list[Name], Meta(min_length=1, max_length=16)]
    """for each seat `you` or the id of an opponent"""
    clock: Clock | None = None
    text: Text = ""
    """a position (FEN, columns, ...) or a game (PGN, a list of moves) to begin with; empty: the usual start"""
    number: Annotated[int, Meta(ge=1, le=100_000)] = 1
    """of several games in the text"""


class Open(OfTable, frozen=True, kw_only=True):
    """Be sent a table and all its changes. Answer: `table`, then `position` with the number of the request."""


class Close(OfTable, frozen=True, kw_only=True):
    """Be sent no more of a table. Answer: `tables`."""


class Delete(OfTable, frozen=True, kw_only=True):
    """Remove a table from the server's disk."""


class Look(OfTable, frozen=True, kw_only=True):
    """The position at a ply, or after a line of actions from there (a principal variation)."""

    ply: Ply
    line: Annotated[list[Action], Meta(max_length=100)] = []


class Play(Change, frozen=True, kw_only=True):
    """Play an action at a ply, one of those that `position` listed there."""

    ply: Ply
    action: Action
    prune: bool = False


class Say(Change, frozen=True, kw_only=True):
    """A typed move; of a turn of several actions, one or all of them."""

    ply: Ply
    text: Annotated[str, Meta(max_length=500)]
    prune: bool = False


class Undo(Change, frozen=True, kw_only=True):
    """Take back to the beginning of one's unfinished turn or last turn (the answer goes too), or to a ply."""

    ply: Ply | None = None


class Resign(Change, frozen=True, kw_only=True): ...


class Pause(OfTable, frozen=True, kw_only=True):
    """Stop the agents (a thinking one is cancelled), or let them go on."""

    paused: bool


class Speed(OfTable, frozen=True, kw_only=True):
    """The least seconds between two actions of agents in a game that one watches."""

    seconds: Annotated[float, Meta(ge=0, le=60)]


class Hint(OfTable, frozen=True, kw_only=True):
    """Advice for the position at the end of the line. Answer: `hinted`."""


class Fork(OfTable, frozen=True, kw_only=True):
    """A new table with the plies of this one up to a ply, then a line of actions: try again from here."""

    ply: Ply
    line: Annotated[list[Action], Meta(max_length=100)] = []
    players: Annotated[list[Name], Meta(max_length=16)] = []
    """as in `new_game`; empty: those of the table"""


class Analyse(OfTable, frozen=True, kw_only=True):
    """Search a position, live; a new one replaces the page's former analysis."""

    ply: Ply
    line: Annotated[list[Action], Meta(max_length=100)] = []
    network: bool = False
    """search with the pretrained network, where there is one"""


class Review(OfTable, frozen=True, kw_only=True):
    """Analyse the whole game: values, mistakes, accuracy. It is kept with the game, as long as that does not change."""


class Stop(Asked, frozen=True, kw_only=True):
    """End the page's analysis, review or ladder."""


class CopyGame(OfTable, frozen=True, kw_only=True, tag="record"):
    """The game and the position at a ply as text to copy. Answer: `recorded`."""

    ply: Ply


class Follow(Asked, frozen=True, kw_only=True):
    """Be sent the metrics of these runs, and of no others. Answer: `curves`."""

    runs: Annotated[list[Name], Meta(max_length=8)]


class StartDemo(Asked, frozen=True, kw_only=True):
    """Train an agent on Connect Four for a minute. Answer: `runs` with the new run, then its `curves`."""


class StopRun(Asked, frozen=True, kw_only=True):
    """Stop a run that this server has started; it saves a checkpoint."""

    run: Name


class ResumeRun(Asked, frozen=True, kw_only=True):
    """Continue a stopped run, or train a finished one longer."""

    run: Name


class WatchPolicy(Asked, frozen=True, kw_only=True):
    """Be sent what the newest checkpoint of a run thinks of a position, now and after each new checkpoint. An empty
    run ends it."""

    run: Annotated[str, Meta(max_length=100)]
    text: Annotated[str, Meta(max_length=1_000)] = ""
    """the position; empty: the usual start"""


class Ladder(Asked, frozen=True, kw_only=True):
    """Matches between opponents of a game, each against each, and their ratings. Answer: `laddered`, again and again.
    It takes the place of the page's analysis or review."""

    game: Name
    opponents: Annotated[list[Name], Meta(min_length=2, max_length=8)]
    """their ids"""
    games: Annotated[int, Meta(ge=2, le=200)] = 20
    """of each pair"""


class RunGames(Asked, frozen=True, kw_only=True):
    """The games that a run has saved. Answer: `saved_games`."""

    run: Name


class OpenRunGame(Asked, frozen=True, kw_only=True):
    """A table with a game that a run has saved, to walk through. Answer: `opened`."""

    run: Name
    file: Name
    """the id of a file of `saved_games`"""
    number: Annotated[int, Meta(ge=1, le=100_000)] = 1


class Numbered(msgspec.Struct):
    """All that must be known of a message to refuse it."""

    request: Number = 0


BASES = (Asked, OfTable, Change)
KINDS: list[type[Any]] = [kind for base in BASES for kind in base.__subclasses__() if kind not in BASES]
_either: Any = Union
_decoder, _numbered = msgspec.json.Decoder(_either[tuple(KINDS)]), msgspec.json.Decoder(Numbered)


def decode(data: str | bytes) -> Any:
    """The request in a message, or msgspec.ValidationError or DecodeError."""
    return _decoder.decode(data)


def number_of(data: str | bytes) -> int:
    """The number of a request that is refused, so that whoever asked is answered; 0 where it cannot be read."""
    try:
        return _numbered.decode(data).request
    except (msgspec.DecodeError, ValueError, RecursionError):
        return 0
