"""Learners on a GPU: the replay buffer holds what the rules say, samples are those of the CPU, resume is bit-exact."""

from __future__ import annotations

import functools
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT, TINY
from plyground.agents.network import NetworkAgent
from plyground.agents.registry import make
from plyground.backend import parts
from plyground.backend.device import SIMULATED, problem
from plyground.backend.games import on_device
from plyground.backend.graph import Repeated
from plyground.backend.view import View
from plyground.batch import Batch
from plyground.kernels.advantages import compute_advantages
from plyground.kernels.arrays import RolloutPlies
from plyground.learners import saving
from plyground.learners.config import A2C, DQN, PPO, AlphaZero
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner
from plyground.learners.imitation_batches import Examples
from plyground.learners.ppo import PPOLearner
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import SelfPlay
from plyground.models.network import NetworkModel
from plyground.networks import make_network
from plyground.runs.directory import create, newest_whole
from plyground.teaching.lines import Lines
from resumed import new_learner

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(problem()), reason=f"needs a GPU: {problem()}")]

ROW = str(ROOT / "examples" / "three_in_a_row.py")
GAMES, STEPS = (4, 12) if SIMULATED else (64, 60)
SMALL = DQN(
    game=ROW, device="cuda", network="16", num_envs=GAMES, buffer_size=GAMES * 30, learning_starts=GAMES * 4,
    batch_size=2 * GAMES, replay_ratio=2.0, target_update_interval=3, threads=1, games_per_cycle=10_000, cycles=1,
)  # fmt: skip
MIXED = replace(
    SMALL, prioritized_replay=True, n_step=3, opponents=("0.4 self", "0.3 snapshot", "0.3 random"), opening_plies=2,
    dueling=True, double_dqn=True, exploration_initial_eps=0.9, exploration_final_eps=0.1, shaping_coef=0.1,
)  # fmt: skip
OTHERWISE = replace(
    SMALL, game=TINY[1], exploration="boltzmann", bootstrap="own_turn", loss="mse", tau=0.1, max_plies=9,
    decided_share=0.3, recent_share=0.3, recent_size=3 * GAMES, n_step=2,
)  # fmt: skip
PPO_MIXED = PPO(
    game="connect_four", device="cuda", network="16+value", num_envs=GAMES, rollout_length=4, batch_size=2 * GAMES,
    threads=1, opponents=("0.4 self", "0.2 snapshot", "0.4 punisher"), opening_plies=2, games_per_cycle=10_000,
    cycles=1,
)  # fmt: skip
CONVOLUTIONS = replace(SMALL, game="connect_four", network="b1c8" if SIMULATED else "b4c64")
PPO_CONVOLUTIONS = replace(PPO_MIXED, network=f"{CONVOLUTIONS.network}+value")
ALPHAZERO = AlphaZero(
    game="connect_four", device="cuda", network="16+value", num_envs=GAMES, simulations=4, buffer_size=GAMES * 30,
    learning_starts=2 * GAMES, batch_size=2 * GAMES, opponents=("0.5 self", "0.2 snapshot", "0.3 punisher"), threads=1,
    opening_plies=36, games_per_cycle=10_000, cycles=1,
)  # fmt: skip
EVERY = {
    "small": SMALL, "mixed": MIXED, "otherwise": OTHERWISE, "convolutions": CONVOLUTIONS, "ppo": PPO_MIXED,
    "ppo convolutions": PPO_CONVOLUTIONS, "alphazero": ALPHAZERO,
}  # fmt: skip
CONFIGS = pytest.mark.parametrize("config", [SMALL, MIXED, OTHERWISE], ids=["small", "mixed", "otherwise"])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that wait for each other are slow where numba simulates the GPU; how they encode is tested elsewhere."""
    if SIMULATED:
        monkeypatch.setattr("plyground.backend.tensor_games.STAGED", 0)


def begun(config: DQN | PPO | AlphaZero) -> Any:
    return new_learner(config)


def learned(config: DQN | PPO | AlphaZero, steps: int = STEPS) -> Any:
    learner = begun(config)
    assert learner.model.view.device_name == "cuda"
    learner.model.snapshots.add(learner.model.network)
    for _ in range(steps):
        learner.iterate()
        learner.state.step += 1
    return learner


@functools.cache
def filled(config: DQN) -> Any:
    """A learner that has played and learned, for tests that only ask its replay buffer."""
    return learned(config)


def numpy(values: torch.Tensor) -> Any:
    return values.cpu().numpy()


# ---- the replay buffer ----


@CONFIGS
def test_the_replay_buffer_holds_what_the_rules_say(config: DQN) -> None:
    learner = filled(config)
    game, replay = learner.game, learner.replay
    assert learner.state.updates >= STEPS - 4
    assert learner.games.results.games > 0
    used = slice(replay.filled)
    states = replay.games.to_records(replay.states[used].flatten(0, 1)).copy()
    after = replay.games.to_records(replay.next_states[used].flatten(0, 1))
    if game.rules.HEAD == game.rules.STATE:
        played, actions = states.copy(), numpy(replay.actions[used]).reshape(-1)
        game.kernels().play_all(played, actions, np.zeros(len(played), np.uint64), game.work())
        assert (played == after).all()
    assert (numpy(replay.plies.sides[used]).reshape(-1) == states["to_move"]).all()
    assert (numpy(replay.plies.ended[used]) == 1).sum() == (after["outcome"] > 0).sum()


def twin_of(replay: ReplayBuffer, prioritized: bool) -> ReplayBuffer:
    """A replay buffer on the CPU with the same plies."""
    twin = ReplayBuffer(replay.game, "cpu", replay.capacity, replay.num_envs, seed=9, prioritized=prioritized)
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    parts.dump("replay", replay, arrays, plain)
    parts.restore("replay", twin, arrays, plain)
    return twin


@CONFIGS
def test_samples_are_those_of_the_cpu(config: DQN) -> None:
    """A replay buffer on the CPU with the same plies draws the same samples, bit for bit."""
    replay = filled(config).replay
    twin = twin_of(replay, config.prioritized_replay)
    how: Any = {
        "n_step": config.n_step, "own_turn": config.bootstrap == "own_turn", "gamma": config.gamma,
        "truncation_penalty": 0.5, "decided_share": config.decided_share, "recent_share": config.recent_share,
        "recent_rows": 2,
    }  # fmt: skip
    one, other = replay.sample(200, **how), twin.sample(200, **how)
    for name, values in one._asdict().items():
        if name == "weights" and config.prioritized_replay:
            assert numpy(values) == pytest.approx(numpy(other.weights), rel=1e-6), "a power, which devices round"
        else:
            assert np.array_equal(numpy(values), numpy(getattr(other, name))), name
    assert twin.usable.flatten()[other.indices].all()


def test_priorities_add_up_and_are_followed() -> None:
    replay = filled(MIXED).replay
    tree = replay.tree.tree
    leaves = len(tree) // 2
    errors = torch.tensor([3.0, 1.0, 0.0, 0.0], device=tree.device)
    replay.update_priorities(torch.arange(4, device=tree.device), errors, 1.0)
    found = numpy(replay.tree.tree)
    assert found[leaves : leaves + 4] == pytest.approx([3.001, 1.001, 0.001, 0.001])
    assert found[1] == pytest.approx(found[leaves:].sum())
    assert found[2] + found[3] == pytest.approx(found[1])
    shares = np.bincount(numpy(replay.sample(2000).indices), minlength=leaves) / 2000
    assert shares == pytest.approx(found[leaves:] / found[1], abs=0.001)  # one from each of 2000 equal parts


def test_a_ply_that_was_sampled_twice_keeps_its_largest_error() -> None:
    replay = filled(MIXED).replay
    tree = replay.tree.tree
    errors = torch.tensor([1.0, 3.0, 2.0], device=tree.device)
    replay.update_priorities(torch.tensor([5, 5, 5], device=tree.device), errors, 1.0)
    assert float(replay.tree.tree[len(tree) // 2 + 5]) == pytest.approx(3.001)


# ---- learners ----


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, config: DQN | PPO | AlphaZero) -> None:
    through = learned(config)
    first = learned(config, STEPS // 2)
    with create(tmp_path / "run", {}) as run:
        saving.save(first, run, first.state.step)
        again = begun(config)
        saving.load(again, newest_whole(run.path))
    for _ in range(STEPS - STEPS // 2):
        again.iterate()
        again.state.step += 1
    dumped: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for learner in (through, again):
        arrays: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        parts.dump("all", learner.parts(), arrays, plain)
        dumped.append((arrays, plain))
    (one, plain), (other, others) = dumped
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert values.tobytes() == other[name].tobytes(), name
    assert plain == others


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_captured_graphs_compute_what_python_launches(config: DQN | PPO | AlphaZero) -> None:
    captured, eager = begun(config), begun(config)
    for each in repeated_by(eager):
        each.captures = False
    for learner in (captured, eager):
        learner.model.snapshots.add(learner.model.network)
        for _ in range(STEPS):
            learner.iterate()
    assert captured.state.updates > 0
    for one, other in zip(captured.model.network.parameters(), eager.model.network.parameters(), strict=True):
        assert torch.equal(one, other)
    assert SIMULATED or all(each.captures for each in repeated_by(captured)), captured.state.notes


def repeated_by(learner: Any) -> list[Repeated[Any]]:
    """What a learner captures."""
    holders = [learner, *([learner.rollout] if hasattr(learner, "rollout") else [])]
    return [each for holder in holders for each in vars(holder).values() if isinstance(each, Repeated)]


def test_the_policy_gradient_learns_from_the_same_rollout_as_on_the_cpu() -> None:
    """Advantages of a rollout that was played on the GPU, computed there and here."""
    learner = PPOLearner(PPO_MIXED)
    learner.model.snapshots.add(learner.model.network)
    rollout, replay = learner.rollout, learner.rollout.replay
    for _ in range(4):
        rollout.play()
    found = learner.advantages()
    values, expected = numpy(rollout.values), np.empty(tuple(rollout.values.shape), np.float32)
    plies, usable = replay.plies, numpy(replay.usable)
    sides, next_sides, rewards, ended = (
        numpy(each) for each in (plies.sides, plies.next_sides, plies.rewards, plies.ended)
    )
    arrays = RolloutPlies(sides, next_sides, rewards, ended, usable, values, numpy(rollout.next_values()))
    compute_advantages(arrays, PPO_MIXED.gamma, PPO_MIXED.gae_lambda, expected)
    indices = numpy(found.indices)
    assert np.array_equal(indices, np.flatnonzero(usable))
    assert 0 < len(indices) < expected.size  # opponents play too
    assert numpy(found.returns) == pytest.approx((expected + values).reshape(-1)[indices], abs=1e-6)
    assert float(found.advantages.mean()) == pytest.approx(0, abs=1e-5)
    for _ in range(4):
        learner.iterate()
    assert learner.state.updates > 0


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("algorithm", [DQN, PPO])
def test_an_illegal_action_ends_the_run(algorithm: Any, device: str) -> None:
    """A network that has an output for one column only has nothing to play when it is full."""
    how: Any = {"network": "8", "exploration_initial_eps": 0.0, "exploration_final_eps": 0.0}
    if algorithm is PPO:
        how = {"network": "8+value", "symmetries": False}
    learner = begun(algorithm(device=device, outputs=1, num_envs=4, batch_size=4, threads=1, **how))
    for _ in range(6):
        learner.iterate()
    with pytest.raises(pg.IllegalAction, match="row 0: 0 is not legal"):
        learner.iterate()


def test_auto_is_a_device_in_python_too() -> None:
    assert begun(replace(SMALL, device="auto")).view.device_name == "cuda"


@pytest.mark.parametrize("settings", [SMALL, A2C(device="auto", network="8+value", threads=1)], ids=["cuda", "auto"])
def test_the_choice_of_the_gpu_is_said(settings: Any) -> None:
    said: list[str] = []
    assert resolve(settings, said.append).device == "cuda"
    (message,) = said
    assert message.startswith("device: cuda (")


# ---- opponents and views ----


def games_on(device: str, game: pg.Game, n: int, opponents: tuple[str, ...]) -> SelfPlay:
    config = DQN(game=game.full, num_envs=n, seed=3, opponents=opponents)
    generator = torch.Generator(on_device(game, device).device).manual_seed(3)
    return SelfPlay(game, device, config, generator)


def test_scripted_agents_play_on_the_gpu_as_on_the_cpu(connect_four: pg.Game) -> None:
    play, agent = games_on("cuda", connect_four, 6, ("1 greedy",)), make("greedy", connect_four)
    play.batch.random_play(9)
    play.side[:3], play.side[3:] = 0, 1
    records, rngs = play.batch.on.to_records(play.batch.states).copy(), numpy(play.agent_rngs).copy()
    actions, side = play.batch.on.zeros((6,), np.int32), numpy(play.side)
    own = play._answer(actions, [])
    turn = side != records["to_move"]
    assert (~numpy(own)).tolist() == turn.tolist()
    assert turn.any()
    wanted = rngs[turn]
    assert numpy(actions)[turn].tolist() == agent.act(records[turn], wanted).tolist()
    assert numpy(play.agent_rngs)[turn].tolist() == wanted.tolist()
    assert numpy(play.agent_rngs)[~turn].tolist() == rngs[~turn].tolist()


def test_a_run_that_was_learned_on_the_cpu_plays_on_the_gpu(tmp_path: Path) -> None:
    config = resolve(replace(SMALL, device="cpu"))
    with create(tmp_path / "run", {"learner": "dqn", **asdict(config)}) as run:
        saving.save(DQNLearner(config), run, 0)
    game, spec = pg.load(ROW), f"run:{tmp_path / 'run'}"
    play, twin = (games_on(device, game, 8, ("0.5 self", f"0.5 {spec}")) for device in ("cuda", "cpu"))
    agent: Any = play.agents[spec]
    assert agent.view.device_name == "cuda"
    play.batch.random_play(3)
    for name, values in play.state().items():
        twin.state()[name].copy_(values)
    actions, expected = torch.full((8,), -1, dtype=torch.int32).to(play.device), torch.full((8,), -1).int()
    own = play._answer(actions, [])
    assert own.tolist() == twin._answer(expected, []).tolist()
    assert actions.tolist() == expected.tolist()
    assert ((actions >= 0) == ~own).all()
    assert 0 < int((~own).sum()) < 8


@pytest.mark.parametrize("spec", ["chess", "connect_four", "sequence"])
def test_a_view_of_states_on_the_gpu_is_that_of_the_cpu(spec: str) -> None:
    game = pg.load(spec)
    cpu, gpu = Batch(game, 3, device="cpu"), Batch(game, 3, device="cuda")
    cpu.random_play(7)
    gpu.random_play(7)
    here, there = View(game, ""), View(game, "", device="cuda")
    assert torch.equal(there.observe(gpu.states).cpu(), here.observe(cpu.states))
    assert torch.equal(there.legal(gpu.states).cpu(), here.legal(cpu.states))
    actions = cpu.legal_list()[0][:, 0]
    outputs = there.output_of(gpu.states, actions.to(there.device))
    assert outputs.tolist() == here.output_of(cpu.states, actions).tolist()
    assert there.action_of(gpu.states, outputs).tolist() == actions.tolist()
    network = make_network("8", there.shape, there.outputs).to(there.device)
    agent, records = NetworkAgent(NetworkModel(there, network)), cpu.on.to_records(cpu.states)
    chosen = agent.choose(gpu.states, torch.zeros(3, device=there.device))
    assert chosen.tolist() == agent.act(records, np.zeros(3, np.uint64)).tolist()
    assert there.legal(gpu.states).gather(1, outputs[:, None]).all()


def test_examples_of_a_teacher_on_the_gpu_are_those_of_the_cpu(connect_four: pg.Game) -> None:
    positions = [connect_four.position(text) for text in ("", "4453", "44444")]
    records = np.zeros(3, Lines(connect_four).dtype)
    records["state"] = np.concatenate([connect_four.heads(position.states) for position in positions])
    records["top"], records["top"][:, :2], records["policy"][:, :2] = -1, [3, 2], [0.75, 0.25]
    records["value"] = 0.25, -0.5, 0.125
    rows = torch.tensor([2, 0])
    here = Examples(View(connect_four, ""), records).lesson(rows)
    view = View(connect_four, "", device="cuda")
    there = Examples(view, records).lesson(rows.to(view.device))
    for name in ("shown", "legal", "top", "policy", "values"):
        assert torch.equal(getattr(there, name).cpu(), getattr(here, name)), name


def test_the_games_own_evaluation_on_the_gpu(connect_four: pg.Game) -> None:
    cpu, gpu = Batch(connect_four, 3, device="cpu"), Batch(connect_four, 3, device="cuda")
    cpu.random_play(9)
    gpu.random_play(9)
    games, expected = on_device(connect_four, "cuda"), np.empty(3, np.float32)
    connect_four.kernels("evaluate").evaluate_all(cpu.on.to_records(cpu.states), expected)
    assert numpy(games.evaluate(gpu.states)) == pytest.approx(expected, abs=1e-6)
    assert games is gpu.on
    with pytest.raises(pg.InvalidValue, match="defines `evaluate`"):
        on_device(pg.load("sequence"), "cuda").evaluate(gpu.states)
