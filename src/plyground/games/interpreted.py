"""Compiled functions as plain Python: a few positions need not wait for the compiler.

The rules are plain Python, and run without the compiler too: a thousand times slower, but from the first moment on. A
move of a person takes less than a millisecond; compiling the rules of Paco Ŝako takes 20 seconds.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class Interpreted:
    """A module of kernels whose functions run as plain Python."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return interpreted(getattr(self._module, name))


@functools.cache
def interpreted(function: Any) -> Callable[..., Any]:
    """A compiled function, with all compiled functions that it calls, as plain Python."""
    return np.errstate(over="ignore")(_twin(function))  # compiled code does not warn of it either


TWINS: dict[Any, FunctionType] = {}


def _twin(function: Any) -> FunctionType:
    """The same function with globals of its own, in which compiled functions are replaced by their twins."""
    plain: Any = inspect.unwrap(getattr(function, "py_func", function))
    if plain not in TWINS:
        own, code = dict(plain.__globals__), plain.__code__
        twin = FunctionType(code, own, plain.__name__, plain.__defaults__, plain.__closure__)
        TWINS[plain] = twin  # before its globals: they may name the function itself
        own.update({name: _plain(own[name], code.co_names) for name in code.co_names if name in own})
    return TWINS[plain]


def _plain(value: Any, names: tuple[str, ...]) -> Any:
    """A global without the compiler; of a module, those of its members that the code may name (`bits.popcount`)."""
    if isinstance(value, ModuleType) and value.__name__.startswith("plyground"):
        there = (name for name in names if hasattr(value, name))
        return SimpleNamespace(**{name: _plain(getattr(value, name), names) for name in there})
    return _twin(value) if hasattr(value, "py_func") else value
