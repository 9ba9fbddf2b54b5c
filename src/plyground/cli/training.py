"""The commands that train, resume, measure and move runs; imported when one of them is asked for, for torch is slow."""

from __future__ import annotations

import json as json_module
import platform
import signal
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numba
import numpy as np
import torch
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from tyro.conf import Positional, arg

import plyground
from plyground.agents.agent import load_run, make, usual
from plyground.arena.match import play_match
from plyground.backend.device import explain_out_of_memory
from plyground.cli.display import Display, console, show_report
from plyground.cli.terminal import progress, show_match
from plyground.errors import InvalidValue, command, unknown
from plyground.learners.a2c import A2C, A2CLearner
from plyground.learners.dqn import DQN, DQNLearner
from plyground.learners.evaluation import OPENINGS_SEED, summary
from plyground.learners.learner import LIMITS, Learner, Settings
from plyground.learners.loop import train as learn
from plyground.learners.ppo import PPO, PPOLearner
from plyground.learners.reinforce import Reinforce, ReinforceLearner
from plyground.learners.tabular import Tabular, TabularLearner
from plyground.report import table as table_report
from plyground.report.run import agent_words, how_to_play, save_curves, table_of, write_report
from plyground.runs import pack as packing
from plyground.runs.directory import (
    Run,
    best_of,
    create,
    find_checkpoint,
    game_of,
    is_unborn,
    newest_whole,
    open_run,
    read_config,
    steps_of,
)
from plyground.runs.settings import build, profile, profiles, to_toml
from plyground.runs.tensorboard import export

LEARNERS: dict[str, tuple[type[Settings], type[Learner[Any]]]] = {
    "dqn": (DQN, DQNLearner),
    "tabular": (Tabular, TabularLearner),
    "reinforce": (Reinforce, ReinforceLearner),
    "a2c": (A2C, A2CLearner),
    "ppo": (PPO, PPOLearner),
}
WIDE, SCORES = 1000, 12  # columns of a table in a file; of scores, at least
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
        with explain_out_of_memory(LESS):
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
    with wishes_to_stop() as stop, Display() as display, explain_out_of_memory(LESS):
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
        with explain_out_of_memory(LESS):
            learner = _learner_of(run, limits)
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


def _learner_of(run: Path, limits: Mapping[str, float] | None = None) -> Learner[Any]:
    """A fresh learner with a run's settings."""
    word = str(read_config(run).get("learner"))
    if word not in LEARNERS:
        raise unknown("learner", word, LEARNERS)
    settings, learner_of = LEARNERS[word]
    return learner_of(build(settings, settings_of(run, limits or {}), f"{run}/config.toml"))


def runs(
    words: Positional[
        Annotated[tuple[str, ...], arg(metavar="[pack RUN FILE | unpack FILE RUN | inspect RUN | tensorboard RUN]")]
    ] = (),
    folder: Path = Path("runs"),
    without_memory: bool = False,
) -> None:
    """List the runs; or pack one as a file, unpack it, look at what one has stored, or export its metrics.

    Args:
        folder: where the runs are
        without_memory: leave the memory out of the packed file: it can then play, but not be resumed
    """
    if not words:
        _list(folder)
        return
    action, *names = words
    wanted = {"pack": 2, "unpack": 2, "inspect": 1, "tensorboard": 1}
    if action not in wanted:
        raise unknown("action of runs", action, wanted)
    if len(names) != wanted[action]:
        how = command("runs", "--help")
        raise InvalidValue(f"runs {action} takes {wanted[action]} names, not {len(names)}; see {how}")
    paths = [Path(name) for name in names]
    if action == "pack":
        size = packing.pack(paths[0], paths[1], not without_memory)
        console.print(f"{paths[0]} packed into {paths[1]}: {size:,} bytes", soft_wrap=True)
    elif action == "unpack":
        steps = packing.unpack(paths[0], paths[1])
        console.print(f"{paths[0]} unpacked into {paths[1]}: checkpoints {', '.join(map(str, steps))}", soft_wrap=True)
    elif action == "inspect":
        _inspect(paths[0])
    else:
        where, count = export(paths[0])
        console.print(f"{count:,} numbers for TensorBoard: tensorboard --logdir {where}", soft_wrap=True)


