"""A slim run: the best network in half precision, and nothing that only training needs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from plyground.runs.directory import best_of, create, find_checkpoint, read_config
from plyground.runs.slim import slim
from runs_groups import IDENTITY, groups


def test_a_slim_run_has_config_best_network_and_fingerprints(tmp_path: Path) -> None:
    with create(tmp_path / "run", {"learner": "dqn", "seed": 7}) as run:
        run.save(1, IDENTITY, groups(0.25), {"x": 1}, {"rules": "abc"})
        run.save(2, IDENTITY, groups(0.5), {"x": 2}, {"rules": "abc"})
        run.write("best.json", json.dumps({"step": 1}))
    slim(tmp_path / "run", tmp_path / "slim")
    checkpoint = find_checkpoint(tmp_path / "slim", "best")
    assert (checkpoint.step, checkpoint.identity, checkpoint.fingerprints) == (1, IDENTITY, {"rules": "abc"})
    weight = checkpoint.tensors("network")["weight"]
    assert weight.dtype == np.float16
    assert (weight == 0.25).all()
    assert set(checkpoint.manifest["files"]) == {"network.safetensors", "state.json"}
    assert read_config(tmp_path / "slim") == {"learner": "dqn", "seed": 7}
    assert best_of(tmp_path / "slim") == {"step": 1}
    assert {path.name for path in (tmp_path / "slim").iterdir()} == {"checkpoints", "config.toml", "best.json"}
