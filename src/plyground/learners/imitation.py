"""Imitation: a network learns to choose as its teacher does, from a dataset.

The loss is the cross-entropy to the teacher's policy over the legal actions only, with label smoothing, plus
`value_coef` times the squared error of the best action's value. A network that only ranks actions is of no use to
Q-learning, whose outputs are values: so the logits are outputs / UNIT, the teacher's own scale, and the saved network's
head is multiplied by UNIT (a power of two: no bit is lost). Its outputs are action values in [-1, 1], its best action
is the same, and `train dqn --init RUN` continues from there.

A cycle is an epoch. The best checkpoint is the one with the lowest Kullback-Leibler divergence from the teacher on
held-out games; after `patience` epochs without a lower one the run ends.

Metrics: `train_loss`; on held-out positions `loss`, `match@k` (the teacher's best action is among the network's k
best), `kl`, `value_error`, `entropy` and `even_entropy` (of a uniform choice); `match@1`, `match@3` and `kl` also for
games between equals and for weak games alone (`equal_kl`, `weak_kl` ...).
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from plyground.agents.teacher import UNIT
from plyground.backend.parts import set_learning_rate
from plyground.errors import InvalidValue
from plyground.kernels.threads import available
from plyground.learners.config import Imitation
from plyground.learners.evaluation import Event
from plyground.learners.imitation_batches import (
    Examples,
    Lesson,
    Records,
    Rows,
    action_values,
    all_measures,
    held_out_of,
    in_weak_games,
    keep_held_out,
    learned,
    policy_loss,
    read_examples,
    said,
    sharpened,
    split,
)
from plyground.learners.network import LearningNetwork
from plyground.learners.state import Metrics, TrainingState
from plyground.networks import Valued, scale_outputs, training_mode
from plyground.runs.directory import EXAMPLES, read_config, steps_of
from plyground.teaching.dataset import rejected_lines
from plyground.teaching.lines import Lines

FINAL_RATE = 0.05  # share of the learning rate that is left at the end
UPDATES_PER_ITERATION = 20
BY_KIND = ("match@1", "match@3", "kl")  # reported for games between equals and for weak games apart


class ImitationLearner:
    """A network and the examples that it learns from."""

    limits = ("epochs",)

    def __init__(self, config: Imitation, folder: Path | None = None, processes: int | None = None) -> None:
        """`folder` is the run's directory, into which examples are written that are not one packed file."""
        self.config, self.state, self.folder = config, TrainingState(), folder or Path()
        self.model = LearningNetwork(config, config.dueling, weight_decay=config.weight_decay)
        self.network, self.view, self.game = self.model.network, self.model.view, self.model.view.game
        self.unit = 1.0 if isinstance(self.network.head, Valued) else UNIT  # saved outputs for a logit of 1
        if config.init:
            self._check_validation_split()
            scale_outputs(self.network, 1 / self.unit)
        self.lines = Lines(self.game)
        self.records, self.rows, self.held_out = self._read(processes or available())
        self.rejected = sum(rejected_lines(Path(path)) for path in (*config.data, *config.validation_data))
        self.weak = in_weak_games(self.records[self.held_out])  # [H]
        if not steps_of(self.folder):  # a resumed run keeps its own
            keep_held_out(self.folder, self.records[self.held_out], self.lines)
        self.data = self._fingerprint()
        self.examples = Examples(self.view, self.records)
        self.epoch, self.minibatches = Epoch(), iter(())
        self.cycle = EpochCycle(self)

    def _read(self, processes: int) -> tuple[Records, Rows, Rows]:
        """All examples, the rows to learn from and the rows held out."""
        config, lines, target = self.config, self.lines, self.folder / EXAMPLES
        paths, others = ([Path(path) for path in each] for each in (config.data, config.validation_data))
        records, first = read_examples(paths, others, lines, target, config.bad_lines, processes)
        return records, *(
            held_out_of(records, first) if others else split(records, config.validation_split, config.held_out)
        )

    def _check_validation_split(self) -> None:
        """A network that goes on from another imitation must not be measured on what that one has learned from."""
        config = read_config(Path(self.config.init))
        before, by = config.get("validation_split", 1.0), config.get("held_out", "games")
        if config.get("learner") == "imitation" and by != self.config.held_out:
            raise InvalidValue(f"{self.config.init} has held out {by}: held_out is {by}, not {self.config.held_out}")
        if before < self.config.validation_split:
            why = f"{self.config.init} has held out {before:.0%} of the games and has learned from all others"
            raise InvalidValue(f"{why}: validation_split is at most {before}, not {self.config.validation_split}")

    def _fingerprint(self) -> str:
        """Changes with the examples, their order and the split."""
        found = hashlib.blake2b(digest_size=16)
        for part in learned(self.records, self.lines):
            found.update(part.view(np.uint8).data)
        found.update(self.held_out.data)
        return found.hexdigest()

    def iterate(self) -> Metrics:
        """A few minibatches of the present epoch."""
        losses: list[Tensor] = []
        for _ in range(UPDATES_PER_ITERATION):
            lesson = next(self.minibatches, None)
            if lesson is None:
                self.minibatches = self._rest_of_epoch()
                lesson = next(self.minibatches)
            losses.append(self._update(lesson) * len(lesson.values))
            self.epoch.examples += len(lesson.values)
            if self.epoch.examples == len(self.rows):
                break
        for loss in cast("list[float]", torch.stack(losses).tolist()):  # together: on a GPU each read synchronises
            self.epoch.loss += loss
        return {"train_loss": self.epoch.loss / self.epoch.examples}

    def _rest_of_epoch(self) -> Iterator[Lesson]:
        """The minibatches of the present epoch that were not used yet; the order follows from seed and epoch."""
        if not 0 <= self.epoch.examples < len(self.rows):  # a checkpoint may hold any number
            raise InvalidValue(
                f"an epoch has {len(self.rows)} examples; {self.epoch.examples} cannot be learned already"
            )
        order = np.random.default_rng([self.config.seed, self.state.cycle]).permutation(self.rows)
        return self.examples.lessons(order[self.epoch.examples :], self.config.batch_size)

    def _update(self, lesson: Lesson) -> Tensor:
        config, state = self.config, self.state
        total = config.epochs * -(-len(self.rows) // config.batch_size)
        rate = config.learning_rate * (1 - (1 - FINAL_RATE) * state.updates / total) * 0.5**state.rollbacks
        set_learning_rate(self.model.optimizer, rate)
        loss = self.loss(lesson)
        self.model.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.model.step()
        state.updates += 1
        return loss.detach()

    def loss(self, lesson: Lesson) -> Tensor:
        """The mean loss of a batch."""
        config = self.config
        with training_mode(self.network):
            logits, values = said(self.network, lesson.shown, lesson.top[:, 0], 1.0)
        target = sharpened(lesson.policy, config.target_top_k, config.target_temperature)  # [B, K]
        top = lesson.top[:, : target.shape[1]]
        loss = policy_loss(logits, lesson.legal, top, target, config.label_smoothing).mean()
        loss = loss + config.value_coef * (values - lesson.values).square().mean()
        if config.action_value_coef:
            errors = UNIT * logits.gather(1, lesson.top) - action_values(lesson.policy, lesson.values)  # [B, K]
            loss = loss + config.action_value_coef * errors[lesson.policy > 0].square().mean()
        return loss

    def measure(self) -> dict[str, float]:
        """The means over the held-out examples, some of them also over those of each kind of game."""
        batches = self.examples.lessons(self.held_out, max(256, self.config.batch_size))
        found = all_measures(self.network, batches, 1.0, self.config.label_smoothing)
        means = {name: float(each.mean(dtype=np.float64)) for name, each in found.items()}
        for kind, rows in (("equal", ~self.weak), ("weak", self.weak)):
            if rows.any():
                means |= {f"{kind}_{name}": float(found[name][rows].mean(dtype=np.float64)) for name in BY_KIND}
        return means

    # ---- for the training loop ----

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds; the network as others use it, with outputs that are values."""
        checked = {"data": Fingerprint(self.data, self.config.data)}  # first, so that a refused load changes nothing
        own = {"network": ScaledNetwork(self.network, self.unit), "optimizer": self.model.optimizer}
        return {**checked, **own, "state": self.state, "epoch": self.epoch}


@dataclass
class Epoch:
    """How far the present epoch is."""

    examples: int = 0
    loss: float = 0.0
    """sum over these examples"""
    without_gain: int = 0
    """epochs since the divergence on held-out games was lowest"""


class ScaledNetwork:
    """Saves a network whose outputs are logits as one whose outputs are values."""

    def __init__(self, network: nn.Module, unit: float) -> None:
        self.network, self.unit = network, unit

    def state(self) -> dict[str, Any]:
        scale_outputs(self.network, self.unit)
        found = {name: value.detach().cpu().clone() for name, value in self.network.state_dict().items()}
        scale_outputs(self.network, 1 / self.unit)
        return found

    def load_state(self, state: dict[str, Any]) -> None:
        self.network.load_state_dict({name: torch.from_numpy(values.copy()) for name, values in state.items()})
        scale_outputs(self.network, 1 / self.unit)


@dataclass
class Fingerprint:
    """Of the data; a checkpoint made from other data is refused."""

    data: str
    files: tuple[str, ...]

    def state(self) -> dict[str, Any]:
        return {"fingerprint": self.data}

    def load_state(self, state: dict[str, Any]) -> None:
        if state["fingerprint"] != self.data:
            raise InvalidValue(f"{', '.join(self.files)}: not the data that this run was begun with")


class EpochCycle:
    """A cycle is an epoch, measured on the held-out examples."""

    def __init__(self, learner: ImitationLearner) -> None:
        self.learner = learner

    def begin(self) -> list[Event]:
        """The untrained network, measured."""
        return self._record({})

    def progress(self) -> float:
        return self.learner.epoch.examples / len(self.learner.rows)

    def end(self) -> list[Event]:
        learner = self.learner
        train_loss = learner.epoch.loss / max(1, learner.epoch.examples)
        learner.epoch.examples, learner.epoch.loss, learner.minibatches = 0, 0.0, iter(())
        events = self._record({"train_loss": train_loss})
        learner.state.stopped_early = learner.epoch.without_gain >= learner.config.patience
        if learner.state.finished(learner.config):
            (learner.folder / EXAMPLES).unlink(missing_ok=True)
        return events

    def _record(self, learned: dict[str, float]) -> list[Event]:
        learner, state = self.learner, self.learner.state
        held_out = learner.measure()
        lowest = state.best.get("kl")
        if lowest is None or held_out["kl"] < lowest:
            state.best, learner.epoch.without_gain = {"step": state.step, "epoch": state.cycle, **held_out}, 0
        else:
            learner.epoch.without_gain += 1
        place = {"step": state.step, "updates": state.updates, "epoch": state.cycle, "epochs": learner.config.epochs}
        return [{"event": "epoch", **place, **self._counts(), **learned, **held_out, "seconds": state.seconds}]

    def summary(self) -> str:
        return f"{self.learner.epoch.examples:,} of {len(self.learner.rows):,} examples"

    def _counts(self) -> dict[str, Any]:
        learner = self.learner
        return {"examples": len(learner.rows), "held_out": len(learner.held_out), "rejected": learner.rejected}
