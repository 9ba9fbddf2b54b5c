"""Saving: every value of every learner that a save/load round trip must restore is restored."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import plyground as pg
from conftest import TINY
from plyground.backend.games import DeviceGame
from plyground.backend.runner import Numpy
from plyground.errors import Error
from plyground.learners import saving
from plyground.learners.config import DQN, AlphaZero, Imitation, Tabular
from plyground.learners.defaults import resolve
from plyground.learners.selfplay import GameResults
from plyground.learners.training import progress, save
from plyground.runs.directory import Run, newest_whole
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from resumed import begin, name_of, new_learner
from small_runs import EVERYTHING, OTHERWISE, ROW, short

COMMON: dict[str, Any] = {"game": ROW, "num_envs": 8, "games_per_cycle": 8, "eval_opponents": ("random",)}
NETWORK: dict[str, Any] = {**COMMON, "network": "8", "threads": 1, "batch_size": 8, "learning_starts": 16}
SEARCHING: dict[str, Any] = {**NETWORK, "network": "8+value", "simulations": 4}
CONFIGS: dict[str, Any] = {
    "dqn": DQN(**NETWORK, buffer_size=2000),
    "dqn, everything": DQN(
        **{**NETWORK, "game": "connect_four"}, buffer_size=80, prioritized_replay=True, dueling=True, double_dqn=True,
        opponents=("0.4 self", "0.3 snapshot", "0.3 greedy"), snapshot_interval=1, opening_plies=3, shaping_coef=0.1,
        imitation_coef=0.1, target_update_interval=20,
    ),
    "dqn, otherwise": DQN(
        **{**NETWORK, "game": TINY[1]}, buffer_size=400, exploration="boltzmann", bootstrap="own_turn", tau=0.01,
        max_plies=9, decided_share=0.3, recent_share=0.3, recent_size=100,
    ),
    "ppo": short("ppo", games_per_cycle=20),
    "ppo, everything": short("ppo", **EVERYTHING, games_per_cycle=20),
    "a2c": short("a2c", **OTHERWISE, games_per_cycle=20),
    "reinforce": short("reinforce", **EVERYTHING, games_per_cycle=20),
    "alphazero": AlphaZero(**SEARCHING, buffer_size=400),
    "alphazero, everything": AlphaZero(
        **{**SEARCHING, "game": "connect_four"}, buffer_size=80, gate=True, opening_plies=3, opening_share=0.5,
        opponents=("0.4 self", "0.3 snapshot", "0.3 greedy"), snapshot_interval=1,
    ),
    "tabular": Tabular(**COMMON, opening_plies=2, opponents=("1 self", "1 random")),
    "tabular, sarsa": Tabular(
        **{**COMMON, "game": "sequence", "games_per_cycle": 1}, key="cards", method="sarsa", prior=5.0,
    ),
    "imitation": Imitation(game="connect_four", data=("four.ndjson",), network="8", threads=1, batch_size=4),
}  # fmt: skip

# ---- the walk over all objects of a learner ----

Leaf = torch.Tensor | np.ndarray | bytes | int | float | str | None
NOT_STATE = (
    type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType,
    types.MethodType, pg.Game, DeviceGame, Numpy, np.dtype, torch.device, torch.dtype, Path,
)  # fmt: skip
"""modules, functions, classes, and objects that depend on the config alone and are shared by all learners"""
WORKING_MEMORY = {
    "learner.state.seconds": "time passed",
    "learner.state.time_by_part": "time passed",
    "learner.games.batch._games": "views of the batch's tensors, which are compared themselves",
    "learner.games.batch.next_states": "written by every step before they are read",
    "learner.rollout.games.batch._games": "as above",
    "learner.rollout.games.batch.next_states": "as above",
    "learner.*._rooms": "working memory of a search",
    "learner.*._buffers": "the same",
    "learner.search": "trees and results, which every search writes anew",
    "learner.found.replay": "the replay buffer, which is compared itself",
    "learner.scratch": "working memory of the table's kernels",
    "learner.actions": "written in every row before they are played",
    "learner.epsilons": "computed before each ply",
    "learner.shaping_weight": "the same",
    "learner.minibatch": "filled before each update",
    "learner.rollout.entropy_coef": "computed at the end of each rollout",
    "learner.minibatches": "an iterator that follows from seed, epoch and position",
}
"""all that a round trip need not restore, and why"""


def leaves(path: str, value: Any, seen: dict[int, Any]) -> Iterator[tuple[str, Leaf]]:
    """Every value below an object, with the path to it; an object that was seen before is left out."""
    if isinstance(value, int | float | str | bytes | None):
        yield path, value
        return
    if isinstance(value, NOT_STATE) or (callable(value) and not isinstance(value, nn.Module)) or id(value) in seen:
        return
    seen[id(value)] = value  # kept, so that no other object gets its id
    if isinstance(value, torch.Tensor):
        yield path, value.detach()
    elif isinstance(value, np.ndarray | np.generic):
        yield path, np.asarray(value)
    elif isinstance(value, torch.Generator):
        yield path, value.get_state()
    elif isinstance(value, np.random.Generator):
        yield path, str(value.bit_generator.state)
    else:
        for name, inner in inside(value).items():
            if not any(fnmatch(f"{path}.{name}", pattern) for pattern in WORKING_MEMORY):
                yield from leaves(f"{path}.{name}", inner, seen)


def inside(value: Any) -> dict[str, Any]:
    """The parts of an object by name."""
    if isinstance(value, torch.optim.Optimizer):
        state = value.state_dict()
        groups = [{key: group[key] for key in group if key != "params"} for group in state["param_groups"]]
        return {"state": state["state"], "param_groups": groups}
    if isinstance(value, nn.Module):
        return {**value.state_dict(), "training": value.training}
    if isinstance(value, Mapping):
        return {str(key): inner for key, inner in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return value._asdict()  # pyright: ignore
    if isinstance(value, list | tuple | set | frozenset):
        return {str(k): inner for k, inner in enumerate(value)}
    if type(value).__name__ == "Table":
        return {"table": value.state()}
    if type(value).__name__ == "ReplayBuffer":  # rows that are not in use hold nothing
        used = {name: ring[: value.filled] for name, ring in value.rings().items()}
        return {**vars(value), "plies": None, **used}
    if dataclasses.is_dataclass(value) or hasattr(value, "__dict__"):
        return dict(vars(value))
    return {}


def values_of(learner: Any) -> dict[str, Leaf]:
    return dict(leaves("learner", learner, {}))


def results_of(learner: Any) -> GameResults:
    return (learner.rollout if hasattr(learner, "rollout") else learner).games.results


def same(one: Leaf, other: Leaf) -> bool:
    """Equal in type, shape and every bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and same(one.numpy(), other.numpy())
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    numbers = isinstance(one, float) and isinstance(other, float)  # of numpy or of Python
    return (numbers or type(one) is type(other)) and bool(one == other)


