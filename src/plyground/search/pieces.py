"""`in_pieces`: how a search runs that a clock, Ctrl-C or somebody who watches may end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any

CLOCK_INTERVAL = 0.002  # seconds of a piece where a clock decides
SIGNAL_INTERVAL = 0.02  # seconds of a piece where only Ctrl-C does
FASTEST_GROWTH = 4  # of pieces: the first ones are too short to tell how fast the search is


def in_pieces(
    work: Callable[[int], Any],
    left: Callable[[], int],
    first: int,
    interval: float = CLOCK_INTERVAL,
    end: float = math.inf,
    least: int = 1,
) -> Iterator[float]:
    """Call `work(count)`, which computes for `count` nodes or simulations, while so many are `left` (0: no more), in
    pieces of about `interval` seconds, shorter ones near the time `end`: compiled code reads no clock and hears no
    Ctrl-C. The time is yielded after each piece. What is found must not depend on the pieces.
    """
    size = first
    while (most := left()) > 0:
        count, begun = min(size, most), time.perf_counter()
        work(count)
        now = time.perf_counter()
        fitting = int(count / max(now - begun, 1e-9) * max(min(interval, end - now), 0.0))
        size = max(least, min(FASTEST_GROWTH * size, fitting))
        yield now
