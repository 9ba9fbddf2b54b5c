"""What the policy gradients share: play by chance, rollouts, and the update around each algorithm's own loss.

The network says how likely each action is, and what the position is worth for whoever acts in it (the critic). All
games advance in lockstep, and actions are drawn by their probabilities. After `rollout` plies of every game each ply is
judged: how much better did it turn out than the critic expected? How that is estimated and what the loss makes of it
stands in `reinforce.py`, `a2c.py` and `ppo.py`. Plies of other opponents than the learner itself belong to the world:
nothing is learned from them.

Metrics, as moving averages: `policy_loss`; `value_error`, the mean distance of the critic from what came; `entropy` of
the policy over legal actions, in nats; `gradient`, the true norm before clipping; `kl`, how far an update moved the
policy from the one that played: the mean of (ratio - 1) - log ratio.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.agents.network import NetworkAgent
from plyground.errors import InvalidValue, shorten
from plyground.games import chance
from plyground.kernels.replay import RUNS_ON, TRUNCATED
from plyground.learners.learner import Groups
from plyground.learners.memory_learner import MemoryLearner
from plyground.learners.network_learner import NetworkSettings, part
from plyground.learners.returns import draw, entropy_of, log_probabilities
from plyground.networks import WITH_VALUE
from plyground.runs.directory import Checkpoint

Floats = NDArray[np.float32]
MEANS = ("policy_loss", "value_error", "entropy", "kl")  # numbers of an update that are means over its plies
FINE = 2**24  # steps between 0 and 1 that a 32-bit float tells apart


@dataclass(frozen=True)
class PolicySettings(NetworkSettings):
    """What every policy gradient has."""

    network: str = "512-256+value"
    """hidden sizes of an MLP, a residual net such as b4c64, or connect_zero; each with a value head: +value"""
    rollout: int = 32
    """plies of every game between two times of learning"""
    batch: int = 1024
    """plies that the network learns from at once"""
    learning_rate: float = 1e-3
    """of Adam"""
    entropy_bonus: float = 0.01
    """how much it is worth to keep the choice open, in the loss for each nat"""
    entropy_bonus_end: float = 1.0
    """share of it that is left at the end of the run; it falls steadily"""
    value_weight: float = 0.5
    """of the critic's squared error in the loss"""
    symmetries: bool = True
    """see each position as one of its images under the game's symmetries, drawn anew for each ply"""

    AT_LEAST: ClassVar[dict[str, float]] = NetworkSettings.AT_LEAST | {"rollout": 2}
    AT_MOST_ONE: ClassVar[tuple[str, ...]] = (*NetworkSettings.AT_MOST_ONE, "entropy_bonus_end")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.network.endswith(WITH_VALUE):
            word = shorten(self.network)
            raise InvalidValue(f"a policy gradient needs a network with a value head: {word}{WITH_VALUE}, not {word}")


P = TypeVar("P", bound=PolicySettings)


class Judged(NamedTuple):
    """Plies to learn from."""

    picked: NDArray[np.int64]  # [M] row * games + game
    advantages: Floats  # [M] how much better each turned out than expected
    targets: Floats  # [M] what the critic should have said

    def part(self, chosen: slice | NDArray[np.int64]) -> Judged:
        return Judged(self.picked[chosen], self.advantages[chosen], self.targets[chosen])


class Chosen(NamedTuple):
    """One batch, as the loss sees it."""

    logs: Tensor  # [B] log-probabilities of the actions played, now
    old_logs: Tensor  # [B] and when they were played
    advantages: Tensor  # [B]


