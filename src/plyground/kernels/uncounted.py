"""Decorators for compiled functions that take NamedTuples of arrays and allocate nothing.

By default numba counts references to every array that is taken out of a tuple. In a loop over rows these counts are
atomic operations: they made `step_all` four times and `n_step_returns` three times slower. Functions with these
decorators are compiled without reference counts; the caller keeps the arrays alive, and they must not allocate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])
compiled: Any = njit  # its types do not know these options


def uncounted_body(function: F) -> F:
    """For the body of one row: always inlined."""
    return compiled(forceinline=True, _nrt=False)(function)


def uncounted_loop(function: F) -> F:
    """For the loop around it."""
    return compiled(cache=True, nogil=True, _nrt=False)(function)
