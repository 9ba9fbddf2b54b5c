"""Mean and spread over the seeds of an experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plyground.report.scores import spread
from plyground.report.seeds import experiments, mean_curves, report_of
from plyground.runs.metrics import Series
from plyground.runs.settings import to_toml


def write_run(path: Path, seed: int = 0, scores: dict[str, float] | None = None, **config: Any) -> Path:
    path.mkdir(parents=True)
    settings = {"learner": "dqn", "game": "chess", "seed": seed, "eval_games": 20, "threads": seed % 2 + 1, **config}
    (path / "config.toml").write_text(to_toml(settings))
    found = {spec: {"score": value, "low": 0.0, "high": 1.0} for spec, value in (scores or {}).items()}
    (path / "best.json").write_text(json.dumps({"step": 3, "eval_opponents": found}))
    return path


def test_the_interval_is_students_over_seeds() -> None:
    radius = 4.303 * 0.1 / 3**0.5
    wanted = {"score": 0.6, "low": 0.6 - radius, "high": 0.6 + radius, "lowest": 0.5, "highest": 0.7}
    assert spread([0.5, 0.6, 0.7]) == pytest.approx(wanted)
    most = spread([0.2, 0.99])
    assert (most["low"], most["high"]) == (0.0, 1.0), "a score has no more than all points"
    assert spread([0.4]) == {"score": 0.4, "low": None, "high": None, "lowest": 0.4, "highest": 0.4}


@pytest.mark.parametrize(("seeds", "factor"), [(11, 2.228), (21, 2.086), (61, 2.000), (121, 1.980)])
def test_the_interval_of_many_seeds_agrees_with_tables(seeds: int, factor: float) -> None:
    scores = [0.4, 0.6] * (seeds // 2) + [0.5]
    deviation = (seeds // 2 * 2 * 0.01 / (seeds - 1)) ** 0.5
    found = spread(scores)
    assert (found["high"] - found["low"]) / 2 == pytest.approx(factor * deviation / seeds**0.5, rel=0.005)


def test_runs_that_differ_in_the_seed_alone_are_one_experiment(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, seed) for seed, name in enumerate("abc")]
    other = write_run(tmp_path / "other", 5, network="16")
    found = experiments([runs[0], other, *runs[1:]], ["a", "other", "b", "c"])
    assert [(each.name, each.runs) for each in found] == [("a (3 seeds)", tuple(runs)), ("other", (other,))]


def test_folders_of_seeds_stay_apart_though_their_settings_are_equal(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / group / f"seed-{seed}", seed) for group in "gh" for seed in range(2)]
    found = experiments(runs, [str(run) for run in runs])
    assert [each.name for each in found] == ["g (2 seeds)", "h (2 seeds)"]


def test_a_run_that_is_named_twice_is_no_second_seed(tmp_path: Path) -> None:
    run = write_run(tmp_path / "a")
    assert [each.name for each in experiments([run, run], ["a (1)", "a (2)"])] == ["a (1)", "a (2)"]


def test_curves_are_averaged_where_all_seeds_have_values() -> None:
    one = Series(True, "x", "random", [10, 30], [0.2, 0.4], ([0.1, 0.3], [0.3, 0.5]))
    other = Series(True, "x", "random", [20, 40], [0.5, 0.9])
    loss = Series(False, "x", "loss", [10], [1.0])
    mean, alone = mean_curves([[one, loss], [other]], "x")
    assert (mean.seconds[0], mean.seconds[-1]) == (20, 30)
    assert (mean.values[0], mean.values[-1]) == pytest.approx(((0.3 + 0.5) / 2, (0.4 + 0.7) / 2))
    assert mean.band is not None
    assert (mean.band[0][-1], mean.band[1][-1]) == pytest.approx((0.4, 0.7))
    assert set(alone.values) == {1.0}


def test_the_report_has_mean_interval_range_and_every_seed(tmp_path: Path) -> None:
    for seed, score in enumerate((0.5, 0.6, 0.7)):
        write_run(tmp_path / "g" / f"seed-{seed}", seed, {"random": 0.9, "greedy": score, f"only-{seed}": 0.1})
    runs = sorted((tmp_path / "g").iterdir())
    (experiment,) = experiments(runs, ["a", "b", "c"])
    text = report_of(experiment)
    assert text.startswith("# g (3 seeds): dqn on chess\n")
    assert "| `greedy` | 60.0% | 35.2% to 84.8% | 50.0% | 70.0% |" in text
    assert "| 2 | 90.0% | 70.0% |" in text
    assert "only-0" not in text, "one seed alone met it"


def test_a_report_without_evaluations_says_so(tmp_path: Path) -> None:
    (experiment,) = experiments([write_run(tmp_path / "a")], ["a"])
    assert "nothing to compare yet" in report_of(experiment)
