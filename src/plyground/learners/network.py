"""`LearningNetwork`: the network of a learner, its versions, its optimizer, and earlier versions as opponents."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from plyground.agents.network import NetworkAgent
from plyground.backend import device as devices
from plyground.backend.parts import set_learning_rate
from plyground.backend.view import View
from plyground.errors import InvalidValue, shown
from plyground.game import load
from plyground.learners.config import SNAPSHOT, opponent_shares
from plyground.learners.evaluation import SelfPlayCycle
from plyground.learners.play_statistics import cycle_statistics
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import GameResults
from plyground.learners.state import TrainingState
from plyground.learners.threads import prepare_torch
from plyground.learners.versions import Versions
from plyground.models.network import NetworkModel
from plyground.networks import Network
from plyground.runs.learned import begin_with


class LearningNetwork(Versions[NetworkModel]):
    """A network that learns, its optimizer, the best version so far and the newest snapshots."""

    def __init__(
        self,
        config: Any,
        dueling: bool = False,
        agent: type[NetworkAgent] = NetworkAgent,
        weight_decay: float = 0.0,
    ) -> None:
        device, _ = devices.choose(config.device)  # a run that was begun on a GPU may be opened where there is none
        prepare_torch(config.threads or 1)
        torch.manual_seed(config.seed)
        self.config, self.snapshot_agent = config, agent
        self.view = view = View(load(config.game), config.encoder, config.outputs, device)
        present = NetworkModel.make(view, config.network, dueling)
        if config.init:
            begin_with(present, config.init)
        super().__init__(present)
        self.network: Network = present.network
        self.snapshots = Snapshots(self.network, config.snapshots)
        self.optimizer = devices.adam(self.network, config.learning_rate, weight_decay)

    def parts(self) -> dict[str, Any]:
        return {**super().parts(), "snapshots": self.snapshots, "optimizer": self.optimizer}

    # ---- opponents ----

    def snapshot_agents(self) -> list[NetworkAgent]:
        """Earlier versions of the network, as opponents."""
        return [self.snapshot_agent(NetworkModel(self.view, network)) for network in self.snapshots.networks]

    def opponents_key(self, state: TrainingState) -> object:
        """Changes with the snapshots, and when a rollback gives the optimizer other tensors: see `Repeated`."""
        return state.rollbacks, *map(id, self.snapshots.networks)

    def end_cycle(self, cycle: int) -> None:
        """Keep the present network as an opponent, if one is due."""
        if SNAPSHOT in opponent_shares(self.config.opponents) and cycle % self.config.snapshot_interval == 0:
            self.snapshots.add(self.network)

    # ---- updates ----

    @property
    def learning_rate(self) -> float:
        return float(self.optimizer.param_groups[0]["lr"])

    def begin_updates(self, state: TrainingState) -> int:
        """How many updates follow one more ply in every environment: whole ones, the rest stays due."""
        self.schedule_learning_rate(state)
        state.updates_due += self.config.replay_ratio * self.config.num_envs / self.config.batch_size
        whole = int(state.updates_due)
        state.updates_due -= whole
        return whole

    def schedule_learning_rate(self, state: TrainingState) -> None:
        """Constant over the first half of the run, then falling linearly; halved by each rollback."""
        done = max(0.0, 2 * state.progress - 1)
        rate = self.config.learning_rate * (1 - (1 - self.config.learning_rate_final) * done) * 0.5**state.rollbacks
        set_learning_rate(self.optimizer, rate)

    def step(self) -> Tensor:
        """One optimizer step with the gradients that `backward` has added up; returns their norm before clipping."""
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_grad_norm or math.inf)
        self.optimizer.step()
        return norm


class Snapshots:
    """The newest copies of a network, at most `most`."""

    def __init__(self, network: nn.Module, most: int) -> None:
        self.pattern, self.most = network, most
        self.networks: list[nn.Module] = []

    def add(self, network: nn.Module) -> None:
        self.networks = [*self.networks, copy.deepcopy(network)][-self.most :]

    def state(self) -> dict[str, Any]:
        return {"count": len(self.networks), **{str(k): each for k, each in enumerate(self.networks)}}

    def load_state(self, state: Mapping[str, Any]) -> None:
        count = state["count"]
        if type(count) is not int or not 0 <= count <= self.most:
            raise InvalidValue(f"a run keeps 0 to {self.most} snapshots, not {shown(count)}")
        self.networks = [copy.deepcopy(self.pattern) for _ in range(count)]
        for k, network in enumerate(self.networks):
            prefix = f"{k}."
            found = {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
            network.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in found.items()})


def network_cycle(
    config: Any, state: TrainingState, model: LearningNetwork, results: GameResults, replay: ReplayBuffer
) -> SelfPlayCycle:
    """A cycle of play with a network, whose plies a replay buffer holds."""

    def metrics() -> dict[str, Any]:
        found = cycle_statistics(results, replay, state.step - state.cycle_start)
        return {**found, "learning_rate": model.learning_rate}

    return SelfPlayCycle(config, state, model, results, metrics, lambda: f"replay buffer {len(replay):,}")


def to_floats(metrics: Mapping[str, Tensor]) -> dict[str, float]:
    """Scalars as Python floats, all read at once: on a GPU each read synchronises."""
    found = torch.stack([value.detach().float() for value in metrics.values()])
    return dict(zip(metrics, cast("list[float]", found.tolist()), strict=True))
