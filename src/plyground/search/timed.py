"""`TimedMinimax`: an agent that searches each position for a time or a number of nodes, with iterative deepening."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from plyground.errors import InvalidValue, shorten
from plyground.game import Game, agent_repr
from plyground.games.interface import RUNNING
from plyground.kernels.threads import available, over_slices
from plyground.models.compiled import CompiledModel, handwritten
from plyground.position import Position
from plyground.search.alpha_beta_arrays import WIN, Ints, Limits, Memory, OwnBuffers, Records, Words
from plyground.search.analysis import Analysis, Analyst, last_analysis
from plyground.search.minimax import check_searchable
from plyground.search.pieces import in_pieces
from plyground.search.within_turn import turn_of

DEEPEST = 60  # turns
LEVELS = 160  # of the stack: turns of several actions, and captures beyond the depth
QUIESCENCE = 24  # plies beyond the depth
TABLE = 20  # 2**20 entries for each thread: 24 MB
FIRST_NODES, LEAST_NODES = 256, 32  # between the first two readings, and between any two
AFTERWARDS = 0.05  # of the time of a search, for an action that its line does not tell
NO_LIMIT = 1e9  # seconds
MOST_NODES, LEAST_TABLE = 10**15, 12


@dataclass(frozen=True)
class Found:
    """What a search has found in one position."""

    action: int
    value: float
    """for the side to move: `evaluate` in [-1, 1], or beyond 500 a proven win or loss"""
    depth: int
    """turns of the last complete iteration"""
    nodes: int
    line: list[int]
    """the principal variation, beginning with the action"""
    stopped: bool = False
    """by Ctrl-C"""

    @property
    def turns(self) -> int:
        """The number of the turn that ends the game: positive if it is proven to be won, negative if lost, else 0."""
        return 0 if abs(self.value) < WIN / 2 else int(math.copysign(WIN - abs(self.value) + 1, self.value))


def found_in(memory: Memory) -> Found:
    """What the search that a thread's memory belongs to has found so far."""
    run = memory.progress[0]
    line = memory.line[: run["line"]].tolist()
    return Found(int(run["action"]), float(run["value"]), int(run["completed"]), int(run["nodes"]), line)


