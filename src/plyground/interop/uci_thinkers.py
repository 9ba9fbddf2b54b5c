"""Agents as a UCI engine uses them: they report while they think, and can be stopped.

What they tell is an `Analysis` of the moves to choose from, the best first. That of alpha-beta and tree search has
depth, nodes, values and lines; any other agent tells its move.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.agents.levels import LevelAgent
from plyground.agents.registry import make
from plyground.agents.search import SearchAgent
from plyground.game import Game
from plyground.games.chess.evaluate import SCALE
from plyground.games.rng import draw
from plyground.interop.uci_options import ELO
from plyground.position import Position
from plyground.search.analysis import Analysis, MoveAnalysis, analyse, move_of, scored
from plyground.search.choosing_arrays import STEPS
from plyground.search.multipv import LineSearch
from plyground.search.timed import DEEPEST, MOST_NODES, TimedMinimax

FOR_EVER = 1e6  # seconds
POLL_INTERVAL = 0.03  # seconds between two readings of a tree
NEWS = 0.5  # seconds between two thoughts of a tree whose best move stays the same
COMPILES = 0.001  # seconds of a search that is there to compile
SUREST = 0.95  # values beyond are shown as this one: 95 pawns
ENTRY_BYTES = 24  # of a transposition table


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


class Thinker:
    """What plays. This one only tells that it searches nothing and remembers nothing."""

    iterates = False
    """whether a search goes in iterations, of which each takes longer than the last"""
    searched = 0
    """nodes since the search began"""

    @property
    def nodes(self) -> int:
        return self.searched

    def think(self, position: Position, request: Request) -> Generator[Analysis]:
        """What is known so far, each better than the last; one at least, however soon it is stopped."""
        raise NotImplementedError

    def forget(self) -> None:
        """A new game begins."""


def score(move: MoveAnalysis) -> str:
    """The value of a move in a line for the GUI, or in how many moves it mates or is mated; empty: it has no value."""
    if move.distance is not None:
        return f" score mate {move.distance if move.proven == 'win' else -move.distance}"
    return "" if move.value is None else f" score cp {centipawns(move.value)}"


def centipawns(value: float) -> int:
    """A value in [-1, 1] in hundredths of a pawn: the inverse of chess's `evaluate`."""
    value = max(-SUREST, min(SUREST, value))
    return round(SCALE * value / (1 - abs(value)))


# ---- alpha-beta ----


class AlphaBetaThinker(Thinker):
    iterates = True

    def __init__(self, game: Game, megabytes: int, threads: int, nodes: int = 0) -> None:
        """`nodes`: the most for each move, whatever the GUI asks for; 0: no such limit."""
        entries = megabytes * 2**20 // ENTRY_BYTES
        self.search, self.most = LineSearch(game, entries.bit_length() - 1, threads), nodes

    @property
    def nodes(self) -> int:
        return self.search.nodes

    def think(self, position: Position, request: Request) -> Generator[Analysis]:
        nodes, begun = min(self.most or MOST_NODES, request.nodes or MOST_NODES), time.perf_counter()
        answers = self.search.deepen(
            position.states, request.lines, request.actions, request.depth or DEEPEST, nodes, request.stop
        )
        text, side = position.view, position.game.rules.SIDES[position.to_move]
        for each in answers:
            moves = [move_of(position, line.value, line.line, 1.0, turns=True) for line in each.lines]
            depth, seconds = each.depth if each.complete else each.depth - 1, time.perf_counter() - begun
            value, proven = moves[0].value or 0.0, moves[0].proven
            yield Analysis(text, side, value, proven, 0, seconds, moves, each.nodes, depth)

    def forget(self) -> None:
        self.search.forget()


# ---- tree search ----


class TreeThinker(Thinker):
    def __init__(self, agent: Any, simulations: int = 0) -> None:
        """A search agent; `simulations`: the most for each move, whatever the GUI asks for; 0: no such limit."""
        self.agent, self.most = agent, simulations

    def think(self, position: Position, request: Request) -> Generator[Analysis]:
        self.searched = 0
        limits = [limit for limit in (self.most, request.nodes) if limit]
        seconds = request.seconds or FOR_EVER
        config = replace(self.agent.config, simulations=min(limits, default=0), seconds=seconds)
        last, best, reported = None, -1, 0.0
        for found in analyse(self.agent.growing(config), *position.seen_by(self.agent), POLL_INTERVAL):
            self.searched = found.simulations
            moves = [move for move in found.moves if move.action in request.actions][: request.lines]
            depth = max(len(move.actions) for move in moves)
            last = replace(found, moves=moves, nodes=found.simulations, depth=depth)
            if request.stop() or (request.depth and depth >= request.depth):
                break
            now = time.perf_counter()
            if best != moves[0].action or now - reported > NEWS:
                best, reported = moves[0].action, now
                yield last
        if last is not None:
            yield last


# ---- any other agent ----


class AgentThinker(Thinker):
    def __init__(self, agent: Any) -> None:
        self.agent, self.seed = agent, time.time_ns() % 2**32  # games differ

    def think(self, position: Position, request: Request) -> Generator[Analysis]:
        self.seed += 1
        action = position.ask(self.agent, self.seed)
        found = scored(position, {}, 0.0, {action if action in request.actions else request.actions[0]: 1.0})
        yield replace(found, moves=found.moves[:1], depth=1)


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
    agent: Any = EloAgent(game, int(spec.removeprefix("elo:"))) if spec.startswith("elo:") else make(spec, game)
    if isinstance(agent, TimedMinimax):
        thinker = AlphaBetaThinker(game, megabytes, threads, agent.nodes)
    elif isinstance(agent, SearchAgent):
        if not agent.independent:  # it has a network
            from plyground.learners.threads import prepare_torch

            prepare_torch(threads)  # on a busy machine several threads are far slower than one
        thinker = TreeThinker(agent, simulations or agent.config.simulations)
    else:
        thinker = AgentThinker(agent)
    start = game.start()
    for _ in thinker.think(start, Request(start.legal(), stop=lambda: True, nodes=1, seconds=COMPILES)):
        pass
    thinker.forget()
    return thinker
