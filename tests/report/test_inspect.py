"""Inspection of a run: what its files say, and nothing of it is imported or started."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from plyground.errors import Error
from plyground.report.inspect import inspect_run
from plyground.runs.directory import Run, create
from runs_groups import IDENTITY

CONFIG = {"learner": "dqn", "game": "evil.py", "network": "8", "encoder": "planes-v1", "opponents": ["1 uci:/evil"]}
NETWORK = {"network": {"weight": np.zeros((3, 2), np.float32)}}


def plies(rows: int = 3, envs: int = 2) -> dict[str, np.ndarray]:
    """Three plies in each of two games: five different positions, and action 1 four times."""
    states = np.arange(rows * envs, dtype=np.uint8).repeat(4).reshape(rows, -1)
    states[0, :4] = states[-1, -4:]
    actions = np.array([[1, 1], [1, 1], [0, 2]], np.int32)
    rewards, ended = np.zeros((rows, envs), np.float32), np.zeros((rows, envs), np.int8)
    rewards[-1, 0], ended[-1] = 1.0, 1
    return {"states": states, "actions": actions, "rewards": rewards, "ended": ended}


def saved(path: Path, groups: dict) -> Run:
    with create(path, CONFIG) as run:
        run.save(3, IDENTITY, groups, {})
    return run


@pytest.mark.parametrize("prefix", ["replay.", "rollout.replay."])
def test_a_replay_buffer_is_described_without_its_game(tmp_path: Path, prefix: str) -> None:
    (tmp_path / "run").mkdir()
    replay = {f"{prefix}{name}": values for name, values in plies().items()}
    saved(tmp_path / "run", {**NETWORK, "replay": replay})
    (tmp_path / "run" / "evil.py").write_text("import sys; sys.evil = True")
    found = inspect_run(tmp_path / "run")
    assert not hasattr(sys, "evil")
    assert found.words == "dqn on evil.py. Network 8 (6 weights) on planes-v1. Checkpoints: 3; the best is None"
    assert found.step == 3
    assert found.experience["plies_stored"] == 6
    assert found.experience["distinct"] == pytest.approx(5 / 6)
    assert found.experience["decided"] == 0.5
    assert found.experience["commonest_actions"].startswith("1 (66.7%), ")


def test_a_table_is_described_without_its_game(tmp_path: Path) -> None:
    table = {"keys": np.zeros((4, 2), np.uint64), "values": np.zeros(4, np.float32)}
    saved(tmp_path / "run", {"table": {**table, "visits": np.array([1, 1, 5, 2], np.uint32)}})
    found = inspect_run(tmp_path / "run")
    assert "Table of 4 entries" in found.words
    assert found.experience == {"entries": 4, "visited_once": 0.5, "most_visits": 5, "bytes": 64 + 16 + 16}


@pytest.mark.parametrize("name", ["states", "actions", "rewards"])
def test_arrays_that_do_not_fit_are_one_error(tmp_path: Path, name: str) -> None:
    for number, odd in enumerate((None, np.zeros(5, np.float32), np.zeros(0, np.float32))):
        arrays = {f"replay.{key}": values for key, values in plies().items()}
        arrays.pop(f"replay.{name}")
        replay = arrays if odd is None else arrays | {f"replay.{name}": odd}
        saved(tmp_path / str(number), {**NETWORK, "replay": replay})
        with pytest.raises(Error, match=f"does not hold the {name} of 6 plies"):
            inspect_run(tmp_path / str(number))


def test_a_table_without_visits_is_one_error(tmp_path: Path) -> None:
    saved(tmp_path / "run", {"table": {"values": np.zeros(4, np.float32)}})
    with pytest.raises(Error, match="has no visits"):
        inspect_run(tmp_path / "run")
