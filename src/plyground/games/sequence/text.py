"""Sequence in words: texts of whole states and of what one seat sees, names of actions.

A state is one line of words, the board first, then `key=value`:

    #_________/.../#________# turn=0 hands=2s3s+,4cjd display=2c3c deck=... discards=... sequences=0,0

Cells: `_` empty, `#` corner, `r` and `b` chips, `X` and `O` locked ones (red, blue). In a hand, `+` follows a card that
everybody knows to be there, and a `'` for each reshuffle one that was drawn in secret later. The deck's last card is
drawn next. A seat's view has `??` for cards that it does not know, and the deck's size in place of the deck.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidText, shorten, unknown
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, State
from plyground.games.sequence import cards

MARKS = "_rbXO#"  # in the order of the cells' numbers
SIDES = ("red", "blue")
AIM = "two lines of five of your own chips; you place them by playing the cards that the board shows"
TYPING = "a card, a square and the card to take (2s b1 jd), or as much of it as tells the move"
LONGEST = 3000
MOST_COUNTED = 15  # sequences of a seat: nine in each of four directions, and the hearts, as the course counts them
TEN = re.compile(r"\b10([shdc])\b", re.IGNORECASE)  # a card, not the square `a10`
ITEM = re.compile(r"([2-9tjqka][shdc])(\+|'*)")
CARDS = re.compile(rf"\A(?:{ITEM.pattern})*")
BOARD = re.compile("#[_rbXO]{8}#(/[_rbXO]{10}){8}/#[_rbXO]{8}#")
FORM = "'#_________/... (ten rows) turn=0 hands=2s3s,4cjd display=2c3c deck=... discards=...'"

# ---- names ----


def action_name(state: State, action: int) -> str:
    """`place 2s b1 take jd`, `remove d4 with js take 4c`, `trade 2s take 4c`, `decline`, `pass`."""
    if action >= cards.DECLINE:
        return "decline" if action == cards.DECLINE else "pass"
    slot, move = divmod(int(action), cards.MOVES)
    return _took(cards.move_name(move), int(state["display"][slot]) if state["rules"] != cards.BOXED else cards.NO_CARD)


def read_action(state: State, typed: str, legal: Sequence[int]) -> list[int]:
    """The actions that a text with a ten as `10s` may mean: those whose names have all its words, the first one as
    early as possible, since a card to play comes before a card to take."""
    given = TEN.sub(r"t\1", typed).casefold().split()
    if not TEN.search(typed):
        return []
    names = {action: action_name(state, action).split() for action in legal}
    places = {a: words.index(given[0]) for a, words in names.items() if Counter(given) <= Counter(words)}
    return [action for action, place in places.items() if place == min(places.values())]


def last_name(state: State, seat: int) -> str:
    """What a seat did last, as everybody saw it; empty before its first action."""
    move = int(state["last"][seat])
    if move in (cards.DECLINE, cards.PASS):
        return action_name(state, move)
    return _took(cards.move_name(move), int(state["took"][seat])) if move >= 0 else ""


def _took(name: str, card: int) -> str:
    return name if card == cards.NO_CARD else f"{name} take {cards.CARDS[card]}"


def reason(state: State) -> str:
    """How the game ended."""
    outcome = int(state["outcome"])
    if outcome == RUNNING:
        return ""
    both = totals(state)
    if max(both) >= cards.WIN:
        winner = both.index(max(both))
        locked = all(int(state["cells"][cell]) == cards.LOCKED + winner for cell in cards.HEARTS)
        return "the heart block" if locked and state["rules"] != cards.BOXED else "two sequences"
    return "nobody can move" if state["passes"] >= state["seats"] else "no cards left to take"


def totals(state: State) -> list[int]:
    """The two teams' sequences."""
    return [int(state["sequences"][side]) + int(state["sequences"][side + 2]) for side in (0, 1)]


# ---- texts ----


def text(state: State) -> str:
    """The whole state, which `parse` reads back."""
    hands = [_hand(state, seat) for seat in seats_of(state)]
    return _line(state, hands, _cards(state["deck"]))


def view(state: State, seat: int) -> str:
    """What one seat knows, in the same form: unknown cards as `??`, the deck as a number."""
    hands = [_hand(state, owner, hide=owner != seat) for owner in seats_of(state)]
    return _line(state, hands, str(state["deck_size"]))


def _line(state: State, hands: list[str], deck: str) -> str:
    words = [
        "/".join(rows(state)),
        f"turn={state['turn']}",
        f"hands={','.join(hands)}",
        f"display={_cards(state['display'])}",
        f"deck={deck}",
        f"discards={_cards(state['discards'])}",
        f"sequences={','.join(str(state['sequences'][seat]) for seat in seats_of(state))}",
        f"last={','.join(last_name(state, seat).replace(' ', '-') for seat in seats_of(state))}",
    ]
    words += [f"{key}={state[key]}" for key in ("traded", "passes", "reshuffles") if state[key]]
    return " ".join(words)


def rows(state: State) -> list[str]:
    """The ten rows of the board, from the top."""
    marks = "".join([MARKS[cell] for cell in state["cells"].tolist()])
    return [marks[k : k + cards.SIZE] for k in range(0, cards.CELLS, cards.SIZE)]


