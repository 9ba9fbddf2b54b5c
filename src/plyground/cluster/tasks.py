"""Matches, ladders, grades and collections on a cluster, with the same results as on one machine.

They are divided where the seed divides them: each pair of a match and each game of a collection has generators of its
own. A task is told by specs and numbers alone; its node makes the agents anew. So a node needs the same version of
Plyground, and the files that the specs name (runs, agents, games, books) at the same paths. Results are taken in order;
Ray repeats a task whose node or process was lost.
"""

from __future__ import annotations

import functools
import itertools
import os
import platform
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plyground
from plyground.agents.agent import Agent, Learning, ask, independent, sees_all
from plyground.agents.registry import make
from plyground.arena.grade import Grade
from plyground.arena.grade import grade as grade_here
from plyground.arena.match import Match, Progress, Records, blocks, check_pairs, combined, decide, play_pairs, rounds
from plyground.arena.rating import Sprt, Verdict
from plyground.cluster.connect import Cluster, NoCluster, last_line
from plyground.errors import Error, InvalidValue
from plyground.game import Game, agent_repr, load
from plyground.kernels import threads
from plyground.runs.fingerprints import rules_fingerprint
from plyground.teaching import collect as teaching
from plyground.teaching.collect import Finished, Report, Stop
from plyground.teaching.config import Collect

TASKS_PER_CPU = 4  # of a match: the last ones end at about the same time
AHEAD = 2  # tasks for each CPU that wait or run: the rest is not made yet
POLL = 0.1  # seconds between two readings of `stop`
ROWS = 8  # positions of a task that grades


@dataclass(frozen=True)
class Surroundings:
    """What a task takes from the process that asks for it."""

    game: str
    rules: str
    """the fingerprint of the game's rules"""
    folder: str
    cpus: int
    torch_threads: int
    """0: torch is not used"""

    def enter(self) -> None:
        """Let this process be like that one."""
        if Path(self.folder).is_dir():
            os.chdir(self.folder)
        if rules_fingerprint(load(self.game)) != self.rules:
            where = f"on the node {platform.node()}, with Plyground {plyground.__version__}"
            raise NoCluster(f"the rules of {self.game} are others {where}: install the same version on all nodes")
        threads.limit(self.cpus)
        if self.torch_threads:
            import torch

            torch.set_num_threads(self.torch_threads)  # its rounding depends on them


def surroundings(game: Game, agents: Sequence[Agent] = ()) -> Surroundings:
    """Those of this process, for tasks of one CPU each; with a network as many as it uses here."""
    torch: Any = sys.modules.get("torch")
    used = int(torch.get_num_threads()) if torch else 0
    cpus = 1 if all(independent(agent) for agent in agents) else max(1, used)
    return Surroundings(str(game), rules_fingerprint(game), str(Path.cwd()), cpus, used)


def work(around: Surroundings, function: Callable[..., Any], *arguments: Any) -> Any:
    """In a process of the cluster: a task."""
    around.enter()
    return function(*arguments)


Task = tuple[Callable[..., Any], *tuple[Any, ...]]  # a function that all nodes have, and its arguments


def in_order(
    cluster: Cluster, around: Surroundings, tasks: Iterable[Task], stop: Stop = lambda: False
) -> Iterator[Any]:
    """The results of tasks, in their order. At most AHEAD tasks for each CPU are under way; what is not wanted any more
    is cancelled."""
    ray, biggest = cluster.ray, max(node["Resources"].get("CPU", 1) for node in cluster.ray.nodes() if node["Alive"])
    remote = ray.remote(work).options(num_cpus=min(around.cpus, int(biggest)), scheduling_strategy="SPREAD")
    submitted = (remote.remote(around, *each) for each in tasks)
    waiting = deque[Any]()
    try:
        waiting.extend(itertools.islice(submitted, AHEAD * max(1, cluster.resource("CPU"))))
        while waiting and not stop():
            ready, _ = ray.wait([waiting[0]], timeout=POLL)
            if ready:
                yield _result(ray, waiting.popleft())
                waiting.extend(itertools.islice(submitted, 1))
    finally:
        for ref in waiting:
            with suppress(Exception):  # the cluster may have ended
                ray.cancel(ref, force=True)


def _result(ray: Any, ref: Any) -> Any:
    """The result of a task; its error is one of ours, or one sentence."""
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Error):
            raise error.cause from None
        raise Error(f"a task failed on the cluster: {last_line(error)}") from None
    except ray.exceptions.RayError as error:
        raise NoCluster(f"the cluster has lost a task: {last_line(error)}") from None


# ---- matches ----


@dataclass(frozen=True)
class Pairing:
    """A match that is played in tasks: two agent specs, and what `play_match` takes."""

    first: str
    second: str
    games: int
    seed: int
    opening_plies: int | None = None
    max_plies: int | None = None

    def __post_init__(self) -> None:
        check_pairs(self.games)


@functools.lru_cache(maxsize=16)
def _agent(game: str, spec: str) -> Agent:
    return make(spec, load(game))


def play_task(game: str, pairing: Pairing, pairs: range, book: Records | None) -> Match:
    """In a process of the cluster: some pairs of a match."""
    first, second = _agent(game, pairing.first), _agent(game, pairing.second)
    opening, limit = pairing.opening_plies, pairing.max_plies
    return play_pairs(load(game), first, second, pairs, pairing.seed, opening, max_plies=limit, book=book)


