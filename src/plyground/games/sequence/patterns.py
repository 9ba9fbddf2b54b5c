"""Sequence read as five-in-a-row: which patterns the chips form in a line, and what they are worth.

A *group* is some own chips within five neighbouring cells, with at most two empty cells between the first and the last.
It counts only if those five cells can still become a sequence: no chip of the other side among them, and at most one
chip that is locked already. A corner counts as an own chip for both sides. The number of chips, whether the group is
unbroken, and whether the cells just before and behind it are empty, make its class (o own, x other, _ empty, | edge,
# corner):

    LIVE_ONE     _o_                           one chip, both neighbours empty
    SLEEP_TWO    _oox  _o_o_  |oo_  #o_        two chips, with a gap or an end that is not empty
    LIVE_TWO     _oo_                          two neighbours, both ends empty
    SLEEP_THREE  xooo_  _o_oo_  o_o_o  #oo_    three, likewise
    LIVE_THREE   _ooo_
    CHONG_FOUR   xoooo_  oo_oo  #ooo_  Xooo_   one chip is missing, in one place (X: own, locked)
    LIVE_FOUR    _oooo_                        one chip is missing, in either of two places
    LIVE_FIVE    ooooo  #oooo  XXXXX           a sequence
    NONE         xoo_x  |ooo_x  xo_            no room for five, or too little to name

An "empty cell" here is one where a chip could lie, whoever holds the card for it: whether it can be filled depends on
hands and jacks, which these classes leave out on purpose (the encoder `planes` has them).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.errors import unknown
from plyground.games.interface import State
from plyground.games.sequence import cards

Floats = NDArray[np.float32]
Values = NDArray[np.float64]  # [2, 9]: what each class is worth, own and the opponent's

NONE, LIVE_ONE, SLEEP_TWO, LIVE_TWO, SLEEP_THREE, LIVE_THREE, CHONG_FOUR, LIVE_FOUR, LIVE_FIVE = range(9)
CLASSES = 9


_names = "NONE LIVE_ONE SLEEP_TWO LIVE_TWO SLEEP_THREE LIVE_THREE CHONG_FOUR LIVE_FOUR LIVE_FIVE"
Pattern = IntEnum("Pattern", _names, start=0)
"""the classes by name, the weakest first"""

# ---- what a pattern is worth ----

VALUES: Mapping[str, float] = {
    "NONE": 0,
    "LIVE_ONE": 1,
    "SLEEP_TWO": 2,
    "LIVE_TWO": 30,
    "SLEEP_THREE": 40,
    "LIVE_THREE": 9000,
    "CHONG_FOUR": 9000,
    "LIVE_FOUR": 10000,
    "LIVE_FIVE": 15000,
    "OPP_LIVE_THREE": 1000,
    "OPP_CHONG_FOUR": 1000,  # ours: the author gives none. For own chips it is worth what a LIVE_THREE is; so here
    "OPP_LIVE_FOUR": 12000,
    "OPP_LIVE_FIVE": 13000,
}
"""the document's values; OPP_: what it is worth to keep the opponent from it"""


def value_table(**changes: float) -> Values:
    """VALUES for compiled code, some of them changed: `value_table(LIVE_TWO=50)`."""
    for name in changes:
        if name not in VALUES:
            raise unknown("pattern value", name, VALUES)
    table = np.zeros((2, CLASSES))
    for name, value in {**VALUES, **changes}.items():
        table[int(name.startswith("OPP_")), Pattern[name.removeprefix("OPP_")]] = value
    return table


DEFAULT_VALUES = value_table()
DRAW_WEIGHT = 0.5  # what a card taken now counts beside the move; the document names the weight but gives no number

# ---- five cells as bits ----

_fives = [[k for k in range(5) if bits >> k & 1] for bits in range(32)]
COUNT = np.array([len(five) for five in _fives], np.int8)  # [32] chips among five cells
FIRST = np.array([min(five, default=0) for five in _fives], np.int8)  # [32] where the first of them lies
SPAN = np.array([max(five) - min(five) + 1 if five else 0 for five in _fives], np.int8)  # [32] cells from first to last
RANK = np.where(SPAN - COUNT > 2, 0, 4 * COUNT + 3 - (SPAN - COUNT)).astype(np.int8)  # [32] more chips, then fewer gaps
RANK[COUNT == 0] = 0
TWO_CHIPS = 4 * 2  # ranks from here on are groups of two or more


