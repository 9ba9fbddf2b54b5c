"""Grades: positions to grade on, from a text."""

from __future__ import annotations

from typing import Any

import pytest

import plyground as pg
from plyground.arena.grade import read_positions


def test_positions_from_a_file(connect_four: pg.Game) -> None:
    states = read_positions(connect_four, "# a comment\n4455 18\n\n1212121 -18\n444\n", "here")
    assert states["ply"].tolist() == [4, 3]
    with pytest.raises(pg.InvalidText, match="line 2 of here: no column '9'"):
        read_positions(connect_four, "44\n49\n", "here")
    with pytest.raises(pg.InvalidValue, match="no positions"):
        read_positions(connect_four, "\n", "here")


def test_names_are_graded_and_a_grade_is_printed_in_words() -> None:
    grade = pg.grade("connect_four", "greedy", positions=40, games=2)
    every = grade.wdl["all"]
    assert str(grade).startswith(
        f"{every.agent:.1%} of moves keep the result in the {every.cases} of 40 positions where it can be lost"
    )
    assert "of 2 games" in str(grade)
    assert repr(grade) == f"<grade: {grade}>"
    with pytest.raises(pg.InvalidValue, match="grades need a solved game, such as connect_four; chess is not solved"):
        pg.grade("chess", "random")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agent": None}, "an agent is a spec such as 'random', .*, not None"),
        ({"positions": "x"}, "a grade needs at least 1 position, not 'x'"),
        ({"games": 3}, "an even number of games, at least 2, not 3"),
        ({"seed": "a"}, "a seed is a whole number, not 'a'"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_graded(
    connect_four: pg.Game, wrong: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect_four.rules, "grade", lambda *given, **more: pytest.fail("it is graded"))
    with pytest.raises(pg.InvalidValue, match=message):
        pg.grade(connect_four, **{"agent": "random", **wrong})
