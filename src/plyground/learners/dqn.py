"""DQN: a network learns the value of every action by playing, mostly against itself.

All games advance in lockstep. Memory keeps states; what the network sees of them and which actions are legal is
computed when a batch is drawn. Differs from Mnih et al. 2015: two sides play, so what is good for whoever moves next is
bad for me, unless that is me again (`kernels/replay.py`); illegal actions are masked at selection, in targets and at
play; a limit of plies is no end of the game, its last position still has a value.

A run goes in cycles: play and learn until `games_per_cycle` games have ended, look at the experience, evaluate, save.
Metrics: `loss`, `gradient` (the true norm before clipping), `td_error` (mean distance from the target), `q` (mean value
of the actions learned from), `entropy` (of the softmax over legal actions), each as a moving average.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.agents.agent import Agent, make
from plyground.agents.network import NetworkAgent, View, identity, load_run, load_weights
from plyground.batch import Batch
from plyground.errors import Error, InvalidValue, shorten
from plyground.game import load
from plyground.kernels.threads import available
from plyground.learners import evaluation
from plyground.learners.clock import Clock
from plyground.learners.experience import Tally, quality, statistics
from plyground.learners.memory import Memory
from plyground.learners.returns import entropy, masked, td_targets
from plyground.networks import make_network
from plyground.runs.directory import Checkpoint, Run, newest_whole
from plyground.runs.settings import differences

Report = Callable[[Mapping[str, Any]], None]
LOOK_EVERY = 10  # updates between two looks at the numbers
SMOOTH = 0.05  # weight of a new number in a moving average
TRIALS = 20  # updates to time threads with
PATIENCE = 5  # rollbacks before giving up


@dataclass(frozen=True)
class DQN:
    """Learn a game by playing it, with a deep Q-network."""

    game: str = "connect_four"
    """a game's name, with settings as name:key=value, or a path to its .py file"""
    encoder: str = ""
    """what the network sees (default: the game's first encoder)"""
    network: str = "512-256"
    """hidden sizes of an MLP, or a residual net such as b4c64"""
    outputs: int = 0
    """how many actions the network knows, the first ones; others are never played (0: all)"""
    dueling: bool = False
    """split the network's head into a state's value and the actions' advantages"""
    device: str = "cpu"
    """where the network runs: cpu, cuda, or auto (cuda where there is one)"""
    threads: int = 0
    """threads of the network (0: one or one for each core, whichever is faster when the run begins)"""
    seed: int = 0
    """the same seed gives the same run, on the same machine with the same number of threads"""
    init: str = ""
    """a run whose best network to begin with"""
    cycles: int = 10
    """cycles of play, learning and evaluation (0: until `seconds` are over)"""
    seconds: float = 0.0
    """stop after so many seconds of playing and learning (0: never); what a clock decides is not repeatable"""
    games_per_cycle: int = 2000
    """finished games that make a cycle"""
    concurrency: int = 512
    """games played side by side"""
    max_steps: int = 0
    """plies after which a game is stopped, not ended: its last position keeps its value (0: never)"""
    step_limit_penalty: float = 0.0
    """what the last ply of a stopped game costs"""
    opening_plies: int = 0
    """games begin after a random number of random plies, up to this many"""
    opponents: tuple[str, ...] = ("1 self",)
    """weight and name of each opponent: self, snapshot (an earlier self), or any agent's word"""
    snapshots: int = 3
    """how many earlier selves are kept as opponents"""
    snapshot_interval: int = 5
    """cycles between two of them"""
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
    batch: int = 256
    """plies in one update"""
    samples_per_ply: float = 2.0
    """plies learned from for each ply played"""
    learning_rate: float = 2e-3
    """of Adam"""
    learning_rate_end: float = 0.05
    """share of it that is left at the end; it falls over the second half of the run"""
    discount: float = 0.99
    """for each time the turn passes"""
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
    gradient_clip: float = 10.0
    """longest gradient"""
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
    """weight of the game's own judgement as a potential, which falls to nothing over the run"""
    gradient_limit: float = 1000.0
    """a longer gradient rolls back"""
    q_limit: float = 10.0
    """so does a mean value beyond it"""
    entropy_floor: float = 0.01
    """and an entropy below it, in nats"""
    yardsticks: tuple[str, ...] = ("random", "greedy")
    """agents to be measured against"""
    evaluation_games: int = 200
    """games against each, and against the best so far"""
    checkpoint_interval: int = 1
    """cycles between evaluations and checkpoints"""
    keep_last: int = 2
    """newest checkpoints kept, beside the best"""
    keep_every: int = 0
    """and every so many-th (0: none)"""

    def __post_init__(self) -> None:
        at_least = {"games_per_cycle": 1, "concurrency": 1, "batch": 1, "n_step": 1, "target_update": 1, "keep_last": 1}
        at_least |= {"checkpoint_interval": 1, "snapshot_interval": 1, "evaluation_games": 2, "recent": 1}
        for name, value in asdict(self).items():
            number = isinstance(value, int | float)
            if number and not at_least.get(name, 0) <= value < math.inf and name != "seed":
                raise InvalidValue(f"{name} is a number of at least {at_least.get(name, 0)}, not {value}")
        for name in (
            "epsilon",
            "epsilon_end",
            "epsilon_share",
            "discount",
            "target_soft",
            "share_good",
            "share_recent",
        ):
            if getattr(self, name) > 1:
                raise InvalidValue(f"{name} is at most 1, not {getattr(self, name)}")
        if self.share_good + self.share_recent > 1:
            raise InvalidValue("share_good and share_recent are at most 1 together")
        if not self.cycles and not self.seconds:
            raise InvalidValue("a run needs an end: cycles or seconds above 0")
        if self.evaluation_games % 2:
            raise InvalidValue(f"evaluation_games is even, not {self.evaluation_games}: matches are played in pairs")
        opponents_of(self.opponents)


