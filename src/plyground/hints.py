"""What people are told to type: commands as they called this one, and how to install what is missing."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path


def command(*words: object) -> str:
    """A command of ours, to be typed in the same place in the same way as the one that runs."""
    return " ".join([_program(), *(shlex.quote(str(word)) for word in words)])


def _program() -> str:
    """`plyground` where that is found, else the path to it; or as a module of the same Python."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.orig_argv[0])} -m plyground"
    found = shutil.which("plyground")
    if called.stem != "plyground" or (found and Path(found).resolve() == called.resolve()):
        return "plyground"
    return shlex.quote(sys.argv[0])


def install(extra: str) -> str:
    """How to install an extra: we are in no package index."""
    return f"in Plyground's folder: pip install -c constraints.txt -e '.[{extra}]'"
