"""Agents as a UCI engine uses them: they report while they think, and can be stopped.

Alpha-beta and tree search tell depth, nodes, scores and lines. Any other agent tells its move.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import make
from plyground.agents.levels import LevelAgent
from plyground.agents.search import NetworkSearchAgent, SearchAgent
from plyground.game import Game
from plyground.games.chess.evaluate import SCALE
from plyground.games.rng import draw
from plyground.interop.uci_options import ELO
from plyground.position import Position
from plyground.search.analysis import MoveAnalysis, analyse
from plyground.search.choosing_arrays import STEPS
from plyground.search.lines import LineSearch
from plyground.search.timed import DEEPEST, MOST_NODES, Found, TimedMinimax

FOR_EVER = 1e6  # seconds
POLL_INTERVAL = 0.03  # seconds between two readings of a tree
NEWS = 0.5  # seconds between two thoughts of a tree whose best move stays the same
COMPILES = 0.001  # seconds of a search that is there to compile
SUREST = 0.95  # values beyond are shown as this one: 95 pawns
ENTRY_BYTES = 24  # of a transposition table


@dataclass(frozen=True)
class Line:
    """A principal variation and its score for the side to move: in centipawns, or mate in so many moves (0: none)."""

    actions: list[int]
    centipawns: int | None = None
    mate: int = 0


@dataclass(frozen=True)
class Thought:
    """What is known so far; the best line first."""

    lines: list[Line]
    depth: int = 1
    nodes: int = 0
    final: bool = False
    """whether thinking on would change nothing"""


@dataclass(frozen=True)
class Request:
    """What is to be searched, and its limits; 0: none."""

    actions: list[int]
    """the moves to choose from"""
    stop: Callable[[], bool]
    lines: int = 1
    depth: int = 0
    nodes: int = 0
    seconds: float = 0.0
    """a search that allocates memory makes room for so long; `stop` ends it"""


class Thinker(Protocol):
    iterates: bool
    """whether a search goes in iterations, of which each takes longer than the last"""

    @property
    def nodes(self) -> int:
        """Searched since the search began."""
        ...

    def think(self, position: Position, request: Request) -> Generator[Thought]:
        """Thoughts, each better than the last; one at least, however soon it is stopped."""
        ...

    def forget(self) -> None:
        """A new game begins."""
        ...


def centipawns(value: float) -> int:
    """A value in [-1, 1] in hundredths of a pawn: the inverse of chess's `evaluate`."""
    value = max(-SUREST, min(SUREST, value))
    return round(SCALE * value / (1 - abs(value)))


# ---- alpha-beta ----


class AlphaBetaThinker:
    iterates = True

    def __init__(self, game: Game, megabytes: int, threads: int, nodes: int = 0) -> None:
        """`nodes`: the most for each move, whatever the GUI asks for; 0: no such limit."""
        entries = megabytes * 2**20 // ENTRY_BYTES
        self.search, self.most = LineSearch(game, entries.bit_length() - 1, threads), nodes

    @property
    def nodes(self) -> int:
        return self.search.nodes

    def think(self, position: Position, request: Request) -> Generator[Thought]:
        nodes = min(self.most or MOST_NODES, request.nodes or MOST_NODES)
        found = self.search.deepen(
            position.states, request.lines, request.actions, request.depth or DEEPEST, nodes, request.stop
        )
        for each in found:
            depth = each.depth if each.complete else each.depth - 1
            yield Thought([_line(line) for line in each.lines], depth, each.nodes, each.final)

    def forget(self) -> None:
        self.search.forget()