def opponents_of(mix: tuple[str, ...]) -> dict[str, float]:
    """{word: share} of the opponents."""
    found: dict[str, float] = {}
    for item in mix:
        weight, _, word = item.partition(" ")
        try:
            found[word] = float(weight)
        except ValueError:
            word = ""
        if not word or not 0 < found[word] < math.inf:
            raise InvalidValue(f"an opponent is a weight and a word, such as '0.2 greedy', not {shorten(item)!r}")
    if not found:
        raise InvalidValue("there is no opponent; '1 self' is the usual one")
    return {word: weight / sum(found.values()) for word, weight in found.items()}


def resolved(config: DQN) -> DQN:
    """The settings with the defaults that depend on game and machine filled in: what a run's config.toml says."""
    game = load(config.game)
    view = View(game, config.encoder, config.outputs)
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device not in ("cpu", "cuda") or (device == "cuda" and not torch.cuda.is_available()):
        raise InvalidValue(f"no device {shorten(device)!r} here; use cpu or auto")
    return replace(
        config,
        device=device,
        game=str(game),
        encoder=str(view.encoder),
        outputs=view.outputs,
        threads=config.threads
        or faster_threads(make_network(config.network, view.shape, view.outputs), view, config.batch),
    )


def faster_threads(network: nn.Module, view: View, batch: int) -> int:
    """One thread, or one for each core: on a busy machine, threads that wait for each other can be far slower."""
    shown = torch.zeros((batch, *view.shape))
    seconds: dict[int, float] = {}
    for threads in {1, available()}:
        prepare_torch(threads)
        begun = time.perf_counter()
        for _ in range(TRIALS):
            network(shown).sum().backward()
        seconds[threads] = time.perf_counter() - begun
    return min(seconds, key=lambda threads: seconds[threads])


def prepare_torch(threads: int) -> None:
    """What exact repetition and speed need; before torch starts its threads."""
    torch.set_flush_denormal(True)  # denormals slow Adam threefold
    torch.set_num_threads(threads)


