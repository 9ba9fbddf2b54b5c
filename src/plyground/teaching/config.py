"""The settings of a collection. Nothing here imports numba: the command line reads its line by them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from plyground.errors import InvalidValue

BadLines = Literal["stop", "skip"]
MOST_TOP = 16  # actions of a teacher's policy that a line tells


@dataclass(frozen=True)
class Collect:
    """The settings of a collection."""

    game: str = "chess"
    """a game's name, with settings as name:key=value, or a path to its .py file"""
    games: int = 1000
    """games of the teacher against itself; one of chess gives about 64 positions"""
    teacher: str = ""
    """minimax, solver, a scorer of the game such as window, or a search such as search:sims=1000 (empty: the first that
    the game has); minimax:nodes=1000, with any model, writes what the learner `sparse` reads: each position with the
    value that the search found and the game's result"""
    depth: int = 2
    """search depth of minimax, in plies"""
    quiescence: int = 4
    """plies of quiescence search beyond the depth (captures and promotions), in games that define `loudness`"""
    table: int = 0
    """2**table entries of the transposition table (0: none); up to depth 5 it is no faster"""
    top_k: int = 5
    """actions with a probability above 0: the best ones"""
    temperature: float = 1.0
    """temperature of the softmax over them; at 1 a pawn of difference matters, see docs/teacher.md"""
    temperature_final: float | None = None
    """temperature in the last game; it moves linearly from `temperature` (none: constant)"""
    max_plies: int = 160
    """truncate a game after this many plies, not counting its random opening"""
    opening_plies: int = 12
    """games begin after a random number of random plies, up to this many"""
    openings: str = ""
    """a file of openings that games begin with, at random: .pgn, or moves or a position on each line; with it,
    `opening_plies` is how many plies of each are played (0: all)"""
    weak_games: float = 0.5
    """share of the games in which one side plays at random; only positions of the other side are taken. Games between
    equals rarely show how a won game is won"""
    positions_per_game: int = 0
    """positions taken from each game, at random plies (0: all)"""
    max_repeats: int = 1
    """how often the same position may be taken"""
    draws: float = 1.0
    """share of the drawn and truncated games that is taken"""
    decisive_first: float = 0.0
    """share of the games, the first ones, of which drawn and truncated games are left out"""
    circles: int = 8
    """stop a game after this many plies in a row that led to earlier positions (0: never)"""
    seed: int = 0
    """the same seed gives the same lines"""
    num_envs: int = 256
    """games played in parallel; affects only the speed"""
    threads: int = 0
    """cores to use (0: all): each plays games of its own or, if there are few, searches in a thread"""

    def __post_init__(self) -> None:
        at_least = {"games": 1, "top_k": 1, "max_plies": 1, "max_repeats": 1, "num_envs": 1, "seed": -(2**63)}
        for name, value in asdict(self).items():
            if isinstance(value, int | float) and not at_least.get(name, 0) <= value < 2**63:
                raise InvalidValue(f"{name} is a number of at least {at_least.get(name, 0)}, not {value}")
            if name.startswith("temperature") and value is not None and not 1e-6 <= value <= 1e6:
                raise InvalidValue(f"{name} is a number above 0, not {value}")
            if name in ("draws", "decisive_first", "weak_games") and getattr(self, name) > 1:
                raise InvalidValue(f"{name} is a share of at most 1, not {value}")
        if self.top_k > MOST_TOP:
            raise InvalidValue(f"top_k is at most {MOST_TOP}, not {self.top_k}")

    def temperature_of(self, game: int) -> float:
        """The temperature of one game, on the line from `temperature` to `temperature_final`."""
        first, last = self.temperature, self.temperature_final
        return first + ((first if last is None else last) - first) * min(1.0, game / max(1, self.games - 1))
