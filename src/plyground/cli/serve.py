"""The command `serve`: the page, from a server on this machine."""

from __future__ import annotations

import signal
import socket
import threading
import webbrowser
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

import uvicorn

from plyground.cli.ctrl_c import interruptible
from plyground.errors import InvalidValue
from plyground.private_folder import cache_folder, write_once
from plyground.web.app import make_app
from plyground.web.catalogue import Catalogue
from plyground.web.house import House
from plyground.web.learning import Runs
from plyground.web.protocol import server_config
from plyground.web.store import Store
from plyground.web.trust import Trust, trust_for
from plyground.web.workers import Workers

PORT, PORTS = 8421, 20  # the usual port, and how many after it are tried
READ = 60.0  # seconds after which a browser has read the file that leads to the page


def run_server(
    host: str,
    port: int | None,
    open_page: bool,
    games: Sequence[str],
    agents: Sequence[str],
    runs: Path,
    tables: Path,
) -> None:
    """Serve the page until Ctrl-C."""
    catalogue = Catalogue(games, agents, runs)
    house = House(catalogue, Store(tables), Workers(), Runs(runs, catalogue))
    with listen(host, port) as listening:
        trust = trust_for(host, listening.getsockname()[1])
        address = address_of(trust)
        print(f"Plyground is at {address}", flush=True)
        print("Ctrl-C stops it.", flush=True)
        with opened(trust) if open_page else nullcontext(), interruptible():
            Server(server_config(make_app(house, trust))).run(sockets=[listening])
    house.tables.store.flush()  # after a second Ctrl-C the house was not closed
    print("Stopped. Games are kept.", flush=True)


class Server(uvicorn.Server):
    """One that ends in peace: after Ctrl-C or SIGTERM it closes everything, and raises nothing."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket; without a port, the first free one from PORT on."""
    wanted, reason = range(PORT, PORT + PORTS) if port is None else (port,), "no port is free"
    for number in wanted:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio: no delay, if TCP is named
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, number))
            found.listen(1024)  # now: who opens the address at once waits, and is not refused
        except (OSError, OverflowError) as error:
            found.close()
            reason = str(error)
        else:
            return found
    raise InvalidValue(f"cannot listen on {host}:{wanted[-1]}: {reason}; name another with --port")


@contextmanager
def opened(trust: Trust) -> Generator[None]:
    """Open the page in a browser by way of a private file, so that the token is in no list of processes. The file is
    removed after a minute, or at the end."""
    folder = Path.home() if Path("/snap").is_dir() else cache_folder()  # browsers of snap read no hidden folder
    file = folder / f"plyground-{trust.port}.html"
    file.unlink(missing_ok=True)
    write_once(file, f'<!doctype html><meta http-equiv="refresh" content="0; url={address_of(trust)}">'.encode())
    removal = threading.Timer(READ, file.unlink, kwargs={"missing_ok": True})
    removal.daemon = True
    removal.start()
    try:
        webbrowser.open(file.as_uri())
        yield
    finally:
        removal.cancel()
        file.unlink(missing_ok=True)


def address_of(trust: Trust) -> str:
    """The address to open, with the token."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(trust.host, trust.host)  # noqa: S104 (where this machine finds it)
    host = f"[{name}]" if ":" in name else name
    return f"http://{host}:{trust.port}/?token={trust.token}"
