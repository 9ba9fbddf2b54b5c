"""Faults at every write of kept games, of the compile cache and of trust: no room, an I/O error, the end of the process
or of the power. The next start works, and nothing is lost that was confirmed before.

Each kind is a list of steps. A step returns the facts that hold from then on; `read` finds them as a new process does.
After a fault the facts must be those before the step or those after it, and the remaining steps must lead to the end.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from plyground import private_folder
from plyground.errors import Error
from plyground.kernels.cache import load_kernels
from plyground.runs import trust
from plyground.web.store import Store
from plyground.web.table import FORMAT, Saved
from torture import MOST_FINDINGS, Deadline, Report
from torture.crashes import Crash, Disk, Fault, lose_power

FAULTS: list[Fault] = ["exit", "torn", "full", "io"]
Facts = dict[str, str]
Steps = list[Callable[[], Facts]]
GONE = "gone"


class Kind(NamedTuple):
    """What is written. `steps` begins a process in a folder; `durable`: the facts that survive the end of the power."""

    steps: Callable[[Path], Steps]
    read: Callable[[Path], Facts]
    durable: Callable[[str], bool] = lambda _: True


# ---- kept games ----


def games(home: Path) -> Steps:
    opened = functools.cache(lambda: Store(home / "tables"))

    def keep(name: str, plies: int) -> Facts:
        players = ["you", "random"]
        saved = Saved(FORMAT, name * 16, "chess", {}, players, players, 1, "", [3] * plies, changed=float(plies))
        opened().keep(saved, "Chess")
        opened().flush()
        return {saved.id: str(plies)}

    def remove(name: str) -> Facts:
        opened().remove(name * 16)
        return {name * 16: GONE}

    kept = [("a", 1), ("b", 2), ("a", 3)]
    return [*(functools.partial(keep, *each) for each in kept), lambda: remove("b"), lambda: keep("a", 400)]


def read_games(home: Path) -> Facts:
    store = Store(home / "tables")
    left = [path.name for path in store.folder.iterdir() if path.stem not in store.infos]
    return {name: str(len(store.read(name).actions)) for name in store.infos} | dict.fromkeys(left, "left")


# ---- compiled code ----


def kernels(home: Path) -> Steps:
    forget_process()
    return [functools.partial(compiled, 21), functools.partial(compiled, 0.5)]


def compiled(number: Any) -> Facts:
    """Twice a number; for each type another code is compiled and kept."""
    found = load_kernels("torture.small_kernels", {}, "faults").twice
    return {type(number).__name__: str(found(number)), f"{type(number).__name__} is kept": "yes"}


def read_kernels(home: Path) -> Facts:
    forget_process()
    facts = Facts()
    for number in (21, 0.5):
        before = load_kernels("torture.small_kernels", {}, "faults").twice
        known = sum(before.stats.cache_hits.values())
        facts |= compiled(number)
        if sum(before.stats.cache_hits.values()) == known:
            facts[f"{type(number).__name__} is kept"] = GONE
    return facts


# ---- trust ----


def trusted(home: Path) -> Steps:
    forget_process()

    def seal() -> Facts:
        return {"sealed": hashlib.sha256(trust.seal("a text").encode()).hexdigest()}

    def remember(key: str) -> Facts:
        trust._remember([key])
        return {key: "known"}

    return [seal, lambda: remember("1" * 64), lambda: remember("2" * 64)]


def read_trusted(home: Path) -> Facts:
    forget_process()
    there = {key: "known" for key in ("1" * 64, "2" * 64) if trust._known(key)}
    sealed = {"sealed": hashlib.sha256(trust.seal("a text").encode()).hexdigest()}
    return there | (sealed if (home / "secret").exists() else {})


KINDS = {
    "games": Kind(games, read_games),
    "kernels": Kind(kernels, read_kernels, lambda fact: not fact.endswith("kept")),  # what is lost is compiled again
    "trust": Kind(trusted, read_trusted),
}


def forget_process() -> None:
    """Forget what a process keeps of the private folder: what follows is as in a new one."""
    for cached in (private_folder._usable, private_folder.secret):
        cached.cache_clear()
    trust._REMEMBERED.clear()
    for name in [each for each in sys.modules if each.startswith("plyground_torture_small_kernels")]:
        del sys.modules[name]


@contextmanager
def own_folder(home: Path) -> Iterator[None]:
    """Let all private files of this process be in a folder, and its random bytes be the same each time."""
    known = trust._REMEMBERED.copy()
    bytes_of, temporary = patch.object(os, "urandom", lambda count: b"7" * count), str(home.parent / "temporary")
    with patch.dict(os.environ, PLYGROUND_CACHE=str(home)), bytes_of, patch.object(tempfile, "tempdir", temporary):
        yield
    forget_process()
    trust._REMEMBERED.update(known)


class Case:
    """The steps of a kind without a fault."""

    def __init__(self, home: Path, kind: Kind) -> None:
        self.home, self.kind = home, kind
        self.begin_again()
        disk, facts = Disk(home), Facts()
        self.facts, self.done = [facts], [0]  # after so many steps: what holds, and how many operations there were
        with disk.attached():
            for step in kind.steps(home):
                self.facts.append(self.facts[-1] | step())
                self.done.append(len(disk.operations))
        self.calls, self.operations = disk.calls, disk.operations

    def begin_again(self) -> None:
        shutil.rmtree(self.home.parent, ignore_errors=True)
        self.home.mkdir(mode=0o700, parents=True)
        (self.home.parent / "temporary").mkdir()
        forget_process()

    def fail(self, fault: Fault, at: int) -> list[str]:
        self.begin_again()
        disk, number = Disk(self.home, fault, at), 0
        try:
            with disk.attached():
                for step in self.kind.steps(self.home):
                    step()
                    if disk.calls > at:  # what failed was not needed
                        break
                    number += 1
        except (Crash, Error):
            pass
        found = self.wrong(self.facts[number], self.facts[min(number + 1, len(self.facts) - 1)])
        return [f"{fault} at call {at} of {self.calls}: {each}" for each in found + self.go_on(number)]

    def lose_power(self, rng: random.Random) -> list[str]:
        seed = rng.random()
        self.begin_again()
        count = random.Random(seed).randint(1, len(self.operations))
        number = max(each for each, done in enumerate(self.done) if done <= count)
        lose_power(random.Random(seed), self.operations[:count], self.home, self.home)
        after = self.facts[min(number + 1, len(self.facts) - 1)]
        before = {name: value for name, value in self.facts[number].items() if self.kind.durable(name)}
        after = {name: value for name, value in after.items() if self.kind.durable(name)}
        return [f"power loss {seed}: {each}" for each in self.wrong(before, after) + self.go_on(number)]

    def wrong(self, before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
        """What a new process finds that is neither as before nor as after."""
        try:
            found = self.kind.read(self.home)
        except Exception as error:
            return [f"the next start fails: {type(error).__name__}: {str(error)[:300]}"]
        allowed = {name: {before.get(name, GONE), after.get(name, GONE)} for name in {**before, **after}}
        lost = [name for name, values in allowed.items() if found.get(name, GONE) not in values]
        left = [name for name, value in found.items() if value == "left"]
        return [f"{name} is {found.get(name, GONE)[:80]}, not {allowed[name]}" for name in lost] + left

    def go_on(self, number: int) -> list[str]:
        """The steps from the one that failed, in a new process."""
        try:
            for step in self.kind.steps(self.home)[max(number, 0) :]:
                step()
        except Exception as error:
            return [f"it does not go on: {type(error).__name__}: {str(error)[:300]}"]
        return self.wrong(self.facts[-1], self.facts[-1])


def run(seed: int, seconds: float) -> Report:
    """Every call of each kind with every fault, in random order, and power losses between, for so many seconds."""
    rng, deadline, findings, cases = random.Random(seed), Deadline(seconds), list[str](), 0
    silent = patch.object(logging.getLogger("plyground"), "disabled", True)  # of what is compiled anew, and why
    with tempfile.TemporaryDirectory() as name, own_folder(Path(name) / "private"), silent:
        kinds = dict[str, Case]()
        for kind, value in KINDS.items():
            with patch.dict(os.environ, PLYGROUND_CACHE=str(Path(name) / kind / "private")):
                kinds[kind] = Case(Path(name) / kind / "private", value)
        plan: list[tuple[str, Fault, int]] = [
            (kind, fault, at) for kind, case in kinds.items() for fault in FAULTS for at in range(case.calls)
        ]
        rng.shuffle(plan)
        while not cases or (not deadline.over() and len(findings) < MOST_FINDINGS):
            kind, fault, at = plan[cases % len(plan)]
            with patch.dict(os.environ, PLYGROUND_CACHE=str(kinds[kind].home)):
                found = kinds[kind].fail(fault, at) + kinds[kind].lose_power(rng)
            findings += [f"{kind}: {each}" for each in found]
            cases += 1
    return Report(
        "faults", cases, findings, deadline.passed, {"points": float(len(plan)), "power_losses": float(cases)}
    )
