"""Game files that have passed `plyground check`, by content. Until a file has, its compiled code checks the bounds of
arrays on the command line: a write beyond an array is then an error, not a crash.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

import numba

from plyground import __version__
from plyground.private_folder import cache_folder, make_folder


def has_passed(path: Path) -> bool:
    """Whether the file, as it is now, has passed the laws of this version."""
    return _mark(path).is_file()


def remember(path: Path) -> None:
    """Remember that the file, as it is now, has passed. Where nothing can be written, it is checked again."""
    mark = _mark(path)
    with contextlib.suppress(OSError):
        make_folder(mark.parent)
        mark.touch()


def check_bounds() -> None:
    """Check bounds in all that is compiled from now on, in this process and in those that it starts."""
    numba.config.BOUNDSCHECK = 1  # pyright: ignore
    os.environ["NUMBA_BOUNDSCHECK"] = "1"


def _mark(path: Path) -> Path:
    content = hashlib.sha256(__version__.encode() + path.read_bytes()).hexdigest()
    return cache_folder() / "passed" / content
