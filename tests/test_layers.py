"""A file imports only from its own layer and those above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import plyground

HOME = Path(plyground.__file__).parent
LAYERS = [
    ["errors", "specs"],
    ["games"],
    ["kernels"],
    ["game"],
    ["position"],
    ["batch"],
    ["backend"],
    ["networks", "tables"],
    ["search"],
    ["runs"],
    ["agents"],
    ["arena"],
    ["learners"],
    ["report"],
    ["teaching"],
    ["checks", "interop"],
    ["play"],
    ["cli"],
    ["__main__"],
]
CONTRACT = (
    *("rules", "text", "drawing", "scene", "board", "moves", "cards", "patterns", "search"),
    *("evaluate", "encoders", "table_keys", "dataset"),
)
"""files of a game's folder that import only the contract; its others may import any room but the outermost"""
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in HOME.rglob("*.py") if path != HOME / "__init__.py")


def _room(module: str) -> str:
    """`plyground.games.bits` is in the room `games`."""
    return module.split(".")[1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HOME)))
def test_imports_point_upwards(path: Path) -> None:
    parts = list(path.relative_to(HOME).with_suffix("").parts)
    own = "teaching" if parts[0] == "games" and len(parts) > 2 and parts[-1] not in CONTRACT else parts[0]
    assert own in LEVEL, f"{own} has no layer yet: say where it belongs"
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute"
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "plyground" else [node.module]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith("plyground."):
                lazy = (own, _room(name)) in (("game", "position"), ("batch", "backend"))  # imported when called
                assert LEVEL[_room(name)] <= LEVEL[own] or lazy, f"{own} imports {name}, which stands below it"
                assert not name.startswith("plyground.interop") or own in ("interop", "cli")


def test_oracles_and_peers_are_never_imported() -> None:
    forbidden = {
        "chess",
        "bitbully",
        "pyspiel",
        "open_spiel",
        "pgx",
        "jax",
        "pettingzoo",
        "pytest",
        "hypothesis",
        "pickle",
    }
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not forbidden & {alias.name.split(".")[0] for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom) and node.module:
                assert node.module.split(".")[0] not in forbidden, path
