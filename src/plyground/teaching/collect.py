"""Collecting: a teacher plays against itself; its evaluation of each position becomes a record of a dataset.

Opening, temperature and random numbers of a game depend only on the seed and the game's number. Games are played in
parallel and written in order, so neither the number of processes or threads nor an interruption changes the file (time
stamps aside). Many games are played by one process for each core: a position costs about as much Python as search, and
only one thread of a process runs Python.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.agents.teacher import Teacher, make_teacher
from plyground.arena.openings import read_openings
from plyground.checked_states import without_history
from plyground.errors import InvalidValue
from plyground.game import Game, load
from plyground.games.interface import DRAW, RUNNING, Outcome
from plyground.games.rng import draw
from plyground.kernels.threads import available
from plyground.search.timed import TimedMinimax
from plyground.teaching.config import Collect
from plyground.teaching.dataset import Writer, form_of, read_dataset
from plyground.teaching.lines import DIGITS, Lines, game_name, hash_of
from plyground.teaching.searched import STOPPED, SearchedGames, SearchedLines, make_searcher

BLOCK = 2000  # positions that are written together
TASK = 32  # games that a process plays at a time
ENOUGH = 4  # tasks for each process from which several processes are started: a start takes two seconds
POLL = 0.1  # seconds between two readings of `stop`
CUT = "CUT"  # the result of a game that was ended since positions recurred
Records = NDArray[np.void]
Report = Callable[[int, int, float], None]


@dataclass
class Played:
    """One game so far, with the teacher's evaluation at each ply."""

    number: int
    positions: list[bytes] = field(default_factory=list[bytes])
    """records without the game's name and the time"""
    seen: set[int] = field(default_factory=set[int])
    circling: int = 0
    opened: int = 0  # random plies
    weak: int = -1  # the side that plays at random
    plies: int = 0  # played after the opening


class Collector:
    """Games in parallel; `step` plays a ply in each. Finished games wait until all earlier ones are finished."""

    def __init__(self, config: Collect, game: Game, teacher: Teacher, numbers: range) -> None:
        """`numbers` are the games to play."""
        self.config, self.game, self.teacher = config, game, teacher
        self.next_game, self.next_written, self.end = numbers.start, numbers.start, numbers.stop
        rows = max(1, min(config.num_envs, len(numbers)))
        self.states, self.rngs = np.zeros(rows, game.rules.STATE), np.zeros(rows, np.uint64)
        self.playing: list[Played | None] = [None] * rows
        self.finished: dict[int, tuple[Played, str]] = {}
        self.lines = Lines(game)
        self.book = read_openings(Path(config.openings), game, config.opening_plies) if config.openings else None
        for row in range(rows):
            self._begin(row)

    @property
    def done(self) -> bool:
        return not any(self.playing)

    def _begin(self, row: int) -> None:
        """Start the next game in a row, with the game's own generator."""
        if self.next_game >= self.end:
            self.playing[row] = None
            return
        played = Played(self.next_game)
        self.next_game += 1
        self.rngs[row] = np.uint64(hash_of(f"{self.config.seed} {played.number}"))
        own = self.rngs[row : row + 1]
        played.opened = int(draw(own, np.array([self.config.opening_plies + 1]))[0])
        if _uniform(own)[0] < self.config.weak_games:
            played.weak = int(draw(own, np.array([2]))[0])
        state, plies = self.states[row : row + 1], np.array([played.opened], np.int32)
        games = self.game.arrays.games(state, np.zeros(1, self.game.rules.HEAD), own, np.zeros(1, np.int32))
        begins = np.ones(1, np.bool_)
        self.game.kernels().open_games(games, begins, plies, self.game.arrays.fresh, self.game.work())
        if self.book is not None:
            state[0] = self.book[int(draw(own, np.array([len(self.book)]))[0])]
        self.playing[row] = played

    def step(self) -> None:
        """Play one ply in every running game."""
        rows = np.array([row for row, played in enumerate(self.playing) if played is not None])
        games = [played for played in self.playing if played is not None]
        states, rngs, actions = self.states[rows], self.rngs[rows], np.empty(len(rows), np.int32)
        weak = np.array([played.weak for played in games]) == states["to_move"]
        for part in (np.flatnonzero(~weak), np.flatnonzero(weak)):
            here, own, chosen = states[part], rngs[part], actions[part]
            if len(part) and weak[part[0]]:
                self.game.kernels().random_actions(here, own, chosen, self.game.work(), self.game.scratch())
            elif len(part):
                chosen = self._teach(here, own, [games[k] for k in part])
            actions[part], rngs[part] = chosen, own
        self.game.kernels().play_all(states, actions, rngs, self.game.work())
        self.states[rows], self.rngs[rows] = states, rngs
        for row, played, outcome in zip(rows, games, states["outcome"], strict=True):
            played.plies += 1
            if outcome != RUNNING:
                how = Outcome(int(outcome)).name
            elif 0 < self.config.circles <= played.circling:
                how = CUT
            else:
                how = STOPPED if played.plies >= self.config.max_plies else ""
            if how:
                self.finished[played.number] = played, how
                self._begin(int(row))

    def _teach(self, states: Records, rngs: NDArray[np.uint64], games: list[Played]) -> NDArray[np.int32]:
        """[N] actions drawn from the teacher's policy; its evaluations are recorded."""
        temperatures = np.array([self.config.temperature_of(played.number) for played in games])
        found = self.teacher.lessons(states, self.config.top_k, temperatures)
        choice = (np.cumsum(found.policy, 1) <= _uniform(rngs)[:, None]).sum(1)
        choice = np.minimum(choice, (found.top >= 0).sum(1) - 1)
        records, width = np.zeros(len(games), self.lines.dtype), found.top.shape[1]
        records["state"] = without_history(self.game, self.game.heads(states))
        records["key"] = keys = self.lines.keys(self.lines.texts(records["state"]))
        records["top"], records["top"][:, :width], records["move"] = -1, found.top, found.moves[:, 0]
        records["policy"][:, :width], records["value"] = (
            np.round(each, DIGITS) for each in (found.policy, found.values)
        )
        records["ply"] = [played.opened + played.plies for played in games]
        for played, key, record in zip(games, keys, records, strict=True):
            played.circling = played.circling + 1 if key in played.seen else 0
            played.seen.add(key)
            played.positions.append(record.tobytes())
        return found.moves[np.arange(len(games)), choice]

    def ready(self) -> list[tuple[Played, str]]:
        """Finished games that can be written now, in order."""
        found: list[tuple[Played, str]] = []
        while self.next_written in self.finished:
            found.append(self.finished.pop(self.next_written))
            self.next_written += 1
        return found


