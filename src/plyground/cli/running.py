"""A run in the terminal, for `train` and `resume`: its display, its end, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plyground.backend.device import explain_out_of_memory
from plyground.cli.ctrl_c import stop_on_signal
from plyground.cli.display import Display, show_report
from plyground.cli.terminal import say, say_command
from plyground.cluster.config import ClusterConfig
from plyground.errors import InvalidValue, command
from plyground.learners import find_learner, training
from plyground.learners.evaluation import Event
from plyground.learners.launch import SMALLER, begin, new_run
from plyground.learners.training import Learner
from plyground.report.run import write_report
from plyground.runs import directory
from plyground.runs.directory import Run
from plyground.runs.tensorboard import record_events

HERE = ClusterConfig()  # no cluster


@contextmanager
def begun(name: str, config: Any, path: Path, cluster: ClusterConfig) -> Generator[Any]:
    """A fresh learner that plays itself, or on a cluster."""
    if not cluster.on:
        yield begin(find_learner(name).learner, config, path)
        return
    from plyground.cluster.run import on_cluster

    with explain_out_of_memory(SMALLER), on_cluster(name, config, cluster) as learner:
        yield learner


def check_cluster(cluster: ClusterConfig, parallel: int) -> None:
    """Refuse settings of a cluster that is not named, and several runs at once on one."""
    if not cluster.on and cluster.actors:
        raise InvalidValue("options of a cluster, such as --actors, need a cluster: --on ray")
    if cluster.on and parallel > 1:
        raise InvalidValue("seeds on a cluster are trained one after another: leave out --parallel")


def train_new(
    name: str, config: Any, path: Path, tensorboard: bool, alone: bool = True, cluster: ClusterConfig = HERE
) -> bool:
    """Train a learner into a new directory; returns whether it finished."""
    unborn = directory.is_unborn(path)
    tables = {"cluster": asdict(cluster.stated())} if cluster.on else {}
    with new_run(path, name, config, **tables) as run:
        if unborn:
            say(f"{path} was begun before, but stopped before its first checkpoint: begun anew.")
        with begun(name, config, path, cluster) as learner:
            return run_to_end(learner, run, tensorboard, alone)


def run_to_end(learner: Learner, run: Run, tensorboard: bool = False, alone: bool = True) -> bool:
    """Train to the end or until a signal; then print a report and, if it is not one of several seeds, how to go on.
    Returns whether it finished."""
    with (
        _live_events(run, tensorboard) as update,
        stop_on_signal() as stop,
        Display() as display,
        explain_out_of_memory(SMALLER),
    ):

        def emit(event: Event) -> None:
            display(event)
            update()

        finished = training.train(learner, run, emit, lambda: bool(stop))
    if not finished:
        say_command(f"Stopped and saved at step {learner.state.step}. Continue with:", command("resume", run.path))
        return False
    with _keeping_the_run(run.path):
        show_report(write_report(run.path))
    if alone:
        _say_what_next(learner, run)
    return True


@contextmanager
def _keeping_the_run(path: Path) -> Generator[None]:
    """Ctrl-C while a finished run is measured: say that the run is kept, and what to do with it."""
    try:
        yield
    except KeyboardInterrupt:
        play = command("play", directory.game_of(path), f"run:{path}")
        kept = f"the run is finished and saved, only its report is missing:\n  {command('report', path)}"
        raise KeyboardInterrupt(f"{kept}\nPlay against it:\n  {play}") from None


def _say_what_next(learner: Learner, run: Run) -> None:
    if (run.path / "curves.png").exists():
        say(f"The curves as a picture: {run.path / 'curves.png'}")
    ended = next(iter(limits_reached(learner)), learner.limits[0])
    longer = command("resume", run.path, f"--{ended}", f"{2 * getattr(learner.config, ended):.10g}")
    say_command("This run is finished. To train it longer:", longer)
    if (run.path / directory.HELD_OUT).exists():
        say_command("Compare it with its teacher:", command("teach", "verify", run.path))
    say_command("Play against it:", command("play", directory.game_of(run.path), f"run:{run.path}"))


@contextmanager
def _live_events(run: Run, wanted: bool) -> Generator[Callable[[], None]]:
    """Writes events for TensorBoard, if that is wanted."""
    if not wanted:
        yield lambda: None
        return
    with record_events(run.path) as events:
        say(f"Watch it with: tensorboard --logdir {events.folder}")
        yield events.update


def progress_of(learner: Learner) -> dict[str, float]:
    """How far a learner is, by the names of its limits."""
    return {name: learner.state.seconds if name == "seconds" else learner.state.cycle for name in learner.limits}


def limits_reached(learner: Learner) -> list[str]:
    """The limits that a learner has reached."""
    return [name for name, done in progress_of(learner).items() if 0 < getattr(learner.config, name) <= done]
