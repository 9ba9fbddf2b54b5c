"""A learner with everything on the GPU: it stores what happened, draws from that, and goes on where it stopped."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from plyground.learners.arrays import OnCpu, OnGpu
from plyground.learners.memory import Memory
from plyground.learners.on_the_gpu import GpuMemory, GpuSelfPlay

import plyground as pg
from conftest import ROOT, TINY
from plyground.agents.agent import make
from plyground.agents.network import NetworkAgent, View
from plyground.backend.device import SIMULATED, problem
from plyground.backend.games import on_gpu
from plyground.kernels.advantages import advantages
from plyground.learners.a2c import A2C
from plyground.learners.dqn import DQN, DQNLearner
from plyground.learners.ppo import PPO, PPOLearner
from plyground.learners.selfplay import SelfPlay
from plyground.networks import make_network
from plyground.runs.directory import create, newest_whole

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(problem()), reason=f"needs a GPU: {problem()}")]

ROW = str(ROOT / "examples" / "three_in_a_row.py")
GAMES, STEPS = (4, 12) if SIMULATED else (64, 60)
SMALL = DQN(
    game=ROW, device="cuda", network="16", concurrency=GAMES, memory=GAMES * 30, warm_up=GAMES * 4, batch=2 * GAMES,
    samples_per_ply=2.0, target_update=3, threads=1, games_per_cycle=10_000, cycles=1,
)  # fmt: skip
MIXED = replace(
    SMALL, prioritised=True, n_step=3, opponents=("0.4 self", "0.3 snapshot", "0.3 random"), opening_plies=2,
    dueling=True, double_dqn=True, epsilon=0.9, epsilon_end=0.1, shaping=0.1,
)  # fmt: skip
OTHERWISE = replace(
    SMALL, game=TINY[1], exploration="boltzmann", bootstrap="own", loss="mse", target_soft=0.1, max_steps=9,
    share_good=0.3, share_recent=0.3, recent=3 * GAMES, n_step=2,
)  # fmt: skip
PPO_MIXED = PPO(
    game="connect_four", device="cuda", network="16+value", concurrency=GAMES, rollout=4, batch=2 * GAMES, threads=1,
    opponents=("0.4 self", "0.2 snapshot", "0.4 punisher"), opening_plies=2, games_per_cycle=10_000, cycles=1,
)  # fmt: skip
CONVOLUTIONS = replace(SMALL, game="connect_four", network="b1c8" if SIMULATED else "b4c64")
PPO_CONVOLUTIONS = replace(PPO_MIXED, network=f"{CONVOLUTIONS.network}+value")
EVERY = {
    "small": SMALL, "mixed": MIXED, "otherwise": OTHERWISE, "convolutions": CONVOLUTIONS, "ppo": PPO_MIXED,
    "ppo convolutions": PPO_CONVOLUTIONS,
}  # fmt: skip
CONFIGS = pytest.mark.parametrize("config", [SMALL, MIXED, OTHERWISE], ids=["small", "mixed", "otherwise"])


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that wait for each other are slow where numba plays the GPU; how they encode is tested elsewhere."""
    if SIMULATED:
        monkeypatch.setattr("plyground.backend.games.STAGED", 0)


def begun(config: DQN | PPO) -> Any:
    return PPOLearner(config) if isinstance(config, PPO) else DQNLearner(config)


def learned(config: DQN | PPO, steps: int = STEPS) -> Any:
    learner = begun(config)
    assert isinstance(learner.on, OnGpu)
    learner.snapshots = [learner.fresh_network()]
    for _ in range(steps):
        learner.advance()
    return learner


@CONFIGS
def test_memory_holds_what_the_rules_say(config: DQN) -> None:
    learner = learned(config)
    game, memory = learner.game, learner.memory
    assert learner.updates >= STEPS - 4
    assert learner.tally.games > 0
    arrays = memory.arrays()
    states, after = (arrays[name].reshape(-1).view(game.rules.HEAD) for name in ("states", "after"))
    if game.rules.HEAD == game.rules.STATE:
        played, actions = states.copy(), arrays["actions"].reshape(-1)
        game.kernels().play_all(played, actions, np.zeros(len(played), np.uint64), game.work())
        assert (played == after).all()
    assert (arrays["sides"].reshape(-1) == states["to_move"]).all()
    assert (arrays["ended"].reshape(-1) == 1).sum() == (after["outcome"] > 0).sum()


