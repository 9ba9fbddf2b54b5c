"""A browser and a server for the tests of the page; without a browser they skip with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsing import PATIENCE, Person
from served import Served, serving

ROOT = Path(__file__).parents[3]
TINY = ROOT / "tests" / "tiny_games"
OWN_GAMES = [str(ROOT / "examples" / "three_in_a_row.py"), str(TINY / "hops.py"), str(TINY / "race.py")]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`: Playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("server"), games=OWN_GAMES, agents=["minimax:time=9"]) as served:
        yield served


@pytest.fixture
def persons(chromium: Any, served: Served) -> Iterator[Any]:
    """A function that opens a browser window; no window may have an error in its console."""
    contexts, faults = list[Any](), list[str]()

    def person(width: int = 1280, height: int = 900, **options: Any) -> Person:
        options = {"reduced_motion": "reduce", "color_scheme": "light", **options}
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"http://{served.host}/?token={served.trust.token}")
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if line.type in ("error", "warning") else None)
        return Person(page, f"http://{served.host}/")

    yield person
    for context in contexts:
        context.close()
    assert not faults, faults


@pytest.fixture
def person(persons: Any) -> Person:
    return persons()
