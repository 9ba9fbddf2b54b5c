"""Template: exact scores of Connect Four positions. (It has no slots: there is one game it solves.)

The score of a position is 22 less the stones the winner will have played, negative if the side to move loses, 0 for a
draw. The search asks one yes-no question at a time, "is the score above alpha?" (a null window), and bisects:

* a move that wins at once is always found, and one that lets the opponent win at once is never searched;
* moves that make more threats come first, then those nearer to the centre; where the table's bound of one move answers
  the question, no move is searched;
* the transposition table stores a position's key, a lower and an upper bound, packed into 64 bits. A word is read and
  written whole, so that threads may share a table; and the key is complete, so that no position is taken for another.

The search is a loop with a stack, since compiled code that is cached cannot recurse. Its steps are inlined before they
are compiled, and arrays are read out of their NamedTuples before the loop: both would count references at each node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import ONE, S1, S6, ZERO, popcount
from plyground.games.connect_four.rules import COLUMN, COLUMNS, MAX_PLIES, has_four, mirrored, playable, winning_cells
from plyground.games.connect_four.solver.arrays import Bits, Boards, Known, Scores, Stack, Watch

Int = Any  # in compiled code a whole number is a literal, an int or an np.int64

UNKNOWN = -128  # a score that was not found in time
NODES_PER_LOOK = 1024  # between two reads of the flag that stops a search
TABLE_UNTIL = 35  # from this ply on, searching is cheaper than the table
KNOWN_MOVES_UNTIL = 28  # from this ply on, looking moves up in the table costs more than it saves

# An entry of the table, from its low bits: upper bound (6), lower bound (6), key (49), worth keeping (3).
SIX_BITS, KEY_BITS = np.uint64(2**6 - 1), np.uint64(2**49 - 1)
S12, S61 = np.uint64(12), np.uint64(61)
OFFSET = 32  # makes a bound positive
SCATTER = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def score_all(boards: Boards, known: Known, watch: Watch, stack: Stack) -> None:
    """The exact score of each position, for the side to move."""
    for i in range(len(boards.mine)):
        bounds = np.int64(boards.least[i]), np.int64(boards.most[i])
        boards.scores[i] = score(boards.mine[i], boards.theirs[i], bounds, known, watch, stack)


@njit
def score(mine: np.uint64, theirs: np.uint64, bounds: tuple[Int, Int], known: Known, watch: Watch, stack: Stack) -> Int:
    """The exact score of one position, or UNKNOWN; bounds: those of `Boards`, least and most."""
    taken = mine | theirs
    ply = popcount(taken)
    if has_four(theirs):
        return popcount(theirs) - 22
    if winning_cells(mine, taken) & playable(taken) != ZERO:
        return (43 - ply) // 2
    low, high = max(-((42 - ply) // 2), bounds[0]), min((41 - ply) // 2, bounds[1])
    stack.mine[0], stack.theirs[0] = mine, theirs
    while low < high:
        alpha = question(low, high)
        value = bound(ply, alpha, known, watch, stack)
        if value == UNKNOWN:
            return UNKNOWN
        if value > alpha:
            low = value
        else:
            high = value
    return low


@njit
def question(low: Int, high: Int) -> Int:
    """The next alpha: halves are taken towards 0, since scores near it are the commonest, and the cheapest to prove."""
    middle = low + (high - low) // 2
    if middle <= 0 and low // 2 < middle:
        return low // 2
    if middle >= 0 and high // 2 > middle:
        return high // 2
    return middle


@njit
def bound(ply: Int, alpha: Int, known: Known, watch: Watch, stack: Stack) -> Int:
    """A bound of the root's score: a lower one if it is above alpha, otherwise an upper one.

    The root is on the stack; its side to move cannot win at once.
    """
    mine, theirs, keys, cells, threats = stack.mine, stack.theirs, stack.keys, stack.cells, stack.threats
    counts, tried, best, table = stack.counts, stack.tried, stack.best, known.table
    shift = np.uint64(64 - popcount(np.uint64(len(table) - 1)))
    threat = winning_cells(theirs[0], mine[0] | theirs[0])
    level = 0
    while True:
        # A new node: the mover cannot win at once, `threat` are the opponent's winning cells.
        watch.nodes[0] += 1
        if watch.nodes[0] % NODES_PER_LOOK == 0 and watch.stop[0]:
            return UNKNOWN
        me, taken = mine[level], mine[level] | theirs[level]
        possible = safe_moves(taken, threat)
        done, value = score_without_search(possible, ply, alpha)
        if not done and ply == known.book_ply:
            value = looked_up(me, taken, known.book_keys, known.book_scores)
            done = value != UNKNOWN
        if not done and ply < TABLE_UNTIL:
            keys[level] = me + taken
            done, value = answer(find(table, shift, keys[level]), alpha)
        if not done:
            counts[level] = order(me, theirs[level], possible, cells[level], threats[level])
            tried[level], best[level] = 0, lowest(ply)
            k = 0
            while ply < KNOWN_MOVES_UNTIL and k < counts[level] and not done:
                entry = find(table, shift, theirs[level] + (taken | cells[level, k]))
                done = entry != ZERO and -upper_bound(entry) > alpha
                value = -upper_bound(entry)
                k += 1
        # Go back up from nodes that are done, until one has a move left.
        while done or tried[level] == counts[level] or best[level] > alpha:
            if not done:
                value = best[level]
                if ply < TABLE_UNTIL:
                    store(table, shift, keys[level], ply, value > alpha, value)
            done = False
            if level == 0:
                return value
            level, alpha, ply = level - 1, -alpha - 1, ply - 1
            best[level] = max(best[level], -value)
        k = tried[level]
        tried[level] += 1
        threat = threats[level, k]
        mine[level + 1], theirs[level + 1] = theirs[level], mine[level] | cells[level, k]
        level, alpha, ply = level + 1, -alpha - 1, ply + 1


@njit(inline="always")
def lowest(ply: Int) -> Int:
    """The lowest score where nobody wins with the next stone or the one after."""
    return -((40 - ply) // 2)


@njit(inline="always")
def highest(ply: Int) -> Int:
    """The highest score where the mover cannot win at once."""
    return (41 - ply) // 2


@njit(inline="always")
def safe_moves(taken: np.uint64, threat: np.uint64) -> np.uint64:
    """The moves after which the opponent, whose winning cells are `threat`, cannot win at once."""
    possible = playable(taken)
    forced = possible & threat
    if forced != ZERO:
        possible = forced if forced & (forced - ONE) == ZERO else ZERO
    return possible & ~(threat >> S1)  # a stone under a winning cell of the opponent hands it over


@njit(inline="always")
def score_without_search(possible: np.uint64, ply: Int, alpha: Int) -> tuple[bool, Int]:
    """Whether the safe moves and the ply alone answer "is the score above alpha?", and the bound that does."""
    if possible == ZERO:
        return True, -((42 - ply) // 2)
    if ply >= MAX_PLIES - 2:
        return True, 0
    if lowest(ply) > alpha:
        return True, lowest(ply)
    return highest(ply) <= alpha, highest(ply)


@njit(inline="always")
def answer(entry: np.uint64, alpha: Int) -> tuple[bool, Int]:
    """Whether an entry of the table answers "is the score above alpha?", and the bound that does."""
    if entry != ZERO and lower_bound(entry) > alpha:
        return True, lower_bound(entry)
    return entry != ZERO and upper_bound(entry) <= alpha, upper_bound(entry)


@njit
def order(mine: np.uint64, theirs: np.uint64, possible: np.uint64, cells: Bits, threats: Bits) -> Int:
    """Write the moves, those with most threats first, from the centre outwards; returns how many there are."""
    taken = mine | theirs
    count = 0
    for k in range(COLUMNS):
        column = COLUMNS // 2 + ((k + 1) // 2) * (1 - 2 * (k % 2))  # 3 2 4 1 5 0 6
        cell = possible & (COLUMN << np.uint64(7 * column))
        if cell != ZERO:
            makes = winning_cells(mine | cell, taken | cell)
            number, j = popcount(makes), count
            while j > 0 and popcount(threats[j - 1]) < number:
                cells[j], threats[j] = cells[j - 1], threats[j - 1]
                j -= 1
            cells[j], threats[j] = cell, makes
            count += 1
    return count


# ---- the table: pairs of entries; the first of a pair keeps the position that cost most to search ----


@njit
def find(table: Bits, shift: np.uint64, key: np.uint64) -> np.uint64:
    """The table's entry of a position, or zero."""
    slot = np.int64((key * SCATTER) >> shift)
    entry = table[slot]
    if (entry >> S12) & KEY_BITS != key:
        entry = table[slot ^ 1]
        if (entry >> S12) & KEY_BITS != key:
            return ZERO
    return entry


