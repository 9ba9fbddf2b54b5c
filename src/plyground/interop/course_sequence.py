"""Sequence with the interface of a university course's framework: actions as dictionaries, lists with duplicates, the
same shuffles.

The compiled rules play; this file only translates, and puts the deck into the order that the framework's generator
would give it. Scores are counted as in the framework (`compat_scores`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict, cast

import numpy as np

from plyground.errors import IllegalAction, InvalidValue, shorten
from plyground.game import load
from plyground.games.sequence import cards
from plyground.games.sequence.text import parse, rows
from plyground.position import Position
from plyground.runs.records import fit

Action = dict[str, Any]
KEYS = ("play_card", "draft_card", "type", "coords")
HELD = cards.hand_size(0, 2)
DECK = [rank + suit for rank in "23456789tjqka" for suit in "dchs"] * cards.COPIES
"""the order in which the framework builds its deck"""
RESEEDINGS = 1000
MOST_SEQUENCES = 9  # more than any game has
EMPTY_BOARD = "#________#/" + "__________/" * 8 + "#________#"


class Case(TypedDict):
    """A position of the course's rule cases."""

    players: int
    to_move: int
    red: list[list[int]]
    blue: list[list[int]]
    red_locked: list[list[int]]
    blue_locked: list[list[int]]
    hand: list[str]
    display: list[str]
    team_sequences_before: dict[str, int]
    trade_used: bool
    deck_empty: bool


