"""The server: static files, one socket for each page, and the loop that follows runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from plyground.web import requests
from plyground.web.house import House
from plyground.web.page import MOST_REFUSED, Page
from plyground.web.trust import COOKIE, HEADERS, Trust

STATIC = Path(__file__).parent / "static"
REFUSED, TOO_MANY, TOO_LARGE = 1008, 1013, 1009  # codes of closed sockets
MOST_MALFORMED = 50  # messages that are no requests; then the page is disconnected
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Gate:
    """Checks Host, Origin and token before anything else sees a request, and adds the security headers."""

    def __init__(self, app: Any, trust: Trust) -> None:
        self.app, self.trust = app, trust

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        tokens = connection.query_params.get("token"), connection.cookies.get(COOKIE)  # a cookie may be an old one
        given = next((each for each in tokens if self.trust.accepts_token(each)), None)
        refusal = self.trust.refusal(connection.headers, given, scope["type"] == "websocket")
        if scope["type"] == "websocket":
            await (_close(receive, send) if refusal else self.app(scope, receive, send))
            return
        answer = self.app
        if refusal:
            answer = PlainTextResponse(f"Refused: {refusal}.\n", 403)
        elif self.trust.token and "token" in connection.query_params:  # from now on in a cookie, not in the address
            answer = RedirectResponse(connection.url.path, 303)
            answer.set_cookie(COOKIE, self.trust.token, httponly=True, samesite="strict")
        await answer(scope, receive, _with_headers(send))


async def _close(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": REFUSED})


def _with_headers(send: Send) -> Send:
    added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added, (b"cache-control", b"no-cache")]
        await send(message)

    return sending


class Sockets:
    """The route `/socket`."""

    def __init__(self, house: House) -> None:
        self.house = house

    async def connect(self, socket: WebSocket) -> None:
        page = Page()
        await socket.accept()
        if not self.house.enter(page):
            await socket.close(TOO_MANY, "too many pages are open on this server")
            return
        writer = asyncio.create_task(self._write(socket, page))
        try:
            await self._read(socket, page)
        except (WebSocketDisconnect, RuntimeError):  # RuntimeError: it was closed by our side
            pass
        finally:
            self.house.leave(page)
            writer.cancel()
            with suppress(asyncio.CancelledError):
                await writer

    async def _write(self, socket: WebSocket, page: Page) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while (text := await page.waiting.get()) is not None:
                await socket.send_text(text)
            await socket.close(REFUSED)

    async def _read(self, socket: WebSocket, page: Page) -> None:
        malformed = 0
        while not page.gone:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            data = message.get("text") or message.get("bytes") or ""
            if not page.rate.allows(time.monotonic()):
                if page.rate.refused > MOST_REFUSED:
                    page.disconnect()
                elif page.rate.refused == 1.0:  # the first one of late
                    page.refuse(0, "that was too fast: wait a moment", "busy")
                continue
            try:
                if len(data) > requests.LARGEST:
                    raise ValueError(f"a message has at most {requests.LARGEST} bytes, not {len(data)}")
                request = requests.decode(data)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                malformed += 1
                page.refuse(0, f"this message is no request: {str(error)[:200]}")
                if malformed > MOST_MALFORMED:
                    page.disconnect()
                continue
            await self.house.handle(page, request)


def make_app(house: House, trust: Trust, prepare: bool = True) -> Gate:
    """The application, as uvicorn runs it; it may load all games before somebody asks for them."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        if prepare:
            house.tasks.start(house.prepare())
        house.tasks.start(house.follow_runs())
        house.tasks.start(house.tables.write_games())
        yield
        await house.close()

    async def index(request: Any) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    routes = [
        Route("/", index),
        WebSocketRoute("/socket", Sockets(house).connect),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Gate(Starlette(routes=routes, lifespan=lifespan), trust)
