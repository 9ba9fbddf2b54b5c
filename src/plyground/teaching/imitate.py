"""Imitation: a network learns to choose as its teacher does, from a dataset; the result is a run like any other.

The loss is the cross-entropy to the teacher's policy over the legal actions only, with label smoothing and, weighted by
`mu`, the squared error of the best action's value. Half a network that has learned to rank actions is no use to
Q-learning if its outputs are not values: so the logits are outputs / UNIT, the teacher's own scale, and what is saved
is the network whose head is multiplied by UNIT (a power of two: no bit is lost). Its outputs are action values in
[-1, 1], its best action is the same, and `train dqn --init RUN` goes on from there.

A checkpoint is written after each epoch, that of the untrained network included (step 0). A run that is stopped goes on
with the epoch that was not finished, to the same end. The best checkpoint is that of the lowest divergence from the
teacher on held-out data; after `patience` epochs without a lower one it stops.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from plyground.agents.network import View, begin_with, identity, load_weights
from plyground.agents.teacher import UNIT
from plyground.backend.device import choose
from plyground.errors import Error, InvalidValue, command
from plyground.game import load
from plyground.kernels.threads import available
from plyground.learners.network_learner import (
    faster_threads,
    optimizer_arrays,
    prepare_torch,
    restore_optimizer,
    tensors_of,
)
from plyground.networks import Valued, make_network, scale_outputs
from plyground.runs.directory import EXAMPLES, Checkpoint, Run, read_config, steps_of
from plyground.teaching.dataset import BadLines, rejected_lines
from plyground.teaching.examples import Lesson, keep_held_out, lessons, pack, split
from plyground.teaching.lines import Lines
from plyground.teaching.losses import measures, policy_loss, said

LEARNER = "imitate"
RATE_LEFT = 0.05  # share of the learning rate that is left at the end
LONGEST_GRADIENT = 10.0
KEEP_FIRST = 10**9  # of the checkpoints that are pruned, only the first is one of every so many
Report = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Imitate:
    """Learn to choose as a teacher does."""

    data: tuple[str, ...] = ()
    """one dataset or several"""
    game: str = "chess"
    """the game they are about"""
    encoder: str = ""
    """what the network sees (empty: the game's first encoder)"""
    network: str = "512-256-128"
    """hidden sizes of an MLP, or a residual net such as b4c64"""
    dueling: bool = True
    """whether to split the network's head into a state's value and the actions' advantages"""
    outputs: int = 0
    """how many actions the network knows, the first ones (0: all); 4096 in chess: promotions to a queen only"""
    epochs: int = 3
    """times that all examples are learned from"""
    batch: int = 64
    """examples in one update"""
    lr: float = 1e-3
    """learning rate of Adam; it falls to a twentieth over the run"""
    smooth: float = 0.05
    """share of the target that is spread evenly over the legal actions"""
    mu: float = 1.0
    """weight of the value's error"""
    val_split: float = 0.1
    """share of the games that is held out"""
    patience: int = 2
    """epochs without a lower divergence on held-out data, after which it stops"""
    init: str = ""
    """a run whose best network to begin with"""
    bad_lines: BadLines = "stop"
    """what to do about lines that are not right; either way they go to FILE.rejected"""
    device: str = "cpu"
    """where the network runs: cpu, cuda, or auto (cuda where there is one)"""
    threads: int = 0
    """threads of the network (0: one, or one for each core where that is clearly faster when the run begins)"""
    seed: int = 0
    """the same seed gives the same run"""

    def __post_init__(self) -> None:
        at_least = {"epochs": 1, "batch": 1, "patience": 1, "seed": -math.inf}
        for name, value in asdict(self).items():
            if isinstance(value, int | float) and not at_least.get(name, 0) <= value < math.inf:
                raise InvalidValue(f"{name} is a number of at least {at_least.get(name, 0)}, not {value}")
        for name in ("smooth", "val_split"):
            if getattr(self, name) >= 1:
                raise InvalidValue(f"{name} is below 1, not {getattr(self, name)}")
        if not self.data:
            raise InvalidValue(f"imitation needs a dataset: --data FILE; `{command('teach', 'collect')}` makes one")
        if not self.val_split:
            raise InvalidValue("val_split is above 0: without held-out games nobody knows what was learned")

    def resolved(self) -> Imitate:
        """With the defaults that depend on game and machine filled in: what the run's config.toml says."""
        game = load(self.game)
        view = View(game, self.encoder, self.outputs)
        network = make_network(self.network, view.shape, view.outputs)
        threads = self.threads or faster_threads(network, view, self.batch)
        device, told = choose(self.device)
        if told:
            print(told, flush=True)
        found = {"device": device, "encoder": str(view.encoder), "outputs": view.outputs}
        return replace(self, game=game.full, threads=threads, **found)


class Imitation:
    """A network and what it learns from."""

    def __init__(self, config: Imitate, folder: Path, processes: int = 1) -> None:
        device, _ = choose(config.device)  # a run that was begun where there is a GPU may be opened where there is none
        prepare_torch(config.threads or available())
        torch.manual_seed(config.seed)
        self.config, self.folder, self.game = config, folder, load(config.game)
        self.view = View(self.game, config.encoder, config.outputs, device)
        self.network = make_network(config.network, self.view.shape, self.view.outputs, config.dueling)
        self.network.to(self.view.device)
        self.unit = 1.0 if isinstance(self.network.head, Valued) else UNIT  # outputs that are saved for a logit of 1
        if config.init:
            begin_with(self.network, config.init, self.identity)
            before = read_config(Path(config.init)).get("val_split", 1.0)
            if before < config.val_split:
                why = f"{config.init} has held out {before:.0%} of the games and has learned from all others"
                raise InvalidValue(f"{why}: val_split is at most {before}, not {config.val_split}")
            scale_outputs(self.network, 1 / self.unit)
        self.optimizer = torch.optim.Adam(self.network.parameters(), config.lr, fused=True)
        self.epoch = self.updates = self.without_gain = 0
        self.seconds, self.best = 0.0, dict[str, Any]()
        paths = [Path(path) for path in config.data]
        self.examples = pack(paths, Lines(self.game), folder / EXAMPLES, config.bad_lines, processes)
        self.rejected = sum(map(rejected_lines, paths))
        self.rows, self.held = split(self.examples, config.val_split)
        if not steps_of(folder):  # what a run has begun with stays
            keep_held_out(folder, self.examples[self.held])

    @property
    def identity(self) -> dict[str, str]:
        return identity(self.view, self.config.network, self.config.dueling)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the data, their order and what is held out included."""
        found = hashlib.blake2b(self.examples.view(np.uint8).data, digest_size=16)
        found.update(self.held.data)
        return found.hexdigest()

    @property
    def updates_in_all(self) -> int:
        return self.config.epochs * -(-len(self.rows) // self.config.batch)

    @property
    def finished(self) -> bool:
        return self.epoch >= self.config.epochs or self.without_gain >= self.config.patience

    # ---- learning ----

    def learn(self, report: Report, stop: Callable[[], bool]) -> dict[str, float] | None:
        """One epoch; the means over its examples, or nothing where somebody wants to stop."""
        rows = np.random.default_rng([abs(self.config.seed), self.epoch]).permutation(self.rows)
        total, done = 0.0, 0
        for taught in lessons(self.view, self.examples, rows, self.config.batch):
            if stop():
                return None
            total += self._update(taught) * len(taught.values)
            done += len(taught.values)
            if self.updates % 20 == 0:
                report({"event": "tick", "done": done, "of": len(rows), "loss": total / done})
        if not math.isfinite(total):
            raise Error(f"the loss is {total} in epoch {self.epoch + 1}: try a smaller --lr")
        return {"train_loss": total / done}

    def _update(self, taught: Lesson) -> float:
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = config.lr * (1 - (1 - RATE_LEFT) * self.updates / self.updates_in_all)
        logits, values = said(self.network, taught.shown, taught.top[:, 0], 1.0)
        loss = policy_loss(logits, taught.legal, taught.top, taught.policy, config.smooth).mean()
        loss = loss + config.mu * (values - taught.values).square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), LONGEST_GRADIENT)
        self.optimizer.step()
        self.updates += 1
        return loss.item()

    def measure(self) -> dict[str, float]:
        """The means over the held-out examples."""
        sums: dict[str, float] = {}
        for taught in lessons(self.view, self.examples, self.held, max(256, self.config.batch)):
            with torch.inference_mode():
                logits, values = said(self.network, taught.shown, taught.top[:, 0], 1.0)
                given = logits, taught.legal, taught.top, taught.policy
                found = {"loss": policy_loss(*given, self.config.smooth), **measures(*given)}
                found["value_error"] = (values - taught.values).abs()
            for name, each in found.items():
                sums[name] = sums.get(name, 0.0) + each.double().sum().item()
        return {name: value / len(self.held) for name, value in sums.items()}

    # ---- to disk and back ----

    def save(self, run: Run) -> None:
        scale_outputs(self.network, self.unit)
        groups = {
            "network": {name: value.cpu().numpy().copy() for name, value in self.network.state_dict().items()},
            "training": optimizer_arrays(self.optimizer),
        }
        scale_outputs(self.network, 1 / self.unit)
        state = {name: getattr(self, name) for name in ("epoch", "updates", "without_gain", "seconds", "best")}
        run.save(self.updates, self.identity, groups, {**state, "data": self.fingerprint})
        run.write("best.json", json.dumps(self.best, indent=1) + "\n")
        run.prune(2, KEEP_FIRST, self.best["step"])

    def restore(self, checkpoint: Checkpoint) -> None:
        checkpoint.check(self.identity)
        state = checkpoint.state()
        if state["data"] != self.fingerprint:
            raise InvalidValue(f"{', '.join(self.config.data)}: not the data that {checkpoint.path} was made with")
        load_weights(self.network, checkpoint)
        scale_outputs(self.network, 1 / self.unit)
        restore_optimizer(self.optimizer, tensors_of(checkpoint.tensors("training"), "optimizer"))
        for name in ("epoch", "updates", "without_gain", "seconds", "best"):
            setattr(self, name, state[name])


def imitate(learner: Imitation, run: Run, report: Report, stop: Callable[[], bool] = lambda: False) -> bool:
    """Learn to the end, or until `stop`; says whether it finished."""
    if not learner.best:
        _close_epoch(learner, run, report, {})  # what the untrained network does
    while not learner.finished:
        begun = time.perf_counter()
        found = learner.learn(report, stop)
        if found is None:
            return False
        learner.epoch += 1
        learner.seconds += time.perf_counter() - begun
        _close_epoch(learner, run, report, found)
    (learner.folder / EXAMPLES).unlink(missing_ok=True)
    return True


def _close_epoch(learner: Imitation, run: Run, report: Report, learned: Mapping[str, float]) -> None:
    """Measure, record, save."""
    held_out = learner.measure()
    counts = {"examples": len(learner.rows), "held_out": len(learner.held), "rejected": learner.rejected}
    place = {"step": learner.updates, "epoch": learner.epoch, "epochs": learner.config.epochs}
    record = {"event": "epoch", **place, **counts, **learned, **held_out, "seconds": learner.seconds}
    if not learner.best or held_out["kl"] < learner.best["kl"]:
        learner.best, learner.without_gain = {"step": learner.updates, "epoch": learner.epoch, **held_out}, 0
    else:
        learner.without_gain += 1
    run.log(record)
    report(record)
    learner.save(run)
