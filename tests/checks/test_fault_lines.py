"""Faults are told with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from conftest import JIT, ROOT
from plyground.checks import laws
from plyground.checks.fault_lines import place_in_python, place_of, place_of_name
from plyground.errors import BrokenGame

pytestmark = pytest.mark.once
ROW = ROOT / "examples" / "three_in_a_row.py"


def line_of(path: Path, text: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def test_a_name_in_a_sentence_leads_to_its_definition() -> None:
    game = pg.load(ROW)
    assert place_of(game, "nothing", "`legal` lists too much") == f"{ROW}, line {line_of(ROW, 'def legal')}"
    assert place_of(game, "MAX_PLIES is too small") == f"{ROW}, line {line_of(ROW, 'NUM_ACTIONS = ')}"
    assert place_of(game, "the encoder planes-v1 is odd") == f"{ROW}, line {line_of(ROW, 'def write_planes') - 1}"
    assert place_of(game, "nothing that it defines") == str(ROW)
    assert "paco_sako/text.py, line" in place_of(pg.load("paco_sako"), "`parse` is odd")


def test_an_undefined_name_leads_to_its_first_use(tmp_path: Path) -> None:
    path = tmp_path / "unfinished.py"
    path.write_text("def legal(state):\n    return (\n        helper(state)\n    )\n\nx = helper\n")
    assert place_of_name(path, "NameError: name 'helper' is not defined") == f"{path}, line 3"
    assert place_of_name(path, "NameError: name 'other' is not defined") == ""
    assert place_of_name(path, "cannot determine the type of 'helper'") == ""


@pytest.mark.interpreted
def test_a_broken_law_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text(ROW.read_text().replace('"abc"[action % 3] + "123"[action // 3]', '"abc"[action % 3]'))
    with pytest.raises(
        BrokenGame, match=f"`action_name` does not.*; see {path}, line {line_of(path, 'def action_name')}$"
    ):
        list(laws.check(pg.load(path), 5))


@pytest.mark.interpreted
def test_an_error_names_the_line_that_raises_it(tmp_path: Path) -> None:
    path = tmp_path / "raises.py"
    path.write_text(ROW.read_text().replace("    cells[action] = 1 + side", "    cells[action + 1] = 1 + side"))
    with pytest.raises(BrokenGame, match=f"IndexError.*; see {path}, line {line_of(path, 'cells[action + 1]')}$"):
        list(laws.check(pg.load(path), 5))


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("name", "right", "wrong", "fault"),
    [
        ("draw", 'rows = [" ".join(', 'rows = [1 + " ".join(', "fails with TypeError"),
        ("draw", 'return "\\n".join(', 'shown = "\\n".join(', "returns None, not a text"),
        ("text", 'return "".join(', 'shown = "".join(', "returns None, not a text"),
        ("action_name", 'return "abc"[', 'return 1 + "abc"[', "fails with TypeError"),
        ("action_name", 'return "abc"[action % 3] + "123"[action // 3]', "return action", "returns 0, not a text"),
        ("parse", "if len(source) != 9", "if source.size != 9", "fails with AttributeError"),
    ],
)
def test_the_function_at_fault_is_named(tmp_path: Path, name: str, right: str, wrong: str, fault: str) -> None:
    """Whatever the law is about that calls it."""
    path, source = tmp_path / "broken.py", ROW.read_text()
    before, definition, after = source.partition(f"def {name}(")
    assert right in after
    path.write_text(before + definition + after.replace(right, wrong, 1))
    line = line_of(path, wrong if "fails" in fault else definition)
    with pytest.raises(BrokenGame, match=f": `{name}` {fault}.*; see {path}, line {line}$"):
        list(laws.check(pg.load(path), 5))


@pytest.mark.skipif(not JIT, reason="with the compiler off the traceback has the line")
def test_compiled_code_is_played_in_plain_python_to_find_the_line(tmp_path: Path) -> None:
    path = tmp_path / "compiled.py"
    path.write_text(ROW.read_text().replace("    cells[action] = 1 + side", "    cells[action + 1] = 1 + side"))
    found = place_in_python(pg.load(path))
    assert found.startswith(f"{path}, line {line_of(path, 'cells[action + 1]')} (IndexError")
    assert place_in_python(pg.load(ROW)) == ""
    assert pg.load(ROW).start().play("b2").text == "....x...."  # the compiler is on again
