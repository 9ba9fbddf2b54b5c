"""Sequence's cards, board and actions as numbers.

A card is written as rank and suit: `2s`, `th`, `jd`. Cards 0 .. 47 are the ordinary ones, each of which stands on two
cells of the board; 48 .. 51 are the jacks `jd`, `jc` (two-eyed: a chip on any empty cell) and `jh`, `js` (one-eyed:
take away a chip of the other side). Everything is there twice: 104 cards.

A cell is 10 * row + column, row 0 on top; its name is the column's letter and the row counted from 1: cell 61 is `b7`.
The four corners belong to everybody and are never played on. The other 96 cells, counted in the same order, are the
squares 0 .. 95.

An action is what one does with a card, its *move*, and which of the (at most five) face-up cards one takes for it:

    action = 528 * slot + move        move   0 ..  95   place the square's own card there
    2640   decline to trade                 96 .. 191   place jd on square move - 96;  192 .. 287  the same with jc
    2641   pass                            288 .. 383   remove the chip with jh;       384 .. 479  with js
                                           480 .. 527   trade the dead card move - 480

Where nothing lies face up (the boxed rules), the slot is 0.
"""

from __future__ import annotations

import numpy as np

# ---- cards ----

RANKS, SUITS = "23456789tqka", "shdc"
JACKS = ("jd", "jc", "jh", "js")
CARDS = (*(rank + suit for suit in SUITS for rank in RANKS), *JACKS)
ORDINARY, KINDS, COPIES = 48, 52, 2
JD, JC, JH, JS = range(ORDINARY, KINDS)
ALL_CARDS = COPIES * KINDS
NUMBER_OF = {name: number for number, name in enumerate(CARDS)}
NO_CARD = -1

# ---- board ----

SIZE, CELLS, SQUARES = 10, 100, 96
LAYOUT = """
jk 2s 3s 4s 5s 6s 7s 8s 9s jk
6c 5c 4c 3c 2c ah kh qh th ts
7c as 2d 3d 4d 5d 6d 7d 9h qs
8c ks 6c 5c 4c 3c 2c 8d 8h ks
9c qs 7c 6h 5h 4h ah 9d 7h as
tc ts 8c 7h 2h 3h kh td 6h 2d
qc 9s 9c 8h 9h th qh qd 5h 3d
kc 8s tc qc kc ac ad kd 4h 4d
ac 7s 6s 5s 4s 3s 2s 2h 3h 5d
jk ad kd qd td 9d 8d 7d 6d jk
"""
CORNERS = (0, 9, 90, 99)
HEARTS = (44, 45, 54, 55)  # 5h 4h 2h 3h in the middle: the heart block
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))  # down, right, down-right, down-left: the order of looking at lines
STEPS = np.array(DIRECTIONS, np.int8)  # [4, 2]
EMPTY, RED, BLUE, LOCKED_RED, LOCKED_BLUE, CORNER = range(6)  # what a cell holds
CHIP, LOCKED = RED, LOCKED_RED  # a side's marks are CHIP + side and LOCKED + side

_cards = [NUMBER_OF.get(name, NO_CARD) for name in LAYOUT.split()]
CARD_AT = np.array(_cards, np.int8)  # [100] the cell's card; -1 at a corner
SPOTS = np.array([[c for c in range(CELLS) if _cards[c] == card] for card in range(ORDINARY)], np.int8)  # [48, 2]
CELL_OF = np.array([cell for cell in range(CELLS) if cell not in CORNERS], np.int8)  # [96] square -> cell
SQUARE_OF = np.full(CELLS, -1, np.int8)  # [100] cell -> square; -1 at a corner
SQUARE_OF[CELL_OF] = range(SQUARES)


def line_of(cell: int, down: int, right: int, length: int) -> list[int]:
    """The cells from `cell` on, as far as the board reaches."""
    steps = [(cell // SIZE + k * down, cell % SIZE + k * right) for k in range(length)]
    return [SIZE * row + column for row, column in steps if 0 <= row < SIZE and 0 <= column < SIZE]


_windows = [line_of(cell, *step, 5) for step in DIRECTIONS for cell in range(CELLS)]
WINDOWS = np.array([window for window in _windows if len(window) == 5], np.int8)  # [192, 5] cells of each line of five
WINDOWS_AT = np.full((CELLS, 20), -1, np.int16)  # [100, 20] the windows that a cell lies in, then -1
for _cell in range(CELLS):
    _found = [index for index, window in enumerate(WINDOWS.tolist()) if _cell in window]
    WINDOWS_AT[_cell, : len(_found)] = _found

# ---- play ----

COURSE, BOXED = range(2)  # the rule sets, as the setting `rules` numbers them
MOST_SEATS, MOST_HELD = 4, 7
WIN = 2  # sequences that win
MOST_RESHUFFLES = 3
OPEN = -1  # in `drawn`: everybody knows that the card is in this hand


def hand_size(rules: int, seats: int) -> int:
    """How many cards a seat is dealt."""
    return 7 if rules == BOXED and seats == 2 else 6


# ---- actions ----

SLOTS = 5  # cards that lie face up
TRADES = 5 * SQUARES  # the first move that is a trade
MOVES = TRADES + ORDINARY
DECLINE, PASS = SLOTS * MOVES, SLOTS * MOVES + 1
ACTIONS = SLOTS * MOVES + 2
BY_CARD, BY_JD, BY_JC, BY_JH, BY_JS = range(5)  # move // SQUARES, below TRADES


_moves: list[int] = [
    *(_cards[cell] for cell in CELL_OF),
    *(jack for jack in range(JD, KINDS) for _ in CELL_OF),
    *range(ORDINARY),
]
MOVE_CARD = np.array(_moves, np.int8)  # [528] the card that a move plays


def cell_name(cell: int) -> str:
    """`b7` for row 6, column 1."""
    return f"{'abcdefghij'[cell % SIZE]}{cell // SIZE + 1}"


def move_name(move: int) -> str:
    """`place 2s b1`, `remove d4 with js`, `trade 2s`."""
    card, cell = CARDS[_moves[move]], cell_name(int(CELL_OF[move % SQUARES]))
    if move >= TRADES:
        return f"trade {card}"
    return f"remove {cell} with {card}" if move // SQUARES >= BY_JH else f"place {card} {cell}"
