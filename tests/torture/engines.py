"""UCI engines that write anything: only declared errors, and nothing left behind."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from pathlib import Path

import numpy as np

import plyground as pg
from plyground.agents import uci
from plyground.agents.agent import GIVES_UP
from plyground.errors import Error
from plyground.games.rng import seeds
from torture import MOST_FINDINGS, Deadline, Report

GAME = Path(__file__).parents[1] / "tiny_games" / "hops.py"  # a stand-in: any game whose actions have names
ENGINE = Path(__file__).with_name("wild_engine.py")
TIMEOUT = 0.4  # seconds, so that silent engines cost little
MOST_MEMORY = 64 << 20  # bytes that an engine may cost us


def run(seed: int, seconds: float) -> Report:
    """Play with one wild engine after the other."""
    deadline, cases, findings, game = Deadline(seconds), 0, list[str](), pg.load(str(GAME))
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)  # for the engine
    moves = faults = 0
    uci.close_all()
    threads, memory = threading.active_count(), resident()
    while cases == 0 or (not deadline.over() and len(findings) < MOST_FINDINGS):
        cases += 1
        played, given_up, finding = try_engine(game, f"{seed} {cases}")
        moves, faults = moves + played, faults + given_up
        findings += [finding] if finding else []
        if cases == 1:
            memory = resident()  # the game is compiled by now
    if threading.active_count() > threads:
        findings.append(f"{threading.active_count() - threads} threads are left behind")
    if resident() - memory > MOST_MEMORY:
        findings.append(f"{resident() - memory} bytes of memory are left behind")
    counts = {"moves": moves, "faults": faults}
    return Report("engines", cases, findings[:MOST_FINDINGS], deadline.passed, counts)


def try_engine(game: pg.Game, seed: str) -> tuple[int, int, str]:
    """(moves, faults, the finding or nothing) of six plies with one engine."""
    rng = random.Random(seed)
    options = {"time": 0.01} | ({"skill": 3.0} if rng.random() < 0.5 else {})
    states, moves, faults = np.repeat(game.start().states, 6), 0, 0
    groups: set[int] = set()
    try:
        agent = uci.Uci(game, [sys.executable, str(ENGINE), seed], options, TIMEOUT)
        groups |= {each.process.pid for each in uci.running()}
        actions = agent.act(states, seeds(0, 6))
        groups |= {each.process.pid for each in uci.running()}
        faults, moves = len(agent.faults), int((actions >= 0).sum())
        if not all(action in (GIVES_UP, 0, 1, 2) for action in actions):
            return moves, faults, f"engine {seed!r}: the actions {actions}"
        if faults != (actions == GIVES_UP).sum():
            return moves, faults, f"engine {seed!r}: {faults} faults, but the actions {actions}"
        del agent
    except Error:
        faults = 1
    except Exception as error:
        return moves, faults, f"engine {seed!r} raises {type(error).__name__}: {error}"
    uci.close_all()
    left = alive(groups)
    return moves, faults, f"engine {seed!r} leaves the processes {left}" if left else ""


def alive(groups: set[int]) -> list[int]:
    """The processes of these groups that still run a second later."""
    until = time.monotonic() + 1
    while found := [pid for pid in processes() if group_of(pid) in groups]:
        if time.monotonic() > until:
            return found
        time.sleep(0.01)
    return []


def processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def group_of(pid: int) -> int:
    """The process group; -1 of one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return -1
    return -1 if fields[0] == "Z" else int(fields[2])


def resident() -> int:
    """Bytes of memory that this process occupies."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
