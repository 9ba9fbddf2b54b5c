"""`LineSearch`: the best lines of one position by alpha-beta with iterative deepening, until it is told to stop.

The search is that of `timed.py`, one iteration at a time. The second line is the best one without the first line's
action, and so on. Further threads search the same position; what they find reaches the first by the shared table.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, shorten
from plyground.game import Game
from plyground.models.compiled import CompiledModel, handwritten
from plyground.position import Position
from plyground.search.alpha_beta_arrays import WIN, Buffers, Limits, Records, Words, alpha_beta
from plyground.search.analysis import EVERY, Analysis, Analyst, check_running, scored
from plyground.search.minimax import check_searchable
from plyground.search.pieces import in_pieces
from plyground.search.timed import (
    DEEPEST,
    FIRST_NODES,
    LEAST_NODES,
    LEVELS,
    MOST_NODES,
    QUIESCENCE,
    TABLE,
    Found,
    found_in,
)

Flags = NDArray[np.uint8]
LINES = 5  # of an analysis
FIRST = 0.1  # seconds before its first answer: iterations of a few nodes tell nothing
HELPERS_NODES = 4096  # that a further thread searches between two readings of the signal to stop


@dataclass(frozen=True)
class BestLines:
    """What a search has found so far."""

    lines: list[Found]
    """the best first"""
    depth: int
    """of the iteration"""
    nodes: int
    complete: bool
    """whether the iteration is"""
    final: bool = False
    """whether a deeper iteration could find nothing else: the first line's value is proven"""