def shown(values: Mapping[str, Leaf], path: str) -> str:
    return " ".join(str(values[path]).split())[:60] if path in values else "nothing"


def lost(learner: Any, again: Any) -> list[str]:
    """The paths of all values that differ between a saved learner and the one that was loaded."""
    one, other = values_of(learner), values_of(again)
    return sorted(
        f"{path}: {shown(one, path)} became {shown(other, path)}"
        for path in one.keys() | other.keys()
        if path not in one or path not in other or not same(one[path], other[path])
    )


# ---- a learner in the middle of a run ----


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "four.ndjson"
    collect(Collect(game="connect_four", games=30, weak_games=0.0, threads=1, depth=2), path, lambda *_: None)
    return path


def iterate(learner: Any, steps: int) -> None:
    """So many iterations, with the ends of cycles but without evaluations."""
    state = learner.state
    for _ in range(steps):
        state.progress = progress(learner)
        state.track_metrics(learner.iterate(), learner.config)
        state.step += 1
        if learner.cycle.progress() >= 1:
            state.cycle += 1
            end_cycle(learner)
            state.cycle_start = state.step


def end_cycle(learner: Any) -> None:
    if name_of(learner.config) == "imitation":
        learner.cycle.end()
    else:
        results_of(learner).clear()
        learner.model.end_cycle(learner.state.cycle)
        learner.model.keep_best()


def saved_and_loaded(path: Path, config: Any) -> tuple[Any, Any]:
    """A learner in the middle of a run, and a fresh one that has loaded its checkpoint."""
    learner, run = begin(path, config)
    iterate(learner, 45)
    state = learner.state
    state.rollbacks, state.illegal_moves, state.updates_due = 2, 1, (state.updates_due + 0.25) % 1
    state.notes.append("a note that was not emitted yet")
    with run:
        save(learner, run)
    again = new_learner(learner.config, path)
    assert lost(learner, again), "the walk sees that a fresh learner is another"
    saving.load(again, newest_whole(path))
    return learner, again


@pytest.mark.parametrize("name", CONFIGS)
def test_a_round_trip_restores_every_value(name: str, tmp_path: Path, data: Path) -> None:
    config = CONFIGS[name]
    if name == "imitation":
        config = dataclasses.replace(config, data=(str(data),))
    learner, again = saved_and_loaded(tmp_path / "run", config)
    assert learner.state.updates > 0
    assert learner.state.cycle > 0
    assert lost(learner, again) == []
    for each in (learner, again):
        iterate(each, 12)
    assert lost(learner, again) == []


