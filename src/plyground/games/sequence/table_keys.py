"""Table keys for Sequence.

`patterns`: how often each of eleven patterns occurs on the board, and which of them an action makes or breaks.
`cards`: what an action leaves behind. Patterns in fewer classes, own and theirs; the cells on which either side can
then complete a sequence with the cards known to be in its hand; two-eyed jacks held, known and unseen; hearts; how
far the discards have grown. Two actions are compared by where they lead, so that a move which averts a danger is not
blamed for the danger.

Both read only what the seat may know.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.games.sequence.cards import (
    BOXED,
    BY_CARD,
    BY_JH,
    CARD_AT,
    CELL_OF,
    CHIP,
    DECLINE,
    EMPTY,
    HEARTS,
    JC,
    JD,
    KINDS,
    LOCKED,
    MOVES,
    OPEN,
    ORDINARY,
    SIZE,
    SPOTS,
    SQUARES,
    TRADES,
)
from plyground.games.sequence.patterns import (
    CHONG_FOUR,
    COUNT,
    DEFAULT_VALUES,
    HERE,
    LIVE_FIVE,
    LIVE_FOUR,
    PLACE,
    STATE_VECTOR,
    STEPS,
    around,
    card_score,
    lines_through,
    look,
    state_vector,
)
from plyground.games.table_key import TableKey

Floats = NDArray[np.float32]
Words = NDArray[np.uint64]

ZERO, ONE = np.uint64(0), np.uint64(1)
NO_DRAW = -1
FULL = math.log1p(DEFAULT_VALUES[0, LIVE_FIVE])


@njit
def on_scale(score: float) -> float:
    """A pattern score as a reward: 1 for a sequence, 0.36 for a live two. The logarithm keeps the order of scores."""
    return np.log1p(score) / FULL


@njit
def effect_of(action: int) -> int:
    """The move, whatever card it takes."""
    return action % MOVES if action < DECLINE else action


@njit
def draw_of(action: int) -> int:
    """The slot of the card it takes."""
    return action // MOVES if action < DECLINE else NO_DRAW


@njit
def draw_reward(state: State, slot: int) -> float:
    """What the card is worth in hand; 0 where nothing lies face up."""
    if slot >= state["display_size"]:
        return 0.0
    return on_scale(card_score(state, state["display"][slot], state["to_move"], DEFAULT_VALUES))


@njit
def put(word: np.uint64, bits: int, place: int, count: int, most: int) -> np.uint64:
    """A word with a count in one of its places; what is more than `most` counts as that."""
    return word | np.uint64(min(count, most)) << np.uint64(bits * place)


# ---- patterns ----

STATE_BITS, ACTION_BITS = 5, 4  # of a count in the word of a state, and in the word of an action
MOST = 2**STATE_BITS - 1
TRADE = ONE << np.uint64(ACTION_BITS * len(STATE_VECTOR))


@njit
def patterns_of_state(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: Floats) -> None:
    """`state_vector` in one word."""
    counts = notes[: len(STATE_VECTOR)]
    state_vector(state, seat % 2, counts)
    key[0] = ZERO
    for k in range(len(STATE_VECTOR)):
        key[0] = put(key[0], STATE_BITS, k, counts[k], MOST)


@njit
def patterns_of_action(state: State, effect: int, notes: Floats) -> tuple[float, np.uint64]:
    """`action_score` on the scale of rewards, and `action_vector` in one word, from one look at the patterns."""
    word, score = ZERO, 0.0
    if effect >= DECLINE:
        return 0.0, word
    if effect >= TRADES:
        return 0.0, TRADE
    cell, side, removes = CELL_OF[effect % SQUARES], state["to_move"], effect // SQUARES >= BY_JH
    for direction in range(4):
        theirs = look(state, cell, direction, 1 - side)[6]
        word += one_of(PLACE[1, theirs])
        if removes:
            score += DEFAULT_VALUES[0, LIVE_FOUR] if theirs == LIVE_FOUR else 0.0
        else:
            mine = look(state, cell, direction, side)[6]
            score += DEFAULT_VALUES[0, mine] + DEFAULT_VALUES[1, theirs]
            word += one_of(PLACE[0, mine])
    return on_scale(score), word


@njit
def one_of(place: int) -> np.uint64:
    """One occurrence of the pattern that is counted at this place."""
    return ONE << np.uint64(ACTION_BITS * place) if place >= 0 else ZERO


# ---- cards ----

BITS = 4  # of each number
CARDS_STATE = ("their known two-eyed jacks", "unseen two-eyed jacks", "half of the pack discarded")
THEIR_WILD, UNSEEN_WILD, HALF = range(len(CARDS_STATE))
CARDS_ACTION = (  # what an action leaves behind
    *("own sequences", "own ways to a sequence", "own threes", "own two-eyed jacks", "own cells to complete"),
    *("their sequences", "their ways to a sequence", "their live threes", "their known cells to complete"),
    *("own hearts", "their hearts", "trade"),
)
MY_FIVES, MY_WAYS, MY_THREES, MY_WILD, MY_CELLS = range(5)
THEIR_FIVES, THEIR_WAYS, THEIR_THREES, THEIR_CELLS, MY_HEARTS, THEIR_HEARTS, TRADED = range(5, 12)
UNSEEN, MINE, THEIRS = 0, KINDS, 2 * KINDS  # in `notes`: copies of each card, by where they may be
NOW, BEFORE, AFTER = 3 * KINDS, 3 * KINDS + 12, 3 * KINDS + 24  # and counts of patterns
CELLS_NOW = 3 * KINDS + 36  # two: own cells to complete, and the opponents'
PACK = 52
_places = {name: place for place, name in enumerate(STATE_VECTOR)}
OWN_THREE, OWN_LIVE_THREE = _places["SLEEP_THREE"], _places["LIVE_THREE"]
OWN_FOUR, OWN_LIVE_FOUR, OWN_FIVE = _places["CHONG_FOUR"], _places["LIVE_FOUR"], _places["LIVE_FIVE"]
OPP_LIVE_THREE, OPP_FOUR = _places["OPP_LIVE_THREE"], _places["OPP_CHONG_FOUR"]
OPP_LIVE_FOUR, OPP_FIVE = _places["OPP_LIVE_FOUR"], _places["OPP_LIVE_FIVE"]


@njit
def locate_cards(state: State, seat: int, notes: Floats) -> None:
    """Count the copies of each card that the seat has not seen, holds, and knows with the opponents."""
    notes[UNSEEN : UNSEEN + KINDS] = 2
    notes[MINE : MINE + 2 * KINDS] = 0
    for owner in range(state["seats"]):
        for k in range(state["held"][owner]):
            if owner == seat or state["drawn"][owner, k] == OPEN:
                card = state["hands"][owner, k]
                notes[UNSEEN + card] -= 1
                notes[MINE + card] += owner == seat
                notes[THEIRS + card] += owner % 2 != seat % 2
    for k in range(state["display_size"]):
        notes[UNSEEN + state["display"][k]] -= 1
    for k in range(state["discards_size"]):
        notes[UNSEEN + state["discards"][k]] -= 1


@njit
def completing(state: State, side: int, notes: Floats, cards: int) -> int:
    """On how many cells a side completes a sequence with the ordinary cards that `notes` counts from `cards` on."""
    found = 0
    for card in range(ORDINARY):
        for k in range(2):
            cell = SPOTS[card, k]
            if notes[cards + card] > 0 and state["cells"][cell] == EMPTY:
                best = 0
                for direction in range(4):
                    best = max(best, look(state, cell, direction, side)[6])
                found += best == LIVE_FIVE
    return found


@njit
def cards_of_state(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: Floats) -> None:
    """CARDS_STATE in one word: what no action of this turn changes."""
    side = seat % 2
    locate_cards(state, seat, notes)
    state_vector(state, side, notes[NOW : NOW + len(STATE_VECTOR)])
    notes[CELLS_NOW] = completing(state, side, notes, MINE)
    notes[CELLS_NOW + 1] = completing(state, 1 - side, notes, THEIRS)
    word = put(ZERO, BITS, THEIR_WILD, notes[THEIRS + JD] + notes[THEIRS + JC], 1)
    word = put(word, BITS, UNSEEN_WILD, notes[UNSEEN + JD] + notes[UNSEEN + JC], 1)
    key[0] = put(word, BITS, HALF, state["discards_size"] // PACK, 1)


@njit
def cards_of_action(state: State, effect: int, notes: Floats) -> tuple[float, np.uint64]:
    """The same reward as with patterns, and in one word CARDS_ACTION: what the action leaves behind."""
    if effect >= DECLINE:
        return 0.0, ZERO
    if effect >= TRADES:
        return 0.0, put(ZERO, BITS, TRADED, 1, 1)
    cell, side, kind = int(CELL_OF[effect % SQUARES]), int(state["to_move"]), effect // SQUARES
    removes, card = kind >= BY_JH, CARD_AT[cell]
    after_move(state, cell, EMPTY if removes else CHIP + side, side, notes)
    my_cells, their_cells, score = int(notes[CELLS_NOW]), int(notes[CELLS_NOW + 1]), 0.0
    completes, blocks, goes_on = False, False, False
    for direction in range(4):
        theirs = look(state, cell, direction, 1 - side)[6]
        blocks |= theirs == LIVE_FIVE
        if removes:
            score += DEFAULT_VALUES[0, LIVE_FOUR] if theirs == LIVE_FOUR else 0.0
            continue
        mine = look(state, cell, direction, side)[6]
        score += DEFAULT_VALUES[0, mine] + DEFAULT_VALUES[1, theirs]
        completes |= mine == LIVE_FIVE
        goes_on |= CHONG_FOUR <= mine <= LIVE_FOUR and next_card(state, cell, direction, side, notes)
    if not removes:
        my_cells += int(goes_on) - int(completes and notes[MINE + card] > 0)
        their_cells -= int(blocks and notes[THEIRS + card] > 0)
    wild = notes[MINE + JD] + notes[MINE + JC] - (BY_CARD < kind < BY_JH)
    word = put(left_behind(notes), BITS, MY_WILD, wild, 2)
    word = put(word, BITS, MY_CELLS, my_cells, 1)
    word = put(word, BITS, THEIR_CELLS, their_cells, 1)
    mine, theirs = hearts(state, -1 if removes else cell, cell if removes else -1, side)
    word = put(word, BITS, MY_HEARTS, mine, 3)
    return on_scale(score), put(word, BITS, THEIR_HEARTS, theirs, 3)


@njit
def after_move(state: State, cell: int, mark: int, side: int, notes: Floats) -> None:
    """Count the patterns as they will be when the cell holds `mark`: only the lines through it change."""
    before, after = notes[BEFORE : BEFORE + len(STATE_VECTOR)], notes[AFTER : AFTER + len(STATE_VECTOR)]
    lines_through(state, cell, state["cells"][cell], side, before)
    lines_through(state, cell, mark, side, after)
    for k in range(len(STATE_VECTOR)):
        after[k] += notes[NOW + k] - before[k]


@njit
def left_behind(notes: Floats) -> np.uint64:
    """The patterns after the action, few of each: a table that knows more of them learns too little about each.

    A live four is two ways to a sequence, any other four is one.
    """
    after = notes[AFTER : AFTER + len(STATE_VECTOR)]
    word = put(ZERO, BITS, MY_FIVES, after[OWN_FIVE], 2)
    word = put(word, BITS, MY_WAYS, after[OWN_FOUR] + 2 * after[OWN_LIVE_FOUR], 2)
    word = put(word, BITS, MY_THREES, after[OWN_THREE] + after[OWN_LIVE_THREE], 3)
    word = put(word, BITS, THEIR_FIVES, after[OPP_FIVE], 1)
    word = put(word, BITS, THEIR_WAYS, after[OPP_FOUR] + 2 * after[OPP_LIVE_FOUR], 2)
    return put(word, BITS, THEIR_THREES, after[OPP_LIVE_THREE], 1)


@njit
def next_card(state: State, cell: int, direction: int, side: int, notes: Floats) -> bool:
    """Whether the card that completes the four that a chip on `cell` makes is held, or lies face up."""
    own, locked, closed = around(state, cell, direction, side)
    own |= 1 << HERE
    step, found = SIZE * int(STEPS[direction, 0]) + int(STEPS[direction, 1]), False
    for start in range(HERE - 4, HERE + 1):
        five = (own >> start) & 31
        if COUNT[five] == 4 and (closed >> start) & 31 == 0 and COUNT[(locked >> start) & 31] <= 1:
            for k in range(5):
                if not (five >> k) & 1:
                    card = CARD_AT[cell + (start + k - HERE) * step]
                    found |= bool(notes[MINE + card] > 0)
                    for slot in range(state["display_size"]):
                        found |= bool(state["display"][slot] == card)
    return found


@njit
def hearts(state: State, filled: int, freed: int, side: int) -> tuple[int, int]:
    """How many of the four hearts each side has beyond the first, own and theirs, once own chip is on the cell `filled`

    and theirs is gone from `freed`; 0 if the other side has one too.
    """
    mine, theirs = 0, 0
    for heart in HEARTS:
        mark = state["cells"][heart]
        mine += mark == CHIP + side or mark == LOCKED + side or heart == filled
        theirs += (mark == CHIP + 1 - side or mark == LOCKED + 1 - side) and heart != freed
    if state["rules"] == BOXED or (mine > 0 and theirs > 0):
        return 0, 0
    return max(0, mine - 1), max(0, theirs - 1)


# ---- in words ----


def _square(effect: int) -> int:
    return int(CELL_OF[effect % SQUARES]) if effect < TRADES else -1


def _numbers(word: int, bits: int, names: tuple[str, ...]) -> dict[str, int]:
    counts = [(word >> bits * place) & (2**bits - 1) for place in range(len(names))]
    return {name: count for name, count in zip(names, counts, strict=True) if count}


def _words(numbers: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in numbers.items()) or "nothing"


def _read_patterns(key: tuple[int, ...]) -> tuple[str, str]:
    action = _numbers(key[1], ACTION_BITS, (*STATE_VECTOR, "TRADE"))
    return _words(_numbers(key[0], STATE_BITS, STATE_VECTOR)), _words(action)


def _read_cards(key: tuple[int, ...]) -> tuple[str, str]:
    return _words(_numbers(key[0], BITS, CARDS_STATE)), _words(_numbers(key[1], BITS, CARDS_ACTION))


SHARED = {"effect_of": effect_of, "draw_of": draw_of, "draw_reward": draw_reward}
KEYS = (
    TableKey(
        name="patterns",
        version=1,
        words=2,
        functions={"state_key": patterns_of_state, "action_key": patterns_of_action, **SHARED},
        meaning="how often each pattern occurs on the board, and which an action makes or breaks",
        read=_read_patterns,
        square=_square,
        board=(SIZE, SIZE),
    ),
    TableKey(
        name="cards",
        version=1,
        words=2,
        functions={"state_key": cards_of_state, "action_key": cards_of_action, **SHARED},
        meaning="patterns in classes; unseen cards by use, known cards of the opponents, discards",
        read=_read_cards,
        square=_square,
        board=(SIZE, SIZE),
    ),
)