def _uniform(rngs: NDArray[np.uint64]) -> NDArray[np.float64]:
    """[N] a uniform number in [0, 1) from each generator."""
    return draw(rngs, np.full(len(rngs), 2**31)) / 2**31


class Finished(NamedTuple):
    """A finished game: its number, its result, and the positions that are taken of it."""

    number: int
    how: str
    records: Records


def select(config: Collect, lines: Lines, played: Played, how: str) -> Finished:
    """The records of a finished game that are taken; the choice depends only on the seed and the game's number."""
    records = np.frombuffer(b"".join(played.positions), lines.dtype).copy()
    records["game"], records["game_id"] = game_name(f"{config.seed}-{played.number}")
    records["time"] = int(time.time())
    return taken_of(config, played.number, records, how)


def taken_of(config: Collect, number: int, records: Records, how: str) -> Finished:
    rng = np.random.default_rng([config.seed % 2**64, number])
    decisive = how not in (CUT, STOPPED, Outcome(DRAW).name)
    if not decisive and (number < config.decisive_first * config.games or rng.random() >= config.draws):
        records = records[:0]
    elif 0 < config.positions_per_game < len(records):
        records = records[np.sort(rng.choice(len(records), config.positions_per_game, replace=False))]
    return Finished(number, how, records)


# ---- games, played here or by other processes ----

Stop = Callable[[], bool]


Play = Callable[[Collect, range, Stop], Iterator[list[Finished]]]


def games_here(
    config: Collect, game: Game, teacher: Teacher | TimedMinimax, numbers: range, stop: Stop
) -> Iterator[list[Finished]]:
    """Play games; after each ply those that are finished now, in order."""
    if isinstance(teacher, TimedMinimax):  # one game after the other
        games = SearchedGames(game, teacher, config.opening_plies, config.max_plies)
        for number in itertools.takewhile(lambda _: not stop(), numbers):
            yield [taken_of(config, number, *games.play(config.seed, number))]
        return
    collector = Collector(config, game, teacher, numbers)
    while not collector.done and not stop():
        collector.step()
        yield [select(config, collector.lines, played, how) for played, how in collector.ready()]


