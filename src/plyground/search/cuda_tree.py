"""Template: the tree search of `tree.py` on a GPU, one thread for each tree."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

from numba import cuda as untyped

from plyground.search.tree import expand_and_back_up, plant, replant, select_for_network
from plyground.search.tree_arrays import Floats, Ints, Result, Settings, Trees, Words
from plyground.search.tree_policy import begin_round
from plyground.search.tree_result import finish_tree

cuda: Any = untyped

Records = Any


@cuda.jit(cache=True)
def plant_all(trees: Trees, roots: Words) -> None:
    for i in range(cuda.grid(1), len(roots), cuda.gridsize(1)):
        plant(i, trees, roots)


@cuda.jit(cache=True)
def replant_all(trees: Trees, roots: Words, places: Ints) -> None:
    for i in range(cuda.grid(1), len(roots), cuda.gridsize(1)):
        replant(i, trees, roots, places)


@cuda.jit(cache=True)
def select_all(trees: Trees, leaves: Words, wanted: Ints, settings: Settings, work: Records) -> None:
    for i in range(cuda.grid(1), len(leaves), cuda.gridsize(1)):
        select_for_network(i, trees, leaves, wanted, settings, work[cuda.grid(1)])


@cuda.jit(cache=True)
def expand_and_back_up_all(
    trees: Trees, logits: Floats, values: Floats, outputs: Ints, settings: Settings, work: Records
) -> None:
    for i in range(cuda.grid(1), len(values), cuda.gridsize(1)):
        expand_and_back_up(i, trees, logits, values, outputs, settings, work[cuda.grid(1)])


@cuda.jit(cache=True)
def begin_rounds(trees: Trees, settings: Settings) -> None:
    for i in range(cuda.grid(1), len(trees.counters), cuda.gridsize(1)):
        begin_round(i, trees, settings)


@cuda.jit(cache=True)
def finish_all(trees: Trees, settings: Settings, result: Result) -> None:
    for i in range(cuda.grid(1), len(trees.counters), cuda.gridsize(1)):
        finish_tree(i, trees, settings, result)
