"""The server: static files, one socket for each page, and the loop that follows runs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from plyground.web import requests
from plyground.web.house import House
from plyground.web.page import MOST_REFUSED, Page
from plyground.web.trust import HEADERS, NO_TOKEN, Trust

STATIC = Path(__file__).parent / "static"
REFUSED, TOO_MANY = 1008, 1013  # codes of closed sockets
FAREWELL = 1.0  # seconds in which a page that is disconnected reads what it was sent
MONTH = 30 * 24 * 3600  # seconds for which a browser keeps the token
AGAIN = '<!doctype html><title>Plyground</title><meta http-equiv="refresh" content="0; url=/">'
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
        named = connection.query_params.get("token")
        tokens = (named or "").rpartition("token=")[2], connection.cookies.get(self.trust.cookie)  # or an old cookie
        given = next((each for each in tokens if self.trust.accepts_token(each)), None)
        refusal = self.trust.refusal(connection.headers, given, scope["type"] == "websocket")
        if scope["type"] == "websocket":
            if refusal:
                await receive()
                await send({"type": "websocket.close", "code": REFUSED})
            else:
                await self.app(scope, receive, send)
            return
        answer = self.app
        if refusal == NO_TOKEN and "text/html" in connection.headers.get("accept", ""):
            # A browser that another site or a file has sent here does not show its cookie, which is strict: the first
            # answer lets it ask again from here.
            came = [connection.headers.get(f"sec-fetch-{name}") for name in ("site", "mode")]
            elsewhere = came == ["cross-site", "navigate"]
            answer = HTMLResponse(AGAIN if elsewhere else (STATIC / "token.html").read_bytes(), 403)
        elif refusal:
            answer = PlainTextResponse(f"Refused: {refusal}.\n", 403)
        elif named:  # from now on in a cookie, not in the address
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self.trust.cookie, self.trust.token, MONTH, httponly=True, samesite="strict")

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *added, (b"cache-control", b"no-cache")]
            await send(message)

        await answer(scope, receive, send_with_headers)


async def connect(house: House, socket: WebSocket) -> None:
    """The route `/socket`."""
    page = Page()
    await socket.accept()
    if not house.enter(page):
        await socket.close(TOO_MANY, "too many pages are open on this server")
        return

    async def write() -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while (text := await page.waiting.get()) is not None:
                await house.tables.store.written(page.tables)  # what is shown survives a crash
                await socket.send_text(text)
            await socket.close(REFUSED, page.why)

    writer = asyncio.create_task(write())
    try:
        await _read(house, socket, page)
    except (WebSocketDisconnect, RuntimeError):  # RuntimeError: it was closed by our side
        pass
    finally:
        patience = FAREWELL if page.gone else 0.0
        await house.leave(page)
        await asyncio.wait([writer], timeout=patience)
        writer.cancel()
        with suppress(asyncio.CancelledError):
            await writer


async def _read(house: House, socket: WebSocket, page: Page) -> None:
    malformed = 0
    while not page.gone:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        data = message.get("text") or message.get("bytes") or ""
        if not page.rate.allows(time.monotonic()):
            page.refuse(requests.number_of(data), "that was too fast: wait a moment", "busy")
            if page.rate.refused > MOST_REFUSED:
                page.disconnect("far too many requests")
            continue
        try:
            if len(data) > requests.LARGEST:
                raise ValueError(f"it has {len(data):,} characters, more than {requests.LARGEST:,}")
            request = requests.decode(data)
        except (msgspec.DecodeError, ValueError, RecursionError) as error:
            malformed += 1
            page.refuse(requests.number_of(data), f"this message is no request: {str(error)[:200]}")
            if malformed > MOST_MALFORMED:
                page.disconnect("too many messages that are no requests")
            continue
        await house.accept(page, request)


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
        WebSocketRoute("/socket", partial(connect, house)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Gate(Starlette(routes=routes, lifespan=lifespan), trust)
