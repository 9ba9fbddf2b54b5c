"""What differs between two runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from plyground.report.compare import Difference, compare_runs
from plyground.runs.directory import create
from runs_groups import IDENTITY

CONFIG: dict[str, Any] = {"learner": "dqn", "game": "evil.py", "seed": 0, "opponents": ["1 self", "1 random"]}
CYCLE: dict[str, Any] = {
    "event": "cycle", "step": 9, "cycle": 1, "plies": 1234, "updates": 7, "illegal_moves": 0, "seconds": {"total": 3.0}
}  # fmt: skip


def saved(path: Path, score: float = 0.5, rules: str = "a", **changes: Any) -> Path:
    config = {**CONFIG, **changes, "versions": {"torch": changes.get("torch", "2.6")}}
    config.pop("torch", None)
    with create(path, config) as run:
        one = {"score": score, "low": score - 0.1, "high": score + 0.1}
        run.log(CYCLE)
        run.log({"event": "evaluation", "step": 9, "cycle": 1, "eval_opponents": {"random": one}, "against_best": one})
        run.save(9, IDENTITY, {"network": {"weight": np.zeros(3, np.float32)}}, {}, {"rules": rules})
    return path


def test_equal_runs_have_no_differences(tmp_path: Path) -> None:
    """Nothing that they name is imported: there is no file evil.py."""
    assert compare_runs(saved(tmp_path / "a"), saved(tmp_path / "b")) == []


def test_results_settings_versions_and_code_are_told_apart(tmp_path: Path) -> None:
    one = saved(tmp_path / "a")
    other = saved(tmp_path / "b", 0.75, "b", seed=3, opponents=["1 self"], torch="2.7", network="8")
    assert compare_runs(one, other) == [
        Difference("results", "against random", "50.0% [40.0%, 60.0%]", "75.0% [65.0%, 85.0%]"),
        Difference("settings", "seed", "0", "3"),
        Difference("settings", "opponents", "1 self, 1 random", "1 self"),
        Difference("settings", "network", "-", "8"),
        Difference("versions", "torch", "2.6", "2.7"),
        Difference("code", "rules", "a", "b"),
    ]


def test_experiments_of_several_seeds_are_compared_by_their_means(tmp_path: Path) -> None:
    for group, scores in (("a", (0.5, 0.7)), ("b", (0.8, 0.8))):
        for seed, score in enumerate(scores):
            run = saved(tmp_path / group / f"seed-{seed}", seed=seed)
            best = {"eval_opponents": {"random": {"score": score, "low": 0.0, "high": 1.0}}}
            (run / "best.json").write_text(json.dumps(best))
    assert compare_runs(tmp_path / "a", tmp_path / "b") == [
        ("results", "against random", "60.0% [0.0%, 100.0%], 50% to 70%", "80.0% [80.0%, 80.0%], 80% to 80%")
    ]
