"""Table keys for Sequence.

`patterns`: how often each of eleven patterns occurs on the board, and which of them an action makes or breaks.
`cards`: what an action leaves behind. Patterns in fewer classes, own and theirs; the cells on which either side can
then complete a sequence with the cards known to be in its hand; two-eyed jacks held, known and unseen; hearts; how
far the discards have grown. Two actions are compared by where they lead, so that a move which averts a danger is not
blamed for the danger.

Both read only what the seat may know.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import State
from plyground.games.sequence import cards, patterns
from plyground.games.table_key import TableKey

Floats = NDArray[np.float32]
Words = NDArray[np.uint64]

ZERO, ONE = np.uint64(0), np.uint64(1)
NO_DRAW = -1
COUNTS, VALUE_OF = len(patterns.STATE_VECTOR), patterns.DEFAULT_VALUES
FULL = float(VALUE_OF[0, patterns.LIVE_FIVE])


@njit
def effect_of(action: int) -> int:
    """The move, whatever card it takes."""
    return action % cards.MOVES if action < cards.DECLINE else action


@njit
def draw_of(action: int) -> int:
    """The slot of the card it takes."""
    return action // cards.MOVES if action < cards.DECLINE else NO_DRAW


@njit
def draw_reward(state: State, slot: int) -> float:
    """What the card is worth in hand; 0 where nothing lies face up."""
    if slot >= state["display_size"]:
        return 0.0
    return patterns.card_score(state, state["display"][slot], state["to_move"], VALUE_OF)


@njit
def put(word: np.uint64, bits: int, place: int, count: int, most: int) -> np.uint64:
    """A word with a count in one of its places; what is more than `most` counts as that."""
    return word | np.uint64(min(count, most)) << np.uint64(bits * place)


# ---- patterns ----

STATE_BITS, ACTION_BITS = 5, 4  # of a count in the word of a state, and in the word of an action
MOST = 2**STATE_BITS - 1
TRADE = ONE << np.uint64(ACTION_BITS * COUNTS)


@njit
def patterns_of_state(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: Floats) -> None:
    """`state_vector` in one word."""
    counts = notes[:COUNTS]
    patterns.state_vector(state, seat % 2, counts)
    key[0] = ZERO
    for k in range(COUNTS):
        key[0] = put(key[0], STATE_BITS, k, counts[k], MOST)


@njit
def patterns_of_action(state: State, effect: int, notes: Floats) -> tuple[float, np.uint64]:
    """`action_score`, and `action_vector` in one word, from one look at the patterns."""
    word, score = ZERO, 0.0
    if effect >= cards.DECLINE:
        return 0.0, word
    if effect >= cards.TRADES:
        return 0.0, TRADE
    cell, side = cards.CELL_OF[effect % cards.SQUARES], state["to_move"]
    removes = effect // cards.SQUARES >= cards.BY_JH
    for direction in range(4):
        theirs = patterns.look(state, cell, direction, 1 - side)[6]
        word += one_of(patterns.PLACE[1, theirs])
        if removes:
            score += VALUE_OF[0, patterns.LIVE_FOUR] if theirs == patterns.LIVE_FOUR else 0.0
        else:
            mine = patterns.look(state, cell, direction, side)[6]
            score += VALUE_OF[0, mine] + VALUE_OF[1, theirs]
            word += one_of(patterns.PLACE[0, mine])
    return score, word


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
UNSEEN, MINE, THEIRS = 0, cards.KINDS, 2 * cards.KINDS  # in `notes`: copies of each card, by where they may be
NOW, BEFORE, AFTER = 3 * cards.KINDS, 3 * cards.KINDS + 12, 3 * cards.KINDS + 24  # and counts of patterns
CELLS_NOW = 3 * cards.KINDS + 36  # two: own cells to complete, and the opponents'
PACK = 52
_places = {name: place for place, name in enumerate(patterns.STATE_VECTOR)}
OWN_THREE, OWN_LIVE_THREE = _places["SLEEP_THREE"], _places["LIVE_THREE"]
OWN_FOUR, OWN_LIVE_FOUR, OWN_FIVE = _places["CHONG_FOUR"], _places["LIVE_FOUR"], _places["LIVE_FIVE"]
OPP_LIVE_THREE, OPP_FOUR = _places["OPP_LIVE_THREE"], _places["OPP_CHONG_FOUR"]
OPP_LIVE_FOUR, OPP_FIVE = _places["OPP_LIVE_FOUR"], _places["OPP_LIVE_FIVE"]


@njit
def locate_cards(state: State, seat: int, notes: Floats) -> None:
    """Count the copies of each card that the seat has not seen, holds, and knows with the opponents."""
    notes[UNSEEN : UNSEEN + cards.KINDS] = 2
    notes[MINE : MINE + 2 * cards.KINDS] = 0
    for owner in range(state["seats"]):
        for k in range(state["held"][owner]):
            if owner == seat or state["drawn"][owner, k] == cards.OPEN:
                card = state["hands"][owner, k]
                notes[UNSEEN + card] -= 1
                notes[MINE + card] += owner == seat
                notes[THEIRS + card] += owner % 2 != seat % 2
    for k in range(state["display_size"]):
        notes[UNSEEN + state["display"][k]] -= 1
    for k in range(state["discards_size"]):
        notes[UNSEEN + state["discards"][k]] -= 1


@njit
def completing(state: State, side: int, notes: Floats, held: int) -> int:
    """On how many cells a side completes a sequence with the ordinary cards that `notes` counts from `held` on."""
    found = 0
    for card in range(cards.ORDINARY):
        for k in range(2):
            cell = cards.SPOTS[card, k]
            if notes[held + card] > 0 and state["cells"][cell] == cards.EMPTY:
                best = 0
                for direction in range(4):
                    best = max(best, patterns.look(state, cell, direction, side)[6])
                found += best == patterns.LIVE_FIVE
    return found


@njit
def cards_of_state(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: Floats) -> None:
    """CARDS_STATE in one word: what no action of this turn changes."""
    side = seat % 2
    locate_cards(state, seat, notes)
    patterns.state_vector(state, side, notes[NOW : NOW + COUNTS])
    notes[CELLS_NOW] = completing(state, side, notes, MINE)
    notes[CELLS_NOW + 1] = completing(state, 1 - side, notes, THEIRS)
    word = put(ZERO, BITS, THEIR_WILD, notes[THEIRS + cards.JD] + notes[THEIRS + cards.JC], 1)
    word = put(word, BITS, UNSEEN_WILD, notes[UNSEEN + cards.JD] + notes[UNSEEN + cards.JC], 1)
    key[0] = put(word, BITS, HALF, state["discards_size"] // PACK, 1)


@njit
def cards_of_action(state: State, effect: int, notes: Floats) -> tuple[float, np.uint64]:
    """The same score as with patterns, and in one word CARDS_ACTION: what the action leaves behind."""
    if effect >= cards.DECLINE:
        return 0.0, ZERO
    if effect >= cards.TRADES:
        return 0.0, put(ZERO, BITS, TRADED, 1, 1)
    cell, side, kind = int(cards.CELL_OF[effect % cards.SQUARES]), int(state["to_move"]), effect // cards.SQUARES
    removes, card = kind >= cards.BY_JH, cards.CARD_AT[cell]
    after_move(state, cell, cards.EMPTY if removes else cards.CHIP + side, side, notes)
    my_cells, their_cells, score = int(notes[CELLS_NOW]), int(notes[CELLS_NOW + 1]), 0.0
    completes, blocks, goes_on = False, False, False
    for direction in range(4):
        theirs = patterns.look(state, cell, direction, 1 - side)[6]
        blocks |= theirs == patterns.LIVE_FIVE
        if removes:
            score += VALUE_OF[0, patterns.LIVE_FOUR] if theirs == patterns.LIVE_FOUR else 0.0
            continue
        mine = patterns.look(state, cell, direction, side)[6]
        score += VALUE_OF[0, mine] + VALUE_OF[1, theirs]
        completes |= mine == patterns.LIVE_FIVE
        goes_on |= patterns.CHONG_FOUR <= mine <= patterns.LIVE_FOUR and next_card(state, cell, direction, side, notes)
    if not removes:
        my_cells += int(goes_on) - int(completes and notes[MINE + card] > 0)
        their_cells -= int(blocks and notes[THEIRS + card] > 0)
    wild = notes[MINE + cards.JD] + notes[MINE + cards.JC] - (cards.BY_CARD < kind < cards.BY_JH)
    word = put(left_behind(notes), BITS, MY_WILD, wild, 2)
    word = put(word, BITS, MY_CELLS, my_cells, 1)
    word = put(word, BITS, THEIR_CELLS, their_cells, 1)
    mine, theirs = hearts(state, -1 if removes else cell, cell if removes else -1, side)
    word = put(word, BITS, MY_HEARTS, mine, 3)
    return score, put(word, BITS, THEIR_HEARTS, theirs, 3)


@njit
def after_move(state: State, cell: int, mark: int, side: int, notes: Floats) -> None:
    """Count the patterns as they will be when the cell holds `mark`: only the lines through it change."""
    before, after = notes[BEFORE : BEFORE + COUNTS], notes[AFTER : AFTER + COUNTS]
    patterns.lines_through(state, cell, state["cells"][cell], side, before)
    patterns.lines_through(state, cell, mark, side, after)
    for k in range(COUNTS):
        after[k] += notes[NOW + k] - before[k]


@njit
def left_behind(notes: Floats) -> np.uint64:
    """The patterns after the action, few of each: a table that knows more of them learns too little about each.

    A live four is two ways to a sequence, any other four is one.
    """
    after = notes[AFTER : AFTER + COUNTS]
    word = put(ZERO, BITS, MY_FIVES, after[OWN_FIVE], 2)
    word = put(word, BITS, MY_WAYS, after[OWN_FOUR] + 2 * after[OWN_LIVE_FOUR], 2)
    word = put(word, BITS, MY_THREES, after[OWN_THREE] + after[OWN_LIVE_THREE], 3)
    word = put(word, BITS, THEIR_FIVES, after[OPP_FIVE], 1)
    word = put(word, BITS, THEIR_WAYS, after[OPP_FOUR] + 2 * after[OPP_LIVE_FOUR], 2)
    return put(word, BITS, THEIR_THREES, after[OPP_LIVE_THREE], 1)


@njit
def next_card(state: State, cell: int, direction: int, side: int, notes: Floats) -> bool:
    """Whether the card that completes the four that a chip on `cell` makes is held, or lies face up."""
    own, locked, closed = patterns.around(state, cell, direction, side)
    own |= 1 << patterns.HERE
    step, found = cards.SIZE * int(cards.STEPS[direction, 0]) + int(cards.STEPS[direction, 1]), False
    for start in range(patterns.HERE - 4, patterns.HERE + 1):
        five = (own >> start) & 31
        if patterns.COUNT[five] == 4 and (closed >> start) & 31 == 0 and patterns.COUNT[(locked >> start) & 31] <= 1:
            for k in range(5):
                if not (five >> k) & 1:
                    card = cards.CARD_AT[cell + (start + k - patterns.HERE) * step]
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
    for heart in cards.HEARTS:
        mark = state["cells"][heart]
        mine += mark == cards.CHIP + side or mark == cards.LOCKED + side or heart == filled
        theirs += (mark == cards.CHIP + 1 - side or mark == cards.LOCKED + 1 - side) and heart != freed
    if state["rules"] == cards.BOXED or (mine > 0 and theirs > 0):
        return 0, 0
    return max(0, mine - 1), max(0, theirs - 1)


# ---- in words ----


def _square(effect: int) -> int:
    return int(cards.CELL_OF[effect % cards.SQUARES]) if effect < cards.TRADES else -1


def _words(word: int, bits: int, names: tuple[str, ...]) -> str:
    counts = {name: (word >> bits * place) & (2**bits - 1) for place, name in enumerate(names)}
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "nothing"


def _read_patterns(key: tuple[int, ...]) -> tuple[str, str]:
    state, action = patterns.STATE_VECTOR, patterns.ACTION_VECTOR
    return _words(key[0], STATE_BITS, state), _words(key[1], ACTION_BITS, action)


def _read_cards(key: tuple[int, ...]) -> tuple[str, str]:
    return _words(key[0], BITS, CARDS_STATE), _words(key[1], BITS, CARDS_ACTION)


_shared = {"effect_of": effect_of, "draw_of": draw_of, "draw_reward": draw_reward}
_patterns = {"state_key": patterns_of_state, "action_key": patterns_of_action, **_shared}
_patterns_meaning = "how often each pattern occurs on the board, and which an action makes or breaks"
_cards = {"state_key": cards_of_state, "action_key": cards_of_action, **_shared}
_cards_meaning = "patterns in classes; unseen cards by use, known cards of the opponents, discards"
_board = cards.SIZE, cards.SIZE
KEYS = (
    TableKey("patterns", 1, 2, _patterns, _patterns_meaning, _read_patterns, _square, _board, FULL),
    TableKey("cards", 1, 2, _cards, _cards_meaning, _read_cards, _square, _board, FULL),
)
