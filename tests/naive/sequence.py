"""Sequence on piles of cards and a board of characters, written from the rules; it shares nothing with our code.

Plain loops that numba compiles, so that it can follow a million games. Chance is not its own: it is told the shuffled
pack of each game, and the deck after each reshuffle. A card is a number, the same as ours (docs/rules/sequence.md),
and a pile is a row of an array: its cards in order, the last one on top, then NO_CARD.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

BOARD = [
    ["jk", "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "jk"],
    ["6c", "5c", "4c", "3c", "2c", "ah", "kh", "qh", "th", "ts"],
    ["7c", "as", "2d", "3d", "4d", "5d", "6d", "7d", "9h", "qs"],
    ["8c", "ks", "6c", "5c", "4c", "3c", "2c", "8d", "8h", "ks"],
    ["9c", "qs", "7c", "6h", "5h", "4h", "ah", "9d", "7h", "as"],
    ["tc", "ts", "8c", "7h", "2h", "3h", "kh", "td", "6h", "2d"],
    ["qc", "9s", "9c", "8h", "9h", "th", "qh", "qd", "5h", "3d"],
    ["kc", "8s", "tc", "qc", "kc", "ac", "ad", "kd", "4h", "4d"],
    ["ac", "7s", "6s", "5s", "4s", "3s", "2s", "2h", "3h", "5d"],
    ["jk", "ad", "kd", "qd", "td", "9d", "8d", "7d", "6d", "jk"],
]
PACK = [rank + suit for suit in "shdc" for rank in "23456789tqka"] + ["jd", "jc", "jh", "js"]  # a card's number: name
FIRST_JACK, JC, NO_CARD = PACK.index("jd"), PACK.index("jc"), -1
CARD_AT = np.array([[-1 if name == "jk" else PACK.index(name) for name in row] for row in BOARD])  # [10, 10]
EMPTY, RED, BLUE, LOCKED_RED, LOCKED_BLUE, CORNER = b"_rbXO#"
DECK, DISCARDS, DISPLAY, HANDS = range(4)  # piles; the seats' hands are the last ones
PLACE, REMOVE, TRADE, DECLINE, PASS = range(5)
RUNNING, DRAW, FIRST_WINS, SECOND_WINS = range(4)
MOST_MOVES = 1000
NOTHING = -1  # in a move, for what it does not have

TWIN = np.dtype(
    [
        ("boxed", np.bool_),
        ("seats", np.int8),
        ("compat", np.bool_),  # the setting `compat_scores`
        ("chips", np.uint8, (10, 10)),  # [row, column] EMPTY, RED, ...
        ("piles", np.int8, (HANDS + 4, 104)),
        ("next_deck", np.int8, 104),  # what the next reshuffle gives
        ("scores", np.int8, 4),  # by seat
        ("turn", np.int8),
        ("traded", np.bool_),
        ("passes", np.int8),
        ("reshuffles", np.int8),
        # What follows from these:
        ("outcome", np.int8),
        ("count", np.int32),  # of legal moves; 0 when the game is over
        ("moves", np.int8, (MOST_MOVES, 5)),  # PLACE, ...; the card; row and column; which of the face-up cards to take
        ("actions", np.int32, MOST_MOVES),  # the same moves as numbers
    ]
)
Twin = Any  # one record of TWIN
Pile = NDArray[np.int8]  # [104]
Chips = NDArray[np.uint8]  # [10, 10]
Line = NDArray[np.uint8]  # [up to 9]


# ---- cards ----


@njit
def size(pile: Pile) -> int:
    cards = 0
    while cards < len(pile) and pile[cards] != NO_CARD:
        cards += 1
    return cards


@njit
def add(pile: Pile, card: int) -> None:
    pile[size(pile)] = card


@njit
def take_out(pile: Pile, place: int) -> int:
    """Take the card of that place; those on it move down."""
    card = pile[place]
    for k in range(place, len(pile) - 1):
        pile[k] = pile[k + 1]
    pile[len(pile) - 1] = NO_CARD
    return card


@njit
def top(pile: Pile) -> int:
    return take_out(pile, size(pile) - 1)


@njit
def first_place(pile: Pile, card: int) -> int:
    place = 0
    while pile[place] != card:
        place += 1
    return place


@njit
def deal(twin: Twin) -> None:
    """Five cards face up by the course's rules, then the hands; the pack lies on the deck."""
    piles = twin["piles"]
    if not twin["boxed"]:
        for _ in range(5):
            add(piles[DISPLAY], top(piles[DECK]))
    for seat in range(twin["seats"]):
        for _ in range(7 if twin["boxed"] and twin["seats"] == 2 else 6):
            add(piles[HANDS + seat], top(piles[DECK]))