@njit
def pattern_of(chips: int, gaps: int, open_ends: bool) -> int:
    """The class of a group that has room for five."""
    live = gaps == 0 and open_ends
    if chips >= 5:
        return LIVE_FIVE
    if chips == 4:
        return LIVE_FOUR if live else CHONG_FOUR
    if chips == 3:
        return LIVE_THREE if live else SLEEP_THREE
    if chips == 2:
        return LIVE_TWO if live else SLEEP_TWO
    return LIVE_ONE if live and chips == 1 else NONE


# ---- the group through one cell ----

HERE = 5  # the bit of the cell itself among the eleven of a direction


@njit
def around(state: State, cell: int, direction: int, side: int) -> tuple[int, int, int]:
    """Eleven cells of a line, `cell` in their middle, as bits: own chips, own locked ones, cells that are closed."""
    down, right = int(cards.STEPS[direction, 0]), int(cards.STEPS[direction, 1])
    row, column = cell // cards.SIZE, cell % cards.SIZE
    own, locked, closed = 0, 0, 0
    for k in range(11):
        y, x = row + (k - HERE) * down, column + (k - HERE) * right
        if 0 <= y < cards.SIZE and 0 <= x < cards.SIZE:
            mark = state["cells"][cards.SIZE * y + x]
            if mark == cards.CHIP + side or mark == cards.CORNER:
                own |= 1 << k
            elif mark == cards.LOCKED + side:
                own |= 1 << k
                locked |= 1 << k
            elif mark != cards.EMPTY:
                closed |= 1 << k
        else:
            closed |= 1 << k
    return own, locked, closed


@njit
def look(state: State, cell: int, direction: int, side: int) -> tuple[int, int, int, int, bool, bool, int]:
    """The best group of `side` through `cell`, as if it had a chip there:

    chips in a row through the cell, gaps, more chips before and behind that row, whether the cells before and behind
    the group are empty, and the class.
    """
    own, locked, closed = around(state, cell, direction, side)
    own |= 1 << HERE
    best, rank = 0, 0
    for start in range(HERE - 4, HERE + 1):
        five = (own >> start) & 31
        room = (closed >> start) & 31 == 0 and COUNT[(locked >> start) & 31] <= 1
        if room and RANK[five] > rank:
            best, rank = five << start, RANK[five]
    if best == 0:
        return 1, 0, 0, 0, False, False, NONE
    first, last = HERE, HERE
    while (best >> (first - 1)) & 1:
        first -= 1
    while (best >> (last + 1)) & 1:
        last += 1
    front, back = bit_count(best & ((1 << first) - 1)), bit_count(best >> (last + 1))
    low, high = first, last
    for k in range(11):
        if (best >> k) & 1:
            low, high = min(low, k), max(high, k)
    connect, gaps = last - first + 1, high - low + 1 - bit_count(best)
    taken = own | closed
    open_front, open_back = (taken >> (low - 1)) & 1 == 0, (taken >> (high + 1)) & 1 == 0
    pattern = pattern_of(connect + front + back, gaps, open_front and open_back)
    return connect, gaps, front, back, open_front, open_back, pattern


@njit
def bit_count(bits: int) -> int:
    """How many of eleven bits are set."""
    return int(COUNT[bits & 31] + COUNT[(bits >> 5) & 31] + COUNT[(bits >> 10) & 31])


# ---- scores ----


@njit
def place_score(state: State, cell: int, side: int, values: Values) -> float:
    """What a chip on an empty cell makes for `side` and keeps the opponent from, over the four directions."""
    score = 0.0
    for direction in range(4):
        score += values[0, look(state, cell, direction, side)[6]]
        score += values[1, look(state, cell, direction, 1 - side)[6]]
    return score


@njit
def remove_score(state: State, cell: int, side: int, values: Values) -> float:
    """What taking away the opponent's chip is worth: each LIVE_FOUR that it breaks, and nothing else."""
    score = 0.0
    for direction in range(4):
        if look(state, cell, direction, 1 - side)[6] == LIVE_FOUR:
            score += values[0, LIVE_FOUR]
    return score


