"""Compiled functions as plain Python: a few positions need not wait for the compiler.

The rules are plain Python, and run without the compiler too: a thousand times slower, but from the first moment on. A
move of a person takes less than a millisecond; compiling the rules of Paco Ŝako takes 20 seconds.
"""

from __future__ import annotations

import inspect
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np


class Interpreted:
    """A module of kernels whose functions, with all compiled functions that they call, run as plain Python."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._twins: dict[Any, FunctionType] = {}

    def __getattr__(self, name: str) -> Any:
        run = np.errstate(over="ignore")(self._twin(getattr(self._module, name)))  # compiled code does not warn either
        setattr(self, name, run)
        return run

    def _twin(self, function: Any) -> FunctionType:
        """The same function with globals of its own, in which compiled functions are replaced by their twins."""
        plain: Any = inspect.unwrap(getattr(function, "py_func", function))
        if plain not in self._twins:
            own, code = dict(plain.__globals__), plain.__code__
            self._twins[plain] = FunctionType(code, own, plain.__name__, plain.__defaults__, plain.__closure__)
            own.update({name: self._plain(own[name], code.co_names) for name in code.co_names if name in own})
        return self._twins[plain]

    def _plain(self, value: Any, names: tuple[str, ...]) -> Any:
        """A global without the compiler; of a module, those of its members that the code may name (`bits.popcount`)."""
        if isinstance(value, ModuleType) and value.__name__.startswith("plyground"):
            there = (name for name in names if hasattr(value, name))
            return SimpleNamespace(**{name: self._plain(getattr(value, name), names) for name in there})
        return self._twin(value) if hasattr(value, "py_func") else value
