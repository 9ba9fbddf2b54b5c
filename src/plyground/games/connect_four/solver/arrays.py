"""The arrays that the solver's kernels work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]
Longs = NDArray[np.int64]
Scores = NDArray[np.int8]


class Boards(NamedTuple):
    """The positions to solve."""

    mine: Bits  # [N] the stones of the side to move
    theirs: Bits  # [N]
    least: Scores  # [N] lower bounds that are known beforehand
    most: Scores  # [N] a score of at least this much need not be exact
    scores: Scores  # [N] out; UNKNOWN from where the search was stopped


class Known(NamedTuple):
    """The scores and bounds that are known already."""

    table: Bits  # [a power of 2] transposition table, zeros at first; threads may share it
    book_keys: Bits  # [B] ascending, of positions of `book_ply` plies in their smaller mirror image
    book_scores: Scores  # [B]
    book_ply: int


class Watch(NamedTuple):
    """How a search is stopped, and what it cost."""

    stop: NDArray[np.bool_]  # [1] set it to stop the search
    nodes: Longs  # [1] counts the positions searched


class Stack(NamedTuple):
    """The path from the root to the current node, with a row for each ply below the root."""

    mine: Bits  # [plies + 1]
    theirs: Bits  # [plies + 1]
    keys: Bits  # [plies + 1] in the transposition table
    cells: Bits  # [plies, 7] the moves, best first
    threats: Bits  # [plies, 7] the winning cells that each of them makes
    counts: Longs  # [plies + 1] number of moves
    tried: Longs  # [plies + 1] how many of them were played
    best: Longs  # [plies + 1] the highest score so far


def new_stack(plies: int, columns: int) -> Stack:
    """A stack for games of at most so many plies."""
    bits, longs = np.zeros((3, plies + 1), np.uint64), np.zeros((3, plies + 1), np.int64)
    cells, threats = np.zeros((2, plies, columns), np.uint64)
    return Stack(bits[0], bits[1], bits[2], cells, threats, longs[0], longs[1], longs[2])
