"""The private folder of a user: compiled games, what the user trusts, and a secret. Nobody else can write there.

It is $PLYGROUND_CACHE, or the user's cache folder. Where that cannot be used (no HOME and no entry in the list of
users, a home that is read-only), it is one folder for each user in the folder for temporary files. What is compiled
already in a folder that is read-only is taken from there.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from plyground.errors import InvalidValue

LOG = logging.getLogger("plyground")
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
SECRET_BYTES = 32


def cache_folder() -> Path:
    """Where compiled games are kept: the first place that is ours and can be written."""
    return _usable(os.environ.get("PLYGROUND_CACHE", ""), os.environ.get("XDG_CACHE_HOME", ""))


@functools.cache
def _usable(chosen: str, caches: str) -> Path:
    own, reasons = _wanted(chosen, caches), list[str]()
    for folder in (*own, temporary_folder()):
        if reason := _problem(folder, ours=not chosen):
            reasons.append(f"{folder} ({reason})")
        else:
            if reasons:
                LOG.warning("cannot keep compiled games in %s; they are kept in %s", " or ".join(reasons), folder)
            return folder
    raise InvalidValue(f"compiled games cannot be kept in {' or '.join(reasons)}: set PLYGROUND_CACHE to a folder")


def read_only_folders() -> list[Path]:
    """Where compiled games of this user may lie that cannot be kept there any more: on a disk that is read-only now."""
    own = _wanted(os.environ.get("PLYGROUND_CACHE", ""), os.environ.get("XDG_CACHE_HOME", ""))
    others = [folder for folder in own if folder != cache_folder() and os.path.isdir(folder)]  # noqa: PTH112 (of any name)
    return [folder for folder in others if is_ours(folder.resolve())]


def _wanted(chosen: str, caches: str) -> list[Path]:
    """The folder that the user or the operating system names; none without a home."""
    if chosen:
        return [Path(chosen)]
    try:
        if sys.platform == "win32":
            return [Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "plyground"]
        if sys.platform == "darwin":
            return [Path.home() / "Library" / "Caches" / "plyground"]
        return [Path(caches or Path.home() / ".cache") / "plyground"]
    except RuntimeError:  # no HOME, and the list of users does not have this one
        return []


def temporary_folder() -> Path:
    """One folder for each user, so that it is found again."""
    user = "" if sys.platform == "win32" else f"-{os.getuid()}"  # on Windows the folder is the user's own
    return Path(tempfile.gettempdir()) / f"plyground{user}"


def _problem(folder: Path, ours: bool = True) -> str:
    """Why a folder cannot be used; empty if it is ours and can be written. A new one is made for us alone.

    A folder of our own making (`ours`) may have got the mode of a group's umask: it becomes private.
    """
    try:
        make_folder(folder)
        if ours and sys.platform != "win32" and folder.lstat().st_uid == os.getuid() and not folder.is_symlink():
            folder.chmod(0o700)
        if not is_ours(folder.resolve() if not ours else folder):
            return "others can write to it"
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def make_folder(path: Path) -> None:
    """A folder, and those above it, that only their owner can enter. One that is there already keeps its mode."""
    for folder in reversed([path, *path.parents]):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)
            with contextlib.suppress(PermissionError):  # of a folder that may be entered but not read
                sync_folder(folder.parent)


def open_private(path: Path, mode: str) -> IO[Any]:
    """An open file that only its owner can read or write. One that is there already keeps its mode."""
    return io.open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600))  # noqa: UP020 (that of Path.open)


def sync_folder(path: Path) -> None:
    """Sync a folder's entries to disk, where the operating system supports it."""
    if sys.platform == "win32":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def is_ours(path: Path) -> bool:
    """Whether a file or folder belongs to this user and nobody else can write to it; a link is not followed."""
    if sys.platform == "win32":
        return True  # the folder is the user's own, and modes mean nothing
    found = path.lstat()
    plain = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return plain and found.st_uid == os.getuid() and not found.st_mode & OTHERS_WRITE


@functools.cache
def secret(folder: Path | None, name: str = "secret") -> bytes:
    """Random bytes that only this user can read: those of a file in the private folder, made once.

    Where they cannot be kept, or without a folder, this process has some of its own.
    """
    if folder is None:
        return os.urandom(SECRET_BYTES)
    file = folder / name
    try:
        if os.path.lexists(file) and not _is_secret(file):  # in this order: one that appears meanwhile is complete
            file.unlink()
        if not file.exists():
            write_once(file, os.urandom(SECRET_BYTES))
        found = file.read_bytes()  # perhaps those that another process has just written
        return found if _is_secret(file) else os.urandom(SECRET_BYTES)
    except OSError:
        return os.urandom(SECRET_BYTES)


def _is_secret(file: Path) -> bool:
    if not file.exists() or not is_ours(file):
        return False
    found = file.stat()
    hidden = sys.platform == "win32" or not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    return hidden and found.st_size == SECRET_BYTES


def write_once(file: Path, content: bytes) -> None:
    """A complete file that only its owner can read; one that is there already stays. Of two processes one is first."""
    number, aside = tempfile.mkstemp(dir=file.parent)  # readable by its owner alone
    try:
        with os.fdopen(number, "wb") as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        _link(Path(aside), file)
    except FileExistsError:
        pass
    finally:
        Path(aside).unlink()
    sync_folder(file.parent)


def _link(source: Path, target: Path) -> None:
    """A hard link; where the file system has none, a copy."""
    try:
        target.hardlink_to(source)
    except FileExistsError:
        raise
    except OSError:
        with open(target, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as copied:
            copied.write(source.read_bytes())