@njit
def card_score(state: State, card: int, side: int, values: Values) -> float:
    """What a card is worth in hand: the best that could be done with it now; a dead one nothing."""
    best = 0.0
    if card < cards.ORDINARY:
        for k in range(2):
            if state["cells"][cards.SPOTS[card, k]] == cards.EMPTY:
                best = max(best, place_score(state, cards.SPOTS[card, k], side, values))
        return best
    for cell in range(cards.CELLS):
        if card < cards.JH and state["cells"][cell] == cards.EMPTY:
            best = max(best, place_score(state, cell, side, values))
        elif card >= cards.JH and state["cells"][cell] == cards.CHIP + 1 - side:
            best = max(best, remove_score(state, cell, side, values))
    return best


@njit
def best_slot(state: State, side: int, values: Values) -> int:
    """The face-up card worth most, also the answer to a trade question; 0 where none lies there."""
    best, chosen = -1.0, 0
    for slot in range(state["display_size"]):
        score = card_score(state, state["display"][slot], side, values)
        if score > best:
            best, chosen = score, slot
    return chosen


@njit
def action_score(state: State, action: int, side: int, values: Values) -> float:
    """What an action does at once: place score or remove score; 0 for a trade."""
    move = action % cards.MOVES
    if action >= cards.DECLINE or move >= cards.TRADES:
        return 0.0
    cell = cards.CELL_OF[move % cards.SQUARES]
    if move // cards.SQUARES >= cards.BY_JH:
        return remove_score(state, cell, side, values)
    return place_score(state, cell, side, values)


