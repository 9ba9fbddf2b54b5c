"""The commands that train, resume, measure and move runs; imported when one of them is asked for, for torch is slow."""

from __future__ import annotations

import platform
import signal
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numba
import numpy as np
import torch
from tyro.conf import Positional, arg

import plyground
from plyground.backend.device import said_when_full
from plyground.cli.display import Display, console, show_report
from plyground.errors import InvalidValue, command, unknown
from plyground.learners.a2c import A2C, A2CLearner
from plyground.learners.dqn import DQN, DQNLearner
from plyground.learners.learner import LIMITS, Learner, Settings
from plyground.learners.loop import train as learn
from plyground.learners.ppo import PPO, PPOLearner
from plyground.learners.reinforce import Reinforce, ReinforceLearner
from plyground.learners.tabular import Tabular, TabularLearner
from plyground.report.run import how_to_play, write_report
from plyground.runs.directory import (
    Run,
    create,
    game_of,
    is_unborn,
    newest_whole,
    open_run,
    read_config,
)
from plyground.runs.settings import build, profile, profiles, to_toml

LEARNERS: dict[str, tuple[type[Settings], type[Learner[Any]]]] = {
    "dqn": (DQN, DQNLearner),
    "tabular": (Tabular, TabularLearner),
    "reinforce": (Reinforce, ReinforceLearner),
    "a2c": (A2C, A2CLearner),
    "ppo": (PPO, PPOLearner),
}
LESS = "try fewer games at once (concurrency), a smaller memory or a smaller batch"
RunPath = Annotated[Path, arg(metavar="RUN", help="a run's directory")]


def make_train(arguments: Sequence[str]) -> Callable[..., None]:
    """The command `train` for the learner and with the defaults of the profile that the arguments name."""
    word = next((argument for argument in arguments if argument in LEARNERS), "dqn")
    settings, learner_of = LEARNERS[word]
    chosen = _named(arguments, "--profile")
    table = profile(chosen) if chosen else {}
    wanted = table.pop("learner", word)
    if wanted != word and word in arguments:
        how = command("train", wanted, "...")
        raise InvalidValue(f"the profile {chosen} is for {wanted}, not for {word}: {how}")
    defaults = build(settings, table, f"the profile {chosen}")

    def train(
        learner: Positional[Annotated[str, arg(metavar="|".join(LEARNERS))]],
        config: Annotated[Any, arg(name="")] = defaults,
        profile: Annotated[
            str | None, arg(help=f"settings to begin with: {', '.join(profiles())}, or a .toml file")
        ] = None,
        out: Annotated[
            Path | None,
            arg(metavar="PATH", help="the run's directory", help_behavior_hint="(default: a new one in runs/)"),
        ] = None,
    ) -> None:
        """Teach a machine a game by letting it play."""
        if learner not in LEARNERS:
            raise unknown("learner", learner, LEARNERS)
        if learner != word:
            raise InvalidValue(f"say the learner first: {command('train', learner, '...')}")
        if "game" in table and config.game != table["game"]:
            raise InvalidValue(f"the profile {profile} is for {table['game']}, not for {config.game}")
        full = config.resolved()
        with said_when_full(LESS):
            begun = learner_of(full)
        path = out or _next(Path("runs"), f"{begun.game.label}-{learner}")
        with new_run(path, learner, full) as run:
            _work(begun, run)

    train.__annotations__["config"] = Annotated[settings, arg(name="")]
    return train


def new_run(path: Path, learner: str, config: Any) -> Run:
    """A run's directory, with all its settings; what one that was killed at once has left there makes way."""
    unborn = is_unborn(path)
    run = create(path, {"learner": learner, **asdict(config), "versions": versions()})
    if unborn:
        console.print(f"{path} was begun before, but stopped before its first checkpoint: begun anew.", soft_wrap=True)
    return run


def versions() -> dict[str, str]:
    """Of all that a run's numbers depend on."""
    own = {"plyground": plyground.__version__, "python": platform.python_version(), "torch": torch.__version__}
    return own | {"numba": numba.__version__, "numpy": np.__version__}


def _named(arguments: Sequence[str], option: str) -> str | None:
    """The value of an option, before the arguments are read in full."""
    for place, argument in enumerate(arguments):
        if argument == option and place + 1 < len(arguments):
            return arguments[place + 1]
        if argument.startswith(f"{option}="):
            return argument.removeprefix(f"{option}=")
    return None


