"""numba's cache files, checked before they are executed.

numba unpickles and runs what lies in its cache folder. Here each file ends with the hash of its content and its place
and belongs to this user alone: one that is damaged, of another function or not ours is compiled anew and replaced. On a
full disk nothing is kept, and the work goes on.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import shutil
import tempfile
from pathlib import Path

from plyground.private_folder import is_ours

HASH = hashlib.sha256().digest_size
FORMAT = 2  # of the files, part of every fingerprint: two versions with one cache folder do not replace each other's
LOG = logging.getLogger("plyground")


def is_whole(path: Path) -> bool:
    """Whether a file is ours and ends with the hash of its place and of what comes before."""
    try:
        content = path.read_bytes() if is_ours(path) else b""
    except OSError:
        return False
    return len(content) > HASH and _sum(path, content[:-HASH]) == content[-HASH:]


def sealed(path: Path, content: bytes) -> bytes:
    """A content as the file of that name keeps it: pickle ignores what follows."""
    return content + _sum(path, content)


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


@functools.cache  # each is said once
def warn(text: str) -> None:
    LOG.warning("%s", text)
