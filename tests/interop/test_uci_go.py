"""The command `go`: limits and clocks."""

from __future__ import annotations

import pytest

from plyground.interop.uci_go import Budget, Go, budget, read_go


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("", Go()),
        ("infinite", Go(infinite=True)),
        ("nodes 500 depth 3", Go(nodes=500, depth=3)),
        ("wtime 1000 btime 900 winc 10 binc 20 movestogo 5", Go(1000, 900, 10, 20, 5, clock=True)),
        ("wtime -50 btime 0", Go(clock=True)),
        ("ponder movetime 20", Go(movetime=20, ponder=True)),
        ("searchmoves e2e4 d2d4 nodes 7", Go(nodes=7, searchmoves=("e2e4", "d2d4"))),
        ("mate 3", Go(mate=3)),
        ("depth nodes 5", Go(nodes=5)),
        ("depth five hurry 3", Go(depth=3)),
        ("perft 3 depth 2", Go(depth=2)),
    ],
)
def test_words_become_limits_and_unknown_words_are_ignored(line: str, wanted: Go) -> None:
    assert read_go(line.split()) == wanted


def test_without_a_clock_there_is_no_budget() -> None:
    assert budget(Go(nodes=5), 0, 0.03) is None


def test_a_time_for_the_move_is_used() -> None:
    assert budget(Go(movetime=500), 0, 0.1) == Budget(0.5, 0.5, 0.5)
    assert budget(Go(movetime=1), 1, 0.1) == Budget(0.001, 0.001, 0.001)


@pytest.mark.parametrize("increment", [0, 10, 1000, 60_000])
@pytest.mark.parametrize("moves", [0, 1, 2, 40, 200])
@pytest.mark.parametrize("left", [0, 1, 20, 50, 100, 1000, 60_000, 3_600_000])
def test_no_move_takes_what_the_clock_does_not_have(left: int, moves: int, increment: int) -> None:
    for side in (0, 1):
        clock = (left, 7) if side == 0 else (7, left)
        go = Go(*clock, *((increment, 0) if side == 0 else (0, increment)), movestogo=moves, clock=True)
        found = budget(go, side, 0.03)
        assert found
        assert 0 < found.soft <= found.hard
        assert found.share <= found.hard <= max(0.001, left / 1000 - 0.03)


def test_a_clock_lasts_for_a_long_game() -> None:
    """200 moves that each take all that they may, with 1 s and 0.01 s a move."""
    left = 1000.0
    for _ in range(200):
        found = budget(Go(wtime=int(left), winc=10, clock=True), 0, 0.0)
        assert found
        left += 10 - 1000 * found.hard
        assert left > 0


def test_no_time_for_a_move_is_a_limit_too() -> None:
    found = budget(read_go(["movetime", "0"]), 0, 0.1)
    assert found
    assert found.hard == 0.001
