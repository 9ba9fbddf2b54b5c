"""Names of the contract that a game does not define, and names of its own that may be misspelt ones."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from pathlib import Path

from plyground.game import Game
from plyground.games.interface import TABLE

ALIKE = 0.85  # of difflib: `SIDE` and `SIDES`, but not `LONGEST` and `STRONGEST`


def undefined(game: Game) -> list[str]:
    """The optional names of the contract that a game does not define, in the order of the table."""
    return [name for name in TABLE if game.rules.defined(name) is None]


def misspelt(game: Game) -> list[str]:
    """A question for each name of a game file that is nearly an undefined name of the contract, of the same kind."""
    missing = {name: TABLE[name].kind.endswith("function") for name in undefined(game)}
    found = list[str]()
    for name, is_function, line in _own_names(Path(game.path)) if game.path else ():
        others = {each.lower(): each for each, kind in missing.items() if kind == is_function}
        near = difflib.get_close_matches(name.lower(), others, 1, ALIKE) if name not in TABLE else []
        found += [f"`{name}`: did you mean `{others[each]}`? see {game.path}, line {line}" for each in near]
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
