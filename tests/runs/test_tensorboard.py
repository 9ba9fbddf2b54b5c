"""Metrics as TensorBoard events."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from plyground.errors import Error
from plyground.runs.directory import create
from plyground.runs.tensorboard import export, record_events, scalars

CYCLE: dict[str, Any] = {
    "event": "cycle", "step": 20, "cycle": 1, "loss": 0.5, "note": "text", "seconds": {"total": 3.0, "rules": 1.0},
    "plies": 7, "updates": 2, "illegal_moves": 0,
}  # fmt: skip
SCORE = {"score": 0.75, "low": 0.5, "high": 1.0}
EVALUATION: dict[str, Any] = {
    "event": "evaluation", "step": 20, "cycle": 1, "eval_opponents": {"random": SCORE}, "against_best": SCORE
}  # fmt: skip


def test_every_number_of_a_record_has_a_path() -> None:
    seconds = {"cycle/seconds/total": 3.0, "cycle/seconds/rules": 1.0}
    counts = {"cycle/plies": 7.0, "cycle/updates": 2.0, "cycle/illegal_moves": 0.0}
    assert dict(scalars(CYCLE)) == {"cycle/loss": 0.5, **seconds, **counts}
    assert dict(scalars(EVALUATION))["evaluation/eval_opponents/random/score"] == 0.75


def test_values_that_are_no_numbers_are_left_out() -> None:
    odd = {"event": "note", "step": 1, "huge": 10**400, "yes": True, "no": None, "list": [1]}
    assert dict(scalars(odd)) == {"note/yes": 1.0}


def test_events_are_exported_once_however_often(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with create(tmp_path / "run", {"learner": "dqn"}) as run:
        run.log(CYCLE)
        run.log(EVALUATION)
        for _ in range(2):
            assert export(run.path) == (run.path / "tensorboard", 12)
    found = accumulator.EventAccumulator(str(run.path / "tensorboard")).Reload()
    events = found.Scalars("evaluation/eval_opponents/random/score")
    assert [(event.step, event.value, event.wall_time) for event in events] == [(20, 0.75, 3.0)]


def test_a_run_that_goes_on_is_seen_at_once(tmp_path: Path) -> None:
    """An event is in the file before the writer is closed, and once."""
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with create(tmp_path / "run", {"learner": "dqn"}) as run:
        run.log(CYCLE)
        with record_events(run.path) as events:
            run.log({**CYCLE, "step": 40, "loss": 0.25})
            events.update()
            events.update()
            found = accumulator.EventAccumulator(str(events.folder)).Reload()
    assert [(event.step, event.value) for event in found.Scalars("cycle/loss")] == [(20, 0.5), (40, 0.25)]


def test_without_tensorboard_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("torch.utils.tensorboard"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(Error, match=r"TensorBoard is not installed.*tensorboard"):
        export(tmp_path)
