"""Slices cover every row once, whatever the number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from plyground.kernels.threads import over_slices


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("rows", [0, 1, 7, 100])
def test_every_row_is_visited_once(rows: int, threads: int) -> None:
    seen = np.zeros(rows, np.int64)

    def visit(part: slice) -> None:
        seen[part] += 1

    over_slices(visit, rows, threads, chunk=5)
    assert (seen == 1).all()


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def fail(part: slice) -> None:
        if part.start:
            raise ValueError("in the second slice")

    with pytest.raises(ValueError, match="second slice"):
        over_slices(fail, 20, 2, chunk=5)