def _next(folder: Path, name: str) -> Path:
    """The first directory of that name with a number that is free."""
    number = 1
    while (folder / f"{name}-{number}").exists():
        number += 1
    return folder / f"{name}-{number}"


def _work(learner: Learner[Any], run: Run) -> None:
    """Learn until the end or until somebody wants to stop; then say what came of it."""
    with wishes_to_stop() as stop, Display() as display, said_when_full(LESS):
        finished = learn(learner, run, display, lambda: bool(stop))
    if not finished:
        how = command("resume", run.path)
        console.print(f"Stopped and saved at step {learner.step}. Go on with: {how}", soft_wrap=True)
        return
    show_report(write_report(run.path))
    console.print(f"The curves as a picture: {run.path / 'curves.png'}", soft_wrap=True)
    ended = "cycles" if 0 < learner.config.cycles <= learner.cycle else "seconds"
    longer = command("resume", run.path, f"--{ended}", 2 * getattr(learner.config, ended))
    console.print(f"This run is finished. To train it longer: {longer}", soft_wrap=True)
    console.print(f"Play against it: {how_to_play(run.path)}", soft_wrap=True)


@contextmanager
def wishes_to_stop() -> Generator[list[int]]:
    """A list that is no longer empty once somebody wants to stop; whoever asks twice stops it at once."""
    found: list[int] = []

    def note(number: int, _: Any) -> None:
        if found:
            raise KeyboardInterrupt
        found.append(number)

    old = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def resume(
    run: Positional[RunPath], cycles: int | None = None, seconds: float | None = None, epochs: int | None = None
) -> None:
    """Continue a run where it stopped, as if nothing had happened; a finished one needs a later end.

    What falls over a run (learning rate, exploration) follows the share of it that is done: with a later end it rises
    again.

    Args:
        cycles: a later end, counted from the run's beginning
        seconds: the same in seconds of playing and learning
        epochs: the same for an imitation
    """
    given = {"cycles": cycles, "seconds": seconds, "epochs": epochs}
    limits = {name: value for name, value in given.items() if value is not None}
    if read_config(run).get("learner") == "imitate":
        from plyground.cli.teach import go_on

        go_on(run, limits)
        return
    with open_run(run) as held:
        checkpoint = newest_whole(run)
        with said_when_full(LESS):
            learner = learner_of(run, limits)
            learner.restore(checkpoint)
        done = {"cycles": learner.cycle, "seconds": learner.seconds}
        check_limits(run, limits, done)
        if limits and learner.finished:
            ended = next(name for name, count in done.items() if 0 < getattr(learner.config, name) <= count)
            raise InvalidValue(f"{run} was ended by its {ended}, and still is: give --{ended} a later end")
        set_limits(held, limits)
        held.rewind(checkpoint)
        _work(learner, held)


def check_limits(run: Path, limits: Mapping[str, float], done: Mapping[str, float]) -> None:
    """Refuse an end that is over already."""
    for name, value in limits.items():
        if value <= done[name]:
            raise InvalidValue(f"{run} has done {done[name]:g} {name}: its end is later, not {value:g}")


def set_limits(run: Run, limits: Mapping[str, float]) -> None:
    """Write a later end into a run's settings."""
    if limits:
        run.write("config.toml", to_toml({**read_config(run.path), **limits}))


def settings_of(run: Path, limits: Mapping[str, float]) -> dict[str, Any]:
    """A run's settings, with another end; without what is not the learner's own."""
    table = read_config(run)
    ends = ("epochs",) if table.get("learner") == "imitate" else LIMITS  # PPO's epochs are no end
    for name in limits:
        if name not in ends:
            raise unknown(f"end of {run}", name, ends)
    own = {name: value for name, value in table.items() if name not in ("learner", "versions")}
    return {**own, **limits, "game": game_of(run).full}


def learner_of(run: Path, limits: Mapping[str, float] | None = None) -> Learner[Any]:
    """A fresh learner with a run's settings."""
    word = str(read_config(run).get("learner"))
    if word not in LEARNERS:
        raise unknown("learner", word, LEARNERS)
    settings, learner_of = LEARNERS[word]
    return learner_of(build(settings, settings_of(run, limits or {}), f"{run}/config.toml"))
