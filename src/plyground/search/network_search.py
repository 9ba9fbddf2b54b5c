"""`NetworkSearch`: tree search with a network that evaluates leaves, many games in lockstep, on a CPU or a GPU.

One simulation of all games: select a leaf in each tree, encode the leaves, run the network, expand and back up. On a
GPU that is one captured CUDA graph.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.device import is_gpu
from plyground.backend.games import DeviceGame
from plyground.backend.graph import repeatable
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.models.network import NetworkModel
from plyground.search.analysis import Tree
from plyground.search.tree_arrays import EDGE, NODE, ROOT, TREE, Records, Result, Rngs, Trees
from plyground.search.tree_config import SearchConfig, halving_schedule
from plyground.search.tree_memory import RESULT_LISTS, RESULT_ROWS, check_memory, edges_per_node, tree_bytes
from plyground.search.tree_search import FIRST_ROUND, KEPT, TEMPLATE

Evaluator = Callable[[Tensor], tuple[Tensor, Tensor]]
"""states [N, bytes] -> logits [N, outputs] and values [N] for the side to move, float32 and contiguous"""
CLOCK_INTERVAL = 16  # simulations between two readings of the clock and of what is proven
FEW = 64  # trees that may all be proven early; asking costs a GPU a wait
ROOM = 4096  # nodes of a tree whose search is limited by time alone


class NetworkSearch:
    """Searches N positions at once with a network. The trees of up to `n` games stay allocated."""

    def __init__(self, view: View, evaluator: Evaluator, config: SearchConfig, n: int) -> None:
        if config.leaf != "network":
            raise InvalidValue(f"a search with a network evaluates leaves by it, not by {config.leaf}")
        self.view, self.on, self.evaluator, self.config, self.n = view, view.on, evaluator, config, n
        game = view.game
        room = (KEPT if config.reuse else 1) * (config.simulations or ROOM)
        self.nodes = 2 * room + 1 if config.lookahead else room + 1
        if not is_gpu(self.on.name):
            check_memory(game, self.nodes, n)
        what, needed = f"{n} search trees of {self.nodes} nodes of {game}", tree_bytes(game, self.nodes) * n
        self.on.on.check_room(needed, what, "use fewer games at once, or fewer simulations")
        self.kernels, self.settings = self.on.load(TEMPLATE), config.settings(game)
        self.trees, self._memory = device_trees(self.on, n, self.nodes)
        rows = {name: self.on.zeros((n,), dtype) for name, dtype in RESULT_ROWS.items()}
        lists = {name: self.on.zeros((n, game.rules.MAX_LEGAL), dtype) for name, dtype in RESULT_LISTS.items()}
        self.result = Result(**rows, **lists)
        self._places = self.on.zeros((n, self.nodes if config.reuse else 1), np.int32)  # see `keep_subtree`
        head, word = game.rules.HEAD.itemsize, game.rules.STATE.alignment
        size = head if head % word == 0 else game.rules.STATE.itemsize  # the head, if it ends at a whole word
        self.leaves = self.on.zeros((n, size), np.uint8)  # the states that the network evaluates
        self._leaf_words = self.on.words(self.leaves, word)
        self.simulations = config.simulations or ROOM
        self._schedule = self._halving(FIRST_ROUND if config.seconds else self.simulations)
        self._captured: Callable[[], object] | None = None  # one simulation in every tree

    def search(self, states: Tensor, rngs: Tensor) -> Result:
        """What the search finds in states [n, bytes of STATE]; tensors that the next search overwrites. Random numbers
        come from `rngs` [n], which advance."""
        self.begin(states, rngs)
        try:
            end, done = time.perf_counter() + self.config.seconds * len(states), 0
            while done < self.simulations and not self._all_proven():
                if self.config.seconds and done and time.perf_counter() >= end:
                    break
                for _ in range(CLOCK_INTERVAL if self.config.seconds else min(CLOCK_INTERVAL, self.simulations - done)):
                    self.advance(done)
                    done += 1
        except KeyboardInterrupt:  # a single search ends with what it has found; its root has been evaluated
            if len(states) > 1:
                raise
        rngs.copy_(self._memory["rngs"])
        return self.finish()

    def limit(self, simulations: int) -> None:
        """Search with so many simulations from now on, at most those of the config. A captured graph reads the
        schedule of sequential halving where it lies."""
        if simulations != self.simulations:
            self.simulations = simulations
            self._schedule[:, :simulations] = self._halving(simulations)

    def begin(self, states: Tensor, rngs: Tensor) -> None:
        """Plant a tree for each state, or begin with a part of its row's last tree, and let the network evaluate the
        roots."""
        first = self._captured is None
        self._plant(states, rngs, self.config.reuse and not first)
        if first:
            self._capture()
            self._plant(states, rngs)
        self.advance(0)

    def advance(self, done: int) -> None:
        """One simulation in every tree, after `done` of them. By time, FIRST_ROUND simulations are a round."""
        if done and done % FIRST_ROUND == 0 and self.settings.gumbel and self.config.seconds:
            self.on.on.run(self.kernels.begin_rounds, self.n, self.trees, self.settings)
        (self._captured or self._capture())()

    def _capture(self) -> Callable[[], object]:
        """One simulation, on a GPU as a captured graph."""
        self._captured = repeatable(self.on.name, lambda: self.simulate(self._schedule))
        return self._captured

    def finish(self) -> Result:
        """What was found so far, as tensors that the next call overwrites."""
        self.on.on.run(self.kernels.finish_all, self.n, self.trees, self.settings, self.result)
        return self.result

    def first_tree(self) -> Tree:
        """The first tree, in the CPU's memory."""
        types = {"states": self.view.game.rules.STATE, "nodes": NODE, "edges": EDGE}
        arrays = {name: self._memory[name][0].cpu().numpy() for name in types}
        return Tree(**{name: arrays[name].reshape(-1).view(dtype) for name, dtype in types.items()})

    def simulate(self, schedule: Tensor) -> None:
        """One simulation in every tree."""
        arrays = self.trees, self._leaf_words
        self.on.run_rows(self.kernels.select_all, self.n, arrays, (schedule, self.settings))
        with torch.no_grad():
            logits, values = self.evaluator(self.leaves)
        others = self.view.action_outputs, self.settings
        self.on.run_rows(self.kernels.expand_and_back_up_all, self.n, (self.trees, logits, values), others)

    def _plant(self, states: Tensor, rngs: Tensor, reuse: bool = False) -> None:
        rows = self.on.rows(states)
        self._memory["rngs"].copy_(rngs)
        roots = self.on.words(rows, self.view.game.rules.STATE.alignment)
        if reuse:
            self.on.on.run(self.kernels.replant_all, self.n, self.trees, roots, self._places)
        else:
            self.on.on.run(self.kernels.plant_all, self.n, self.trees, roots)

    def _all_proven(self) -> bool:
        """Whether every root is proven; not asked of many trees on a GPU, where the answer synchronises."""
        if self.n > FEW and is_gpu(self.on.name):
            return False
        offset = (NODE.fields or {})["proven"][1]
        return bool((self._memory["nodes"][:, 0, offset] != 0).all())

    def _halving(self, simulations: int) -> Tensor:
        return torch.tensor(halving_schedule(self.config.considered, simulations), device=self.on.device)


