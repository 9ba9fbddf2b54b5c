"""The judgement of a Connect Four position. (Its values are compared with the naive twin in test_rules.)"""

from __future__ import annotations

from plyground.games.connect_four import evaluate, rules


def test_there_are_69_lines() -> None:
    assert evaluate.open_lines(rules.BOARD) == 69