def test_the_walk_finds_what_matters() -> None:
    """Otherwise the test above could pass because it compares nothing."""
    found = {
        name: set(values_of(new_learner(resolve(CONFIGS[name])))) for name in ("dqn, everything", "ppo", "tabular")
    }
    for path in (
        "learner.model.present.network.head.value.weight", "learner.target_network.head.value.weight", "learner.rng",
        "learner.games.batch.rngs", "learner.games.batch.states", "learner.games.batch.plies", "learner.games.side",
        "learner.replay.cursor", "learner.replay._time", "learner.replay.tree.tree", "learner.replay.max_priority",
        "learner.state.step", "learner.state.updates_due", "learner.model.optimizer.param_groups.0.lr",
    ):  # fmt: skip
        assert path in found["dqn, everything"], path
    assert {"learner.rollout.log_probs", "learner.rollout.values"} <= found["ppo"]
    assert {"learner.pending.rewards", "learner.played", "learner.model.best.then.values"} <= found["tabular"]


@pytest.mark.parametrize(
    ("name", "part", "path"),
    [
        ("dqn, everything", "rng", "learner.rng"),
        ("dqn, everything", "target_network", "learner.target_network."),
        ("dqn, everything", "replay", "learner.replay."),
        ("dqn, everything", "snapshots", "learner.model.snapshots."),
        ("dqn, everything", "optimizer", "learner.model.optimizer."),
        ("dqn", "games", "learner.games."),
        ("dqn", "results", "learner.games.results."),
        ("dqn", "state", "learner.state."),
        ("ppo", "rollout", "learner.rollout."),
        ("alphazero", "search_results", "learner.found."),
        ("ppo", "best", "learner.rollout.model.best."),
        ("tabular", "table", "learner.table."),
        ("tabular", "best", "learner.model."),
        ("tabular", "pending", "learner.pending."),
        ("tabular", "played", "learner.played"),
    ],
)
def test_a_part_that_is_not_saved_is_noticed(
    name: str, part: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = type(new_learner(resolve(CONFIGS[name])))
    real = kind.parts
    monkeypatch.setattr(kind, "parts", lambda self: {k: each for k, each in real(self).items() if k != part})
    assert part in real(new_learner(resolve(CONFIGS[name])))
    learner, again = saved_and_loaded(tmp_path / "run", CONFIGS[name])
    found = lost(learner, again)
    assert found
    assert all(each.startswith(path) for each in found), found


# ---- what is refused ----


def check_refused(learner: Any, run: Run, why: str) -> None:
    """What the learner saves is not loaded."""
    with run:
        checkpoint = saving.save(learner, run, 0)
    with pytest.raises(Error, match=why):
        saving.load(new_learner(learner.config), checkpoint)


def test_a_checkpoint_that_lacks_a_part_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    real = learner.parts()
    monkeypatch.setattr(learner, "parts", lambda: {name: part for name, part in real.items() if name != "rng"})
    check_refused(learner, run, "the checkpoint lacks rng")


@pytest.mark.parametrize(
    ("name", "value"), [("time_by_part", 1.0), ("notes", 0), ("rollbacks", "x"), ("best", []), ("step", None)]
)
def test_counters_of_other_types_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    setattr(learner.state, name, value)
    check_refused(learner, run, f"{name} of .*state.json is")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("updates_due", 1e308), ("updates_due", math.nan), ("rollbacks", -(2**62)), ("seconds", math.inf)),
        *(("cycle_start", 99), ("best", {"step": "x"}), ("best", {"kl": "x"})),
    ],
)
def test_counters_that_no_run_has_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    """So many updates would never end."""
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    setattr(learner.state, name, value)
    check_refused(learner, run, f"{name} of a run is .*, not")


def test_actions_that_the_game_does_not_have_are_refused(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    learner.replay.time, learner.replay.actions[0, 0] = 1, 9
    check_refused(learner, run, r"holds actions that .*three_in_a_row\.py does not have")


def test_a_checkpoint_that_only_plays_is_not_resumed(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    weights = {name: values.numpy() for name, values in learner.q_network.state_dict().items()}
    with run:
        checkpoint = run.save(0, learner.model.identity, {"network": weights}, {})
    with pytest.raises(Error, match="holds only a network: it can play, but a run cannot be resumed from it"):
        saving.load(learner, checkpoint)


def test_a_changed_end_of_the_run_is_allowed_and_said(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    with run:
        checkpoint = saving.save(learner, run, 0)
    longer = new_learner(dataclasses.replace(learner.config, cycles=99, seconds=5.0))
    assert saving.load(longer, checkpoint) == ["cycles: 99 instead of 10", "seconds: 5.0 instead of 0.0"]


def test_a_checkpoint_from_before_a_setting_existed_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs go on as they began: the setting has its default; another value is a change."""
    learner, run = begin(tmp_path / "run", CONFIGS["dqn"])
    older = {name: value for name, value in dataclasses.asdict(learner.config).items() if name != "seconds_per_cycle"}
    monkeypatch.setattr(saving, "asdict", lambda _: older)
    with run:
        checkpoint = saving.save(learner, run, 0)
    monkeypatch.undo()
    assert saving.load(new_learner(learner.config), checkpoint) == []
    with pytest.raises(Error, match=r"seconds_per_cycle: 5\.0 instead of 0\.0"):
        saving.load(new_learner(dataclasses.replace(learner.config, seconds_per_cycle=5.0)), checkpoint)
