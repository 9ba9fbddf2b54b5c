"""`NetworkSearch`: tree search with a network that evaluates leaves, many games in lockstep, on a CPU or a GPU.

One simulation of all games: select a leaf in each tree, encode the leaves, run the network, expand and back up. On a
GPU that is one captured CUDA graph.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from plyground.backend.device import is_gpu
from plyground.backend.games import DeviceGame
from plyground.backend.graph import repeatable
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.networks import Valued
from plyground.search.tree_arrays import EDGE, NODE, ROOT, TREE, Records, Result, Rngs, Trees
from plyground.search.tree_config import SearchConfig, halving_schedule
from plyground.search.tree_memory import RESULT_LISTS, RESULT_ROWS, check_memory, edges_per_node, tree_bytes
from plyground.search.tree_search import FIRST_ROUND, TEMPLATE

Evaluator = Callable[[Tensor], tuple[Tensor, Tensor]]
"""states [N, bytes] -> logits [N, outputs] and values [N] for the side to move, float32 and contiguous"""
Q_TEMPERATURE = 0.1  # of the softmax over action values that stands for a policy
LOOKS = 16  # simulations between two looks at the clock and at what is proven
ROOM = 4096  # nodes of a tree whose search is limited by time alone


class NetworkSearch:
    """Searches N positions at once with a network. The trees of up to `n` games stay allocated."""

    def __init__(self, view: View, evaluator: Evaluator, config: SearchConfig, n: int) -> None:
        if config.leaf != "network":
            raise InvalidValue(f"a search with a network evaluates leaves by it, not by {config.leaf}")
        if config.reuse:
            raise InvalidValue("reuse is for searches without a network")
        self.view, self.on, self.evaluator, self.config, self.n = view, view.on, evaluator, config, n
        game = view.game
        self.nodes = 2 * (config.simulations or ROOM) + 1 if config.lookahead else (config.simulations or ROOM) + 1
        self._check_room(game)
        self.kernels, self.settings = self.on.load(TEMPLATE), config.settings(game)
        self.trees, self._memory = device_trees(self.on, n, self.nodes)
        self.result = device_result(self.on, n)
        size = seen_bytes(game)
        self.leaves = self.on.zeros((n, size), np.uint8)  # the states that the network evaluates
        self._leaf_words = self.on.words(self.leaves, game.rules.STATE.alignment)
        self._schedules = dict[int, Tensor]()
        self._simulate: Callable[[], object] | None = None

    def _check_room(self, game: Game) -> None:
        if not is_gpu(self.on.name):
            check_memory(game, self.nodes, self.n)
        what, needed = f"{self.n} search trees of {self.nodes} nodes of {game}", tree_bytes(game, self.nodes) * self.n
        self.on.on.check_room(needed, what, "use fewer games at once, or fewer simulations")

    def search(self, states: Tensor, rngs: Tensor) -> Result:
        """What the search finds in states [n, bytes of STATE]; tensors that the next search overwrites. Random numbers
        come from `rngs` [n], which advance."""
        self._begin(states, rngs)
        limit = self.config.simulations or ROOM
        if self._simulate is None:
            schedule = self._schedule(FIRST_ROUND if self.config.seconds else limit)
            self._simulate = repeatable(self.on.name, lambda: self.simulate(schedule))
            self._begin(states, rngs)
        self._simulate()  # the root
        if self.config.seconds:
            self._until(time.perf_counter() + self.config.seconds * len(states), limit, self._simulate)
        else:
            self._repeat(limit, self._simulate)
        self.on.on.run(self.kernels.finish_all, self.n, self.trees, self.settings, self.result)
        rngs.copy_(self._memory["rngs"])
        return self.result

    def simulate(self, schedule: Tensor) -> None:
        """One simulation in every tree."""
        arrays = self.trees, self._leaf_words
        self.on.run_rows(self.kernels.select_all, self.n, arrays, (schedule, self.settings))
        with torch.no_grad():
            logits, values = self.evaluator(self.leaves)
        others = self.view.action_outputs, self.settings
        self.on.run_rows(self.kernels.expand_and_back_up_all, self.n, (self.trees, logits, values), others)

    def _begin(self, states: Tensor, rngs: Tensor) -> None:
        rows = self.on.rows(states)
        self._memory["rngs"].copy_(rngs)
        roots = self.on.words(rows, self.view.game.rules.STATE.alignment)
        self.on.on.run(self.kernels.plant_all, self.n, self.trees, roots)

    def _repeat(self, simulations: int, simulate: Callable[[], object]) -> None:
        for done in range(simulations):
            if done % LOOKS == 0 and self._all_proven():
                break
            simulate()

    def _until(self, end: float, most: int, simulate: Callable[[], object]) -> None:
        """Rounds of sequential halving in the same trees, until the time is over."""
        done = 0
        while done < most and not self._all_proven() and (not done or time.perf_counter() < end):
            if done and done % FIRST_ROUND == 0 and self.settings.gumbel:
                self.on.on.run(self.kernels.begin_rounds, self.n, self.trees, self.settings)
            for _ in range(LOOKS):
                simulate()
            done += LOOKS

    def _all_proven(self) -> bool:
        """Whether every root is proven. On a GPU this synchronises."""
        offset = (NODE.fields or {})["proven"][1]
        return bool((self._memory["nodes"][:, 0, offset] != 0).all())

    def _schedule(self, simulations: int) -> Tensor:
        found = halving_schedule(self.config.considered, simulations)
        return torch.from_numpy(found).to(self.on.device)


def seen_bytes(game: Game) -> int:
    """The bytes of a state that are copied for the network: the head, if it ends at a whole word."""
    head, word = game.rules.HEAD.itemsize, game.rules.STATE.alignment
    return head if head % word == 0 else game.rules.STATE.itemsize


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


def device_result(on: DeviceGame, n: int) -> Result:
    """A result of n rows as tensors on a device."""
    most = on.rules.MAX_LEGAL
    rows = {name: on.zeros((n,), dtype) for name, dtype in RESULT_ROWS.items()}
    return Result(**rows, **{name: on.zeros((n, most), dtype) for name, dtype in RESULT_LISTS.items()})


# ---- evaluators ----


def value_evaluator(view: View, network: Any) -> Evaluator:
    """A network with a policy head and a value head."""

    def evaluator(states: Tensor) -> tuple[Tensor, Tensor]:
        logits, values = network.with_value(view.observe(states))
        return logits.float().contiguous(), values.float().contiguous()

    return evaluator


def q_evaluator(view: View, network: Any, temperature: float) -> Evaluator:
    """A network of action values: its softmax is the policy, its best legal action the value."""

    def evaluator(states: Tensor) -> tuple[Tensor, Tensor]:
        q = network(view.observe(states)).float()
        best = q.masked_fill(~view.legal(states), -math.inf).amax(1).clamp(-1.0, 1.0)
        return (q / temperature).contiguous(), best.contiguous()

    return evaluator


def evaluator_of(view: View, network: Any) -> Evaluator:
    """The evaluator that a network is, with a value head or without."""
    if isinstance(network.head, Valued):
        return value_evaluator(view, network)
    return q_evaluator(view, network, Q_TEMPERATURE)


def search_records(search: NetworkSearch, states: Records, rngs: Rngs) -> Result:
    """A search of records [N] with generators [N], which advance; the result as numpy arrays."""
    own = torch.from_numpy(rngs.copy()).to(search.on.device)
    found = search.search(search.on.from_records(states), own)
    rngs[:] = own.cpu().numpy()
    return Result._make(each.cpu().numpy().copy() for each in found)
