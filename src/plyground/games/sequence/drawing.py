"""Sequence as a picture of characters: the board, and what a seat sees of the cards."""

from __future__ import annotations

from collections.abc import Callable

from plyground.games.interface import RUNNING, State
from plyground.games.sequence.cards import BOXED, CARDS, CELL_OF, CORNERS, LAYOUT, NO_CARD, SIZE, SQUARES, TRADES
from plyground.games.sequence.text import SIDES, known_hand, last_name, seats_of, totals

NAMES = LAYOUT.split()
CHIPS = " ●○◆◇ "  # in the order of the cells' numbers; diamonds are locked
STYLES = {
    r"[2-9tqka][shdc][●◆]": "bold red",
    r"[2-9tqka][shdc][○◇]": "bold blue",
    r"★": "bold yellow",
    r"\b[2-9tjqka][hd]\b(?![●○◆◇])": "magenta",
    r"\b[2-9tjqka][sc]\b(?![●○◆◇])": "green",
    r"(?<=\[)[2-9tqka][shdc].(?=\])": "reverse",
}


def draw(state: State) -> str:
    """The board and everything on the table, all hands open."""
    return _picture(state, lambda seat: [CARDS[card] for card in state["hands"][seat][: state["held"][seat]]])


def observe(state: State, seat: int) -> str:
    """What a seat sees: its own hand, and of the others the cards that it knows."""

    def seen(owner: int) -> list[str]:
        cards = known_hand(state, seat, owner)
        return cards + ["??"] * (int(state["held"][owner]) - len(cards))

    return _picture(state, seen, seat)


def _picture(state: State, hand: Callable[[int], list[str]], looking: int | None = None) -> str:
    """Ten rows of cards with chips beside them; the last chip of each seat in brackets."""
    moves = (int(state["last"][seat]) for seat in seats_of(state))  # those that place or remove a chip have a cell
    marked = {int(CELL_OF[move % SQUARES]) for move in moves if 0 <= move < TRADES}
    lines = ["     " + "    ".join("abcdefghij")]
    for row in range(SIZE):
        cells = "".join(_cell(state, SIZE * row + column, marked) for column in range(SIZE))
        lines.append(f"{row + 1:2} {cells}".rstrip())
    red, blue = totals(state)
    lines += ["", f"sequences: red ● {red}, blue ○ {blue}   cards in the deck: {state['deck_size']}"]
    if state["rules"] != BOXED:
        lines.append(f"face up: {' '.join(CARDS[int(card)] for card in state['display'] if card != NO_CARD)}".rstrip())
    for seat in seats_of(state):
        who = f"{SIDES[seat % 2]}, seat {seat}{' (you)' if seat == looking else ''}"
        turn = " to move" if seat == state["turn"] and state["outcome"] == RUNNING else ""
        last = f"   last: {last_name(state, seat)}" if last_name(state, seat) else ""
        lines.append(f"{who}{turn}: {' '.join(hand(seat))}{last}")
    return "\n".join(lines)


def _cell(state: State, cell: int, marked: set[int]) -> str:
    """Five characters."""
    if cell in CORNERS:
        return "  ★  "
    inside = f"{NAMES[cell]}{CHIPS[state['cells'][cell]]}"
    return f"[{inside}]" if cell in marked else f" {inside} "