@njit
def exchange(twin: Twin, card: int, taken: int) -> bool:
    """Discard a card for another one; False if the new deck is not a shuffle of the discards."""
    piles = twin["piles"]
    hand = piles[HANDS + twin["turn"]]
    add(piles[DISCARDS], take_out(hand, first_place(hand, card)))
    if not twin["boxed"]:
        add(hand, take_out(piles[DISPLAY], taken))
        if size(piles[DECK]) > 0:
            add(piles[DISPLAY], top(piles[DECK]))
        return True
    if size(piles[DECK]) == 0 and twin["reshuffles"] < 3:
        if not np.array_equal(np.sort(twin["next_deck"]), np.sort(piles[DISCARDS])):
            return False
        piles[DECK] = twin["next_deck"]
        piles[DISCARDS] = NO_CARD
        twin["reshuffles"] += 1
    if size(piles[DECK]) > 0:
        add(hand, top(piles[DECK]))
    return True


# ---- moves ----


@njit
def list_move(twin: Twin, what: int, card: int, row: int, column: int) -> None:
    """Append a move, once for each different card that can be taken."""
    display = twin["piles"][DISPLAY]
    if twin["boxed"] or what in (DECLINE, PASS):
        append(twin, what, card, row, column, NOTHING)
        return
    for slot in range(size(display)):
        if first_place(display, display[slot]) == slot:
            append(twin, what, card, row, column, slot)


@njit
def append(twin: Twin, what: int, card: int, row: int, column: int, slot: int) -> None:
    move = twin["moves"][twin["count"]]
    move[0], move[1], move[2], move[3], move[4] = what, card, row, column, slot
    twin["actions"][twin["count"]] = action(what, card, row, column, slot)
    twin["count"] += 1


@njit
def action(what: int, card: int, row: int, column: int, slot: int) -> int:
    """The number of a move: its table is at the head of `games/sequence/cards.py`."""
    if what in (DECLINE, PASS):
        return 2640 + what - DECLINE
    square = 10 * row + column - 1  # corners are not counted
    if row > 0:
        square -= 1
    if row == 9:
        square -= 1
    number = square
    if what == TRADE:
        number = 480 + card
    elif card >= FIRST_JACK:
        number = 96 * (card - FIRST_JACK + 1) + square
    return 528 * max(slot, 0) + number


@njit
def dead(twin: Twin, card: int) -> bool:
    """Whether no empty cell shows the card. Jacks are never dead."""
    for row in range(10):
        for column in range(10):
            if CARD_AT[row, column] == card and twin["chips"][row, column] == EMPTY:
                return False
    return card < FIRST_JACK


@njit
def find_trades(twin: Twin) -> None:
    hand = twin["piles"][HANDS + twin["turn"]]
    for place in range(size(hand)):
        card = int(hand[place])
        if not twin["traded"] and dead(twin, card) and first_place(hand, card) == place:
            list_move(twin, TRADE, card, NOTHING, NOTHING)


