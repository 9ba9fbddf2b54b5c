"""Fingerprints of code that are the same on every machine and under every Python: they are kept in checkpoints.

The compile cache (`cache.py`) hashes bytecode and the versions of Python, numpy and numba: what it must recompile.
A checkpoint outlives all of these, so this fingerprint is made from the syntax tree of the source instead. It changes
with statements, names, constants, tables and decorators of a function and of everything that the function reaches. It
does not change with comments, formatting, docstrings, annotations, error messages, or the file that holds the code.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

from plyground.errors import BrokenGame
from plyground.games.records import meaning

FOREIGN = (sys.stdlib_module_names | {"numpy", "numba", "llvmlite", "torch"}) - {"__main__"}
"""what their names stand for changes only with their versions, which config.toml records"""
IGNORED = ("annotation", "returns", "kind", "type_comment", "type_params", "exc", "cause")
"""fields of syntax nodes without influence on results; `exc` is the exception of a `raise`"""
Definition = ast.FunctionDef | ast.ClassDef


class NoSource(Exception):
    """A function or class whose source cannot be found."""


def code_fingerprint(*values: Any) -> str:
    """Sixteen characters that stand for functions, classes and plain values; empty where some source is missing."""
    walk = _Walk()
    try:
        for value in values:
            walk.add(value)
    except NoSource:
        return ""
    return walk.digest.hexdigest()[:16]


class _Walk:
    """Adds values, and all that they reach, to a digest."""

    def __init__(self) -> None:
        self.digest, self.seen = hashlib.sha256(), set[int]()

    def add(self, value: Any) -> None:
        """Add a value. An object that cannot be followed is an error, never a silent gap."""
        value = inspect.unwrap(getattr(value, "py_func", value))  # the Python function behind a compiled one
        if isinstance(value, np.ndarray):
            self._text("array", _layout(value.dtype), value.shape)
            self.digest.update(value.tobytes())
        elif isinstance(value, np.dtype):
            self._text("dtype", _layout(value))
        elif isinstance(value, Enum):
            self._text("enum", type(value).__name__, value.value)
        elif isinstance(value, np.generic):
            self._text("scalar", value.dtype.str, value.item())
        elif isinstance(value, int | float | complex | str | bytes | range | slice | None):
            self._text(type(value).__name__, value)
        elif isinstance(value, tuple | list):
            self._text("sequence", len(value))
            for item in value:
                self.add(item)
        elif isinstance(value, Mapping):
            self.add(list(value.items()))
        elif _is_foreign(value):
            name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
            self._text("foreign", name or repr(value))  # a module's repr holds its path
        elif isinstance(value, types.FunctionType | type):
            self._add_code(value)
        else:
            raise BrokenGame(f"a fingerprint cannot follow the global {value!r}: its changes could not be noticed")

    def _add_code(self, value: types.FunctionType | type) -> None:
        if id(value) in self.seen:
            return
        self.seen.add(id(value))
        function = value if isinstance(value, types.FunctionType) else None
        place = (function.__code__.co_name, function.__code__.co_firstlineno) if function else (value.__name__, 0)
        node = _definitions(value.__module__).get(place)
        if node is None:
            raise NoSource(value)
        self._text("code", *_tokens(node))
        home = function.__globals__ if function else vars(sys.modules[value.__module__])
        attributes = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
        for name in sorted(_free_names(node)):
            if name in home:
                self._text("global", name)
                self._add_global(home[name], attributes)
        if function:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                self._text("closure", name)
                self.add(cell.cell_contents)

    def _add_global(self, value: Any, attributes: set[str]) -> None:
        """Add a global; of a module, every member that the code names (`bits.popcount`)."""
        if not isinstance(value, types.ModuleType) or _is_foreign(value):
            self.add(value)
            return
        for name in sorted(attributes):
            if hasattr(value, name):
                self._text("member", name)
                self._add_global(getattr(value, name), attributes)

    def _text(self, *parts: object) -> None:
        self.digest.update(repr(parts).encode())


def _layout(dtype: np.dtype[Any]) -> object:
    """A dtype in words that no version of numpy changes: type, or the fields with their offsets."""
    if dtype.subdtype is not None:
        return _layout(dtype.subdtype[0]), dtype.subdtype[1]
    if dtype.fields is None:
        return dtype.str
    own = meaning(dtype)  # a gap means the same with and without a field
    return dtype.itemsize, [(name, _layout(field[0]), field[1]) for name, field in dtype.fields.items() if name in own]


def _is_foreign(value: Any) -> bool:
    """Whether it belongs to Python or to a library; plain containers do not."""
    if isinstance(value, types.ModuleType):
        return value.__name__.split(".")[0] in FOREIGN
    home = getattr(value, "__module__", None) or type(value).__module__.replace("builtins", "")
    return home.split(".")[0] in FOREIGN or (isinstance(value, type) and issubclass(value, BaseException))


# ---- source ----


@functools.cache
def _definitions(module: str) -> dict[tuple[str, int], Definition]:
    """The functions of a module by name and first line, its classes by name (line 0), normalised."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    try:
        tree = ast.parse(spec.loader.get_source(module))  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, ImportError, OSError, TypeError):
        raise NoSource(module) from None
    found: dict[tuple[str, int], Definition] = {}
    for node in ast.walk(tree):
        for name in set(IGNORED) & set(node._fields):
            setattr(node, name, None)
        if isinstance(node, Definition):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[node.name, 0 if isinstance(node, ast.ClassDef) else first] = node
    return found


def _tokens(node: Any) -> Iterator[str]:
    """The syntax tree as words. (`ast.dump` differs between Python versions.)"""
    if isinstance(node, list):
        for each in node:
            yield from _tokens(each)
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if value is not None and value != []:
                yield name
                yield from _tokens(value)
        yield ")"
    else:
        yield f"{type(node).__name__} {node!r}"


def _free_names(node: ast.AST) -> set[str]:
    """The names that a definition takes from its module: those that it does not bind itself."""
    if isinstance(node, ast.ClassDef):  # a name that one method binds is free in another
        parts = [*node.bases, *node.decorator_list, *node.keywords, *node.body]
        return set[str]().union(*map(_free_names, parts))
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    return {each.id for each in names} - bound
