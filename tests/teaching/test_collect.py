"""Collecting: distinct positions, the same file however it is made, safe to stop."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from collected import FOUR, collected, lines_of
from plyground.runs import files
from plyground.teaching import collect as collecting
from plyground.teaching.collect import Collector, collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import read_all, rejected_lines
from plyground.teaching.lines import Lines
from plyground.teaching.packed import BLOCK

pytestmark = pytest.mark.compiled


def run(config: Collect, path: Path, stop_after: int = 10**9) -> list[dict[str, Any]]:
    """The lines of a file, but for their times."""
    calls: list[int] = []
    return collected(config, path, lambda *_: calls.append(1), lambda: len(calls) >= stop_after)


def test_positions_are_distinct_and_every_line_is_good(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    lines = run(FOUR, path)
    assert len({line["position"] for line in lines}) == len(lines) > 50
    assert len(read_all(path, Lines(pg.load("connect_four")))) == len(lines)
    assert rejected_lines(path) == 0
    assert [line["game_id"] for line in lines] == sorted((line["game_id"] for line in lines), key=_number)


def _number(name: str) -> int:
    return int(name.split("-")[1])


def test_neither_threads_nor_num_envs_change_a_line(tmp_path: Path) -> None:
    first = run(FOUR, tmp_path / "a.ndjson")
    assert run(replace(FOUR, num_envs=5, threads=2), tmp_path / "b.ndjson") == first
    assert run(replace(FOUR, seed=1), tmp_path / "c.ndjson") != first


@pytest.mark.slow  # two processes start
def test_several_processes_write_the_same_file_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(FOUR, tmp_path / "whole.ndjson")
    for name, value in {"TASK": 2, "ENOUGH": 1, "BLOCK": 20}.items():
        monkeypatch.setattr(collecting, name, value)
    assert run(replace(FOUR, threads=2), tmp_path / "a.ndjson") == whole
    more = replace(FOUR, threads=2, games=400)
    counted: list[int] = []
    collect(more, tmp_path / "b.ndjson", lambda games, *_: counted.append(games), lambda: max(counted, default=0) > 4)
    part = lines_of(tmp_path / "b.ndjson")
    assert 0 < len({line["game_id"] for line in part}) < 400
    assert run(replace(FOUR, games=40, threads=2), tmp_path / "c.ndjson")[: len(part)] == part[: 40 * 42]


def test_a_task_of_games_is_a_part_of_all_games(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As another process plays it."""
    whole = run(FOUR, tmp_path / "a.ndjson")
    monkeypatch.setattr(collecting, "_stopped", [threading.Event()])
    played = collecting._play_task(FOUR, range(5, 9))
    assert [each.number for each in played] == [5, 6, 7, 8]
    lines = Lines(pg.load("connect_four")).write(np.concatenate([each.records for each in played]))
    texts = {json.loads(line)["position"] for line in lines}
    assert {line["position"] for line in whole if 5 <= _number(line["game_id"]) < 9} <= texts
    collecting._stopped[0].set()
    assert not collecting._play_task(FOUR, range(5, 9)), "told to stop before it begins"


@pytest.mark.parametrize("name", ["a.packed", "a.ndjson", "a.ndjson.gz"])
def test_a_collection_that_was_stopped_goes_on_without_a_double_or_a_torn_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(collecting, "BLOCK", 20)
    small = replace(FOUR, num_envs=3)
    whole = run(small, tmp_path / "whole.ndjson")
    path = tmp_path / name
    part = run(small, path, stop_after=45)
    assert 0 < len(part) < len(whole)
    with path.open("ab") as file:
        file.write(b'{"position": "torn')  # as a crash may leave it
    assert run(small, path) == whole
    assert run(small, path) == whole, "nothing is left to do"


@pytest.mark.parametrize("name", ["a.packed", "a.ndjson"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
@pytest.mark.parametrize("place", ["fsync", "progress", "game"])
def test_whatever_interrupts_it_no_line_is_lost_or_written_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, place: str, name: str
) -> None:
    monkeypatch.setattr(collecting, "BLOCK", 20)
    small, path = replace(FOUR, num_envs=3), tmp_path / name
    whole = run(small, tmp_path / "whole.ndjson")
    run(small, path, stop_after=45)

    def fail(*_: Any, **__: Any) -> None:
        raise error

    where, function = {
        "fsync": (os, "fsync"),
        "progress": (files, "write_whole"),
        "game": (collecting, "select"),
    }[place]
    with monkeypatch.context() as patch:
        patch.setattr(where, function, fail)
        disk = isinstance(error, OSError) and place != "game"
        with pytest.raises(pg.InvalidValue if disk else type(error), match="No space left" if disk else None):
            run(small, path)
    assert run(small, path) == whole


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("a.packed", 50, "damaged header"),
        ("a.packed", 2 * BLOCK, r"position \d+: no position"),
        ("a.ndjson", 0, "line 1: the line is not UTF-8"),
        ("a.ndjson.gz", 0, "line 1.*damaged"),
    ],
)
def test_a_damaged_file_is_not_gone_on_with(tmp_path: Path, name: str, place: int, message: str) -> None:
    path = tmp_path / name
    run(FOUR, path)
    content = path.read_bytes()
    path.write_bytes(content[:place] + b"\xff" * 40 + content[place + 40 :])
    with pytest.raises(pg.InvalidValue, match=rf"{message}.*choose another --out"):
        run(FOUR, path)


