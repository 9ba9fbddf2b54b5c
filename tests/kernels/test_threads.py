"""Slices cover every row once, whatever the number of threads."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from plyground.kernels.threads import CHUNK, available, limit, over_parts, over_slices


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("rows", [0, 1, 7, 100])
def test_every_row_is_visited_once(rows: int, threads: int) -> None:
    seen = np.zeros(rows, np.int64)

    def visit(part: slice) -> None:
        seen[part] += 1

    over_slices(visit, rows, threads, chunk=5)
    assert (seen == 1).all()


def test_every_thread_gets_its_slice_of_every_array() -> None:
    class Pair(NamedTuple):
        one: NDArray[np.int64]
        other: NDArray[np.int64]

    rows, sizes = 2 * CHUNK + 5, list[int]()
    pair, plain = Pair(np.arange(rows), np.zeros(rows, np.int64)), np.ones(rows, np.int64)

    def add(pair: Pair, plain: NDArray[np.int64]) -> None:
        pair.other[:] = pair.one + plain
        sizes.append(len(pair.one))

    over_parts(add, rows, 2, pair, plain)
    assert (pair.other == np.arange(1, rows + 1)).all()
    assert sorted(sizes) == [CHUNK + 2, CHUNK + 3]


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def fail(part: slice) -> None:
        if part.start:
            raise ValueError("in the second slice")

    with pytest.raises(ValueError, match="second slice"):
        over_slices(fail, 20, 2, chunk=5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    over_slices(lambda part: None, 20, 2, chunk=5)  # the parent's pool is running
    child = os.fork()
    if child == 0:
        over_slices(lambda part: None, 20, 2, chunk=5)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_process_can_be_limited_to_some_cores() -> None:
    cores = available()
    limit(1)
    try:
        assert available() == 1
        limit(2**31)
        assert available() == cores
    finally:
        limit(2**31)
