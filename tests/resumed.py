"""Is a run that was stopped and resumed the one that was never stopped?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plyground.learners.learner import Learner, Settings
from plyground.learners.loop import train
from plyground.runs.directory import Run, create, find_checkpoint, newest_whole, open_run, read_metrics


def silent(record: Any) -> None: ...


def begin(path: Path, config: Settings, learner: type[Learner[Any]]) -> tuple[Any, Run]:
    """A new run."""
    config = config.resolved()
    return learner(config), create(path, {"learner": "?", **asdict(config)})


def after_steps(learner: Learner[Any], steps: int) -> Callable[[], bool]:
    last = learner.step + steps
    return lambda: learner.step >= last


def contents(path: Path) -> dict[str, Any]:
    """Everything in the newest checkpoint, and the metrics; times aside."""
    checkpoint = find_checkpoint(path, "last")
    state = checkpoint.state()
    for name in ("clock", "metrics_bytes"):
        del state[name]
    del state["counts"]["seconds"]
    found: dict[str, Any] = {"state": json.dumps(state), "step": checkpoint.step}
    for file in checkpoint.manifest["files"]:
        if not file.endswith(".safetensors"):
            continue
        group = file.removesuffix(".safetensors")
        found |= {f"{group}/{name}": (v.shape, v.tobytes()) for name, v in checkpoint.tensors(group).items()}
    records = read_metrics(path)
    for record in records:
        record.pop("seconds", None)
    return found | {"metrics": records, "best": (path / "best.json").read_text()}


def check_resume(folder: Path, config: Settings, learner_of: type[Learner[Any]], stop: int) -> None:
    """N steps, and N more after a resume, leave what 2 N steps leave, bit by bit."""
    learner, run = begin(folder / "whole", config, learner_of)
    with run:
        train(learner, run, silent, after_steps(learner, 2 * stop))
    learner, run = begin(folder / "parts", config, learner_of)
    with run:
        assert not train(learner, run, silent, after_steps(learner, stop))
    with open_run(folder / "parts") as run:
        checkpoint = newest_whole(run.path)
        again = learner_of(learner.config)
        run.rewind(checkpoint)
        again.restore(checkpoint)
        assert again.step == stop
        train(again, run, silent, after_steps(again, stop))
    whole, parts = contents(folder / "whole"), contents(folder / "parts")
    assert whole["step"] == 2 * stop
    assert whole.keys() == parts.keys()
    for name, values in whole.items():
        assert values == parts[name], name