def _list(folder: Path) -> None:
    """A table of runs, of which only the scores give way where the screen is narrow."""
    rows = table_of(folder)
    if not rows:
        console.print(f"no runs in {folder}", soft_wrap=True)
        return
    table = Table(box=None)
    for place, name in enumerate(("run", "learner", "game", "cycles", "best step")):
        table.add_column(name, no_wrap=True, min_width=max(len(row[place]) for row in rows))
    table.add_column("scores", min_width=SCORES)
    for row in rows:
        table.add_row(*map(escape, row))
    wide = console if console.is_terminal else Console(highlight=False, width=WIDE)  # a file has room
    wide.print(table, crop=False)


def _inspect(run: Path) -> None:
    """What the newest checkpoint remembers."""
    learner, config, best = _learner_of(run), read_config(run), best_of(run)
    learner.restore(newest_whole(run))
    scores = "".join(f", {word} {score['score']:.1%}" for word, score in best.get("yardsticks", {}).items())
    console.print(
        f"{config['learner']} on {Path(config['game']).name}. {agent_words(learner.agent(), config)}. Checkpoints: "
        f"{', '.join(map(str, steps_of(run)))}; the best is {best.get('step')}{scores}",
        soft_wrap=True,
        markup=False,
    )
    table = Table("", "", title=f"experience of {run} at step {learner.step}", title_justify="left", show_header=False)
    for name, value in learner.experience().items():
        words = f"{value:.4f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
        table.add_row(name.replace("_", " "), words)
    if table.row_count:
        console.print(table)
    else:
        console.print(f"{run} has stored nothing yet")


def evaluate(
    run: Positional[RunPath],
    against: tuple[str, ...] = (),
    games: int = 1000,
    checkpoint: str = "best",
    seed: int = OPENINGS_SEED,
    json: bool = False,
) -> None:
    """Measure what a run has learned in paired matches.

    Args:
        against: agents, such as random minimax:depth=3; unless some are named, random and, where there is one, greedy
        games: against each
        checkpoint: best, last, or a step
        seed: of the openings
        json: print one JSON object instead
    """
    agent, config = load_run(str(run), None, checkpoint), read_config(run)
    game, limit, results = agent.game, config.get("max_steps") or None, dict[str, Any]()
    opponents = {word: make(word, game) for word in against or usual(game)}
    for word, opponent in opponents.items():
        with progress(games, f"{run.name} against {word}", hide=json) as advance:
            match = play_match(game, agent, opponent, games, seed, progress=advance, max_plies=limit)
        results[word] = summary(match)
        if not json:
            show_match(match, run.name, word, game, as_json=False)
    if json:
        step = find_checkpoint(run, checkpoint).step
        print(json_module.dumps({"run": str(run), "checkpoint": step, "against": results}))


def plot(runs: Positional[tuple[Path, ...]], out: Path = Path("curves.png")) -> None:
    """Draw the learning curves of one or several runs.

    Args:
        runs: run directories
        out: the picture
    """
    if not runs:
        raise InvalidValue("plot needs at least one run")
    for path in runs:
        read_config(path)
    table_report.check_picture(out)
    save_curves(out, runs)
    print(f"wrote {out}", file=sys.stderr)


def table(run: Positional[RunPath], top: int = 20, checkpoint: str = "best", json: bool = False) -> None:
    """Print the entries of a run's table in words: the most visited, and the most valuable.

    Args:
        top: how many of each
        checkpoint: best, last, or a step
        json: print one JSON object instead
    """
    config = read_config(run)
    if config.get("learner") != "tabular":
        raise InvalidValue(f"{run} has learned with {config.get('learner')}, not with a table")
    if top < 1:
        raise InvalidValue(f"top is at least 1, not {top}")
    held = load_run(str(run), None, checkpoint).table
    parts = {
        "most visited": table_report.most_visited(held, top),
        f"most valuable, of those visited {table_report.ENOUGH} times or more": table_report.most_valuable(held, top),
        "better than others wherever they are played": table_report.best_advantages(held, top),
    }
    if json:
        print(json_module.dumps({**table_report.summary(held), **parts}))
        return
    for name, value in table_report.summary(held).items():
        words = f"{value:.1%}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
        console.print(f"{name.replace('_', ' ')}: {words}")
    for title, rows in parts.items():
        if rows:
            shown = Table("visits", "value", "state", "action", title=title, title_justify="left")
            for row in rows:
                shown.add_row(f"{row['visits']:,}", f"{row['value']:+.3f}", row["state"], row["action"])
            console.print(shown)


COMMANDS: dict[str, Callable[..., None]] = {
    "resume": resume,
    "runs": runs,
    "evaluate": evaluate,
    "plot": plot,
    "table": table,
}
