"""Ladders: a round robin of matches in pairs, rated by Bradley-Terry. Results are kept in a file, so that a new agent
plays only the missing matches.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from plyground.agents.agent import Agent, all_seeing, name_of, spec_of
from plyground.agents.registry import make
from plyground.arena.match import Match, check_pairs, play_match
from plyground.arena.rating import Ratings, bradley_terry
from plyground.errors import InvalidValue, counted, plain_os_errors, shown
from plyground.game import Game, load
from plyground.runs.files import DamagedFile, write_whole
from plyground.runs.records import read_json

MOST_GAMES = 2**53  # which numbers with fractions count exactly


@dataclass(frozen=True)
class PairResult:
    """The result of agent a against agent b."""

    a: str
    b: str
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Of agent a: 1 for a win, 1/2 for a draw."""
        return self.wins + self.draws / 2


@dataclass(frozen=True, repr=False)
class Ladder:
    """A game, the settings of its matches, and the results so far."""

    game: str
    games: int
    """games for each pair of agents"""
    seed: int
    results: tuple[PairResult, ...] = ()
    all_seeing: tuple[str, ...] = ()
    """the agents that saw what their seats cannot know (`sees_all`)"""

    @property
    def agents(self) -> list[str]:
        """Agent specs in the order in which they were added."""
        return list(dict.fromkeys(name for result in self.results for name in (result.a, result.b)))

    def __str__(self) -> str:
        """Agents with their Elo and half the width of its 95% interval, best first."""
        ratings = self.ratings()
        names = map(self.described, self.agents)
        rated = sorted(zip(ratings.elo, ratings.error, names, strict=True), reverse=True)
        return "\n".join(f"{elo:+6.0f} ±{error:<4.0f} {name}" for elo, error, name in rated)

    def described(self, name: str) -> str:
        """An agent's name, and whether it saw what is hidden."""
        return f"{name} (sees what is hidden)" if name in self.all_seeing else name

    @property
    def scores(self) -> dict[str, float]:
        """Each agent's share of the points of its games."""
        points, games = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0)
        for result in self.results:
            for agent, score in ((result.a, result.points), (result.b, result.games - result.points)):
                points[agent] += score
                games[agent] += result.games
        return {agent: points[agent] / games[agent] for agent in points}

    def __repr__(self) -> str:
        rated = ", ".join(" ".join(line.split()) for line in str(self).splitlines())
        return f"<ladder of {self.game}, {counted(self.games, 'game')} for each two: {rated}>"

    def ratings(self) -> Ratings:
        """Ratings in the order of `agents`."""
        place = {name: index for index, name in enumerate(self.agents)}
        score, games = np.zeros((2, len(place), len(place)))
        for result in self.results:
            a, b = place[result.a], place[result.b]
            score[a, b] += result.points
            score[b, a] += result.games - result.points
            games[a, b] += result.games
        return bradley_terry(score, games + games.T)


class _SavedResult(TypedDict):
    """A result in a file."""

    a: str
    b: str
    wins: int
    draws: int
    losses: int


class _File(TypedDict):
    """A ladder in a file."""

    game: str
    games: int
    seed: int
    results: list[_SavedResult]
    all_seeing: NotRequired[list[str]]


def read(path: Path) -> Ladder:
    """Read a ladder from a file."""
    data = read_json(path, _File)
    results = [
        PairResult(each["a"], each["b"], each["wins"], each["draws"], each["losses"]) for each in data["results"]
    ]
    for each in results:
        if min(each.wins, each.draws, each.losses) < 0 or not 0 < each.games < MOST_GAMES:
            raise DamagedFile(f"{path}: {each.a} against {each.b} is no result of a match: {each}")
    return Ladder(data["game"], data["games"], data["seed"], tuple(results), tuple(data.get("all_seeing", ())))


