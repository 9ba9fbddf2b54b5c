"""`TreeSearch`: tree search without a network, on the CPU: leaves are evaluated by `evaluate` or by random play."""

from __future__ import annotations

import math
import threading
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, unknown
from plyground.game import Game
from plyground.kernels.arrays import Judge
from plyground.kernels.threads import available, over_slices
from plyground.models.compiled import CompiledModel, handwritten
from plyground.search.pieces import CLOCK_INTERVAL, SIGNAL_INTERVAL, in_pieces
from plyground.search.tree_arrays import OPEN, Ints, Records, Result, Rngs, Settings, Trees
from plyground.search.tree_config import LEAVES, MOST_SIMULATIONS, SearchConfig, halving_schedule
from plyground.search.tree_memory import (
    available_memory,
    check_memory,
    new_result,
    new_trees,
    tree_bytes,
    words_of,
)

TEMPLATE = "plyground.search.tree"
TOGETHER = 4096  # simulations of searches whose trees are handed to a kernel together
FIRST_ROUND = 64  # simulations of the first round of a search that is limited by time
FIRST_CHUNK = 64  # simulations before the first Ctrl-C is heard
FASTEST = 4_000_000  # simulations per second that a tree has room for
MOST_MEMORY = 0.25  # of what is free: the trees of searches that are limited by time alone
KEPT = 3  # a tree that is reused has room for so many searches


def load_tree_kernels(model: CompiledModel, leaf: str) -> Any:
    """The compiled search of a game with a model; if `leaf` is a scripted agent, with that in it."""
    if leaf in LEAVES:
        return model.kernels(TEMPLATE)
    policies = model.game.rules.POLICIES
    if leaf not in policies:
        raise unknown(f"evaluator of leaves for {model.game}", leaf, [*LEAVES, *policies])
    return model.kernels(TEMPLATE, {"choose": policies[leaf]}, leaf)


class TreeMemory(NamedTuple):
    """What the loops of tree search work on: N trees with room for M nodes each."""

    trees: Trees
    settings: Settings
    judge: Judge
    work: Records  # [1]
    origin: Ints  # [M] see `move_root`


def tree_search(model: CompiledModel, config: SearchConfig, n: int, nodes: int) -> tuple[Any, TreeMemory]:
    """The compiled loops of tree search with a model, and `n` trees of `nodes` nodes: all that a search needs.

    `begin_all(trees, roots, settings, judge, work)` plants a tree for each root, `words_of(states)`; then
    `simulate_all(trees, count, halving_schedule(...), settings, judge, work)` goes on with each by `count` simulations,
    and `finish_all(trees, settings, new_result(game, n))` writes down what they have found so far. By time, Gumbel
    search has rounds: `begin_rounds(trees, settings)`.
    """
    game = model.game
    trees, settings = new_trees(game, n, nodes), config.settings(game)
    memory = TreeMemory(trees, settings, model.as_judge(), game.work(), np.zeros(nodes, np.int32))
    return load_tree_kernels(model, config.leaf), memory


