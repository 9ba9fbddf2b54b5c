"""The code in the README and in the guides runs and says what is written there."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, {}, f"{page.name}[{number}]", str(page), 0)
        if test.examples:
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    if page.name == "README.md":
        assert runner.tries > 5


def test_the_readme_names_every_file() -> None:
    """The file map lists what is there, and nothing else."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^    ([\w/]+(?:\.py|/)) ", text, re.MULTILINE))
    home = ROOT / "src" / "plyground"
    there = {path.name for path in home.glob("*.py")} | {
        f"{path.name}/" for path in home.iterdir() if (path / "__init__.py").exists()
    }
    assert listed == there - {"__init__.py"}