class Broken(Error):
    """Learning went wrong: a number that is not finite or out of bounds."""


class Learner:
    """All that a run is at a moment: networks, optimizer, memory, games, chance and counts."""

    def __init__(self, config: DQN) -> None:
        prepare_torch(config.threads or available())
        torch.manual_seed(config.seed)
        self.config, self.game = config, load(config.game)
        self.view = View(self.game, config.encoder, config.outputs, config.device)
        self.network = self._fresh_network()
        if config.init:
            self.network.load_state_dict(load_run(config.init, self.game).network.state_dict())
        self.target, self.best = copy.deepcopy(self.network), copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(self.network.parameters(), config.learning_rate, fused=True)
        self.memory = Memory(self.game, config.memory, config.concurrency, config.seed, config.prioritised)
        self.games = Batch(self.game, config.concurrency, config.seed, max_plies=config.max_steps or None)
        self.rng = np.random.default_rng(config.seed)
        mix = opponents_of(config.opponents)
        self.words, self.chances = list(mix), list(mix.values())
        self.agents: dict[str, Agent] = {
            word: make(word, self.game) for word in self.words if word not in ("self", "snapshot")
        }
        self.snapshots: list[nn.Module] = []
        self.opponent = np.zeros(config.concurrency, np.int64)  # [N] place in `words`
        self.earlier = np.zeros(config.concurrency, np.int64)  # [N] which snapshot, where that is the opponent
        self.side = np.zeros(config.concurrency, np.int8)  # [N] the learner's side
        self.step = self.cycle = self.updates = self.rollbacks = self.cycle_began = 0
        self.debt = self.seconds = 0.0
        self.tally, self.averages = Tally(), dict[str, float]()
        self.best_record: dict[str, Any] = {}
        self.clock, self.events = Clock(), list[dict[str, Any]]()
        self._begin(np.arange(config.concurrency))

    def _fresh_network(self) -> nn.Module:
        config, view = self.config, self.view
        return make_network(config.network, view.shape, view.outputs, config.dueling).to(config.device)

    @property
    def identity(self) -> dict[str, str]:
        return identity(self.view, self.config.network, self.config.dueling)

    @property
    def progress(self) -> float:
        """How much of the run is done, 0 to 1."""
        config = self.config
        cycles = (
            (self.cycle + min(1.0, self.tally.games / config.games_per_cycle)) / config.cycles if config.cycles else 0
        )
        return min(1.0, max(cycles, self.seconds / config.seconds if config.seconds else 0.0))

    @property
    def finished(self) -> bool:
        config = self.config
        return 0 < config.cycles <= self.cycle or 0 < config.seconds <= self.seconds

    # ---- playing ----

    def _begin(self, rows: NDArray[np.int64]) -> None:
        """New games: after a random opening, against an opponent drawn from the mix, the learner on either side."""
        config, game, games = self.config, self.game, self.games
        if config.opening_plies:
            plies = self.rng.integers(0, config.opening_plies + 1, len(rows))
            kernels = game.kernels("openings")
            kernels.open_games(games.states, rows, plies, game.blank, games.rngs, game.work(), game.scratch())
        if self.words != ["self"]:
            self.opponent[rows] = self.rng.choice(len(self.words), len(rows), p=self.chances)
            self.earlier[rows] = self.rng.integers(0, max(1, config.snapshots), len(rows))
            self.side[rows] = self.rng.integers(0, 2, len(rows))

    def epsilons(self) -> NDArray[np.float64]:
        """[N] each game's chance of a random action now."""
        config = self.config
        done = min(1.0, self.progress / config.epsilon_share) if config.epsilon_share else 1.0
        now = config.epsilon + done * (config.epsilon_end - config.epsilon)
        return now ** np.linspace(1.0, config.epsilon_spread, config.concurrency)

    def play(self) -> None:
        """One ply in every game."""
        config, games, lap = self.config, self.games, self.clock.lap
        legal = self.view.legal(games.states)
        lap("moves")
        shown = self.view.observe(games.states)
        lap("encoding")
        with torch.inference_mode():
            values = masked(self.network(shown), legal)
            best = values.argmax(1).cpu().numpy()
        lap("forward")
        greedy = self.view.action_of(games.states, best)
        actions = self._explore(values, greedy)
        theirs = self._answer(actions)
        states = self.game.heads(games.states)
        lengths = games.plies + 1
        rewards, terminated, truncated = games.step(actions)
        lap("moves")
        usable = self.view.output_of(states, actions) < self.view.outputs
        if config.bootstrap == "own":
            usable &= ~theirs
        rewards = rewards + self._shaping(states, games.after)
        self.memory.add(states, actions, rewards, games.after, terminated, truncated, actions != greedy, usable)
        over = terminated | truncated
        if over.any():
            decided = np.flatnonzero(terminated & (games.after["outcome"] > 1))
            self.memory.mark_good(decided, lengths[decided])
            self.tally.add(self.memory, terminated, truncated, lengths)
            self._begin(np.flatnonzero(over))
        self.step += 1
        lap("storing")

    def _explore(self, values: Tensor, greedy: NDArray[np.int32]) -> NDArray[np.int32]:
        """[N] the greedy actions, with some chance others; `values` [N, outputs] are masked."""
        if self.config.exploration == "boltzmann":
            noise = torch.from_numpy(self.rng.gumbel(size=tuple(values.shape))).to(values)
            drawn = (values / self.config.temperature + noise).argmax(1).cpu().numpy()
            return self.view.action_of(self.games.states, drawn)
        explores = self.rng.random(len(greedy)) < self.epsilons()
        return np.where(explores, self.games.random_actions(), greedy)

    def _answer(self, actions: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Let the opponents act where it is their turn: fills in their actions, says where [N]."""
        games = self.games
        theirs = (self.side != games.to_move) & np.array([word != "self" for word in self.words])[self.opponent]
        for place, word in enumerate(self.words if theirs.any() else ()):
            turn = theirs & (self.opponent == place)
            if word == "snapshot":
                which = self.earlier % max(1, len(self.snapshots))
                for number, network in enumerate(self.snapshots):
                    self._ask(NetworkAgent(self.view, network), turn & (which == number), actions)
            elif word != "self":
                self._ask(self.agents[word], turn, actions)
        return theirs

    def _ask(self, agent: Agent, turn: NDArray[np.bool_], actions: NDArray[np.int32]) -> None:
        rows = np.flatnonzero(turn)
        if len(rows):
            rngs = self.games.rngs[rows]
            actions[rows] = agent.act(self.games.states[rows], rngs)
            self.games.rngs[rows] = rngs

    def _shaping(self, states: NDArray[np.void], after: NDArray[np.void]) -> NDArray[np.float32] | float:
        """[N] what the game's own judgement adds to the acting side's reward: a difference of potentials."""
        weight = self.config.shaping * (1 - self.progress)
        if not weight:
            return 0.0
        if "evaluate" not in self.game.rules.compiled:
            raise InvalidValue(f"shaping needs a game that defines `evaluate`; {self.game} does not")
        before, behind = np.empty(len(states), np.float32), np.empty(len(states), np.float32)
        self.game.kernels("evaluate").evaluate_all(states, before)
        self.game.kernels("evaluate").evaluate_all(after, behind)
        factor = np.where(states["to_move"] == after["to_move"], 1.0, -self.config.discount)
        return (weight * (np.where(after["outcome"] == 0, factor * behind, 0.0) - before)).astype(np.float32)

    # ---- learning ----

    def learn(self) -> None:
        """As many updates as the plies of this step have earned."""
        config = self.config
        if len(self.memory) < max(config.warm_up, config.batch):
            return
        done = self.progress
        fall = 1.0 if done < 0.5 else 1.0 - (1.0 - config.learning_rate_end) * (done - 0.5) / 0.5
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * fall * 0.5**self.rollbacks
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
        outputs = torch.from_numpy(view.output_of(sample.states, sample.actions)).to(config.device)
        returns, factors, weights = (
            torch.from_numpy(each).to(config.device) for each in (sample.returns, sample.factors, sample.weights)
        )
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
            self.memory.update(sample.picked, errors.cpu().numpy(), config.priority_exponent)
            lap("sampling")
        if self.updates == 1:
            self._say_that_masks_are_used(legal_behind)
        if self.updates % LOOK_EVERY == 1:
            spread = entropy(values.detach(), view.legal(sample.states)).mean()
            numbers = {"loss": loss, "gradient": gradient, "td_error": errors.abs().mean(), "q": chosen.mean()}
            self._look({name: value.item() for name, value in {**numbers, "entropy": spread}.items()})
            lap("looking")

    def _sync_target(self) -> None:
        config = self.config
        if config.target_soft:
            with torch.no_grad():
                for old, new in zip(self.target.parameters(), self.network.parameters(), strict=True):
                    old.lerp_(new, config.target_soft)
        elif self.updates % config.target_update == 0:
            self.target.load_state_dict(self.network.state_dict())
            self._event(f"target network synchronised at update {self.updates} (every {config.target_update})")

    def _say_that_masks_are_used(self, legal: Tensor) -> None:
        self._event("next-state masking is active: targets take the best of the legal actions only")
        self._event(f"legal next actions of the first sample: {int(legal[0].sum())} of {legal.shape[1]}")

    def _event(self, text: str) -> None:
        self.events.append({"event": "note", "step": self.step, "updates": self.updates, "text": text})

    def _look(self, numbers: Mapping[str, float]) -> None:
        """Moving averages of an update's numbers; numbers that cannot be right are an error."""
        config = self.config
        for name, now in numbers.items():
            if not math.isfinite(now):
                raise Broken(f"{name} is {now} at update {self.updates}")
            self.averages[name] = now + (1 - SMOOTH) * (self.averages.get(name, now) - now)
        if numbers["gradient"] > config.gradient_limit:
            raise Broken(f"the gradient is {numbers['gradient']:.3g} long at update {self.updates}")
        if abs(numbers["q"]) > config.q_limit:
            raise Broken(f"the mean value is {numbers['q']:.3g} at update {self.updates}")
        if self.averages["entropy"] < config.entropy_floor:
            raise Broken(f"the entropy has fallen to {self.averages['entropy']:.3g} at update {self.updates}")

    # ---- a cycle's end ----

    def end_cycle(self) -> dict[str, Any]:
        """What the cycle was like."""
        self.cycle += 1
        found = statistics(self.memory, self.memory.time - self.cycle_began)
        ended = self.tally.record()
        decided = ended["first_wins"] + ended["second_wins"]
        record = {
            **self._place(),
            "event": "cycle",
            "updates": self.updates,
            "plies": self.step * self.config.concurrency,
            "illegal_moves": 0,  # a step with one raises and stops the run
            **ended,
            **found,
            "quality": quality(found, decided),
            **self.averages,
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "memory": len(self.memory),
            "seconds": {"total": self.seconds, **self.clock.seconds},
        }
        self.tally, self.cycle_began = Tally(), self.memory.time
        if self.cycle % self.config.snapshot_interval == 0 and "snapshot" in self.words:
            self.snapshots = [*self.snapshots, copy.deepcopy(self.network)][-self.config.snapshots :]
        return record

    def _place(self) -> dict[str, Any]:
        return {"step": self.step, "cycle": self.cycle, "cycles": self.config.cycles}

    def evaluate(self) -> dict[str, Any]:
        """Scores against the yardsticks, and a match against the best so far, which may give way."""
        config, agent = self.config, NetworkAgent(self.view, self.network)
        limit, games = config.max_steps or None, config.evaluation_games
        record = {
            **self._place(),
            "event": "evaluation",
            "yardsticks": evaluation.yardsticks(self.game, agent, config.yardsticks, games, limit),
        }
        match = evaluation.score(self.game, agent, NetworkAgent(self.view, self.best), games, limit, self.step)
        record["against_best"] = evaluation.summary(match)
        if match.score >= 0.5:
            before = self.best_record.get("step")
            self.best.load_state_dict(self.network.state_dict())
            self.best_record = {"step": self.step, "previous": before, "match": record["against_best"]}
            self.best_record["yardsticks"] = record["yardsticks"]
        return {**record, "best": self.best_record.get("step")}

    # ---- to disk and back ----

    def save(self, run: Run) -> Checkpoint:
        """A checkpoint of everything, and what is best as a file for people."""
        if not self.best_record:
            self.best_record = {"step": self.step, "previous": None, "match": None}
        slots = self.optimizer.state_dict()["state"]
        training = {f"optimizer.{k}.{name}": value for k, slot in slots.items() for name, value in slot.items()}
        parts = {"target": self.target, "best": self.best, **{f"snapshot{k}": s for k, s in enumerate(self.snapshots)}}
        for name, network in parts.items():
            training |= {f"{name}.{key}": value for key, value in network.state_dict().items()}
        games = {"states": self.games.states.view(np.uint8), "rngs": self.games.rngs, "plies": self.games.plies}
        games |= {"opponent": self.opponent, "earlier": self.earlier, "side": self.side}
        groups = {
            "network": {name: value.cpu().numpy() for name, value in self.network.state_dict().items()},
            "training": {name: value.cpu().numpy() for name, value in training.items()},
            "memory": {**self.memory.arrays(), **{f"games.{name}": values for name, values in games.items()}},
        }
        checkpoint = run.save(self.step, self.identity, groups, self._numbers())
        self._tell_best(run)
        run.prune(self.config.keep_last, self.config.keep_every, self.best_record["step"])
        return checkpoint

    def _tell_best(self, run: Run) -> None:
        run.write("best.json", json.dumps(self.best_record, indent=1) + "\n")

    def _numbers(self) -> dict[str, Any]:
        return {
            "config": asdict(self.config),
            "counts": {name: getattr(self, name) for name in COUNTS},
            "rng": self.rng.bit_generator.state,
            "tally": {"counts": dict(self.tally.counts), "reasons": dict(self.tally.reasons)},
            "averages": self.averages,
            "best": self.best_record,
            "snapshots": len(self.snapshots),
            "clock": self.clock.seconds,
        }

    def restore(self, checkpoint: Checkpoint) -> None:
        """Become what was saved; everything is checked before anything is used."""
        checkpoint.check(self.identity)
        state, training, memory = checkpoint.state(), checkpoint.tensors("training"), checkpoint.tensors("memory")
        edited = differences(state["config"], json.loads(json.dumps(asdict(self.config))))  # tuples become lists
        if edited:
            raise InvalidValue(f"config.toml is not what {checkpoint.path} was made with: {'; '.join(edited)}")
        load_weights(self.network, checkpoint)
        self.snapshots = [self._fresh_network() for _ in range(state["snapshots"])]
        parts = {"target": self.target, "best": self.best, **{f"snapshot{k}": s for k, s in enumerate(self.snapshots)}}
        for name, network in parts.items():
            network.load_state_dict(_part(training, name))
        self._restore_optimizer(_part(training, "optimizer"))
        self.memory.restore(memory)
        games = {name.removeprefix("games."): values for name, values in memory.items() if name.startswith("games.")}
        self.games.states[:] = games["states"].view(self.game.rules.STATE)
        self.games.rngs[:], self.games.plies[:] = games["rngs"], games["plies"]
        self.opponent[:], self.earlier[:], self.side[:] = games["opponent"], games["earlier"], games["side"]
        for name in COUNTS:
            setattr(self, name, state["counts"][name])
        self.rng.bit_generator.state = state["rng"]
        self.tally = Tally(**state["tally"])
        self.averages, self.best_record = state["averages"], state["best"]
        self.clock.seconds = state["clock"]

    def _restore_optimizer(self, found: dict[str, Tensor]) -> None:
        current = self.optimizer.state_dict()
        slots: dict[int, dict[str, Tensor]] = {}
        for key, value in found.items():
            place, _, name = key.partition(".")
            slots.setdefault(int(place), {})[name] = value.reshape(()) if name == "step" else value
        self.optimizer.load_state_dict({**current, "state": slots})

    def roll_back(self, run: Run, why: Broken) -> None:
        """Return to the last checkpoint and go on more carefully: half the learning rate, other chance."""
        rollbacks = self.rollbacks + 1
        if rollbacks > PATIENCE:
            raise Error(f"{why}, after {PATIENCE} rollbacks: try a smaller learning_rate or gradient_clip") from why
        self.restore(newest_whole(run.path))
        self.rollbacks = rollbacks
        self.rng = np.random.default_rng([self.config.seed, rollbacks])
        self._event(f"{why}: rolled back to step {self.step}, learning rate halved ({rollbacks} of {PATIENCE})")


COUNTS = ("step", "cycle", "updates", "rollbacks", "cycle_began", "debt", "seconds")


def _losses(config: DQN, values: Tensor, wanted: Tensor) -> Tensor:
    """[B] how much each error counts."""
    if config.loss == "mse":
        return nn.functional.mse_loss(values, wanted, reduction="none")
    return nn.functional.huber_loss(values, wanted, reduction="none", delta=config.huber_delta)


def _part(tensors: Mapping[str, NDArray[Any]], name: str) -> dict[str, Tensor]:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): torch.from_numpy(values.copy())
        for key, values in tensors.items()
        if key.startswith(prefix)
    }