@njit
def find_plays(twin: Twin, card: int) -> None:
    """Every cell on which a card puts a chip, or from which it takes one."""
    enemy = BLUE if twin["turn"] % 2 == 0 else RED
    for row in range(10):
        for column in range(10):
            chip = twin["chips"][row, column]
            if card > JC:
                if chip == enemy:
                    list_move(twin, REMOVE, card, row, column)
            elif chip == EMPTY and (card >= FIRST_JACK or CARD_AT[row, column] == card):
                list_move(twin, PLACE, card, row, column)


@njit
def find_moves(twin: Twin) -> None:
    """By the course's rules the question whether to trade is answered first; by the boxed ones a trade is a choice."""
    find_trades(twin)
    if twin["count"] > 0 and not twin["boxed"]:
        list_move(twin, DECLINE, NOTHING, NOTHING, NOTHING)
        return
    hand = twin["piles"][HANDS + twin["turn"]]
    for place in range(size(hand)):
        if first_place(hand, hand[place]) == place:
            find_plays(twin, int(hand[place]))
    if twin["count"] == 0:
        list_move(twin, PASS, NOTHING, NOTHING, NOTHING)


# ---- sequences ----


@njit
def line_through(chips: Chips, row: int, column: int, down: int, right: int, chip: int) -> tuple[int, Line]:
    """Up to four cells on each side, corners as own chips; and how many steps from the cell the first one is."""
    line, first, length = np.empty(9, np.uint8), 0, 0
    for k in range(-4, 5):
        y, x = row + k * down, column + k * right
        if 0 <= y < 10 and 0 <= x < 10:
            line[length] = chip if chips[y, x] == CORNER else chips[y, x]
            first = k - length
            length += 1
    return first, line[:length]


@njit
def find_five(line: Line, chip: int, locked: int, may_share: bool) -> int:
    """Where the first five begin, none of them locked or else only one, as late as possible; NOTHING if nowhere."""
    for shared in range(5, -1 if may_share else 4, -1):  # 5: none
        for start in range(len(line) - 4):
            same = 0
            for k in range(5):
                same += line[start + k] == (locked if k == shared else chip)
            if same == 5:
                return start
    return NOTHING


@njit
def count_sequences(twin: Twin, row: int, column: int) -> int:
    """How many sequences the chip just placed completes; their chips are locked."""
    chips, compat = twin["chips"], twin["compat"]
    chip, locked = (RED, LOCKED_RED) if twin["turn"] % 2 == 0 else (BLUE, LOCKED_BLUE)
    found, total, shared = np.zeros((10, 10), np.bool_), 0, False
    for down, right in ((1, 0), (0, 1), (1, 1), (1, -1)):
        first, line = line_through(chips, row, column, down, right, chip)
        start, cells = find_five(line, chip, locked, not (compat and shared)), 5
        if start == NOTHING:
            continue
        if len(line) == 9 and np.all(line == chip):
            total, cells = total + (2 if compat else 1), 9  # two sequences, which the course's program counts as three
        total += 1
        shared |= np.any(line == locked)
        for k in range(first + start, first + start + cells):
            found[row + k * down, column + k * right] = True
    if not twin["boxed"] and owns_hearts(chips, chip, locked):
        total += 2
        found[4:6, 4:6] = True
    for y in range(10):
        for x in range(10):
            if found[y, x] and chips[y, x] == chip:
                chips[y, x] = locked
    return total if compat else min(total, 2)


@njit
def owns_hearts(chips: Chips, chip: int, locked: int) -> bool:
    for row in (4, 5):
        for column in (4, 5):
            if chips[row, column] != chip and chips[row, column] != locked:
                return False
    return True


# ---- a game ----


@njit
def play(twin: Twin, played: int) -> bool:
    """Make a move; False if it is not legal."""
    number = 0
    while number < twin["count"] and twin["actions"][number] != played:
        number += 1
    if number == twin["count"]:
        return False
    what, card, row, column, slot = twin["moves"][number]
    if what in (PLACE, REMOVE, TRADE) and not exchange(twin, card, slot):
        return False
    if what == PLACE:
        twin["chips"][row, column] = RED if twin["turn"] % 2 == 0 else BLUE
        twin["scores"][twin["turn"]] += count_sequences(twin, row, column)
    elif what == REMOVE:
        twin["chips"][row, column] = EMPTY
    if what in (TRADE, DECLINE):
        twin["traded"] = True
    else:
        twin["passes"] = twin["passes"] + 1 if what == PASS else 0
        twin["traded"] = False
        twin["turn"] = (twin["turn"] + 1) % twin["seats"]
    look(twin)
    return True


