"""A run that goes on: its settings, perhaps with a later end, and its learner as the newest checkpoint holds it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from plyground.cli.running import begun, check_cluster, limits_reached, progress_of, run_to_end
from plyground.cluster.config import ClusterConfig
from plyground.errors import InvalidValue
from plyground.learners import find_learner, training
from plyground.learners.launch import begin
from plyground.learners.saving import changed_limits
from plyground.learners.training import Learner
from plyground.runs import directory, fingerprints
from plyground.runs.directory import Run
from plyground.runs.settings import build, to_toml
from plyground.runs.trust import check_address, check_programs

NOT_SETTINGS = ("learner", "versions", "cluster")  # in config.toml, beside the settings


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
    where = replace(build(ClusterConfig, table.get("cluster", {}), f"{run}/config.toml"), **given)
    check_cluster(where, 1)
    if "on" not in given:  # else the person has named it
        check_address(run, table)
    with directory.open_run(run) as held, ExitStack() as stack:
        checkpoint = directory.newest_whole(run)
        if not force:
            checkpoint.check_unchanged(held.fingerprints)
        fingerprints.warn(checkpoint.notice(held.fingerprints))
        try:
            learner: Learner = stack.enter_context(begun(*_named(run, limits), run, where))
            training.load(learner, held)
            _check_limits(run, learner, limits)
        except BaseException:
            (run / directory.EXAMPLES).unlink(missing_ok=True)  # which the learner may have packed
            raise
        set_limits(held, limits)
        held.rewind(checkpoint)
        return run_to_end(learner, held, tensorboard, alone)


def _check_limits(run: Path, learner: Learner, limits: Mapping[str, float]) -> None:
    """Refuse an end that is reached already."""
    done = progress_of(learner)
    for name, value in limits.items():
        if value <= done[name]:
            raise InvalidValue(f"{run} has done {done[name]:g} {name}: its end is later, not {value:g}")
    if limits:
        learner.state.stopped_early = False
    for name in limits_reached(learner) if limits else ():
        raise InvalidValue(f"{run} was ended by its {name}, and still is: give --{name} a later end")


def set_limits(run: Run, limits: Mapping[str, float]) -> None:
    """Write a later end into a run's config."""
    if limits:
        run.write("config.toml", to_toml({**directory.read_config(run.path), **limits}))


def settings_of(run: Path, limits: Mapping[str, float]) -> dict[str, Any]:
    """A run's settings, with another end."""
    table = directory.read_config(run)
    check_programs(run, table)
    ends = find_learner(str(table.get("learner"))).learner.limits
    for name in limits:
        if name not in ends:
            raise InvalidValue(f"the end of {run} is set by {' or '.join(ends)}, not by {name}")
    own = {name: value for name, value in table.items() if name not in NOT_SETTINGS}
    return {**own, **limits, "game": directory.game_of(run).full}


def learner_of(run: Path) -> Any:
    """A fresh learner with a run's settings, which plays here."""
    name, config = _named(run, {})
    return begin(find_learner(name).learner, config, run)


def _named(run: Path, limits: Mapping[str, float]) -> tuple[str, Any]:
    """The name and the config of a run's learner. Edited settings are refused before one is made: it could need any
    memory."""
    name = str(directory.read_config(run).get("learner"))
    entry = find_learner(name)
    config = build(entry.config, settings_of(run, limits), f"{run}/config.toml")
    changed_limits(config, entry.learner.limits, directory.find_checkpoint(run, "last"))
    return name, config
