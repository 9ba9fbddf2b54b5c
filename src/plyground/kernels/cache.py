"""From a template and a game's functions to a compiled module, kept on disk and never stale.

numba's own cache looks at one file's time stamp: after an edit in another file it would run the old rules. Here each
game's kernels are written out as a module of their own, whose name carries a fingerprint of the text and of everything
it reaches: every function's code, every table, every constant. Other rules, other name, nothing to invalidate.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import logging
import os
import re
import shutil
import sys
import threading
import types
import warnings
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import numba
import numpy as np

from plyground.errors import BrokenGame, InvalidValue, plain_os_errors
from plyground.games.interface import FILE_PREFIX, Function
from plyground.kernels import slots
from plyground.kernels.damaged_cache import FORMAT, copy_checked
from plyground.kernels.numba_internals import (
    NumbaExperimentalFeatureWarning,
    check_cache,
    count_references,
    options_of,
    without_own_cache,
)
from plyground.private_folder import cache_folder, make_folder, read_only_folders, temporary_folder

SLOTS = re.compile(r"^from plyground\.kernels\.slots import (\([^)]+\)|.+)$", re.MULTILINE)
IMPORTS = re.compile(r"^from (plyground\.[\w.]+) import", re.MULTILINE)
CACHED = re.compile(r"cache=True|@uncounted_loop")  # other functions are parts, which are compiled with these
LOOP = re.compile(
    r"^@(?:uncounted_loop|njit\(cache=True, nogil=True\))\n(def .*?)(?=\n\n\n|\Z)", re.MULTILINE | re.DOTALL
)
ROWS = re.compile(r"^    for (\w+) in range\((.+)\):$", re.MULTILINE)  # the loop over rows, not those within
LIBRARIES = frozenset({"numpy", "numba", "llvmlite", "math", "builtins", "typing"})
"""what they hold changes only with their version, which is part of every fingerprint"""
WEEKS_KEPT, MANY_KEPT = 6, 8  # how long kernels are kept that nobody uses, and how many of one subject in any case
LOG = logging.getLogger("plyground")
_LOCK = threading.RLock()
_USED: set[Path] = set()  # folders of kernels, by this process

# A function compiled for a game's HEAD also serves the whole record, which begins alike: that is what we want.
warnings.filterwarnings("ignore", "(?s).*considered a subtype", NumbaExperimentalFeatureWarning)


def load_kernels(
    template: str, functions: Mapping[str, Function | bool | int | np.dtype[np.void]], subject: str, device: str = "cpu"
) -> types.ModuleType:
    """The module that `template` (a file beside this one, or a module's full name) becomes with `functions` (and sizes)
    in its slots. For the device `cuda` that is the file of the same name with the prefix `cuda_`; without one, the
    loops of the template itself become grid-stride loops.

    `subject` names the kernels in the notice that is printed while they compile for the first time: "connect_four".
    """
    with _LOCK:  # threads may ask at once, but must not see a module before it has run
        if "." not in template and template not in sys.modules:  # a model's file of one's own is a module without a dot
            template = f"plyground.kernels.{template}"
        home, dot, file = template.rpartition(".")
        written = f"{home}{dot}{'' if device == 'cpu' else f'{device}_'}{file}"
        strided = importlib.util.find_spec(written) is None
        source = _with_strides(_source(template)) if strided else _source(written)
        source = IMPORTS.sub(lambda found: _import_template(found, functions, subject), source)
        source = SLOTS.sub(lambda found: _imports(re.findall(r"\w+", found[1]), functions), source)
        kind = written.removeprefix("plyground.").removeprefix("kernels.")
        label = re.sub(r"\W+", "_", f"{kind} {subject}")
        name = f"plyground_{label}_{fingerprint(source)}"
        if name not in sys.modules:
            path = _written(name, f"plyground_{label}_", source)
            kept = any((path.parent / "__pycache__").glob("*.nbi")) or not CACHED.search(source)
            if not kept and not numba.config.DISABLE_JIT:  # pyright: ignore
                kind = f"{kind}, bounds checked" if numba.config.BOUNDSCHECK else kind  # pyright: ignore
                LOG.info("compiling %s (%s), once for this machine ...", subject, kind)
            _run(name, path, source)
        return sys.modules[name]


def _with_strides(source: str) -> str:
    """The loops of a template for the CPU as kernels for a GPU: grid-stride loops, in which each thread has working
    and local memory of its own."""

    def kernel(loop: re.Match[str]) -> str:
        text = ROWS.sub(r"    for \1 in range(cuda.grid(1), \2, cuda.gridsize(1)):", loop[1])
        text = text.replace("work[0]", "work[cuda.grid(1)]").replace("= np.empty(", "= cuda.local.array(")
        return f"@cuda.jit(cache=True)\n{text}"

    return LOOP.sub(kernel, source.replace("\nimport numpy", "\nfrom numba import cuda\nimport numpy", 1))


@functools.cache
def _source(template: str) -> str:
    spec = importlib.util.find_spec(template)
    assert spec is not None, template
    assert spec.origin is not None, template
    if isinstance(spec.loader_state, str):  # a file of one's own: the text that was run, whatever the file holds now
        return spec.loader_state
    return Path(spec.origin).read_text(encoding="utf-8")


def _import_template(found: re.Match[str], functions: Mapping[str, Any], subject: str) -> str:
    """An import from another template, such as `from plyground.kernels.rules import step_row`: from the module that it
    becomes with the same functions. An import from any other module stays as it is."""
    home = found[1]
    if home == slots.__name__ or not SLOTS.search(_source(home)):
        return found[0]
    return f"from {load_kernels(home, functions, subject).__name__} import"


def _run(name: str, path: Path, source: str) -> None:
    """Run a generated module. It is entered before it runs: numba finds a cached kernel's module by its name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        exec(compile(source, str(path), "exec"), vars(module))  # noqa: S102 (not the file, which could be another's)
        check_cache(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, RuntimeError) and "no locator available" in str(error):  # numba, of its cache folder
            raise InvalidValue(f"cannot write to {path.parent}: set PLYGROUND_CACHE to a folder with room") from None
        raise


