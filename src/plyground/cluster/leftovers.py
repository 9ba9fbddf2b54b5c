"""Folders and processes of the clusters that we start: marked, so that none is left behind, even after a kill.

Each cluster has a folder named after the process that started it. All its processes have the folder's path in their
environment, which is how they are found: some of Ray's outlive a killed parent for minutes.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from plyground.private_folder import is_ours

MARK = "PLYGROUND_CLUSTER"
"""the variable that names the folder"""
PREFIX = "plyray-"
GRACE = 5.0  # seconds that a process has to end by itself
LONGEST = 8
"""characters of a folder for temporary files: the path of a socket has at most 107, of which our own folder takes 24
and Ray's names 75"""


def new_folder() -> Path:
    """A folder for a cluster of this process, for this user alone."""
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=_parent()))


def _parent() -> Path:
    found = Path(tempfile.gettempdir())
    return found if len(str(found)) <= LONGEST or sys.platform == "win32" else Path("/tmp")  # noqa: S108


def processes(folder: Path) -> list[int]:
    """The processes of a cluster that run; none where the operating system does not show their environment."""
    wanted, found = f"{MARK}={folder}".encode(), list[int]()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or it belongs to somebody else
            if wanted in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return found


def remove(folder: Path) -> None:
    """End the processes of a cluster that are left, and remove its folder."""
    for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)) if sys.platform != "win32" else ():
        end = time.monotonic() + seconds
        for pid in processes(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        while processes(folder) and time.monotonic() < end:
            time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


def remove_all() -> None:
    """Remove what processes have left that were killed."""
    for folder in _parent().glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        with suppress(OSError):
            if pid.isdecimal() and not _runs(int(pid)) and is_ours(folder):
                remove(folder)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
