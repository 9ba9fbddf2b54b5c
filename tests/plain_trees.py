"""The tree search without the compiler, and trees that are built by hand."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import plyground as pg
from plyground.games.interface import NO_WORK
from plyground.kernels.arrays import Judge
from plyground.search import tree, tree_policy, tree_result, tree_reuse
from plyground.search.tree_arrays import OPEN, Trees
from plyground.search.tree_config import SearchConfig
from plyground.search.tree_memory import new_trees

PARTS = r"kernels\.no_refcounts|search\.tree_(policy|result|reuse)|models\.judge"
COMPILED = rf"^from (numba|plyground\.({PARTS})) import .*$"
"""imports that the plain functions do without: decorators, and the functions of one another"""
NO_MODEL = Judge(np.zeros(1, NO_WORK), np.zeros(2, NO_WORK))


@functools.cache
def bodies(game: pg.Game) -> Any:
    """The functions for a game without the compiler: to compile each for a call from Python takes a second, and all of
    them together for another game more than ten."""
    module, rules = ModuleType("plain_tree"), game.rules
    for name in ("njit", "uncounted_body", "uncounted_loop", "uncounted_part"):
        setattr(module, name, lambda function: function)
    for each in (tree_policy, tree_result, tree_reuse, tree):
        path = Path(str(each.__file__))
        source, removed = re.subn(COMPILED, "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert removed
        exec(compile(source, path, "exec"), vars(module))  # noqa: S102
    functions = {name: getattr(function, "py_func", function) for name, function in rules.compiled.items()}
    for name in ("legal", "play"):
        if rules.WORK == NO_WORK:
            functions[name] = _without_work(functions[name])
    size = rules.STATE.itemsize // rules.STATE.alignment
    vars(module).update(functions, play_head=functions["play"], SIZE=size)
    if "evaluate" in functions:
        module.judged = module.judged_apart = lambda state, judge: functions["evaluate"](state)  # type: ignore[attr-defined]
    return module


def _without_work(function: Any) -> Any:
    return lambda *arguments: function(*arguments[:-1])


def grown(game: pg.Game, edges: list[tuple[float, int, float]], **settings: Any) -> tuple[Any, Any, Trees]:
    """Kernels, settings, and a tree whose root has edges of these (prior, visits, value) to nodes of the other side."""
    config = SearchConfig(leaf="random", lookahead=False, **settings)
    kernels, trees = bodies(game), new_trees(game, 1, 40)
    kernels.add_node(0, 0, -1, -1, trees)
    root = trees.nodes[0, 0]
    root["count"], root["visits"] = len(edges), 1 + sum(visits for _, visits, _ in edges)
    for k, (prior, visits, value) in enumerate(edges):
        edge = trees.edges[0, k]
        edge["prior"], edge["visits"], edge["value"] = prior, visits, value
        edge["weight"], edge["child"], edge["action"] = prior / (1 + visits), k + 1, k
        node = trees.nodes[0, k + 1]
        node["parent"], node["edge"], node["side"], node["visits"] = 0, k, 1, visits
    trees.counters["nodes"] = 1 + len(edges)
    kernels.begin_rounds(trees, config.settings(game))
    return kernels, config.settings(game), trees


def chain(game: pg.Game, sides: list[int]) -> tuple[Any, Trees]:
    """A tree that is one path of nodes with these sides to move."""
    kernels, _, trees = grown(game, [(1.0, 0, 0.0)])
    for n, side in enumerate(sides):
        node = trees.nodes[0, n]
        node["side"], node["parent"], node["edge"], node["visits"] = side, n - 1, n - 1, 0
        node["first"], node["count"], node["proven"] = n, 1, OPEN
        edge = trees.edges[0, n]
        edge["child"], edge["visits"], edge["prior"], edge["value"], edge["weight"] = n + 1, 0, 1.0, 0.0, 1.0
    trees.nodes[0, len(sides) - 1]["count"] = 0
    return kernels, trees