class TreeSearch:
    """Searches positions one by one, several at once in threads. With `reuse` it keeps a tree for each game."""

    def __init__(
        self, game: Game, config: SearchConfig, threads: int | None = None, model: CompiledModel | None = None
    ) -> None:
        """`model`: what evaluates leaves; otherwise the game's own `evaluate`."""
        if config.leaf == "network":
            raise InvalidValue("a search without a network evaluates leaves by evaluate or random play")
        if config.leaf == "evaluate" and model is None and "evaluate" not in game.rules.compiled:
            raise InvalidValue(f"leaf=evaluate needs a game that defines `evaluate`; {game} does not: use leaf=random")
        self.game, self.config, self.threads = game, config, threads or available()
        self.together = 1 if config.seconds or config.reuse else max(1, TOGETHER // config.simulations)
        if config.seconds:
            fitting = int(available_memory() * MOST_MEMORY / self.threads / tree_bytes(game, 1000) * 1000)
            most = min(fitting, int(config.seconds * FASTEST) + 1000, config.simulations or MOST_SIMULATIONS)
            self.nodes = max(2, most)
        else:
            self.nodes = (KEPT if config.reuse else 1) * config.simulations + 1
        check_memory(game, self.nodes, self.threads * self.together)
        self.model = model or handwritten(game)
        self.kernels = load_tree_kernels(self.model, config.leaf)
        self.settings, self.kept = config.settings(game), dict[int, Trees]()
        self._own = threading.local()

    def search(self, states: Records, rngs: Rngs) -> Result:
        """What the search finds in each state [N]; random numbers come from `rngs` [N], each row from its own."""
        result, roots = new_result(self.game, len(states)), words_of(states)

        def run(rows: slice) -> None:
            own = self._own_memory()
            for first in range(rows.start, rows.stop, self.together):
                part = slice(first, min(first + self.together, rows.stop))
                trees = Trees._make(array[: part.stop - part.start] for array in own.trees)
                trees.rngs[:] = rngs[part]
                self.kernels.begin_all(trees, roots[part], self.settings, own.judge, own.work)
                self._simulate(trees, own, alone=len(states) == 1)
                self._finish(trees, result, rngs, part)

        over_slices(run, len(states), self.threads, 1)
        return result

    def search_in(self, games: NDArray[np.int64], states: Records, rngs: Rngs) -> Result:
        """The same with reuse: `games` [N] are the numbers of the games that the states belong to."""
        result, roots = new_result(self.game, len(states)), words_of(states)

        def run(rows: slice) -> None:
            for row in range(rows.start, rows.stop):
                own, part, game = self._own_memory(), slice(row, row + 1), int(games[row])
                if game not in self.kept:
                    check_memory(self.game, self.nodes, 1)
                    self.kept[game] = new_trees(self.game, 1, self.nodes)
                trees = self.kept[game]
                node = self.kernels.find_state(trees, roots[part])
                if node >= 0:  # what lies below it is copied to the thread's tree, and the two change roles
                    trees.rngs[:] = rngs[part]
                    self.kernels.move_root(trees, node, own.trees, own.origin)
                    self._own.memory = own._replace(trees=trees)
                    trees = self.kept[game] = own.trees
                trees.rngs[:] = rngs[part]
                if node < 0 or (not trees.nodes[0, 0]["count"] and trees.nodes[0, 0]["proven"] == OPEN):
                    self.kernels.begin_all(trees, roots[part], self.settings, own.judge, own.work)
                else:
                    self.kernels.begin_rounds(trees, self.settings)
                self._simulate(trees, own, alone=len(states) == 1)
                self._finish(trees, result, rngs, part)

        over_slices(run, len(states), self.threads, 1)
        return result

    def compile(self) -> None:
        """Run every kernel once, so that neither the first move of a game nor a clock waits for a compiler."""
        _, (trees, settings, judge, work, _) = tree_search(self.model, self.config, 1, 2)
        self.kernels.begin_all(trees, words_of(self.game.fresh), settings, judge, work)
        self.kernels.simulate_all(trees, 1, self._schedule(1), settings, judge, work)
        if self.config.seconds and settings.gumbel:
            self.kernels.begin_rounds(trees, settings)
        self.kernels.finish_all(trees, settings, new_result(self.game, 1))

    def forget(self, games: NDArray[np.int64]) -> None:
        """Free the trees of games that are over."""
        for game in games:
            self.kept.pop(int(game), None)

    def _simulate(self, trees: Trees, own: TreeMemory, alone: bool) -> None:
        """All simulations; by time round after round, each twice as long. Ctrl-C ends the search of a position that is
        `alone` with what it has found."""
        seconds, most = self.config.seconds, self.config.simulations or MOST_SIMULATIONS
        size, done, end = FIRST_ROUND if seconds else most, 0, time.perf_counter() + (seconds or math.inf)
        wanted = self._schedule(size)

        def simulate(count: int) -> None:
            nonlocal size, done, wanted
            if done == size:
                size, done = 2 * size, 0
                wanted = self._schedule(size)
                if self.settings.gumbel:
                    self.kernels.begin_rounds(trees, self.settings)
            count = min(count, size - done)
            self.kernels.simulate_all(trees, count, wanted, self.settings, own.judge, own.work)
            done += count

        def left() -> int:
            total = int(trees.counters["total"][0])  # by time, one position is searched at once
            # by time a single legal action needs one simulation
            over = seconds and total and (trees.nodes[0, 0]["count"] == 1 or time.perf_counter() >= end)
            if over or (trees.nodes["proven"][:, 0] != OPEN).all():
                return 0
            return min(most - total, size - done or size) if seconds else size - done

        interval = min(CLOCK_INTERVAL, seconds / 10) if seconds else SIGNAL_INTERVAL
        try:
            for _ in in_pieces(simulate, left, FIRST_ROUND // 2 if seconds else FIRST_CHUNK, interval, end):
                pass
        except KeyboardInterrupt:
            if not alone or not trees.counters["total"][0]:
                raise

    def _schedule(self, simulations: int) -> Ints:
        """Sequential halving's, which PUCT does not read."""
        return halving_schedule(self.config.considered, simulations if self.settings.gumbel else 1)

    def _finish(self, trees: Trees, result: Result, rngs: Rngs, part: slice) -> None:
        self.kernels.finish_all(trees, self.settings, Result._make(array[part] for array in result))
        rngs[part] = trees.rngs

    def _own_memory(self) -> TreeMemory:
        """The calling thread's memory, allocated at its first search."""
        if not hasattr(self._own, "memory"):
            self._own.memory = tree_search(self.model, self.config, self.together, self.nodes)[1]
        own: TreeMemory = self._own.memory
        if own.judge.weights is not self.model.weights:  # what was found with the last is forgotten
            self._own.memory = own._replace(judge=own.judge._replace(weights=self.model.weights))
            self.kept.clear()
        return self._own.memory
