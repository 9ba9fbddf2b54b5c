"""Each compiled function is compiled by itself: the one at fault is named with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from numba.core.errors import NumbaError

import plyground as pg
from conftest import ROOT, TINY
from plyground.checks import laws
from plyground.checks.compiling import check_compiling, entries
from plyground.errors import BrokenGame

pytestmark = [pytest.mark.once, pytest.mark.compiled]
ROW = ROOT / "examples" / "three_in_a_row.py"
LEGAL, PLAY = "    count = 0\n", '    side, cells = state["to_move"], state["cells"]\n'
HELPER = '@njit\ndef helper(state):\n    state["nope"] = 1\n\n\n@njit\ndef play('


def edited(folder: Path, *edits: tuple[str, str]) -> Path:
    source = ROW.read_text()
    for right, wrong in edits:
        assert source.count(right) == 1, "the test's edit no longer fits the game"
        source = source.replace(right, wrong)
    path = folder / "edited.py"
    path.write_text(source)
    return path


@pytest.mark.parametrize(
    ("edits", "fault", "line"),
    [
        ([("    return count\n", "")], "`legal` must return how many actions it has written", "def legal"),
        ([("    return count\n", "    if count:\n        return count\n")], "`legal` must return", "def legal"),
        ([("    return 0.0\n", "    pass\n")], "`evaluate` must return a number from -1 to 1", "def evaluate"),
        ([(LEGAL, f"{LEGAL}    as_text = str(state)\n")], "`legal` does not compile: KeyError", "str(state)"),
        ([(PLAY, f'{PLAY}    state["nope"] = 1\n')], "`play` does not compile: KeyError: 'nope'", '["nope"]'),
        ([("@njit\ndef play(", HELPER), (PLAY, f"{PLAY}    helper(state)\n")], "`play` does not compile", '["nope"]'),
    ],
    ids=["nothing", "sometimes", "evaluate", "legal", "play", "helper"],
)
def test_the_function_at_fault_is_named_with_its_line(
    tmp_path: Path, edits: list[tuple[str, str]], fault: str, line: str
) -> None:
    path = edited(tmp_path, *edits)
    number = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if line in text)
    with pytest.raises(BrokenGame, match=f": {re.escape(fault)}.*; see {path}, line {number}$"):
        list(laws.check(pg.load(path), 2))


def test_a_message_of_the_compiler_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(NumbaError, match="nowhere"):
        check_compiling(pg.load(edited(tmp_path, (LEGAL, f"{LEGAL}    nowhere(state)\n"))))


@pytest.mark.parametrize("word", [ROW, *TINY, "connect_four"])
def test_right_functions_pass(word: str) -> None:
    check_compiling(pg.load(word))


def test_every_function_is_compiled_with_the_arguments_that_it_takes() -> None:
    names = [function.py_func.__name__ for function, _ in entries(pg.load(ROW))]
    assert names == ["reset", "legal", "play", "evaluate", "write_planes", "write_cells"]
    hops = {function.py_func.__name__: len(arguments) for function, arguments in entries(pg.load(TINY[1]))}
    assert (hops["legal"], hops["play"]) == (3, 4), "with working memory"
