"""Sequence: play a card, put a chip on one of its two cells; five chips in a line are a sequence, two of them win.

Two rule sets. `course` (a university course's variant): six cards each; five more lie face up, and a player takes one
of them for each card played, so that only the first six are ever secret; before the move a player with a dead card must
say whether to trade it; the four hearts in the middle win at once; no reshuffling. `boxed`: seven cards (six with four
seats), drawn in secret; dead cards may be exchanged; discards are reshuffled. Two seats, or four in two teams: side =
seat % 2.

`cards.py` has the cards, the board and the numbers of the actions; `text.py` the words. The rules as
implemented, with every judgement call: docs/rules/sequence.md.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, Actions, Rng, Setting, State
from plyground.games.rng import below
from plyground.games.sequence import cards
from plyground.games.sequence.lines import WORK

__all__ = ["WORK"]  # part of the contract

# ---- what a state is ----

NUM_ACTIONS = cards.ACTIONS
MAX_LEGAL = 1000  # both two-eyed jacks on 96 cells and four cards on two cells each, with five cards to take
MAX_PLIES = 4 * cards.ALL_CARDS * (cards.MOST_RESHUFFLES + 1)  # each card is discarded once a shuffle, after 3 passes
OPENING_PLIES = 0  # the deal is opening enough
SEATS = cards.MOST_SEATS
CHANCE = True
SETTINGS = {
    "rules": Setting(
        "course",
        ("course", "boxed"),
        "course: the variant of the university course COMP90054 (AI Planning for Autonomy), where five cards lie face "
        "up to be taken and the four hearts in the middle win too; boxed: the game as it is sold, with secret cards",
    ),
    "seats": Setting(2, (2, 4), "players; four play in two teams"),
    "compat_scores": Setting(False, (False, True), "count sequences as that course's program does: a nine as 3, ..."),
}
STATE = np.dtype(
    [
        *((name, np.int8) for name in SETTINGS),
        ("cells", np.int8, (cards.CELLS,)),  # EMPTY, RED, BLUE, LOCKED_RED, LOCKED_BLUE, CORNER
        ("hands", np.int8, (cards.MOST_SEATS, cards.MOST_HELD)),  # cards in the order they came; then NO_CARD
        ("drawn", np.int8, (cards.MOST_SEATS, cards.MOST_HELD)),  # OPEN, or how many reshuffles before the secret draw
        ("held", np.int8, (cards.MOST_SEATS,)),  # how many cards each hand has
        ("display", np.int8, (cards.SLOTS,)),  # the face-up cards in order; then NO_CARD
        ("deck", np.int8, (cards.ALL_CARDS,)),  # the last of `deck_size` is drawn next; then NO_CARD
        ("discards", np.int8, (cards.ALL_CARDS,)),  # in order; then NO_CARD
        ("display_size", np.int8),
        ("deck_size", np.int8),
        ("discards_size", np.int8),
        ("sequences", np.int8, (cards.MOST_SEATS,)),  # what each seat completed; a team has the sum
        ("last", np.int16, (cards.MOST_SEATS,)),  # each seat's last move (see `cards.py`), DECLINE or PASS; first -1
        ("took", np.int8, (cards.MOST_SEATS,)),  # the face-up card it took then, or NO_CARD
        ("turn", np.int8),  # the seat that acts
        ("traded", np.int8),  # whether it has answered the trade question in this turn
        ("passes", np.int8),  # turns in a row that ended with a pass
        ("reshuffles", np.int8),
        ("to_move", np.int8),
        ("outcome", np.int8),
    ],
    align=True,
)

Cards = NDArray[np.int8]

ONE = np.uint64(1)
deal_size = njit(cards.hand_size)


@njit
def seat(state: State) -> int:
    """The seat that acts."""
    return state["turn"]


# ---- the deal ----


@njit
def reset(state: State, rng: Rng) -> None:
    """Shuffle both packs and deal."""
    state["cells"][:] = cards.EMPTY
    for corner in cards.CORNERS:
        state["cells"][corner] = cards.CORNER
    state["hands"][:, :] = cards.NO_CARD
    state["display"][:] = cards.NO_CARD
    state["discards"][:] = cards.NO_CARD
    state["last"][:] = -1
    state["took"][:] = cards.NO_CARD
    for k in range(cards.ALL_CARDS):
        state["deck"][k] = k % cards.KINDS
    state["deck_size"] = cards.ALL_CARDS
    shuffle(state["deck"], 0, cards.ALL_CARDS, rng)
    if state["rules"] != cards.BOXED:
        for _ in range(cards.SLOTS):
            refill(state)
    for owner in range(state["seats"]):
        for _ in range(deal_size(state["rules"], state["seats"])):
            receive(state, owner, top_of_deck(state), 0)


@njit
def shuffle(pile: Cards, start: int, stop: int, rng: Rng) -> None:
    """Put the cards of these places into a random order."""
    for k in range(stop - 1, start, -1):
        other = start + below(rng, k + 1 - start)
        pile[k], pile[other] = pile[other], pile[k]


@njit
def top_of_deck(state: State) -> int:
    """Take the next card off a deck that has one."""
    state["deck_size"] -= 1
    card = state["deck"][state["deck_size"]]
    state["deck"][state["deck_size"]] = cards.NO_CARD
    return card


@njit
def refill(state: State) -> None:
    """Turn up one more card, if there is one."""
    if state["deck_size"] > 0:
        state["display"][state["display_size"]] = top_of_deck(state)
        state["display_size"] += 1


@njit
def receive(state: State, owner: int, card: int, drawn: int) -> None:
    """Add a card to the end of a hand; `drawn` says who knows it."""
    place = state["held"][owner]
    state["hands"][owner, place] = card
    state["drawn"][owner, place] = drawn
    state["held"][owner] += 1


# ---- legal actions ----


@njit
def hand_set(state: State, owner: int) -> np.uint64:
    """The kinds of cards in a hand, as bits."""
    kinds = np.uint64(0)
    for k in range(state["held"][owner]):
        kinds |= ONE << np.uint64(state["hands"][owner, k])
    return kinds


@njit
def is_dead(state: State, card: int) -> bool:
    """Whether both cells of an ordinary card are taken."""
    return state["cells"][cards.SPOTS[card, 0]] != cards.EMPTY and state["cells"][cards.SPOTS[card, 1]] != cards.EMPTY


@njit
def legal(state: State, actions: Actions) -> int:
    """The moves the hand allows, each with every different card that can be taken; see `cards.py`."""
    if state["outcome"] != RUNNING:
        return 0
    held, boxed = hand_set(state, state["turn"]), state["rules"] == cards.BOXED
    count = 0
    if not boxed and not state["traded"]:
        count = legal_trades(state, held, actions, 0)
        if count > 0:  # the question must be answered first
            count = with_slots(state, actions, count)
            actions[count] = cards.DECLINE
            return count + 1
    count = legal_plays(state, held, actions)
    if boxed and not state["traded"]:
        count = legal_trades(state, held, actions, count)
    if not boxed:
        count = with_slots(state, actions, count)
    if count == 0:
        actions[0] = cards.PASS
        return 1
    return count


@njit
def legal_trades(state: State, held: np.uint64, actions: Actions, count: int) -> int:
    """Append a trade for each dead card; returns how many actions there are now."""
    for card in range(cards.ORDINARY):
        if (held >> np.uint64(card)) & ONE and is_dead(state, card):
            actions[count] = cards.TRADES + card
            count += 1
    return count


@njit
def legal_plays(state: State, held: np.uint64, actions: Actions) -> int:
    """Write the moves that place or remove a chip; returns how many."""
    cells, count = state["cells"], 0
    for square in range(cards.SQUARES):
        cell = cards.CELL_OF[square]
        if cells[cell] == cards.EMPTY and (held >> np.uint64(cards.CARD_AT[cell])) & ONE:
            actions[count] = square
            count += 1
    for jack in range(cards.JD, cards.KINDS):
        if (held >> np.uint64(jack)) & ONE:
            target = cards.EMPTY if jack < cards.JH else cards.CHIP + 1 - state["to_move"]
            for square in range(cards.SQUARES):
                if cells[cards.CELL_OF[square]] == target:
                    actions[count] = cards.SQUARES * (jack - cards.JD + 1) + square
                    count += 1
    return count


@njit
def with_slots(state: State, actions: Actions, moves: int) -> int:
    """Combine each of the moves with each different face-up card (the first of two equal ones)."""
    count = moves
    for slot in range(1, state["display_size"]):
        new = True
        for earlier in range(slot):
            new &= state["display"][earlier] != state["display"][slot]
        if new:
            for k in range(moves):
                actions[count + k] = actions[k] + slot * cards.MOVES
            count += moves
    return count


# ---- playing ----


@njit
def play(state: State, action: int, rng: Rng) -> None:
    """Discard a card, take another, then trade on, or place or remove a chip and end the turn."""
    owner, side = state["turn"], state["to_move"]
    state["took"][owner] = cards.NO_CARD
    if action == cards.DECLINE:
        state["last"][owner] = cards.DECLINE
        state["traded"] = 1
        return
    if action == cards.PASS:
        state["last"][owner] = cards.PASS
        state["passes"] += 1
        end_turn(state)
        return
    slot, move = action // cards.MOVES, action % cards.MOVES
    state["last"][owner] = move
    discard(state, owner, cards.MOVE_CARD[move])
    take(state, owner, slot, rng)
    if move >= cards.TRADES:
        state["traded"] = 1
        decide(state)
        return
    state["passes"] = 0
    cell = cards.CELL_OF[move % cards.SQUARES]
    if move // cards.SQUARES >= cards.BY_JH:
        state["cells"][cell] = cards.EMPTY
    else:
        state["cells"][cell] = cards.CHIP + side
        state["sequences"][owner] += complete(state, cell, side)
    end_turn(state)


@njit
def discard(state: State, owner: int, card: int) -> None:
    """Lay the first such card of a hand on the discards.

    The others see a face, not which copy it was: if they knew of one, they now know of one less.
    """
    hand, drawn, last = state["hands"][owner], state["drawn"][owner], state["held"][owner] - 1
    place = 0
    while hand[place] != card:
        place += 1
    for k in range(place + 1, last + 1):
        if hand[k] == card and drawn[k] == cards.OPEN:
            drawn[k] = drawn[place]
    for k in range(place, last):
        hand[k], drawn[k] = hand[k + 1], drawn[k + 1]
    hand[last], drawn[last] = cards.NO_CARD, 0
    state["held"][owner] = last
    state["discards"][state["discards_size"]] = card
    state["discards_size"] += 1


@njit
def take(state: State, owner: int, slot: int, rng: Rng) -> None:
    """Take the face-up card of that slot and turn up another; by the boxed rules draw in secret."""
    if state["rules"] == cards.BOXED:
        if state["deck_size"] == 0 and state["reshuffles"] < cards.MOST_RESHUFFLES:
            reshuffle(state, rng)
        if state["deck_size"] > 0:
            receive(state, owner, top_of_deck(state), state["reshuffles"])
        return
    display, last = state["display"], state["display_size"] - 1
    card = display[slot]
    receive(state, owner, card, cards.OPEN)
    state["took"][owner] = card
    for k in range(slot, last):
        display[k] = display[k + 1]
    display[last] = cards.NO_CARD
    state["display_size"] = last
    refill(state)


@njit
def reshuffle(state: State, rng: Rng) -> None:
    """Make the discards a new deck. With two seats each now knows the other's hand: every other card was seen."""
    for k in range(state["discards_size"]):
        state["deck"][k] = state["discards"][k]
        state["discards"][k] = cards.NO_CARD
    state["deck_size"] = state["discards_size"]
    state["discards_size"] = 0
    state["reshuffles"] += 1
    shuffle(state["deck"], 0, state["deck_size"], rng)
    if state["seats"] == 2:
        for owner in range(2):
            for k in range(state["held"][owner]):
                state["drawn"][owner, k] = cards.OPEN


