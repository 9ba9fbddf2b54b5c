"""Games that several tests of search share."""

from __future__ import annotations

import pytest

import plyground as pg
from conftest import ROOT


@pytest.fixture(scope="session")
def three() -> pg.Game:
    return pg.load(str(ROOT / "examples" / "three_in_a_row.py"))