@njit
def total_score(state: State, action: int, side: int, values: Values) -> float:
    """What an action does at once, and DRAW_WEIGHT times what the card it takes is worth."""
    score = action_score(state, action, side, values)
    if action < cards.DECLINE and state["display_size"] > 0:
        score += DRAW_WEIGHT * card_score(state, state["display"][action // cards.MOVES], side, values)
    return score


# ---- the vectors of a table learner ----

STATE_VECTOR = (
    *("SLEEP_TWO", "LIVE_TWO", "SLEEP_THREE", "LIVE_THREE", "CHONG_FOUR", "LIVE_FOUR", "LIVE_FIVE"),
    *("OPP_LIVE_FOUR", "OPP_CHONG_FOUR", "OPP_LIVE_THREE", "OPP_LIVE_FIVE"),
)
ACTION_VECTOR = (*STATE_VECTOR, "TRADE")
_places = {name: place for place, name in enumerate(STATE_VECTOR)}
PLACE = np.array(  # [2, 9] where the count of a class stands, own and the opponent's; -1: it is not counted
    [[_places.get(prefix + each.name, -1) for each in Pattern] for prefix in ("", "OPP_")], np.int8
)
_edges = [(c, d, r) for d, r in cards.DIRECTIONS for c in range(cards.CELLS) if len(cards.line_of(c, -d, -r, 2)) == 1]
_long = [line for edge in _edges if len(line := cards.line_of(*edge, cards.SIZE)) >= 5]
LENGTH = np.array([len(line) for line in _long], np.int8)  # [42] rows, columns and diagonals that have room for five
LINES = np.array([line + [0] * (cards.SIZE - len(line)) for line in _long], np.int8)  # [42, 10] their cells
LINES_AT = np.full((cards.CELLS, 4), -1, np.int8)  # [100, 4] the lines that a cell lies on, then -1
for _cell in range(cards.CELLS):
    _found = [number for number, line in enumerate(_long) if _cell in line]
    LINES_AT[_cell, : len(_found)] = _found


FIELD = 12  # bits for a line of ten cells and the edge on both sides
MARK_BITS = np.array([0, *(2 << FIELD * k for k in range(5))], np.int64)  # [6] a first cell's bit in its mark's field


@njit
def state_vector(state: State, side: int, out: Floats) -> None:
    """[11] how often each pattern occurs on all rows, columns and diagonals; see STATE_VECTOR for the order."""
    out[:] = 0
    for line in range(len(LENGTH)):
        count_line(state, line, side, -1, cards.EMPTY, out)


@njit
def lines_through(state: State, cell: int, mark: int, side: int, out: Floats) -> None:
    """[11] the same on the lines through a cell only, as if the cell held `mark`."""
    out[:] = 0
    for k in range(4):
        if LINES_AT[cell, k] >= 0:
            count_line(state, LINES_AT[cell, k], side, cell, mark, out)


@njit
def count_line(state: State, line: int, side: int, cell: int, mark: int, out: Floats) -> None:
    """Count the patterns of one line, as if `cell` held `mark`; -1: as it is."""
    length, marks = int(LENGTH[line]), 0
    for k in range(length):
        place = LINES[line, k]
        marks |= int(MARK_BITS[mark if place == cell else state["cells"][place]]) << k
    if marks == 0:
        return
    edges, corners = 1 | (2 << length), field(marks, cards.CORNER)
    mine, theirs = field(marks, cards.CHIP + side), field(marks, cards.CHIP + 1 - side)
    my_locked, their_locked = field(marks, cards.LOCKED + side), field(marks, cards.LOCKED + 1 - side)
    mine, theirs = mine | my_locked, theirs | their_locked
    count_groups(mine | corners, my_locked, corners, theirs | edges, length, 0, out)
    count_groups(theirs | corners, their_locked, corners, mine | edges, length, 1, out)


@njit
def field(marks: int, mark: int) -> int:
    """Where a line holds this mark, as bits; bit 0 is the edge before its first cell."""
    return (marks >> FIELD * int(mark - 1)) & 0xFFF


@njit
def count_groups(own: int, locked: int, corners: int, closed: int, length: int, whose: int, out: Floats) -> None:
    """Count one side's groups in a line: sequences first, then the best group, the best of the rest, and so on.

    A chip belongs to one group only, except that a sequence lends one of its chips to another, as the rules allow.
    """
    shut = closed | (closed >> 1) | (closed >> 2) | (closed >> 3) | (closed >> 4)  # where no five can start
    starts = ~shut & ((1 << (length - 3)) - 2)
    if starts == 0 or own & ((own >> 1) | (own >> 2) | (own >> 3)) == 0:
        return  # no room for five, or no two chips near enough
    done = 0
    if own & (own >> 1) & (own >> 2) & (own >> 3) & (own >> 4):
        done = sequences(locked | corners, 0, length, whose, out)
        done |= sequences(own, locked | done, length, whose, out)
    lent, free, taken = locked | done, own, own | closed
    while True:
        rank, best, where = TWO_CHIPS - 1, 0, 0
        for start in range(1, length - 3):
            five = (free >> start) & 31
            if RANK[five] > rank and (starts >> start) & 1 and COUNT[(lent >> start) & 31] <= 1:
                rank, best, where = int(RANK[five]), five, start
        if best == 0:
            return
        free &= ~(best << where)
        low = where + int(FIRST[best])
        high = low + int(SPAN[best])  # the cell behind the group
        open_ends = (taken >> (low - 1)) & 1 == 0 and (taken >> high) & 1 == 0
        add(pattern_of(COUNT[best], SPAN[best] - COUNT[best], open_ends), whose, out)


@njit
def sequences(own: int, lent: int, length: int, whose: int, out: Floats) -> int:
    """Count fives in a row that share at most one chip with those before them; the bits of their chips."""
    done = 0
    for start in range(1, length - 3):
        if (own >> start) & 31 == 31 and COUNT[((lent | done) >> start) & 31] <= 1:
            done |= 31 << start
            add(LIVE_FIVE, whose, out)
    return done


@njit
def add(pattern: int, whose: int, out: Floats) -> None:
    """Count a pattern where the vector has a place for it."""
    if PLACE[whose, pattern] >= 0:
        out[PLACE[whose, pattern]] += 1


@njit
def action_vector(state: State, action: int, out: Floats) -> None:
    """[12] the effect of an action of the side to move; see ACTION_VECTOR for the order.

    Placing: the patterns it makes in the four directions, and as OPP_ those that the opponent would have made there.
    Removing: as OPP_ the patterns that lose a chip. TRADE is 1 for a trade; a declined one has no effect.
    """
    out[:] = 0
    move, side = action % cards.MOVES, state["to_move"]
    if action >= cards.DECLINE:
        return
    if move >= cards.TRADES:
        out[len(STATE_VECTOR)] = 1
        return
    cell = cards.CELL_OF[move % cards.SQUARES]
    for direction in range(4):
        if move // cards.SQUARES < cards.BY_JH:
            add(look(state, cell, direction, side)[6], 0, out)
        add(look(state, cell, direction, 1 - side)[6], 1, out)
