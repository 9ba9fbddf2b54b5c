"""Metrics as TensorBoard events."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from plyground.errors import Error
from plyground.runs.directory import create
from plyground.runs.tensorboard import export, scalars

CYCLE = {"event": "cycle", "step": 20, "cycle": 1, "loss": 0.5, "note": "text", "seconds": {"total": 3.0, "rules": 1.0}}
EVALUATION = {"event": "evaluation", "step": 20, "cycle": 1, "eval_opponents": {"random": {"score": 0.75, "games": 4}}}


def test_every_number_of_a_record_has_a_path() -> None:
    assert dict(scalars(CYCLE)) == {"cycle/loss": 0.5, "cycle/seconds/total": 3.0, "cycle/seconds/rules": 1.0}
    found = {"evaluation/eval_opponents/random/score": 0.75, "evaluation/eval_opponents/random/games": 4.0}
    assert dict(scalars(EVALUATION)) == found


def test_events_are_exported_once_however_often(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with create(tmp_path / "run", {"learner": "dqn"}) as run:
        run.log(CYCLE)
        run.log(EVALUATION)
        for _ in range(2):
            assert export(run.path) == (run.path / "tensorboard", 5)
    found = accumulator.EventAccumulator(str(run.path / "tensorboard")).Reload()
    events = found.Scalars("evaluation/eval_opponents/random/score")
    assert [(event.step, event.value, event.wall_time) for event in events] == [(20, 0.75, 3.0)]


def test_without_tensorboard_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("torch.utils.tensorboard"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(Error, match=r"TensorBoard is not installed.*tensorboard"):
        export(tmp_path)
