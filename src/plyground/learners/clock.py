"""Where the time goes: seconds by part, measured."""

from __future__ import annotations

import time


class Clock:
    """`lap("forward")` says what the time since the lap before was spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.last = time.perf_counter()

    def start(self) -> None:
        self.last = time.perf_counter()

    def lap(self, part: str) -> None:
        now = time.perf_counter()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self.last
        self.last = now
