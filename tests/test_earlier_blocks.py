"""The code that earlier documentation told people to write runs unchanged: `data/earlier/documented_blocks.md`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT, TESTS
from plyground.checks import laws
from run_pages import files_of, plain_blocks_of, run_page

TEXT = (TESTS / "data" / "earlier" / "documented_blocks.md").read_text(encoding="utf-8")
PAGES = dict(re.findall(r"^# (\S+\.(?:md|ipynb))\n(.*?)(?=^# \S+\.(?:md|ipynb)\n|\Z)", TEXT, re.MULTILINE | re.DOTALL))
GUIDE = PAGES["docs/adding_a_game.md"]
IN_A_FOLDER = ("docs/adding_a_game.md", "docs/own_agents.md", "docs/tutorial.md")
"""pages whose code writes files"""


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.peers] if page == "docs/interop.md" else []) for page in PAGES]
)
def test_the_code_of_an_earlier_page_runs(page: str, monkeypatch: pytest.MonkeyPatch, steady_path: Path) -> None:
    if page == "docs/interop.md":
        for package in ("pettingzoo", "pyspiel", "onnx", "sb3_contrib"):
            pytest.importorskip(package)
    (steady_path / "my_game.py").write_text(plain_blocks_of(GUIDE)[0])
    monkeypatch.chdir(steady_path if page in IN_A_FOLDER or page.endswith(".ipynb") else ROOT)
    monkeypatch.syspath_prepend(steady_path)
    _, names = run_page(Path(page).name, PAGES[page], steady_path)
    if page == "docs/own_agents.md":
        network = pg.agent(names["network"], "connect_four")
        assert pg.match("connect_four", network, "random", games=100).score > 0.65, "the learner of the page learns"


@pytest.mark.parametrize("pieces", [plain_blocks_of(GUIDE)[:1], plain_blocks_of(GUIDE)], ids=["rules", "everything"])
def test_the_game_of_the_earlier_guide_keeps_the_laws(pieces: list[str], steady_path: Path) -> None:
    (steady_path / "my_game.py").write_text("\n\n".join(pieces))
    assert list(laws.check(pg.load(str(steady_path / "my_game.py")), 16))


def test_every_page_is_there() -> None:
    assert len(PAGES) == 17
    assert sum(text.count("```python") for text in PAGES.values()) == TEXT.count("```python") > 45
    assert sum(len(files_of(text)) for text in PAGES.values()) == 3
