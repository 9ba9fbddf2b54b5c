"""Which file may import which: layers, and the games behind their contract."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from plyground.games import GAMES
from source import FILES, HOME, check_exceptions, name_of, tree

pytestmark = pytest.mark.once
LAYERS = [
    ["errors", "specs", "private_folder"],
    ["games"],
    ["kernels"],
    ["game"],
    ["position", "checked_states"],
    ["backend"],
    ["batch"],
    ["networks", "tables", "models"],
    ["search"],
    ["runs"],
    ["agents"],
    ["arena"],
    ["teaching"],
    ["learners"],
    ["cluster"],
    ["report"],
    ["checks", "interop"],
    ["play"],
    ["cli", "web"],
    ["__main__"],
]
"""a file imports only from its own layer and from those above it"""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
OUTERMOST = ("cli", "web")
LAZY = {("game", "position"), ("game", "backend"), ("position", "agents")}
"""(room, room it imports when a function is called)"""

CONTRACT = {
    *("rules", "board", "cards", "lines", "patterns", "search", "evaluate"),
    *("text", "drawing", "scene", "sako"),
    *("encoders", "cells", "table_keys", "dataset"),
}
"""files of a game's folder that import only the contract (modules of `games/` itself) and one another"""

FOR_ONE_GAME = {
    *("interop/course_sequence.py", "interop/connect_zero.py", "interop/connect_four_dqn.py"),
    "interop/uci_thinkers.py",
}
"""adapters between one game and a foreign program; they may import that game"""

ADAPTERS = {"interop/pettingzoo.py": {"pettingzoo"}, "interop/openspiel.py": {"open_spiel", "pyspiel"}}
"""adapters to peers, and what each may import of them"""

NOT_YET: dict[str, set[str]] = {
    "layers": set(),
    "games": set(),
}
"""rule → files that still break it; an entry that is no longer needed fails too"""


def imports(path: Path) -> Iterator[str]:
    """The full names of the modules of Plyground that a file imports, whether at the top or in a function."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("plyground."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}: imports are absolute"
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                is_module = (HOME.parent / inner.replace(".", "/")).with_suffix(".py").exists()
                if module == "plyground" or (module.startswith("plyground.") and is_module):
                    yield inner
                elif module.startswith("plyground."):
                    yield module


def room_of(path: Path) -> str:
    """The room of a file; a game's files beyond the contract stand as low as the rooms that use them."""
    parts = list(path.relative_to(HOME).with_suffix("").parts)
    return "teaching" if parts[0] == "games" and len(parts) > 2 and parts[2] not in CONTRACT else parts[0]


def game_of(module: str) -> str:
    """`plyground.games.chess.rules` belongs to chess; a module outside the games' folders to none."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 and parts[1] == "games" and parts[2] in GAMES else ""


def test_every_room_has_a_layer() -> None:
    rooms = {path.relative_to(HOME).with_suffix("").parts[0] for path in FILES} - {"__init__"}
    assert rooms <= set(LEVEL), f"say in LAYERS where these belong: {sorted(rooms - set(LEVEL))}"


def test_imports_point_upwards() -> None:
    found: dict[str, str] = {}
    for path in FILES:
        if name_of(path) == "__init__.py":
            continue
        own = room_of(path)
        for name in imports(path):
            other = name.split(".")[1]
            if other in LEVEL and LEVEL[other] > LEVEL[own] and (own, other) not in LAZY:
                found[name_of(path)] = f"imports {name}, which stands below {own}"
    check_exceptions(found, NOT_YET["layers"], "imports that point downwards")


def test_nothing_imports_the_outermost_rooms() -> None:
    for path in FILES:
        if name_of(path).split("/")[0] not in (*OUTERMOST, "__main__.py"):
            assert not [name for name in imports(path) if name.split(".")[1] in OUTERMOST], name_of(path)


def test_interop_is_imported_by_the_command_line_alone() -> None:
    for path in FILES:
        if name_of(path).split("/")[0] not in ("interop", *OUTERMOST):
            assert not [name for name in imports(path) if name.startswith("plyground.interop")], name_of(path)


def test_rules_and_texts_import_only_the_contract() -> None:
    for path in FILES:
        parts = path.relative_to(HOME).with_suffix("").parts
        if parts[0] != "games" or len(parts) < 3 or parts[2] not in CONTRACT:
            continue
        for name in imports(path):
            room, game, *rest = [*name.split(".")[1:], ""]
            allowed = room in ("errors", "specs") or (room == "games" and game not in GAMES)
            assert allowed or (game == parts[1] and rest[0] in CONTRACT), f"{name_of(path)} imports {name}"


def test_only_a_game_imports_its_folder() -> None:
    """Other rooms reach a game through the loader's table, by its name."""
    found: dict[str, str] = {}
    for path in FILES:
        parts = path.relative_to(HOME).parts
        own = parts[1] if parts[0] == "games" else ""
        for name in imports(path):
            if game_of(name) not in ("", own) and name_of(path) not in FOR_ONE_GAME:
                found[name_of(path)] = f"imports {name}"
    check_exceptions(found, NOT_YET["games"], "imports of a game from outside its folder")


def test_oracles_and_peers_are_never_imported() -> None:
    forbidden = {
        "bitbully",
        "chess",
        "hypothesis",
        "jax",
        "open_spiel",
        "pettingzoo",
        "pgx",
        "pickle",
        "pyspiel",
        "pytest",
    }
    for path in FILES:
        refused = forbidden - ADAPTERS.get(name_of(path), set())
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                assert not refused & {alias.name.split(".")[0] for alias in node.names}, name_of(path)
            elif isinstance(node, ast.ImportFrom) and node.module:
                assert node.module.split(".")[0] not in refused, name_of(path)
