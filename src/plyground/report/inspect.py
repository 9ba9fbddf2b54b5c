"""What a run holds, read from its files alone: nothing that the run names is imported or started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.replay import TERMINATED
from plyground.learners.play_statistics import MAX_PLIES, quality, statistics_of
from plyground.runs.directory import REPLAY, Checkpoint, best_of, newest_whole, read_config, steps_of
from plyground.runs.files import DamagedFile
from plyground.runs.metrics import read_metrics

COMMONEST = 10  # actions to list
PLY = ("states", "actions", "rewards", "ended")  # the arrays of a replay buffer that are read here
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Inspection:
    """A run in words, and what its newest checkpoint has stored."""

    words: str
    step: int
    experience: Mapping[str, Any]


def inspect_run(run: Path) -> Inspection:
    """Read a run's newest checkpoint, every file of which is checked."""
    config, best, checkpoint = read_config(run), best_of(run), newest_whole(run)
    scores = "".join(f", {spec} {score['score']:.1%}" for spec, score in best.get("eval_opponents", {}).items())
    steps = f"Checkpoints: {', '.join(map(str, steps_of(run)))}; the best is {best.get('step')}{scores}"
    what = f"{config.get('learner', '?')} on {Path(config.get('game', '?')).name}"
    files = checkpoint.manifest["files"]
    experience: dict[str, Any]
    if "table.safetensors" in files:
        tensors = checkpoint.tensors("table")
        visits = tensors.get("visits")
        if visits is None or visits.dtype.kind not in "ui":
            raise DamagedFile(f"{checkpoint.path}/table.safetensors has no visits")
        agent = f"Table of {visits.size:,} entries with the key {config.get('key', '?')}"
        once = float((visits == 1).mean()) if visits.size else 0.0
        experience = {"entries": visits.size, "visited_once": once, "most_visits": int(visits.max(initial=0))}
        experience["bytes"] = sum(each.nbytes for each in tensors.values())
    else:
        weights = sum(each.size for each in checkpoint.tensors("network").values())
        agent = f"Network {config.get('network', '?')} ({weights:,} weights) on {config.get('encoder', '?')}"
        if REPLAY in files and (checkpoint.path / REPLAY).exists():
            experience = _of_replay(checkpoint)
        else:  # of an imitation run, how many examples there were
            last = read_metrics(run).last
            experience = {name: last[name] for name in ("examples", "held_out", "rejected") if name in last}
    return Inspection(f"{what}. {agent}. {steps}", checkpoint.step, experience)


def _of_replay(checkpoint: Checkpoint) -> dict[str, Any]:
    """The plies of a replay buffer or a rollout, at most MAX_PLIES of them."""
    arrays = checkpoint.tensors("replay")
    prefix = next((name.removesuffix("ended") for name in arrays if name.endswith(".ended")), None)
    if prefix is None:
        return {}
    found = {name: arrays.get(f"{prefix}{name}") for name in PLY}
    ended = found["ended"]
    if ended is None or not ended.size:
        return {}
    parts, plies = list[NDArray[Any]](), ended.size  # each with a row for each ply
    for name, values in found.items():
        if values is None or not values.size or values.size % plies or (name != "states" and values.size != plies):
            raise DamagedFile(f"{checkpoint.path / REPLAY} does not hold the {name} of {plies} plies")
        parts.append(values.reshape(plies, -1)[:MAX_PLIES])
    states, actions, rewards, ends = (np.ascontiguousarray(part) for part in parts)
    keys = states.view(np.uint8).reshape(len(states), -1).view(f"V{states[0].nbytes}").reshape(-1)
    measured = statistics_of(keys, actions.reshape(-1), rewards.reshape(-1), ends.reshape(-1))
    results = np.abs(rewards[ends == TERMINATED])
    decided = float((results > 0.5).mean()) if results.size else 0.0
    values, counts = np.unique(actions, return_counts=True)
    common = [f"{values[k]} ({counts[k] / len(actions):.1%})" for k in np.argsort(-counts)[:COMMONEST]]
    ours = {"decided": decided, "quality": quality(measured, decided), "commonest_actions": ", ".join(common)}
    return {"plies_stored": ended.size, **measured, **ours}
