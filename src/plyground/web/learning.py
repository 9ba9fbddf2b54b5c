"""Runs for the page: their list, curves that follow a live run, the demo as a process, policies, saved games."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from plyground.errors import Error, InvalidValue, command, counted, shorten, unknown
from plyground.game import Game
from plyground.play.saved import RUN_HEAD, RUN_OUTCOME
from plyground.runs.directory import steps_of
from plyground.runs.metrics import Line, RunMetrics
from plyground.web import child
from plyground.web.catalogue import Catalogue, config_of_run, game_of_run, run_opponent
from plyground.web.messages import Curve, Curves, Point, RunInfo, SavedGame, Score
from plyground.web.page import Page
from plyground.web.tasks import hold

DEMO, DEMO_NAME = "connect_four_demo", "connect_four-demo"
MORE_SECONDS = 120  # for which a finished run is trained on
LIVELY = 20.0  # seconds since the last line of metrics of a run that somebody else works on
STOPPING = 20.0  # seconds in which a run saves a checkpoint
NUMBERS = ("loss", "td_error", "entropy", "value_error", "kl", "q", "truncated", "distinct", "match@1")
BEST = "best"  # in curves: the best checkpoint before, an opponent of each evaluation
MOST_RUNS, MOST_FILES = 100, 50


def _point(line: Line) -> Point:
    """A cycle, an evaluation or an epoch, for a page."""
    record = line.record
    if record["event"] == "evaluation":
        against = {**record["eval_opponents"], BEST: record["against_best"]}
        scores = [Score(name, each["score"], each["low"], each["high"]) for name, each in against.items()]
        return Point(line.seconds, line.plies, {}, scores)
    numbers = {name: float(record[name]) for name in NUMBERS if isinstance(record.get(name), int | float)}
    if line.speed is not None:
        numbers["plies_per_second"] = line.speed
    return Point(line.seconds, line.plies, numbers, [])


class Runs:
    """The runs of a folder, and those that this server has started."""

    def __init__(self, folder: Path, catalogue: Catalogue) -> None:
        self.folder, self.catalogue = folder, catalogue
        self.metrics: dict[str, RunMetrics] = {}
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.starting = asyncio.Lock()  # one process at a time: starting it takes a moment, in which others may ask
        self.stopping: dict[str, float] = {}  # when each of them was asked to stop
        self.ended: dict[str, float] = {}  # when processes of this server have ended, in seconds since 1970
        self.failures: dict[str, str] = {}
        self.watchers: set[asyncio.Task[None]] = set()

    # ---- reading ----

    def names(self) -> list[str]:
        """The runs, the newest first."""
        found = [each.parent for each in self.folder.glob("*/config.toml")]
        return [path.name for path in sorted(found, key=_age)[:MOST_RUNS]]

    def check(self, names: Sequence[str]) -> None:
        """Raise an error if one of these is no run: a page names an entry of the list, never a path."""
        there = self.names()
        for name in names:
            if name not in there:
                raise unknown("run", name, there)

    def infos(self) -> list[RunInfo]:
        return [self.info(name) for name in self.names()]

    def info(self, name: str) -> RunInfo:
        path = self.folder / name
        metrics = self._metrics(name)
        game, learner, resume, message = "", "?", "", self.failures.get(name, "")
        scores = dict[str, float]()
        cycles, seconds = metrics.done, metrics.seconds
        try:
            config, spec = config_of_run(path), game_of_run(path)
            learner, game = config.get("learner", "?"), self._game_id(spec)
            scores = {opponent: each["score"] for opponent, each in metrics.scores.items()}
            resume, _ = later_end(config, cycles, seconds)
            if not game:
                how = command("serve", "--game", shorten(spec))
                message = message or f"this server does not know its game, so nobody can play it here: {how}"
        except (Error, OSError) as error:
            message = message or str(error)
        started, steps = name in self.processes, steps_of(path)
        alive = started or metrics.changed > max(self.ended.get(name, 0.0), time.time() - LIVELY)
        asked = self.stopping.get(name)
        return RunInfo(
            id=name,
            game=game,
            learner=learner,
            cycles=cycles,
            seconds=seconds,
            scores=scores,
            alive=alive,
            started_here=started,
            stopping=asked is not None and time.monotonic() - asked < STOPPING,  # else it has not heard it: ask again
            resume=resume if steps and not alive else "",
            opponent=run_opponent(name) if steps and game else "",
            message=message,
        )

    def _metrics(self, name: str) -> RunMetrics:
        found = self.metrics.setdefault(name, RunMetrics(self.folder / name))
        found.update()
        return found

    def _game_id(self, spec: str) -> str:
        """The id of the game of the list that a run has learned; empty where it is none of them."""
        for name, word in self.catalogue.words.items():
            if spec == word or Path(spec.partition(":")[0]).name == Path(word).name:
                return name
        return spec.partition(":")[0] if spec.partition(":")[0] in self.catalogue.words else ""

    def spec_of(self, name: str) -> tuple[str, dict[str, str]]:
        """The game of a run and its settings, one of the list: no file that only a run names is imported."""
        spec = game_of_run(self.folder / name)
        game = self._game_id(spec)
        if not game:
            raise InvalidValue(f"{name} has learned {shorten(spec)}, which this server does not know: add --game FILE")
        settings = dict(part.split("=", 1) for part in spec.partition(":")[2].split(",") if "=" in part)
        return game, settings

    def game_of(self, name: str) -> Game:
        game, settings = self.spec_of(name)
        return self.catalogue.load(game, settings)

    def newest(self, name: str) -> int:
        """The step of the newest checkpoint; -1: there is none."""
        return max(steps_of(self.folder / name), default=-1)

    def send_curves(self, page: Page) -> None:
        """Send a page what is new of the runs that it follows."""
        found = list[Curve]()
        for name, had in page.runs.items():
            measured = self._metrics(name).measured
            if len(measured) != had or not had:
                start = had if had < len(measured) else 0
                found.append(Curve(name, start, [_point(line) for line in measured[start:]]))
                page.runs[name] = len(measured)
        if found:
            page.send(Curves(found))

    # ---- processes ----

    async def start_demo(self) -> None:
        """Train an agent on Connect Four for a minute."""
        async with self.starting:
            self._check_free()
            names = (f"{DEMO_NAME}-{number}" for number in count(1))
            name = next(each for each in names if not (self.folder / each).exists())
            await self._start(name, "train", "--profile", DEMO, "--out", str(self.folder / name))

    async def resume(self, name: str) -> None:
        """Continue a run; a finished one to a later end."""
        self.check([name])
        async with self.starting:
            self._check_free()
            info = self.info(name)
            if not info.resume:
                raise InvalidValue(f"{name} cannot be resumed now: a process works on it, or it has no checkpoint")
            _, later = later_end(config_of_run(self.folder / name), info.cycles, info.seconds)
            await self._start(name, "resume", str(self.folder / name), *later)

    def _check_free(self) -> None:
        if self.processes:
            raise InvalidValue(f"{next(iter(self.processes))} is being trained: stop it first")

    async def _start(self, name: str, *arguments: str) -> None:
        self.failures.pop(name, None)
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-m", child.__name__, *arguments]
        null = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=null, stderr=pipe, start_new_session=True
        )  # Ctrl-C is for the server alone
        self.processes[name] = process
        hold(self.watchers, self._watch(name, process))

    async def _watch(self, name: str, process: asyncio.subprocess.Process) -> None:
        """Wait for the end of a run's process, and remember how it has failed."""
        last = ""
        if process.stderr is not None:
            while line := await process.stderr.readline():
                last = line.decode(errors="replace").strip() or last
        code = await process.wait()
        if self.processes.get(name) is process:
            del self.processes[name]
            self.stopping.pop(name, None)
            self.ended[name] = time.time()
        if code not in (0, 130, -signal.SIGINT):
            self.failures[name] = f"training has failed: {shorten(last, 300) or f'exit code {code}'}"

    def stop(self, name: str) -> None:
        """Ask a run that this server has started to save and stop."""
        if name not in self.processes:
            raise InvalidValue(f"{shorten(name)!r} was not started by this server: it cannot be stopped here")
        self.processes[name].send_signal(signal.SIGINT)
        self.stopping[name] = time.monotonic()

    async def close(self) -> None:
        """Stop all runs; each has a moment to save."""
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        for process in list(self.processes.values()):
            try:
                await asyncio.wait_for(process.wait(), STOPPING)
            except TimeoutError:
                process.kill()
                await process.wait()
        for task in list(self.watchers):
            task.cancel()

    # ---- games that a run has saved ----

    def games(self, name: str) -> list[SavedGame]:
        """The games of a run's evaluations, the newest first."""
        self.check([name])
        files = sorted((self.folder / name / "games").glob("*.txt"), key=lambda each: each.stem.zfill(20), reverse=True)
        found = list[SavedGame]()
        for file in files[:MOST_FILES]:
            for number, (head, line) in enumerate(_pairs(file), start=1):
                words = RUN_HEAD.fullmatch(head)
                players = f"the learner against {words['name']}" if words else "a game"
                result = RUN_OUTCOME.search(line)
                title = f"step {file.stem}: {players}, {result[1].lower().replace('_', ' ') if result else 'unknown'}"
                found.append(SavedGame(file.stem, number, title))
        return found

    def game(self, name: str, file: str, number: int) -> tuple[str, str, str]:
        """A saved game: the id of its game, and its two lines."""
        self.check([name])
        path = next((each for each in (self.folder / name / "games").glob("*.txt") if each.stem == file), None)
        pairs = _pairs(path) if path else []
        if not 1 <= number <= len(pairs):
            raise InvalidValue(f"{name} has saved no game {number} at step {shorten(file)!r}")
        return self._game_id(game_of_run(self.folder / name)), *pairs[number - 1]