def games_elsewhere(config: Collect, numbers: range, processes: int, stop: Stop) -> Iterator[list[Finished]]:
    """The same games, played by several processes; at least every POLL seconds, those that are finished, in order."""
    spawn, waiting = multiprocessing.get_context("spawn"), deque[Future[list[Finished]]]()
    stopped, alone = spawn.Event(), replace(config, threads=1)
    tasks = iter([numbers[k : k + TASK] for k in range(0, len(numbers), TASK)])
    with ProcessPoolExecutor(processes, spawn, _begin_process, (stopped,)) as others:
        try:
            for task in itertools.islice(tasks, 3 * processes):  # limits the games in memory
                waiting.append(others.submit(_play_task, alone, task))
            while waiting and not stop():
                try:
                    found = waiting[0].result(POLL)
                except TimeoutError:
                    yield []
                    continue
                waiting.popleft()
                waiting.extend(others.submit(_play_task, alone, task) for task in itertools.islice(tasks, 1))
                yield found
        finally:
            stopped.set()  # also where the caller has ended early
            others.shutdown(cancel_futures=True)


_stopped: list[Event] = []  # in a process that plays: set when it is to stop


def _begin_process(stopped: Event) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    _stopped.append(stopped)


def _play_task(config: Collect, numbers: range) -> list[Finished]:
    """In another process: all these games, or nothing that is of use if the process is to stop."""
    return play_games(config, numbers, _stopped[0].is_set)


def play_games(config: Collect, numbers: range, stop: Stop = lambda: False) -> list[Finished]:
    """All these games, in order."""
    found = games_here(config, *_teacher_of(config), numbers, stop)
    return [finished for some in found for finished in some]


@functools.cache
def _teacher_of(config: Collect) -> tuple[Game, Teacher | TimedMinimax]:
    game = load(config.game)
    if config.teacher.startswith("minimax:"):
        return game, make_searcher(game, config.teacher)
    return game, make_teacher(game, config.teacher, config.depth, config.quiescence, config.table, config.threads)


def collect(
    config: Collect, out: Path, report: Report, stop: Stop = lambda: False, play: Play | None = None
) -> dict[str, Any]:
    """Write a dataset or continue one; returns its counts and the positions per second.

    `report` is called with the games so far, the positions so far and the positions per second. `play` plays the games
    of these numbers elsewhere, and returns them in order.
    """
    game, teacher = _teacher_of(config)
    lines = SearchedLines(game) if isinstance(teacher, TimedMinimax) else Lines(game)
    if isinstance(lines, SearchedLines) and form_of(out) != "packed":
        raise InvalidValue(f"positions that {config.teacher} has searched are kept packed: name --out FILE.packed")
    taken = Counter[int]()  # how often each position was taken
    writer = Writer(out, lines, _fixed(config, game, teacher))
    begun, begun_with, games = time.perf_counter(), writer.progress["lines"], writer.progress["games"]
    if begun_with:
        try:
            for records in read_dataset(out, lines, processes=available()):
                taken.update(records["key"].tolist())
        except InvalidValue as error:
            why = str(error).partition("; see ")[0]
            raise InvalidValue(f"{why}: repair {out}, or choose another --out") from None
    results = Counter[str](writer.progress["results"])
    waiting, count, speed = list[Records](), begun_with, 0.0
    numbers = range(games, config.games)
    for found in play(config, numbers, stop) if play else _games(config, game, teacher, numbers, stop):
        for finished in found:
            kept = list[int]()
            for row, key in enumerate(finished.records["key"].tolist()):
                if taken[key] < config.max_repeats:
                    taken[key] += 1
                    kept.append(row)
            waiting.append(finished.records[kept])
            count += len(waiting[-1])
            results[finished.how] += 1
            games = finished.number + 1
        if count - writer.progress["lines"] >= BLOCK:
            writer.add(np.concatenate(waiting), games, results)
            waiting = []
        speed = (count - begun_with) / (time.perf_counter() - begun)
        report(games, count, speed)
    writer.add(np.concatenate([np.empty(0, lines.dtype), *waiting]), games, results)
    writer.close()
    return {**writer.progress, "positions_per_second": speed, "teacher": str(teacher)}


def _games(
    config: Collect, game: Game, teacher: Teacher | TimedMinimax, numbers: range, stop: Stop
) -> Iterator[list[Finished]]:
    """Finished games, played here if they are few."""
    processes = min(config.threads or available(), len(numbers) // (ENOUGH * TASK))
    if processes < 2:
        return games_here(config, game, teacher, numbers, stop)
    for _ in games_here(replace(config, max_plies=2), game, teacher, range(numbers.start, numbers.start + 1), stop):
        pass  # compiles what is needed, once for all processes
    return games_elsewhere(config, numbers, processes, stop)


def _fixed(config: Collect, game: Game, teacher: Teacher | TimedMinimax) -> dict[str, Any]:
    """The settings that must be equal to continue a file; `games` is free where it changes no other game."""
    table = {**asdict(config), "game": str(game), "teacher": str(teacher)}
    alone = config.temperature_final is None and not config.decisive_first
    free = {"threads", "num_envs", "games" if alone else ""}
    return {name: value for name, value in table.items() if name not in free}
