"""Tests mirror the source: `src/plyground/a/b.py` is tested in `tests/a/test_b.py`."""

from __future__ import annotations

import pytest

from source import FILES, TESTS, check_exceptions, name_of

pytestmark = pytest.mark.once
DATA, CUDA = (
    "data types alone, which the tests of the modules beside it use",
    "one loop around the CPU's body; kernels/test_ptx compiles it, backend/test_games compares it with the CPU",
)
THROUGH_A_SERVER = "web/test_house plays with it through a server; one start of workers for all"
ELSEWHERE = {
    "search/arrays.py": DATA,
    "search/deepening_arrays.py": DATA,
    "search/determinized_arrays.py": DATA,
    "search/tree_arrays.py": DATA,
    "search/cuda_tree.py": "loops around the CPU's bodies; search/test_network_search compares their trees",
    "kernels/arrays.py": DATA,
    "games/connect_four/solver/arrays.py": DATA,
    **{f"cli/{name}.py": "cli/test_app runs every command" for name in ("commands", "measures", "people")},
    "cli/running.py": "cli/test_training and cli/test_resume run it",
    "games/paco_sako/kernels.py": "loops over search.py; test_analysis compares them with the naive twin",
    "games/paco_sako/search.py": "test_analysis and test_rules compare it with the naive twin",
    "web/tables.py": THROUGH_A_SERVER,
    "kernels/slots.py": "stubs, which every kernel replaces; kernels/test_cache fills them",
    **{f"kernels/cuda_{name}.py": CUDA for name in ("advantages", "choose", "encode", "evaluate", "expand", "mask")},
    **{f"kernels/cuda_{name}.py": CUDA for name in ("replay", "rules")},
}
"""modules without a test file of their own, and the reason"""


def test_every_module_has_a_test_file() -> None:
    missing: dict[str, str] = {}
    for path in FILES:
        name = name_of(path)
        test = TESTS / name.replace(path.name, f"test_{path.name}")
        if not path.stem.startswith("__") and name not in ELSEWHERE and not test.exists():
            missing[name] = f"has no {test.relative_to(TESTS.parent)}"
    check_exceptions(missing, set(), "modules without a test file")


def test_reasons_are_given_only_where_a_test_file_is_missing() -> None:
    names = {name_of(path) for path in FILES}
    for name in ELSEWHERE:
        folder, _, file = name.rpartition("/")
        assert name in names, f"{name} is gone"
        assert not (TESTS / folder / f"test_{file}").exists(), f"{name} has a test file after all"


def test_every_test_file_has_a_module() -> None:
    """A test file of a folder that `src` has too is named after a module, or listed here with what it is about."""
    stems = {name_of(path).removesuffix(".py") for path in FILES}
    rooms = {name.split("/")[0] for name in stems if "/" in name}
    strays = {
        test.relative_to(TESTS).as_posix(): "has no module of its name"
        for test in TESTS.rglob("test_*.py")
        if test.relative_to(TESTS).parts[0] in rooms
        and test.relative_to(TESTS).as_posix().replace("/test_", "/").removesuffix(".py") not in stems
    }
    check_exceptions(strays, ABOUT_MORE, "test files without a module")


ABOUT_MORE: set[str] = {
    "backend/test_seam.py",
    "games/sequence/test_hidden.py",
    "games/test_lenient.py",
    "games/test_perft.py",
    "games/test_playthroughs.py",
    "kernels/test_ptx.py",
    "learners/test_every_learner.py",
    "learners/test_gpu.py",
    "learners/test_reading_path.py",
    "web/browser/test_accessibility.py",
    "web/browser/test_games.py",
    "web/browser/test_learn.py",
    "web/browser/test_loading.py",
    "web/browser/test_special_moves.py",
    "web/browser/test_study.py",
    "web/browser/test_table.py",
    "web/browser/test_understand.py",
    "web/browser/test_unfinished_turns.py",
    "web/browser/test_watch.py",
}
"""test files that are about several modules, or about behaviour"""
