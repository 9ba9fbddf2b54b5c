"""The server of the page under load: how soon a move is answered, with many games at once, and its memory.

.venv/bin/python benchmarks/web.py --games 200 --seconds 60        (200 people, each moves about every two seconds)
.venv/bin/python benchmarks/web.py --finished 1000                 (memory while games are played to their end)

An answer is complete when the position after the agent's move is there. The clients run in this process and use the
same cores as the server and its workers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

PAGES = 8  # that play games to their end
PAUSE = (1.0, 3.0)  # seconds between two moves of a person


class Client:
    """One page with one game."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.table, self.position = socket, dict[str, Any](), dict[str, Any]()

    async def receive(self) -> None:
        message = json.loads(await self.socket.recv())
        if message["type"] in ("refused", "failed"):
            raise SystemExit(f"the server says: {message}")
        if message["type"] in ("table", "position"):
            setattr(self, message["type"], message)

    async def begin(self, game: str, agent: str) -> None:
        old = self.table.get("id", "")
        if old:
            await self.socket.send(json.dumps({"type": "close", "table": old}))
        await self.socket.send(json.dumps({"type": "new_game", "game": game, "players": ["you", agent]}))
        while self.table.get("id", "") == old or self.position.get("table") != self.table["id"]:
            await self.receive()

    async def until_answered(self) -> None:
        """Until the game is over or it is one's turn again."""
        while not (self.table["over"] or (self.table["yours"] and self.position["revision"] == self.table["revision"])):
            await self.receive()

    async def move(self) -> float:
        """Play at random; the seconds until the answer is there."""
        choice, revision = random.choice(self.position["choices"]), self.table["revision"]
        begun = time.perf_counter()
        request = {"table": self.table["id"], "revision": revision, "ply": self.position["ply"]}
        await self.socket.send(json.dumps({"type": "play", "action": choice["action"], **request}))
        while self.table["revision"] == revision:
            await self.receive()
        await self.until_answered()
        return time.perf_counter() - begun


def page(address: str) -> connect:
    """A connection of a page to the address that the server has printed, which has a token."""
    host, _, token = address.partition("/?")
    return connect(f"ws://{host}/socket?{token}", origin=f"http://{host}", max_size=None)  # pyright: ignore


async def play(address: str, game: str, agent: str, end: float, pause: Sequence[float], times: list[float]) -> None:
    await asyncio.sleep(random.uniform(0, pause[1]))  # people do not come all in the same moment
    async with page(address) as socket:
        client = Client(socket)
        await client.begin(game, agent)
        while time.monotonic() < end:
            if client.table["over"]:
                await client.begin(game, agent)
            seconds = await client.move()
            times.append(seconds)
            await asyncio.sleep(random.uniform(*pause))


async def load(address: str, games: Sequence[str], agent: str, count: int, seconds: float) -> None:
    times = list[float]()
    for game in games:  # workers start, games load
        await play(address, game, agent, time.monotonic() + 2.0, (0.02, 0.05), times)
    alone = list[float]()
    await play(address, games[0], agent, time.monotonic() + 5.0, (0.02, 0.05), alone)
    print(f"one game of {games[0]}: median {1000 * statistics.median(alone):.1f} ms of {len(alone)} moves")
    times.clear()
    end = time.monotonic() + seconds
    await asyncio.gather(*(play(address, games[k % len(games)], agent, end, PAUSE, times) for k in range(count)))
    ordered = sorted(times)
    within = sum(each < 0.5 for each in times) / len(times)
    print(
        f"{count} games at once, {len(times)} moves in {seconds:g} s: median {1000 * statistics.median(times):.0f} ms, "
        f"99% {1000 * ordered[int(0.99 * len(ordered))]:.0f} ms, slowest {1000 * ordered[-1]:.0f} ms; "
        f"{within:.2%} within half a second"
    )


async def finish(address: str, pid: int, game: str, agent: str, count: int) -> None:
    """Games to their end, by a few pages at once, and the memory of the server's process."""
    numbers = iter(range(count + 1))

    async def one_page() -> None:
        async with page(address) as socket:
            client = Client(socket)
            for number in numbers:
                if number % max(1, count // 10) == 0:
                    print(f"after {number} games: {memory(pid):.1f} MB", flush=True)
                await client.begin(game, agent)
                while not client.table["over"]:
                    await client.move()
                    await asyncio.sleep(0.02)  # the server refuses more than 40 requests a second

    await asyncio.gather(*(one_page() for _ in range(PAGES)))


def memory(pid: int) -> float:
    """Resident memory in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--finished", type=int, default=0)
    parser.add_argument("--game", nargs="+", default=["connect_four", "chess", "paco_sako", "sequence"])
    parser.add_argument("--agent", default="random")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "plyground", "serve", "--tables", folder, "--runs", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            said = server.stdout.readline() if server.stdout else ""
            address = said.partition("//")[2].strip().rstrip("/")
            try:
                if given.finished:
                    asyncio.run(finish(address, server.pid, given.game[0], given.agent, given.finished))
                else:
                    asyncio.run(load(address, given.game, given.agent, given.games, given.seconds))
            finally:
                server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
