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


def described(word: str, rows: int, apart: bool = False) -> tuple[games.Comparison, games.Described]:
    comparison = games.Comparison(word, 0, rows, apart)
    (twins,) = comparison.twins
    assert isinstance(twins, games.Described)
    return comparison, twins


@pytest.mark.parametrize("word", ["connect_four", "chess"])
def test_a_difference_is_found(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison, twins = described(word, 2)
    assert comparison.play(at_once) == []
    monkeypatch.setattr(twins.follower.twins[1], "legal", set)
    assert "only one side has" in comparison.play(at_once)[0]


@pytest.mark.parametrize("word", ["connect_four", "chess"])
def test_another_state_and_another_text_are_found(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for method in ("state", "texts"):
        comparison, twins = described(word, 2)
        comparison.compare(*comparison.step())
        comparison.steps = 0  # texts are compared again
        monkeypatch.setattr(twins.follower.twins[1], method, lambda *_: ["another"])
        assert "'another'] for the twin" in comparison.play(at_once)[0]


def test_twins_in_a_process_of_their_own_compare_every_ply_and_report_what_differs() -> None:
    comparison, _ = described("connect_four", 4, apart=True)
    assert comparison.play(lambda: comparison.games >= 8) == []
    assert comparison.plies > 8 * 7

    broken, twins = described("connect_four", 4, apart=True)
    columns = twins.kind.columns

    def drawn_from_ply_20(states: Any) -> Any:
        cells, outcomes = columns(states)
        return [cells, ["DRAW" if broken.steps == 20 else outcome for outcome in outcomes]]

    twins.kind.columns = drawn_from_ply_20
    (finding,) = broken.play(lambda: broken.steps == 22)
    assert "'DRAW'] is [" in finding
    assert finding.endswith("for the twin (seed 0)")


def test_a_twin_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison, twins = described("connect_four", 2, apart=True)
    monkeypatch.setattr(twins, "described", lambda *_: [["no row"]])
    assert comparison.play(at_once) == ["the process of the twin ended with code 1 (seed 0)"]


# ---- compiled twins ----


RENAMED = {"actions": "legal", "board": "pieces", "chips": "board", "piles": "hands", "scores": "sequences"}
"""field of a twin: what a finding calls it"""
FIELDS = [
    *(("chess", field) for field in (*games.CompiledChess.fields, "check")),
    *(("paco_sako", field) for field in (*games.CompiledPacoSako.fields, "board")),
    *(("sequence", field) for field in (*games.CompiledSequence.fields, "chips", "piles", "scores", "traded")),
    *((word, field) for word in games.COMPILED for field in ("count", "actions")),
]


def compiled(word: str, rows: int) -> tuple[games.Comparison, games.Compiled]:
    comparison = games.Comparison(word, 0, rows, many=True)
    twins = comparison.twins[0]
    assert isinstance(twins, games.Compiled)
    return comparison, twins


@pytest.mark.parametrize("word", [word for word in games.WORDS if word.partition(":")[0] in games.COMPILED])
def test_the_rules_agree_with_their_compiled_twins(word: str) -> None:
    comparison, _ = compiled(word, 64)
    assert comparison.play(lambda: comparison.games >= 64) == []


@pytest.mark.parametrize("word", ["chess", "chess:draws=automatic"])
def test_python_chess_follows_the_first_row(word: str) -> None:
    comparison, twins = compiled(word, 8)
    assert comparison.play(lambda: comparison.steps >= 40) == []
    others = comparison.twins[1]
    assert isinstance(others, games.Described)
    assert others.follower.plies == comparison.steps
    assert set(twins.twins["automatic"]) == {word != "chess"}


@pytest.mark.parametrize(("word", "field"), FIELDS)
def test_a_difference_in_any_field_of_a_compiled_twin_is_found(word: str, field: str) -> None:
    comparison, twins = compiled(word, 8)
    assert comparison.play(lambda: comparison.steps == 3) == []
    twins.twins[field][5] ^= 1
    findings = comparison.play(at_once)
    assert any(finding.startswith(f"{word}: {RENAMED.get(field, field)} ") for finding in findings)


@pytest.mark.parametrize("number", range(games.paco_sako.PIECES))
def test_a_difference_in_any_number_of_the_twin_of_paco_sako_is_found(number: int) -> None:
    comparison, twins = compiled("paco_sako", 8)
    assert comparison.play(lambda: comparison.steps == 3) == []
    twins.twins["board"][5, number] += 1
    assert len(comparison.play(at_once)) == 1


@pytest.mark.parametrize(("word", "field"), [("chess", "ending"), ("paco_sako", "idle"), ("sequence", "outcome")])
def test_a_difference_in_a_final_position_is_found(word: str, field: str) -> None:
    comparison, _ = compiled(word, 64)
    findings: list[str] = []
    while comparison.games == 0:
        before, actions, ended = comparison.step()
        comparison.batch.next_states[field][ended] += 1
        findings = comparison.compare(before, actions, ended)
    assert [f" {field} " in finding for finding in findings] == [True]


@pytest.mark.parametrize("word", ["paco_sako", "sequence"])
def test_another_text_of_a_compiled_twin_is_found(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    comparison, twins = compiled(word, 8)
    monkeypatch.setattr(twins.naive, "name", lambda *_: "another")
    assert "'another'] for the twin" in comparison.play(at_once)[0]


def test_a_deck_that_is_no_shuffle_of_the_discards_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison, twins = compiled("sequence:rules=boxed", 64)
    monkeypatch.setattr(twins, "tell_chance", lambda *_: None)
    assert any(" deck [" in finding for finding in comparison.play(lambda: comparison.games >= 64))
