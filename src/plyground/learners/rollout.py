"""Rollouts: what the policy-gradient learners share. Play with the policy, keep the plies with their log-probabilities
and values, and make an optimizer step around each algorithm's own loss.

The network gives a logit for each action and the value of the state for the side that acts in it. All environments
advance in lockstep, and actions are sampled from the policy. How advantages are estimated and what the loss makes of
them is in `reinforce.py`, `a2c.py` and `ppo.py`. Opponents other than the learner itself are part of the environment:
their plies are not learned from.

Metrics, as moving averages: `policy_loss`; `value_error`, the mean absolute error of the value; `entropy` of the policy
over legal actions, in nats; `gradient`, its norm before clipping; `kl`, the divergence of the policy from the one that
played: the mean of (ratio - 1) - log ratio.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from plyground.agents.network import SamplingAgent
from plyground.backend.graph import Repeated
from plyground.kernels.replay import RUNS_ON, TRUNCATED
from plyground.learners.network import LearningNetwork, network_cycle, to_floats
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import SelfPlay, Transition
from plyground.learners.state import TrainingState
from plyground.networks import entropy_of, log_probabilities, sample_actions

MEANS = ("policy_loss", "value_error", "entropy", "kl")  # metrics that are means over plies
PolicyLoss = Callable[[Tensor, Tensor, Tensor], Tensor]  # log_probs [B], old_log_probs [B], advantages [B] -> scalar


class PolicyBatch(NamedTuple):
    """Plies to learn from."""

    indices: Tensor  # [M] row * num_envs + environment
    advantages: Tensor  # [M]
    returns: Tensor  # [M] targets of the value

    def rows(self, chosen: slice | Tensor) -> PolicyBatch:
        return PolicyBatch(self.indices[chosen], self.advantages[chosen], self.returns[chosen])


class Minibatch(NamedTuple):
    """Plies with all that their loss needs."""

    states: Tensor  # [M, bytes of a head]
    actions: Tensor  # [M] int32
    old_log_probs: Tensor  # [M] when they were played
    advantages: Tensor  # [M]
    returns: Tensor  # [M]


class Rollout:
    """The environments and their newest plies, with the policy's log-probabilities and values when they were played."""

    def __init__(self, config: Any, state: TrainingState, kept: int = 1) -> None:
        """`kept` rollouts stay in the buffer: a learner from whole games needs the one before, too."""
        self.config, self.state, self.model = config, state, LearningNetwork(config, agent=SamplingAgent)
        self.view = view = self.model.view
        self.rng = torch.Generator(view.device).manual_seed(config.seed)
        self.games = SelfPlay(view.game, view.device_name, config, self.rng)
        size = kept * config.rollout_length * config.num_envs
        self.replay = ReplayBuffer(view.game, view.device_name, size, config.num_envs)
        self.log_probs = torch.zeros(self.replay.actions.shape, device=view.device)  # [rows, N] of the actions played
        self.values = torch.zeros(self.replay.actions.shape, device=view.device)  # [rows, N] for the side that acted
        images = view.game.images  # [SYMMETRIES, A] actions under each symmetry
        self.images = torch.from_numpy(images).to(view.device)
        self.inverse = torch.from_numpy(np.argsort(images, axis=1).astype(np.int32)).to(view.device)
        self.cycle = network_cycle(config, state, self.model, self.games.results, self.replay)
        self.entropy_coef = torch.zeros((), device=view.device)  # of this update
        self.play_ply = Repeated(view.device_name, self._play, [self.rng], state.note)
        self.play_ply.captures &= self.games.on_device
        self.games.check_every_ply(view)

    def parts(self) -> dict[str, Any]:
        own = {"log_probs": self.log_probs, "values": self.values}
        return {**self.model.parts(), **self.games.parts(), "replay": self.replay, "rollout": own, "rng": self.rng}

    # ---- play ----

    def play(self) -> bool:
        """One ply in every environment, with actions sampled from the policy; returns whether the rollout is complete,
        so that an update is due."""
        ply = self.play_ply(self.model.opponents_key(self.state))
        self.games.results.count(self.view.on, ply)
        return self.count_row()

    def count_row(self) -> bool:
        """One more row was written; returns whether the rollout is complete."""
        self.replay.count_row()
        self.state.plies += self.replay.num_envs
        complete = self.replay.time % self.config.rollout_length == 0
        if complete:
            self.model.schedule_learning_rate(self.state)
            self.schedule_entropy()
        return complete

    def schedule_entropy(self) -> None:
        """The coefficient of the entropy bonus falls linearly over the run."""
        initial, final = self.config.entropy_coef, self.config.entropy_coef_final
        self.entropy_coef.fill_(initial * (1.0 - (1.0 - final) * self.state.progress))

    def _play(self) -> Transition:
        view, replay = self.view, self.replay
        seen, symmetry = self._transformed()
        with torch.inference_mode():
            logits, values = self.model.network.with_value(view.observe(seen))
            log_probs = log_probabilities(logits, view.legal(seen))
            numbers = torch.rand(len(values), generator=self.rng, device=view.device)
            outputs = sample_actions(log_probs, numbers)
            log_probs = log_probs.gather(1, outputs[:, None])[:, 0]
        actions = self.inverse[symmetry, view.action_of(seen, outputs)]
        replay.put(self.log_probs, log_probs)
        replay.put(self.values, values)
        ply = self.games.advance(actions, self.model.snapshot_agents())
        replay.write(ply._replace(states=seen, actions=self.images[symmetry, ply.actions]), usable=ply.own)
        return ply

    def _transformed(self) -> tuple[Tensor, Tensor]:
        """The states [N, bytes], each under a symmetry drawn at random, and which one [N].

        Updates use the same transformed state, so that the policy that learns is the one that played.
        """
        games, symmetries = self.view.on, self.view.game.rules.SYMMETRIES
        states = games.heads(self.games.batch.states)
        shape, device = (len(states),), self.view.device
        if not self.config.symmetries or symmetries == 1:
            return states, torch.zeros(shape, dtype=torch.int32, device=device)
        drawn = torch.randint(symmetries, shape, generator=self.rng, device=device, dtype=torch.int32)
        games.transform(states, drawn)
        return states, drawn

    def next_values(self) -> Tensor:
        """[rows, N] the value of the state after each ply; 0 where the game has ended."""
        replay, found = self.replay, torch.zeros_like(self.values)
        found[:-1] = self.values[1:] * (replay.plies.ended[:-1] == RUNS_ON)
        places = self.bootstrapped().flatten().nonzero()[:, 0]
        if len(places):
            with torch.inference_mode():
                states = replay.at(replay.next_states, places)
                found.view(-1)[places] = self.model.network.with_value(self.view.observe(states))[1]
        return found

    def bootstrapped(self) -> Tensor:
        """[rows, N] where the value of the next state is asked of the network: it is no row of this rollout."""
        ended = self.replay.plies.ended
        found = ended == TRUNCATED
        found[-1] |= ended[-1] == RUNS_ON
        return found

    # ---- updates ----

    def update(self, batch: PolicyBatch, policy_loss: PolicyLoss) -> dict[str, float]:
        """One optimizer step over all these plies."""
        return self.count_update(self.optimize(batch, policy_loss))

    def optimize(self, batch: PolicyBatch, policy_loss: PolicyLoss) -> tuple[Tensor, Tensor]:
        """`update` on the device alone, for graphs: whoever runs one calls `count_update` each time. Returns MEANS and
        the gradient's norm. The network processes at most `batch_size` plies at once."""
        self.model.optimizer.zero_grad(set_to_none=True)
        total, sums = len(batch.indices), torch.zeros(len(MEANS), device=self.view.device)
        for start in range(0, total, self.config.batch_size):
            part = batch.rows(slice(start, start + self.config.batch_size))
            sums += self.add_gradients(self.minibatch(part), len(part.indices) / total, policy_loss)
        return sums, self.model.step()

    def count_update(self, found: tuple[Tensor, Tensor]) -> dict[str, float]:
        """One more update was made; returns its metrics."""
        self.state.updates += 1
        return to_floats({**dict(zip(MEANS, found[0], strict=True)), "gradient": found[1]})

    def minibatch(self, batch: PolicyBatch) -> Minibatch:
        """Plies with all that their loss needs."""
        replay, indices = self.replay, batch.indices
        states, actions = replay.at(replay.states, indices), replay.at(replay.actions, indices)
        return Minibatch(states, actions, replay.at(self.log_probs, indices), batch.advantages, batch.returns)

    def add_gradients(self, batch: Minibatch, share: float, policy_loss: PolicyLoss) -> Tensor:
        """Add the gradients of a minibatch's loss, as this share of the whole; returns that share of MEANS."""
        loss, means = self._loss(batch, policy_loss)
        (share * loss).backward()
        return share * means

    def _loss(self, batch: Minibatch, policy_loss: PolicyLoss) -> tuple[Tensor, Tensor]:
        """The loss of a minibatch, and the metrics in MEANS."""
        config, view = self.config, self.view
        legal, outputs = view.legal(batch.states), view.output_of(batch.states, batch.actions)
        logits, values = self.model.network.with_value(view.observe(batch.states))
        all_log_probs, old = log_probabilities(logits, legal), batch.old_log_probs
        log_probs = all_log_probs.gather(1, outputs[:, None])[:, 0]
        actor, entropy = policy_loss(log_probs, old, batch.advantages), entropy_of(all_log_probs, legal).mean()
        loss = actor + config.value_coef * (values - batch.returns).square().mean() - self.entropy_coef * entropy
        with torch.no_grad():
            log_ratio = log_probs - old
            kl, error = (log_ratio.exp() - 1.0 - log_ratio).mean(), (values - batch.returns).abs().mean()
            return loss, torch.stack([actor, error, entropy, kl])


def policy_gradient_loss(log_probs: Tensor, advantages: Tensor) -> Tensor:
    """Its gradient raises the probability of actions [B] with a positive advantage."""
    return -(log_probs * advantages).mean()


def normalized(advantages: Tensor) -> Tensor:
    """[B] with mean 0 and standard deviation 1, so that the step size does not depend on the scale of rewards."""
    if not len(advantages):
        return advantages
    centred = advantages - advantages.mean()
    return centred / (centred.square().mean().sqrt() + 1e-8)
