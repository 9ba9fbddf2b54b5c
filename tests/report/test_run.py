"""The report of a run: curves, advice and the table of runs, from metrics that are written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import plyground as pg
from conftest import ROOT
from plyground.learners.config import Tabular
from plyground.learners.evaluation import evaluate
from plyground.learners.training import train
from plyground.report import figures, table
from plyground.report import run as report
from plyground.report.scores import score_table
from plyground.runs.metrics import read_metrics
from plyground.runs.settings import to_toml
from resumed import begin, silent


def score(value: float) -> dict[str, float]:
    return {"score": value, "low": value - 0.1, "high": value + 0.1}


def cycle(number: int, **metrics: Any) -> dict[str, Any]:
    counts = {
        "step": 9,
        "plies": 5,
        "updates": 2,
        "illegal_moves": 0,
        "seconds": {"total": 10.0 * number, "rules": 1.0},
    }
    return {"event": "cycle", "cycle": number, **counts, **metrics}


def epoch(number: int, **metrics: Any) -> dict[str, Any]:
    measured = {"loss": 2.0 - number, "kl": 1.0 - number / 2, "match@1": 0.5 + number / 4, "seconds": number / 2}
    return {"event": "epoch", "step": number, "epoch": number, "examples": 7, **measured, **metrics}


def evaluation(number: int, **scores: float) -> dict[str, Any]:
    found = {spec: score(value) for spec, value in scores.items()}
    return {"event": "evaluation", "step": 9, "cycle": number, "eval_opponents": found, "against_best": score(0.5)}


def write_run(path: Path, config: dict[str, Any], records: list[dict[str, Any]]) -> Path:
    path.mkdir(parents=True)
    (path / "config.toml").write_text(to_toml(config))
    (path / "metrics.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    return path


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were saved."""
    found: list[Figure] = []
    monkeypatch.setattr(figures, "save_figure", lambda _, figure, shared: found.append(figure))
    monkeypatch.setattr(table, "save_figure", lambda _, figure, shared: found.append(figure))
    return found


def lines(axes: Any) -> list[list[float]]:
    return [np.array(line.get_ydata()).tolist() for line in axes.lines]


def test_scores_and_metrics_are_drawn_over_seconds(tmp_path: Path, drawn: list[Figure]) -> None:
    records = [cycle(1, loss=2.0), evaluation(1, random=0.5), cycle(2, loss=1.0), evaluation(2, random=0.8)]
    path = write_run(tmp_path / "a", {"learner": "dqn"}, records)
    report.save_curves(tmp_path / "x.png", [path])
    left, right = drawn[0].axes
    assert lines(left) == [[0.5, 0.8]]
    assert np.array(left.lines[0].get_xdata()).tolist() == [10.0, 20.0]
    assert lines(right) == [[2.0, 1.0]]


def test_a_report_of_epochs_tells_of_the_one_that_was_kept(tmp_path: Path) -> None:
    records = [epoch(0), epoch(1, kl=0.2), epoch(2, kl=0.3)]
    text = report.totals(read_metrics(write_run(tmp_path / "a", {"learner": "imitation"}, records)))
    assert text.startswith("2 epochs of 7 examples")
    assert text.endswith("epoch 1 was kept: on held-out positions KL 0.2000, match@1 75.0%.")


def test_epochs_are_drawn(tmp_path: Path, drawn: list[Figure]) -> None:
    records = [epoch(k) for k in range(2)]
    report.save_curves(tmp_path / "x.png", [write_run(tmp_path / "a", {"learner": "imitation"}, records)])
    left, right = drawn[0].axes
    assert lines(left) == [[0.5, 0.75]]
    assert lines(right) == [[2.0, 1.0], [1.0, 0.5]]


def test_a_run_with_a_table_has_six_pictures(tmp_path: Path, drawn: list[Figure]) -> None:
    metrics: dict[str, Any] = {"td_error": 0.1, "q": 0.2, "entries": 7, "table_bytes": 2**20, "visits": [3, 1, 0]}
    metrics |= {"values": {"edges": [-1, 0, 1], "counts": [1, 3]}, "squares": [[1, 2], [3, 4]]}
    records = [cycle(1, **metrics), evaluation(1, random=0.5, greedy=0.4)]
    path = write_run(tmp_path / "a", {"learner": "tabular"}, records)
    report.save_curves(tmp_path / "x.png", [path])
    assert [axes.get_title() for axes in drawn[0].axes[:6]] == [
        "Wins and half the draws against fixed opponents",
        "TD error and mean target",
        "Size of the table: 7 entries, 1 MB",
        "How often entries were visited",
        "Values",
        "Squares of its moves: shares in the last cycle",
    ]
    report.save_curves(tmp_path / "x.png", [path, path])
    assert len(drawn[1].axes) == 2, "two runs are compared by their curves"


