"""Names of a game file that are nearly names of the contract."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

ALIKE = 0.85  # of difflib: `SIDE` and `SIDES`, but not `LONGEST` and `STRONGEST`


def questions(path: Path, missing: Mapping[str, bool], known: Container[str]) -> list[str]:
    """A question for each name of a file that is nearly a `missing` one (True: a function) of the same kind, and not
    itself `known`."""
    found = list[str]()
    for name, is_function, line in _own_names(path):
        others = {each.lower(): each for each, kind in missing.items() if kind == is_function}
        near = difflib.get_close_matches(name.lower(), others, 1, ALIKE) if name not in known else []
        found += [f"`{name}`: did you mean `{others[each]}`? see {path}, line {line}" for each in near]
    return found


def _own_names(path: Path) -> Iterator[tuple[str, bool, int]]:
    """Each name that a file defines at its top level, whether it is a function, and its line; imports are none."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, True, node.lineno
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            yield from ((each.id, False, node.lineno) for each in names if isinstance(each.ctx, ast.Store))
