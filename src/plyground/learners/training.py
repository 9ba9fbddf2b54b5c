"""The training loop: iterate, and at the end of each cycle record, evaluate and save. It emits events of plain data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from plyground.agents.registry import make
from plyground.backend.clock import Clock
from plyground.backend.parts import Parts
from plyground.errors import Error, IllegalAction
from plyground.game import Game
from plyground.learners import evaluation, saving
from plyground.learners.evaluation import Cycle, Event
from plyground.learners.state import Diverged, Metrics, TrainingState
from plyground.learners.versions import Versions
from plyground.runs.directory import Run, newest_whole

Emit = Callable[[Event], None]
TICK_INTERVAL = 0.25  # seconds between two tick events
MAX_ROLLBACKS = 5
ROLLBACK_SEEDS = 0x9E3779B97F4A7C15  # distance between the seeds after two rollbacks


class Learner(Protocol):
    """What the training loop needs; each learner's file has one such class."""

    config: Any
    state: TrainingState
    game: Game

    @property
    def limits(self) -> tuple[str, ...]:
        """The settings that set the end of a run."""
        ...

    @property
    def model(self) -> Versions[Any]: ...

    @property
    def cycle(self) -> Cycle: ...

    def iterate(self) -> Metrics | None:
        """One step of play and updates; returns the metrics of an update, if they were read. None: there was nothing
        to do yet, because others play."""
        ...

    def parts(self) -> Parts:
        """Everything that a checkpoint holds, by name; see `saving.py`."""
        ...


def progress(learner: Learner) -> float:
    """The share of the run that is done, 0 to 1: by cycles or by seconds, whichever is further."""
    config, state = learner.config, learner.state
    cycles = (state.cycle + min(1.0, learner.cycle.progress())) / config.cycles if config.cycles else 0.0
    return min(1.0, max(cycles, state.seconds / config.seconds if config.seconds else 0.0))


def train(learner: Learner, run: Run, emit: Emit, stop: Callable[[], bool] = lambda: False) -> bool:
    """Train to the end of the run, or until `stop`; either way everything is saved. Returns whether it finished."""
    config, state, clock = learner.config, learner.state, Clock(learner.config.device)
    if state.step == 0 and not state.best:
        _log(learner.cycle.begin(), run, emit)
        save(learner, run)  # before the first update
    ticked = time.perf_counter()
    while not state.finished(config) and not stop():
        start, clock.seconds, state.progress = time.perf_counter(), state.time_by_part, progress(learner)
        try:
            with clock:
                metrics = learner.iterate()
            if metrics is not None:
                state.step += 1
                state.track_metrics(metrics, config)
        except Diverged as error:
            roll_back(learner, run, error)
        except IllegalAction:
            state.illegal_moves += 1  # a fault of ours: the run ends, and its metrics say why
            run.log({"event": "illegal", "step": state.step, "illegal_moves": state.illegal_moves})
            raise
        state.seconds += time.perf_counter() - start
        _log(_notes(state), run, emit)
        if learner.cycle.progress() >= 1 or state.finished(config):
            _end_cycle(learner, run, emit)
        if time.perf_counter() - ticked > TICK_INTERVAL:
            ticked = time.perf_counter()
            emit(_tick(learner))
    save(learner, run)
    return state.finished(config)


def save(learner: Learner, run: Run) -> None:
    """Write a checkpoint, best.json, and remove the checkpoints that are not to be kept."""
    state, config = learner.state, learner.config
    if "step" not in state.best:
        state.best = {"step": state.step, "previous": None, "match": None}
    saving.save(learner, run, state.step)
    run.write("best.json", json.dumps(state.best, indent=1) + "\n")
    run.prune(config.keep_last, config.keep_every, state.best["step"])


def load(learner: Learner, run: Run) -> None:
    """Continue from the newest checkpoint of a run."""
    changed = saving.load(learner, newest_whole(run.path))
    learner.state.notes += [f"the end of the run has changed: {change}" for change in changed]


def roll_back(learner: Learner, run: Run, why: Diverged) -> None:
    """Return to the last checkpoint and continue with half the learning rate and other random numbers."""
    rollbacks = learner.state.rollbacks + 1
    if rollbacks > MAX_ROLLBACKS:
        raise Error(f"{why}, after {MAX_ROLLBACKS} rollbacks: try a smaller learning_rate or max_grad_norm") from why
    saving.load(learner, newest_whole(run.path))
    state = learner.state
    state.rollbacks = rollbacks
    rng = learner.parts().get("rng")
    if rng is not None:
        rng.manual_seed((learner.config.seed + rollbacks * ROLLBACK_SEEDS) % 2**63)
    what = f"rolled back to step {state.step}, learning rate halved"
    state.notes.append(f"{why}: {what} ({rollbacks} of {MAX_ROLLBACKS})")


def _end_cycle(learner: Learner, run: Run, emit: Emit) -> None:
    """Record the cycle and, if they are due, save a checkpoint and a few games."""
    state = learner.state
    state.cycle += 1
    events = learner.cycle.end()
    state.cycle_start = state.step
    _log(events, run, emit)
    if any(event["event"] == "evaluation" for event in events):
        _write_games(learner, run)
    if state.checkpoint_due(learner.config):
        save(learner, run)


# ---- events ----


def _log(events: Iterable[Event], run: Run, emit: Emit) -> None:
    for event in events:
        run.log(event)
        emit(event)


def _notes(state: TrainingState) -> list[Event]:
    notes, state.notes = state.notes, []
    return [{"event": "note", "step": state.step, "updates": state.updates, "text": text} for text in notes]


def _tick(learner: Learner) -> Event:
    config, state = learner.config, learner.state
    return {
        "event": "tick",
        "game": config.game,
        "step": state.step,
        "cycle": state.cycle,
        "cycles": config.cycles,
        "cycle_progress": learner.cycle.progress(),
        "seconds": state.seconds,
        "seconds_limit": config.seconds,
        "plies": state.plies,
        "updates": state.updates,
        "metrics": dict(state.averages),
        "buffer": learner.cycle.summary(),
        "eval_opponents": list(config.eval_opponents),
        "cluster": getattr(learner, "cluster", str)(),
        **_watched(learner),
    }


def _watched(learner: Learner) -> dict[str, Any]:
    """The first environment's game as a picture of characters, and who plays it; nothing where none is played."""
    games = getattr(learner, "games", None) or learner.parts().get("games")
    return getattr(games, "watched", dict)()


def _write_games(learner: Learner, run: Run) -> None:
    """A few games of this evaluation, in notation."""
    config, agent, game, step = learner.config, learner.model.agent(), learner.game, learner.state.step
    limit, spec = config.max_plies or None, config.eval_opponents[-1] if config.eval_opponents else "random"
    text = evaluation.notation(game, agent, make(spec, game), spec, 2, step, limit)
    text += evaluation.notation(game, agent, agent, "the learner", 1, step, limit)
    run.write(f"games/{step}.txt", text)
