"""Decorators for compiled functions that take NamedTuples of arrays: the parts of a kernel, and its loops.

By default numba counts references to every array that is taken out of a tuple. In a loop over rows these counts are
atomic operations: they made `step_all` four times and `n_step_returns` three times slower. What is `uncounted` here is
compiled without reference counts; the caller keeps the arrays alive, and it must not allocate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from plyground.kernels.numba_internals import compile_with

F = TypeVar("F", bound=Callable[..., Any])


def inner(function: F) -> F:
    """For a part of a kernel. Only compiled code may call it: the way in for Python, which unpacks every array of every
    argument and takes about as long to compile as the part itself, is left out."""
    return compile_with(function, called_by_python=False)


def uncounted_body(function: F) -> F:
    """For the body of one row: always inlined."""
    return compile_with(function, called_by_python=False, counted=False, forceinline=True)


def uncounted_loop(function: F) -> F:
    """For the loop around it."""
    return compile_with(function, counted=False, cache=True, nogil=True)


def uncounted_part(function: F) -> F:
    """For a part that the compiler need not inline: code that is seldom run makes the loop around it slower."""
    return compile_with(function, called_by_python=False, counted=False)
