"""A server of the page on loopback, and a page without a browser, for tests."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from websockets.sync.client import ClientConnection, connect

from plyground.cli.serve import Server, listen
from plyground.web.app import make_app
from plyground.web.catalogue import Catalogue
from plyground.web.house import House
from plyground.web.learning import Runs
from plyground.web.protocol import server_config
from plyground.web.store import Store
from plyground.web.trust import Trust
from plyground.web.workers import Workers

Result = TypeVar("Result")
TOKEN = "a-token-that-only-the-person-knows"  # noqa: S105
PATIENCE = 300.0  # seconds until a test gives an answer up: a search may be compiled first, on a busy machine


class Served:
    """A server in a thread of this process."""

    def __init__(self, house: House, trust: Trust) -> None:
        self.house, self.trust = house, trust
        self.host = f"127.0.0.1:{trust.port}"
        self.signed_in = {"Cookie": f"{trust.cookie}={trust.token}"}

    @contextmanager
    def page(self, origin: str | None = None, headers: dict[str, str] | None = None) -> Generator[Client]:
        with connect(
            f"ws://{self.host}/socket",
            origin=origin or f"http://{self.host}",  # pyright: ignore
            additional_headers=self.signed_in if headers is None else headers,
            max_size=None,
            compression=None,
            close_timeout=1,
        ) as socket:
            yield Client(socket)


@contextmanager
def serving(folder: Path, games: Sequence[str] = (), agents: Sequence[str] = ()) -> Generator[Served]:
    """A server whose tables and runs are in a folder, until the block ends."""
    catalogue = Catalogue(games, agents, folder / "runs")
    house = House(catalogue, Store(folder / "tables"), Workers(cores=2), Runs(folder / "runs", catalogue))
    with listen("127.0.0.1", 0) as listening:
        trust = Trust("127.0.0.1", listening.getsockname()[1], TOKEN)
        server = Server(server_config(make_app(house, trust, prepare=False), "error"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_until(lambda: server.started)
            yield Served(house, trust)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive(), "the server does not end"
        assert not house.tasks.failures, house.tasks.failures


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Like `asyncio.run`, in a thread: the tests in a browser leave a running loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def wait_until(done: Callable[[], bool], patience: float = PATIENCE) -> None:
    end = time.monotonic() + patience
    while not done():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


class Client:
    """A page: it keeps the newest message of each type."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.number = socket, 0
        self.seen: list[str] = []  # every message, as it came
        self.last: dict[str, Any] = {}
        self.wait("welcome")

    def receive(self, timeout: float = PATIENCE) -> Any:
        text = self.socket.recv(timeout)
        assert isinstance(text, str)
        self.seen.append(text)
        message = json.loads(text)
        self.last[message["type"]] = message
        return message

    def wait(self, kind: str, fits: Callable[[Any], bool] = lambda message: True) -> Any:
        """The next message of a type for which something holds; a refusal that was not expected is an error."""
        while True:
            message = self.receive()
            if message["type"] == kind and fits(message):
                return message
            assert message["type"] not in ("refused", "failed"), message

    def send(self, kind: str, **fields: Any) -> int:
        self.number += 1
        self.socket.send(json.dumps({"type": kind, "request": self.number, **fields}))
        return self.number

    def ask(self, kind: str, reply: str, **fields: Any) -> Any:
        """Send a request and wait for the reply to it."""
        number = self.send(kind, **fields)
        return self.wait(reply, lambda message: message.get("request", number) == number)

    def refusal(self, kind: str, **fields: Any) -> Any:
        """Send a request that must be refused."""
        number = self.send(kind, **fields)
        while True:
            message = self.receive()
            if message["type"] == "refused" and message["request"] == number:
                return message

    # ---- a game ----

    @property
    def table(self) -> Any:
        return self.last["table"]

    @property
    def position(self) -> Any:
        return self.last["position"]

    def new(self, game: str, *players: str, **fields: Any) -> str:
        """Begin a game and wait until its position is there."""
        opened = self.ask("new_game", "opened", game=game, players=list(players), **fields)
        self.wait("position")
        return opened["table"]

    def play(self, name: str, **fields: Any) -> None:
        """Play a choice of the newest position by its name, and wait for the position after it."""
        (action,) = [each["action"] for each in self.position["choices"] if each["name"] == name]
        self.act(action, **fields)

    def act(self, action: int, **fields: Any) -> None:
        table, ply = self.table, fields.pop("ply", self.position["ply"])
        self.send("play", table=table["id"], revision=table["revision"], ply=ply, action=action, **fields)
        self.wait("position", lambda message: message["revision"] > table["revision"])

    def until_mine(self) -> None:
        """Wait for the agents' moves."""
        while not (self.table["over"] or self.position["choices"]) or self.behind():
            self.receive()

    def behind(self) -> bool:
        """Whether the position of the newest table is still on its way."""
        return self.position["revision"] < self.table["revision"]
