"""`TreeSearch`: tree search without a network, on the CPU: leaves are judged by `evaluate` or by random play."""

from __future__ import annotations

import functools
import math
import os
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.kernels.threads import available, over_slices
from plyground.search.tree_arrays import (
    EDGE,
    EVALUATE,
    NETWORK,
    NODE,
    RANDOM,
    ROOT,
    TREE,
    Ints,
    Records,
    Result,
    Rngs,
    Scratch,
    Settings,
    Trees,
)

LEAVES = {"network": NETWORK, "evaluate": EVALUATE, "random": RANDOM}
SELECTIONS = ("puct", "gumbel")
MOST_SIMULATIONS = 100_000_000
LONGEST = 1_000_000  # plies of random play


@dataclass(frozen=True)
class SearchConfig:
    """Everything that decides what a search finds. Training and evaluation differ in `noise` alone."""

    simulations: int = 1000
    selection: str = "puct"
    """puct, or gumbel: Gumbel search with sequential halving at the root"""
    leaf: str = "random"
    """what judges leaves: network, evaluate, or random (play to the end)"""
    exploration: float = 1.0
    """puct: the factor of prior * sqrt(visits of the node) / (1 + own visits)"""
    first_play: float = 0.0
    """puct: what an action without visits is worth less than its node (0 with random play)"""
    rollout_plies: int = 0
    """plies of random play, after which `evaluate` judges, or nobody where a game has none; 0: to the end"""
    considered: int = 16
    """gumbel: actions of the root among which sequential halving chooses"""
    visit_offset: float = 50.0
    value_scale: float = 0.1
    """gumbel: c_visit and c_scale; a value counts (c_visit + most visits) * c_scale beside log priors"""
    noise: bool = False
    """explore at the root, for training: Gumbel noise, or Dirichlet noise in the priors"""
    noise_share: float = 0.25
    noise_alpha: float = 0.3
    """puct: the share and the parameter of the Dirichlet noise"""

    def __post_init__(self) -> None:
        if not 1 <= self.simulations <= MOST_SIMULATIONS:
            raise InvalidValue(f"a search has 1 to {MOST_SIMULATIONS} simulations, not {self.simulations}")
        if self.selection not in SELECTIONS:
            raise InvalidValue(f"a search selects by {' or '.join(SELECTIONS)}, not by {self.selection!r}")
        if self.leaf not in LEAVES:
            raise InvalidValue(f"leaves are judged by {', '.join(LEAVES)}, not by {self.leaf!r}")
        if not 2 <= self.considered <= 1024:
            raise InvalidValue(f"Gumbel search considers 2 to 1024 actions, not {self.considered}")
        if not 0 <= self.rollout_plies <= LONGEST:
            raise InvalidValue(f"random play has 0 to {LONGEST} plies, not {self.rollout_plies}")
        if not (self.exploration > 0.0 and math.isfinite(self.exploration)):
            raise InvalidValue(f"the exploration of a search is a number above 0, not {self.exploration}")

    def settings(self) -> Settings:
        gumbel = self.selection == "gumbel"
        return Settings(
            leaf=LEAVES[self.leaf],
            gumbel=gumbel,
            exploration=float(self.exploration),
            first_play=float(self.first_play),
            rollout_plies=self.rollout_plies or LONGEST,
            visit_offset=float(self.visit_offset),
            value_scale=float(self.value_scale),
            noise=(1.0 if gumbel else float(self.noise_share)) if self.noise else 0.0,
            noise_alpha=float(self.noise_alpha),
        )


# ---- sequential halving ----


@functools.lru_cache(64)
def halving_schedule(considered: int, simulations: int) -> Ints:
    """[considered + 1, simulations] how many visits the action has that each simulation chooses at the root, where so
    many actions are considered. All are visited equally often; then the better half goes on, down to two."""
    schedule = np.zeros((considered + 1, simulations), np.int32)
    for count in range(1, considered + 1):
        schedule[count] = _visits_due(count, simulations)
    return schedule