class CourseSequence:
    """One game: `legal_actions()` lists the framework's actions, `apply` plays one of them."""

    def __init__(self, seats: int = 2, seed: int = 1) -> None:
        self.game, self.actions_played = load("sequence", seats=seats, compat_scores=True), 0
        self._random = random.Random(seed)
        self._reseedings = [self._random.randint(0, 10**10) for _ in range(RESEEDINGS)]
        # five cards to the display, then six to each agent; the deck is shuffled before each of these
        state, deck = self._clear(), DECK.copy()
        self._random.shuffle(deck)

        def deal(count: int) -> list[str]:
            self._random.shuffle(deck)
            return [deck.pop() for _ in range(count)]

        _set_pile(state, "display", deal(cards.SLOTS))
        _set_hands(state, [deal(HELD) for _ in range(seats)])
        _set_pile(state, "deck", deck)

    @classmethod
    def from_case(cls, case: Mapping[str, Any]) -> CourseSequence:
        """The position of an entry of the course's rule cases.

        The other hands get some of the remaining cards; the others are the deck or, if it is empty, the discards.
        """
        read: Case = fit(case, Case, "the case")
        course = cls(read["players"], seed=0)
        seats, hand, turn, counts = read["players"], read["hand"], read["to_move"], read["team_sequences_before"]
        wrong = {  # numbers of agents, cards and sequences that no game has
            f"to_move is 0 to {seats - 1}, not {turn}": not 0 <= turn < seats,
            f"hand has up to {HELD} cards, not {len(hand)}": len(hand) > HELD,
            f"display has up to {cards.SLOTS} cards, not {len(read['display'])}": len(read["display"]) > cards.SLOTS,
            f"team_sequences_before has agents 0 to {seats - 1}, each with 0 to {MOST_SEQUENCES}, not {counts}": any(
                str(agent) not in map(str, range(seats)) or not 0 <= count <= MOST_SEQUENCES
                for agent, count in counts.items()
            ),
        }
        if found := [text for text, holds in wrong.items() if holds]:
            raise InvalidValue(f"{'; '.join(found)} (in the case)")
        state = course._clear()
        for side, (chips, locked) in enumerate(
            ((read["red"], read["red_locked"]), (read["blue"], read["blue_locked"]))
        ):
            _set_chips(state, chips, cards.CHIP + side)
            _set_chips(state, locked, cards.LOCKED + side)
        for agent, count in counts.items():
            state["sequences"][int(agent)] = count
        state["turn"], state["to_move"], state["traded"] = turn, turn % 2, read["trade_used"]
        left = _without(DECK, [*hand, *read["display"]])
        hands = [left[HELD * k : HELD * (k + 1)] for k in range(course.seats)]
        rest = left[HELD * course.seats :] + hands[turn]
        hands[turn] = list(hand)
        _set_hands(state, hands)
        _set_pile(state, "display", read["display"])
        _set_pile(state, "discards" if read["deck_empty"] else "deck", rest)
        return course

    # ---- the framework's state ----

    @property
    def seats(self) -> int:
        return int(self.position.state["seats"])

    @property
    def over(self) -> bool:
        return self.position.over

    @property
    def to_move(self) -> int:
        """The agent to act."""
        return int(self.position.state["turn"])

    @property
    def scores(self) -> list[int]:
        """The sequences that each agent has completed; a team has the sum of its agents."""
        return [int(count) for count in self.position.state["sequences"][: self.seats]]

    @property
    def display(self) -> list[str]:
        """The face-up cards, in order."""
        return _names(self.position.state["display"])

    @property
    def hands(self) -> list[list[str]]:
        """Each agent's cards, in order."""
        return [_names(hand) for hand in self.position.state["hands"][: self.seats]]

    @property
    def deck_size(self) -> int:
        return int(self.position.state["deck_size"])

    @property
    def trade_used(self) -> bool:
        """Whether the agent to act has answered the trade question."""
        return bool(self.position.state["traded"])

    def rows(self) -> list[str]:
        """The board's ten lines of marks: `_` empty, `#` corner, `r` `b` chips, `X` `O` locked ones."""
        return rows(self.position.state)

    # ---- actions ----

    def legal_actions(self) -> list[Action]:
        """The framework's legal actions in its order: hand, cells, display; equal cards give equal actions."""
        legal = self.position.legal()
        moves = [move for move in legal if move < cards.MOVES]  # with the first face-up card; the others allow the same
        hand = self.hands[self.to_move]
        mine = [move for card in hand for move in moves if cards.CARDS[cards.MOVE_CARD[move]] == card]
        listed = [_dictionary(move, draft) for move in mine for draft in self.display]
        return listed + [_dictionary(move, "") for move in legal if move >= cards.DECLINE]

    def apply(self, action: Action) -> None:
        """Play a legal action, given as a dictionary; an error names its faults."""
        _check(action)
        for move in self.position.legal():
            if _dictionary(move, "" if move >= cards.DECLINE else self.display[move // cards.MOVES]) == action:
                break
        else:
            seen = f"{' '.join(self.hands[self.to_move])} with {' '.join(self.display)} on display"
            what = f"{shorten(str(dict(action)), 120)} is not legal"
            raise IllegalAction(f"{what} for agent {self.to_move}, who holds {seen}")
        self._random.seed(self._reseedings[(2 * self.actions_played) % RESEEDINGS])
        if move < cards.DECLINE:  # the framework shuffles before each card that it turns up
            deck = _names(self.position.state["deck"])
            self._random.shuffle(deck)
            _set_pile(self.position.state, "deck", deck)
        self.position = self.position.play(move)
        self.actions_played += 1

    def _clear(self) -> np.void:
        """Set an empty board without cards, and return its state."""
        self.position = Position(self.game, self.game.blank.copy())
        parse(EMPTY_BOARD, self.position.state)
        self.position.state["outcome"] = 0  # the framework computes it after the next action
        return self.position.state


def _dictionary(move: int, draft: str) -> Action:
    """A move of the compiled rules, with the card that is taken from the display, as the framework's dictionary."""
    if move >= cards.DECLINE:
        return dict.fromkeys(KEYS) | {"type": "trade" if move == cards.DECLINE else "pass"}
    move %= cards.MOVES
    kind = "trade" if move >= cards.TRADES else "remove" if move // cards.SQUARES >= cards.BY_JH else "place"
    coords = None if kind == "trade" else divmod(int(cards.CELL_OF[move % cards.SQUARES]), cards.SIZE)
    return {"play_card": cards.CARDS[cards.MOVE_CARD[move]], "draft_card": draft, "type": kind, "coords": coords}


def _check(action: object) -> None:
    """Refuse a value that is not an action of the framework."""
    if not isinstance(action, dict):
        raise InvalidValue(f"an action is a dictionary with the keys {', '.join(KEYS)}, not {shorten(repr(action))}")
    given = cast(Action, action)
    wrong = [f"the key {key!r} is missing" for key in KEYS if key not in given]
    wrong += [f"there is no key {shorten(repr(key))}" for key in given if key not in KEYS]
    for key in ("play_card", "draft_card"):
        card = given.get(key)
        if card is not None and not (isinstance(card, str) and card in cards.NUMBER_OF):
            wrong.append(f"{key} is no card: {shorten(repr(card))}")
    kind = given.get("type")
    if "type" in given and not (isinstance(kind, str) and kind in ("place", "remove", "trade", "pass")):
        wrong.append(f"type is place, remove, trade or pass, not {shorten(repr(kind))}")
    coords: Any = given.get("coords")
    pair = isinstance(coords, tuple) and [*map(type, cast("tuple[Any, ...]", coords))] == [int, int]
    if coords is not None and not pair:
        wrong.append(f"coords is a tuple (row, column) or None, not {shorten(str(given['coords']))}")
    if wrong:
        raise InvalidValue(f"{'; '.join(wrong)} (in the action {shorten(str(dict(given)), 120)})")


# ---- filling a record ----


def _names(numbers: Iterable[int]) -> list[str]:
    return [cards.CARDS[card] for card in numbers if card != cards.NO_CARD]


def _set_pile(state: np.void, name: str, pile: Sequence[str]) -> None:
    state[name] = cards.NO_CARD
    state[name][: len(pile)] = [cards.NUMBER_OF[card] for card in pile]
    state[f"{name}_size"] = len(pile)


def _set_hands(state: np.void, hands: Sequence[Sequence[str]]) -> None:
    """Set hands that no other seat knows."""
    for seat, hand in enumerate(hands):
        state["hands"][seat][: len(hand)] = [cards.NUMBER_OF[card] for card in hand]
        state["held"][seat] = len(hand)


def _set_chips(state: np.void, places: Iterable[Sequence[int]], mark: int) -> None:
    for place in places:
        if len(place) != 2:
            raise InvalidValue(f"a chip lies at (row, column), not at {shorten(repr(place))}")
        row, column = place
        cell = cards.SIZE * row + column
        if not (0 <= row < cards.SIZE and 0 <= column < cards.SIZE) or cell in cards.CORNERS:
            raise InvalidValue(f"no chip can lie at {(row, column)}: it is a corner or off the board")
        state["cells"][cell] = mark


def _without(deck: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The deck without these cards, each of which must be in it."""
    left = list(deck)
    for card in taken:
        if card not in cards.NUMBER_OF:
            raise InvalidValue(f"no card {shorten(repr(card))}; a card is a rank 2-9 t j q k a and a suit s h d c")
        if card not in left:
            raise InvalidValue(f"three copies of {card} in hand and display; there are {cards.COPIES}")
        left.remove(card)
    return left
