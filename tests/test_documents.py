"""The pages about the five documents: their profiles exist, their links lead somewhere, their tables are whole."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.interop.connect_four_dqn import encode_state
from plyground.networks import count_parameters, make_network
from plyground.runs.settings import profiles

pytestmark = pytest.mark.once
FOLDER = ROOT / "docs" / "documents"
PAGES = sorted(FOLDER.glob("*.md"))
DOCUMENTS = [page for page in PAGES if page.stem not in ("index", "comparisons")]


TITLES = {
    "connect_four_dqn": "Board Representation in DQN Agent",
    "connect_zero": "Basic Setup and Play",
    "chess_dqn": "Deep Q-Network (DQN) for Chess",
    "sequence_q": "SARSA",
    "paco_sako": "Machine Learning Representation for Paco Ŝako",
}


@pytest.mark.parametrize("page", TITLES)
def test_a_document_is_found_by_its_title(page: str) -> None:
    """On its page, where the site's search finds it, and by a link from the first page and from the list."""
    words = {path: " ".join((ROOT / "docs" / path).read_text(encoding="utf-8").split()) for path in (
        f"documents/{page}.md", "documents/index.md", "index.md")}  # fmt: skip
    assert TITLES[page] in words[f"documents/{page}.md"]
    assert re.search(rf"\[[^]]*{re.escape(TITLES[page])}[^]]*\]\({page}\.md\)", words["documents/index.md"])
    assert re.search(rf"\[[^]]*{re.escape(TITLES[page])}[^]]*\]\(documents/{page}\.md\)", words["index.md"])
    assert TITLES[page] in (ROOT / "tools" / "zensical.toml").read_text(encoding="utf-8")


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


COMPUTED = {  # claims whose figures the tests below and the pages' own blocks compute
    "about 70,000 weights",
    "a raw board takes 168 bytes",
    "learned as player 1",
    "3^42",
    "without masks",
    'batches are "significantly more efficient"',
    "8 x 8 x 30",
    "3^96 boards",
}
SHOWN = re.compile(r"\]\(|`(plyground|python|train|match|collect|teach|evaluate|value_table|sequence_q_original|--)")


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.name)
def test_every_figure_of_a_claim_has_its_command_its_page_or_a_test(page: Path) -> None:
    part = page.read_text(encoding="utf-8").partition("## Claims")[2]
    rows = [re.split(r"(?<!\\)\|", row)[1:-1] for row in re.findall(r"^\|.*\|$", part, re.MULTILINE)]
    claims = {row[0].strip(): row[1] for row in rows if len(row) == 2}
    bare = [claim for claim, found in claims.items() if re.search(r"\d", found) and not SHOWN.search(found)]
    assert [claim for claim in bare if not any(claim.startswith(known) for known in COMPUTED)] == []


def test_sizes_and_counts_that_pages_state() -> None:
    four, paco = pg.load("connect_four"), pg.load("paco_sako")
    board = pg.Batch(four, 64, seed=1)
    board.random_play(9)
    for state, other in zip(board.encode("board"), board.encode("relative"), strict=True):
        assert (state.nbytes, other.nbytes) == (42, 168)
        assert np.array_equal(encode_state(state, 1), encode_state(np.array([0, 2, 1])[state], 2))
    assert four.blank.nbytes == 24
    assert round(4 * count_parameters(make_network("128-128-128", (42,), 7)) / 1000) == 158
    series = [count_parameters(make_network("connect_zero+value", (planes, 6, 7), 7)) for planes in (1, 3)]
    assert series == [355_464, 356_616]
    assert (f"{3**42:.2e}", f"{3**96:.1e}") == ("1.09e+20", "6.4e+45")
    start = paco.start()
    index = start.encode("index")
    assert (start.encode("tensor").nbytes, index.nbytes, index.astype(np.int16).nbytes) == (7680, 152, 76)