def train(learner: Learner, run: Run, report: Report, stop: Callable[[], bool] = lambda: False) -> bool:
    """Play and learn to the end, or until `stop`; either way everything is saved. Says whether it finished."""
    if learner.step == 0:
        learner.save(run)  # before the first update
    told = time.perf_counter()
    while not learner.finished and not stop():
        begun = time.perf_counter()
        learner.clock.start()
        try:
            learner.play()
            learner.learn()
        except Broken as error:
            learner.roll_back(run, error)
        learner.seconds += time.perf_counter() - begun
        _flush(learner, run, report)
        if learner.tally.games >= learner.config.games_per_cycle or learner.finished:
            _close_cycle(learner, run, report)
        if time.perf_counter() - told > 0.25:
            told = time.perf_counter()
            report({"event": "tick", "learner": learner})
    learner.save(run)
    return learner.finished


def _flush(learner: Learner, run: Run, report: Report) -> None:
    for event in learner.events:
        run.log(event)
        report(event)
    learner.events.clear()


def _close_cycle(learner: Learner, run: Run, report: Report) -> None:
    """The cycle's record, and where it is due an evaluation and a checkpoint."""
    records = [learner.end_cycle()]
    if learner.cycle % learner.config.checkpoint_interval == 0 or learner.finished:
        records.append(learner.evaluate())
        _write_games(learner, run)
    for record in records:
        run.log(record)
        report(record)
    if len(records) > 1:
        learner.save(run)


def _write_games(learner: Learner, run: Run) -> None:
    config, agent = learner.config, NetworkAgent(learner.view, learner.network)
    limit, word = config.max_steps or None, config.yardsticks[-1] if config.yardsticks else "random"
    opponent = make(word, learner.game)
    text = evaluation.notation(learner.game, agent, opponent, word, 2, learner.step, limit)
    text += evaluation.notation(learner.game, agent, agent, "the learner", 1, learner.step, limit)
    run.write(f"games/{learner.step}.txt", text)