def test_other_settings_do_not_go_on_with_a_file(tmp_path: Path) -> None:
    run(FOUR, tmp_path / "a.ndjson")
    with pytest.raises(pg.InvalidValue, match=r"started with other settings \(temperature: 1.0\)"):
        run(replace(FOUR, temperature=0.5), tmp_path / "a.ndjson")
    with pytest.raises(pg.InvalidValue, match="`teach convert` writes it as CSV"):
        run(FOUR, tmp_path / "a.csv")
    for progress in ("", "[]", '{"settings": [], "progress": {}}', '{"settings": 1}', "{"):
        (tmp_path / "b.ndjson").write_text("mine")
        (tmp_path / "b.ndjson.progress.json").write_text(progress)
        with pytest.raises(pg.InvalidValue, match="cannot be continued"):
            run(FOUR, tmp_path / "b.ndjson")
        assert (tmp_path / "b.ndjson").read_text() == "mine"
    more = run(replace(FOUR, games=15), tmp_path / "a.ndjson")
    assert more == run(replace(FOUR, games=15), tmp_path / "c.ndjson"), "more games are no other settings"


def test_repeats_and_positions_for_a_game(tmp_path: Path) -> None:
    start = replace(FOUR, opening_plies=0)
    twice = Counter(line["position"] for line in run(replace(start, max_repeats=2), tmp_path / "a.ndjson"))
    assert max(twice.values()) == 2
    few = Counter(line["game_id"] for line in run(replace(start, positions_per_game=4), tmp_path / "b.ndjson"))
    assert max(few.values()) <= 4


def test_draws_may_be_left_out_or_come_later(tmp_path: Path) -> None:
    long = Collect(game="connect_four", games=30, max_plies=14, opening_plies=2, threads=1)  # many are stopped
    changes = {"all": {}, "decided": {"draws": 0.0}, "later": {"decisive_first": 0.5}}
    found = {
        name: {_number(line["game_id"]) for line in run(replace(long, **each), tmp_path / name)}
        for name, each in changes.items()
    }
    assert found["decided"] < found["all"]
    assert found["later"] == {each for each in found["all"] if each >= 15 or each in found["decided"]}


def test_temperature_falls_from_game_to_game() -> None:
    config = replace(FOUR, games=11, temperature=1.0, temperature_final=0.5)
    assert [config.temperature_of(game) for game in (0, 5, 10)] == pytest.approx([1.0, 0.75, 0.5])


def test_weak_games_show_one_side_only(tmp_path: Path) -> None:
    lines = run(replace(FOUR, weak_games=1.0, games=8), tmp_path / "a.ndjson")
    sides: dict[str, set[str]] = {}
    for line in lines:
        sides.setdefault(line["game_id"], set()).add(line["side"])
    assert all(len(found) == 1 for found in sides.values())
    assert len(set.union(*sides.values())) == 2, "either side is the weak one"
    both = run(replace(FOUR, weak_games=0.0, games=8), tmp_path / "b.ndjson")
    assert {len({line["side"] for line in both if line["game_id"] == game}) for game in sides} == {2}


def test_games_that_go_in_circles_are_cut(tmp_path: Path) -> None:
    class Shuffles:
        """Moves a knight out and back."""

        def scores(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            from plyground.search.minimax import Minimax

            actions, scores = Minimax(chess, 1).scores(states)
            knights = np.isin(actions, [1 * 64 + 18, 18 * 64 + 1, 57 * 64 + 42, 42 * 64 + 57])
            return actions, np.where(knights, 999.0, scores)

    from plyground.agents.teacher import Teacher

    chess = pg.load("chess:draws=automatic")
    config = Collect(game="chess:draws=automatic", games=1, opening_plies=0, circles=4, weak_games=0.0, threads=1)
    collector = Collector(config, chess, Teacher(chess, Shuffles(), "shuffles"), range(1))
    while not collector.done:
        collector.step()
    played, how = collector.ready()[0]
    assert how == "CUT"
    assert len(played.positions) == 8, "four plies out and back, four that are nothing new"


def test_wrong_settings_are_refused() -> None:
    wrong = [
        ("games", 0, "a number of at least 1"),
        ("temperature", 0.0, "a number above 0"),
        ("draws", 2.0, "at most 1"),
    ]
    for name, value, message in [*wrong, ("temperature", float("nan"), "a number"), ("top_k", 17, "at most 16")]:
        with pytest.raises(pg.InvalidValue, match=f"{name} is .*{message}"):
            replace(FOUR, **{name: value})


def test_games_begin_with_the_openings_of_a_book(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("444\n123\n")
    config = Collect(
        game="connect_four", games=6, depth=1, max_plies=4, threads=1, weak_games=0.0, max_repeats=99,
        openings=str(tmp_path / "book.txt"), opening_plies=0,
    )  # fmt: skip
    found = {line["position"] for line in run(config, tmp_path / "a") if line["ply"] == 0}
    game = pg.load("connect_four")
    assert found == {game.position("444").text, game.position("123").text}
