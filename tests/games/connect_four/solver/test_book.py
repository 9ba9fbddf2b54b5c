"""The opening book: its file, and the shipped one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plyground.errors import InvalidValue
from plyground.games.connect_four.solver.book import Book, read, shipped


def test_a_book_reads_back(tmp_path: Path) -> None:
    book = Book(3, np.array([5, 700, 2**48], np.uint64), np.array([-4, -128, 7], np.int8))
    book.save(tmp_path / "book.xz")
    again = read(tmp_path / "book.xz")
    assert (again.ply, again.keys.tolist(), again.scores.tolist()) == (3, book.keys.tolist(), [-4, -128, 7])
    assert again.known().scores.tolist() == [-4, 7]
    (tmp_path / "bad.xz").write_bytes(b"nonsense")
    with pytest.raises(InvalidValue, match="cannot read the book"):
        read(tmp_path / "bad.xz")


def test_the_positions_of_the_shipped_book_ascend_and_are_solved() -> None:
    book = shipped()
    assert (np.diff(book.keys.astype(object)) > 0).all()
    assert len(book.known().keys) == len(book.keys)
