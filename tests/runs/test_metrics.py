"""A run's metrics, read once and followed while they grow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plyground.runs.files import DamagedFile
from plyground.runs.metrics import RunMetrics, read_metrics
from runs_on_disk import add_cycle, new_run

CYCLE = {"event": "cycle", "updates": 0, "illegal_moves": 0}


def cycle(number: int, plies: int, seconds: float, **more: Any) -> str:
    place = {"step": number, "cycle": number, "plies": plies, "seconds": {"total": seconds}}
    return json.dumps({**CYCLE, **place, **more}) + "\n"


def note(text: str) -> str:
    return json.dumps({"event": "note", "step": 1, "text": text}) + "\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return new_run(tmp_path, "run") / "metrics.jsonl"


def test_a_run_without_metrics_has_measured_nothing(file: Path) -> None:
    found = read_metrics(file.parent)
    assert (found.lines, found.seconds, found.done, found.scores) == ([], 0.0, 0, {})
    assert list(found.series("run", ["loss"])) == []


def test_an_evaluation_has_the_time_of_its_cycle_and_a_cycle_its_speed(file: Path) -> None:
    for number in (1, 2):
        add_cycle(file.parent, number)
    found = read_metrics(file.parent)
    assert [(line.seconds, line.plies) for line in found.measured] == [(10.0, 50_000)] * 2 + [(20.0, 100_000)] * 2
    assert [line.speed for line in found.measured] == [5000.0, None, 5000.0, None]
    assert (found.done, found.seconds, found.scores["random"]["score"]) == (2, 20.0, 0.2)


def test_series_are_scores_with_intervals_and_the_metrics_that_there_are(file: Path) -> None:
    file.write_text(cycle(1, 5, 1.0))
    for number in (2, 3):
        add_cycle(file.parent, number)
    random, loss = read_metrics(file.parent).series("mine", ["td_error", "loss"])
    assert random[:5] == (True, "mine", "random", [20.0, 30.0], [0.2, 0.3])
    assert random.band == (pytest.approx([0.15, 0.25]), pytest.approx([0.25, 0.35]))
    assert loss == (False, "mine", "loss", [20.0, 30.0], [1 / 2, 1 / 3], None)


def test_the_scores_are_those_of_the_best_step_if_they_are_known(file: Path) -> None:
    add_cycle(file.parent, 5)
    best = {"score": 0.9, "low": 0.8, "high": 1.0}
    (file.parent / "best.json").write_text(json.dumps({"step": 3, "eval_opponents": {"greedy": best}}))
    assert read_metrics(file.parent).scores == {"greedy": best}


def test_whoever_follows_a_run_reads_each_line_once_and_none_before_it_is_whole(file: Path) -> None:
    found = RunMetrics(file.parent)
    assert found.update() == []
    file.write_text(note("one") + cycle(1, 5, 1.0)[:20])
    assert [line.record["event"] for line in found.update()] == ["note"]
    assert found.update() == []
    with file.open("a") as more:
        more.write(cycle(1, 5, 1.0)[20:] + note("two"))
    assert [line.record["event"] for line in found.update()] == ["cycle", "note"]
    assert ([len(each) for each in (found.lines, found.measured)], found.changed) == ([3, 1], file.stat().st_mtime)


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_run_that_was_resumed_from_an_earlier_step_is_read_again(file: Path, after: int) -> None:
    """Even if it has meanwhile become as long as before, or longer."""
    whole = [cycle(k, 100 * k, 2.0 * k) for k in range(4)]
    file.write_text("".join(whole))
    found = RunMetrics(file.parent)
    found.update()
    again = whole[:2] + [cycle(2 + k, 100 * (2 + k), 3.0 * (2 + k)) for k in range(after)]
    file.write_text("".join(again))
    found.update()
    assert [line.record for line in found.measured] == [json.loads(line) for line in again]


def test_a_damaged_line_is_an_error_that_names_it_or_left_out_while_a_run_is_followed(file: Path) -> None:
    file.write_text(note("one") + "{}\n" + cycle(1, 5, 1.0) + "[\n")
    with pytest.raises(DamagedFile, match=r"line 2 of .*metrics\.jsonl cannot be read"):
        read_metrics(file.parent)
    found = RunMetrics(file.parent)
    assert [line.record["event"] for line in found.update()] == ["note", "cycle"]


def test_a_folder_in_place_of_the_file_is_an_error(file: Path) -> None:
    file.mkdir()
    with pytest.raises(DamagedFile, match="cannot read"):
        read_metrics(file.parent)