def _line(found: Found) -> Line:
    if found.turns:
        return Line(found.line, mate=(found.turns + 1) // 2 if found.turns > 0 else -(-found.turns // 2))
    return Line(found.line, centipawns(found.value))


# ---- tree search ----


class TreeThinker:
    iterates = False

    def __init__(self, agent: Any, simulations: int = 0) -> None:
        """A search agent; `simulations`: the most for each move, whatever the GUI asks for; 0: no such limit."""
        self.agent, self.most, self.nodes = agent, simulations, 0

    def think(self, position: Position, request: Request) -> Generator[Thought]:
        self.nodes = 0
        limits = [limit for limit in (self.most, request.nodes) if limit]
        seconds = request.seconds or FOR_EVER
        config = dataclasses.replace(self.agent.config, simulations=min(limits, default=0), seconds=seconds)
        last, reported = Thought([]), 0.0
        for found in analyse(self.agent.growing(config), *position.seen_by(self.agent), POLL_INTERVAL):
            self.nodes = found.simulations
            moves = [move for move in found.moves if move.action in request.actions]
            lines = [_tree_line(position, move) for move in moves[: request.lines]]
            thought = Thought(lines, max(len(line.actions) for line in lines), self.nodes, final=bool(found.proven))
            if request.stop() or (request.depth and thought.depth >= request.depth):
                yield thought
                return
            now = time.perf_counter()
            if not last.lines or last.lines[0].actions[0] != lines[0].actions[0] or now - reported > NEWS:
                reported = now
                yield thought
            last = thought
        yield last

    def forget(self) -> None:
        pass  # each search grows its own tree


def _tree_line(position: Position, move: MoveAnalysis) -> Line:
    actions = list[int]()
    for name in move.line:
        actions.append(position.action(name))
        position = position.play(actions[-1])
    if move.plies and move.proven != "draw":
        return Line(actions, mate=(move.plies + 1) // 2 if move.proven == "win" else -(move.plies // 2))
    return Line(actions, None if move.value is None else centipawns(move.value))


# ---- any other agent ----


class AgentThinker:
    iterates = False

    def __init__(self, agent: Any) -> None:
        self.agent, self.nodes, self.seed = agent, 0, time.time_ns() % 2**32  # games differ

    def think(self, position: Position, request: Request) -> Generator[Thought]:
        self.seed += 1
        action = position.ask(self.agent, self.seed)
        yield Thought([Line([action if action in request.actions else request.actions[0]])], final=True)

    def forget(self) -> None:
        pass


class EloAgent:
    """Plays a strength between two difficulty levels: each move is one level's or the other's."""

    def __init__(self, game: Game, elo: int) -> None:
        below = max(level for level, each in ELO.items() if each <= elo)
        above = min(below + 1, max(ELO))
        self.levels = LevelAgent(game, below), LevelAgent(game, above)
        self.share = (elo - ELO[below]) / max(1, ELO[above] - ELO[below])  # of the moves that are the higher level's

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        higher = draw(rngs, np.full(len(states), STEPS)) < self.share * STEPS
        chosen = [level.act(states, rngs) for level in self.levels]
        return np.where(higher, chosen[1], chosen[0])


def make_thinker(spec: str, game: Game, megabytes: int, threads: int, simulations: int) -> Thinker:
    """The agent of a spec as a thinker, compiled. A limit by time in the spec is left to the GUI, others hold for
    every move."""
    thinker = _make(spec, game, megabytes, threads, simulations)
    start = game.start()
    for _ in thinker.think(start, Request(start.legal(), stop=lambda: True, nodes=1, seconds=COMPILES)):
        pass
    thinker.forget()
    return thinker


def _make(spec: str, game: Game, megabytes: int, threads: int, simulations: int) -> Thinker:
    agent: Any = EloAgent(game, int(spec.removeprefix("elo:"))) if spec.startswith("elo:") else make(spec, game)
    if isinstance(agent, TimedMinimax):
        return AlphaBetaThinker(game, megabytes, threads, agent.nodes)
    if isinstance(agent, NetworkSearchAgent):
        from plyground.learners.threads import prepare_torch

        prepare_torch(threads)  # on a busy machine several threads are far slower than one
    if isinstance(agent, SearchAgent | NetworkSearchAgent):
        return TreeThinker(agent, simulations or agent.config.simulations)
    return AgentThinker(agent)