def ladder(
    game: Game | str,
    agents: Agent | str | Iterable[Agent | str],
    *more: Agent | str,
    games: int = 100,
    seed: int = 0,
    path: str | Path | None = None,
) -> Ladder:
    """A round robin between agents: `pg.ladder("chess", "random", "greedy", games=20)`; they may also be one list.

    `path`: a file that keeps the results; a new agent then plays only the missing matches. It takes specs, and agents
    of runs.
    """
    game, names, own = load(game), list[str](), dict[str, Agent]()
    for each in [*_listed(agents), *more]:
        if isinstance(each, str):
            names.append(each)
            continue
        if not callable(each) and not hasattr(each, "act"):
            how = "ladder(game, 'random', 'greedy', games=20)"
            raise InvalidValue(f"a ladder takes agents or their specs, not {shown(each)}: {how}")
        agent = make(each, game)
        if path and not spec_of(agent):
            why = f"the agent {name_of(agent)} is an object without one"
            raise InvalidValue(f"a ladder in a file names agents by specs, such as 'greedy' or 'run:DIR'; {why}")
        names.append(name_of(agent))
        own[names[-1]] = agent
    if twice := [name for name in own if names.count(name) > 1]:
        raise InvalidValue(f"two agents of this ladder are called {twice[0]}: give one another name, by its `__str__`")
    return climb(game, names, games, seed, path, own=own)


def _listed(agents: Any) -> list[Any]:
    """One agent, or several, as a list; some torch modules can be iterated."""
    if isinstance(agents, str) or callable(agents) or not hasattr(agents, "__iter__"):
        return [agents]
    return [*agents]


def climb(
    game: Game | str,
    agents: Sequence[str],
    games: int = 100,
    seed: int = 0,
    path: str | Path | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, words: None,
    play: Callable[[Game, Sequence[tuple[str, str]], int, int], Iterator[Match]] | None = None,
    own: Mapping[str, Agent] | None = None,
) -> Ladder:
    """Play the missing matches between `agents` and those in the file; write the file after every match.

    `progress` is called before each match with the number of matches done, their total and the next two agents. `play`
    plays matches elsewhere: from game, pairs of agents, games and seed to the matches in order. `own` has the agents
    of names that are no specs.
    """
    game, path = load(game), Path(path) if path else None
    ladder = Ladder(str(game), games, seed)
    if path and path.exists():
        ladder = read(path)
        for name, wanted in (("game", str(game)), ("games", games), ("seed", seed)):
            if getattr(ladder, name) != wanted:
                raise InvalidValue(f"{str(path)!r} is a ladder with {name} {getattr(ladder, name)}, not {wanted}")
    names = list(dict.fromkeys([*ladder.agents, *agents]))
    if len(names) < 2:
        raise InvalidValue(f"a ladder needs at least two different agents, not {', '.join(names) or 'none'}")
    check_pairs(games)
    made = dict(own or {})
    players = {name: made[name] if name in made else make(name, game) for name in names}  # an unknown spec is an error
    seeing = tuple(name for name in names if name in ladder.all_seeing or all_seeing(game, players[name]))
    ladder = replace(ladder, all_seeing=seeing)  # one that has seen what is hidden keeps its results, and their warning
    played = {frozenset((result.a, result.b)) for result in ladder.results}
    missing = [pair for pair in itertools.combinations(names, 2) if frozenset(pair) not in played]
    here = (play_match(game, players[a], players[b], games, seed) for a, b in missing)
    matches = play(game, missing, games, seed) if play else here
    for number, (a, b) in enumerate(missing):
        progress(number, len(missing), f"{a} against {b}")
        match = next(matches)
        result = PairResult(a, b, match.wins, match.draws, match.losses)
        ladder = replace(ladder, results=(*ladder.results, result))
        if path:
            with plain_os_errors(f"write {path}"):
                write_whole(path, json.dumps(asdict(ladder), indent=1).encode() + b"\n", shared=True)
    return ladder