def _visits_due(count: int, simulations: int) -> list[int]:
    if count == 1:
        return list(range(simulations))
    due, visits, left, halvings = list[int](), [0] * count, count, math.ceil(math.log2(count))
    while len(due) < simulations:
        for _ in range(max(1, simulations // (halvings * left))):
            due += visits[:left]
            visits[:left] = [each + 1 for each in visits[:left]]
        left = max(2, left // 2)
    return due[:simulations]


# ---- memory ----


@functools.lru_cache(64)
def edges_per_node(game: Game) -> int:
    """Room for edges, for each node of a tree: half as much again as random games have on average."""
    from plyground.batch import Batch

    batch, counts = Batch(game, 16, seed=0, threads=1), list[float]()
    for _ in range(64):
        counts.append(float(batch.legal_mask().sum(1).mean()))
        batch.step(batch.random_actions())
    return min(game.rules.MAX_LEGAL, math.ceil(1.5 * max(counts)))


def tree_bytes(game: Game, nodes: int) -> int:
    """The memory of one tree."""
    edges = nodes * edges_per_node(game) + game.rules.MAX_LEGAL
    fixed = TREE.itemsize + game.rules.MAX_LEGAL * ROOT.itemsize + 8
    return nodes * (game.rules.STATE.itemsize + NODE.itemsize) + edges * EDGE.itemsize + fixed


def new_trees(game: Game, n: int, nodes: int) -> Trees:
    """[n] trees with room for that many nodes each, in the CPU's memory."""
    state, most = game.rules.STATE, game.rules.MAX_LEGAL
    states = np.zeros((n, nodes), state)
    return Trees(
        states=states,
        words=states.view(f"u{state.alignment}").reshape(n, nodes, -1),
        nodes=np.zeros((n, nodes), NODE),
        edges=np.zeros((n, nodes * edges_per_node(game) + most), EDGE),
        counters=np.zeros(n, TREE),
        roots=np.zeros((n, most), ROOT),
        rngs=np.zeros(n, np.uint64),
    )


def new_scratch(game: Game) -> Scratch:
    state = np.zeros(1, game.rules.STATE)
    words = state.view(f"u{game.rules.STATE.alignment}").reshape(1, -1)
    return Scratch(state, words, game.scratch(), game.work())


def new_result(game: Game, n: int) -> Result:
    most = game.rules.MAX_LEGAL
    rows: dict[str, Any] = {"chosen": np.int32, "values": np.float32, "proven": np.int8, "simulations": np.int32}
    lists: dict[str, Any] = {
        "actions": np.int32,
        "visits": np.int32,
        "priors": np.float32,
        "action_values": np.float32,
        "action_proven": np.int8,
        "distances": np.int16,
        "policy": np.float32,
    }
    return Result(
        **{name: np.zeros(n, dtype) for name, dtype in rows.items()},
        **{name: np.zeros((n, most), dtype) for name, dtype in lists.items()},
    )


def words_of(states: Records) -> NDArray[np.generic]:
    """[N, SIZE] records as unsigned integers of their alignment: the same memory if they are contiguous."""
    states = np.ascontiguousarray(states)
    return states.view(f"u{states.dtype.alignment}").reshape(len(states), -1)


def available_memory() -> int:
    """Bytes that this machine can still give."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


# ---- search ----


class TreeSearch:
    """Searches positions one by one, several at once in threads; each thread uses one tree for all its positions."""

    def __init__(self, game: Game, config: SearchConfig, threads: int | None = None) -> None:
        if config.leaf == "network":
            raise InvalidValue("a search without a network judges leaves by evaluate or random play")
        if config.leaf == "evaluate" and "evaluate" not in game.rules.compiled:
            raise InvalidValue(f"leaf=evaluate needs a game that defines `evaluate`; {game} does not: use leaf=random")
        self.game, self.config, self.threads = game, config, threads or available()
        self.nodes = config.simulations + 1
        needed, there = tree_bytes(game, self.nodes) * self.threads, available_memory()
        if needed > there:
            raise InvalidValue(
                f"a search of {config.simulations} simulations of {game} needs {needed / 1e9:.3g} GB in"
                f" {self.threads} threads, where {there / 1e9:.3g} GB are free: use fewer simulations"
            )
        self.kernels = game.kernels("plyground.search.tree")
        self.wanted = halving_schedule(config.considered, config.simulations)
        self._own = threading.local()

    def search(self, states: Records, rngs: Rngs) -> Result:
        """What the search finds in each state [N]; random numbers come from `rngs` [N], each row from its own."""
        result, roots = new_result(self.game, len(states)), words_of(states)
        settings, simulations = self.config.settings(), self.config.simulations

        def run(rows: slice) -> None:
            part = Result._make(array[rows] for array in result)
            trees, scratch = self._own_memory()
            self.kernels.search_rows(
                trees, roots[rows], rngs[rows], self.wanted, settings, simulations, part, scratch
            )

        over_slices(run, len(states), self.threads, 1)
        return result

    def _own_memory(self) -> tuple[Trees, Scratch]:
        """The calling thread's tree and working memory, allocated at its first search."""
        if not hasattr(self._own, "memory"):
            self._own.memory = new_trees(self.game, 1, self.nodes), new_scratch(self.game)
        return self._own.memory
