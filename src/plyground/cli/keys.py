"""Single keys from a terminal, without Enter."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from plyground.cli.ctrl_c import interruptible

NAMES = {"C": "right", "D": "left", "H": "home", "F": "end", "1~": "home", "4~": "end", "7~": "home", "8~": "end"}
"""the end of what a terminal sends for a key: its name"""
TYPED = re.compile(r"\x1b[\[O]([0-9;]*[A-Za-z~])|(.)", re.DOTALL)
OTHER = "other"  # a key without a meaning


class Keys:
    """Reads keys of a terminal while `listening`."""

    def __init__(self) -> None:
        self.typed: list[str] = []  # keys that were read together

    def read(self, seconds: float) -> str:
        """The next key, or an empty text after so many seconds; arrows are `left` and `right`."""
        if sys.platform == "win32":
            import msvcrt  # pyright: ignore

            end = time.monotonic() + seconds
            while not msvcrt.kbhit():  # pyright: ignore
                if time.monotonic() >= end:
                    return ""
                time.sleep(0.02)
            key, arrows = msvcrt.getwch(), {"M": "right", "K": "left", "G": "home", "O": "end"}  # pyright: ignore
            return arrows.get(msvcrt.getwch(), "") if key in "\x00\xe0" else key  # pyright: ignore
        if not self.typed:
            if not select.select([sys.stdin], [], [], max(0.0, seconds))[0]:
                return ""
            self.typed = split(os.read(sys.stdin.fileno(), 64).decode(errors="ignore")) or ["q"]  # no terminal: quit
        return self.typed.pop(0)


def split(typed: str) -> list[str]:
    """The keys of what a terminal has sent."""
    return [NAMES.get(found[1], OTHER) if found[1] else found[2] for found in TYPED.finditer(typed)]


@contextmanager
def listening() -> Generator[Keys]:
    """Let keys be read at once, and be shown nowhere."""
    if sys.platform == "win32":
        yield Keys()
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        with interruptible():  # the terminal must be as before in the end
            yield Keys()
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
