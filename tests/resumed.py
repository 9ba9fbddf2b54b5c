"""Runs for tests, and whether a run that was stopped and resumed equals the one that was never stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plyground.learners import LEARNERS, training
from plyground.learners.defaults import resolve
from plyground.learners.training import train
from plyground.runs.directory import Run, create, find_checkpoint, newest_whole, open_run
from runs_on_disk import read_records


def silent(event: Any) -> None: ...


def name_of(config: Any) -> str:
    """The learner that a config belongs to."""
    (found,) = (name for name, entry in LEARNERS.items() if entry.config is type(config))
    return found


def new_learner(config: Any, folder: Path | None = None) -> Any:
    """A fresh learner; imitation packs its examples in the run's folder."""
    name = name_of(config)
    return LEARNERS[name].learner(config, *([folder] if name == "imitation" else []))


def begin(path: Path, config: Any) -> tuple[Any, Run]:
    """A new run, and its learner before the first iteration."""
    config = resolve(config)
    run = create(path, {"learner": name_of(config), **asdict(config)})
    try:
        return new_learner(config, path), run
    except Exception:
        run.close()
        raise


def resume(path: Path, config: Any) -> tuple[Any, Run]:
    """A fresh learner that continues from the newest checkpoint of a run."""
    learner, run = new_learner(config, path), open_run(path)
    training.load(learner, run)
    run.rewind(newest_whole(path))
    return learner, run


def after_steps(learner: Any, steps: int) -> Callable[[], bool]:
    last = learner.state.step + steps
    return lambda: learner.state.step >= last


def contents(path: Path) -> dict[str, Any]:
    """Everything in the newest checkpoint, and the metrics; times aside."""
    checkpoint = find_checkpoint(path, "last")
    state = checkpoint.state()
    del state["metrics_bytes"]
    for name in ("seconds", "time_by_part"):
        del state["parts"]["state"][name]
    found: dict[str, Any] = {"state": json.dumps(state), "step": checkpoint.step}
    for file in checkpoint.manifest["files"]:
        if not file.endswith(".safetensors"):
            continue
        group = file.removesuffix(".safetensors")
        found |= {f"{group}/{name}": (v.shape, v.tobytes()) for name, v in checkpoint.tensors(group).items()}
    records = read_records(path)
    for record in records:
        record.pop("seconds", None)
    return found | {"metrics": records, "best": (path / "best.json").read_text()}


def check_resume(folder: Path, config: Any, stop: int, at_stop: Callable[[Any], None] = silent) -> None:
    """N steps, and N more after a resume, leave what 2 N steps leave, bit by bit. `at_stop` gets the resumed one."""
    learner, run = begin(folder / "whole", config)
    with run:
        train(learner, run, silent, after_steps(learner, 2 * stop))
    learner, run = begin(folder / "parts", config)
    with run:
        assert not train(learner, run, silent, after_steps(learner, stop))
    again, run = resume(folder / "parts", learner.config)
    with run:
        assert again.state.step == stop
        at_stop(again)
        train(again, run, silent, after_steps(again, stop))
    whole, parts = contents(folder / "whole"), contents(folder / "parts")
    assert whole["step"] == 2 * stop
    assert whole.keys() == parts.keys()
    for name, values in whole.items():
        assert values == parts[name], name
