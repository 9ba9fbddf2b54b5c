"""The process of a command line, before the command."""

from __future__ import annotations

import atexit
import os
import signal
import sys

import pytest

from plyground import __main__ as program
from plyground.cli import app, ctrl_c

pytestmark = pytest.mark.once


class Ended(Exception):
    """In place of the end of this process."""


def test_ctrl_c_ends_the_process_from_its_first_imports_on(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list[object]()
    before, woken = {each: signal.getsignal(each) for each in ctrl_c.STOPS}, signal.set_wakeup_fd(-1)
    monkeypatch.setattr(atexit, "register", lambda *call: found.append(call))
    monkeypatch.setattr(app, "main", lambda: found.append(signal.getsignal(signal.SIGINT)))
    try:
        with pytest.raises(SystemExit):
            program.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken)
    assert found == [(signal.signal, signal.SIGINT, signal.SIG_IGN), ctrl_c._wait_for_listener]


def test_ctrl_c_among_the_first_imports_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(code: int) -> None:
        raise Ended(code)

    class Interrupted:
        def find_spec(self, name: str, *_: object) -> None:
            raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "plyground.cli.ctrl_c")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    monkeypatch.setattr(os, "_exit", end)
    with pytest.raises(Ended, match="130"):
        program.run()
    assert capsys.readouterr().err == "plyground: stopped\n"