@CONFIGS
def test_samples_are_those_of_the_cpu(config: DQN) -> None:
    """A memory on the CPU with the same plies says the same of them."""
    memory = learned(config).memory
    twin = Memory(memory.game, memory.room, GAMES, seed=9, prioritised=config.prioritised)
    twin.restore(memory.arrays())
    how = config.n_step, config.bootstrap == "own", config.discount, 0.5
    sample = memory.draw(200, *how, shares=(config.share_good, config.share_recent), recent=2)
    found: Any = {name: value.cpu().numpy() for name, value in vars(sample).items()}
    returns, factors, behind, whole = twin.follow(found["picked"], *how)
    assert np.array_equal(found["returns"], returns)
    assert np.array_equal(found["factors"], factors)
    assert (found["states"].reshape(-1).view(memory.game.rules.HEAD) == twin.states.reshape(-1)[found["picked"]]).all()
    assert (found["behind"].reshape(-1).view(memory.game.rules.HEAD) == twin.after.reshape(-1)[behind]).all()
    assert np.array_equal(found["weights"] > 0, whole > 0)
    assert twin.usable.reshape(-1)[found["picked"]].all()


def test_priorities_add_up_and_are_followed() -> None:
    memory = learned(MIXED).memory
    assert isinstance(memory, GpuMemory)
    leaves = len(memory.tree) // 2
    memory.update(torch.arange(4, device=memory.tree.device), torch.tensor([3.0, 1.0, 0.0, 0.0]).to(memory.tree), 1.0)
    tree = memory.tree.cpu().numpy()
    assert tree[leaves : leaves + 4] == pytest.approx([3.001, 1.001, 0.001, 0.001])
    assert tree[1] == pytest.approx(tree[leaves:].sum())
    assert tree[2] + tree[3] == pytest.approx(tree[1])
    drawn: Any = memory.draw(2000).picked
    picked = drawn.cpu().numpy()
    shares = np.bincount(picked, minlength=leaves) / 2000
    assert shares == pytest.approx(tree[leaves:] / tree[1], abs=0.001)  # one from each of 2000 equal parts


