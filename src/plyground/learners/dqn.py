"""DQN: a network learns the value of every action by playing, mostly against itself.

Many games advance in lockstep. The replay buffer keeps states; observations and legal masks are computed when a
minibatch is sampled. Differences from Mnih et al. 2015: two sides play, so the next state's value is negated when the
side to move changes (`kernels/replay.py`); illegal actions are masked at selection, in targets and in play; a game that
reaches the ply limit is truncated, not terminated: the value of its last position is still bootstrapped.

Metrics: `loss`, `gradient` (its norm before clipping), `td_error` (mean absolute difference from the target), `q` (mean
value of the actions in the minibatch), `entropy` (of the softmax over legal actions) and `even_entropy` (of an even
choice), each as a moving average. Values of -1 to 1 are nearly even in a softmax of temperature 1, learned or not: so
the temperature is the standard deviation of a state's legal values, averaged over the minibatch.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from plyground.agents.teacher import make_teacher
from plyground.backend.graph import Repeated
from plyground.learners.config import DQN
from plyground.learners.network import LearningNetwork, network_cycle, to_floats
from plyground.learners.replay import ReplayBuffer, Sample
from plyground.learners.selfplay import SelfPlay, Transition
from plyground.learners.shaping import shaping_rewards
from plyground.learners.state import Metrics, TrainingState
from plyground.networks import entropy, masked

METRICS_INTERVAL = 10  # updates between two readings of the metrics
SMALLEST_SPREAD = 1e-6  # of values that are all equal


def best_legal(values: Tensor, legal: Tensor, chooser: Tensor | None = None) -> Tensor:
    """[B] the value of the best legal action; 0 where the game is over.

    Double DQN: `chooser` [B, A] selects the action, `values` evaluates it.
    """
    best = masked(values if chooser is None else chooser, legal).argmax(1, keepdim=True)
    return torch.where(legal.any(1), values.gather(1, best)[:, 0], 0.0)


def td_targets(
    returns: Tensor, bootstrap_discounts: Tensor, next_values: Tensor, legal: Tensor, chooser: Tensor | None = None
) -> Tensor:
    """[B] the n-step return plus the discounted, signed value of the best legal action in the next state."""
    return returns + bootstrap_discounts * best_legal(next_values, legal, chooser)


def value_spread(values: Tensor, legal: Tensor) -> Tensor:
    """The standard deviation of the legal actions' values [B, A], averaged over the states with a choice; above 0."""
    count = legal.sum(1).clamp(min=1)  # [B]
    mean = torch.where(legal, values, 0.0).sum(1) / count
    variance = torch.where(legal, (values - mean[:, None]).square(), 0.0).sum(1) / count
    choice = legal.sum(1) > 1
    return (variance.sqrt() * choice).sum() / choice.sum().clamp(min=1) + SMALLEST_SPREAD


class Learned(NamedTuple):
    """A minibatch and what was learned from it, for metrics."""

    states: Tensor  # [B, bytes]
    values: Tensor  # [B, outputs]
    chosen: Tensor  # [B] the values of the actions played
    td_errors: Tensor  # [B]
    loss: Tensor
    gradient: Tensor  # its norm before clipping


