"""Sequence with strings and lists, written from the rules; it shares nothing with the compiled code."""

from __future__ import annotations

from collections import Counter

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
EVERY = [(row, column) for row in range(10) for column in range(10)]
PACK = [rank + suit for rank in "23456789tjqka" for suit in "shdc"]


def square(row: int, column: int) -> str:
    return "abcdefghij"[column] + str(row + 1)


def lines_through(row: int, column: int) -> list[list[tuple[int, int]]]:
    """Up to four cells on each side, in the four directions in which lines are looked at."""
    lines: list[list[tuple[int, int]]] = []
    for down, right in ((1, 0), (0, 1), (1, 1), (1, -1)):
        places = [(row + k * down, column + k * right) for k in range(-4, 5)]
        lines.append([(y, x) for y, x in places if 0 <= y <= 9 and 0 <= x <= 9])
    return lines


def detect(chips: list[list[str]], row: int, column: int, colour: str, hearts: bool, compat: bool) -> int:
    """Count the sequences that the chip just placed completes, and lock them."""
    locked = {"r": "X", "b": "O"}[colour]
    found: list[list[tuple[int, int]]] = []
    total, shared = 0, False
    for places in lines_through(row, column):
        line = "".join(colour if chips[y][x] == "#" else chips[y][x] for y, x in places)
        if line == 9 * colour:
            total += 3 if compat else 2
            found.append(places)
            continue
        patterns = [5 * colour]
        if locked in line and not (compat and shared):
            patterns += [colour * k + locked + colour * (4 - k) for k in (4, 3, 2, 1, 0)]
        hits = [line.find(pattern) for pattern in patterns if pattern in line]
        if hits:
            total += 1
            shared |= locked in line
            found.append(places[hits[0] : hits[0] + 5])
    centre = [(4, 4), (4, 5), (5, 4), (5, 5)]
    if hearts and all(chips[y][x] in (colour, locked) for y, x in centre):
        total += 2
        found.append(centre)
    for y, x in [place for places in found for place in places]:
        chips[y][x] = locked if chips[y][x] == colour else chips[y][x]
    return total if compat else min(total, 2)


class Table:
    """One game. The deck's last card is drawn next; whoever wants a reshuffle says in `next_deck` what chance did."""

    def __init__(
        self, boxed: bool, seats: int, compat: bool, hands: list[list[str]], display: list[str], deck: list[str]
    ):
        self.boxed, self.seats, self.compat = boxed, seats, compat
        self.hands, self.display, self.deck = hands, display, deck
        self.chips = [["#" if BOARD[y][x] == "jk" else "_" for x in range(10)] for y in range(10)]
        self.discards: list[str] = []
        self.next_deck: list[str] = []
        self.scores = [0] * seats
        self.turn = self.passes = self.reshuffles = 0
        self.traded = False

    def rows(self) -> list[str]:
        return ["".join(row) for row in self.chips]

    def totals(self) -> tuple[int, int]:
        return sum(self.scores[0::2]), sum(self.scores[1::2])

    def outcome(self) -> str:
        red, blue = self.totals()
        no_cards = not self.boxed and not self.display
        if max(red, blue) < 2 and not no_cards and self.passes < self.seats:
            return "RUNNING"
        return "FIRST_WINS" if red > blue else "SECOND_WINS" if blue > red else "DRAW"

    def legal(self) -> set[str]:
        if self.outcome() != "RUNNING":
            return set()
        hand, enemy = self.hands[self.turn], "br"[self.turn % 2]
        empty = [(y, x) for y, x in EVERY if self.chips[y][x] == "_"]
        alive = {BOARD[y][x] for y, x in empty}
        trades = {f"trade {card}" for card in hand if card[0] != "j" and card not in alive and not self.traded}
        takes = [""] if self.boxed else [f" take {card}" for card in self.display]
        if trades and not self.boxed:
            return {trade + take for trade in trades for take in takes} | {"decline"}
        plays = trades if self.boxed else set[str]()
        plays |= {f"place {BOARD[y][x]} {square(y, x)}" for y, x in empty if BOARD[y][x] in hand}
        plays |= {f"place {jack} {square(y, x)}" for jack in ("jd", "jc") if jack in hand for y, x in empty}
        targets = [(y, x) for y, x in EVERY if self.chips[y][x] == enemy]
        plays |= {f"remove {square(y, x)} with {jack}" for jack in ("jh", "js") if jack in hand for y, x in targets}
        return {play + take for play in plays for take in takes} or {"pass"}

    def play(self, name: str) -> None:
        what, _, taken = name.partition(" take ")
        words = what.split()
        if words[0] == "decline":
            self.traded = True
            return
        if words[0] == "pass":
            self.passes += 1
        else:
            card = {"place": 1, "trade": 1, "remove": 3}[words[0]]
            self._exchange(words[card], taken)
            if words[0] == "trade":
                self.traded = True
                return
            self.passes = 0
            place = words[2] if words[0] == "place" else words[1]
            row, column = int(place[1:]) - 1, "abcdefghij".index(place[0])
            if words[0] == "remove":
                self.chips[row][column] = "_"
            else:
                colour = "rb"[self.turn % 2]
                self.chips[row][column] = colour
                self.scores[self.turn] += detect(self.chips, row, column, colour, not self.boxed, self.compat)
        self.traded = False
        self.turn = (self.turn + 1) % self.seats

    def _exchange(self, card: str, taken: str) -> None:
        hand = self.hands[self.turn]
        hand.remove(card)
        self.discards.append(card)
        if not self.boxed:
            self.display.remove(taken)
            hand.append(taken)
            if self.deck:
                self.display.append(self.deck.pop())
            return
        if not self.deck and self.reshuffles < 3:
            assert Counter(self.next_deck) == Counter(self.discards)
            self.deck, self.discards = self.next_deck, []
            self.reshuffles += 1
        if self.deck:
            hand.append(self.deck.pop())


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
