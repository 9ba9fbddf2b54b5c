"""What the policy gradients share: play by chance, rollouts, and the update around each algorithm's own loss.

The network says how likely each action is, and what the position is worth for whoever acts in it (the critic). All
games advance in lockstep, and actions are drawn by their probabilities. After `rollout` plies of every game each ply is
judged: how much better did it turn out than the critic expected? How that is estimated and what the loss makes of it
stands in `reinforce.py`, `a2c.py` and `ppo.py`. Plies of other opponents than the learner itself belong to the world:
nothing is learned from them.

Metrics, as moving averages: `policy_loss`; `value_error`, the mean distance of the critic from what came; `entropy` of
the policy over legal actions, in nats; `gradient`, the true norm before clipping; `kl`, how far the
policy was from the one that played when an update began: the mean of (ratio - 1) - log ratio.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.agents.network import NetworkAgent
from plyground.errors import InvalidValue, shorten
from plyground.games import rng
from plyground.kernels.replay import RUNS_ON, TRUNCATED
from plyground.learners.learner import Groups
from plyground.learners.memory_learner import MemoryLearner
from plyground.learners.network_learner import NetworkSettings, part
from plyground.learners.returns import draw, entropy_of, log_probabilities, read
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
    """whether to see each position as one of its images under the game's symmetries, drawn anew for each ply"""

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
        shape, images = tuple(self.memory.actions.shape), self.game.images
        self.logs = self.on.zeros(shape, np.float32)  # [rows, games] of the actions played, then
        self.values = self.on.zeros(shape, np.float32)  # [rows, games] what the critic said, then
        self.images = self.on.from_numpy(images)  # [SYMMETRIES, A]
        self.back = self.on.from_numpy(np.argsort(images, axis=1).astype(np.int32))  # and from images to actions

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
        view, lap, on = self.view, self.clock.lap, self.on
        games: Any = self.selfplay.batch
        seen, which = self._images()
        legal = view.legal(seen)
        lap("moves")
        shown = view.observe(seen)
        lap("encoding")
        with torch.inference_mode():
            logits, values = self.network.with_value(shown)
            logs = log_probabilities(logits, legal)
            drawn = draw(logs, on.single_random(len(games)))
            logs, values = on.array(logs.gather(1, drawn[:, None])[:, 0]), on.array(values)
        lap("network")
        actions = self.back[which, view.action_of(seen, on.array(drawn))]
        theirs = self.selfplay.answer(actions, self.earlier_selves())
        lap("opponents")
        lengths = games.plies + 1
        rewards, terminated, truncated = self.selfplay.step(actions)
        lap("moves")
        row = self.memory.time % len(self.logs)
        self.logs[row], self.values[row] = logs, values
        never = on.zeros((len(games),), np.bool_)
        images = self.images[which, actions]
        self.memory.add(seen, images, rewards, games.after, terminated, truncated, never, ~theirs)
        over = terminated | truncated
        if on.any(over):
            self.tally.add(self.memory, terminated, truncated, lengths)
            self.selfplay.check()
            self.selfplay.renew(over)
        self.step += 1
        lap("storing")

    def _images(self) -> tuple[Any, Any]:
        """The states of the games [N], each as one of its images, and by which symmetry [N].

        What is learned from later is the image that was seen, so that the policy that learns is the one that played.
        """
        symmetries, states = self.game.rules.SYMMETRIES, self.on.heads(self.selfplay.batch.states)
        if not self.config.symmetries or symmetries == 1:
            return states, self.on.zeros((len(states),), np.int32)
        which = self.on.integers(symmetries, len(states))
        self.on.transform(states, which)
        return states, which

    def earlier_selves(self) -> list[NetworkAgent]:
        return [SamplingAgent(self.view, network) for network in self.snapshots]

    # ---- learning ----

    def values_behind(self) -> Any:
        """[rows, games] what the critic says of the position behind each ply; 0 where the game has ended."""
        memory, on = self.memory, self.on
        found, goes_on = on.zeros(tuple(self.values.shape), np.float32), memory.ended == RUNS_ON
        found[:-1] = self.values[1:] * goes_on[:-1]
        ask = memory.ended == TRUNCATED
        ask[-1] |= goes_on[-1]
        places = on.places(ask)
        if len(places):
            with torch.inference_mode():
                said = self.network.with_value(self.view.observe(memory.of(memory.after, places)))[1]
            found.reshape(-1)[places] = on.array(said)
        return found

    def update(self, judged: Judged) -> float:
        """One step of the optimizer over all these plies; says how far the policy has moved from the one that played.

        The network sees at most `batch` plies at once.
        """
        self.optimizer.zero_grad(set_to_none=True)
        total, sums = len(judged.picked), torch.zeros(len(MEANS), device=self.view.device)
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
        numbers = read({**dict(zip(MEANS, sums, strict=True)), "gradient": gradient})
        self.look(numbers)
        self.clock.lap("update")
        return numbers["kl"]

    def _loss(self, judged: Judged) -> tuple[Tensor, Tensor]:
        """The loss of some plies, and the numbers in MEANS."""
        config, memory, lap = self.config, self.memory, self.clock.lap
        states, actions = memory.of(memory.states, judged.picked), memory.of(memory.actions, judged.picked)
        outputs = self.on.tensor(self.view.output_of(states, actions))
        legal = self.view.legal(states)
        lap("moves")
        shown = self.view.observe(states)
        lap("encoding")
        given = (memory.of(self.logs, judged.picked), judged.advantages, judged.targets)
        old_logs, advantages, targets = map(self.on.tensor, given)
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
        numpy = self.on.numpy
        found["memory"] |= {"rollout.logs": numpy(self.logs), "rollout.values": numpy(self.values)}
        return found

    def take(self, checkpoint: Checkpoint, state: Mapping[str, Any]) -> None:
        super().take(checkpoint, state)
        found = part(checkpoint.tensors("memory"), "rollout")
        self.logs[:], self.values[:] = self.on.from_numpy(found["logs"]), self.on.from_numpy(found["values"])


class SamplingAgent(NetworkAgent):
    """Plays each legal action as often as its network's policy says."""

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        numbers = (rng.draw(rngs, np.full(len(states), FINE)) / FINE).astype(np.float32)
        return self.view.action_of(states, self._drawn(states, numbers).cpu().numpy())

    def choose(self, states: Tensor, numbers: Tensor) -> Tensor:
        return self.view.action_of(states, self._drawn(states, numbers))

    def _drawn(self, states: Any, numbers: Any) -> Tensor:
        """[N] outputs, by a number in [0, 1) for each."""
        with torch.inference_mode():
            logs = log_probabilities(self.network(self.view.observe(states)), self.view.legal(states))
            return draw(logs, numbers)


def normalised(advantages: Any) -> Any:
    """With mean 0 and spread 1, so that steps do not depend on how large the surprises are."""
    if not len(advantages):
        return advantages
    centred = advantages - advantages.mean()
    return centred / ((centred * centred).mean() ** 0.5 + 1e-8)