def device_trees(on: DeviceGame, n: int, nodes: int) -> tuple[Trees, dict[str, Tensor]]:
    """[n] trees in a device's memory, as kernels read them, and the tensors that own the memory."""
    rules = on.rules
    edges = nodes * edges_per_node(on.game) + rules.MAX_LEGAL
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "states": ((n, nodes), rules.STATE),
        "nodes": ((n, nodes), NODE),
        "edges": ((n, edges), EDGE),
        "counters": ((n,), TREE),
        "roots": ((n, rules.MAX_LEGAL), ROOT),
        "rngs": ((n,), np.uint64),
        "actions": ((n, rules.MAX_LEGAL), np.int32),
        "ahead": ((n,), rules.STATE),
    }
    memory = {name: on.zeros(shape, dtype) for name, (shape, dtype) in shapes.items()}
    arrays = {name: on.on.view(memory[name], shape, dtype) for name, (shape, dtype) in shapes.items()}
    word, size = f"u{rules.STATE.alignment}", rules.STATE.itemsize // rules.STATE.alignment
    words = on.on.view(memory["states"], (n, nodes, size), word)
    return Trees(**arrays, words=words, ahead_words=on.on.view(memory["ahead"], (n, size), word)), memory


def search_records(search: NetworkSearch, states: Records, rngs: Rngs) -> Result:
    """A search of records [N] with generators [N], which advance; the result as numpy arrays."""
    own = torch.from_numpy(rngs.copy()).to(search.on.device)
    found = search.search(search.on.from_records(states), own)
    rngs[:] = own.cpu().numpy()
    return Result._make(each.cpu().numpy().copy() for each in found)