@njit
def lower_bound(entry: np.uint64) -> Int:
    return np.int64((entry >> S6) & SIX_BITS) - OFFSET


@njit
def upper_bound(entry: np.uint64) -> Int:
    return np.int64(entry & SIX_BITS) - OFFSET


@njit
def store(table: Bits, shift: np.uint64, key: np.uint64, ply: Int, above: bool, value: Int) -> None:
    """Add a bound to a position's entry."""
    lower, upper = lowest(ply), highest(ply)
    worth = np.uint64((MAX_PLIES - ply) // 6)
    slot = np.int64((key * SCATTER) >> shift)
    entry = find(table, shift, key)
    if entry != ZERO:
        lower, upper = lower_bound(entry), upper_bound(entry)
        if (table[slot] >> S12) & KEY_BITS != key:
            slot ^= 1
    elif slot % 2 == 0 and table[slot] >> S61 > worth:
        slot ^= 1
    if above:
        lower = max(lower, value)
    else:
        upper = min(upper, value)
    table[slot] = (worth << S61) | (key << S12) | (np.uint64(lower + OFFSET) << S6) | np.uint64(upper + OFFSET)


# ---- the book ----


@njit
def looked_up(mine: np.uint64, taken: np.uint64, keys: Bits, scores: Scores) -> Int:
    """The score in the book, or UNKNOWN."""
    key = min(mine + taken, mirrored(mine) + mirrored(taken))
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return np.int64(scores[low]) if low < len(keys) and keys[low] == key else UNKNOWN


@njit(cache=True, nogil=True)
def boards_after_a_move(mine: Bits, theirs: Bits, next_mine: Bits, next_theirs: Bits) -> Int:
    """Every board one move after the boards [N] of running games, in its smaller mirror image.

    The outputs have room for [7 N]; returns the number of boards written. Games that the move ends are left out.
    """
    count = 0
    for i in range(len(mine)):
        free = playable(mine[i] | theirs[i])
        for column in range(COLUMNS):
            cell = free & (COLUMN << np.uint64(7 * column))
            me, them = theirs[i], mine[i] | cell
            if cell != ZERO and not has_four(them):
                other_me, other_them = mirrored(me), mirrored(them)
                if other_me + (other_me | other_them) < me + (me | them):
                    me, them = other_me, other_them
                next_mine[count], next_theirs[count] = me, them
                count += 1
    return count


@njit(cache=True, nogil=True)
def worth_knowing(mine: Bits, theirs: Bits, out: NDArray[np.bool_]) -> None:
    """[N] whether a search looks the board up in the book: nobody wins with the next stone."""
    for i in range(len(mine)):
        taken = mine[i] | theirs[i]
        wins = winning_cells(mine[i], taken) & playable(taken) != ZERO
        out[i] = not wins and safe_moves(taken, winning_cells(theirs[i], taken)) != ZERO
