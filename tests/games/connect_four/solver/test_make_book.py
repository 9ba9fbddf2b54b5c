"""Making an opening book: its positions, and their scores by search."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from plyground.games.connect_four.solver.book import SHIPPED, UNKNOWN, Book, read, shipped
from plyground.games.connect_four.solver.make_book import boards, main
from plyground.games.connect_four.solver.solver import Solver

pytestmark = pytest.mark.compiled


def test_the_book_is_small_and_complete() -> None:
    book, file = shipped(), resources.files("plyground.games.connect_four.solver") / SHIPPED
    assert len(file.read_bytes()) < 600_000
    assert book.keys.tolist() == boards(book.ply)[2].tolist()
    assert np.abs(book.scores).max() <= 15


def test_a_book_that_was_stopped_is_completed_and_keeps_what_it_has(tmp_path: Path) -> None:
    """Of two plies; the scores that the file has already are trusted, not searched again."""
    path, (mine, theirs, keys) = tmp_path / "book.xz", boards(2)
    scores = np.full(len(keys), 5, np.int8)
    scores[-1] = UNKNOWN
    Book(2, keys, scores).save(path)
    given = Solver(shipped(), threads=1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("plyground.games.connect_four.solver.make_book.Solver", lambda threads: given)
        main(2, path)
    made = read(path)
    assert made.keys.tolist() == keys.tolist()
    assert made.scores[:-1].tolist() == [5] * (len(keys) - 1)
    assert made.scores[-1] == given.solve(mine[-1:], theirs[-1:])[0]


def test_the_book_agrees_with_the_search() -> None:
    searching = Solver(threads=1)
    mine, theirs, _ = boards(shipped().ply)
    rows = np.random.default_rng(8).choice(len(mine), 4, replace=False)
    assert (searching.solve(mine[rows], theirs[rows]) == shipped().scores[rows]).all()


@pytest.mark.slow
def test_more_of_the_book_agrees_with_the_search() -> None:
    mine, theirs, _ = boards(shipped().ply)
    rows = np.sort(np.random.default_rng(9).choice(len(mine), 150, replace=False))
    assert (Solver().solve(mine[rows], theirs[rows]) == shipped().scores[rows]).all()