class TimedMinimax:
    """Plays the best action that alpha-beta with iterative deepening finds within `seconds` (whole turns).

    Each position is searched by one thread; several positions are searched at once. The rest of a turn is played as
    the search has planned it, without another search (agents/turns.py). Ctrl-C ends the search of a single position:
    the best action so far is played.

    With `nodes`, each position is searched for so many nodes instead, from an empty table: the action depends on the
    position alone.
    """

    leaves_circles = True
    independent = True
    stoppable = True

    def __init__(
        self,
        game: Game,
        seconds: float = NO_LIMIT,
        table: int = TABLE,
        threads: int | None = None,
        nodes: int = 0,
        model: CompiledModel | None = None,
    ) -> None:
        """`model`: what judges positions; otherwise the game's own `evaluate`."""
        if seconds == NO_LIMIT and not nodes:
            raise InvalidValue("minimax needs a limit: seconds, or nodes")
        if not 0 < seconds < math.inf:
            raise InvalidValue(f"minimax searches for a positive number of seconds, not {seconds:g}")
        if not 0 <= nodes <= MOST_NODES:
            raise InvalidValue(f"minimax searches 1 to {MOST_NODES} nodes, not {nodes}")
        check_searchable(game, model)
        self.model = model or handwritten(game, fine=True)
        self.game, self.seconds, self.nodes, self.threads = game, seconds, nodes, threads or available()
        self.entries = 1 << (min(table, max(LEAST_TABLE, nodes.bit_length())) if nodes else table)
        self._buffers = OwnBuffers(self.model, LEVELS, self.entries)
        self.kernels = self._buffers.kernels

    __repr__ = agent_repr

    def __str__(self) -> str:
        limit = f"nodes={self.nodes}" if self.nodes else f"time={self.seconds:g}"
        return f"minimax:{limit}{self.model.option}"

    def act(self, states: Records, rngs: Words) -> Ints:
        return np.array([turn[0] for turn in self.act_turns(states, rngs)], np.int32)

    def act_turns(self, states: Records, rngs: Words) -> list[list[int]]:
        """For each state all actions of the turn that its search has decided; with `nodes` the first alone."""
        turns: list[list[int]] = [[]] * len(states)

        def run(part: slice) -> None:
            for row in range(len(states))[part]:
                one = states[row : row + 1]
                found = self.search(one)
                if found.stopped and len(states) > 1:
                    raise KeyboardInterrupt  # it was meant for the match
                if self.nodes:
                    turns[row] = [found.action]
                    continue
                # Where the line ends before the turn, since the table knew the value of what follows, a short search
                # goes on from there: the table still knows it.
                turns[row], after = turn_of(self.game, one, found.line)
                while after["outcome"][0] == RUNNING and after["to_move"][0] == one["to_move"][0]:
                    if len(turns[row]) >= DEEPEST:
                        break
                    more, after = turn_of(self.game, after, self.search(after, self.seconds * AFTERWARDS).line)
                    turns[row] += more

        over_slices(run, len(states), self.threads, 1)
        return turns

    def compile_kernels(self) -> None:
        self.search(self.game.fresh, 0.0, depth=1)

    def search(
        self, state: Records, seconds: float | None = None, depth: int = DEEPEST, selective: bool = True
    ) -> Found:
        """What is found in a running state [1]; the calling thread searches. Ctrl-C ends the search.

        Without `selective`, the value is that of a plain search of `depth` turns, without quiescence.
        """
        results: list[Found] = []
        try:
            for found in self.deepen(state, seconds, depth, selective):
                results.append(found)
        except KeyboardInterrupt:
            if not results:
                raise
            return replace(results[-1], stopped=True)
        return results[-1]

    def analyse(self, position: Position, rngs: Words) -> Analysis:
        """The best moves, each with its value and line."""
        return last_analysis(self.analyst(), position, rngs)

    def analyst(self) -> Analyst:
        """The same while it is searched."""
        from plyground.search.multipv import lines_analyst  # which imports this file

        return lines_analyst(self.model, self.seconds, self.nodes)

    def deepen(
        self, state: Records, seconds: float | None = None, depth: int = DEEPEST, selective: bool = True
    ) -> Iterator[Found]:
        """The same while it is searched: whenever an iteration is complete or another action is better, and last."""
        rules, own = self.game.rules, self._buffers.own
        if state["outcome"][0]:
            raise InvalidValue(f"a search needs a running game; this one is over: {shorten(rules.text(state[0]))!r}")
        quiescence = QUIESCENCE if selective and "loudness" in rules.compiled else 0
        limits = Limits(depth, quiescence, selective, selective and "pass_turn" in rules.compiled)
        if self.nodes:
            own.forget()
        run, begun, reported = own.memory.progress[0], time.perf_counter(), (0, -1)
        end, most = begun + (self.seconds if seconds is None else seconds), self.nodes or MOST_NODES
        self.kernels.begin_search(state, own.stack, own.memory)

        def left() -> int:
            """There is an action at the end, however soon that comes."""
            rest = 0 if time.perf_counter() >= end else most - int(run["nodes"])
            return 0 if run["finished"] else max(rest, int(run["action"] < 0))

        def search(count: int) -> None:
            self.kernels.search_on(count, limits, own.stack, own.memory)

        for _ in in_pieces(search, left, FIRST_NODES, end=end, least=LEAST_NODES):
            news = (int(run["completed"]), int(run["action"]))
            if news != reported and news[1] >= 0:
                yield found_in(own.memory)
            reported = news
        yield found_in(own.memory)
