"""A run to take along: as one file, a zip archive of the run directory; or slim, reduced to what playing needs.

The pretrained networks (`trained/`) are slim: config, and the best network in half precision. The config of each
original run is kept beside its weights:

    python -m plyground.runs.pack RUN FOLDER [last]
"""

from __future__ import annotations

import json
import shutil
import stat
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from plyground.errors import InvalidValue, plain_os_errors, shorten
from plyground.private_folder import make_folder, open_private
from plyground.runs.directory import REPLAY, best_of, check_trusted, create, find_checkpoint, read_config, steps_of
from plyground.runs.files import is_file
from plyground.runs.learned import load_model

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_FILES, MOST_BYTES = 100_000, 2**40
DEEPEST = 50  # names of folders and a file; a run has 3, and thousands, as a name may have, cannot be removed again
MOST_RATIO, SMALL = 300, 2**24  # `pack` makes zeros 230 times smaller, nothing more; below SMALL it does no harm
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error)
"""what zipfile raises for archives that are damaged or made by other programs"""


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
                for path in sorted(run.rglob("*")):
                    name = path.relative_to(run).as_posix()
                    if path.is_file() and not path.is_symlink() and not _hidden(name) and path.name not in left_out:
                        archive.write(path, name)
            aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)  # there only after an error
    return target.stat().st_size


def unpack(source: Path, run: Path) -> list[int]:
    """Make a run directory from a packed file and return the steps of its checkpoints.

    All entries are checked before anything is written: plain files inside the run, of a size that fits the disk.
    """
    if run.exists():
        raise InvalidValue(f"{run} exists already")
    if not is_file(source):
        raise InvalidValue(f"no file {shorten(str(source))!r}")
    aside = run.with_name(f".{run.name}.partial")
    if aside.exists():
        raise InvalidValue(f"{aside} exists: another process unpacks there, or one was killed; then remove it")
    try:
        with zipfile.ZipFile(source) as archive:
            files = [each for each in archive.infolist() if not each.filename.endswith("/")]
            entries = [each for each in files if not _hidden(each.filename)]
            _check(source, entries, run)
            for entry in entries:
                path = aside / PurePosixPath(entry.filename)
                make_folder(path.parent)
                with archive.open(entry) as packed, open_private(path, "xb") as target:
                    shutil.copyfileobj(packed, target)
        read_config(aside)
        aside.rename(run)
    except OSError as error:
        raise InvalidValue(f"cannot unpack {source}: {error.strerror or error}") from None
    except BROKEN as error:
        raise InvalidValue(f"{source} is not a packed run, or damaged: {shorten(str(error), 200)}") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return steps_of(run)


def _hidden(name: str) -> bool:
    """Whether a file or one of its folders is hidden; such files belong to other programs."""
    parts = PurePosixPath(name).parts
    return any(part.startswith(".") and part != ".." for part in parts) and "\\" not in name  # such a name is refused


def _check(source: Path, entries: Sequence[zipfile.ZipInfo], run: Path) -> None:
    """Refuse an archive that is not one of ours, before anything is written."""
    faults = [f"{shorten(each.filename)!r}, which {fault}" for each in entries if (fault := _fault(each))]
    if not faults:  # no name is too deep: all its folders fit the memory
        names = [each.filename for each in entries]
        folders = {parent.as_posix() for name in names for parent in PurePosixPath(name).parents}
        faults += [f"{shorten(name)!r} twice" for name, count in Counter(names).items() if count > 1]
        faults += [f"{shorten(name)!r} both as a file and as a folder" for name in names if name in folders]
    if faults:
        raise InvalidValue(f"{source} holds {faults[0]}: nothing was unpacked")
    size, home = sum(each.file_size for each in entries), next(each for each in run.absolute().parents if each.exists())
    room = min(MOST_BYTES, shutil.disk_usage(home).free)
    if len(entries) > MOST_FILES or size > room:
        limits = f"there is room for {MOST_FILES:,} files of {room:,} bytes"
        raise InvalidValue(f"{source} holds {len(entries):,} files of {size:,} bytes; {limits}: nothing was unpacked")


def _fault(entry: zipfile.ZipInfo) -> str:
    """Why an entry is not unpacked; empty where it is a plain file inside the run."""
    name, kind = PurePosixPath(entry.filename), stat.S_IFMT(entry.external_attr >> 16)
    packed = max(1, entry.compress_size)
    reasons = {
        "would be written outside the run": name.is_absolute() or ".." in name.parts or {"\\", ":"} & set(str(name)),
        "has an empty name": not name.parts,
        f"lies {len(name.parts) - 1:,} folders deep": len(name.parts) > DEEPEST,
        "is no plain file": kind not in (0, stat.S_IFREG),
        "is encrypted": entry.flag_bits & 1,
        f"is packed by method {entry.compress_type}, not by deflate": entry.compress_type not in METHODS,
        f"would grow {entry.file_size // packed:,} times": entry.file_size > max(SMALL, MOST_RATIO * packed),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def slim(run: Path, folder: Path, which: str = "best") -> None:
    """Write a run's best network, or its last one, to a new folder; it can play but cannot be resumed."""
    from plyground.networks import NORM, without_norm  # only here: they need torch

    check_trusted(run)  # `create` trusts what it makes
    checkpoint, whole = find_checkpoint(run, which), load_model(run, None, which).network
    network = {name: values.half().numpy() for name, values in without_norm(whole).state_dict().items()}
    config, identity = (
        {key: value.replace(NORM, "") if key == "network" else value for key, value in each.items()}
        for each in (read_config(run), checkpoint.identity)
    )
    with create(folder, config) as made:
        made.save(checkpoint.step, identity, {"network": network}, {}, checkpoint.fingerprints)
        best = best_of(run) if which == "best" else {"step": checkpoint.step}
        made.write("best.json", json.dumps(best, indent=1) + "\n")
    for name in ("lock", "metrics.jsonl"):
        (folder / name).unlink()


if __name__ == "__main__":
    slim(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
