"""Names of a game file that are nearly names of the contract."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Container, Mapping
from pathlib import Path

ALIKE = 0.85  # of difflib: `SIDE` and `SIDES`, but not `LONGEST` and `STRONGEST`


def questions(path: Path, missing: Mapping[str, bool], known: Container[str]) -> list[str]:
    """A question for each name of a file that is nearly a `missing` one (True: a function) of the same kind, and not
    itself `known`."""
    found = list[str]()
    for node in ast.parse(path.read_bytes()).body:  # what the file defines at its top level; imports do not count
        names = list[str]()
        if isinstance(node, ast.FunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [each for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
            names = [each.id for each in parts if isinstance(each.ctx, ast.Store)]
        others = {name.lower(): name for name, kind in missing.items() if kind == isinstance(node, ast.FunctionDef)}
        for name in names:
            near = difflib.get_close_matches(name.lower(), others, 1, ALIKE) if name not in known else []
            found += [f"`{name}`: did you mean `{others[each]}`? see {path}, line {node.lineno}" for each in near]
    return found
