"""The documentation site: every page is in it, pictures and notebooks are true, nothing is loaded from elsewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.help import COMMANDS
from plyground.learners import LEARNERS
from run_pages import shorter
from test_readme import PAGES

pytestmark = pytest.mark.once
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def tool(name: str) -> ModuleType:
    """A module of tools/."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "tools"))


SITE, REFERENCE, PICTURES = (tool(name) for name in ("build_site", "reference", "pictures"))


def named(nav: list[Any]) -> Iterator[str]:
    """The pages of a navigation, in order."""
    for entry in nav:
        for value in entry.values():
            yield from named(value) if isinstance(value, list) else [value]


def test_every_page_is_in_the_navigation() -> None:
    config = tomllib.loads(SITE.CONFIG.read_text())
    listed = list(named(config["project"]["nav"]))
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    notebooks = {f"notebooks/{each.stem}.md" for each in NOTEBOOKS}
    generated = {"reference/python.md", "reference/parts.md", "reference/commands.md", "reference/agents.md"}
    assert set(listed) == written | notebooks | generated | {"reference/settings.md", "changelog.md", "contributing.md"}
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    for link in links:
        path, _, heading = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert "://" in link or target.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.*)", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles], link


def test_pictures_have_words_for_those_who_do_not_see_them() -> None:
    for page in PAGES:
        for picture in re.findall(r"<img [^>]+>", page.read_text(encoding="utf-8")):
            assert re.search(r'alt="[^"]{9,}"', picture), f"{page}: {picture}"


def test_the_pictures_are_what_scenes_draw_today() -> None:
    kept = {path.name: path.read_text(encoding="utf-8") for path in PICTURES.FOLDER.glob("*.svg")}
    assert kept == PICTURES.drawn(), "python tools/pictures.py draws them again"


def test_the_picture_of_a_cluster_is_what_its_tool_draws() -> None:
    assert tool("scale_picture").drawn() == (DOCS / "scale.svg").read_text(encoding="utf-8")


def test_each_game_learner_and_document_has_a_page() -> None:
    assert {path.stem for path in (DOCS / "learners").glob("*.md")} == {*LEARNERS, "index"}
    for name in ("connect_four", "chess", "paco_sako", "sequence"):
        assert "pictures/" in (DOCS / "rules" / f"{name}.md").read_text(), name


def test_the_reference_has_every_public_name_with_its_docstring() -> None:
    page = REFERENCE.python_page()
    for name in pg.__all__:
        assert f"## `pg.{name}`" in page
        assert (getattr(pg, name).__doc__ or "").strip().splitlines()[0] in page, name
    assert "* `unfinished`: games truncated at the limit of plies and counted as draws" in page  # a field
    assert "* `over`" in page  # a property
    assert "position.play(move: int | str) -> Position" in page  # a method
    assert "0x" not in page, "an address of an object"
    assert "pg.agent(spec: str | Any, game: Game | str, encoder: str = '') -> Agent" in page


def test_every_command_is_among_the_tools_and_in_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = (DOCS / "tools.md").read_text(encoding="utf-8")
    monkeypatch.setattr(REFERENCE, "help_of", lambda name: f"help of {name}")
    page = REFERENCE.commands_page()
    for name in COMMANDS:
        assert re.search(rf"^\|.*`{name}[` ]", tools, re.MULTILINE), name
        assert f"### plyground {name}\n" in page, name
    monkeypatch.undo()
    assert "usage: plyground doctor" in REFERENCE.help_of("doctor")


def test_settings_and_agents_are_tables_from_the_source() -> None:
    settings, agents = REFERENCE.settings_page(), REFERENCE.agents_page()
    assert "| `clip_range` | `0.2` |" in settings
    assert all(f"\n## {name}\n" in settings for name in LEARNERS)
    assert "| connect_four | `solver` |" in agents


def test_what_a_page_loads_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://fonts.example/x.css"><script src="//cdn.example/x.js"></script>'
        '<img src="x.png"><a href="https://example.org">a link</a><a href="b.html">gone</a><a id="c" href="#c">here</a>'
    )
    (tmp_path / "a.css").write_text('@import "http://fonts.example/y.css"; a { background: url(data:x) }')
    assert SITE.external(tmp_path) == [
        "a.html: https://fonts.example/x.css",
        "a.html: //cdn.example/x.js",
        "a.css: http://fonts.example/y.css",
    ]
    assert SITE.dead_links(tmp_path) == ["a.html: b.html"]


def test_a_list_after_a_paragraph_is_a_list() -> None:
    assert SITE.lists_apart("Words:\n* one\n  more\n* two\n") == "Words:\n\n* one\n  more\n* two\n"
    assert SITE.lists_apart("```\na\n* b\n```\n") == "```\na\n* b\n```\n"


@pytest.mark.slow
def test_the_site_is_built_and_needs_no_network(tmp_path: Path) -> None:
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("Zensical is not installed")
    assert SITE.make(tmp_path) == []
    page = (tmp_path / "site" / "rules" / "paco_sako.html").read_text()
    assert "<li>A union moves like" in page.replace("<p>", "")
    assert "source/src/plyground/learners/dqn.py.html" in (tmp_path / "site" / "learners" / "dqn.html").read_text()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_stores_no_output(
    path: Path, steady_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(steady_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        code = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            continue
        assert (cell["outputs"], cell["execution_count"]) == ([], None)
        assert '"runs/' not in code, "a run of that name would be there when the notebook is run again"
        if code.startswith("%%writefile "):
            line, _, text = code.partition("\n")
            Path(line.split()[1]).write_text(text)
        else:
            exec(compile(shorter(code), f"{path.name}[{number}]", "exec"), names)  # noqa: S102 (our own notebook)
    assert "of 20 games" in capsys.readouterr().out
