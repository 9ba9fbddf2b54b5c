"""What every run is, whatever it learns with: settings, counts, cycles, evaluation, and the way to disk and back.

A learner fills in how it advances, who plays with what it knows, and which arrays and numbers it consists of. The loop
that drives it is in `loop.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, make, usual
from plyground.arena import puzzles
from plyground.errors import Error, InvalidValue
from plyground.game import load
from plyground.learners import evaluation
from plyground.learners.clock import Clock
from plyground.learners.experience import Tally
from plyground.runs.directory import Checkpoint, Run, newest_whole
from plyground.runs.settings import differences

SMOOTH = 0.05  # weight of a new number in a moving average
PATIENCE = 5  # rollbacks before giving up
COUNTS = ("step", "cycle", "updates", "rollbacks", "illegal_moves", "seconds")
LIMITS = ("cycles", "seconds")  # a run may be given a later end

Groups = dict[str, dict[str, NDArray[Any]]]


@dataclass(frozen=True)
class Settings:
    """What every run has."""

    game: str = "connect_four"
    """a game's name, with settings as name:key=value, or a path to its .py file"""
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
    max_steps: int = 0
    """plies after which a game is stopped, not ended: its last position keeps its value (0: never)"""
    yardsticks: tuple[str, ...] = ()
    """agents to be measured against; unless some are named, random, and greedy where the game has it"""
    evaluation_games: int = 200
    """games against each, and against the best so far"""
    checkpoint_interval: int = 1
    """cycles between evaluations and checkpoints"""
    keep_last: int = 2
    """newest checkpoints kept, beside the best"""
    keep_every: int = 0
    """and every so many-th (0: none)"""

    AT_LEAST: ClassVar[dict[str, float]] = {
        "games_per_cycle": 1,
        "keep_last": 1,
        "checkpoint_interval": 1,
        "evaluation_games": 2,
    }
    AT_MOST_ONE: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = self.AT_LEAST.get(name, 0)
            if isinstance(value, int | float) and not least <= value < math.inf:
                raise InvalidValue(f"{name} is a number of at least {least}, not {value}")
        if self.seed >= 2**63:
            raise InvalidValue(f"seed is below 2**63, not {self.seed}")
        for name in self.AT_MOST_ONE:
            if getattr(self, name) > 1:
                raise InvalidValue(f"{name} is at most 1, not {getattr(self, name)}")
        if not self.cycles and not self.seconds:
            raise InvalidValue("a run needs an end: cycles or seconds above 0")
        if self.evaluation_games % 2:
            raise InvalidValue(f"evaluation_games is even, not {self.evaluation_games}: matches are played in pairs")

    def resolved(self) -> Self:
        """With the defaults that depend on game and machine filled in: what a run's config.toml says."""
        game = load(self.game)
        for word in self.yardsticks:
            make(word, game)  # a wrong word is better said now than after a cycle
        return replace(self, game=game.full, yardsticks=self.yardsticks or usual(game))


S = TypeVar("S", bound=Settings)


class Broken(Error):
    """Learning went wrong: a number that is not finite or out of bounds."""


