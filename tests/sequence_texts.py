"""Texts of Sequence positions for tests."""

from __future__ import annotations

from collections import Counter

EMPTY = "#________#/" + "__________/" * 8 + "#________#"
REST = "2s3s4s5s6s7s8s9stsqsksas2h3h4h5h6h7h8h9hthqhkhah2d3d4d5d6d7d8d9dtdqdkdad2c3c4c5c6c7c8c9ctcqckcacjdjcjhjs"
HANDS = "2s3s4s5s6s7s,2h3h4h5h6h7h"


def text_of(board: str = EMPTY, hands: str = "", display: str = "2c3c4c5c6c", **more: str) -> str:
    """A state's text in which every card is there twice: what is not named lies in the deck (or `rest`)."""
    rest = more.pop("rest", "deck")
    named = Counter(card for word in (hands, display) for card in _split(word))
    left = Counter(2 * _split(REST))
    left.subtract(named)
    assert min(left.values()) >= 0
    parts = {"turn": "0", "hands": hands, "display": display, rest: "".join((+left).elements()), **more}
    return " ".join([board, *(f"{key}={value}" for key, value in parts.items())])


def _split(word: str) -> list[str]:
    bare = word.replace("+", "").replace("'", "").replace(",", "")
    return [bare[k : k + 2] for k in range(0, len(bare), 2)]


def board_of(**marks: str) -> str:
    """An empty board with marks: `r="b4 c4"`."""
    grid = [list(row) for row in EMPTY.split("/")]
    for mark, names in marks.items():
        for name in names.split():
            grid[int(name[1:]) - 1]["abcdefghij".index(name[0])] = mark
    return "/".join("".join(row) for row in grid)
