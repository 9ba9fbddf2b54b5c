"""A run as one file, to move it between machines: a zip archive of the run directory."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path, PurePosixPath

from plyground.errors import InvalidValue
from plyground.runs.directory import REPLAY, read_config, steps_of

LEFT_OUT = {"lock"}


def pack(run: Path, target: Path, replay: bool = True) -> int:
    """Write a run into one file and return its size. Without the replay buffer it can play but cannot be resumed."""
    read_config(run)
    if target.exists():
        raise InvalidValue(f"{target} exists already")
    aside = target.with_name(f".{target.name}.partial")
    names = sorted(path for path in run.rglob("*") if path.is_file() and not _hidden(path.relative_to(run)))
    try:
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for path in names:
                if path.name not in LEFT_OUT and (replay or path.name != REPLAY):
                    archive.write(path, path.relative_to(run).as_posix())
        aside.replace(target)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise InvalidValue(f"cannot write {target}: {error.strerror or error}") from None
    return target.stat().st_size


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


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
        raise InvalidValue(
            f"{archive.filename} holds {entry.filename!r}, which would be written outside the run: nothing was unpacked"
        )
    path = home.joinpath(*name.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