def seats_of(state: State) -> range:
    return range(int(state["seats"]))


def _cards(pile: NDArray[np.int8]) -> str:
    numbers: list[int] = pile.tolist()
    return "".join([cards.CARDS[card] for card in numbers if card != cards.NO_CARD])


def _hand(state: State, seat: int, hide: bool = False) -> str:
    words: list[str] = []
    for card, drawn in zip(state["hands"][seat][: state["held"][seat]], state["drawn"][seat], strict=False):
        secret = hide and drawn != cards.OPEN
        words.append(("??" if secret else cards.CARDS[int(card)]) + ("+" if drawn == cards.OPEN else "'" * int(drawn)))
    return "".join(words)


# ---- counting cards ----


def known_hand(state: State, seat: int, owner: int) -> list[str]:
    """The cards that `seat` knows to be in the hand of `owner`: its own, or those that everybody saw it take."""
    held = zip(state["hands"][owner][: state["held"][owner]], state["drawn"][owner], strict=False)
    return [cards.CARDS[card] for card, drawn in held if owner == seat or drawn == cards.OPEN]


def pool(state: State, seat: int) -> Counter[str]:
    """The cards that `seat` has not located: in the deck or secret in other hands, with the number of copies."""
    left = Counter(cards.COPIES * cards.CARDS)
    for owner in seats_of(state):
        left.subtract(known_hand(state, seat, owner))
    for pile in ("display", "discards"):
        left.subtract(cards.CARDS[int(card)] for card in state[pile] if card != cards.NO_CARD)
    return +left


# ---- reading ----


def parse(source: str, state: State) -> None:
    """Read a whole state; keys that are missing are empty or 0."""
    if len(source) > LONGEST:
        raise InvalidText(f"a Sequence text has at most {LONGEST} characters, not {len(source)}: {shorten(source)!r}")
    board, *words = source.split() or [""]
    values: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key in values:
            raise InvalidText(f"cannot read {shorten(word)!r} in a Sequence text; write {FORM}, each key once")
        if key not in READERS:
            raise InvalidText(str(unknown("part of a Sequence text", key, READERS)))
        values[key] = value
    _read_board(board, state)
    for name in ("hands", "display", "deck", "discards", "took"):
        state[name] = cards.NO_CARD
    state["last"] = -1
    for key, value in values.items():
        READERS[key](key, value, state)
    state["to_move"] = state["turn"] % 2
    red, blue = totals(state)
    empty = state["rules"] != cards.BOXED and state["display_size"] == 0
    over = red >= cards.WIN or blue >= cards.WIN or empty or state["passes"] >= state["seats"]
    state["outcome"] = RUNNING if not over else DRAW if red == blue else FIRST_WINS + (blue > red)


def _read_board(source: str, state: State) -> None:
    if BOARD.fullmatch(source):
        state["cells"] = [MARKS.index(mark) for mark in source if mark != "/"]
        return
    lines = source.split("/")
    if len(lines) != cards.SIZE or any(len(line) != cards.SIZE for line in lines):
        raise InvalidText(f"a Sequence text begins with ten rows of ten cells, not {shorten(source)!r}; write {FORM}")
    marks = [(mark, cell, cell in cards.CORNERS) for cell, mark in enumerate("".join(lines))]
    mark, cell, corner = next(each for each in marks if each[0] not in MARKS or (each[0] == "#") != each[2])
    right = "the corner holds only '#'" if corner else "a cell is '_', 'r', 'b', 'X' or 'O'"
    raise InvalidText(f"{mark!r} at {cards.cell_name(cell)}: {right}")


def _read_cards(key: str, value: str, most: int) -> list[tuple[int, int]]:
    """Cards and what follows them: `2s3s+` is [(0, 0), (1, OPEN)]."""
    if rest := CARDS.sub("", value, count=1):
        hidden = "; this is a seat's view, which does not tell the whole state" if "?" in value else ""
        raise InvalidText(
            f"no card {rest[:2]!r} in {key}={shorten(value)}; a card is a rank 2-9 t j q k a and a suit s h d c{hidden}"
        )
    found = ITEM.findall(value)
    if len(found) > most:
        raise InvalidText(f"{key} holds at most {most} cards, not {len(found)}: {shorten(value)!r}")
    return [(cards.NUMBER_OF[card], cards.OPEN if drawn == "+" else len(drawn)) for card, drawn in found]


def _read_pile(key: str, value: str, state: State) -> None:
    """The display, the deck or the discards."""
    if value.isdigit():
        raise InvalidText(f"{key}={shorten(value)} lists no cards: this is a seat's view, not a whole state")
    read = _read_cards(key, value, cards.SLOTS if key == "display" else cards.ALL_CARDS)
    state[key][: len(read)] = [card for card, _ in read]
    state[f"{key}_size"] = len(read)


