"""Advice follows from what was measured in the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plyground.report.advice import advice
from plyground.runs.metrics import RunMetrics

NETWORK = {"network": "16", "encoder": "planes-v1", "outputs": 7}
TABLE = {"key": "exact-v1"}


def score(value: float) -> dict[str, float]:
    return {"score": value, "low": value - 0.1, "high": value + 0.1}


def cycle(**metrics: Any) -> dict[str, Any]:
    return {"event": "cycle", "cycle": 1, "plies": 1, "seconds": {}, **metrics}


def measured(*records: dict[str, Any]) -> RunMetrics:
    found = RunMetrics(Path("a run that is nowhere"))
    for record in records:
        found.add(record)
    return found


def evaluation(step: int, best: int, against_best: float = 0.5, **puzzles: float) -> dict[str, Any]:
    place = {"event": "evaluation", "step": step, "best": best}
    return {**place, "against_best": score(against_best), "puzzles": puzzles}


FALLEN = [evaluation(step, best=2) for step in (1, 2, 3, 4)]
STEADY = [evaluation(step, best=step) for step in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("config", "last", "evaluations", "scores", "wanted"),
    [
        (NETWORK, {}, [], {"random": 0.5}, "loses points to random (50%): more cycles"),
        (TABLE, {}, [], {"random": 0.5}, "a higher alpha, or another key"),
        ({}, {"truncated": 0.6}, [], {"random": 0.95}, "60% of its games were truncated: raise max_plies"),
        ({"opening_plies": 7}, {"distinct": 0.4}, [], {"random": 0.95}, "only 40% of its positions were distinct"),
        ({}, {}, [], {"random": 0.99, "greedy": 0.98}, "name harder ones"),
        ({"target_kl": 0.03}, {"kl": 0.05}, [], {"random": 0.95}, "at a KL of 0.050: raise target_kl (0.03)"),
        ({"entropy_coef": 0.1}, {"entropy": 0.02}, [], {"random": 0.95}, "hardly explores (entropy 0.02)"),
        ({}, {}, [evaluation(3, 3, 0.7)], {"random": 0.95}, "train longer: it still scored 70% against"),
        (NETWORK, {}, FALLEN, {"random": 0.95}, "evaluation 2 of 4 found its best version"),
        ({"opponents": ["1 self"]}, {}, [evaluation(3, 3, win_in_1=0.75)], {"random": 0.95, "greedy": 0.3},
         "it misses 25% of wins in one move"),
        (NETWORK, {}, STEADY, {"random": 0.95}, "it no longer gains (50% against its best): a wider network"),
        (NETWORK, {}, [], {"random": 0.95}, "a wider network than 16"),
        (NETWORK, {"seconds": {"total": 58.7}}, STEADY, {"random": 0.95, "greedy": 0.26},
         "train longer: it has 26% against greedy after only 59 s"),
        (NETWORK, {"seconds": {"total": 7200.0}}, STEADY, {"random": 0.95}, "it no longer gains"),
    ],
)  # fmt: skip
def test_each_number_that_stands_out_is_named(
    config: Any, last: Any, evaluations: list[Any], scores: dict[str, float], wanted: str
) -> None:
    found = advice(
        config, measured(cycle(**last), *evaluations), {spec: score(value) for spec, value in scores.items()}
    )
    assert len(found) == 1
    assert wanted in found[0]


@pytest.mark.parametrize(
    ("config", "last", "evaluations"),
    [
        ({"target_kl": 0.0}, {"kl": 0.05, "truncated": 0.5, "distinct": 0.5}, STEADY),
        ({"opponents": ["0.7 self", "0.3 greedy"]}, {}, [evaluation(3, 3, win_in_1=0.5)]),
        ({"entropy_coef": 0.1}, {"entropy": 0.3}, STEADY),
        ({}, {"entropy": 0.01, "kl": None}, FALLEN[:3]),
    ],
)  # fmt: skip
def test_what_does_not_stand_out_is_not_named(config: Any, last: Any, evaluations: list[Any]) -> None:
    (found,) = advice(config, measured(cycle(**last), *evaluations), {"random": score(0.95), "greedy": score(0.5)})
    assert found.startswith("it no longer gains")


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([0.1, 0.3, 0.5, 0.6], "train longer: against greedy it scored 60% in the last quarter of the run, 50%"),
        ([0.1, 0.5, 0.5, 0.6, 0.6, 0.4, 0.5, 0.5], "it no longer gains"),
        ([0.1, 0.3, 0.6], "train longer: against greedy it scored 60% in its last evaluation, 10% in its first"),
        ([0.5, 0.3, 0.5], "it no longer gains"),
    ],
)  # fmt: skip
def test_a_score_that_still_rises_is_named(scores: list[float], wanted: str) -> None:
    found = [evaluation(step, step) | {"eval_opponents": {"greedy": score(each)}} for step, each in enumerate(scores)]
    assert advice({}, measured(cycle(), *found), {"greedy": score(0.6)})[0].startswith(wanted)


def test_a_run_without_cycles_is_advised_too() -> None:
    assert advice(NETWORK, measured(), {}) == ["a wider network than 16, or more cycles"]
    for learner, wanted in (("imitation", "more epochs"), ("ppo", "more cycles")):  # whose epochs are others
        (found,) = advice({**NETWORK, "learner": learner, "epochs": 3}, measured(), {"random": score(0.5)})
        assert wanted in found
