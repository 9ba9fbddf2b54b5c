"""numba's cache files, checked before they are executed.

numba unpickles and runs what lies in its cache folder. Here each file ends with the hash of its content and its place
and belongs to this user alone: one that is damaged, of another function or not ours is compiled anew and replaced. On a
full disk nothing is kept, and the work goes on.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
import hashlib
import io
import logging
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core.caching import NullCache

from plyground.kernels.private import is_ours

HASH = hashlib.sha256().digest_size
FORMAT = 2  # of the files, part of every fingerprint: two versions with one cache folder do not replace each other's
LOG = logging.getLogger("plyground")


class Checked:
    """What is put before numba's IndexDataCacheFile: an index for each function and a data file for each signature."""

    def save(self, key: Any, data: Any) -> None:
        try:
            super().save(key, data)  # pyright: ignore
        except OSError as error:
            _warn(f"compiled code cannot be kept: {error.strerror or error}")

    def _data_name(self, number: int) -> str:
        """A name that no other process takes. numba counts: two that compile a function for different types at once
        would take the same number, and the index of one would lead to the code of the other."""
        return super()._data_name(secrets.randbits(63))  # pyright: ignore

    def _load_index(self: Any) -> dict[Any, str]:
        return super()._load_index() if is_whole(Path(self._index_path)) else {}  # pyright: ignore

    def _load_data(self: Any, name: str) -> Any:
        path = Path(self._data_path(name))
        if not is_whole(path):
            raise OSError(f"{path} is damaged or not ours")  # numba then compiles the function
        return super()._load_data(name)  # pyright: ignore

    @contextmanager
    def _open_for_write(self, filepath: str) -> Generator[io.BytesIO]:
        with super()._open_for_write(filepath) as file, io.BytesIO() as content:  # pyright: ignore
            yield content
            if sys.platform != "win32":
                os.fchmod(file.fileno(), 0o600)  # whatever the umask
            file.write(content.getvalue() + _sum(Path(filepath), content.getvalue()))  # pickle ignores what follows


def is_whole(path: Path) -> bool:
    """Whether a file is ours and ends with the hash of its place and of what comes before."""
    try:
        content = path.read_bytes() if is_ours(path) else b""
    except OSError:
        return False
    return len(content) > HASH and _sum(path, content[:-HASH]) == content[-HASH:]


def copy_checked(source: Path, target: Path) -> None:
    """Copy what is compiled of a module from a disk that is read-only: the files that are whole and ours."""
    files = [*source.glob("kernels.py"), *filter(is_whole, source.glob("__pycache__/*.nb[ic]"))]
    if len(files) < 2:
        return
    aside = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        (aside / "__pycache__").mkdir(mode=0o700)
        for path in files:
            shutil.copy2(path, aside / path.relative_to(source))
        aside.rename(target)
    except OSError as error:
        LOG.info("compiled code of %s is not copied: %s", source.name, error)  # another process was first, a full disk
    finally:
        shutil.rmtree(aside, ignore_errors=True)  # there only after an error


def _sum(path: Path, content: bytes) -> bytes:
    """The hash of a content and of what it is: the names of the module's folder, with its fingerprint, and of the file,
    with the function's name."""
    return hashlib.sha256("/".join(path.parts[-3:]).encode() + b"\0" + content).digest()


def check_cache(module: ModuleType) -> None:
    """Let every compiled function of a module read only checked files."""
    for value in vars(module).values():
        file = getattr(getattr(value, "_cache", None), "_cache_file", None)
        if file is not None and not isinstance(file, Checked):
            file.__class__ = _checked(type(file))


def without_lock(function: Any) -> None:
    """Let other threads run while a game's compiled function does, which may be endless: one of them hears Ctrl-C."""
    if hasattr(function, "targetoptions"):
        function.targetoptions["nogil"] = True


def without_own_cache(function: Any) -> None:
    """Switch off `njit(cache=True)` of a game's function: numba would execute whatever lies beside the game's file."""
    file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if file is not None and not isinstance(file, Checked):
        function._cache = NullCache()


@functools.cache
def _checked(kind: type[Any]) -> type[Any]:
    return type("CheckedCacheFile", (Checked, kind), {})


@functools.cache  # each is said once
def _warn(text: str) -> None:
    LOG.warning("%s", text)
