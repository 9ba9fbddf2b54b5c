"""Learners with everything on a GPU: they store what happened, sample as on the CPU, and resume exactly.

Without a GPU these tests skip here, and `backend/test_device.py` runs them with numba's simulation in its place.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import TINY
from plyground.agents.agent import make
from plyground.backend.device import SIMULATED, TORCH_CUDA, problem
from plyground.backend.games import run_kernel
from plyground.backend.parts import dump
from plyground.games.interface import DRAW, RUNNING
from plyground.kernels.arrays import Rollout
from plyground.kernels.replay import TERMINATED
from plyground.learners.config import resolve
from plyground.learners.dqn import DQN
from plyground.learners.ppo import PPO
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import SelfPlay
from plyground.learners.training import load, save
from plyground.runs.directory import create
from resumed import new_learner
from small_runs import ROW

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(problem()), reason=f"needs a GPU: {problem()}")]

ENVS, STEPS = (4, 12) if SIMULATED else (64, 60)
COMMON: dict[str, Any] = {
    "device": "cuda", "num_envs": ENVS, "batch_size": 2 * ENVS, "threads": 1, "games_per_cycle": 10_000, "cycles": 1
}  # fmt: skip
SMALL: dict[str, Any] = {
    **COMMON, "game": ROW, "network": "16", "buffer_size": ENVS * 30, "learning_starts": ENVS * 4,
    "target_update_interval": 3,
}  # fmt: skip
MIXED: dict[str, Any] = {
    **SMALL, "prioritized_replay": True, "n_step": 3, "opponents": ("0.4 self", "0.3 snapshot", "0.3 random"),
    "opening_plies": 2, "dueling": True, "double_dqn": True, "exploration_initial_eps": 0.9,
    "exploration_final_eps": 0.1, "shaping_coef": 0.1,
}  # fmt: skip
OTHERWISE: dict[str, Any] = {
    **SMALL, "game": TINY[1], "exploration": "boltzmann", "bootstrap": "own_turn", "loss": "mse", "tau": 0.1,
    "max_plies": 9, "decided_share": 0.3, "recent_share": 0.3, "recent_size": 3 * ENVS, "n_step": 2,
}  # fmt: skip
PPO_MIXED: dict[str, Any] = {
    **COMMON, "game": "connect_four", "network": "16+value", "rollout_length": 4, "opening_plies": 2,
    "opponents": ("0.4 self", "0.2 snapshot", "0.4 punisher"),
}  # fmt: skip
BLOCKS = "b1c8" if SIMULATED else "b4c64"
CONFIGS: dict[str, Any] = {
    "small": DQN(**SMALL),
    "mixed": DQN(**MIXED),
    "otherwise": DQN(**OTHERWISE),
    "convolutions": DQN(**{**SMALL, "game": "connect_four", "network": BLOCKS}),
    "ppo": PPO(**PPO_MIXED),
    "ppo, convolutions": PPO(**{**PPO_MIXED, "network": f"{BLOCKS}+value"}),
}
REPLAYS = pytest.mark.parametrize("config", [CONFIGS["small"], CONFIGS["mixed"], CONFIGS["otherwise"]])


def learned(config: Any, steps: int = STEPS) -> Any:
    learner = new_learner(resolve(config))
    learner.model.take_snapshot(0)
    for _ in range(steps):
        learner.iterate()
        learner.state.step += 1
    return learner


def on_cpu(replay: ReplayBuffer, config: DQN) -> ReplayBuffer:
    """A buffer on the CPU with the same plies."""
    twin = ReplayBuffer(replay.games.game, "cpu", replay.capacity, ENVS, 9, config.prioritized_replay)
    state = replay.state()
    twin.load_state({key: value.cpu().numpy() if hasattr(value, "cpu") else value for key, value in state.items()})
    return twin


@REPLAYS
def test_the_replay_buffer_holds_what_the_games_played(config: DQN) -> None:
    """Each stored ply, played once more, leads to the stored next state."""
    learner = learned(config)
    replay, game, games = learner.replay, learner.game, learner.replay.games
    assert learner.state.updates >= STEPS - 4
    assert replay.states.device.type == TORCH_CUDA.type
    played = 0
    for row in range(replay.filled):
        before, after = games.to_records(replay.states[row]), games.to_records(replay.next_states[row])
        for env in range(ENVS):
            position = pg.Position(game, np.zeros(1, game.rules.STATE))
            for name in game.rules.HEAD.names or ():
                position.states[name] = before[name][env]
            action = int(replay.actions[row, env])
            assert action in position.legal()
            moved, over = position.play(action), int(after["outcome"][env])
            if over != DRAW:  # a draw by repetition needs the history, which the buffer does not store
                assert moved == pg.Position(game, _whole(game, after[env : env + 1]))
            assert (int(replay.plies.ended[row, env]) == TERMINATED) == (over != RUNNING)
            played += 1
    assert played == replay.filled * ENVS > 0


def _whole(game: pg.Game, heads: Any) -> Any:
    states = np.zeros(1, game.rules.STATE)
    for name in game.rules.HEAD.names or ():
        states[name] = heads[name]
    return states


@REPLAYS
def test_a_minibatch_is_the_one_that_the_cpu_samples(config: DQN) -> None:
    replay = learned(config).replay
    twin = on_cpu(replay, config)
    how: dict[str, Any] = {
        "n_step": config.n_step, "own_turn": config.bootstrap == "own_turn", "gamma": config.gamma,
        "truncation_penalty": 0.5, "decided_share": config.decided_share, "recent_share": config.recent_share,
        "recent_rows": 2,
    }  # fmt: skip
    for _ in range(2):
        sample, expected = replay.sample(200, **how), twin.sample(200, **how)
        for name in expected._fields:
            one, other = getattr(sample, name).cpu(), getattr(expected, name)
            assert torch.allclose(one, other) if name == "weights" else torch.equal(one, other), name
    assert len(set(sample.indices.tolist())) > 1
    assert twin.usable.flatten()[expected.indices].all()


@pytest.mark.parametrize("name", CONFIGS)
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, name: str) -> None:
    through = learned(CONFIGS[name])
    first = learned(CONFIGS[name], STEPS // 2)
    with create(tmp_path / "run", {}) as run:
        save(first, run)
        again = new_learner(first.config)
        load(again, run)
    for _ in range(STEPS - STEPS // 2):
        again.iterate()
        again.state.step += 1
    one: tuple[Any, Any] = ({}, {})
    other: tuple[Any, Any] = ({}, {})
    for learner, (arrays, plain) in ((through, one), (again, other)):
        dump("learner", learner.parts(), arrays, plain)
    assert one[0].keys() == other[0].keys()
    for key, values in one[0].items():
        assert values.tobytes() == other[0][key].tobytes(), key


def test_the_advantages_of_a_rollout_are_those_of_the_cpu() -> None:
    learner = learned(CONFIGS["ppo"], 3)
    stored, values = learner.rollout.replay, learner.rollout.values
    rollout = Rollout(*stored.plies[:4], stored.usable, values, learner.rollout.next_values())
    found = {}
    for name in ("cpu", "cuda"):
        arrays = Rollout(*(each.cpu().contiguous() if name == "cpu" else each.contiguous() for each in rollout))
        out = torch.full_like(arrays.values, torch.nan)
        run_kernel(name, "advantages", "compute_advantages", ENVS, arrays, 0.9, 0.8, out)
        found[name] = out.cpu()
    assert torch.allclose(found["cpu"], found["cuda"], atol=1e-6)
    assert found["cpu"].isfinite().all()
    assert (found["cpu"] != 0).any()


def test_scripted_agents_play_on_the_gpu_as_on_the_cpu(connect_four: pg.Game) -> None:
    config = PPO(**{**PPO_MIXED, "num_envs": 6, "batch_size": 6, "opponents": ("1 greedy",), "opening_plies": 0})
    games = SelfPlay(connect_four, "cuda", config, torch.Generator(TORCH_CUDA).manual_seed(3))
    agent, batch = make("greedy", connect_four), games.batch
    batch.random_play(9)
    states, rngs = batch.on.to_records(batch.states).copy(), batch.rngs.cpu().numpy().copy()
    turn = ~games.own_turns().cpu().numpy()
    actions = torch.full((6,), -1, dtype=torch.int32, device=TORCH_CUDA)
    games._answer(actions, [])  # pyright: ignore[reportPrivateUsage]
    assert 0 < turn.sum() < 6
    own = rngs[turn]
    assert actions.cpu().numpy()[turn].tolist() == agent.act(states[turn], own).tolist()
    assert actions.cpu().numpy()[~turn].tolist() == [-1] * int((~turn).sum())
    assert batch.rngs.cpu().numpy()[turn].tolist() == own.tolist()
    assert batch.rngs.cpu().numpy()[~turn].tolist() == rngs[~turn].tolist()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("kind", [DQN, PPO])
def test_an_illegal_action_ends_the_run(kind: Any, device: str) -> None:
    """A network that knows one column has nothing to play when it is full."""
    own: dict[str, Any] = {"network": "8", "exploration_initial_eps": 0.0, "exploration_final_eps": 0.0}
    if kind is PPO:
        own = {"network": "8+value", "symmetries": False}
    config = kind(device=device, outputs=1, num_envs=4, batch_size=4, threads=1, **own)
    learner = learned(config, 6)
    with pytest.raises(pg.IllegalAction, match="row 0: 0 is not legal"):
        learner.iterate()


def test_auto_is_a_device_in_python_too() -> None:
    assert resolve(DQN(**{**SMALL, "device": "auto"})).device == "cuda"


def test_a_run_that_was_learned_on_the_cpu_plays_on_the_gpu(tmp_path: Path) -> None:
    config = resolve(DQN(**{**SMALL, "device": "cpu"}))
    with create(tmp_path / "run", {"learner": "dqn", **asdict(config)}) as run:
        save(learned(config, 1), run)
    game = pg.load(ROW)
    agent: Any = make(f"run:{tmp_path / 'run'}", game)
    batch = pg.TensorBatch(game, 8, seed=3, device="cuda")
    batch.random_play(3)
    records, rngs = batch.on.to_records(batch.states), np.zeros(8, np.uint64)
    expected = agent.act(records, rngs).tolist()
    moved = agent.to("cuda")
    assert moved.view.device.type == TORCH_CUDA.type
    assert moved.choose(batch.states, torch.zeros(8, device=TORCH_CUDA)).tolist() == expected
    assert moved.act(records, rngs).tolist() == expected
