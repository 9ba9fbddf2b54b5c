"""The proof of the rules against their twins: it finds nothing, and it would find a difference."""

from __future__ import annotations

import pytest

import plyground as pg
from conftest import JIT
from torture import Deadline, games

pytestmark = [pytest.mark.once, pytest.mark.skipif(not JIT, reason="too slow without the compiler")]


def test_the_rules_agree_with_their_twins_for_some_seconds() -> None:
    report = games.run(seed=0, seconds=4.0)
    assert report.findings == []
    assert all(report.counts[f"plies of {word}"] > 0 for word in games.TWINS)


@pytest.mark.parametrize("word", ["connect_four", "chess", "paco_sako", "sequence:rules=boxed"])
def test_a_difference_is_found(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = games.Comparison(word, 0, 2)
    assert list(comparison.play(Deadline(0.0))) == []
    monkeypatch.setattr(comparison.twins[1], "legal", list)
    assert any("only one side has" in finding for finding in comparison.play(Deadline(0.0)))
    assert isinstance(comparison.game, pg.Game)