class Learner(Generic[S]):
    """All that a run is at a moment."""

    counts: tuple[str, ...] = COUNTS  # attributes that are plain numbers, saved and restored

    def __init__(self, config: S) -> None:
        self.config, self.game = config, load(config.game)
        self.rng = np.random.default_rng(config.seed)
        self.step = self.cycle = self.updates = self.rollbacks = self.illegal_moves = 0
        self.seconds = 0.0
        self.tally, self.averages = Tally(), dict[str, float]()
        self.best_record: dict[str, Any] = {}
        self.clock, self.events = Clock(), list[dict[str, Any]]()

    # ---- for each learner to say ----

    @property
    def identity(self) -> dict[str, str]:
        """What its checkpoints belong to."""
        raise NotImplementedError

    @property
    def plies(self) -> int:
        """Plies played so far."""
        raise NotImplementedError

    def advance(self) -> None:
        """One step of playing and learning; `Broken` where its numbers cannot be right."""
        raise NotImplementedError

    def agent(self) -> Agent:
        """Who plays with what it knows now."""
        raise NotImplementedError

    def best_agent(self) -> Agent:
        """Who plays with the best it knew."""
        raise NotImplementedError

    def keep_best(self) -> None:
        """What it knows now is the best."""
        raise NotImplementedError

    def cycle_numbers(self) -> dict[str, Any]:
        """What it adds to the record of a cycle that has just ended."""
        return {}

    def experience(self) -> dict[str, Any]:
        """What it has stored, for people."""
        return {}

    def memory_words(self) -> str:
        """What it remembers, for the display."""
        return ""

    def adapt(self) -> None:
        """Look how busy the machine is; asked now and then."""

    def groups(self) -> Groups:
        """All its arrays."""
        raise NotImplementedError

    def numbers(self) -> dict[str, Any]:
        """All the rest, for JSON."""
        return {
            "config": asdict(self.config),
            "counts": {name: getattr(self, name) for name in self.counts},
            "rng": self.rng.bit_generator.state,
            "tally": {"counts": dict(self.tally.counts), "reasons": dict(self.tally.reasons)},
            "averages": self.averages,
            "best": self.best_record,
            "clock": self.clock.seconds,
        }

    def take(self, checkpoint: Checkpoint, state: Mapping[str, Any]) -> None:
        """Become what `groups` and `numbers` gave."""
        for name in self.counts:
            setattr(self, name, state["counts"][name])
        self.rng.bit_generator.state = state["rng"]
        self.tally = Tally(**state["tally"])
        self.averages, self.best_record = state["averages"], state["best"]
        self.clock.seconds = state["clock"]

    # ---- how far it is ----

    @property
    def progress(self) -> float:
        """How much of the run is done, 0 to 1."""
        config = self.config
        in_cycle = min(1.0, self.tally.games / config.games_per_cycle)
        cycles = (self.cycle + in_cycle) / config.cycles if config.cycles else 0.0
        return min(1.0, max(cycles, self.seconds / config.seconds if config.seconds else 0.0))

    @property
    def finished(self) -> bool:
        config = self.config
        return 0 < config.cycles <= self.cycle or 0 < config.seconds <= self.seconds

    @property
    def cycle_is_full(self) -> bool:
        return self.tally.games >= self.config.games_per_cycle or self.finished

    def place(self) -> dict[str, Any]:
        return {"step": self.step, "cycle": self.cycle, "cycles": self.config.cycles}

    def tell(self, text: str) -> None:
        """An event, printed and kept."""
        self.events.append({"event": "note", "step": self.step, "updates": self.updates, "text": text})

    def look(self, numbers: Mapping[str, float]) -> None:
        """Moving averages of an update's numbers; numbers that are not finite are an error."""
        for name, now in numbers.items():
            if not math.isfinite(now):
                raise Broken(f"{name} is {now} at update {self.updates}")
            self.averages[name] = now + (1 - SMOOTH) * (self.averages.get(name, now) - now)

    # ---- a cycle's end ----

    def end_cycle(self) -> dict[str, Any]:
        """What the cycle was like."""
        self.cycle += 1
        record = {
            **self.place(),
            "event": "cycle",
            "updates": self.updates,
            "plies": self.plies,
            "illegal_moves": self.illegal_moves,
            **self.tally.record(),
            **self.cycle_numbers(),
            **self.averages,
            "seconds": {"total": self.seconds, **self.clock.seconds},
        }
        self.tally = Tally()
        return record

    def evaluate(self) -> dict[str, Any]:
        """Scores against the yardsticks, and a match against the best so far, which may give way."""
        config, agent = self.config, self.agent()
        limit, games = config.max_steps or None, config.evaluation_games
        scores = evaluation.yardsticks(self.game, agent, config.yardsticks, games, limit)
        match = evaluation.score(self.game, agent, self.best_agent(), games, limit, self.step)
        against_best = evaluation.summary(match)
        if match.score >= 0.5:
            self.keep_best()
            self.best_record = {
                "step": self.step,
                "previous": self.best_record.get("step"),
                "match": against_best,
                "yardsticks": scores,
            }
        record = {**self.place(), "event": "evaluation", "yardsticks": scores, "against_best": against_best}
        record["puzzles"] = puzzles.solved(self.game, agent)
        return {**record, "best": self.best_record.get("step")}

    # ---- to disk and back ----

    def save(self, run: Run) -> Checkpoint:
        """A checkpoint of everything, and what is best as a file for people."""
        if not self.best_record:
            self.best_record = {"step": self.step, "previous": None, "match": None}
        checkpoint = run.save(self.step, self.identity, self.groups(), self.numbers())
        run.write("best.json", json.dumps(self.best_record, indent=1) + "\n")
        run.prune(self.config.keep_last, self.config.keep_every, self.best_record["step"])
        return checkpoint

    def restore(self, checkpoint: Checkpoint) -> None:
        """Become what was saved; everything is checked before anything is used."""
        checkpoint.check(self.identity)
        state = checkpoint.state()
        if "config" not in state:
            raise InvalidValue(f"{checkpoint.path} holds no more than its network: it can play, not be resumed")
        now = {**json.loads(json.dumps(asdict(self.config))), "game": state["config"]["game"]}  # that was compared
        edited = differences(state["config"], now | {name: state["config"][name] for name in LIMITS})
        if edited:
            raise InvalidValue(f"config.toml is not what {checkpoint.path} was made with: {'; '.join(edited)}")
        self.take(checkpoint, state)
        for change in differences(state["config"], now):
            self.tell(f"another end: {change}")

    def roll_back(self, run: Run, why: Broken) -> None:
        """Return to the last checkpoint and go on more carefully: half the learning rate, other chance."""
        rollbacks = self.rollbacks + 1
        if rollbacks > PATIENCE:
            raise Error(f"{why}, after {PATIENCE} rollbacks: try a smaller learning_rate or gradient_clip") from why
        self.restore(newest_whole(run.path))
        self.rollbacks = rollbacks
        self.rng.bit_generator.state = np.random.default_rng([self.config.seed, rollbacks]).bit_generator.state
        self.tell(f"{why}: rolled back to step {self.step}, learning rate halved ({rollbacks} of {PATIENCE})")