def _imports(names: list[str], functions: Mapping[str, Any]) -> str:
    """The lines that bind each slot to the game's function; a game without working memory gets an adapter."""
    lines: list[str] = []
    for name in names:
        function = functions.get(name) or functions.get(slots.INSTEAD.get(name, "")) or getattr(slots, name)
        if not callable(function):  # a size or a record type, which Python writes as it reads it
            lines += ["from numpy import dtype", f"{name} = {function!r}"]
            continue
        if not function.__module__.startswith("plyground") or FILE_PREFIX in function.__module__:
            count_references(function)  # a stranger's function may allocate
        lines.append(f"from {function.__module__} import {_name_of(function)} as {name}")
        wanted = list(inspect.signature(_plain(getattr(slots, name))).parameters)
        if "work" in wanted and len(inspect.signature(_plain(function)).parameters) < len(wanted):
            lines[-1] += "_without_work"
            lines += [
                "from numba import njit",
                "@njit",
                f"def {name}({', '.join(wanted)}):",
                f"    return {name}_without_work({', '.join(wanted[:-1])})",
            ]
    return "\n".join(lines)


def _name_of(function: Function) -> str:
    """The name by which a function's module has it; the generated module imports it by that."""
    for name, value in vars(sys.modules[function.__module__]).items():
        if value is function:
            return name
    raise BrokenGame(
        f"the compiled function {function.__name__} must stand in its module {function.__module__} by name"
    )


# ---- fingerprints ----


def fingerprint(source: str) -> str:
    """Sixteen characters that change when anything changes that the compiled module depends on."""
    digest = hashlib.sha256(source.encode())
    versions = (numba.__version__, np.__version__, sys.version_info[:3], numba.config.BOUNDSCHECK, numba.config.OPT)  # pyright: ignore
    digest.update(repr((*versions, FORMAT)).encode())
    seen: set[int] = set()
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.split(".")[0] not in LIBRARIES | {"__future__"}
        ):
            module = importlib.import_module(node.module)
            for alias in node.names:
                value = getattr(module, alias.name)
                if type(value) is type and not hasattr(value, "_fields") and not _from_library(value):
                    digest.update(
                        value.__qualname__.encode()
                    )  # compiled code cannot use a plain class; other lines may
                else:
                    _feed(digest, value, seen)
    return digest.hexdigest()[:16]


PLAIN = int | float | complex | str | bytes | None | np.generic | np.dtype | range | slice | types.UnionType


