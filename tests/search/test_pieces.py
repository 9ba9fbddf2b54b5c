"""Searches run in pieces: all the work is done, a clock or a signal ends it, pieces fit their interval."""

from __future__ import annotations

import itertools
import math
import time

import pytest

from plyground.search.pieces import FASTEST_GROWTH, in_pieces


def test_all_that_is_left_is_done_and_no_more() -> None:
    done: list[int] = []
    times = list(in_pieces(done.append, lambda: 1000 - sum(done), 7))
    assert sum(done) == 1000
    assert done[0] == 7
    assert len(times) == len(done)
    assert all(after <= FASTEST_GROWTH * before for before, after in itertools.pairwise(done))


def test_pieces_fit_their_interval_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    done: list[int] = []

    def work(count: int) -> None:
        clock[0] += count / 10_000  # so many a second
        done.append(count)

    for _ in in_pieces(work, lambda: 0 if clock[0] >= 101.0 else 10**9, 1, 0.02, end=101.0):
        pass
    assert max(done) == pytest.approx(200, abs=1)
    assert clock[0] == pytest.approx(101.0, abs=0.001), "shorter pieces near the end"


def test_least_pieces_and_nothing_left() -> None:
    done: list[int] = []
    list(in_pieces(done.append, lambda: 100 - sum(done), 32, interval=0.0, least=32))
    assert done == [32, 32, 32, 4]
    assert not list(in_pieces(done.append, lambda: 0, 1))


def test_a_signal_ends_it() -> None:
    def work(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_pieces(work, lambda: 1, 1, end=math.inf))
