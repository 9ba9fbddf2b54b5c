"""A connected page: what it is sent, how fast it may ask, and what it has open."""

from __future__ import annotations

import asyncio
import time

from plyground.web import messages
from plyground.web.messages import Sent, Stamped

PER_SECOND, BURST = 40.0, 120.0  # requests
MOST_WAITING = 400  # messages that a page has not read; then it is disconnected
MOST_REFUSED = 500  # requests too many; then it is disconnected
FORGIVEN = 10.0  # of these in a second


class Rate:
    """A token bucket."""

    def __init__(self, now: float) -> None:
        self.tokens, self.then, self.refused = BURST, now, 0.0  # `refused` of late: it decays

    def allows(self, now: float) -> bool:
        self.tokens = min(BURST, self.tokens + (now - self.then) * PER_SECOND)
        self.refused = max(0.0, self.refused - (now - self.then) * FORGIVEN)
        self.then = now
        if self.tokens < 1.0:
            self.refused += 1.0
            return False
        self.tokens -= 1.0
        return True


class Page:
    """One socket's side of the conversation."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[str | None] = asyncio.Queue()  # None: disconnect
        self.rate = Rate(time.monotonic())
        self.tables: set[str] = set()  # those that it has opened
        self.task: asyncio.Task[None] | None = None  # its analysis, review or ladder
        self.requests: set[asyncio.Task[None]] = set()  # that are carried out
        self.hint: asyncio.Task[None] | None = None
        self.runs: dict[str, int] = {}  # followed runs: how many points it was sent
        self.policy: tuple[str, str] = ("", "")  # the run and the position whose policy it is sent
        self.policy_step = -1  # the newest checkpoint whose policy was asked for
        self.policy_task: asyncio.Task[None] | None = None
        self.gone, self.why = False, ""  # and why it was disconnected

    def send(self, message: Sent | Stamped) -> None:
        self.send_text(messages.encode(message))

    def send_text(self, text: str) -> None:
        """Queue a message; a page that does not read is disconnected."""
        if self.gone:
            return
        if self.waiting.qsize() >= MOST_WAITING:
            self.disconnect("it does not read what it is sent")
        else:
            self.waiting.put_nowait(text)

    def disconnect(self, why: str = "") -> None:
        self.gone, self.why = True, self.why or why
        self.waiting.put_nowait(None)

    def refuse(self, request: int, text: str, reason: str = "refused") -> None:
        self.send(messages.Refused(request, text, reason))

    def stop_task(self) -> None:
        if self.task is not None:
            self.task.cancel()
            self.task = None

    def stop_hint(self) -> None:
        if self.hint is not None:
            self.hint.cancel()
            self.hint = None
