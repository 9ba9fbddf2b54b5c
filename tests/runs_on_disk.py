"""Run directories written by hand, for tests of what reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from plyground.runs.metrics import read_metrics


def new_run(folder: Path, name: str, game: str = "connect_four") -> Path:
    """A run that has not learned yet."""
    run = folder / name
    run.mkdir(parents=True)
    (run / "config.toml").write_text(f'learner = "dqn"\ngame = "{game}"\nseed = 0\n', encoding="utf-8")
    return run


def add_cycle(run: Path, cycle: int) -> None:
    """A cycle of ten seconds and its evaluation, in which the score grows by a tenth."""
    score = {"score": cycle / 10, "low": cycle / 10 - 0.05, "high": cycle / 10 + 0.05, "games": 100}
    records = [
        {
            "event": "cycle", "step": 10 * cycle, "cycle": cycle, "cycles": 0, "updates": 100 * cycle,
            "plies": 50_000 * cycle, "illegal_moves": 0, "games": 1000 * cycle, "loss": 1 / cycle,
            "seconds": {"total": 10.0 * cycle},
        },
        {
            "event": "evaluation", "step": 10 * cycle, "cycle": cycle, "cycles": 0, "against_best": score,
            "eval_opponents": {"random": score},
        },
    ]  # fmt: skip
    with (run / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def read_records(run: Path) -> list[Any]:
    """The lines of a run's metrics."""
    return [line.record for line in read_metrics(run).lines]
