"""The source files of Plyground as syntax trees, for the tests that read them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import plyground

HOME = Path(plyground.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted(HOME.rglob("*.py"))


def name_of(path: Path) -> str:
    """`games/chess/rules.py`: a file's path below src/plyground."""
    return path.relative_to(HOME).as_posix()


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions of a file, methods and inner ones included."""
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def check_exceptions(found: dict[str, str], not_yet: set[str], what: str) -> None:
    """Fail on what was found beyond the exceptions, and on exceptions that are no longer needed."""
    new = [f"{where}: {problem}" for where, problem in sorted(found.items()) if where not in not_yet]
    assert not new, f"{what}:\n" + "\n".join(new)
    gone = sorted(not_yet - set(found))
    assert not gone, f"no longer needed in NOT_YET ({what}): {gone}"
