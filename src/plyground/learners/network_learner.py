"""What every learner with a network shares: its network and the best one, the optimizer, games, earlier selves."""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.agents.network import NetworkAgent, View, begin_with, identity, load_weights
from plyground.backend.device import choose
from plyground.game import load
from plyground.kernels.threads import available
from plyground.learners.arrays import OnCpu, OnGpu
from plyground.learners.learner import Broken, Groups, Learner, Settings
from plyground.learners.on_the_gpu import GpuClock, GpuSelfPlay
from plyground.learners.selfplay import SelfPlay, opponents_of, others_of
from plyground.networks import Network, make_network
from plyground.runs.directory import Checkpoint

TRIALS, TRIAL_ROWS, TRIAL_SECONDS = 20, 256, 0.25  # updates to time threads with: people wait for them
CLEARLY = 1.3  # times as fast, for as many threads as there are cores: they wait for each other when load comes later
ADAPT_EVERY = 10.0  # seconds between two such trials, in runs that a clock ends


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """What every run with a network has."""

    encoder: str = ""
    """what the network sees (empty: the game's first encoder)"""
    network: str = "512-256"
    """hidden sizes of an MLP, or a residual net such as b4c64"""
    outputs: int = 0
    """how many actions the network knows, the first ones; others are never played (0: all)"""
    device: str = "cpu"
    """where it runs: cpu, cuda (where the learner can, with games and memory), or auto (cuda where there is one)"""
    threads: int = 0
    """threads of the network (0: one, or one for each core where that is clearly faster when the run begins; where
    `seconds` end the run, as is faster at the moment)"""
    concurrency: int = 512
    """games played side by side"""
    opening_plies: int = 0
    """games begin after a random number of random plies, up to this many"""
    opponents: tuple[str, ...] = ("1 self",)
    """weight and name of each opponent: self, snapshot (an earlier self), or any agent's word"""
    snapshots: int = 3
    """how many earlier selves are kept as opponents"""
    snapshot_interval: int = 5
    """cycles between two of them"""
    batch: int = 256
    """plies in one update"""
    learning_rate: float = 2e-3
    """of Adam"""
    learning_rate_end: float = 0.05
    """share of it that is left at the end; it falls over the second half of the run"""
    discount: float = 0.99
    """for each time the turn passes"""
    gradient_clip: float = 10.0
    """longest gradient (0: any)"""
    gradient_limit: float = 1000.0
    """a longer gradient rolls back"""
    entropy_floor: float = 0.01
    """and an entropy below it, in nats"""

    ALL_ON_GPU: ClassVar[bool] = False  # whether games and memory go where the network is
    AT_LEAST: ClassVar[dict[str, float]] = Settings.AT_LEAST | {
        "concurrency": 1,
        "batch": 1,
        "snapshots": 1,
        "snapshot_interval": 1,
    }
    AT_MOST_ONE: ClassVar[tuple[str, ...]] = ("discount", "learning_rate_end")

    def __post_init__(self) -> None:
        super().__post_init__()
        opponents_of(self.opponents)

    def resolved(self) -> Self:
        known, game = super().resolved(), load(self.game)
        others_of(self.opponents, game)
        device, told = choose(self.device)
        if device == "cuda":
            rest = ", with games and memory" if self.ALL_ON_GPU else " for the network; games and memory are on the CPU"
            told += rest
        if told:
            print(told, flush=True)
        view = View(game, self.encoder, self.outputs)
        network = make_network(self.network, view.shape, view.outputs)
        return replace(
            known,
            device=device,
            encoder=str(view.encoder),
            outputs=view.outputs,
            threads=self.threads or self._threads(device, network, view),
        )

    def _threads(self, device: str, network: nn.Module, view: View) -> int:
        """How many the run will have; 0 where a clock ends it, which no seed can repeat anyway: see `adapt`."""
        if device == "cuda":
            return 1
        return 0 if self.seconds else faster_threads(network, view, self.batch)