@njit
def end_turn(state: State) -> None:
    """The next seat acts, unless the game is over."""
    state["traded"] = 0
    state["turn"] = (state["turn"] + 1) % state["seats"]
    state["to_move"] = state["turn"] % 2
    decide(state)


# ---- sequences and outcome ----


@njit
def complete(state: State, cell: int, side: int) -> int:
    """How many sequences the chip just placed completes; their chips are locked."""
    found, fives, shared_found = 0, 0, False
    for direction in range(4):
        own, locked, first, last = segment(state, cell, direction, side)
        if locked:
            only_plain = shared_found and state["compat_scores"]
            five = first_sharing(own, locked, first, last, only_plain)
            shared_found |= five != 0
        else:
            five = first_five(own, first, last)
        if own == 0b111111111:  # four on each side: two sequences (the course's program counts 2 and 1 more)
            found += 2 if state["compat_scores"] else 1
            five = own
        found += five != 0
        fives |= five << (9 * direction)
    if state["rules"] != cards.BOXED and owns_hearts(state, side):
        found += 2
        for heart in cards.HEARTS:
            state["cells"][heart] = cards.LOCKED + side
    lock(state, cell, side, fives)
    return found if state["compat_scores"] else min(found, cards.WIN)


@njit
def segment(state: State, cell: int, direction: int, side: int) -> tuple[int, int, int, int]:
    """Up to nine cells of a line around `cell`: bits of own unlocked chips and corners, bits of own locked chips,

    and the first and the last of the nine that are on the board. Bit 4 is the cell itself.
    """
    down, right = int(cards.STEPS[direction, 0]), int(cards.STEPS[direction, 1])
    row, column = cell // cards.SIZE, cell % cards.SIZE
    own, locked, first, last = 0, 0, 9, -1
    for k in range(9):
        y, x = row + (k - 4) * down, column + (k - 4) * right
        if 0 <= y < cards.SIZE and 0 <= x < cards.SIZE:
            first, last = min(first, k), k
            mark = state["cells"][cards.SIZE * y + x]
            if mark == cards.CHIP + side or mark == cards.CORNER:
                own |= 1 << k
            elif mark == cards.LOCKED + side:
                locked |= 1 << k
    return own, locked, first, last