def _feed(digest: Any, value: Any, seen: set[int]) -> None:
    """Add a value and all it reaches. An object it does not understand is an error, never a silent gap."""
    without_own_cache(value)
    if options := options_of(value):  # what `njit(...)` was told
        digest.update(repr(sorted(options.items())).encode())
    value = _plain(value)
    if isinstance(value, types.FunctionType):
        if id(value) not in seen:
            seen.add(id(value))
            _feed_function(digest, value, seen)
    elif isinstance(value, np.ndarray):
        digest.update(repr((value.dtype, value.shape)).encode() + value.tobytes())
    elif isinstance(value, tuple | list):
        for item in value:
            _feed(digest, item, seen)
        digest.update(repr((type(value), len(value))).encode())
    elif isinstance(value, Enum):
        digest.update(repr((type(value), value.value)).encode())
    elif isinstance(value, PLAIN):
        digest.update(repr((type(value), value)).encode())
    elif isinstance(value, type) and issubclass(value, Enum):
        digest.update(repr([(name, member.value) for name, member in value.__members__.items()]).encode())
    elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):  # a NamedTuple
        digest.update(repr((value.__module__, value.__qualname__, value._fields)).encode())  # pyright: ignore
    elif _from_library(value):
        digest.update(repr(getattr(value, "__qualname__", value)).encode())
    else:
        raise BrokenGame(f"compiled code may not use the global {value!r}: its changes could not be noticed")


def _feed_function(digest: Any, function: types.FunctionType, seen: set[int]) -> None:
    if _from_library(function):
        digest.update(function.__qualname__.encode())
        return
    digest.update(function.__module__.encode())  # numba's cached code looks its functions up by their modules' names
    for code in _codes(function.__code__):
        constants = [constant for constant in code.co_consts if not isinstance(constant, types.CodeType)]
        digest.update(code.co_code + repr((code.co_names, code.co_varnames, constants)).encode())
        for name in code.co_names:
            if name in function.__globals__:
                _feed_global(digest, function.__globals__[name], code.co_names, seen)
            elif not hasattr(builtins, name):
                digest.update(name.encode())  # an attribute, or a global that does not exist: the compiler will say so
    _feed(digest, function.__defaults__, seen)
    for cell in function.__closure__ or ():
        _feed(digest, cell.cell_contents, seen)


def _feed_global(digest: Any, value: Any, names: tuple[str, ...], seen: set[int]) -> None:
    """Add a global; of a module, every member that the code might name (`bits.popcount`)."""
    if not isinstance(value, types.ModuleType):
        _feed(digest, value, seen)
    elif not _from_library(value):
        for name in names:
            if hasattr(value, name):
                _feed_global(digest, getattr(value, name), names, seen)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    """A function's code and that of the functions inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [code, *(deeper for each in inner for deeper in _codes(each))]


def _plain(function: Any) -> Any:
    """The Python function behind a compiled one (itself where the compiler is switched off)."""
    return inspect.unwrap(getattr(function, "py_func", function))


def _from_library(value: Any) -> bool:
    home = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
    return home.split(".")[0] in LIBRARIES


# ---- the folder ----


def _written(name: str, prefix: str, source: str) -> Path:
    """The file of a generated module, written if it is not there yet."""
    folder = cache_folder()
    try:
        if not (folder / name).exists():
            for other in read_only_folders():
                copy_checked(other / name, folder / name)
        path = _write(folder / name / "kernels.py", source)
    except OSError as error:
        LOG.warning("cannot keep compiled games in %s (%s)", folder, error.strerror)
        with plain_os_errors("keep compiled games", "; set PLYGROUND_CACHE to a folder with room"):
            return _write(temporary_folder() / name / "kernels.py", source)
    _USED.add(path.parent)
    _forget(folder, prefix)
    return path


def _write(path: Path, source: str) -> Path:
    """The file only tells numba where its cache is, and people what was compiled: `_run` executes `source` itself."""
    make_folder(path.parent)
    if not path.is_file() or path.read_bytes() != source.encode():
        aside = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        aside.write_bytes(source.encode())
        aside.replace(path)  # several processes may start at once
    (path.parent / "used").touch()
    return path


def _forget(folder: Path, prefix: str) -> None:
    """Remove kernels of the same subject that were used weeks before the newest ones, but for some, and for those of
    this process: neither its clock nor that of the disk need be right."""
    times = dict[Path, float]()
    for each in folder.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            times[each] = (each / "used").stat().st_mtime
    for old in sorted(times, key=lambda each: -times[each])[MANY_KEPT:]:
        if max(times.values()) - times[old] > WEEKS_KEPT * 7 * 86400 and old not in _USED:
            shutil.rmtree(old, ignore_errors=True)
