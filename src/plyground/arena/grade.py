"""Grades: an agent measured by exact play. A game that is solved makes them (`grade` in the contract)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, all_seeing, told_to_see
from plyground.agents.registry import make
from plyground.arena.match import Match, Progress, check_pairs
from plyground.errors import InvalidText, InvalidValue, is_whole, shown
from plyground.game import Game, load
from plyground.games.rng import check_seed
from plyground.position import Position


@dataclass(frozen=True)
class Share:
    """How often an agent did the right thing, and how often a random mover would have."""

    cases: int
    agent: float  # nan where there was no case
    random: float


@dataclass(frozen=True)
class Mistake:
    """One bad move."""

    position: Position = field(repr=False)
    text: str
    played: str
    best: str
    lost: int
    words: str


@dataclass(frozen=True, repr=False)
class Grade:
    """An agent's report. Shares by phase: all, opening, middle, end."""

    positions: int
    wdl: dict[str, Share]
    """moves that keep the win/draw/loss value, where moves differ in it"""
    exact: dict[str, Share]
    """moves with the best exact score, where moves differ in it"""
    wins_taken: Share
    threats_blocked: Share
    """the opponent would have won at once, and one move prevents it"""
    value_lost: Share
    """mean exact score given away by a move, over all positions"""
    mistakes: list[Mistake]
    games: Match | None
    """against the perfect player, from both sides"""
    all_seeing: tuple[str, ...] = ()
    """the agent's name, if it saw what its seat cannot know (`sees_all`)"""

    def __str__(self) -> str:
        every = self.wdl["all"]
        where = f"in the {every.cases} of {self.positions} positions where it can be lost"
        words = f"{every.agent:.1%} of moves keep the result {where}"
        if self.all_seeing:
            words += f"; {told_to_see(self.all_seeing)}"
        return words if self.games is None else f"{words}; against the perfect player {self.games}"

    def __repr__(self) -> str:
        return f"<grade: {self}>"


def grade(
    game: Game | str,
    agent: Agent | str,
    positions: int | NDArray[np.void] = 1000,
    games: int = 20,
    seed: int = 0,
    progress: Progress = None,
) -> Grade:
    """Grade an agent by the perfect player of a solved game, on random `positions` (or given ones) and in `games`
    games: `pg.grade("connect_four", "minimax:depth=3")`."""
    game = load(game)
    if game.rules.grade is None:
        raise InvalidValue(f"grades need a solved game, such as connect_four; {game} is not solved")
    if not isinstance(positions, np.ndarray):
        if not is_whole(positions, 1):
            raise InvalidValue(f"a grade needs at least 1 position, not {shown(positions)}")
        positions = int(positions)
    if games != 0:
        check_pairs(games)
    check_seed(seed)
    agent = make(agent, game)
    report = game.rules.grade(game, agent, positions, seed, games, progress=progress)
    return replace(report, all_seeing=all_seeing(game, agent))


def read_positions(game: Game, text: str, source: str) -> NDArray[np.void]:
    """[N] the positions of a text, one at the start of each line; the rest of a line is ignored."""
    records: list[NDArray[np.void]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            try:
                position = game.position(line.split()[0])
            except InvalidText as error:
                raise InvalidText(f"line {number} of {source}: {error}") from None
            if not position.over:
                records.append(position.states)
    if not records:
        raise InvalidValue(f"{source} has no positions in which the game goes on")
    return np.concatenate(records)
