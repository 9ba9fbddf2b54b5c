"""Template: exact scores of Connect Four positions. (It has no slots: there is one game it solves.)

The score of a position is 22 less the stones the winner will have played, negative if the side to move loses, 0 for a
draw. The search asks one yes-no question at a time, "is the score above alpha?" (a null window), and bisects:

* a move that wins at once is never missed, one that lets the opponent win at once is never looked at;
* moves that make more threats come first, then those nearer to the centre; where a move is already known to answer
  the question, none is searched;
* a table remembers what is known of a position: its key and a lower and an upper bound, packed into 64 bits. A word is
  read and written whole, so that threads may share a table; and the key is complete, so that none is mistaken.

It is a loop with a stack, since compiled code that is to be cached cannot recurse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import popcount
from plyground.games.connect_four.rules import (
    COLUMN,
    COLUMNS,
    MAX_PLIES,
    ONE,
    S1,
    S6,
    ZERO,
    has_four,
    playable,
    winning_cells,
)

Bits = NDArray[np.uint64]
Ints = NDArray[np.int64]
Scores = NDArray[np.int8]
Int = Any  # in compiled code a whole number is a literal, an int or an np.int64

UNKNOWN = -128  # a score that was not found in time
LOOKS = 1024  # nodes between two looks at the flag that stops a search
TABLE_UNTIL = 35  # from this ply on, searching is cheaper than remembering
KNOWN_MOVES_UNTIL = 28  # from this ply on, looking moves up in the table costs more than it saves

# An entry of the table, from its low bits: upper bound (6), lower bound (6), key (49), worth keeping (3).
SIX_BITS, KEY_BITS = np.uint64(2**6 - 1), np.uint64(2**49 - 1)
S12, S61 = np.uint64(12), np.uint64(61)
OFFSET = 32  # makes a bound positive
SCATTER = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def score_all(
    mine: Bits,  # [N] the stones of the side to move
    theirs: Bits,  # [N]
    scores: Scores,  # [N] out; UNKNOWN from where the search was stopped
    least: Scores,  # [N] lower bounds known beforehand
    most: Scores,  # [N] a score of at least this much need not be found exactly
    table: Bits,  # [a power of 2], zeros at first; only here it is written
    book_keys: Bits,  # [B] ascending, of positions of `book_ply` plies in their smaller mirror image
    book_scores: Scores,  # [B]
    book_ply: Int,
    stop: NDArray[np.bool_],  # [1] set it to end the search
    nodes: Ints,  # [1] counts the positions looked at
) -> None:
    """The exact score of each position, for the side to move."""
    shift = np.uint64(64 - popcount(np.uint64(len(table) - 1)))
    cells, threats = np.zeros((MAX_PLIES, COLUMNS), np.uint64), np.zeros((MAX_PLIES, COLUMNS), np.uint64)
    boards, places = np.zeros((3, MAX_PLIES + 1), np.uint64), np.zeros((3, MAX_PLIES + 1), np.int64)
    for i in range(len(mine)):
        scores[i] = score(
            *(mine[i], theirs[i], least[i], most[i], table, shift, book_keys, book_scores, book_ply, stop, nodes),
            *(cells, threats, boards, places),
        )


@njit
def score(
    mine: np.uint64,
    theirs: np.uint64,
    least: Int,
    most: Int,
    table: Bits,
    shift: np.uint64,
    book_keys: Bits,
    book_scores: Scores,
    book_ply: Int,
    stop: NDArray[np.bool_],
    nodes: Ints,
    cells: Bits,
    threats: Bits,
    boards: Bits,
    places: Ints,
) -> Int:
    """The exact score of one position, or UNKNOWN; the arguments are those of `score_all` and `bound`."""
    taken = mine | theirs
    ply = popcount(taken)
    if has_four(theirs):
        return popcount(theirs) - 22
    if winning_cells(mine, taken) & playable(taken) != ZERO:
        return (43 - ply) // 2
    low, high = max(-((42 - ply) // 2), np.int64(least)), min((41 - ply) // 2, np.int64(most))
    while low < high:
        alpha = question(low, high)
        value = bound(
            *(mine, theirs, ply, alpha, table, shift, book_keys, book_scores, book_ply, stop, nodes),
            *(cells, threats, boards, places),
        )
        if value == UNKNOWN:
            return UNKNOWN
        if value > alpha:
            low = value
        else:
            high = value
    return low


@njit
def question(low: Int, high: Int) -> Int:
    """The alpha to ask about next. Halves are taken towards 0: answers near it are the commonest, and the cheapest."""
    middle = low + (high - low) // 2
    if middle <= 0 and low // 2 < middle:
        return low // 2
    if middle >= 0 and high // 2 > middle:
        return high // 2
    return middle


@njit
def bound(
    first_mine: np.uint64,
    first_theirs: np.uint64,
    first_ply: Int,
    first_alpha: Int,
    table: Bits,
    shift: np.uint64,
    book_keys: Bits,
    book_scores: Scores,
    book_ply: Int,
    stop: NDArray[np.bool_],
    nodes: Ints,
    cells: Bits,  # [plies, 7] the moves of each node on the way down, best first
    threats: Bits,  # [plies, 7] the winning cells that each of them makes
    boards: Bits,  # [3, plies] own stones, the other's, key
    places: Ints,  # [3, plies] number of moves, the next one, the best value so far
) -> Int:
    """A bound of the score: a lower one if it is above alpha, otherwise an upper one. The mover cannot win at once."""
    mine, theirs, keys = boards[0], boards[1], boards[2]
    size, place, best = places[0], places[1], places[2]
    mine[0], theirs[0] = first_mine, first_theirs
    threat = winning_cells(first_theirs, first_mine | first_theirs)
    level, alpha, ply, value = 0, first_alpha, first_ply, 0
    while True:
        # A new node: the mover cannot win at once, `threat` are the opponent's winning cells.
        nodes[0] += 1
        if nodes[0] % LOOKS == 0 and stop[0]:
            return UNKNOWN
        me, them = mine[level], theirs[level]
        taken = me | them
        possible = playable(taken)
        forced = possible & threat
        if forced != ZERO:
            possible = forced if forced & (forced - ONE) == ZERO else ZERO
        possible &= ~(threat >> S1)  # a stone under a winning cell of the opponent hands it over
        low, high = -((40 - ply) // 2), (41 - ply) // 2  # from now on nobody wins with the next stone
        done = True
        if possible == ZERO:
            value = -((42 - ply) // 2)
        elif ply >= MAX_PLIES - 2:
            value = 0
        elif low > alpha:
            value = low
        elif high <= alpha:
            value = high
        elif ply == book_ply:
            value = looked_up(me, taken, book_keys, book_scores)
            done = value != UNKNOWN
        else:
            done = False
        if not done and ply < TABLE_UNTIL:
            keys[level] = me + taken
            entry = find(table, shift, keys[level])
            if entry != ZERO and lower_bound(entry) > alpha:
                value, done = lower_bound(entry), True
            elif entry != ZERO and upper_bound(entry) <= alpha:
                value, done = upper_bound(entry), True
        if not done:
            size[level] = order(me, them, possible, cells[level], threats[level])
            place[level], best[level] = 0, low
            if ply < KNOWN_MOVES_UNTIL:
                for k in range(size[level]):
                    entry = find(table, shift, them + (taken | cells[level, k]))
                    if entry != ZERO and -upper_bound(entry) > alpha:
                        value, done = -upper_bound(entry), True
                        break
        # Go back up from nodes that are done, until one has a move left.
        while done or place[level] == size[level] or best[level] > alpha:
            if not done:
                value = best[level]
                if ply < TABLE_UNTIL:
                    remember(table, shift, keys[level], ply, value > alpha, value)
            done = False
            if level == 0:
                return value
            level, alpha, ply = level - 1, -alpha - 1, ply - 1
            best[level] = max(best[level], -value)
        k = place[level]
        place[level] += 1
        threat = threats[level, k]
        mine[level + 1], theirs[level + 1] = theirs[level], mine[level] | cells[level, k]
        level, alpha, ply = level + 1, -alpha - 1, ply + 1


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


# ---- the table: pairs of entries, of which the first keeps what cost most to find ----


@njit
def find(table: Bits, shift: np.uint64, key: np.uint64) -> np.uint64:
    """What the table knows of a position, or zero."""
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
def remember(table: Bits, shift: np.uint64, key: np.uint64, ply: Int, above: bool, value: Int) -> None:
    """Add a bound to what the table knows of a position."""
    lower, upper = -((40 - ply) // 2), (41 - ply) // 2
    worth = np.uint64((MAX_PLIES - ply) // 6)
    slot = np.int64((key * SCATTER) >> shift)
    known = find(table, shift, key)
    if known != ZERO:
        lower, upper = lower_bound(known), upper_bound(known)
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
def mirrored(stones: np.uint64) -> np.uint64:
    """The same board seen in a mirror."""
    out = ZERO
    for column in range(COLUMNS):
        out |= ((stones >> np.uint64(7 * column)) & COLUMN) << np.uint64(42 - 7 * column)
    return out


@njit
def looked_up(mine: np.uint64, taken: np.uint64, keys: Bits, scores: Scores) -> Int:
    """The score that the book knows, or UNKNOWN."""
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

    [7 N] have room; returns how many were written. Games that the move ends are left out.
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
    """[N] whether a search would ask the book: nobody wins with the next stone."""
    for i in range(len(mine)):
        taken = mine[i] | theirs[i]
        free, threat = playable(taken), winning_cells(theirs[i], taken)
        forced = free & threat
        if forced != ZERO:
            free = forced if forced & (forced - ONE) == ZERO else ZERO
        wins = winning_cells(mine[i], taken) & playable(taken) != ZERO
        out[i] = not wins and free & ~(threat >> S1) != ZERO
