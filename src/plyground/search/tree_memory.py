"""The memory of tree searches on the CPU: how much trees need, and arrays for them."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.batch import Batch
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.search.tree_arrays import EDGE, NODE, ROOT, TREE, Records, Result, Trees


@functools.lru_cache(64)
def edges_per_node(game: Game) -> int:
    """Room for edges, for each node of a tree: half as much again as random games have on average."""
    batch, counts = Batch(game, 16, seed=0, threads=1), list[float]()
    for _ in range(64):
        counts.append(float(batch.legal_mask().sum(1).mean()))
        batch.step(batch.random_actions())
    return min(game.rules.MAX_LEGAL, math.ceil(1.5 * max(counts)))


def tree_bytes(game: Game, nodes: int) -> int:
    """The memory of one tree."""
    edges = nodes * edges_per_node(game) + game.rules.MAX_LEGAL
    fixed = TREE.itemsize + game.rules.MAX_LEGAL * (ROOT.itemsize + 4) + game.rules.STATE.itemsize + 8
    return nodes * (game.rules.STATE.itemsize + NODE.itemsize) + edges * EDGE.itemsize + fixed


def new_trees(game: Game, n: int, nodes: int) -> Trees:
    """[n] trees with room for that many nodes each, in the CPU's memory."""
    state, most = game.rules.STATE, game.rules.MAX_LEGAL
    states, ahead = np.zeros((n, nodes), state), np.zeros(n, state)
    return Trees(
        states=states,
        words=states.view(f"u{state.alignment}").reshape(n, nodes, -1),
        nodes=np.zeros((n, nodes), NODE),
        edges=np.zeros((n, nodes * edges_per_node(game) + most), EDGE),
        counters=np.zeros(n, TREE),
        roots=np.zeros((n, most), ROOT),
        rngs=np.zeros(n, np.uint64),
        actions=np.zeros((n, most), np.int32),
        ahead=ahead,
        ahead_words=words_of(ahead),
    )


RESULT_ROWS: Mapping[str, Any] = {
    "chosen": np.int32,
    "values": np.float32,
    "proven": np.int8,
    "simulations": np.int32,
}
RESULT_LISTS: Mapping[str, Any] = {
    "actions": np.int32,
    "visits": np.int32,
    "priors": np.float32,
    "action_values": np.float32,
    "action_proven": np.int8,
    "distances": np.int16,
    "policy": np.float32,
}
"""types of the fields of a `Result`: one number, or one for each legal action"""


def new_result(game: Game, n: int) -> Result:
    most = game.rules.MAX_LEGAL
    rows = {name: np.zeros(n, dtype) for name, dtype in RESULT_ROWS.items()}
    return Result(**rows, **{name: np.zeros((n, most), dtype) for name, dtype in RESULT_LISTS.items()})


def words_of(states: Records) -> NDArray[np.generic]:
    """[N, SIZE] records as unsigned integers of their alignment: the same memory if they are contiguous."""
    states = np.ascontiguousarray(states)
    size = states.dtype.itemsize // states.dtype.alignment
    return states.view(f"u{states.dtype.alignment}").reshape(len(states), size)


def available_memory() -> int:
    """Bytes that this machine can still give."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(game: Game, nodes: int, trees: int) -> None:
    """Raise InvalidValue if the machine lacks memory for so many trees of so many nodes."""
    needed, there = tree_bytes(game, nodes) * trees, available_memory()
    if needed > there:
        raise InvalidValue(
            f"{trees} search trees of {nodes} nodes of {game} need {needed / 1e9:.3g} GB, where {there / 1e9:.3g} GB"
            " are free: use fewer simulations"
        )
