"""Keys of a terminal."""

from __future__ import annotations

import os
import sys

import pytest

from plyground.cli.keys import OTHER, Keys, listening, split

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")


def test_what_terminals_send_are_keys() -> None:
    assert split("q \x1b[C\x1bOD\x1b[4~\x1b[H+") == ["q", " ", "right", "left", "end", "home", "+"]
    assert split("\x1b[5~") == [OTHER], "a key without a meaning is no escape"
    assert split("\x1b") == ["\x1b"]


def test_keys_are_read_without_enter_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty
    import termios

    person, terminal = pty.openpty()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        before = termios.tcgetattr(terminal)
        with listening() as keys:
            assert isinstance(keys, Keys)
            assert keys.read(0.01) == ""
            os.write(person, b"n\x1b[D")
            assert [keys.read(2.0), keys.read(2.0)] == ["n", "left"]
        assert termios.tcgetattr(terminal) == before
    os.close(person)
