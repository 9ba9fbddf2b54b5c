"""Encoders by name and version."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import plyground as pg
from plyground.games.encoder import encoders_of, pick


def test_a_short_name_means_the_newest_version(connect_four: pg.Game) -> None:
    old = connect_four.encoder("planes-v1")
    rules = SimpleNamespace(ENCODERS=(replace(old, version=3), old, replace(old, version=2)))
    found = encoders_of(rules)  # type: ignore[arg-type]
    assert list(found) == ["planes-v3", "planes-v1", "planes-v2", "planes"]
    assert pick(found, "planes").version == 3
    assert pick(found, "planes-v1") is old


def test_an_unknown_encoder_gets_a_suggestion_and_none_means_the_first(connect_four: pg.Game) -> None:
    with pytest.raises(pg.UnknownName, match="no encoder 'plans'; did you mean 'planes"):
        connect_four.encoder("plans")
    assert str(connect_four.encoder()) == "planes-v1"
