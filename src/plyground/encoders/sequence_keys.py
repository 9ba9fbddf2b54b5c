"""What a table knows of Sequence: counts of patterns on the board, and the patterns that an action makes or breaks."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.encoders.table_key import TableKey
from plyground.games.interface import State
from plyground.games.sequence_cards import BY_JH, CELL_OF, DECLINE, MOVES, SIZE, SQUARES, TRADES, KINDS, OPEN, ORDINARY, SPOTS, EMPTY, JD, JC, JH, HEARTS, CHIP, LOCKED, CARD_AT
from plyground.games.sequence_patterns import (
    DEFAULT_VALUES,
    LIVE_FIVE,
    LIVE_FOUR,
    PLACE,
    STATE_VECTOR,
    card_score,
    look,
    state_vector,
)

Floats = NDArray[np.float32]
Words = NDArray[np.uint64]

STATE_BITS, ACTION_BITS = 5, 4  # bits of a count in the word of a state, and in the word of an action
MOST = 2**STATE_BITS - 1
TRADE = np.uint64(1) << np.uint64(ACTION_BITS * len(STATE_VECTOR))
FULL = math.log1p(DEFAULT_VALUES[0, LIVE_FIVE])
NO_DRAW = -1


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
def patterns_state_key(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: Floats) -> None:
    """One word: how often each of the eleven patterns occurs."""
    counts = notes[: len(STATE_VECTOR)]
    state_vector(state, seat % 2, counts)
    word = np.uint64(0)
    for k in range(len(STATE_VECTOR)):
        word |= np.uint64(min(counts[k], MOST)) << np.uint64(STATE_BITS * k)
    key[0] = word


@njit
def patterns_action_key(state: State, effect: int, notes: Floats) -> tuple[float, np.uint64]:
    """`action_score` on the scale of rewards, and `action_vector` in one word, from one look at the patterns."""
    word, score = np.uint64(0), 0.0
    if effect >= DECLINE:
        return 0.0, word
    if effect >= TRADES:
        return 0.0, TRADE
    cell, side, removes = CELL_OF[effect % SQUARES], state["to_move"], effect // SQUARES >= BY_JH
    for direction in range(4):
        theirs = look(state, cell, direction, 1 - side)[6]
        if removes:
            score += DEFAULT_VALUES[0, LIVE_FOUR] if theirs == LIVE_FOUR else 0.0
        else:
            mine = look(state, cell, direction, side)[6]
            score += DEFAULT_VALUES[0, mine] + DEFAULT_VALUES[1, theirs]
            word += one_of(PLACE[0, mine])
        word += one_of(PLACE[1, theirs])
    return on_scale(score), word


@njit
def one_of(place: int) -> np.uint64:
    """One occurrence of the pattern that is counted at this place."""
    return np.uint64(1) << np.uint64(ACTION_BITS * place) if place >= 0 else np.uint64(0)


# ---- cards: the same and more, in fewer classes ----

POOL, THEIRS = 16, 80  # in `notes`: unseen copies of each card, and copies that the opponents are known to hold
FOURS, THREES = (4, 5), (2, 3)  # places of patterns in a state's counts
OPP_FOURS, OPP_THREES = (7, 8), (9, 9)


@njit
def locate_cards(state: State, seat: int, notes: Floats) -> None:
    """Count the cards that the seat has not seen, and those that it knows to be with the opponents."""
    notes[POOL : POOL + KINDS] = 2
    notes[THEIRS : THEIRS + KINDS] = 0
    for owner in range(state["seats"]):
        for k in range(state["held"][owner]):
            if owner == seat or state["drawn"][owner, k] == OPEN:
                notes[POOL + state["hands"][owner, k]] -= 1
                if owner % 2 != seat % 2:
                    notes[THEIRS + state["hands"][owner, k]] += 1
    for k in range(state["display_size"]):
        notes[POOL + state["display"][k]] -= 1
    for k in range(state["discards_size"]):
        notes[POOL + state["discards"][k]] -= 1


@njit
def cards_state_key(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: Floats) -> None:
    side = seat % 2
    counts = notes[: len(STATE_VECTOR)]
    state_vector(state, side, counts)
    locate_cards(state, seat, notes)
    word = np.uint64(0)
    word = put(word, state["sequences"][side] + state["sequences"][side + 2], 1)
    word = put(word, state["sequences"][1 - side] + state["sequences"][3 - side], 1)
    word = put(word, counts[4] + counts[5], 2)
    word = put(word, counts[7] + counts[8], 2)
    word = put(word, counts[3] + counts[2], 3)
    word = put(word, counts[9], 1)
    word = put(word, held_jacks(state, seat, JD), 2)
    word = put(word, notes[THEIRS + JD] + notes[THEIRS + JC], 1)
    word = put(word, completing(state, seat, notes), 2)
    key[0] = word


@njit
def put(word: np.uint64, count: int, most: int) -> np.uint64:
    """Add a count of 0 to `most` to a word; what is more counts as `most`."""
    return word * np.uint64(most + 1) + np.uint64(min(count, most))


@njit
def held_jacks(state: State, seat: int, first: int) -> int:
    found = 0
    for k in range(state["held"][seat]):
        card = state["hands"][seat, k]
        found += card == first or card == first + 1
    return found


@njit
def completing(state: State, seat: int, notes: Floats) -> int:
    """Cells on which the opponents are known to be able to complete a sequence with their cards."""
    found = 0
    for card in range(ORDINARY):
        if notes[THEIRS + card] > 0:
            for k in range(2):
                cell = SPOTS[card, k]
                if state["cells"][cell] == EMPTY:
                    for direction in range(4):
                        if look(state, cell, direction, 1 - seat % 2)[6] == LIVE_FIVE:
                            found += 1
                            break
    return found


@njit
def cards_action_key(state: State, effect: int, notes: Floats) -> tuple[float, np.uint64]:
    if effect >= DECLINE:
        return 0.0, np.uint64(0)
    if effect >= TRADES:
        return 0.0, np.uint64(1)
    cell, side = CELL_OF[effect % SQUARES], state["to_move"]
    kind = effect // SQUARES
    removes = kind >= BY_JH
    best, second, worst, score = 0, 0, 0, 0.0
    for direction in range(4):
        theirs = look(state, cell, direction, 1 - side)[6]
        worst = max(worst, theirs)
        if removes:
            score += DEFAULT_VALUES[0, LIVE_FOUR] if theirs == LIVE_FOUR else 0.0
        mine = look(state, cell, direction, side)[6]
        if not removes:
            score += DEFAULT_VALUES[0, mine] + DEFAULT_VALUES[1, theirs]
        if mine > best:
            best, second = mine, best
        elif mine > second:
            second = mine
    my_hearts, their_hearts = 0, 0
    for k in range(4):
        if cell == HEARTS[k]:
            for heart in HEARTS:
                mark = state["cells"][heart]
                if heart != cell:
                    my_hearts += mark == CHIP + side or mark == LOCKED + side
                    their_hearts += mark == CHIP + 1 - side or mark == LOCKED + 1 - side
            my_hearts, their_hearts = (my_hearts + 1 if their_hearts == 0 else 0), (their_hearts + 1 if my_hearts == 0 else 0)
            break
    card = CARD_AT[cell]
    chance = 2 if notes[THEIRS + card] > 0 else 1 if notes[POOL + card] > 0 else 0
    jack = 2 if removes else 1 if kind > 0 else 0
    word = np.uint64(1)
    word = put(word, best, 8)
    word = put(word, second, 8)
    word = put(word, worst, 8)
    word = put(word, my_hearts, 4)
    word = put(word, their_hearts, 4)
    word = put(word, chance if worst > 5 else 0, 2)
    word = put(word, jack, 2)
    return on_scale(score), word


def _square(effect: int) -> int:
    return int(CELL_OF[effect % SQUARES]) if effect < TRADES else -1


def _read_patterns(key: tuple[int, ...]) -> str:
    return f"{_counts(key[0], STATE_BITS)} | {_counts(key[1], ACTION_BITS)}"


def _counts(word: int, bits: int) -> str:
    names = (*STATE_VECTOR, "TRADE")
    counts = [(int(word) >> bits * k) & (2**bits - 1) for k in range(len(names))]
    return " ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True) if count) or "nothing"


KEYS = (
    TableKey(
        "patterns",
        1,
        2,
        {
            "state_key": patterns_state_key,
            "action_key": patterns_action_key,
            "effect_of": effect_of,
            "draw_of": draw_of,
            "draw_reward": draw_reward,
        },
        "how often each pattern occurs, and which an action makes or breaks",
        _read_patterns,
        _square,
        (SIZE, SIZE),
    ),
    TableKey(
        "cards",
        1,
        2,
        {
            "state_key": cards_state_key,
            "action_key": cards_action_key,
            "effect_of": effect_of,
            "draw_of": draw_of,
            "draw_reward": draw_reward,
        },
        "",
        _read_patterns,
        _square,
        (SIZE, SIZE),
    ),
)
