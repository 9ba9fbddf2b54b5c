"""Kills: a server that is killed while pages play has on disk all that a page was shown.

Each case starts a server on the games that the killed ones have left; pages play against agents, watch agents and begin
games until it is killed at a random moment. Then every game that a page has seen must be there as it was seen or later.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from websockets.exceptions import WebSocketException

from plyground.web import store
from plyground.web.house import House
from plyground.web.store import Store
from plyground.web.trust import Trust
from served import TOKEN, Client, Served, serving
from torture import MOST_FINDINGS, Deadline, Report

LATEST = 2.0  # seconds from the first moves to the kill
PATIENCE = 300.0  # seconds until there are moves: games may have to be compiled
PAGES = 4
MANY = 60  # games; then the next server begins with none
Seen = dict[str, tuple[int, list[str]]]


@contextmanager
def started(folder: Path) -> Generator[tuple[subprocess.Popen[str], Served]]:
    """A server in a process of its own."""
    command = [sys.executable, "-m", "torture.kills", str(folder)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield process, Served(cast("House", None), Trust("127.0.0.1", port, TOKEN))
    finally:
        process.kill()
        process.communicate()


def play(served: Served, kind: int, seen: Seen, begun: threading.Event, rng: random.Random) -> None:
    """A page until its server is gone: it plays, watches or begins games, and notes what it is shown."""
    with suppress(WebSocketException, OSError, EOFError, TimeoutError), served.page() as page:
        while True:
            if "table" in page.last:
                page.send("close", table=page.table["id"])
            watched = kind == 1
            players = ("random", "random") if watched else ("you", "random")
            page.send("new_game", game=rng.choice(("connect_four", "chess")), players=players)
            for _ in range(rng.randint(1, 60)):
                message = page.receive()
                note(message, seen)
                if message["type"] == "table" and len(message["moves"]) > 2:
                    begun.set()
                if message["type"] == "opened" and watched:
                    page.send("speed", table=message["table"], seconds=0.0)
                if message["type"] == "position":
                    answer(page, message, rng)


def note(message: Any, seen: Seen) -> None:
    if message["type"] == "table":
        seen[message["id"]] = message["revision"], [move["name"] for move in message["moves"]]
    if message["type"] == "opened":
        seen.setdefault(message["table"], (0, []))


def answer(page: Client, position: Any, rng: random.Random) -> None:
    """A move, or now and then one taken back."""
    where = {"table": position["table"], "revision": position["revision"]}
    if position["choices"] and rng.random() < 0.9:
        page.send("play", **where, ply=position["ply"], action=rng.choice(position["choices"])["action"])
    elif position["ply"] > 1:
        page.send("undo", **where)


def kill_one(folder: Path, rng: random.Random) -> tuple[list[str], int]:
    """Start a server, kill it while pages play; the findings, and how many games they have seen."""
    seen, begun, nobody = Seen(), threading.Event(), list[str]()
    with started(folder) as (process, served):
        pages = [
            threading.Thread(target=play, args=(served, kind, seen, begun, random.Random(rng.random())))
            for kind in range(PAGES)
        ]
        for page in pages:
            page.start()
        if not begun.wait(PATIENCE):
            nobody = [f"no page was shown three moves within {PATIENCE:.0f} s"]
        time.sleep(rng.uniform(0.0, LATEST))
        process.kill()
        for page in pages:
            page.join()
    return nobody + lost(folder / "tables", seen), len(seen)


def lost(folder: Path, seen: Seen) -> list[str]:
    """What is not on disk as it was seen, or later; damaged files, and files that are no games."""
    kept = Store(folder)
    damaged = [name for name, info in kept.infos.items() if not info.game]
    found = [f"{name} is damaged" for name in damaged]
    found += [f"{path.name} is left" for path in folder.iterdir() if path.stem not in kept.infos]
    for name, (revision, moves) in seen.items():
        if name not in kept.infos:
            found.append(f"{name} is gone, of which {len(moves)} plies were shown")
        elif name not in damaged:
            there = kept.read(name)
            if (there.revision, len(there.actions)) != (revision, len(moves)) and there.revision <= revision:
                found.append(f"{name} has revision {there.revision}; {revision} was shown")
    return found


def run(seed: int, seconds: float) -> Report:
    rng, deadline, findings, cases, games = random.Random(seed), Deadline(seconds), list[str](), 0, 0
    with tempfile.TemporaryDirectory() as name:
        folders = 0
        while not cases or (not deadline.over() and len(findings) < MOST_FINDINGS):
            folder = Path(name) / str(folders)
            found, count = kill_one(folder, rng)
            findings += [f"kill {cases}: {each}" for each in found]
            games, cases = games + count, cases + 1
            folders += len(list((folder / "tables").iterdir())) > MANY
    return Report("kills", cases, findings, deadline.passed, {"games": float(games)})


if __name__ == "__main__":
    store.PATIENCE = 60.0  # nothing is shown before it is on disk, however busy the disk is
    with serving(Path(sys.argv[1])) as here:
        print(here.trust.port, flush=True)
        sys.stdin.read()
