"""A run in the terminal, for `train` and `resume`: a new one or one that goes on, its display, its end, and what to do
next."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from plyground.backend.out_of_memory import explain_out_of_memory
from plyground.cli.ctrl_c import stop_on_signal
from plyground.cli.display import Display, show_report
from plyground.cli.terminal import say, say_command
from plyground.cluster.config import ClusterConfig, from_table
from plyground.errors import InvalidValue, command
from plyground.learners import find_learner, training
from plyground.learners.evaluation import Event
from plyground.learners.launch import SMALLER, begin, new_run
from plyground.learners.saving import changed_limits
from plyground.learners.training import Learner
from plyground.report.run import write_report
from plyground.runs import directory, fingerprints
from plyground.runs.directory import Run
from plyground.runs.settings import build, to_toml
from plyground.runs.tensorboard import record_events

HERE = ClusterConfig()  # no cluster
NOT_SETTINGS = ("learner", "versions", "cluster")  # in config.toml, beside the settings


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
        record_events(run.path) if tensorboard else nullcontext() as events,
        stop_on_signal() as stop,
        Display() as display,
        explain_out_of_memory(SMALLER),
    ):
        if events:
            say(f"Watch it with: tensorboard --logdir {events.folder}")

        def emit(event: Event) -> None:
            display(event)
            if events:
                events.update()

        finished = training.train(learner, run, emit, lambda: bool(stop))
    if not finished:
        say_command(f"Stopped and saved at step {learner.state.step}. Continue with:", command("resume", run.path))
        return False
    try:
        show_report(write_report(run.path))
    except KeyboardInterrupt:
        play = command("play", directory.game_of(run.path), f"run:{run.path}")
        kept = f"the run is finished and saved, only its report is missing:\n  {command('report', run.path)}"
        raise KeyboardInterrupt(f"{kept}\nPlay against it:\n  {play}") from None
    if not alone:
        return True
    if (run.path / "curves.png").exists():
        say(f"The curves as a picture: {run.path / 'curves.png'}")
    ended = next(iter(limits_reached(learner)), learner.limits[0])
    longer = command("resume", run.path, f"--{ended}", f"{2 * getattr(learner.config, ended):.10g}")
    say_command("This run is finished. To train it longer:", longer)
    if (run.path / directory.HELD_OUT).exists():
        say_command("Compare it with its teacher:", command("teach", "verify", run.path))
    say_command("Play against it:", command("play", directory.game_of(run.path), f"run:{run.path}"))
    return True


def progress_of(learner: Learner) -> dict[str, float]:
    """How far a learner is, by the names of its limits."""
    return {name: learner.state.seconds if name == "seconds" else learner.state.cycle for name in learner.limits}


def limits_reached(learner: Learner) -> list[str]:
    """The limits that a learner has reached."""
    return [name for name, done in progress_of(learner).items() if 0 < getattr(learner.config, name) <= done]


# ---- a run that goes on ----


def resume_run(
    run: Path,
    limits: Mapping[str, float] | None = None,
    force: bool = False,
    tensorboard: bool = False,
    alone: bool = True,
    cluster: Mapping[str, Any] | None = None,
) -> bool:
    """Continue a run, to a later end or on another cluster if one is given; returns whether it finished."""
    limits, table, given = limits or {}, directory.read_config(run), cluster or {}
    where = replace(from_table(table, f"{run}/config.toml"), **given)
    check_cluster(where, 1)
    directory.check_trusted(run, "on" not in given)  # else the person has named the cluster
    with directory.open_run(run) as held, ExitStack() as stack:
        checkpoint = directory.newest_whole(run)
        if not force:
            checkpoint.check_unchanged(held.fingerprints)
        fingerprints.warn(checkpoint.notice(held.fingerprints))
        try:
            learner: Learner = stack.enter_context(begun(*named(run, limits), run, where))
            training.load(learner, held)
            done = progress_of(learner)
            for name, value in limits.items():
                if value <= done[name]:
                    raise InvalidValue(f"{run} has done {done[name]:g} {name}: its end is later, not {value:g}")
            if limits:
                learner.state.stopped_early = False
            for name in limits_reached(learner) if limits else ():
                raise InvalidValue(f"{run} was ended by its {name}, and still is: give --{name} a later end")
        except BaseException:
            (run / directory.EXAMPLES).unlink(missing_ok=True)  # which the learner may have packed
            raise
        set_limits(held, limits)
        held.rewind(checkpoint)
        return run_to_end(learner, held, tensorboard, alone)


def set_limits(run: Run, limits: Mapping[str, float]) -> None:
    """Write a later end into a run's config."""
    if limits:
        run.write("config.toml", to_toml({**directory.read_config(run.path), **limits}))


def settings_of(run: Path, limits: Mapping[str, float]) -> dict[str, Any]:
    """A run's settings, with another end."""
    table = directory.read_config(run)
    ends = find_learner(str(table.get("learner"))).learner.limits
    for name in limits:
        if name not in ends:
            raise InvalidValue(f"the end of {run} is set by {' or '.join(ends)}, not by {name}")
    own = {name: value for name, value in table.items() if name not in NOT_SETTINGS}
    return {**own, **limits, "game": directory.game_of(run).full}


def named(run: Path, limits: Mapping[str, float]) -> tuple[str, Any]:
    """The name and the config of a run's learner. Edited settings are refused before one is made: it could need any
    memory."""
    name = str(directory.read_config(run).get("learner"))
    entry = find_learner(name)
    config = build(entry.config, settings_of(run, limits), f"{run}/config.toml")
    changed_limits(config, entry.learner.limits, directory.find_checkpoint(run, "last"))
    return name, config