def play_matches(
    cluster: Cluster, game: Game, pairings: Sequence[Pairing], progress: Progress = None, book: Records | None = None
) -> Iterator[Match]:
    """The matches, in order; `progress` is called with the number of finished games of all of them."""
    specs = list(dict.fromkeys(spec for each in pairings for spec in (each.first, each.second)))
    agents = {spec: _checked(spec, game) for spec in specs}
    parts = [_divided(cluster, each, agents[each.first], agents[each.second]) for each in pairings]
    shared = cluster.ray.put(book) if book is not None else None
    tasks = [
        (play_task, str(game), each, pairs, shared)
        for each, ranges in zip(pairings, parts, strict=True)
        for pairs in ranges
    ]
    results, done = in_order(cluster, surroundings(game, list(agents.values())), tasks), 0
    for ranges in parts:
        found: list[Match] = []
        for match in itertools.islice(results, len(ranges)):
            found.append(match)
            done += match.games
            if progress:
                progress(done)
        yield combined(found)


def _checked(spec: str, game: Game) -> Agent:
    """The agent, made here too: a wrong spec is said before a task begins."""
    if "learn=true" in spec:
        raise InvalidValue(f"{spec} learns from its games, which one process must play: leave out --on")
    return make(spec, game)


def _divided(cluster: Cluster, pairing: Pairing, first: Agent, second: Agent) -> list[range]:
    """The pairs of a match, task by task."""
    pairs = pairing.games // 2
    if not (independent(first) and independent(second)):
        return blocks(pairs, first, second)
    size = cluster.share(pairs, TASKS_PER_CPU)
    return [range(start, min(start + size, pairs)) for start in range(0, pairs, size)]


def play_match_or_test(
    cluster: Cluster,
    game: Game,
    pairing: Pairing,
    sprt: Sprt | None = None,
    progress: Progress = None,
    book: Records | None = None,
) -> tuple[Match, Verdict | None]:
    """A match as `arena.match` plays it, or a sequential test; matches that follow its decision are thrown away."""
    if not sprt:
        return next(play_matches(cluster, game, [pairing], progress, book)), None
    agents = [_checked(spec, game) for spec in (pairing.first, pairing.second)]
    shared = cluster.ray.put(book) if book is not None else None
    tasks = (
        (play_task, str(game), replace(pairing, games=games, seed=seed), range(games // 2), shared)
        for games, seed in rounds(pairing.games, pairing.seed)
    )
    return decide(in_order(cluster, surroundings(game, agents), tasks), sprt, pairing.games, progress)


def play_ladder(
    cluster: Cluster, game: Game, pairs: Sequence[tuple[str, str]], games: int, seed: int
) -> Iterator[Match]:
    """The matches of a ladder, for `arena.ladder.climb`."""
    return play_matches(cluster, game, [Pairing(a, b, games, seed) for a, b in pairs])


# ---- grades ----


def act_task(
    game: str, spec: str, states: Records, rngs: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """In a process of the cluster: an agent's actions [N], and the generators [N] afterwards."""
    own = rngs.copy()
    return ask(_agent(game, spec), load(game), states.copy(), own), own


class RemoteAgent:
    """An agent whose choices are made on a cluster."""

    def __init__(self, cluster: Cluster, game: Game, spec: str, agent: Agent) -> None:
        self.cluster, self.game, self.spec, self.independent = cluster, game, spec, independent(agent)
        self.around, self.sees_all = surroundings(game, [agent]), sees_all(agent)

    __repr__ = agent_repr

    def __str__(self) -> str:
        return self.spec

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        n = len(states)
        size = max(ROWS, self.cluster.share(n, TASKS_PER_CPU)) if self.independent else max(1, n)
        parts = [slice(start, start + size) for start in range(0, n, size)]
        tasks = ((act_task, str(self.game), self.spec, states[part], rngs[part]) for part in parts)
        actions = np.empty(n, np.int32)
        for part, (chosen, after) in zip(parts, in_order(self.cluster, self.around, tasks), strict=True):
            actions[part], rngs[part] = chosen, after
        return actions


def grade(
    cluster: Cluster, game: Game, spec: str, positions: int | Records, games: int, seed: int, progress: Progress = None
) -> Grade:
    """A grade by the perfect player, as `arena.grade.grade` gives it; the agent chooses on the cluster.

    An agent that keeps its trees between moves needs all its games in one process, this one.
    """
    agent = _checked(spec, game)
    player = agent if isinstance(agent, Learning) else RemoteAgent(cluster, game, spec, agent)
    return grade_here(game, player, positions, games, seed, progress)


# ---- collections ----


def collect(cluster: Cluster, config: Collect, out: Path, report: Report, stop: Stop = lambda: False) -> dict[str, Any]:
    """Write a dataset or continue one, as `teaching.collect.collect` does."""

    def play(config: Collect, numbers: range, stop: Stop) -> Iterator[list[Finished]]:
        alone, size = replace(config, threads=1), teaching.TASK
        parts = (numbers[start : start + size] for start in range(0, len(numbers), size))
        tasks = ((teaching.play_games, alone, part) for part in parts)
        return in_order(cluster, surroundings(load(config.game)), tasks, stop)

    return teaching.collect(config, out, report, stop, play)
