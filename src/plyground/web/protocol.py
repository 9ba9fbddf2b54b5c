"""HTTP connections that end: uvicorn's, with a limit of time until a request is complete and a limit of their number.

uvicorn waits without end for the rest of a request that was begun, and holds any number of such connections.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from plyground.web.requests import LARGEST

PATIENCE = 10.0  # seconds for a request and its answer, from the connection or the answer before
MOST_CONNECTIONS = 200  # that are no sockets; a browser has up to six for each page that it loads
GRACE = 1  # seconds in which connections end when the server does


class Connection(H11Protocol):
    """One connection, until it becomes a socket of a page."""

    waiting: ClassVar[dict[Connection, TimerHandle]] = {}  # those of this process, the oldest first

    def connection_made(self, transport: Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._forget()
        super().handle_websocket_upgrade(event)
        socket: Any = self.transport.get_protocol()
        if not socket.handshake_initiated:  # it waits for the body that the head announces
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """The head of a request may be answered already, or just now, when its body turns out to be malformed."""
        if self.cycle:
            self.cycle.disconnected = True
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.end()

    def end(self) -> None:
        self._forget()
        self.transport.abort()

    def _wait(self) -> None:
        self._forget()
        self.waiting[self] = self.loop.call_later(PATIENCE, self.end)
        if len(self.waiting) > MOST_CONNECTIONS:
            next(iter(self.waiting)).end()

    def _forget(self) -> None:
        if timer := self.waiting.pop(self, None):
            timer.cancel()


def server_config(app: Any, log_level: str = "warning") -> uvicorn.Config:
    """How uvicorn serves the application."""
    return uvicorn.Config(
        app,
        http=Connection,
        log_level=log_level,
        access_log=False,
        server_header=False,
        ws="websockets-sansio",
        ws_max_size=3 * LARGEST,  # bytes: a character of a page, in UTF-16, has at most three
        ws_per_message_deflate=False,  # on this machine bytes cost less than packing them
        timeout_graceful_shutdown=GRACE,
    )
