"""The opening book: the scores of all positions of some ply that are not decided with the next stone or two.

Of a position and its mirror image only the one with the smaller key is stored (see `kernels.py`). The file holds the
differences of the ascending keys, byte by byte so that they compress well, and then the scores.
"""

from __future__ import annotations

import functools
import lzma
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue

SHIPPED = "book.xz"
UNKNOWN = -128  # the score of a position that is not solved yet
MAGIC = b"plyground book 1\n"


@dataclass(frozen=True)
class Book:
    """Positions of `ply` plies and their scores for the side to move."""

    ply: int
    keys: NDArray[np.uint64]  # [B] ascending
    scores: NDArray[np.int8]  # [B]

    @classmethod
    def empty(cls) -> Book:
        return cls(-1, np.zeros(0, np.uint64), np.zeros(0, np.int8))

    def known(self) -> Book:
        """The positions that have been solved."""
        solved = self.scores != UNKNOWN
        return Book(self.ply, self.keys[solved], self.scores[solved])

    def save(self, path: Path) -> None:
        """Write to another file and rename it: `make_book` may be stopped at any moment."""
        steps = np.diff(self.keys, prepend=np.uint64(0)).astype("<u8")
        columns = steps.view(np.uint8).reshape(-1, 8).T.tobytes()
        aside = path.with_suffix(".part")
        aside.write_bytes(lzma.compress(MAGIC + bytes([self.ply]) + columns + self.scores.tobytes()))
        aside.replace(path)


def read(path: Path) -> Book:
    """A book from its file."""
    try:
        data = lzma.decompress(path.read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise InvalidValue(f"cannot read the book {str(path)!r}: {error}") from None
    if not data.startswith(MAGIC) or (len(data) - len(MAGIC) - 1) % 9:
        raise InvalidValue(f"{str(path)!r} is not an opening book")
    body = np.frombuffer(data, np.uint8)[len(MAGIC) :]
    count = (len(body) - 1) // 9
    steps = np.ascontiguousarray(body[1 : 1 + 8 * count].reshape(8, count).T).view("<u8").reshape(-1)
    return Book(int(body[0]), np.cumsum(steps, dtype=np.uint64), body[1 + 8 * count :].view(np.int8).copy())


@functools.cache
def shipped() -> Book:
    """The book that comes with the package."""
    with resources.as_file(resources.files("plyground.games.connect_four.solver") / SHIPPED) as path:
        return read(path).known()
