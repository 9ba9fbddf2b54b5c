"""Sequence's scripted agents. Both read only what the seat to act may know: the board, its hand, the face-up cards.

`greedy` scores the patterns that a move makes at once (`patterns.py`); `window` the lines of five that
it fills. Both choose the move and the card to take separately, and trade a dead card whenever they may.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plyground.games.interface import Rng, State
from plyground.games.rng import below
from plyground.games.sequence import cards
from plyground.games.sequence.lines import GAINS, fill_worths
from plyground.games.sequence.patterns import DEFAULT_VALUES, action_score, best_slot
from plyground.games.sequence.rules import hand_set, is_dead

ZERO, ONE = np.uint64(0), np.uint64(1)


@njit
def dead_card(state: State, held: np.uint64) -> int:
    """A card that may be traded now, or -1."""
    if not state["traded"]:
        for card in range(cards.ORDINARY):
            if (held >> np.uint64(card)) & ONE != ZERO and is_dead(state, card):
                return card
    return -1


@njit
def can_play(state: State, held: np.uint64, move: int) -> bool:
    """Whether the hand allows a move that places or removes a chip."""
    if (held >> np.uint64(cards.MOVE_CARD[move])) & ONE == ZERO:
        return False
    target = cards.EMPTY if move // cards.SQUARES < cards.BY_JH else cards.CHIP + 1 - state["to_move"]
    return state["cells"][cards.CELL_OF[move % cards.SQUARES]] == target


# ---- greedy ----


@njit
def greedy(state: State, rng: Rng) -> int:
    """The move with the highest immediate score, and the face-up card worth most; that card for a dead one first.

    That is the highest `total_score` among the moves that take this card: what the card adds is the same for all.
    """
    held, side = hand_set(state, state["turn"]), state["to_move"]
    slot = best_slot(state, side, DEFAULT_VALUES)
    dead = dead_card(state, held)
    if dead >= 0:
        return slot * cards.MOVES + cards.TRADES + dead
    best, chosen, ties = -1.0, -1, 0
    for move in range(cards.TRADES):
        if can_play(state, held, move):
            score = action_score(state, move, side, DEFAULT_VALUES)
            if move // cards.SQUARES != cards.BY_CARD:
                score -= 0.5  # a jack only where it does more than a card
            if score > best:
                best, ties = score, 0
            if score == best:
                ties += 1
                chosen = move if below(rng, ties) == 0 else chosen
    return cards.PASS if chosen < 0 else slot * cards.MOVES + chosen


# ---- window ----

BLOCK = 0.9  # what a chip gains in a line, taken from the opponent
HEART_GAIN = np.array([15.0, 40.0, 200.0, 5000.0])  # one more chip in the heart block that holds 0 .. 3
HEART_BLOCK = np.array([5.0, 30.0, 180.0, 4500.0])
KEEP_WILD, KEEP_ONE_EYED = 250.0, 120.0  # a jack is spent only on what is worth more
TAKE_WILD, TAKE_ONE_EYED, TAKE_CARD = 400.0, 120.0, 0.5  # a card is worth half of its best cell
LATER = 0.5  # a chip where another was removed can be placed next turn, perhaps


@njit
def window(state: State, rng: Rng, work: State) -> int:
    """The move that gains or blocks most over the 192 lines of five, and the card with the best cell left."""
    held, side = hand_set(state, state["turn"]), state["to_move"]
    fill_worths(state, side, 0, work)
    dead = dead_card(state, held)
    if dead >= 0:
        return best_taken(state, side, -1, work) * cards.MOVES + cards.TRADES + dead
    if (held >> np.uint64(cards.JH)) & np.uint64(3) != ZERO:
        fill_worths(state, side, 1, work)
    best, chosen, ties = -np.inf, -1, 0
    for kind in range(5):
        if kind > cards.BY_CARD and (held >> np.uint64(cards.JD + kind - cards.BY_JD)) & ONE == ZERO:
            continue
        for move in range(kind * cards.SQUARES, (kind + 1) * cards.SQUARES):
            if can_play(state, held, move):
                cell, removed = cards.CELL_OF[move % cards.SQUARES], 1 if kind >= cards.BY_JH else 0
                build, block = filled_worth(state, cell, side, removed, work)
                score = move_worth(kind, build, block)
                if score > best:
                    best, ties = score, 0
                if score == best:
                    ties += 1
                    chosen = move if below(rng, ties) == 0 else chosen
    if chosen < 0:
        return cards.PASS
    return best_taken(state, side, cards.CELL_OF[chosen % cards.SQUARES], work) * cards.MOVES + chosen


@njit
def move_worth(kind: int, build: float, block: float) -> float:
    """What a move gains, less what its card is worth keeping."""
    if kind == cards.BY_CARD:
        return build + block
    return build + block - KEEP_WILD if kind < cards.BY_JH else LATER * build + block - KEEP_ONE_EYED


@njit
def best_taken(state: State, side: int, filled: int, work: State) -> int:
    """The face-up card to take when the cell `filled` is gone; 0 where none lies there."""
    best, chosen = -1.0, 0
    for slot in range(state["display_size"]):
        card, value = state["display"][slot], 0.0
        if card >= cards.ORDINARY:
            value = jack_worth(card)
        else:
            for k in range(2):
                cell = cards.SPOTS[card, k]
                if state["cells"][cell] == cards.EMPTY and cell != filled:
                    build, block = filled_worth(state, cell, side, 0, work)
                    value = max(value, TAKE_CARD * (build + block))
        if value > best:
            best, chosen = value, slot
    return chosen


@njit
def jack_worth(card: int) -> float:
    """What it is worth to take a face-up jack."""
    return TAKE_WILD if card < cards.JH else TAKE_ONE_EYED


@njit
def filled_worth(state: State, cell: int, side: int, removed: int, work: State) -> tuple[float, float]:
    """`cell_worth` of a cell as `fill_worths` has written it."""
    return with_hearts(state, cell, side, float(work["build"][removed, cell]), float(work["block"][removed, cell]))


@njit
def with_hearts(state: State, cell: int, side: int, build: float, block: float) -> tuple[float, float]:
    """What an own chip on this cell gains, and what it takes from the opponent: in lines, and in the heart block."""
    gained, taken = build, BLOCK * block
    if state["rules"] != cards.BOXED and cell in cards.HEARTS:
        mine, theirs = 0, 0
        for heart in cards.HEARTS:
            mark = state["cells"][heart]
            mine += heart != cell and (mark == cards.CHIP + side or mark == cards.LOCKED + side)
            theirs += heart != cell and (mark == cards.CHIP + 1 - side or mark == cards.LOCKED + 1 - side)
        gained += HEART_GAIN[mine] if theirs == 0 else 0.0
        taken += HEART_BLOCK[theirs] if mine == 0 else 0.0
    return gained, taken


# ---- the scores of single actions ----

HALF = 250.0  # a gain of so much is scored one half
TRADE_FIRST = 0.99


@njit
def window_score(state: State, action: int) -> float:
    """In [-1, 1]: the score of an action by `window`, with the card that it takes."""
    if action >= cards.DECLINE:
        return 0.0 if action == cards.PASS else -1.0
    slot, move, side = action // cards.MOVES, action % cards.MOVES, state["to_move"]
    trades = move >= cards.TRADES
    filled = -1 if trades else cards.CELL_OF[move % cards.SQUARES]
    total = slot_worth(state, slot, side, filled)
    if not trades:
        build, block = cell_worth(state, filled, side)
        total += move_worth(move // cards.SQUARES, build, block)
    squashed = total / (HALF + abs(total))
    return TRADE_FIRST + (1.0 - TRADE_FIRST) * squashed if trades else TRADE_FIRST * squashed


@njit
def slot_worth(state: State, slot: int, side: int, filled: int) -> float:
    """What it is worth to take a face-up card when the cell `filled` is gone; nothing where none lies there."""
    if slot >= state["display_size"]:
        return 0.0
    card, value = state["display"][slot], 0.0
    if card >= cards.ORDINARY:
        return jack_worth(card)
    for k in range(2):
        cell = cards.SPOTS[card, k] + 0  # as wide as a whole number elsewhere, so that what takes it is compiled once
        if state["cells"][cell] == cards.EMPTY and cell != filled:
            build, block = cell_worth(state, cell, side)
            value = max(value, TAKE_CARD * (build + block))
    return value


@njit
def cell_worth(state: State, cell: int, side: int) -> tuple[float, float]:
    """What an own chip on this cell gains in the lines through it, and what it takes from the opponent; `lines.py`
    has the same for all cells."""
    build, block = 0.0, 0.0
    for k in range(cards.WINDOWS_AT.shape[1]):
        line = cards.WINDOWS_AT[cell, k]
        if line < 0:
            break
        mine, theirs, free, my_locked, their_locked = 0, 0, 0, 0, 0
        for j in range(5):
            place = cards.WINDOWS[line, j]
            if place != cell:
                mark = state["cells"][place]
                free += mark == cards.CORNER
                mine += mark == cards.CHIP + side or mark == cards.LOCKED + side
                theirs += mark == cards.CHIP + 1 - side or mark == cards.LOCKED + 1 - side
                my_locked += mark == cards.LOCKED + side
                their_locked += mark == cards.LOCKED + 1 - side
        if theirs == 0 and my_locked <= 1:
            build += GAINS[mine + free]
        if mine == 0 and their_locked <= 1:
            block += GAINS[theirs + free]
    return with_hearts(state, cell, side, build, block)


POLICIES = {"greedy": greedy, "window": window}
SCORERS = {"window": window_score}
ROLLOUT = "window"
STRONGEST_WITH_NETWORK = "search:model=trained,time=0.5"
