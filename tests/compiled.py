"""A game's compiled functions, for tests that call them one by one: the next run finds them on disk, like kernels."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from types import ModuleType
from typing import Any

from conftest import JIT, ROOT
from plyground.kernels.cache import fingerprint

FOLDER = ROOT / ".pytest_cache" / "compiled"


def compiled(function: Any) -> Any:
    """The function, called from a module whose name tells everything that it reaches, so that it is never stale."""
    if not JIT:
        return function
    names = ", ".join(inspect.signature(function.py_func).parameters)
    source = (
        f"from numba import njit\nfrom {function.__module__} import {function.__name__} as called\n"
        f"@njit(cache=True)\ndef {function.__name__}({names}):\n    return called({names})\n"
    )
    name = f"compiled_{function.__name__}_{fingerprint(source)}"
    if name not in sys.modules:
        path = FOLDER / f"{name}.py"
        if not path.exists():  # two processes may write it at once
            FOLDER.mkdir(parents=True, exist_ok=True)
            aside = path.with_suffix(f".{os.getpid()}")
            aside.write_text(source, encoding="utf-8")
            aside.replace(path)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return getattr(sys.modules[name], function.__name__)


class Compiled:
    """A module whose compiled functions are `compiled`; everything else of it is as it is."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        found = compiled(found) if hasattr(found, "py_func") else found
        setattr(self, name, found)  # the next time it is found there
        return found
