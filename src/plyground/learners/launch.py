"""New runs: a directory with all settings, and a fresh learner. From Python: `pg.train("ppo", "connect_four")`."""

from __future__ import annotations

import inspect
import itertools
import logging
import platform
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import numba
import numpy as np

import plyground
from plyground.agents.agent import Agent
from plyground.agents.registry import load_run
from plyground.backend.out_of_memory import explain_out_of_memory
from plyground.errors import InvalidValue, command, naming_extras, unknown
from plyground.game import Game
from plyground.games.typed_names import game_name
from plyground.learners import find_learner, training
from plyground.learners.defaults import resolve
from plyground.learners.evaluation import Event
from plyground.learners.progress_text import ShortLines
from plyground.runs import directory
from plyground.runs.directory import Run
from plyground.runs.groups import RUNS
from plyground.runs.settings import build

LOG = logging.getLogger("plyground")
SMALLER = "try a smaller num_envs, buffer_size, batch_size or network"


def train(
    learner: str,
    game: str | PathLike[str] | Game,
    out: str | Path | None = None,
    progress: Callable[[Event], None] | None = None,
    **settings: Any,
) -> Agent:
    """Train a learner (`dqn`, `ppo`, ...) and return the best version as an agent.

    Settings are those of the command `train`: `pg.train("ppo", "connect_four", seconds=60)`. The run is kept in
    `out`, by default a new directory in `runs/`. A notice tells of each cycle; with `progress`, that is called with
    each event, plain data, instead.
    """
    path = Path(out) if out else next_free(RUNS, learner)
    if directory.is_taken(path):
        there = f"what that run has learned is pg.agent('run:{path}', game)"
        raise InvalidValue(f"{path} exists already: name another, out=..., or none for a new one; {there}")
    entry = find_learner(learner)
    known = [field.name for field in fields(entry.config)]
    for name in settings:
        if name not in known:
            raise unknown(f"setting of {learner}", name, known, command("train", learner, "--help"))
    settings["game"] = game.full if isinstance(game, Game) else game_name(game)
    with naming_extras():
        config = resolve(build(entry.config, settings, learner))
        kind = entry.learner
    with new_run(path, learner, config) as run, explain_out_of_memory(SMALLER):
        lines = ShortLines(LOG.info)
        training.train(begin(kind, config, path), run, progress or lines)
        lines.end()
    if progress is None:
        LOG.info("the run is in %s; for a report: %s", path, command("report", path))
    return load_run(str(path), None, "best")


def next_free(folder: Path, name: str) -> Path:
    """The first free directory of that name and a number."""
    paths = (folder / f"{name}-{number}" for number in itertools.count(1))
    return next(path for path in paths if not path.exists())


@contextmanager
def new_run(path: Path, learner: str, config: Any, **tables: Mapping[str, Any]) -> Generator[Run]:
    """A new run directory with all settings, and further tables of config.toml; it is removed again if the run fails
    before its first checkpoint."""
    missing = [each for each in path.parents if not each.exists()]
    with directory.create(path, {"learner": learner, **asdict(config), "versions": versions(), **tables}) as run:
        try:
            yield run
        except BaseException as error:
            if not directory.steps_of(path):
                shutil.rmtree(path)
                with suppress(OSError):  # another run may be there by now
                    for folder in missing:
                        folder.rmdir()
                if isinstance(error, KeyboardInterrupt):
                    raise KeyboardInterrupt(f"{path} had learned nothing yet, and is removed") from None
            raise


def begin(learner: type[Any], config: Any, path: Path) -> Any:
    """A fresh learner; one that keeps files in the run's directory takes it as `folder`."""
    own = {"folder": path} if "folder" in inspect.signature(learner).parameters else {}
    with explain_out_of_memory(SMALLER):
        return learner(config, **own)


def _of_torch() -> dict[str, str]:
    """Its version, where it is installed: not every learner needs it."""
    with suppress(PackageNotFoundError):
        return {"torch": version("torch")}
    return {}


def versions() -> dict[str, str]:
    """The versions that a run's numbers depend on."""
    own = {"plyground": plyground.__version__, "python": platform.python_version(), **_of_torch()}
    return own | {"numba": numba.__version__, "numpy": np.__version__}
