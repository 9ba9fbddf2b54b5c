"""The command `go` of UCI: its limits, and the time that a clock leaves for a move."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

NUMBERS = ("wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate")
FLAGS = ("infinite", "ponder")
WHOLE = re.compile(r"-?[0-9]{1,18}")
MOVES_LEFT = 30  # for how many moves the clock must last, where the GUI does not say
INCREMENT = 0.75  # the share of an increment that is spent
STARTS = 0.5  # no iteration begins after this share of a move's time: it would hardly end
MOST = 4.0  # a move takes up to so many times its share of the clock
MOST_OF_CLOCK = 0.3  # and never more than this share of all that is left
LEAST = 0.001  # seconds


@dataclass(frozen=True)
class Go:
    """What a GUI asks for; times in milliseconds, 0: not given."""

    wtime: int = 0
    btime: int = 0
    winc: int = 0
    binc: int = 0
    movestogo: int = 0
    movetime: int = 0
    nodes: int = 0
    depth: int = 0
    mate: int = 0
    infinite: bool = False
    ponder: bool = False
    searchmoves: tuple[str, ...] = ()
    clock: bool = False
    """whether a clock was given: its time may be 0"""


@dataclass(frozen=True)
class Budget:
    """Seconds for a move."""

    soft: float
    """after these no further iteration begins"""
    share: float
    """what the clock has for this move: a search without iterations ends"""
    hard: float
    """every search ends"""


def read_go(words: Sequence[str]) -> Go:
    """The limits that the words after `go` name; words without a meaning are ignored."""
    numbers, flags, moves, name = dict[str, int](), dict[str, bool](), list[str](), ""
    for word in words:
        if word in NUMBERS or word in FLAGS or word == "searchmoves":
            name = word
            if word in FLAGS:
                flags[word] = True
        elif name in NUMBERS and WHOLE.fullmatch(word):
            numbers[name], name = max(0, int(word)), ""  # some GUIs let a clock run below zero
        elif name == "searchmoves":
            moves.append(word)
    if "movetime" in numbers:
        numbers["movetime"] = max(1, numbers["movetime"])  # 0 is as little as possible, not no limit
    clock = "wtime" in numbers or "btime" in numbers
    return Go(**numbers, **flags, searchmoves=tuple(moves), clock=clock)


def budget(go: Go, side: int, overhead: float) -> Budget | None:
    """The time for a move of a side (0: White), or None: there is no limit by time. `overhead` seconds may be lost
    between the GUI's clock and the engine's; no clock runs out where the time of a move is given."""
    if go.movetime:
        seconds = go.movetime / 1000
        return Budget(seconds, seconds, seconds)
    if not go.clock:
        return None
    left, added = (go.wtime, go.winc) if side == 0 else (go.btime, go.binc)
    left = max(left / 1000 - overhead, LEAST)
    share = left / min(go.movestogo or MOVES_LEFT, MOVES_LEFT) + INCREMENT * added / 1000
    most = left * (MOST_OF_CLOCK if go.movestogo != 1 else 1.0)
    hard = max(min(MOST * share, most), LEAST)
    return Budget(min(STARTS * share, hard), min(share, hard), hard)