class NetworkSearches:
    """Searches any number of positions with a network, as `TreeSearch` does without one. The memory for the last number
    of positions stays allocated. With `reuse` it keeps a tree for each game; games that no longer run are searched
    along with the others until none is left."""

    def __init__(self, model: NetworkModel, config: SearchConfig) -> None:
        self.game, self.config, self.view, self.evaluator = model.game, config, model.view, model.evaluator()
        self.kept: dict[int, NetworkSearch] = {}  # by the number of positions
        self._rows = dict[int, int]()  # of each game
        self._states: Records = np.zeros(0, model.game.rules.STATE)  # [rows] their last positions

    def search(self, states: Records, rngs: Rngs) -> Result:
        """What the search finds in each state [N]; random numbers come from `rngs` [N], each row from its own."""
        n = len(states)
        size = 4 ** (((n - 1).bit_length() + 1) // 2) if is_gpu(self.view.device_name) else n  # few graphs to capture
        if size not in self.kept:
            self.kept.clear()
            self.kept[size] = NetworkSearch(self.view, self.evaluator, self.config, size)
        rows = np.arange(size) % n
        own = rngs[rows]
        found = search_records(self.kept[size], states[rows], own)
        rngs[:] = own[:n]
        return Result._make(each[:n] for each in found)

    def search_in(self, games: NDArray[np.int64], states: Records, rngs: Rngs) -> Result:
        """The same with reuse: `games` [N] are the numbers of the games that the states belong to."""
        if any(int(game) not in self._rows for game in games):
            self.forget(games)
            self._rows, self._states = {int(game): row for row, game in enumerate(games)}, states.copy()
        rows = [self._rows[int(game)] for game in games]
        self._states[rows] = states
        own = np.zeros(len(self._states), np.uint64)
        own[rows] = rngs
        found = self.search(self._states, own)
        rngs[:] = own[rows]
        return Result._make(each[rows] for each in found)

    def forget(self, games: NDArray[np.int64]) -> None:
        """Free the trees: games are over, or others begin."""
        self._rows.clear()
        self.kept.clear()

    def compile(self) -> None:
        self.search(self.game.blank[:0].copy(), np.zeros(0, np.uint64))

    def growing(self, config: SearchConfig) -> GrowingNetworkTree:
        """The search of one position, step by step, for an analysis; it has no move before."""
        return GrowingNetworkTree(NetworkSearch(self.view, self.evaluator, replace(config, reuse=False), 1))


class GrowingNetworkTree:
    """The tree of one position, for an analysis (`search/analysis.py`)."""

    def __init__(self, search: NetworkSearch) -> None:
        self.search, self.game, self.config = search, search.view.game, search.config

    def compile(self) -> None:
        self.begin(self.game.fresh, np.zeros(1, np.uint64))
        self.simulate(1)
        self.search.finish()

    def begin(self, states: Records, rngs: Rngs) -> None:
        self.done = 0
        self.search.begin(self.search.on.from_records(states), torch.from_numpy(rngs.copy()).to(self.search.on.device))

    def simulate(self, count: int) -> None:
        for _ in range(count):
            self.search.advance(self.done)
            self.done += 1

    def finish(self) -> Result:
        return Result._make(each.cpu().numpy().copy() for each in self.search.finish())

    def tree(self) -> Tree:
        return self.search.first_tree()
