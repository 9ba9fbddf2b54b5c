"""The commands that train, resume, measure and move runs; imported when one of them is asked for, for torch is slow."""

from __future__ import annotations

import json as json_module
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numba
import numpy as np
import torch
from rich.table import Table
from tyro.conf import Positional, arg

import plyground
from plyground.agents.agent import make
from plyground.agents.network import load_run
from plyground.arena.match import play_match
from plyground.display import Display, console
from plyground.errors import InvalidValue, unknown
from plyground.learners.dqn import DQN, Learner, resolved
from plyground.learners.dqn import train as learn
from plyground.learners.evaluation import OPENINGS_SEED, summary
from plyground.learners.experience import quality, statistics
from plyground.run_report import how_to_play, save_curves, table_of, write_report
from plyground.runs import pack as packing
from plyground.runs.directory import Run, create, find_checkpoint, newest_whole, open_run, read_config
from plyground.runs.settings import build, profile, profiles
from plyground.terminal import progress, show_match

RunPath = Annotated[Path, arg(metavar="RUN", help="a run's directory")]


def make_train(arguments: Sequence[str]) -> Callable[..., None]:
    """The command `train`, whose defaults are those of the profile named in the arguments."""
    word = _named(arguments, "--profile")
    table = profile(word) if word else {}
    defaults = build(DQN, table, f"the profile {word}")

    def train(
        learner: Positional[Literal["dqn"]],
        config: Annotated[DQN, arg(name="")] = defaults,
        profile: Annotated[
            str | None, arg(help=f"settings to begin with: {', '.join(profiles())}, or a .toml file")
        ] = None,
        out: Annotated[Path | None, arg(help="the run's directory (default: a new one in runs/)")] = None,
    ) -> None:
        """Teach a network a game by letting it play."""
        if "game" in table and config.game != table["game"]:
            raise InvalidValue(f"the profile {profile} is for {table['game']}, not for {config.game}")
        full = resolved(config)
        versions = {"plyground": plyground.__version__, "python": platform.python_version(), "torch": torch.__version__}
        versions |= {"numba": numba.__version__, "numpy": np.__version__}
        begun = Learner(full)
        path = out or _next(Path("runs"), f"{begun.game.label}-{learner}")
        with create(path, {"learner": learner, **asdict(full), "versions": versions}) as run:
            _work(begun, run)

    return train


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


def _work(learner: Learner, run: Run) -> None:
    """Learn until the end or until somebody wants to stop; then say what came of it."""
    wishes: list[int] = []

    def stop(number: int, _: Any) -> None:
        if wishes:
            raise KeyboardInterrupt  # asked twice: at once
        wishes.append(number)

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with Display() as display:
            finished = learn(learner, run, display, lambda: bool(wishes))
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
    if not finished:
        console.print(
            f"Stopped and saved at step {learner.step}. Go on with: plyground resume {run.path}", soft_wrap=True
        )
        return
    console.print(write_report(run.path), markup=False, soft_wrap=True)
    console.print(f"The curves as a picture: {run.path / 'curves.png'}", soft_wrap=True)
    console.print(f"Play against it: {how_to_play(run.path)}", soft_wrap=True)


def resume(run: Positional[RunPath]) -> None:
    """Continue a run where it stopped, as if nothing had happened."""
    config = _config_of(run)
    with open_run(run) as held:
        checkpoint = newest_whole(run)
        learner = Learner(config)
        learner.restore(checkpoint)
        held.rewind(checkpoint)
        _work(learner, held)


def _config_of(run: Path) -> DQN:
    table = read_config(run)
    if table.get("learner") != "dqn":
        raise unknown("learner", str(table.get("learner")), ["dqn"])
    settings = {name: value for name, value in table.items() if name not in ("learner", "versions")}
    return build(DQN, settings, f"{run}/config.toml")


def runs(
    words: Positional[Annotated[tuple[str, ...], arg(metavar="[pack RUN FILE | unpack FILE RUN | inspect RUN]")]] = (),
    folder: Path = Path("runs"),
    without_memory: bool = False,
) -> None:
    """List the runs; or pack one as a file, unpack it, or look at what one has stored.

    Args:
        folder: where the runs are
        without_memory: leave the memory out of the packed file: it can then play, but not be resumed
    """
    if not words:
        table = Table("run", "learner", "game", "cycles", "best step", "scores")
        for row in table_of(folder):
            table.add_row(*row)
        console.print(table)
        return
    action, *names = words
    wanted = {"pack": 2, "unpack": 2, "inspect": 1}
    if action not in wanted:
        raise unknown("action of runs", action, wanted)
    if len(names) != wanted[action]:
        raise InvalidValue(f"runs {action} takes {wanted[action]} names, not {len(names)}; see plyground runs --help")
    paths = [Path(name) for name in names]
    if action == "pack":
        size = packing.pack(paths[0], paths[1], not without_memory)
        console.print(f"{paths[0]} packed into {paths[1]}: {size:,} bytes", soft_wrap=True)
    elif action == "unpack":
        steps = packing.unpack(paths[0], paths[1])
        console.print(f"{paths[0]} unpacked into {paths[1]}: checkpoints {', '.join(map(str, steps))}", soft_wrap=True)
    else:
        _inspect(paths[0])


def _inspect(run: Path) -> None:
    """What the newest checkpoint remembers."""
    learner = Learner(_config_of(run))
    learner.restore(newest_whole(run))
    memory = learner.memory
    if not memory.filled:
        console.print(f"{run} has stored nothing yet")
        return
    found = statistics(memory, memory.filled)
    rewards = memory.rewards[: memory.filled]
    decided = float((np.abs(rewards[memory.ended[: memory.filled] == 1]) > 0.5).mean()) if found["terminals"] else 0.0
    table = Table("", "", title=f"experience of {run} at step {learner.step}", title_justify="left", show_header=False)
    table.add_row("plies stored", f"{len(memory):,} of {memory.states.size:,}")
    for name, value in {**found, "decided": decided, "quality": quality(found, decided)}.items():
        table.add_row(name.replace("_", " "), f"{value:,}" if isinstance(value, int) else f"{value:.4f}")
    values, counts = np.unique(memory.actions[: memory.filled], return_counts=True)
    common = np.argsort(-counts)[:10]
    table.add_row("commonest actions", ", ".join(f"{values[k]} ({counts[k] / rewards.size:.1%})" for k in common))
    console.print(table)


def evaluate(
    run: Positional[RunPath],
    against: tuple[str, ...] = ("random", "greedy"),
    games: int = 1000,
    checkpoint: str = "best",
    seed: int = OPENINGS_SEED,
    json: bool = False,
) -> None:
    """Measure what a run has learned in paired matches.

    Args:
        against: agents, such as random greedy minimax:depth=3
        games: against each
        checkpoint: best, last, or a step
        seed: of the openings
        json: print one JSON object instead
    """
    agent, config = load_run(str(run), None, checkpoint), read_config(run)
    game, limit, results = agent.view.game, config.get("max_steps") or None, dict[str, Any]()
    for word in against:
        with progress(games, f"{run.name} against {word}", hide=json) as advance:
            match = play_match(game, agent, make(word, game), games, seed, progress=advance, max_plies=limit)
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
    save_curves(out, runs)
    print(f"wrote {out}", file=sys.stderr)


COMMANDS: dict[str, Callable[..., None]] = {"resume": resume, "runs": runs, "evaluate": evaluate, "plot": plot}
