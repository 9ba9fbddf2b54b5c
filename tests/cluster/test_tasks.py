"""Matches, ladders, grades and collections in tasks: the same as in one process, in whatever way they are divided."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from cluster_runs import folders, processes
from collected import FOUR
from plyground.arena import match as arena
from plyground.arena.ladder import climb
from plyground.arena.rating import Sprt
from plyground.cluster import tasks
from plyground.cluster.connect import Cluster, NoCluster, connect
from plyground.cluster.tasks import Pairing, in_order, surroundings
from plyground.errors import Error, InvalidValue
from plyground.kernels import threads
from plyground.teaching import collect as teaching
from plyground.teaching.collect import collect
from pretended_ray import pretend

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def all_cores() -> Iterator[None]:
    """Tasks that run in this process limit its threads."""
    yield
    threads.limit(2**31)


@pytest.fixture(params=[1, 3], ids=["1 CPU", "3 CPUs"])
def pretended(request: pytest.FixtureRequest) -> Cluster:
    return pretend(request.param)


@pytest.fixture(scope="module", params=["ray:cpus=1", "ray:nodes=2,cpus=1"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with connect(request.param) as found:
        yield found


def look(found: pg.Match) -> tuple[Any, ...]:
    """A match to the last bit."""
    return found.scores.tolist(), found.plies, found.unfinished, list(found.endings.items()), found.faults


# ---- the same results: checked in this process, and on clusters of one node and of two ----


def check_matches(there: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "BLOCK", 4)
    for name, a, b, games in (
        ("connect_four", "greedy", "minimax:depth=2", 22),
        ("connect_four", "search:sims=20,reuse=true", "level:3", 6),
        ("connect_four", "trained", "greedy", 22),
        ("sequence", "greedy", "random", 6),
    ):
        game, finished = pg.load(name), list[int]()
        here = arena.play_match(game, a, b, games, seed=3, opening_plies=2, max_plies=30)
        pairing = Pairing(a, b, games, 3, opening_plies=2, max_plies=30)
        assert look(tasks.play_match_or_test(there, game, pairing, None, finished.append)[0]) == look(here), (
            name,
            a,
            b,
        )
        assert finished == sorted(finished)
        assert finished[-1] == games


def check_books_and_tests(there: Cluster) -> None:
    game = pg.load("connect_four")
    book = np.concatenate([game.position(text).states for text in ("4", "44", "445")])
    here = arena.play_match(game, "greedy", "punisher", 10, seed=5, book=book)
    assert look(tasks.play_match_or_test(there, game, Pairing("greedy", "punisher", 10, 5), book=book)[0]) == look(here)
    agents = pg.agent("greedy", game), pg.agent("punisher", game)
    decided, verdict = arena.play_until_decided(game, *agents, Sprt(0, 200), 400, 7)
    found = tasks.play_match_or_test(there, game, Pairing("greedy", "punisher", 400, 7), Sprt(0, 200))
    assert (look(found[0]), found[1]) == (look(decided), verdict)
    assert decided.games < 400


def check_ladders(there: Cluster, folder: Path) -> None:
    game, agents = pg.load("connect_four"), ["random", "greedy", "punisher", "minimax:depth=2"]
    for path, play in (
        (folder / "here.json", None),
        (folder / "there.json", lambda *given: tasks.play_ladder(there, *given)),
    ):
        climb(game, agents[:3], 10, 2, path, play=play)
        climb(game, agents, 10, 2, path, play=play)  # only the missing matches
    assert (folder / "here.json").read_bytes() == (folder / "there.json").read_bytes()


def check_grades(there: Cluster) -> None:
    game = pg.load("connect_four")
    for spec in ("punisher", "trained", "search:sims=20,reuse=true"):
        here = pg.grade(game, spec, 40, 4, seed=1)
        found = tasks.grade(there, game, spec, 40, 4, seed=1)
        assert here.games
        assert found.games
        assert look(here.games) == look(found.games), spec
        assert repr(here) == repr(found), spec


def check_collections(there: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lines(path: Path) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in path.read_text().splitlines()]
        return [{name: value for name, value in line.items() if name != "ts"} for line in found]

    monkeypatch.setattr(teaching, "TASK", 5)
    collect(FOUR, folder / "here.ndjson", lambda *_: None)
    reports: list[int] = []
    first = tasks.collect(
        there, FOUR, folder / "there.ndjson", lambda games, *_: reports.append(games), lambda: bool(reports)
    )
    assert reports == [5]  # after the first task it was stopped; now it goes on
    assert first["games"] == 5
    tasks.collect(there, FOUR, folder / "there.ndjson", lambda *_: None)
    assert lines(folder / "here.ndjson") == lines(folder / "there.ndjson")


def check(there: Cluster, what: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "matches":
        check_matches(there, monkeypatch)
    elif what == "books and tests":
        check_books_and_tests(there)
    elif what == "ladders":
        check_ladders(there, folder)
    elif what == "grades":
        check_grades(there)
    else:
        check_collections(there, folder, monkeypatch)


KINDS = ("matches", "books and tests", "ladders", "grades", "collections")


@pytest.mark.parametrize("what", KINDS)
def test_tasks_of_any_size_give_the_same_results(
    pretended: Cluster, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(pretended, what, tmp_path, monkeypatch)


@pytest.mark.cluster
@pytest.mark.parametrize("what", KINDS)
def test_clusters_give_the_same_results_as_one_process(
    cluster: Cluster, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(cluster, what, tmp_path, monkeypatch)


# ---- tasks ----


def double(number: int) -> int:
    if number < 0:
        raise InvalidValue(f"{number} is below zero")
    return 2 * number + 0 // number


def test_few_tasks_are_made_ahead_and_the_rest_is_cancelled() -> None:
    there, made = pretend(2), list[int]()

    def numbers() -> Iterator[tuple[Any, ...]]:
        for number in range(1, 100):
            made.append(number)
            yield double, number

    found = in_order(there, surroundings(pg.load("connect_four")), numbers())
    assert next(found) == 2
    assert made == [1, 2, 3, 4]
    found.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert len(there.ray.cancelled) == 3


def test_an_error_of_a_task_is_ours_or_one_sentence() -> None:
    there, around = pretend(1), surroundings(pg.load("connect_four"))
    with pytest.raises(InvalidValue, match=r"^-1 is below zero$"):
        list(in_order(there, around, [(double, -1)]))
    with pytest.raises(Error, match=r"^a task failed on the cluster: ZeroDivisionError: .*by zero$"):
        list(in_order(there, around, [(double, 0)]))


def test_nodes_with_other_rules_are_refused() -> None:
    around = replace(surroundings(pg.load("connect_four")), rules="others")
    with pytest.raises(
        NoCluster, match=r"the rules of connect_four are others on the node .*: install the same version"
    ):
        list(in_order(pretend(1), around, [(double, 1)]))


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [("run:runs/a,learn=true", "learns from its games, which one process must play"), ("gredy", "did you mean")],
)
def test_agents_are_checked_before_the_first_task(spec: str, sentence: str) -> None:
    there = pretend(1)
    with pytest.raises(Error, match=sentence):
        tasks.play_match_or_test(there, pg.load("connect_four"), Pairing("random", spec, 2, 0))
    assert not there.ray.calls


@pytest.mark.cluster
def test_a_task_whose_process_was_killed_is_repeated(cluster: Cluster, tmp_path: Path) -> None:
    def die_once(path: str) -> str:
        """Kills its process the first time."""
        with suppress(FileExistsError):
            Path(path).touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        return "second"

    around = surroundings(pg.load("connect_four"))
    assert list(in_order(cluster, around, [(die_once, str(tmp_path / "died"))])) == ["second"]


@pytest.mark.cluster
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_leaves_no_process_and_no_folder(number: signal.Signals, tmp_path: Path) -> None:
    command = "match", "connect_four", "minimax:depth=6", "minimax:depth=6", "--games", "100000", "--on", "ray:nodes=2"
    mark = f"BEGUN_BY={tmp_path}"
    with subprocess.Popen(
        [sys.executable, "-m", "plyground", *command],
        cwd=tmp_path,
        env={**os.environ, "BEGUN_BY": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr
        assert "2 nodes" in process.stderr.readline()
        end = time.monotonic() + 60
        while not any(b"ray::work" in _command_line(pid) for pid in processes(mark)) and time.monotonic() < end:
            time.sleep(0.1)
        assert folders(process.pid)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)  # a terminal signals the whole group
        assert process.wait(30) == 130
        rest = process.stderr.read()
    assert "Traceback" not in rest
    assert "plyground: stopped; nothing was kept" in rest
    assert not folders(process.pid)
    end = time.monotonic() + 5
    while processes(mark) and time.monotonic() < end:
        time.sleep(0.1)
    assert not processes(mark)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_networks_play_the_blocks_of_one_process_and_others_four_parts_for_each_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rounding flips a choice rarely, so that results alone would not show it."""
    monkeypatch.setattr(arena, "BLOCK", 5)
    game, there = pg.load("connect_four"), pretend(2)
    greedy, network = pg.agent("greedy", game), pg.agent("trained", game)
    pairing = Pairing("trained", "greedy", 24, 0)
    assert tasks._divided(there, pairing, network, greedy) == [range(5), range(5, 10), range(10, 12)]
    parts = tasks._divided(there, pairing, greedy, greedy)
    assert [pair for part in parts for pair in part] == [*range(12)]
    assert len(parts) == 6  # of two pairs, the least that makes at most eight
    assert surroundings(game, [greedy]).cpus == 1
    assert surroundings(game, [network]).cpus == sys.modules["torch"].get_num_threads()