@njit
def first_five(own: int, first: int, last: int) -> int:
    """The bits of the first five own chips in a row, or 0."""
    for start in range(first, last - 3):
        if (own >> start) & 31 == 31:
            return 31 << start
    return 0


@njit
def first_sharing(own: int, locked: int, first: int, last: int, only_plain: bool) -> int:
    """The bits of the first five of which at most one is locked: none rather than one, the last rather than the first.

    `only_plain` looks for those without a locked chip.
    """
    five = first_five(own, first, last)
    if five or only_plain:
        return five
    for shared in range(4, -1, -1):
        for start in range(first, last - 3):
            if (locked >> start) & 31 == 1 << shared and ((own | locked) >> start) & 31 == 31:
                return 31 << start
    return 0


@njit
def owns_hearts(state: State, side: int) -> bool:
    """Whether all four hearts in the middle are the side's."""
    for heart in cards.HEARTS:
        if state["cells"][heart] != cards.CHIP + side and state["cells"][heart] != cards.LOCKED + side:
            return False
    return True


@njit
def lock(state: State, cell: int, side: int, fives: int) -> None:
    """Lock the chips whose bits are set, nine for each direction; a corner stays everybody's."""
    for direction in range(4):
        step = cards.SIZE * int(cards.STEPS[direction, 0]) + int(cards.STEPS[direction, 1])
        for k in range(9):
            if (fives >> (9 * direction + k)) & 1:
                place = cell + (k - 4) * step
                if state["cells"][place] == cards.CHIP + side:
                    state["cells"][place] = cards.LOCKED + side


