"""The code in the README and in the guides runs and says what is written there."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT
from plyground import cli
from plyground.checks import laws

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GUIDE = ROOT / "docs" / "adding_a_game.md"


def blocks_of(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def pieces_of_a_game() -> list[str]:
    """The blocks of the guide that together are a game's file."""
    return [block for block in blocks_of(GUIDE, "python") if not block.startswith(">>>")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "my_game.py").write_text(pieces_of_a_game()[0])
    monkeypatch.chdir(tmp_path if page == GUIDE else ROOT)
    blocks = blocks_of(page, "python")
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, {}, f"{page.name}[{number}]", str(page), 0)
        if test.examples:
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    if page.name == "README.md":
        assert runner.tries > 5


def test_the_game_of_the_guide_is_the_example(tmp_path: Path) -> None:
    """Its rules alone keep the laws, and so does the whole file; both say what the example says."""
    pieces, example = pieces_of_a_game(), pg.load(str(ROOT / "examples" / "three_in_a_row.py"))
    for name, source in (("rules.py", pieces[0]), ("my_game.py", "\n\n".join(pieces))):
        (tmp_path / name).write_text(source)
        game = pg.load(str(tmp_path / name))
        assert list(laws.check(game, 16))
        one, other = game.start().play("b2").play("a1"), example.start().play("b2").play("a1")
        assert (one.text, one.names()) == (other.text, other.names())
    assert str(one) == str(other)
    assert {name for name in vars(example.rules.module) if name not in vars(game.rules.module)} <= {
        *("annotations", "NDArray", "Actions", "Rng", "State")
    }


def test_the_commands_of_the_guide_exist(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is written in one spelling, and its options are read."""
    lines = [line for block in blocks_of(GUIDE, "sh") for line in block.splitlines()]
    assert len(lines) > 5
    for line in lines:
        assert line.startswith("plyground ")
        command, *arguments = line.split()[1:]
        monkeypatch.setattr(sys, "argv", ["plyground", command, "--help"])
        with pytest.raises(SystemExit):
            cli.main()
        shown = capsys.readouterr().out
        assert [word for word in arguments if word.startswith("--") and word not in shown] == []


def test_the_readme_names_every_file() -> None:
    """The file map lists what is there, and nothing else."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^    ([\w/]+(?:\.py|/)) ", text, re.MULTILINE))
    home = ROOT / "src" / "plyground"
    there = {path.name for path in home.glob("*.py")} | {
        f"{path.name}/" for path in home.iterdir() if (path / "__init__.py").exists()
    }
    assert listed == there - {"__init__.py"}
