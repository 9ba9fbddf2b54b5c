"""Several seeds of one experiment: `train --seeds` keeps them in one folder, as `seed-0`, `seed-1`, ..."""

from __future__ import annotations

import contextlib
import difflib
import re
from pathlib import Path

from plyground.errors import InvalidValue
from plyground.runs.files import is_file, is_folder

RUNS = Path("runs")  # where runs are kept
SEED = re.compile(r"seed-(\d{1,19})")


def seed_path(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}"


def is_seed(run: Path) -> bool:
    """Whether a run is one of several seeds, by its name."""
    return SEED.fullmatch(run.resolve().name) is not None


def seed_runs(folder: Path) -> list[Path]:
    """The runs of the seeds in a folder, by seed; none where the folder is itself a run, or holds no such runs."""
    if is_file(folder / "config.toml") or not is_folder(folder):
        return []
    found = {path: SEED.fullmatch(path.name) for path in folder.glob("seed-*")}
    seeds = {path: int(match[1]) for path, match in found.items() if match and is_file(path / "config.toml")}
    return sorted(seeds, key=lambda path: seeds[path])


def runs_of(path: Path) -> list[Path]:
    """The runs that a path names: those of the seeds in it, or the run itself."""
    return seed_runs(path) or [path]


def several_seeds(named: object, how: object) -> InvalidValue:
    """The error where one run is needed and a folder of several seeds is named; `how` names one of them."""
    return InvalidValue(f"{named} holds the runs of several seeds; name one of them: {how}")


def nearest_run(path: Path) -> Path | None:
    """The run whose name is closest to a path that is none: beside it or, for a name alone, also in `runs`."""
    named = list[str]()
    for folder in (path.parent, *([RUNS] if len(path.parts) == 1 else [])):
        with contextlib.suppress(OSError, ValueError):  # no folder can have this path
            named += [each.name for each in folder.glob("*") if is_file(each / "config.toml") or seed_runs(each)]
    near = difflib.get_close_matches(path.name, named, n=1)
    if near == [path.name]:
        return RUNS / path  # it is not beside the path, or the path would be a run
    return path.with_name(near[0]) if near else None
