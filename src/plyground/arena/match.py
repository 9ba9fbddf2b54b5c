"""Matches of two agents: each random opening is played from both sides; all games run in parallel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import GIVES_UP, Agent, Learning, all_seeing, ask, independent, name_of, tell, told_to_see
from plyground.agents.registry import make
from plyground.agents.turns import Turns
from plyground.arena.openings import pick_openings
from plyground.arena.rating import Sprt, Verdict, elo, mean_and_interval
from plyground.errors import Error, InvalidValue, counted, is_whole, shown
from plyground.game import Game, load
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.rng import check_seed, seeds
from plyground.position import Position

OPENING_TRIES, PAIRS_AT_ONCE = 1000, 16
BLOCK = 200
"""pairs that are played at once where an agent's choice may depend on the other games of a batch"""
Records = NDArray[np.void]
Rngs = NDArray[np.uint64]
Progress = Callable[[int], None] | None


@dataclass(frozen=True, repr=False)
class Match:
    """The result from the first agent's point of view."""

    scores: NDArray[np.float64]  # [pairs, 2]: 1, 1/2 or 0, as first side and as second side
    plies: float
    """mean length of a game, including its opening"""
    unfinished: int
    """games truncated at the limit of plies and counted as draws"""
    endings: Mapping[str, int] = field(default_factory=dict[str, int])
    """the number of games for each reason: checkmate, stalemate, ..."""
    faults: tuple[str, ...] = ()
    """reasons of forfeited games: an engine died or answered with an illegal move"""
    max_plies: int = 0
    """the limit of plies after the opening"""
    all_seeing: tuple[str, ...] = ()
    """the agents that saw what their seats cannot know (`sees_all`)"""

    @property
    def games(self) -> int:
        return self.scores.size

    @property
    def wins(self) -> int:
        return int((self.scores == 1).sum())

    @property
    def draws(self) -> int:
        return int((self.scores == 0.5).sum())

    @property
    def losses(self) -> int:
        return int((self.scores == 0).sum())

    @property
    def score(self) -> float:
        """Wins and half the draws, divided by the games."""
        return float(self.scores.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the score."""
        return mean_and_interval([float(pair) for pair in self.scores.mean(axis=1)])[1]

    @property
    def results(self) -> str:
        """`20 wins, 0 draws, 1 loss`."""
        return ", ".join((counted(self.wins, "win"), counted(self.draws, "draw"), counted(self.losses, "loss")))

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.score:.1%} [{low:.1%}, {high:.1%}] of {counted(self.games, 'game')}: {self.results}{self.warning}"
        )

    @property
    def warning(self) -> str:
        """`; Peek of peek.py sees what is hidden`, or nothing."""
        return f"; {told_to_see(self.all_seeing)}" if self.all_seeing else ""

    def __repr__(self) -> str:
        return f"<match: {self}>"

    @property
    def elo(self) -> float:
        return elo(self.score)

    @property
    def elo_interval(self) -> tuple[float, float]:
        return elo(self.interval[0]), elo(self.interval[1])


def play_match(
    game: Game | str,
    first: Agent | str,
    second: Agent | str,
    games: int = 100,
    seed: int = 0,
    opening_plies: int | None = None,
    progress: Progress = None,
    max_plies: int | None = None,
    book: Records | None = None,
) -> Match:
    """Play `games` games in pairs: `pg.match("chess", "greedy", "random")`, or with a game and agents. Rows 2k and
    2k + 1 have the same opening and deal; the agents swap sides.

    `progress` is called after every ply with the number of finished games. A game is truncated `max_plies` plies after
    its opening (default: the game's MAX_PLIES) and counts as a draw. `book` has positions to begin with, in place of
    random openings.
    """
    check_pairs(games)
    check_seed(seed)
    if max_plies is not None and not is_whole(max_plies, 0):
        raise InvalidValue(
            f"max_plies of a match is a whole number, 0 for the limit of the game, not {shown(max_plies)}"
        )
    game = load(game)
    first, second = make(first, game), make(second, game)
    parts: list[Match] = []

    def advance(finished: int) -> None:
        if progress:
            progress(sum(part.games for part in parts) + finished)

    for pairs in blocks(games // 2, first, second):
        parts.append(play_pairs(game, first, second, pairs, seed, opening_plies, advance, max_plies, book))
    return combined(parts)


def blocks(pairs: int, first: Agent, second: Agent) -> list[range]:
    """The pairs of a match, as they are played at once. A network's rounding depends on the size of its batches, so
    that a match is the same on one machine and on many only if they play the same blocks."""
    agents = (first, second)
    whole = all(independent(agent) for agent in agents) or any(isinstance(agent, Learning) for agent in agents)
    size = pairs if whole else BLOCK
    return [range(start, min(start + size, pairs)) for start in range(0, pairs, size)]


def play_pairs(
    game: Game,
    first: Agent,
    second: Agent,
    pairs: range,
    seed: int = 0,
    opening_plies: int | None = None,
    progress: Progress = None,
    max_plies: int | None = None,
    book: Records | None = None,
) -> Match:
    """Some of the pairs of a match: each has an opening and generators of its own, from the seed and its number."""
    games = 2 * len(pairs)
    states, game_rngs, plies = openings(game, len(pairs), seed, opening_plies, book, pairs.start)
    states, game_rngs, plies = np.repeat(states, 2), np.repeat(game_rngs, 2), np.repeat(plies, 2)  # [games]
    rngs = game.agent_rngs(seed, 2 * pairs.stop)[2 * pairs.start :]  # [games]
    swapped = np.arange(games) % 2  # in odd rows `second` has the first side
    faults, turns = list[str](), Turns()
    limit = max_plies or game.rules.MAX_PLIES
    try:
        for _ in range(limit):
            running = states["outcome"] == RUNNING
            if not running.any():
                break
            actor = states["to_move"] ^ swapped  # 0: `first` acts, 1: `second`
            for index, agent in enumerate((first, second)):
                rows = np.flatnonzero(running & (actor == index))
                if len(rows):
                    faults += _act(game, agent, rows, states, game_rngs, rngs, turns)
            plies[running] += 1
            if progress:
                progress(int((states["outcome"] != RUNNING).sum()))
    finally:  # also on Ctrl-C: an agent that learns saves what it has learned
        for agent in (first, second):
            tell(agent, np.arange(games), states["outcome"])
    outcome = states["outcome"].astype(np.int64)
    won = outcome == FIRST_WINS + swapped  # by `first`
    scores = np.where(won, 1.0, np.where(outcome <= DRAW, 0.5, 0.0)).reshape(-1, 2)
    endings = Counter(reason for state in states if (reason := game.rules.reason(state)))
    stopped, seeing = int((outcome == RUNNING).sum()), all_seeing(game, first, second)
    return Match(scores, float(plies.mean()), stopped, endings, tuple(faults), limit, seeing)


def check_pairs(games: int) -> None:
    if not is_whole(games, 2) or games % 2:
        raise InvalidValue(f"a match is played in pairs: an even number of games, at least 2, not {shown(games)}")


def _act(
    game: Game, agent: Agent, rows: NDArray[np.intp], states: Records, game_rngs: Rngs, rngs: Rngs, turns: Turns
) -> list[str]:
    """Play one agent's actions in its rows, after checking that they are legal; returns the reasons of forfeits."""
    own = rngs[rows]  # a copy
    actions = np.ascontiguousarray(ask(agent, game, states[rows], own, rows, turns), np.int32)
    rngs[rows] = own
    given_up = rows[actions == GIVES_UP]
    states["outcome"][given_up] = FIRST_WINS + 1 - states["to_move"][given_up]
    rows, actions = rows[actions != GIVES_UP], actions[actions != GIVES_UP]
    mine, own_rngs = states[rows], game_rngs[rows]  # copies
    bad = game.first_illegal(mine, actions)
    if bad >= 0:
        refusal = Position(game, mine[bad : bad + 1].copy()).refusal(int(actions[bad]))
        raise Error(f"the agent {name_of(agent)} chose an illegal action: {refusal}")
    game.kernels().play_all(mine, actions, own_rngs, game.work())
    states[rows], game_rngs[rows] = mine, own_rngs
    return list(getattr(agent, "faults", []))[-len(given_up) :] if len(given_up) else []


def play_until_decided(
    game: Game,
    first: Agent,
    second: Agent,
    sprt: Sprt,
    games: int = 10_000,
    seed: int = 0,
    opening_plies: int | None = None,
    progress: Progress = None,
    book: Records | None = None,
) -> tuple[Match, Verdict]:
    """Play pairs until the sequential test is decided or `games` games are played."""
    check_pairs(games)
    played = (play_match(game, first, second, size, own, opening_plies, book=book) for size, own in rounds(games, seed))
    return decide(played, sprt, games, progress)


def rounds(games: int, seed: int) -> Iterator[tuple[int, int]]:
    """The matches of a sequential test: number of games, and seed."""
    for number, start in enumerate(range(0, games, 2 * PAIRS_AT_ONCE)):
        yield min(2 * PAIRS_AT_ONCE, games - start), seed + 3 * number


def decide(played: Iterator[Match], sprt: Sprt, games: int, progress: Progress = None) -> tuple[Match, Verdict]:
    """Take matches until the sequential test is decided or `games` games are played."""
    parts: list[Match] = []
    while True:
        done = sum(part.games for part in parts)
        if progress:
            progress(done)
        verdict = sprt.verdict(np.concatenate([part.scores.mean(axis=1) for part in parts] or [np.zeros(0)]))
        if verdict != Verdict.OPEN or done == games:
            return combined(parts), verdict
        parts.append(next(played))


def combined(parts: list[Match]) -> Match:
    """The sum of several matches, in order."""
    plies = sum(round(part.plies * part.games) for part in parts) / sum(part.games for part in parts)
    endings = sum((Counter(part.endings) for part in parts), Counter[str]())
    faults = tuple(fault for part in parts for fault in part.faults)
    stopped = sum(part.unfinished for part in parts)
    scores, one = np.concatenate([part.scores for part in parts]), parts[0]
    return Match(scores, plies, stopped, endings, faults, one.max_plies, one.all_seeing)


def openings(
    game: Game, n: int, seed: int = 0, plies: int | None = None, book: Records | None = None, first: int = 0
) -> tuple[Records, Rngs, NDArray[np.int32]]:
    """`n` running games after random plies, or from a book: states, generators and plies played, each [n]; `first` is
    the number of the first one."""
    if book is not None:
        return pick_openings(book, first + n, seed)[first:], seeds(seed, first + n)[first:], np.zeros(n, np.int32)
    wanted = game.rules.OPENING_PLIES if plies is None else plies
    if not is_whole(wanted, 0, game.rules.MAX_PLIES):
        raise InvalidValue(f"an opening of {game} has 0 to {game.rules.MAX_PLIES} plies, not {shown(wanted)}")
    kernels, work, scratch = game.kernels(), game.work(), game.scratch()
    states, game_rngs, picks = (
        np.zeros(n, game.rules.STATE),
        *(seeds(each, first + n)[first:] for each in (seed, seed + 2)),
    )
    rows = np.arange(n)  # games without an opening so far
    for _ in range(OPENING_TRIES):
        tried, own_rngs, pick = states[rows], game_rngs[rows], picks[rows]
        kernels.reset_all(tried, game.blank, own_rngs)
        actions = np.empty(len(rows), np.int32)
        for _ in range(wanted):
            kernels.random_actions(tried, pick, actions, work, scratch)
            going = np.flatnonzero(actions >= 0)
            if not len(going):
                break
            part, part_rngs = tried[going], own_rngs[going]
            kernels.play_all(part, actions[going], part_rngs, work)
            tried[going], own_rngs[going] = part, part_rngs
        states[rows], game_rngs[rows], picks[rows] = tried, own_rngs, pick
        rows = rows[tried["outcome"] != RUNNING]
        if not len(rows):
            return states, game_rngs, np.full(n, wanted, np.int32)
    raise InvalidValue(f"{wanted} random plies nearly always end a game of {game}: choose fewer opening plies")
