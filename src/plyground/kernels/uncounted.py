"""Decorators for compiled functions that take NamedTuples of arrays: the parts of a kernel, and its loops.

By default numba counts references to every array that is taken out of a tuple. In a loop over rows these counts are
atomic operations: they made `step_all` four times and `n_step_returns` three times slower. What is `uncounted` here is
compiled without reference counts; the caller keeps the arrays alive, and it must not allocate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from numba import njit
from numba.core.registry import CPUDispatcher

F = TypeVar("F", bound=Callable[..., Any])
compiled: Any = njit  # its types do not know these options


def inner(function: F, **options: bool) -> F:
    """For a part of a kernel. Only compiled code may call it: the way in for Python, which unpacks every array of every
    argument and takes about as long to compile as the part itself, is left out."""
    part = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    if hasattr(part, "py_func"):  # else the compiler is off
        part.__class__ = _part()
    return part


def _refuse(part: Any, *_: Any) -> NoReturn:
    """numba would jump to nowhere."""
    raise TypeError(f"{part.__name__} is a part of kernels: only compiled code can call it")


@functools.cache
def _part() -> type[Any]:
    return type("Part", (CPUDispatcher,), {"__call__": _refuse})


def uncounted_body(function: F) -> F:
    """For the body of one row: always inlined."""
    return inner(function, forceinline=True, _nrt=False)


def uncounted_loop(function: F) -> F:
    """For the loop around it."""
    return compiled(cache=True, nogil=True, _nrt=False)(function)
