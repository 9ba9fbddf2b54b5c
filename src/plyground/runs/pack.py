"""A run to take along: as one file, a zip archive of the run directory; or slim, reduced to what playing needs.

The pretrained networks (`trained/`) are slim: config, and the best network in half precision. The config of each
original run is kept beside its weights:

    python -m plyground.runs.pack RUN FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
import zipfile
from pathlib import Path, PurePosixPath

import numpy as np

from plyground.errors import InvalidValue
from plyground.runs.directory import REPLAY, best_of, create, find_checkpoint, read_config, steps_of
from plyground.runs.files import plain_os_errors


def pack(run: Path, target: Path, replay: bool = True) -> int:
    """Write a run into one file and return its size. Without the replay buffer it can play but cannot be resumed."""
    read_config(run)
    if target.exists():
        raise InvalidValue(f"{target} exists already")
    aside = target.with_name(f".{target.name}.partial")
    left_out = {"lock"} if replay else {"lock", REPLAY}
    try:
        with plain_os_errors(f"write {target}"):
            with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                for path in sorted(path for path in run.rglob("*") if path.is_file() and path.name not in left_out):
                    name = path.relative_to(run).as_posix()
                    if "/." not in f"/{name}":  # no hidden file or folder
                        archive.write(path, name)
            aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)  # there only after an error
    return target.stat().st_size


def unpack(source: Path, run: Path) -> list[int]:
    """Make a run directory from a packed file and return the steps of its checkpoints."""
    if run.exists():
        raise InvalidValue(f"{run} exists already")
    aside = run.with_name(f".{run.name}.partial")
    try:
        with zipfile.ZipFile(source) as archive:
            for entry in archive.infolist():
                _extract(archive, entry, aside)
        read_config(aside)
        aside.rename(run)
    except FileNotFoundError:
        raise InvalidValue(f"no file {str(source)!r}") from None
    except (zipfile.BadZipFile, EOFError) as error:
        raise InvalidValue(f"{source} is not a packed run: {error}") from None
    except OSError as error:
        raise InvalidValue(f"cannot unpack {source}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return steps_of(run)


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, home: Path) -> None:
    """Extract one file, never outside `home`."""
    name = PurePosixPath(entry.filename)
    if entry.is_dir():
        return
    if name.is_absolute() or ".." in name.parts or "\\" in entry.filename or ":" in entry.filename:
        why = f"{archive.filename} holds {entry.filename!r}, which would be written outside the run"
        raise InvalidValue(f"{why}: nothing was unpacked")
    path = home.joinpath(*name.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)


def slim(run: Path, folder: Path) -> None:
    """Write a run's best network to a new folder; it can play but cannot be resumed."""
    checkpoint = find_checkpoint(run, "best")
    network = {name: values.astype(np.float16) for name, values in checkpoint.tensors("network").items()}
    with create(folder, read_config(run)) as made:
        made.save(checkpoint.step, checkpoint.identity, {"network": network}, {}, checkpoint.fingerprints)
        made.write("best.json", json.dumps(best_of(run), indent=1) + "\n")
    for name in ("lock", "metrics.jsonl"):
        (folder / name).unlink()


if __name__ == "__main__":
    slim(*map(Path, sys.argv[1:]))