def _pairs(file: Path) -> list[tuple[str, str]]:
    """(head, moves) of each game in a file."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return list(zip(lines[::2], lines[1::2], strict=False))


def later_end(config: Mapping[str, Any], cycles: int, seconds: float) -> tuple[str, list[str]]:
    """What resuming a run means, for a button, and the options of `plyground resume` that say so: of a finished one a
    later end."""
    words, options = list[str](), list[str]()
    imitates = config.get("learner") == "imitation"  # the epochs of PPO are those over a rollout, not its end
    for unit in ("cycle", "epoch")[: 1 + imitates]:
        end = config.get(f"{unit}s", 0)
        if 0 < end <= cycles:
            words.append(counted(end, f"more {unit}"))
            options += [f"--{unit}s", str(cycles + end)]
    if 0 < config.get("seconds", 0.0) <= seconds + 1:
        words.append(f"{MORE_SECONDS // 60} more minutes")
        options += ["--seconds", f"{seconds + MORE_SECONDS:g}"]
    return (f"Train {' or '.join(words)}" if words else "Resume"), options


def _age(path: Path) -> float:
    """Sorts the run that has changed last first."""
    try:
        return -max(each.stat().st_mtime for each in (path / "metrics.jsonl", path / "config.toml") if each.exists())
    except (OSError, ValueError):
        return 0.0
