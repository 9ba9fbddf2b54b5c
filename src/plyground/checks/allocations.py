"""Allocations in compiled functions: a rule function works on numbers and on the memory that it is given.

The machine code of each function is searched for calls of the allocator; the lines come from numba's typed program.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
from numba import types

from plyground.checks.compiling import entries
from plyground.game import Game
from plyground.kernels.numba_internals import is_compiled, operations

ALLOCATORS = ("NRT_MemInfo_alloc", "NRT_MemInfo_new", "NRT_Allocate")
MAKES = {"call", "binop", "inplace_binop", "unary", "arrayexpr", "build_list", "build_set", "build_map"}
HEAP = (types.Array, types.List, types.ListType, types.DictType, types.Set, types.UnicodeType)


def allocations(game: Game) -> list[str]:
    """A sentence for each line of a game's compiled functions that allocates memory."""
    if numba.config.DISABLE_JIT:  # pyright: ignore
        return []
    compiled = list(entries(game))
    for function, arguments in compiled:
        function.compile(tuple(numba.typeof(each) for each in arguments))
    own = [value for value in vars(game.rules.module).values() if is_compiled(value)]  # of the game's own files
    found = dict.fromkeys(
        _place(function, line)
        for function in dict.fromkeys([*(each for each, _ in compiled), *own])
        if _allocates(function)
        for line, operation, made in operations(function)
        if operation in MAKES and isinstance(made, HEAP)
    )  # the places where arrays, lists and the like are made
    if not found:  # in somebody else's function: name ours, which calls it
        ours = [each for each, _ in compiled if _allocates(each)]
        found = dict.fromkeys(_place(each, each.py_func.__code__.co_firstlineno) for each in ours)
    remedy = "rule functions never allocate: loop over the elements, or declare WORK"
    return [f"{place} allocates memory; {remedy}" for place in found]


def _allocates(function: Any) -> bool:
    return any(name in text for text in function.inspect_llvm().values() for name in ALLOCATORS)


def _place(function: Any, line: int) -> str:
    return f"{Path(function.py_func.__code__.co_filename).name}, line {line}: `{function.py_func.__name__}`"
