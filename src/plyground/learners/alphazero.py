"""AlphaZero: a network learns what a tree search with that network finds, by playing against itself.

All games advance in lockstep. In every position a Gumbel search chooses the action; its improved policy and its value
are what the network learns. The replay buffer keeps states, sparse policies (the legal actions only) and values.

The value target is a λ-return (`lambda_return` in `kernels/replay.py`): it mixes the values that the search found in
the positions of the game with the result, negated where the side to move changes. It goes only as far as the search
itself played: where an opponent chose another action, or where the search proved a position, the search's value ends
it.

Differences from Silver et al. 2018: Gumbel search with sequential halving and proofs (docs/search.md), value targets
mixed with search values, positions from random openings, opponents besides the network itself, no gate by default.

Metrics, as moving averages: `policy_loss` (cross-entropy of the improved policy), `kl` (its divergence from the
network's policy: what is left to learn), `agreement` (share of positions where both prefer the same action),
`value_error` (mean absolute difference from the target), `entropy` of the network's policy over legal actions,
`gradient` (its norm before clipping), `proven` (share of the newest searches that proved their position). Times by
part: `search` (trees), `network` (their evaluations), `encoding`, `update`; on a GPU a search is one captured graph,
all of it `search`.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from plyground.agents.network import SamplingAgent
from plyground.agents.search import can_search_trees
from plyground.backend.clock import NETWORK, timed
from plyground.backend.graph import Repeated
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.kernels.replay import RUNS_ON
from plyground.learners.config import AlphaZero
from plyground.learners.network import LearningNetwork, network_cycle, to_floats
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import SelfPlay, Transition
from plyground.learners.state import Metrics, TrainingState
from plyground.models.network import NetworkEvaluator
from plyground.networks import entropy_of, log_probabilities, training_mode
from plyground.search.network_search import NetworkSearch
from plyground.search.tree_arrays import OPEN, Result
from plyground.search.tree_config import SearchConfig

METRICS_INTERVAL = 10  # updates between two readings of the metrics
MOST_EDGES = 64  # actions of a stored policy, the likeliest ones
LEAST_CHANCE = 1e-6  # of a win or a loss: its logarithm is finite
MOST_LONG = 0.05  # of the environments: games that are longer than what the replay buffer holds of them


class Targets(NamedTuple):
    """A minibatch of positions and what the network should say of them."""

    states: Tensor  # [B, bytes]
    outputs: Tensor  # [B, E] int64 outputs of the network
    policy: Tensor  # [B, E] their probabilities, which sum to 1
    values: Tensor  # [B] for the side to move
    weights: Tensor  # [B] 0: the game has not ended yet


class Learned(NamedTuple):
    """What was learned from a minibatch, for metrics."""

    targets: Targets
    legal: Tensor  # [B, outputs]
    log_probs: Tensor  # [B, outputs]
    policy_losses: Tensor  # [B]
    value_errors: Tensor  # [B]
    gradient: Tensor  # its norm before clipping, once the step is made


def policy_loss(log_probs: Tensor, targets: Targets) -> Tensor:
    """[B] the cross-entropy of the target policy; `log_probs` [B, outputs] are minus infinity where not legal."""
    chosen = log_probs.gather(1, targets.outputs)  # [B, E]
    return -torch.where(targets.policy > 0, targets.policy * chosen, 0.0).sum(1)


def value_loss(values: Tensor, targets: Tensor) -> Tensor:
    """[B] the cross-entropy of a win: (1 + value) / 2 is its probability. It never saturates, as a square does."""
    chance = (0.5 + 0.5 * values).clamp(LEAST_CHANCE, 1 - LEAST_CHANCE)
    wins = 0.5 + 0.5 * targets
    return -(wins * chance.log() + (1 - wins) * (1 - chance).log())


def entropy_of_targets(policy: Tensor) -> Tensor:
    """[B] the entropy of sparse policies [B, E]."""
    return -(policy * policy.clamp(min=1e-9).log()).sum(1)


class SearchResults:
    """What the search found for every ply of a replay buffer: a sparse policy and a value."""

    def __init__(self, replay: ReplayBuffer) -> None:
        rules, device = replay.game.rules, replay.games.device
        self.replay, self.edges = replay, min(MOST_EDGES, rules.MAX_LEGAL)
        shape = *replay.actions.shape, self.edges
        kind = torch.int16 if replay.game.num_actions < 2**15 else torch.int32
        self.actions = torch.zeros(shape, dtype=kind, device=device)  # [rows, N, E]; 0 where there is none
        self.policy = torch.zeros(shape, dtype=torch.float16, device=device)  # [rows, N, E]; 0 where there is none
        self.values = torch.zeros(replay.actions.shape, device=device)  # [rows, N] for the side to move
        self.ended = 0  # plies of games that have ended since the buffer was empty: only those are sampled

    @timed("replay")
    def write(self, found: Result) -> None:
        """Store the results of a search in the row that the replay buffer writes next."""
        policy, actions = found.policy, found.actions
        if self.edges < policy.shape[1]:
            policy, places = policy.topk(self.edges, dim=1)
            actions = actions.gather(1, places)
        self.put(actions.clamp(min=0), policy, found.values)

    def put(self, actions: Tensor, policy: Tensor, values: Tensor) -> None:
        """Store sparse policies [N, E] and values [N] in that row."""
        for ring, row in ((self.actions, actions), (self.policy, policy), (self.values, values)):
            self.replay.put(ring, row)

    def rings(self) -> dict[str, Tensor]:
        return {"actions": self.actions, "policy": self.policy, "values": self.values}

    def state(self) -> dict[str, Any]:
        """Only the rows in use."""
        rows = {name: ring[: self.replay.filled].flatten(1) for name, ring in self.rings().items()}
        return {**rows, "ended": self.ended}

    def load_state(self, state: Mapping[str, Any]) -> None:
        if not isinstance(state["ended"], int) or state["ended"] < 0:
            raise InvalidValue(f"the search results count {state['ended']} plies of ended games")
        self.ended = state["ended"]
        for name, ring in self.rings().items():
            used, values = ring[: self.replay.filled], torch.from_numpy(state[name].copy())
            if tuple(values.shape) != tuple(used.flatten(1).shape) or values.dtype != ring.dtype:
                raise InvalidValue(f"the search results' {name} is {values.dtype} of shape {tuple(values.shape)}")
            used.copy_(values.reshape(used.shape))
        if not ((self.actions >= 0) & (self.actions < self.replay.game.num_actions)).all():
            raise InvalidValue(f"the search results hold actions that {self.replay.game} does not have")


class AlphaZeroLearner:
    """A network with policy and value heads, the search that plays with it, and a replay buffer of what it found."""

    limits = ("cycles", "seconds")

    def __init__(self, config: AlphaZero, plays: bool = True) -> None:
        """Without `plays` the search is not prepared: somebody else plays, and this learner only learns."""
        self.config, self.state = config, TrainingState()
        self.model = LearningNetwork(config, agent=SamplingAgent, weight_decay=config.weight_decay)
        self.view, self.game = self.model.view, self.model.view.game
        if not can_search_trees(self.game):
            needed = "a game without chance in which nothing is hidden"
            raise InvalidValue(f"alphazero needs {needed}; {self.game} is not one")
        self.rng = torch.Generator(self.view.device).manual_seed(config.seed)
        self.games = SelfPlay(self.game, self.view.device_name, config, self.rng)
        size = config.buffer_size
        self.replay = ReplayBuffer(self.game, self.view.device_name, size, config.num_envs, config.seed)
        self.found = SearchResults(self.replay)
        self.player = self.model.best.network if config.gate else self.model.network
        self.evaluator = NetworkEvaluator(self.view, self.player)
        self.search = self_play_search(config, self.view, self.evaluator)
        if plays:
            self.search.begin(self.games.batch.states, self.games.choosing_rngs)  # captured here: before a clock runs
        self.images = torch.from_numpy(self.game.images).to(self.view.device)  # [SYMMETRIES, A]
        device, generators, say = self.view.device_name, [self.rng], self.state.note
        self.play_chosen = Repeated(device, self._play_chosen, generators, say)
        self.learn = Repeated(device, self._learn, generators, say)
        self.play_chosen.captures &= self.games.on_device
        self.games.check_every_ply(self.view)
        self.cycle = network_cycle(config, self.state, self.model, self.games.results, self.replay)

    def iterate(self) -> Metrics:
        """One ply in every environment, then the updates that these plies allow."""
        self.play()
        return self.learn_from_row()

    def learn_from_row(self) -> Metrics:
        """The updates that one more row in the replay buffer allows."""
        config, state = self.config, self.state
        if self.found.ended < max(config.learning_starts, config.batch_size):
            return {}
        metrics: Metrics = {}
        for _ in range(self.model.begin_updates(state)):
            metrics = self.update() or metrics
        return metrics

    # ---- play ----

    def play(self) -> None:
        """One ply in every environment: the action that the search chooses, or an opponent's. Opponents' positions are
        searched too, and learned from."""
        self.search_positions()
        ply = self.play_chosen(self.model.opponents_key(self.state))
        counts, before = self.games.results.counts, self.games.results.counts["plies"]
        self.games.results.count(self.view.on, ply)
        self.found.ended += counts["plies"] - before
        self.replay.count_row()
        self.state.plies += len(ply.actions)
        if self.replay.time == len(self.replay.states):
            self._check_lengths()

    def _check_lengths(self) -> None:
        """When the buffer is full for the first time: a note if it is too short for the games."""
        rows, num_envs = self.replay.plies.ended.shape
        long = float((self.replay.plies.ended == RUNS_ON).all(0).float().mean())  # share of the environments
        if long > MOST_LONG:
            held = f"the replay buffer holds {rows} plies of each environment (buffer_size / num_envs)"
            lost = f"in {long:.0%} of the {num_envs} no game has ended within them"
            remedy = "give a larger buffer_size or fewer num_envs"
            self.state.note(f"{held}, and {lost}: earlier plies of such games are never learned from; {remedy}")

    def _play_chosen(self) -> Transition:
        """Play what the search chose, and store it with what the search found."""
        found = self.search.result
        self.found.write(found)
        ply = self.games.advance(found.chosen.clone(), self.model.snapshot_agents())
        ends_result = (ply.actions != found.chosen) | (found.proven != OPEN)
        self.replay.write(ply, usable=torch.zeros_like(ends_result), explored=ends_result)
        self.replay.mark_ended(ply)
        return ply

    @timed("search")
    def search_positions(self) -> Result:
        """What the search finds in the present positions; the next call overwrites it."""
        self.evaluator.refresh(self.player)
        first, last = self.config.simulations_initial or self.config.simulations, self.config.simulations
        self.search.limit(first + round((last - first) * self.state.progress))
        return self.search.search(self.games.batch.states, self.games.choosing_rngs)

    # ---- updates ----

    @timed("update")
    def update(self) -> Metrics:
        """One gradient step on a minibatch; returns its metrics at every METRICS_INTERVAL-th update."""
        learned = self.learn(self.state.rollbacks)
        self.state.updates += 1
        return self.metrics(learned) if self.state.updates % METRICS_INTERVAL == 1 else {}

    def _learn(self) -> Learned:
        targets = self.sample()
        learned = self.compute_gradients(targets, targets.weights.sum().clamp(min=1))
        return learned._replace(gradient=self.model.step())

    def compute_gradients(self, targets: Targets, total: Tensor) -> Learned:
        """The gradients of a minibatch's loss, a sum over its positions divided by `total`."""
        config, view = self.config, self.view
        legal = view.legal(targets.states)
        with training_mode(self.model.network):
            logits, values = self.model.network.with_value(view.observe(targets.states))
        log_probs = log_probabilities(logits, legal)
        policy_losses, value_errors = policy_loss(log_probs, targets), values - targets.values
        losses = policy_losses + config.value_coef * value_loss(values, targets.values)
        self.model.optimizer.zero_grad(set_to_none=True)
        ((targets.weights * losses).sum() / total).backward()
        return Learned(targets, legal, log_probs.detach(), policy_losses.detach(), value_errors.detach(), total)

    def metrics(self, learned: Learned) -> Metrics:
        targets, log_probs = learned.targets, learned.log_probs
        best = targets.outputs.gather(1, targets.policy.argmax(1, keepdim=True))[:, 0]
        rows = {
            "policy_loss": learned.policy_losses,
            "kl": learned.policy_losses - entropy_of_targets(targets.policy),
            "agreement": (log_probs.argmax(1) == best).float(),
            "value_error": learned.value_errors.abs(),
            "entropy": entropy_of(log_probs, learned.legal),
        }
        total = targets.weights.sum().clamp(min=1)
        means = {name: (targets.weights * each).sum() / total for name, each in rows.items()}
        proven = (self.search.result.proven != OPEN).float().mean()
        return to_floats({**means, "gradient": learned.gradient, "proven": proven})

    def sample(self) -> Targets:
        """A minibatch of positions, each under a random symmetry."""
        config, view, replay = self.config, self.view, self.replay
        indices = replay.draw(config.batch_size)
        states = replay.at(replay.states, indices)
        actions, policy = replay.at(self.found.actions, indices).long(), replay.at(self.found.policy, indices).float()
        if config.symmetries and len(self.images) > 1:
            drawn = torch.randint(len(self.images), (len(indices),), generator=self.rng, device=view.device)
            view.on.transform(states, drawn.int())
            actions = self.images[drawn[:, None], actions]
        outputs = view.action_outputs[view.on.seats(states)[:, None], actions].long()
        policy = torch.where(outputs < view.outputs, policy, 0.0)
        policy = policy / policy.sum(1, keepdim=True).clamp(min=1e-6)
        values = replay.lambda_returns(indices, self.found.values, config.gamma, config.td_lambda)
        weights = replay.at(replay.usable, indices).float()
        return Targets(states, outputs.clamp(max=view.outputs - 1), policy, values, weights)

    # ---- for the training loop ----

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        own = {**self.model.parts(), "state": self.state, "rng": self.rng}
        if not self.config.save_buffer:
            return {**own, "results": self.games.results}
        return {**own, **self.games.parts(), "replay": self.replay, "search_results": self.found}


def self_play_search(config: AlphaZero, view: View, evaluator: NetworkEvaluator) -> NetworkSearch:
    """The search that plays: Gumbel search with noise at the root."""
    how = SearchConfig(
        simulations=config.simulations,
        selection="gumbel",
        leaf="network",
        considered=config.considered,
        value_scale=config.value_scale,
        noise=True,
    )
    return NetworkSearch(view, timed(NETWORK)(evaluator), how, config.num_envs)