class LineSearch:
    """One position at a time; the table is kept from one search to the next."""

    def __init__(self, model: Game | CompiledModel, table: int = TABLE, threads: int = 1) -> None:
        """A game stands for its own `evaluate`."""
        if isinstance(model, Game):
            check_searchable(model)
            model = handwritten(model, fine=True)
        self.model, self.game, rules = model, model.game, model.game.rules
        self.kernels, self.own = alpha_beta(model, LEVELS, 1 << table)
        further = [alpha_beta(model, LEVELS, 1)[1] for _ in range(threads - 1)]
        self.helpers = [Buffers(each.stack, each.memory._replace(table=self.own.memory.table)) for each in further]
        quiescence = QUIESCENCE if "loudness" in rules.compiled else 0
        self.limits = Limits(DEEPEST, quiescence, True, "pass_turn" in rules.compiled)

    def forget(self) -> None:
        """Empty the table and the statistics: the next search begins as the first did."""
        for own in (self.own, *self.helpers):
            own.forget()

    def deepen(
        self,
        state: Records,
        count: int = 1,
        actions: Collection[int] | None = None,
        depth: int = DEEPEST,
        nodes: int = MOST_NODES,
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[BestLines]:
        """The `count` best lines of a running state [1], those that begin with one of `actions`: after each iteration,
        and when it is stopped. There is one line at least, however soon it is stopped."""
        text, legal = shorten(self.game.rules.text(state[0])), set(Position(self.game, state).legal())
        if not legal:
            raise InvalidValue(f"a search needs a running game; this one is over: {text!r}")
        others = set[int]() if actions is None else legal.difference(actions)
        if others == legal:
            raise InvalidValue(f"none of the actions {shorten(str(actions))} is legal in {text!r}")
        barred = np.zeros(self.game.num_actions, np.uint8)
        barred[list(others)] = 1
        count = min(count, len(legal) - len(others))
        self.own, *self.helpers = (own.with_weights(self.model) for own in (self.own, *self.helpers))
        for own in (self.own, *self.helpers):
            self.kernels.begin_search(state, own.stack, own.memory)
        found = BestLines([], 0, 0, complete=True)
        with self._helped(barred):
            for iteration in range(1, min(depth, DEEPEST) + 1):
                found = self._iterate(iteration, count, barred, found.lines, nodes, stop)
                yield found
                if found.final or self._over(nodes, stop):
                    return

    @property
    def nodes(self) -> int:
        """Searched so far, by all threads."""
        return sum(int(own.memory.progress[0]["nodes"]) for own in (self.own, *self.helpers))

    def _over(self, nodes: int, stop: Callable[[], bool]) -> bool:
        return self.nodes >= nodes or stop()

    def _iterate(
        self, depth: int, count: int, barred: Flags, before: list[Found], nodes: int, stop: Callable[[], bool]
    ) -> BestLines:
        """One iteration: all lines, one after the other. If it is stopped, other lines are those of `before`."""
        memory, found, complete = self.own.memory, list[Found](), True
        for number in range(count):
            memory.barred[:] = barred
            memory.barred[[line.action for line in found]] = 1
            value, action = (before[number].value, before[number].action) if number < len(before) else (0.0, -1)
            action = action if action >= 0 and not memory.barred[action] else -1
            self.kernels.search_line(depth, value, action, self.own.stack, memory)
            complete = self._search(depth, bool(before or found), nodes, stop)
            if complete or (number == 0 and memory.progress[0]["line"]):  # its best so far has been compared
                found.append(found_in(self.own.memory))
            if not complete:
                break
        final = complete and all(WIN - abs(line.value) < depth for line in found)
        found.sort(key=lambda line: -line.value)
        rest = [line for line in before if line.action not in {each.action for each in found}]
        return BestLines((found + rest)[:count], depth, self.nodes, complete, final)

    def _search(self, depth: int, stoppable: bool, nodes: int, stop: Callable[[], bool]) -> bool:
        """Search the line that was begun; returns whether it is complete. It is `stoppable` if there is something to
        answer with already."""
        run, limits = self.own.memory.progress[0], self.limits._replace(depth=depth)

        def left() -> int:
            may_stop = stoppable or run["action"] >= 0
            if run["finished"] or (may_stop and self._over(nodes, stop)):
                return 0
            return nodes - self.nodes if may_stop else LEAST_NODES

        for _ in in_pieces(
            lambda count: self.kernels.search_on(count, limits, self.own.stack, self.own.memory),
            left,
            FIRST_NODES if stoppable else LEAST_NODES,
            least=LEAST_NODES,
        ):
            pass
        return bool(run["finished"])

    @contextmanager
    def _helped(self, barred: Flags) -> Generator[None]:
        """Let the further threads search until the block ends."""
        ended = threading.Event()

        def search(own: Buffers, first: int) -> None:
            own.memory.barred[:] = barred
            self.kernels.search_line(first, 0.0, -1, own.stack, own.memory)
            while not ended.is_set() and not own.memory.progress[0]["finished"]:
                self.kernels.search_on(HELPERS_NODES, self.limits, own.stack, own.memory)

        threads = [
            threading.Thread(target=search, args=(own, 1 + number % 2), daemon=True)
            for number, own in enumerate(self.helpers, 1)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join()


def lines_analyst(model: Game | CompiledModel, seconds: float, nodes: int, count: int = LINES) -> Analyst:
    """Analyses of positions: the `count` best moves, each with its value and line, after each iteration. Searched for
    so many seconds or, if `nodes` is not 0, for so many nodes from an empty table."""
    search = LineSearch(model)

    def analyse(position: Position, rngs: Words, every: float = EVERY) -> Iterator[Analysis]:
        check_running(position)
        next(search.deepen(position.states, depth=1))  # compiles: the clock counts no compiling
        if nodes:
            search.forget()
        begun = time.perf_counter()
        due, last = begun + min(every, FIRST), None

        def stop() -> bool:
            return not nodes and time.perf_counter() - begun > seconds

        for found in search.deepen(position.states, count, nodes=nodes or MOST_NODES, stop=stop):
            last, now = found, time.perf_counter()
            if now >= due:
                due = now + every
                yield _describe(position, found, now - begun)
        if last is not None:
            yield _describe(position, last, time.perf_counter() - begun)

    return analyse


def _describe(position: Position, found: BestLines, seconds: float) -> Analysis:
    values, lines = {line.action: line.value for line in found.lines}, {line.action: line.line for line in found.lines}
    analysis = scored(position, values, seconds, lines=lines, turns=True)
    return replace(analysis, nodes=found.nodes, depth=found.depth if found.complete else found.depth - 1)
