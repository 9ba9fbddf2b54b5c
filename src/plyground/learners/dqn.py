"""DQN: a network learns the value of every action by playing, mostly against itself.

All games advance in lockstep. Memory keeps states; what the network sees of them and which actions are legal is
computed when a batch is drawn. Differs from Mnih et al. 2015: two sides play, so what is good for whoever moves next is
bad for me, unless that is me again (`kernels/replay.py`); illegal actions are masked at selection, in targets and at
play; a limit of plies is no end of the game, its last position still has a value.

Metrics: `loss`, `gradient` (the true norm before clipping), `td_error` (mean distance from the target), `q` (mean value
of the actions learned from), `entropy` (of the softmax over legal actions), each as a moving average.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from plyground.agents.network import identity
from plyground.agents.teacher import make_teacher
from plyground.errors import InvalidValue
from plyground.learners.learner import Broken
from plyground.learners.memory_learner import MemoryLearner
from plyground.learners.network_learner import NetworkSettings
from plyground.learners.returns import entropy, masked, read, td_targets
from plyground.learners.shaping import differences
from plyground.networks import Network, make_network

LOOK_EVERY = 10  # updates between two looks at the numbers


@dataclass(frozen=True)
class DQN(NetworkSettings):
    """Learn a game by playing it, with a deep Q-network."""

    dueling: bool = False
    """split the network's head into a state's value and the actions' advantages"""
    step_limit_penalty: float = 0.0
    """what the last ply of a stopped game costs"""
    exploration: Literal["epsilon", "boltzmann"] = "epsilon"
    """a random action now and then, or actions drawn by their values"""
    epsilon: float = 0.4
    """chance of a random action in the most adventurous game, at first"""
    epsilon_end: float = 0.4
    """and at last"""
    epsilon_share: float = 0.5
    """share of the run over which it gets there"""
    epsilon_spread: float = 3.0
    """the least adventurous game uses epsilon to this power; the others lie between"""
    temperature: float = 0.1
    """of boltzmann exploration: the difference of value that matters"""
    memory: int = 400_000
    """plies remembered"""
    warm_up: int = 5000
    """plies stored before the first update"""
    samples_per_ply: float = 2.0
    """plies learned from for each ply played"""
    n_step: int = 1
    """plies followed before the network's own value is taken"""
    bootstrap: Literal["next", "own"] = "next"
    """whose value that is: of whoever moves next, or of the same side at its next turn (the opponent is then part of
    the world)"""
    double_dqn: bool = False
    """let the network choose the next action and its target judge it"""
    target_update: int = 200
    """updates between copies of the network to its target"""
    target_soft: float = 0.0
    """instead, move the target this share of the way at each update"""
    loss: Literal["huber", "mse"] = "huber"
    """how an error counts"""
    huber_delta: float = 1.0
    """errors beyond it count linearly"""
    prioritised: bool = False
    """learn more often from plies whose value surprised"""
    priority_exponent: float = 0.6
    """how much more often: 0 not at all, 1 in proportion"""
    priority_correction: float = 0.4
    """how far weights undo that in the loss"""
    share_good: float = 0.0
    """share of samples from decided games (the high-quality buffer)"""
    share_recent: float = 0.0
    """share of samples from the newest plies (the recent buffer)"""
    recent: int = 50_000
    """plies that count as recent"""
    shaping: float = 0.0
    """weight of the game's own judgement as a potential, at first"""
    imitation_bonus: float = 0.0
    """reward for the action that a teacher would choose, at first"""
    imitation_depth: int = 2
    """plies that this teacher looks ahead"""
    shaping_share: float = 1.0
    """share of the run over which both fall to nothing"""
    q_limit: float = 10.0
    """a mean value beyond it rolls back"""

    ALL_ON_GPU: ClassVar[bool] = True
    AT_LEAST: ClassVar[dict[str, float]] = NetworkSettings.AT_LEAST | {"n_step": 1, "target_update": 1, "recent": 1}
    AT_MOST_ONE: ClassVar[tuple[str, ...]] = (
        *(*NetworkSettings.AT_MOST_ONE, "epsilon", "epsilon_end", "epsilon_share", "shaping_share"),
        *("target_soft", "share_good", "share_recent"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        room = self.memory // self.concurrency * self.concurrency  # whole rows, one ply of each game
        if room < max(self.warm_up, self.batch):
            needed = max(self.warm_up, self.batch)
            raise InvalidValue(f"memory has room for {room} plies, but learning begins with {needed}: warm_up or batch")
        if self.share_good + self.share_recent > 1:
            raise InvalidValue("share_good and share_recent are at most 1 together")


class DQNLearner(MemoryLearner[DQN]):
    """A network, its target, and a memory of plies."""

    counts = (*MemoryLearner.counts, "debt")

    def __init__(self, config: DQN) -> None:
        super().__init__(config, config.memory, config.prioritised)
        self.target = copy.deepcopy(self.network)
        self.teacher = make_teacher(self.game, depth=config.imitation_depth) if config.imitation_bonus else None
        self.exponents = self.on.linspace(1.0, config.epsilon_spread, config.concurrency)  # [N]
        self.debt = 0.0  # samples earned and not yet drawn

    def fresh_network(self) -> Network:
        config, view = self.config, self.view
        return make_network(config.network, view.shape, view.outputs, config.dueling).to(view.device)

    @property
    def identity(self) -> dict[str, str]:
        return identity(self.view, self.config.network, self.config.dueling)

    def advance(self) -> None:
        self.play()
        self.learn()

    # ---- playing ----

    def epsilons(self) -> Any:
        """[N] each game's chance of a random action now."""
        config = self.config
        done = min(1.0, self.progress / config.epsilon_share) if config.epsilon_share else 1.0
        now = config.epsilon + done * (config.epsilon_end - config.epsilon)
        return now**self.exponents

    def play(self) -> None:
        """One ply in every game."""
        config, lap = self.config, self.clock.lap
        games: Any = self.selfplay.batch
        legal = self.view.legal(games.states)
        lap("moves")
        shown = self.view.observe(games.states)
        lap("encoding")
        with torch.inference_mode():
            values = masked(self.network(shown), legal)
            best = self.on.array(values.argmax(1))
        lap("forward")
        greedy = self.view.action_of(games.states, best)
        actions = self._explore(values, greedy)
        theirs = self.selfplay.answer(actions, self.earlier_selves())
        states, bonus = self.on.heads(games.states), self._bonus(games.states, actions)
        lengths = games.plies + 1
        rewards, terminated, truncated = self.selfplay.step(actions)
        lap("moves")
        usable = self.view.output_of(states, actions) < self.view.outputs
        if config.bootstrap == "own":
            usable &= ~theirs
        rewards = rewards + bonus * ~theirs + self._shaping(states, games.after)
        self.memory.add(states, actions, rewards, games.after, terminated, truncated, actions != greedy, usable)
        over = terminated | truncated
        if self.on.any(over):
            self.memory.end_games(terminated & (self.on.field(games.after, "outcome") > 1), lengths)
            self.tally.add(self.memory, terminated, truncated, lengths)
            self.selfplay.check()
            self.selfplay.renew(over)
        self.step += 1
        lap("storing")

    def _explore(self, values: Tensor, greedy: Any) -> Any:
        """[N] the greedy actions, with some chance others; `values` [N, outputs] are masked."""
        if self.config.exploration == "boltzmann":
            noise = self.on.tensor(self.on.gumbel(tuple(values.shape))).to(values)
            drawn = self.on.array((values / self.config.temperature + noise).argmax(1))
            return self.view.action_of(self.selfplay.batch.states, drawn)
        explores = self.on.random(len(greedy)) < self.epsilons()
        return self.on.where(explores, self.selfplay.batch.random_actions(), greedy)

    @property
    def guidance(self) -> float:
        """How much shaping and the imitation bonus still count, 1 to 0."""
        share = self.config.shaping_share
        return max(0.0, 1 - self.progress / share) if share else 0.0

    def _bonus(self, states: Any, actions: Any) -> Any:
        """[N] for actions that the teacher would choose; it sits on the CPU."""
        if self.teacher is None or not self.guidance:
            return 0.0
        seen = self.on.records(states, slice(None))
        agrees = self.teacher.act(seen, np.zeros(len(seen), np.uint64)) == self.on.numpy(actions)
        return self.on.single(self.guidance * self.config.imitation_bonus * self.on.from_numpy(agrees))

    def _shaping(self, states: Any, after: Any) -> Any:
        """[N] what the game's own judgement adds."""
        weight = self.config.shaping * self.guidance
        return self.on.single(weight * differences(self.on, states, after, self.config.discount)) if weight else 0.0

    # ---- learning ----

    def learn(self) -> None:
        """As many updates as the plies of this step have earned."""
        config = self.config
        if len(self.memory) < max(config.warm_up, config.batch):
            return
        self.set_learning_rate()
        self.debt += config.samples_per_ply * config.concurrency / config.batch
        while self.debt >= 1:
            self.debt -= 1
            self._update()

    def _update(self) -> None:
        config, view, lap = self.config, self.view, self.clock.lap
        sample = self.memory.draw(
            *(config.batch, config.n_step, config.bootstrap == "own", config.discount, config.step_limit_penalty),
            shares=(config.share_good, config.share_recent),
            recent=max(1, config.recent // config.concurrency),
            correction=config.priority_correction,
        )
        lap("sampling")
        outputs = self.on.tensor(view.output_of(sample.states, sample.actions))
        returns, factors, weights = map(self.on.tensor, (sample.returns, sample.factors, sample.weights))
        legal_behind = view.legal(sample.behind)
        lap("moves")
        shown, behind = view.observe(sample.states), view.observe(sample.behind)
        lap("encoding")
        with torch.no_grad():
            chooser = self.network(behind) if config.double_dqn else None
            wanted = td_targets(returns, factors, self.target(behind), legal_behind, chooser)
        values = self.network(shown)
        chosen = values.gather(1, outputs[:, None])[:, 0]
        loss = (weights * _losses(config, chosen, wanted)).mean()
        lap("forward")
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        gradient = nn.utils.clip_grad_norm_(self.network.parameters(), config.gradient_clip or math.inf)
        lap("backward")
        self.optimizer.step()
        self.updates += 1
        self._sync_target()
        lap("optimizer")
        errors = (chosen - wanted).detach()
        if config.prioritised:
            self.memory.update(sample.picked, self.on.array(errors), config.priority_exponent)
            lap("sampling")
        if self.updates == 1:
            self._say_that_masks_are_used(legal_behind)
        if self.updates % LOOK_EVERY == 1:
            spread = entropy(values.detach(), view.legal(sample.states)).mean()
            numbers = {"loss": loss, "gradient": gradient, "td_error": errors.abs().mean(), "q": chosen.mean()}
            self.look(read({**numbers, "entropy": spread}))
            lap("looking")

    def _sync_target(self) -> None:
        config = self.config
        if config.target_soft:
            with torch.no_grad():
                for old, new in zip(self.target.parameters(), self.network.parameters(), strict=True):
                    old.lerp_(new, config.target_soft)
        elif self.updates % config.target_update == 0:
            self.target.load_state_dict(self.network.state_dict())
            self.tell(f"target network synchronised at update {self.updates} (every {config.target_update})")

    def _say_that_masks_are_used(self, legal: Tensor) -> None:
        self.tell("next-state masking is active: targets take the best of the legal actions only")
        self.tell(f"legal next actions of the first sample: {int(legal[0].sum())} of {legal.shape[1]}")

    def look(self, numbers: Mapping[str, float]) -> None:
        super().look(numbers)
        if abs(numbers["q"]) > self.config.q_limit:
            raise Broken(f"the mean value is {numbers['q']:.3g} at update {self.updates}")

    # ---- to disk and back ----

    def other_networks(self) -> dict[str, nn.Module]:
        return {"target": self.target, **super().other_networks()}


def _losses(config: DQN, values: Tensor, wanted: Tensor) -> Tensor:
    """[B] how much each error counts."""
    if config.loss == "mse":
        return nn.functional.mse_loss(values, wanted, reduction="none")
    return nn.functional.huber_loss(values, wanted, reduction="none", delta=config.huber_delta)
