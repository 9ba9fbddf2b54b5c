"""Sequence's cards, board and actions as numbers."""

from __future__ import annotations

from collections import Counter

from naive.sequence import BOARD
from plyground.games.sequence import cards


def test_the_board_has_48_cards_twice_four_corners_and_no_jack() -> None:
    names = cards.LAYOUT.split()
    counts = Counter(names)
    assert counts.pop("jk") == 4
    assert len(counts) == 48
    assert set(counts.values()) == {2}
    assert not any(name[0] == "j" for name in counts)
    assert names == [name for row in BOARD for name in row]


def test_there_are_192_windows_12_with_a_corner() -> None:
    windows = [set(window) for window in cards.WINDOWS.tolist()]
    assert len(windows) == 192
    assert sum(bool(window & set(cards.CORNERS)) for window in windows) == 12
    through = [int((cards.WINDOWS_AT[cell] >= 0).sum()) for cell in range(100)]
    assert [through[cell] for cell in cards.CORNERS] == [3] * 4
    assert [through[cell] for cell in cards.HEARTS] == [20] * 4
    assert [cards.CARDS[cards.CARD_AT[cell]] for cell in cards.HEARTS] == ["5h", "4h", "2h", "3h"]


def test_every_action_number_has_its_own_name() -> None:
    names = {cards.move_name(move) for move in range(cards.MOVES)}
    assert len(names) == cards.MOVES == 528
    assert cards.ACTIONS == 5 * 528 + 2
    assert cards.cell_name(61) == "b7"
    assert {"place 2s b1", "place jd b7", "remove d4 with js", "trade 2s"} <= names