@njit
def look(twin: Twin) -> None:
    """Find the outcome and the moves."""
    scores, display = twin["scores"], twin["piles"][DISPLAY]
    red, blue = scores[0] + scores[2], scores[1] + scores[3]
    no_cards = not twin["boxed"] and size(display) == 0
    twin["count"], twin["outcome"] = 0, RUNNING
    if red < 2 and blue < 2 and not no_cards and twin["passes"] < twin["seats"]:
        find_moves(twin)
    elif red == blue:
        twin["outcome"] = DRAW
    else:
        twin["outcome"] = FIRST_WINS if red > blue else SECOND_WINS


# ---- many games ----
# numba's own cache knows when this file has changed, and these functions reach no other one.


def started(packs: NDArray[np.int8], boxed: bool, seats: int, compat: bool) -> NDArray[np.void]:
    """[N] twins at the beginning of a game with shuffled packs [N, 104], of which the last card is dealt first."""
    twins = np.zeros(len(packs), TWIN)
    twins["boxed"], twins["seats"], twins["compat"] = boxed, seats, compat
    twins["chips"] = np.where(CARD_AT == NO_CARD, CORNER, EMPTY)
    twins["piles"] = NO_CARD
    twins["piles"][:, DECK] = packs
    deal_all(twins)
    return twins


@njit(cache=True)
def deal_all(twins: NDArray[np.void]) -> None:
    for k in range(len(twins)):
        deal(twins[k])
        look(twins[k])


@njit(cache=True)
def play_all(twins: NDArray[np.void], actions: NDArray[np.int32]) -> bool:
    """Make a move in each game; whether all were legal."""
    legal = True
    for k in range(len(twins)):
        legal &= play(twins[k], actions[k])
    return legal


# ---- texts ----


def rows(twin: Twin) -> list[str]:
    return [bytes(row).decode() for row in twin["chips"]]


def name(twin: Twin, played: int) -> str:
    """`place 2s b1 take jd`, `remove d4 with js`, `trade 2s`, `decline`, `pass`."""
    number = twin["actions"][: twin["count"]].tolist().index(played)
    what, card, row, column, slot = twin["moves"][number].tolist()
    square = "abcdefghij"[column] + str(row + 1)
    words = (
        f"place {PACK[card]} {square}",
        f"remove {square} with {PACK[card]}",
        f"trade {PACK[card]}",
        "decline",
        "pass",
    )
    return words[what] + (f" take {PACK[twin['piles'][DISPLAY, slot]]}" if slot != NOTHING else "")


class Counting:
    """What somebody in `seat` knows who only watches actions: names, own hand, the face-up cards."""

    def __init__(self, seats: int) -> None:
        self.known = [Counter[str]() for _ in range(seats)]
        self.gone = Counter[str]()

    def watch(self, seat: int, name: str) -> None:
        what, _, taken = name.partition(" take ")
        words = what.split()
        if words[0] in ("decline", "pass"):
            return
        card = words[3] if words[0] == "remove" else words[1]
        self.gone[card] += 1
        if self.known[seat][card]:
            self.known[seat][card] -= 1
        if taken:
            self.known[seat][taken] += 1

    def pool(self, seat: int, hand: list[str], display: list[str]) -> Counter[str]:
        pool = Counter(2 * PACK)
        pool.subtract(hand)
        pool.subtract(display)
        pool.subtract(self.gone)
        for other, known in enumerate(self.known):
            if other != seat:
                pool.subtract(known)
        return +pool
