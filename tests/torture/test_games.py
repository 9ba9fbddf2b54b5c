"""The proof of the rules against their twins: it finds nothing, and it would find a difference."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import JIT
from torture import games

pytestmark = [pytest.mark.once, pytest.mark.skipif(not JIT, reason="too slow without the compiler")]


def at_once() -> bool:
    return True


def test_the_rules_agree_with_their_twins_for_some_seconds() -> None:
    report = games.run(seed=0, seconds=4.0)
    assert report.findings == []
    assert all(report.counts[f"plies of {word}"] > 0 for word in games.WORDS)


@pytest.mark.parametrize("word", ["connect_four", "chess", "paco_sako", "sequence:rules=boxed"])
def test_a_difference_is_found(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = games.Comparison(word, 0, 2)
    assert comparison.play(at_once) == []
    monkeypatch.setattr(comparison.follower.twins[1], "legal", set)
    assert "only one side has" in comparison.play(at_once)[0]


@pytest.mark.parametrize("word", ["connect_four", "chess", "paco_sako", "sequence"])
def test_another_state_and_another_text_are_found(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("state", "texts"):
        comparison = games.Comparison(word, 0, 2)
        comparison.compare(*comparison.step())
        comparison.steps = 0  # texts are compared again
        monkeypatch.setattr(comparison.follower.twins[1], method, lambda *_: ["another"])
        assert "'another'] for the twin" in comparison.play(at_once)[0]


def test_twins_in_a_process_of_their_own_compare_every_ply_and_report_what_differs() -> None:
    comparison = games.Comparison("connect_four", 0, 4, apart=True)
    assert comparison.play(lambda: comparison.games >= 8) == []
    assert comparison.plies > 8 * 7

    broken = games.Comparison("connect_four", 0, 4, apart=True)
    columns = broken.kind.columns

    def drawn_from_ply_20(states: Any) -> Any:
        cells, outcomes = columns(states)
        return [cells, ["DRAW" if broken.steps == 20 else outcome for outcome in outcomes]]

    broken.kind.columns = drawn_from_ply_20
    (finding,) = broken.play(lambda: broken.steps == 22)
    assert "'DRAW'] is [" in finding
    assert finding.endswith("for the twin (seed 0)")


def test_a_twin_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = games.Comparison("connect_four", 0, 2, apart=True)
    monkeypatch.setattr(comparison, "described", lambda *_: [["no row"]])
    assert comparison.play(at_once) == ["the process of the twin ended with code 1 (seed 0)"]


# ---- chess beside its compiled twin ----


@pytest.mark.parametrize("word", ["chess", "chess:draws=automatic"])
def test_chess_agrees_with_its_compiled_twin_and_with_python_chess_in_the_first_row(word: str) -> None:
    comparison = games.ManyChess(word, 0, 64)
    assert comparison.play(lambda: comparison.games >= 64) == []
    assert comparison.follower.plies == comparison.steps
    assert set(comparison.twins["automatic"]) == {word != "chess"}


@pytest.mark.parametrize("field", [*games.FIELDS, "check", "count", "actions"])
def test_a_difference_in_any_field_of_the_compiled_twin_is_found(field: str) -> None:
    comparison = games.ManyChess("chess", 0, 8)
    assert comparison.play(lambda: comparison.steps == 3) == []
    comparison.twins[field][5] ^= 1
    findings = comparison.play(at_once)
    assert any(f"chess: {field.replace('actions', 'legal')} " in finding for finding in findings)


def test_a_difference_in_a_final_position_is_found() -> None:
    comparison = games.ManyChess("chess", 0, 64)
    findings: list[str] = []
    while comparison.games == 0:
        before, actions, ended = comparison.step()
        comparison.batch.next_states["ending"][ended] += 1
        findings = comparison.compare(before, actions, ended)
    assert [" ending " in finding for finding in findings] == [True]