class DQNLearner:
    """A Q-network, its target network, and a replay buffer."""

    limits = ("cycles", "seconds")

    def __init__(self, config: DQN) -> None:
        self.config, self.state = config, TrainingState()
        self.model = LearningNetwork(config, config.dueling)
        self.view, self.game = self.model.view, self.model.view.game
        self.q_network, self.target_network = self.model.network, copy.deepcopy(self.model.network)
        self.rng = torch.Generator(self.view.device).manual_seed(config.seed)
        self.games = SelfPlay(self.game, self.view.device_name, config, self.rng)
        size, prioritized = config.buffer_size, config.prioritized_replay
        self.replay = ReplayBuffer(self.game, self.view.device_name, size, config.num_envs, config.seed, prioritized)
        self.teacher = make_teacher(self.game, depth=config.imitation_depth) if config.imitation_coef else None
        self.cycle = network_cycle(config, self.state, self.model, self.games.results, self.replay)
        spread = torch.linspace(1.0, config.exploration_spread, config.num_envs, dtype=torch.float64)
        self.exponents = spread.to(self.view.device)  # [N]
        self.epsilons = torch.zeros_like(self.exponents)  # [N] of this ply
        self.shaping_weight = torch.zeros((), dtype=torch.float64, device=self.view.device)  # of this ply
        device, generators, say = self.view.device_name, [self.rng], self.state.note
        self.play_ply = Repeated(device, self._play, generators, say)
        self.learn = Repeated(device, self._learn, generators, say)
        self.play_ply.captures &= self.teacher is None and self.games.on_device
        self.games.check_every_ply(self.view)

    def iterate(self) -> Metrics:
        """One ply in every environment, then the updates that these plies allow."""
        config, state = self.config, self.state
        self.play()
        if len(self.replay) < max(config.learning_starts, config.batch_size):
            return {}
        metrics: Metrics = {}
        for _ in range(self.model.begin_updates(state)):
            metrics = self.update() or metrics
        return metrics

    # ---- play ----

    def play(self) -> None:
        """One ply in every environment."""
        torch.pow(self._epsilon(), self.exponents, out=self.epsilons)
        self.shaping_weight.fill_(self.config.shaping_coef * self.guidance)
        ply = self.play_ply(self.model.opponents_key(self.state))
        self.replay.count_row()
        self.games.results.count(self.view.on, ply)
        self.state.plies += len(ply.actions)

    def _play(self) -> Transition:
        view, states = self.view, self.games.batch.states
        legal = view.legal(states)  # [N, A]
        with torch.inference_mode():
            values = masked(self.q_network(view.observe(states)), legal)
        greedy = view.action_of(states, values.argmax(1))
        actions = self._explore(states, values, greedy)
        bonus = self._imitation_rewards(states, actions)
        ply = self.games.advance(actions, self.model.snapshot_agents())
        usable = view.output_of(ply.states, ply.actions) < view.outputs
        if self.config.bootstrap == "own_turn":
            usable &= ply.own
        rewards = ply.rewards + bonus * ply.own
        if self.config.shaping_coef:
            rewards = rewards + self.shaping_weight * shaping_rewards(view.on, ply, self.config.gamma)
        self.replay.write(ply._replace(rewards=rewards), usable, explored=ply.actions != greedy)
        self.replay.mark_decided(ply)
        if self.config.undecided_share < 1:
            drawn = torch.rand(len(actions), generator=self.rng, device=view.device)
            self.replay.drop_undecided(ply, drawn >= self.config.undecided_share)
        return ply

    def _epsilon(self) -> float:
        """The present ε of the most exploratory environment."""
        config, fraction = self.config, self.config.exploration_fraction
        done = min(1.0, self.state.progress / fraction) if fraction else 1.0
        return config.exploration_initial_eps + done * (config.exploration_final_eps - config.exploration_initial_eps)

    def _explore(self, states: Tensor, values: Tensor, greedy: Tensor) -> Tensor:
        """[N] the greedy actions, some of them replaced by others; `values` [N, outputs] are masked."""
        config, device = self.config, self.view.device
        if config.exploration == "boltzmann":
            noise = -torch.empty_like(values).exponential_(generator=self.rng).log()  # Gumbel
            return self.view.action_of(states, (values / config.exploration_temperature + noise).argmax(1))
        explores = torch.rand(len(greedy), generator=self.rng, device=device) < self.epsilons
        drawn = self.games.batch.on.random_actions(states, self.games.choosing_rngs)
        return torch.where(explores, drawn, greedy)

    @property
    def guidance(self) -> float:
        """The remaining weight of reward shaping and the imitation reward, 1 to 0."""
        fraction = self.config.shaping_fraction
        return max(0.0, 1 - self.state.progress / fraction) if fraction else 0.0

    def _imitation_rewards(self, states: Tensor, actions: Tensor) -> Tensor | float:
        """[N] for actions that are among the teacher's best; the teacher runs on the CPU."""
        if self.teacher is None or not self.guidance:
            return 0.0
        records = self.view.on.to_records(states)
        best = self.teacher.lessons(records, self.config.imitation_top_k, 1.0).moves  # [N, k]
        agrees = (best == actions.cpu().numpy()[:, None]).any(1)
        return self.guidance * self.config.imitation_coef * torch.from_numpy(agrees).to(actions.device).float()

    # ---- updates ----

    def update(self) -> Metrics:
        """One gradient step on a minibatch; returns its metrics at every METRICS_INTERVAL-th update."""
        learned = self.learn(self.state.rollbacks)
        self.state.updates += 1
        self._update_target_network()
        return self.metrics(learned) if self.state.updates % METRICS_INTERVAL == 1 else {}

    def _learn(self) -> Learned:
        config, view = self.config, self.view
        batch = self.replay.sample(
            config.batch_size,
            config.n_step,
            own_turn=config.bootstrap == "own_turn",
            gamma=config.gamma,
            truncation_penalty=config.truncation_penalty,
            decided_share=config.decided_share,
            recent_share=config.recent_share,
            recent_rows=max(1, config.recent_size // config.num_envs),
            beta=config.priority_beta,
        )
        targets = self.targets(batch)
        values = self.q_network(view.observe(batch.states))  # [B, outputs]
        chosen = values.gather(1, view.output_of(batch.states, batch.actions)[:, None])[:, 0]
        loss = (batch.weights * self.losses(chosen, targets)).mean()
        self.model.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        gradient = self.model.step()
        if config.tau:
            with torch.no_grad():
                for old, new in zip(self.target_network.parameters(), self.q_network.parameters(), strict=True):
                    old.lerp_(new, config.tau)
        td_errors = (chosen - targets).detach()
        if config.prioritized_replay:
            self.replay.update_priorities(batch.indices, td_errors, config.priority_alpha)
        return Learned(batch.states, values.detach(), chosen.detach(), td_errors, loss.detach(), gradient)

    def metrics(self, learned: Learned) -> Metrics:
        legal, values = self.view.legal(learned.states), learned.values
        means = {"loss": learned.loss, "gradient": learned.gradient}
        means |= {"td_error": learned.td_errors.abs().mean(), "q": learned.chosen.mean()}
        spread = entropy(values, legal, value_spread(values, legal)).mean()
        return to_floats({**means, "entropy": spread, "even_entropy": legal.sum(1).clamp(min=1).log().mean()})

    def targets(self, batch: Sample) -> Tensor:
        """[B] TD targets, with the exact legal mask of every next state."""
        legal = self.view.legal(batch.next_states)
        if self.state.updates == 0:
            self.state.notes += [
                "next-state masking is active: targets take the best of the legal actions only",
                f"legal next actions of the first sample: {int(legal[0].sum())} of {legal.shape[1]}",
            ]
        with torch.no_grad():
            observations = self.view.observe(batch.next_states)
            chooser = self.q_network(observations) if self.config.double_dqn else None
            next_values = self.target_network(observations)
            return td_targets(batch.returns, batch.bootstrap_discounts, next_values, legal, chooser)

    def losses(self, values: Tensor, targets: Tensor) -> Tensor:
        """[B] of each TD error."""
        if self.config.loss == "mse":
            return nn.functional.mse_loss(values, targets, reduction="none")
        return nn.functional.huber_loss(values, targets, reduction="none", delta=self.config.huber_delta)

    def _update_target_network(self) -> None:
        config, updates = self.config, self.state.updates
        if not config.tau and updates % config.target_update_interval == 0:
            self.target_network.load_state_dict(self.q_network.state_dict())
            if updates == config.target_update_interval:  # one line for all of them
                self.state.notes.append(f"target network synchronised at update {updates} (every {updates})")

    # ---- for the training loop ----

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        own = {"state": self.state, "rng": self.rng, "target_network": self.target_network, "replay": self.replay}
        return {**self.model.parts(), **self.games.parts(), **own}