@njit
def decide(state: State) -> None:
    """Set the outcome if a team has two sequences, nothing lies face up any more, or everybody has passed."""
    red = state["sequences"][0] + state["sequences"][2]
    blue = state["sequences"][1] + state["sequences"][3]
    empty = state["rules"] != cards.BOXED and state["display_size"] == 0
    if red >= cards.WIN or blue >= cards.WIN or empty or state["passes"] >= state["seats"]:
        state["outcome"] = DRAW if red == blue else FIRST_WINS + (blue > red)


# ---- what a seat cannot see ----


@njit
def determinize(state: State, seat: int, rng: Rng) -> None:
    """Deal the cards that `seat` does not know anew, all equally likely.

    The secret cards of the other hands go back to where they came from, are sorted, shuffled and dealt to the same
    places: those drawn since the last reshuffle come from the deck, older ones can only lie in places as old. They are
    sorted, so that the result does not depend on where they really lay.
    """
    deck, size = state["deck"], int(state["deck_size"])
    for age in range(state["reshuffles"] + 1):
        end = size  # the deck's unused end serves as the table
        for owner in range(state["seats"]):
            for k in range(state["held"][owner]):
                if owner != seat and state["drawn"][owner, k] == age:
                    deck[end] = state["hands"][owner, k]
                    end += 1
        start = 0 if age == state["reshuffles"] else size
        sort(deck, start, end)
        shuffle(deck, start, end, rng)
        for owner in range(state["seats"]):
            for k in range(state["held"][owner]):
                if owner != seat and state["drawn"][owner, k] == age:
                    end -= 1
                    state["hands"][owner, k] = deck[end]
                    deck[end] = cards.NO_CARD


@njit
def sort(pile: Cards, start: int, stop: int) -> None:
    """Put the cards of these places into ascending order."""
    for k in range(start + 1, stop):
        card, place = pile[k], k
        while place > start and pile[place - 1] > card:
            pile[place] = pile[place - 1]
            place -= 1
        pile[place] = card