def faster_threads(network: nn.Module, view: View, batch: int) -> int:
    """One thread, or one for each core: on a busy machine, threads that wait for each other can be far slower."""
    shown, trial = torch.zeros((min(batch, TRIAL_ROWS), *view.shape)), copy.deepcopy(network)

    def seconds(threads: int) -> float:
        """Of one update."""
        prepare_torch(threads)
        trial(shown)  # what is slow only once
        begun, passed, updates = time.perf_counter(), 0.0, 0
        while updates < TRIALS and passed < TRIAL_SECONDS:
            trial(shown).sum().backward()
            updates, passed = updates + 1, time.perf_counter() - begun
        return passed / updates

    return available() if available() > 1 and seconds(1) >= CLEARLY * seconds(available()) else 1


def prepare_torch(threads: int) -> None:
    """What exact repetition and speed need; before torch starts its threads."""
    torch.set_flush_denormal(True)  # denormals slow Adam threefold
    torch.set_num_threads(threads)
    torch.backends.cudnn.deterministic = True  # else some convolutions on a GPU differ from call to call
    torch.backends.cuda.matmul.allow_tf32 = True  # as convolutions do; an MLP answers twice as fast


N = TypeVar("N", bound=NetworkSettings)


class NetworkLearner(Learner[N]):
    """A network that gets better, the best it was, its optimizer, and games in lockstep."""

    def __init__(self, config: N) -> None:
        device, _ = choose(config.device)  # a run that was begun where there is a GPU may be opened where there is none
        prepare_torch(config.threads or 1)
        torch.manual_seed(config.seed)
        super().__init__(config)
        self.adapted = -math.inf  # seconds of the run then
        self.view = View(self.game, config.encoder, config.outputs, device)
        self.network = self.fresh_network()
        if config.init:
            begin_with(self.network, config.init, self.identity)
        self.best = copy.deepcopy(self.network)
        self.snapshots: list[nn.Module] = []
        self.optimizer = torch.optim.Adam(self.network.parameters(), config.learning_rate, fused=True)
        how: dict[str, Any] = {"max_plies": config.max_steps or None, "opening_plies": config.opening_plies}
        how |= {"mix": config.opponents, "snapshots": config.snapshots}
        self.on: OnCpu = OnCpu(self.game, self.rng, self.view.device)
        if device == "cuda" and config.ALL_ON_GPU:
            self.on, self.clock = OnGpu(self.game, self.rng), GpuClock()
        kind = GpuSelfPlay if isinstance(self.on, OnGpu) else SelfPlay
        self.selfplay: SelfPlay = kind(self.on, config.concurrency, config.seed, **how)

    def fresh_network(self) -> Network:
        config, view = self.config, self.view
        return make_network(config.network, view.shape, view.outputs).to(view.device)

    @property
    def identity(self) -> dict[str, str]:
        return identity(self.view, self.config.network)

    @property
    def plies(self) -> int:
        return self.step * self.config.concurrency

    def agent(self) -> NetworkAgent:
        return NetworkAgent(self.view, self.network)

    def best_agent(self) -> NetworkAgent:
        return NetworkAgent(self.view, self.best)

    def keep_best(self) -> None:
        self.best.load_state_dict(self.network.state_dict())

    def earlier_selves(self) -> list[NetworkAgent]:
        return [NetworkAgent(self.view, network) for network in self.snapshots]

    def end_cycle(self) -> dict[str, Any]:
        record = super().end_cycle()
        if self.cycle % self.config.snapshot_interval == 0 and "snapshot" in self.selfplay.words:
            self.snapshots = [*self.snapshots, copy.deepcopy(self.network)][-self.config.snapshots :]
        return record

    def cycle_numbers(self) -> dict[str, Any]:
        return {"learning_rate": self.learning_rate, "threads": torch.get_num_threads()}

    def adapt(self) -> None:
        wanted = self.config.seconds and not self.config.threads and not self.view.uses_gpu
        if wanted and self.seconds - self.adapted >= ADAPT_EVERY:
            self.adapted = self.seconds
            prepare_torch(faster_threads(self.network, self.view, self.config.batch))

    # ---- learning ----

    @property
    def learning_rate(self) -> float:
        """The one that was set last."""
        return self.optimizer.param_groups[0]["lr"]

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = rate

    def set_learning_rate(self) -> None:
        """It falls over the second half of the run, and is halved by each rollback."""
        config, done = self.config, self.progress
        fall = 1.0 if done < 0.5 else 1.0 - (1.0 - config.learning_rate_end) * (done - 0.5) / 0.5
        self.learning_rate = config.learning_rate * fall * 0.5**self.rollbacks

    def look(self, numbers: Mapping[str, float]) -> None:
        """Moving averages; numbers that cannot be right are an error."""
        super().look(numbers)
        config = self.config
        if numbers["gradient"] > config.gradient_limit:
            raise Broken(f"the gradient is {numbers['gradient']:.3g} long at update {self.updates}")
        if self.averages["entropy"] < config.entropy_floor:
            raise Broken(f"the entropy has fallen to {self.averages['entropy']:.3g} at update {self.updates}")

    # ---- to disk and back ----

    def other_networks(self) -> dict[str, nn.Module]:
        """All but the one that learns, by the names they are saved under."""
        return {"best": self.best, **{f"snapshot{k}": network for k, network in enumerate(self.snapshots)}}

    def groups(self) -> Groups:
        training = optimizer_arrays(self.optimizer)
        for name, network in self.other_networks().items():
            training |= {f"{name}.{key}": value.cpu().numpy() for key, value in network.state_dict().items()}
        return {
            "network": {name: value.cpu().numpy() for name, value in self.network.state_dict().items()},
            "training": training,
            "memory": {f"games.{name}": values for name, values in self.selfplay.arrays().items()},
        }

    def numbers(self) -> dict[str, Any]:
        return super().numbers() | {"snapshots": len(self.snapshots), "learning_rate": self.learning_rate}

    def take(self, checkpoint: Checkpoint, state: Mapping[str, Any]) -> None:
        training, memory = checkpoint.tensors("training"), checkpoint.tensors("memory")
        load_weights(self.network, checkpoint)
        self.snapshots = [self.fresh_network() for _ in range(state["snapshots"])]
        for name, network in self.other_networks().items():
            network.load_state_dict(tensors_of(training, name))
        restore_optimizer(self.optimizer, tensors_of(training, "optimizer"))
        self.selfplay.restore(part(memory, "games"))
        super().take(checkpoint, state)
        self.learning_rate = state.get("learning_rate", self.config.learning_rate)


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """What an optimizer remembers of each tensor."""
    slots = optimizer.state_dict()["state"]
    return {f"optimizer.{k}.{name}": value.cpu().numpy() for k, slot in slots.items() for name, value in slot.items()}


def restore_optimizer(optimizer: torch.optim.Optimizer, found: Mapping[str, Tensor]) -> None:
    """The inverse; the names without their prefix."""
    current = optimizer.state_dict()
    slots: dict[int, dict[str, Tensor]] = {}
    for key, value in found.items():
        place, _, name = key.partition(".")
        slots.setdefault(int(place), {})[name] = value.reshape(()) if name == "step" else value
    optimizer.load_state_dict({**current, "state": slots})


def part(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, NDArray[Any]]:
    """Those whose names begin with `name.`, without it."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): values for key, values in arrays.items() if key.startswith(prefix)}


def tensors_of(arrays: Mapping[str, NDArray[Any]], name: str) -> dict[str, Tensor]:
    return {key: torch.from_numpy(values.copy()) for key, values in part(arrays, name).items()}
