"""The pages about the five documents: their profiles exist, their links lead somewhere, their tables are whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ROOT
from plyground.runs.settings import profiles

pytestmark = pytest.mark.once
FOLDER = ROOT / "docs" / "documents"
PAGES = sorted(FOLDER.glob("*.md"))
DOCUMENTS = [page for page in PAGES if page.stem not in ("index", "comparisons")]


def test_every_profile_that_is_a_documents_own_is_on_its_page_and_in_the_index() -> None:
    original = {name for name in profiles() if name.endswith("_original")}
    assert len(original) >= len(DOCUMENTS) == 5
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert {name for name in original if name not in index} == set()
    commands = re.findall(r"--profile (\w+)", "".join(page.read_text(encoding="utf-8") for page in DOCUMENTS))
    assert {name for name in original if name not in commands} == set()


def test_profiles_that_pages_name_exist() -> None:
    for page in PAGES:
        named = re.findall(r"plyground train --profile (\w+)", page.read_text(encoding="utf-8"))
        assert [name for name in named if name not in profiles()] == [], page.name


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_a_page_has_names_differences_and_claims(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [part for part in ("## Names", "## Otherwise", "## Claims") if part not in text] == []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(widths) == 1, f"a row of another width in {table[:80]}"
