"""Opening books: start positions from a file, instead of random openings.

A book is a text file with an opening on each line: moves (`e2e4 c5 Nf3`, with or without their numbers), or a position
in the game's own text (`4453`, a FEN). A file that ends in .pgn has games; tags, comments and variations are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plyground.errors import Error, InvalidText, InvalidValue, shorten
from plyground.game import Game
from plyground.position import Position
from plyground.runs.files import read_text

SKIPPED = re.compile(r"\{[^}]*\}?|;[^\n]*|^%[^\n]*|\$\d+|[!?]+|\be\.p\.", re.MULTILINE)
UNCLOSED = re.compile(r"\{[^}]*")
NUMBER = re.compile(r"\b\d+\.+")  # without \b a long string of digits takes minutes
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")


def read_openings(path: Path, game: Game, plies: int = 0) -> NDArray[np.void]:
    """[N] the position after each opening of a file, or after its first `plies` plies; all games go on there."""
    text = read_text(path, "openings")
    if path.suffix == ".pgn":
        lines = enumerate(_games(text), start=1)
        found = [_after(game, line, plies, f"game {number} of {path}") for number, line in lines]
    else:
        lines = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
        given = [(number, line) for number, line in lines if line and not line.startswith("#")]
        found = [_after(game, line, plies, f"line {number} of {path}") for number, line in given]
    if not found:
        raise InvalidValue(f"{path} has no openings of {game}: write the moves of one, or a position, on each line")
    return np.concatenate([position.states for position in found])


def _games(text: str) -> Iterator[str]:
    """The moves of each game of a PGN text, in one line each. What is not closed stays, and is no legal move."""
    plain = _without_variations(SKIPPED.sub(lambda found: "{" if UNCLOSED.fullmatch(found[0]) else " ", text))
    moves = list[str]()
    for line in (*plain.split("\n"), "[]"):
        if line.strip()[:1] == "[" and line.rstrip()[-1:] == "]":  # a tag: the game before it has ended
            if moves:
                yield " ".join(moves)
            moves = []
        else:
            moves += line.split()


def _without_variations(text: str) -> str:
    """A text without what stands in brackets, which may be nested."""
    kept, opened = list[str](), list[int]()  # places in `kept` of brackets that are not closed yet
    for part in re.split(r"([()])", text):
        if part == ")" and opened:
            del kept[opened.pop() :]
            kept.append(" ")
            continue
        if part == "(":
            opened.append(len(kept))
        kept.append(part)
    return "".join(kept)


def _after(game: Game, line: str, plies: int, where: str) -> Position:
    """The position that a line of moves leads to, or that it is."""
    words = [word for word in NUMBER.sub(" ", line).split() if word not in RESULTS]
    position = game.start()
    try:
        try:
            for word in words[: plies or None]:
                position = position.play(word)
        except Error:
            if position != game.start():  # some of it was played: it is a line of moves
                raise
            position = game.position(line)
    except Error as error:
        raise InvalidText(f"{where}: {error}") from None
    if position.over:
        why = f"the game is over after {shorten(line)!r}"
        raise InvalidText(f"{where}: {why}; --opening-plies takes fewer of its plies")
    return position


def pick_openings(book: NDArray[np.void], n: int, seed: int) -> NDArray[np.void]:
    """[n] positions of a book in random order, each as often as the others as far as that is possible."""
    rounds = -(-n // len(book))
    rng = np.random.default_rng(seed % 2**64)
    return book[np.concatenate([rng.permutation(len(book)) for _ in range(rounds)])[:n]]
