"""All that Plyground uses of numba beyond its documented interface.

A new version of numba may change any of it. `tests/kernels/test_numba_internals.py` has a test for each name, which
says what is gone and where it was used.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import secrets
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from numba import njit
from numba.core import event, ir
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError as NumbaError
from numba.core.errors import NumbaExperimentalFeatureWarning as NumbaExperimentalFeatureWarning
from numba.core.registry import CPUDispatcher

from plyground.kernels.damaged_cache import is_whole, sealed, warn

# ---- how functions are compiled ----

untyped: Any = njit  # its types do not know these options


def compile_with(function: Any, *, counted: bool = True, called_by_python: bool = True, **options: bool) -> Any:
    """Compile a function with or without reference counts, which what it calls inherits if it is compiled for it, and
    with or without the way in for Python."""
    if not counted:
        options["_nrt"] = False
    if called_by_python:
        return untyped(**options)(function)
    part = untyped(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)
    if is_compiled(part):
        part.__class__ = _part()
    return part


def _refuse(part: Any, *_: Any) -> NoReturn:
    """numba would jump to nowhere."""
    raise TypeError(f"{part.__name__} is a part of kernels: only compiled code can call it")


@functools.cache
def _part() -> type[Any]:
    return type("Part", (CPUDispatcher,), {"__call__": _refuse})


def is_compiled(value: Any) -> bool:
    """Whether it is a function behind `njit` (which leaves functions as they are while the compiler is off)."""
    return isinstance(value, Dispatcher)


def options_of(function: Any) -> dict[str, Any]:
    """What `njit(...)` was told; to be changed in place. Empty for a plain function."""
    return getattr(function, "targetoptions", {})


def count_references(function: Any) -> None:
    """Compile a function with reference counts, so that it may allocate, even for a loop without."""
    options_of(function).setdefault("_nrt", True)


def without_lock(function: Any) -> None:
    """Let other threads run while a game's compiled function does, which may be endless: one of them hears Ctrl-C."""
    options_of(function)["nogil"] = True


@contextlib.contextmanager
def compile_events(begin: Callable[[], None], end: Callable[[], None] = lambda: None) -> Generator[None]:
    """Call `begin` and `end` around each compilation, in any thread; one may lie within another. A function that is
    found on disk is not compiled."""

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:
            begin()

        def on_end(self, event: Any) -> None:
            end()

    with event.install_listener("numba:compile", Listener()):
        yield


# ---- what the compiler knows of a function ----


def lines_of_failure(error: BaseException) -> list[tuple[str, int]]:
    """Each file and line at which the compiler was when it failed, the last one last."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    places = (getattr(frame.f_locals.get("self"), "loc", None) for frame in frames)
    return [(loc.filename, loc.line) for loc in places if isinstance(loc, ir.Loc)]


def operations(function: Any) -> Iterator[tuple[int, str, Any]]:
    """The line, the operation (`call`, `binop`) and the type of the result of each assignment of a compiled function;
    none where it was loaded from disk."""
    for result in function.overloads.values():
        if result.type_annotation is not None:
            for block in result.type_annotation.blocks.values():
                for line in getattr(block, "body", block):
                    if isinstance(line, ir.Assign) and isinstance(line.value, ir.Expr):
                        yield line.loc.line, line.value.op, result.type_annotation.typemap.get(line.target.name)


# ---- its files of machine code ----

# numba numbers functions and record types as a process meets them, and names machine code by these numbers. Code of two
# processes for records of other sizes could have one name; a third, which loaded both, called the one for the other.
FunctionIdentity._unique_ids = itertools.count(secrets.randbits(62))  # pyright: ignore[reportPrivateUsage]


class CheckedFile:
    """What is put before numba's IndexDataCacheFile: an index for each function and a data file for each signature."""

    def save(self, key: Any, data: Any) -> None:
        try:
            super().save(key, data)  # pyright: ignore
        except OSError as error:
            warn(f"compiled code cannot be kept: {error.strerror or error}")

    def _data_name(self, number: int) -> str:
        """A name that no other process takes. numba counts: two that compile a function for different types at once
        would take the same number, and the index of one would lead to the code of the other."""
        return super()._data_name(secrets.randbits(63))  # pyright: ignore

    def _load_index(self: Any) -> dict[Any, str]:
        return super()._load_index() if is_whole(Path(self._index_path)) else {}  # pyright: ignore

    def _load_data(self: Any, name: str) -> Any:
        path = Path(self._data_path(name))
        if not is_whole(path):
            raise OSError(f"{path} is damaged or not ours")  # numba then compiles the function
        return super()._load_data(name)  # pyright: ignore

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Generator[io.BytesIO]:
        with super()._open_for_write(filepath) as file, io.BytesIO() as content:  # pyright: ignore
            yield content
            if sys.platform != "win32":
                os.fchmod(file.fileno(), 0o600)  # whatever the umask
            file.write(sealed(Path(filepath), content.getvalue()))


@functools.cache
def _checked(kind: type[Any]) -> type[Any]:
    return type("CheckedCacheFile", (CheckedFile, kind), {})


def cache_file(function: Any) -> Any:
    """What reads and writes the machine code of a function with `cache=True`; None for any other."""
    return getattr(getattr(function, "_cache", None), "_cache_file", None)


def check_cache(module: ModuleType) -> None:
    """Let every compiled function of a module read only checked files."""
    for value in vars(module).values():
        file = cache_file(value)
        if file is not None and not isinstance(file, CheckedFile):
            file.__class__ = _checked(type(file))


def without_own_cache(function: Any) -> None:
    """Switch off `njit(cache=True)` of a game's function: numba would execute whatever lies beside the game's file."""
    if not isinstance(cache_file(function), CheckedFile | None):
        function._cache = NullCache()


# ---- GPUs ----


def use_on_gpu(function: Any, form: Any) -> None:
    """Let code for a GPU call `form`, made by `cuda.jit(device=True)`, in place of a function for the CPU. numba-cuda
    keeps what it makes of a function in this attribute; a version that does not read it compiles the function."""
    function._CUDATypingContext__dispatcher = form


def allow_small_batches() -> None:
    """Switch off the warning that a GPU is not full."""
    from numba.cuda.core import config  # pyright: ignore[reportMissingImports]

    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


def compiled_for(kernel: Any, arguments: list[Any]) -> Any:
    """A kernel as it was compiled for arguments of these types, with `launch`: numba's own launch infers the type of
    every array in a NamedTuple each time, in Python, which takes longer than most kernels."""
    return kernel.overloads.get(tuple(kernel.typeof_pyval(argument) for argument in arguments))


def written_in_place(array: Any) -> Any:
    """An array that a simulated kernel writes in place, not in a copy."""
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

    return FakeCUDAArray(array)