@pytest.mark.parametrize("config", EVERY.values(), ids=EVERY.keys())
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, config: DQN | PPO) -> None:
    through = learned(config)
    first = learned(config, STEPS // 2)
    with create(tmp_path / "run", {}) as run:
        first.save(run)
        again = begun(config)
        again.restore(newest_whole(run.path))
    for _ in range(STEPS - STEPS // 2):
        again.advance()
    one, other = through.groups(), again.groups()
    for group in one:
        assert one[group].keys() == other[group].keys()
        for name, values in one[group].items():
            assert values.tobytes() == other[group][name].tobytes(), name
    assert through.tally.counts == again.tally.counts


def test_the_policy_gradient_learns_from_the_same_rollout_as_on_the_cpu() -> None:
    """Advantages of a rollout that was played on the GPU, computed there and here."""
    learner = PPOLearner(PPO_MIXED)
    assert isinstance(learner.on, OnGpu)
    learner.snapshots = [learner.fresh_network()]
    for _ in range(3):
        learner.play()
    learner.play()
    judged: Any = learner.judge()
    memory, values = learner.memory.arrays(), learner.values.cpu().numpy()
    expected = np.empty_like(values)
    stored = [memory[name] for name in ("sides", "next_sides", "rewards", "ended", "usable")]
    behind = learner.values_behind().cpu().numpy()
    judge: Any = advantages
    judge(*stored, values, behind, PPO_MIXED.discount, PPO_MIXED.trace, expected)
    picked = judged.picked.cpu().numpy()
    assert np.array_equal(picked, np.flatnonzero(memory["usable"]))
    assert 0 < len(picked) < expected.size  # others play too
    targets = judged.targets.cpu().numpy()
    assert targets == pytest.approx((expected + values).reshape(-1)[picked], abs=1e-6)
    assert float(judged.advantages.mean()) == pytest.approx(0, abs=1e-5)
    learner.improve(judged)
    assert learner.updates > 0


def test_policies_play_on_the_gpu_as_on_the_cpu(connect_four: pg.Game) -> None:
    on = OnGpu(connect_four, np.random.default_rng(0))
    play, agent = GpuSelfPlay(on, 6, 3, mix=("1 greedy",)), make("greedy", connect_four)
    play.batch.random_play(9)
    batch: Any = play.batch
    states, rngs = on.gpu.to_cpu(batch.states), batch.rngs.cpu().numpy().copy()
    actions, side = on.zeros((6,), np.int32), play.side.cpu().numpy()
    theirs = play.answer(actions, [])
    turn = side != states["to_move"]
    assert theirs.tolist() == turn.tolist()
    assert turn.any()
    own = rngs[turn]
    assert actions.cpu().numpy()[turn].tolist() == agent.act(states[turn], own).tolist()
    assert batch.rngs.cpu().numpy()[turn].tolist() == own.tolist()
    assert batch.rngs.cpu().numpy()[~turn].tolist() == rngs[~turn].tolist()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("algorithm", [DQN, PPO])
def test_an_illegal_action_ends_the_run(algorithm: Any, device: str) -> None:
    """A network that knows one column has nothing to play when it is full."""
    how: Any = {"network": "8", "epsilon": 0.0, "epsilon_end": 0.0}
    if algorithm is PPO:
        how = {"network": "8+value", "symmetries": False}
    learner = begun(algorithm(device=device, outputs=1, concurrency=4, batch=4, threads=1, **how))
    for _ in range(6):
        learner.advance()
    with pytest.raises(pg.IllegalAction, match="row 0: 0 is not legal"):
        learner.advance()


def test_a_ply_that_was_picked_twice_keeps_its_largest_error() -> None:
    memory = learned(MIXED).memory
    leaves = len(memory.tree) // 2
    errors = torch.tensor([1.0, 3.0, 2.0]).to(memory.tree)
    memory.update(torch.tensor([5, 5, 5], device=memory.tree.device), errors, 1.0)
    assert float(memory.tree[leaves + 5]) == pytest.approx(3.001)


def test_auto_is_a_device_in_python_too() -> None:
    assert isinstance(begun(replace(SMALL, device="auto")).on, OnGpu)


@pytest.mark.parametrize("settings", [SMALL, A2C(device="auto", network="8+value")])
def test_it_is_said_what_goes_to_the_gpu(settings: Any, capsys: pytest.CaptureFixture[str]) -> None:
    settings.resolved()
    out, told = capsys.readouterr().out, "for the network; games and memory are on the CPU"
    assert out.startswith("device: cuda (")
    assert out.endswith(f"{'with games and memory' if settings is SMALL else told}\n")


def test_a_run_that_was_learned_on_the_cpu_plays_on_the_gpu(tmp_path: Path) -> None:
    config = replace(SMALL, device="cpu").resolved()
    with create(tmp_path / "run", {"learner": "dqn", **asdict(config)}) as run:
        DQNLearner(config).save(run)
    game, word = pg.load(ROW), f"run:{tmp_path / 'run'}"
    on, mix = OnGpu(game, np.random.default_rng(0)), ("0.5 self", f"0.5 {word}")
    play, twin = GpuSelfPlay(on, 8, 3, mix=mix), SelfPlay(OnCpu(game, np.random.default_rng(0)), 8, 3, mix=mix)
    agent: Any = play.agents[word]
    assert agent.view.uses_gpu
    play.batch.random_play(3)
    twin.restore({name: values.reshape(-1) for name, values in play.arrays().items()})
    actions, expected = on.zeros((8,), np.int32) - 1, np.full(8, -1, np.int32)
    theirs = play.answer(actions, [])
    assert theirs.tolist() == twin.answer(expected, []).tolist()
    assert actions.tolist() == expected.tolist()
    assert ((actions >= 0) == theirs).all()
    assert 0 < int(theirs.sum()) < 8


@pytest.mark.parametrize("word", ["chess", "connect_four", "sequence"])
def test_a_view_of_states_on_the_gpu_is_that_of_the_cpu(word: str) -> None:
    game = pg.load(word)
    cpu, gpu = pg.Batch(game, 3), pg.Batch(game, 3, device="cuda")
    cpu.random_play(7)
    gpu.random_play(7)
    view = View(game, "", device="cuda")
    states: Any = gpu.states
    assert torch.equal(view.observe(states), view.observe(cpu.states))
    assert torch.equal(view.legal(states), view.legal(cpu.states))
    actions, rows = cpu.legal_list()[0][:, 0], torch.arange(3)
    there = torch.from_numpy(actions).to(states.device)
    outputs = view.output_of(states, there)
    assert outputs.tolist() == view.output_of(cpu.states, actions).tolist()
    assert view.action_of(states, outputs).tolist() == actions.tolist()
    network = make_network("8", view.shape, view.outputs).to(view.device)
    agent = NetworkAgent(view, network)
    assert agent.choose(states, torch.zeros(3)).tolist() == agent.act(cpu.states, cpu.rngs).tolist()
    assert view.legal(states)[rows.to(states.device), outputs].all()


def test_the_games_own_judgement_on_the_gpu(connect_four: pg.Game) -> None:
    cpu, gpu = pg.Batch(connect_four, 3), pg.Batch(connect_four, 3, device="cuda")
    cpu.random_play(9)
    gpu.random_play(9)
    on, expected = OnGpu(connect_four, np.random.default_rng(0)), np.empty(3, np.float32)
    connect_four.kernels("evaluate").evaluate_all(cpu.states, expected)
    assert on.evaluate(gpu.states).cpu().numpy() == pytest.approx(expected, abs=1e-6)
    assert on_gpu(connect_four) is on.gpu
    with pytest.raises(pg.InvalidValue, match="defines `evaluate`"):
        OnGpu(pg.load("sequence"), on.rng).evaluate(gpu.states)