class PolicyLearner(MemoryLearner[P]):
    """A network with a critic, and the plies of the present rollout."""

    rollouts_kept = 1

    def __init__(self, config: P) -> None:
        super().__init__(config, self.rollouts_kept * config.rollout * config.concurrency)
        self.logs = np.zeros(self.memory.states.shape, np.float32)  # [rows, games] of the actions played, then
        self.values = np.zeros(self.memory.states.shape, np.float32)  # [rows, games] what the critic said, then
        self.back = np.argsort(self.game.images, axis=1).astype(np.int32)  # [SYMMETRIES, A] from images to actions

    def advance(self) -> None:
        self.play()
        if self.memory.time % self.config.rollout == 0:
            self.set_learning_rate()
            judged = self.judge()
            self.clock.lap("judging")
            if len(judged.picked):
                self.improve(judged)

    # ---- for each algorithm to say ----

    def judge(self) -> Judged:
        """What came of the plies of the rollout."""
        raise NotImplementedError

    def policy_loss(self, chosen: Chosen) -> Tensor:
        raise NotImplementedError

    def improve(self, judged: Judged) -> None:
        """Learn from the rollout: one step over all its plies, since after it another policy would have played."""
        self.update(judged)

    # ---- playing ----

    def play(self) -> None:
        """One ply in every game."""
        games, view, lap = self.selfplay.batch, self.view, self.clock.lap
        seen, which = self._images()
        legal = view.legal(seen)
        lap("moves")
        shown = view.observe(seen)
        lap("encoding")
        with torch.inference_mode():
            logits, values = self.network.with_value(shown)
            logs = log_probabilities(logits, legal)
            drawn = draw(logs, self.rng.random(len(games), np.float32))
            logs = logs.gather(1, drawn[:, None])[:, 0].cpu().numpy()
            values, drawn = values.cpu().numpy(), drawn.cpu().numpy()
        lap("network")
        actions = self.back[which, view.action_of(seen, drawn)]
        theirs = self.selfplay.answer(actions, self.earlier_selves())
        lap("opponents")
        lengths = games.plies + 1
        rewards, terminated, truncated = games.step(actions)
        lap("moves")
        row = self.memory.time % len(self.logs)
        self.logs[row], self.values[row] = logs, values
        never = np.zeros(len(games), np.bool_)
        images = self.game.images[which, actions]
        self.memory.add(seen, images, rewards, games.after, terminated, truncated, never, ~theirs)
        over = terminated | truncated
        if over.any():
            self.tally.add(self.memory, terminated, truncated, lengths)
            self.selfplay.begin(np.flatnonzero(over))
        self.step += 1
        lap("storing")

    def _images(self) -> tuple[NDArray[np.void], NDArray[np.int32]]:
        """The states of the games [N], each as one of its images, and by which symmetry [N].

        What is learned from later is the image that was seen, so that the policy that learns is the one that played.
        """
        game, states = self.game, self.game.heads(self.selfplay.batch.states)
        which = np.zeros(len(states), np.int32)
        if self.config.symmetries and game.rules.SYMMETRIES > 1:
            which = self.rng.integers(0, game.rules.SYMMETRIES, len(states), np.int32)
            game.kernels().transform_all(states, which)
        return states, which

    def earlier_selves(self) -> list[NetworkAgent]:
        return [SamplingAgent(self.view, network) for network in self.snapshots]

    # ---- learning ----

    def values_behind(self) -> Floats:
        """[rows, games] what the critic says of the position behind each ply; 0 where the game has ended."""
        memory, found = self.memory, np.zeros_like(self.values)
        goes_on = memory.ended == RUNS_ON
        found[:-1] = np.where(goes_on[:-1], self.values[1:], 0.0)
        ask = memory.ended == TRUNCATED
        ask[-1] |= goes_on[-1]
        if ask.any():
            with torch.inference_mode():
                found[ask] = self.network.with_value(self.view.observe(memory.after[ask]))[1].cpu().numpy()
        return found

    def update(self, judged: Judged) -> float:
        """One step of the optimizer over all these plies; says how far the policy has moved from the one that played.

        The network sees at most `batch` plies at once.
        """
        self.optimizer.zero_grad(set_to_none=True)
        total, sums = len(judged.picked), torch.zeros(len(MEANS), device=self.config.device)
        for start in range(0, total, self.config.batch):
            part = judged.part(slice(start, start + self.config.batch))
            share = len(part.picked) / total
            loss, found = self._loss(part)
            (share * loss).backward()
            sums += share * found
            self.clock.lap("update")
        gradient = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.gradient_clip or math.inf)
        self.optimizer.step()
        self.updates += 1
        numbers = dict(zip(MEANS, cast("list[float]", sums.tolist()), strict=True))
        self.look({**numbers, "gradient": gradient.item()})
        self.clock.lap("update")
        return numbers["kl"]

    def _loss(self, judged: Judged) -> tuple[Tensor, Tensor]:
        """The loss of some plies, and the numbers in MEANS."""
        config, memory, lap = self.config, self.memory, self.clock.lap
        states, actions = memory.states.reshape(-1)[judged.picked], memory.actions.reshape(-1)[judged.picked]
        outputs = torch.from_numpy(self.view.output_of(states, actions)).to(config.device)
        legal = self.view.legal(states)
        lap("moves")
        shown = self.view.observe(states)
        lap("encoding")
        given = (self.logs.reshape(-1)[judged.picked], judged.advantages, judged.targets)
        old_logs, advantages, targets = (torch.from_numpy(each).to(config.device) for each in given)
        logits, values = self.network.with_value(shown)
        logs = log_probabilities(logits, legal)
        chosen = Chosen(logs.gather(1, outputs[:, None])[:, 0], old_logs, advantages)
        policy_loss, spread = self.policy_loss(chosen), entropy_of(logs, legal).mean()
        loss = policy_loss + config.value_weight * (values - targets).square().mean() - self.bonus() * spread
        with torch.no_grad():
            moved = chosen.logs - old_logs
            kl, error = (moved.exp() - 1.0 - moved).mean(), (values - targets).abs().mean()
            return loss, torch.stack([policy_loss, error, spread, kl])

    def bonus(self) -> float:
        """What entropy is worth now."""
        config = self.config
        return config.entropy_bonus * (1.0 - (1.0 - config.entropy_bonus_end) * self.progress)

    # ---- to disk and back ----

    def groups(self) -> Groups:
        found = super().groups()
        found["memory"] |= {"rollout.logs": self.logs, "rollout.values": self.values}
        return found

    def take(self, checkpoint: Checkpoint, state: Mapping[str, Any]) -> None:
        super().take(checkpoint, state)
        found = part(checkpoint.tensors("memory"), "rollout")
        self.logs[:], self.values[:] = found["logs"], found["values"]


class SamplingAgent(NetworkAgent):
    """Plays each legal action as often as its network's policy says."""

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        numbers = (chance.draw(rngs, np.full(len(states), FINE)) / FINE).astype(np.float32)
        with torch.inference_mode():
            logs = log_probabilities(self.network(self.view.observe(states)), self.view.legal(states))
            drawn = draw(logs, numbers).cpu().numpy()
        return self.view.action_of(states, drawn)


def normalised(advantages: Floats) -> Floats:
    """With mean 0 and spread 1, so that steps do not depend on how large the surprises are."""
    if not advantages.size:
        return advantages
    return ((advantages - advantages.mean()) / (advantages.std() + 1e-8)).astype(np.float32)
