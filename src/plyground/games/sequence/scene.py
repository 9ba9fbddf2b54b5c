"""Sequence as a scene: the board of cards and chips, the face-up cards, the seat's own hand, and its other choices.

Of the other hands a seat sees the cards that everybody knows, and the backs of the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from plyground.games.interface import RUNNING, State
from plyground.games.scene import Cell, Item, Scene, Zone, board, row, status
from plyground.games.sequence import cards
from plyground.games.sequence.text import SIDES, known_hand, reason, seats_of, totals

NAMES = cards.LAYOUT.split()


def scene(state: State, seat: int) -> Scene:
    """What a seat sees; chips of a sequence are marked `locked`."""
    grid = [[_board_cell(state, cards.SIZE * y + x) for x in range(cards.SIZE)] for y in range(cards.SIZE)]
    zones = [board(grid, [str(y + 1) for y in range(cards.SIZE)], "abcdefghij")]
    if state["rules"] != cards.BOXED:
        face_up = [cards.CARDS[int(card)] for card in state["display"] if card != cards.NO_CARD]
        zones.append(row("face up", _cards("take", face_up)))
    zones.append(row("hand", _cards("hand", known_hand(state, seat, seat))))
    for other in (each for each in seats_of(state) if each != seat):
        known = known_hand(state, seat, other)
        backs = ["back"] * (int(state["held"][other]) - len(known))
        zones.append(row(f"seat {other}", _cards(f"seat{other}", [*known, *backs])))
    if state["outcome"] == RUNNING and seat == state["turn"]:
        zones += _choices(state, seat)
    red, blue = totals(state)
    line = status(state, SIDES, reason(state))
    return Scene(tuple(zones), f"{line}; sequences {red} to {blue}; {state['deck_size']} cards in the deck")


def clicks(state: State, action: int) -> list[str]:
    """The card, the cell (or `trade`), and the face-up card that is taken; or `decline` or `pass`."""
    if action >= cards.DECLINE:
        return ["decline" if action == cards.DECLINE else "pass"]
    slot, move = divmod(int(action), cards.MOVES)
    where = "trade" if move >= cards.TRADES else cards.cell_name(int(cards.CELL_OF[move % cards.SQUARES]))
    path = [f"hand:{cards.CARDS[cards.MOVE_CARD[move]]}", where]
    return path if state["rules"] == cards.BOXED else [*path, f"take:{cards.CARDS[int(state['display'][slot])]}"]


def _board_cell(state: State, cell: int) -> Cell:
    held = int(state["cells"][cell])
    if held == cards.CORNER:
        return Cell(cards.cell_name(cell), (Item("corner"),))
    locked = held >= cards.LOCKED
    chip = () if held == cards.EMPTY else (Item("chip", held - (cards.LOCKED if locked else cards.CHIP)),)
    return Cell(cards.cell_name(cell), (Item(f"card:{NAMES[cell]}"), *chip), ("locked",) if locked else ())


def _cards(word: str, shown: Iterable[str]) -> list[Cell]:
    """A cell for each card; equal cards have one word in click paths."""
    seen, found = Counter[str](), list[Cell]()
    for card in shown:
        seen[card] += 1
        copy = "" if seen[card] == 1 else f":{seen[card]}"
        found.append(Cell(f"{word}:{card}{copy}", (Item(f"card:{card}"),), click=f"{word}:{card}"))
    return found


def _choices(state: State, seat: int) -> list[Zone]:
    """What the seat to act may do without a chip: trade a dead card or decline to, or pass."""
    hand = [int(card) for card in state["hands"][seat][: state["held"][seat]]]
    board = [int(cell) for cell in state["cells"]]
    trades = not state["traded"] and any(_dead(board, card) for card in hand)
    target = cards.CHIP + 1 - int(state["to_move"])
    plays = any(
        not _dead(board, card) if card < cards.ORDINARY else (cards.EMPTY if card < cards.JH else target) in board
        for card in hand
    )
    words = ["trade"] if trades else []
    if trades and state["rules"] != cards.BOXED:
        words.append("decline")
    elif not trades and not plays:
        words.append("pass")
    return [row("choices", [Cell(word, (Item(word),)) for word in words])] if words else []


def _dead(board: list[int], card: int) -> bool:
    """Whether both cells of an ordinary card are taken."""
    return card < cards.ORDINARY and all(board[int(cell)] != cards.EMPTY for cell in cards.SPOTS[card])