def test_a_report_says_that_nothing_later_was_better_than_the_beginning(tmp_path: Path) -> None:
    game = pg.load(str(ROOT / "examples" / "three_in_a_row.py"))
    config = Tabular(game=str(game.full), cycles=1, games_per_cycle=20, num_envs=4, eval_games=2)
    learner, run = begin(tmp_path / "run", config)
    with run:
        train(learner, run, silent)
    metrics = read_metrics(run.path)
    assert report._no_better_than_the_first(run.path, metrics, {"step": 5}) == []
    (text,) = report._no_better_than_the_first(run.path, metrics, {"step": 0})
    assert "from before the first update" in text
    assert f"plays as `run:{run.path},checkpoint=last`" in text


def test_a_report_says_how_many_draws_are_truncated_games() -> None:
    game = pg.load("connect_four")
    scores = evaluate(game, pg.agent("random", game), ["random", "greedy"], 20, max_plies=3)
    first, second = score_table(scores, {"greedy"}).splitlines()[2:]
    wins, draws, losses = (scores["random"][each] for each in ("wins", "draws", "losses"))
    assert draws >= scores["random"]["truncated"] > 0
    assert first.endswith(f"| {wins}, {draws} ({scores['random']['truncated']} truncated), {losses} |")
    assert second.startswith("| `greedy`, also in training |")
    whole = evaluate(game, pg.agent("random", game), ["random"], 20, max_plies=None)
    assert "truncated" not in score_table(whole)


def test_time_by_part_names_no_network_where_there_is_none() -> None:
    last = {"cycle": 1, "seconds": {"total": 4.0, "network": 3.0, "rules": 1.0}}
    assert report._time_by_part(last, {"network": "16"}) == ["Time by part: network 75%, rules 25%."]
    assert report._time_by_part(last, {"key": "exact"}) == ["Time by part: table 75%, rules 25%."]


def test_runs_of_one_name_get_different_labels() -> None:
    assert report.labels_of([Path("a/run"), Path("b/run")]) == ["a/run", "b/run"]
    assert report.labels_of([Path("a/one"), Path("b/two")]) == ["one", "two"]
    assert report.labels_of([Path("a/run"), Path("a/run")]) == ["run (1)", "run (2)"]


def test_every_run_is_listed_and_a_damaged_one_with_its_fault(tmp_path: Path) -> None:
    config = {"learner": "dqn", "game": "/x/three.py", "cycles": 4}
    write_run(tmp_path / "a", config, [cycle(1), cycle(2), evaluation(2, random=0.8)])
    write_run(tmp_path / "a2", config, [cycle(1), evaluation(1, random=0.9), cycle(2), evaluation(2, random=0.8)])
    (tmp_path / "a2" / "best.json").write_text(
        '{"step": 5, "eval_opponents": {"random": {"score": 0.9, "low": 0.8, "high": 1.0}}}'
    )
    write_run(tmp_path / "b", {"learner": "imitation", "game": "chess", "epochs": 3}, [epoch(1)])
    write_run(tmp_path / "c", {**config, "cycles": 0}, [cycle(7)])
    write_run(tmp_path / "d", config, [])
    (tmp_path / "d" / "metrics.jsonl").write_text("{\n")
    assert report.table_of(tmp_path)[:4] == [
        ["a", "dqn", "three.py", "2/4", "", "random 80%"],
        ["a2", "dqn", "three.py", "2/4", "5", "random 90%"],  # of the best step, not of the last evaluation
        ["b", "imitation", "chess", "1/3", "", ""],
        ["c", "dqn", "three.py", "7", "", ""],
    ]
    assert "metrics.jsonl cannot be read" in report.table_of(tmp_path)[4][-1]


def test_only_a_declared_error_is_a_fault_of_the_run_that_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one is a fault of this program, which the proof with damaged files must see."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "config.toml").write_text("")

    def raises(error: Exception) -> None:
        def record_of(path: Path) -> dict[str, Any]:
            raise error

        monkeypatch.setattr(report, "_record_of", record_of)

    raises(pg.InvalidValue(f"{tmp_path / 'one'}/best.json is odd"))
    assert report.table_of(tmp_path) == [["one", "?", "?", "?", "?", "best.json is odd"]]
    raises(KeyError("score"))
    with pytest.raises(KeyError):
        report.table_of(tmp_path)