def _read_hands(key: str, value: str, state: State) -> None:
    most = cards.hand_size(int(state["rules"]), int(state["seats"]))
    for seat, part in _parts(key, value, state):
        read = _read_cards(key, part, most)
        if max((drawn for _, drawn in read), default=0) > cards.MOST_RESHUFFLES:
            raise InvalidText(f'{key}={shorten(value)}: a card has at most {cards.MOST_RESHUFFLES} "\'" (reshuffles)')
        state["held"][seat] = len(read)
        state["hands"][seat][: len(read)] = [card for card, _ in read]
        state["drawn"][seat][: len(read)] = [drawn for _, drawn in read]


def _read_last(key: str, value: str, state: State) -> None:
    for seat, part in _parts(key, value, state):
        name, _, card = part.replace("-", " ").partition(" take ")
        if part and (name not in LAST_MOVES or (card and card not in cards.NUMBER_OF)):
            raise InvalidText(f"no action {shorten(part)!r} in last=; write 'place-2s-b1-take-jd'")
        state["last"][seat] = LAST_MOVES[name] if part else -1
        state["took"][seat] = cards.NUMBER_OF[card] if card else cards.NO_CARD


def _read_sequences(key: str, value: str, state: State) -> None:
    for seat, part in _parts(key, value, state):
        state["sequences"][seat] = _number(key, part, MOST_COUNTED)


def _read_count(key: str, value: str, state: State) -> None:
    seats = int(state["seats"])
    most = {"turn": seats - 1, "traded": 1, "passes": seats, "reshuffles": cards.MOST_RESHUFFLES}[key]
    state[key] = _number(key, value, most)


def _parts(key: str, value: str, state: State) -> list[tuple[int, str]]:
    parts = value.split(",")
    if len(parts) != int(state["seats"]):
        raise InvalidText(f"{key}={shorten(value)} has {len(parts)} parts for {state['seats']} seats")
    return list(enumerate(parts))


def _number(key: str, value: str, most: int) -> int:
    if not (value.isascii() and value.isdigit() and int(value) <= most):
        raise InvalidText(f"{key} is a number from 0 to {most}, not {shorten(value)!r}")
    return int(value)


_moves = {cards.move_name(move): move for move in range(cards.MOVES)}
LAST_MOVES = _moves | {"decline": cards.DECLINE, "pass": cards.PASS}
READERS: dict[str, Callable[[str, str, State], None]] = {
    "hands": _read_hands,
    "sequences": _read_sequences,
    "last": _read_last,
    **dict.fromkeys(("display", "deck", "discards"), _read_pile),
    **dict.fromkeys(("turn", "traded", "passes", "reshuffles"), _read_count),
}


# ---- what can be wrong ----


def problems(state: State) -> list[str]:
    """Everything that keeps a state from being reached in a game."""
    boxed, seats = state["rules"] == cards.BOXED, int(state["seats"])
    dealt = cards.hand_size(int(state["rules"]), seats)
    found = limits(state) + _card_problems(state)
    for seat in range(seats):
        if state["held"][seat] != dealt and not (boxed and state["reshuffles"] == cards.MOST_RESHUFFLES):
            found.append(f"seat {seat} holds {state['held'][seat]} cards, not {dealt}")
    if not boxed and state["deck_size"] and state["display_size"] != cards.SLOTS:
        found.append(f"{state['display_size']} cards lie face up while the deck has some: there are {cards.SLOTS}")
    cells = state["cells"].tolist()
    chips = len(cells) - cells.count(cards.EMPTY) - cells.count(cards.CORNER)
    if not state["reshuffles"] and chips > state["discards_size"]:
        found.append(f"{chips} chips on the board, but only {state['discards_size']} cards were played")
    for side, total in enumerate(totals(state)):
        locked = cards.LOCKED + side in cells
        if locked != (total > 0):
            found.append(f"{SIDES[side]} has {total} sequences and {'some' if locked else 'no'} locked chips")
    return found


def limits(state: State) -> list[str]:
    """More cards than there are, for which the piles have no room; and cards that the rules do not know."""
    found = list[str]()
    sizes = [int(state[name]) for name in ("display_size", "deck_size", "discards_size")]
    count = sum(sizes) + int(state["held"].sum())
    if count > cards.ALL_CARDS:
        found.append(f"{count} cards (there are {cards.ALL_CARDS})")
    if state["rules"] == cards.BOXED and state["display_size"]:
        found.append("cards lie face up, which the boxed rules do not know")
    return found


def _card_problems(state: State) -> list[str]:
    """Each card exists twice."""
    piles = (state["hands"].reshape(-1), state["display"], state["deck"], state["discards"])
    counts = np.bincount(np.concatenate(piles) - cards.NO_CARD, minlength=len(cards.CARDS) + 1)[1:].tolist()
    many = [f"{counts[k]} copies of {cards.CARDS[k]}" for k in range(len(cards.CARDS)) if counts[k] > cards.COPIES]
    few = [cards.CARDS[k] for k in range(len(cards.CARDS)) if counts[k] < cards.COPIES]
    found = [f"{', '.join(many)} (there are {cards.COPIES})"] if many else []
    if few:
        found.append(f"missing cards: {shorten(' '.join(few), 60)} (each is there {cards.COPIES} times)")
    return found
