"""Atomic file writes (temporary file, sync, rename), checksums, and a lock that ends with its process."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from plyground.errors import Error, InvalidValue, plain_os_errors, shorten, shown_path
from plyground.private_folder import open_private
from plyground.private_folder import sync_folder as sync_folder  # for those who write files


class DamagedFile(Error):
    """A file whose content differs from what was written."""


class Busy(Error):
    """A run directory that another process has locked."""


def write_whole(path: Path, content: bytes, shared: bool = False) -> None:
    """Replace a file atomically: a crash leaves the old content or the new one. A new file can be read by its owner
    alone, unless it is made to be `shared`; one that is there keeps its mode."""
    replace(path, content, shared)
    sync_folder(path.parent)


def replace(path: Path, content: bytes, shared: bool = False) -> None:
    """The same, but until the folder is synced the end of the power may leave the old content."""
    aside = path.with_name(f".{path.name}.partial")
    write_synced(aside, content, shared)
    with suppress(FileNotFoundError):
        aside.chmod(stat.S_IMODE(path.stat().st_mode))
    aside.replace(path)


def check_writable(path: Path) -> None:
    """Raise an error before the work starts where its result could not be written."""
    with plain_os_errors(f"write {shorten(str(path))}"):
        path.exists()  # an error where the path is too long
    reasons = {
        "it is a folder": path.is_dir(),
        f"there is no folder {path.parent}": not path.parent.is_dir(),
        "permission denied": not os.access(path if path.exists() else path.parent, os.W_OK),
    }
    if found := [reason for reason, holds in reasons.items() if holds]:
        raise InvalidValue(f"cannot write {path}: {found[0]}")


def write_synced(path: Path, content: bytes, shared: bool = False) -> None:
    with path.open("wb") if shared else open_private(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_file(path: Path) -> bool:
    """Whether there is a file; a path that no file can have, such as one that is too long, has none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def read_bytes(path: Path) -> bytes:
    """A file's content; a folder, a missing or unreadable file is one sentence."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedFile(f"cannot read {path}: {error.strerror or error}") from None


def read_text(path: Path, what: str) -> str:
    """The text of a file in UTF-8, with or without its mark, otherwise in Latin-1, which is PGN's standard."""
    try:
        with suppress(UnicodeDecodeError):
            return path.read_text(encoding="utf-8-sig")
        return path.read_text(encoding="latin-1")
    except OSError as error:
        raise InvalidValue(f"cannot read {what} from {shown_path(path)!r}: {error.strerror}") from None


def read_checked(path: Path, size: int, sha256: str) -> bytes:
    """A file's content, checked against size and checksum of its manifest entry."""
    try:
        found = path.lstat()
    except (OSError, ValueError):  # also of a name that no file can have
        raise DamagedFile(f"{path.parent / shorten(path.name)} is missing") from None
    if not stat.S_ISREG(found.st_mode):
        raise DamagedFile(f"{path} is not a plain file")
    if found.st_size != size:
        raise DamagedFile(f"{path} has {found.st_size} bytes; {size} were written")
    content = read_bytes(path)
    if checksum(content) != sha256:
        raise DamagedFile(f"{path} has changed since it was written: its checksum differs")
    return content


def lock(path: Path, wait: float = 0.0) -> IO[bytes]:
    """Lock a file for this process until it ends or closes the returned handle; `wait` so many seconds for another."""
    file, end = open_private(path, "ab"), time.monotonic() + wait
    while True:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except OSError as error:
            held = isinstance(error, BlockingIOError | PermissionError)  # and not a file system without locks
            if not held or time.monotonic() >= end:
                file.close()
                raise Busy(f"another process works on {path.parent}: wait for it or stop it") from None
            time.sleep(0.01)
