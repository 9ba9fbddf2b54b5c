"""Ctrl-C, also where compiled code blocks Python's own handler."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from conftest import TINY, at_once
from plyground.cli import app, ctrl_c
from plyground.runs.directory import newest_whole, steps_of

pytestmark = [pytest.mark.once, pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C otherwise")]
BLOCKED = """
import hashlib, signal
from plyground.cli import ctrl_c
ctrl_c.GRACE = 0.2
signal.signal(signal.SIGINT, lambda number, frame: print("handled", flush=True))
with ctrl_c.ends_if_stuck():
    print("begins", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # like compiled code: no lock, and no look at signals
"""
SAVING = """
import os, signal, threading, time
from plyground.cli import ctrl_c
ctrl_c.GRACE = 1.0
heard = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
with ctrl_c.ends_if_stuck():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
    until = time.monotonic() + 3 * ctrl_c.GRACE
    while time.monotonic() < until:  # it saves
        time.sleep(0.1)
assert heard == [signal.SIGINT] * 2
assert threading.active_count() == 1
assert signal.set_wakeup_fd(-1) == -1
print("reacted and restored")
"""


GAME_FILE = """
import sys, time, types
from plyground.games.interface import FILE_PREFIX
game = sys.modules[FILE_PREFIX + "mine"] = types.ModuleType(FILE_PREFIX + "mine")
game.time = time
exec("def rule(seconds):\\n    end = time.monotonic() + seconds\\n    while time.monotonic() < end: pass", vars(game))
game.STATE = 1
"""
"""a module like that of a game file, with a rule in plain Python"""


@contextmanager
def started(line: list[str], **variables: str) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | variables
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def press_twice(process: subprocess.Popen[str]) -> str:
    """Ctrl-C, and once more; returns what the process says. The first one does not end it."""
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=20)[1]


def test_the_second_ctrl_c_ends_a_process_that_does_not_react() -> None:
    with started(["-c", BLOCKED]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        assert press_twice(process) == "plyground: stopped; what was saved is there\n"
    assert process.returncode == 130


@pytest.mark.parametrize("rule", ["game.rule(60)", 'hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)'])
def test_the_first_ctrl_c_ends_a_process_that_is_stuck_in_a_rule_of_a_game_file(rule: str) -> None:
    """The handler may run: whoever saves waits for the end of the rule."""
    stuck = BLOCKED.split("    hashlib.")[0] + f"    {rule}\n"
    with started(["-c", GAME_FILE + stuck]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20)[1] == "plyground: stopped; what was saved is there\n"
    assert process.returncode == 130


def test_rules_that_end_are_left_in_peace() -> None:
    """A game file is loaded, and its rules are called again and again while the process saves."""
    saving = SAVING.replace("time.sleep(0.1)\nassert", "game.rule(0.1)\nassert")
    assert saving != SAVING
    with started(["-c", GAME_FILE + saving]) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "reacted and restored\n", "")


def test_handlers_that_react_are_left_in_peace() -> None:
    """However long they save. In a process of its own: whoever does not react in time is ended."""
    with started(["-c", SAVING]) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "reacted and restored\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "kernel"), [('    state["repeats"] = 1', "reset_all"), ('        state["again"] = 0', "step_all")]
)
def test_ctrl_c_twice_ends_training_in_an_endless_rule(place: str, kernel: str, tmp_path: Path) -> None:
    rules, cache = Path(TINY[1]).read_text(), tmp_path / "cache"
    assert f"{place}\n" in rules
    indent = place[: -len(place.lstrip())]
    loop = f'{indent}while state["length"] > 0:\n{indent}    state["place"] = 1\n'
    (tmp_path / "endless.py").write_text(rules.replace(place, loop + place, 1))
    line = ["-m", "plyground", "train", "dqn", str(tmp_path / "endless.py"), "--network", "4", "--threads", "1"]
    with started([*line, "--out", str(tmp_path / "run")], PLYGROUND_CACHE=str(cache)) as process:
        until = time.monotonic() + 120
        while not list(cache.glob(f"*/__pycache__/*{kernel}*.nbi")) and time.monotonic() < until:
            time.sleep(0.1)
        assert "plyground: stopped; what was saved is there" in press_twice(process)
    assert process.returncode == 130


def test_a_command_that_was_stopped_does_not_wait_for_the_end_of_python() -> None:
    """Which takes a second with torch and numba, and many on a busy machine. Whoever reads its output may be gone."""
    late = 'import atexit; atexit.register(print, "late"); from plyground.cli import ctrl_c'
    for code, said in ((130, "words\n"), (0, "words\nlate\n")):
        with started(["-c", f'{late}; print("words"); ctrl_c.leave({code})']) as process:
            assert process.communicate(timeout=60) == (said, "")
        assert process.returncode == code
    with started(
        ["-c", f'{late}; import time; time.sleep(1); print("words"); ctrl_c.leave(130)'], PYTHONUNBUFFERED=""
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert process.returncode == 130


def test_ctrl_c_raises_only_in_blocks_and_commands_that_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all others it ends the process: within an import of torch an exception would abort it."""
    heard = list[bool]()

    def handler() -> object:
        return signal.getsignal(signal.SIGINT)

    def terminator() -> object:
        return signal.getsignal(signal.SIGTERM)

    def note(*_: object, **__: object) -> list[Path]:
        assert terminator() is handler()
        heard.append(handler() is signal.default_int_handler)
        return []

    monkeypatch.setattr("plyground.cli.training.one_run", lambda *_: Path("x"))
    with at_once():
        waiting = handler()
        assert terminator() is waiting
        for line, work, hears in (
            ("games", "cli.terminal.show_games", False),
            ("report x", "cli.runs.one_run", False),
            ("runs", "cli.runs._list", True),
            ("train ppo connect_four", "cli.running.train_new", True),
            ("resume x", "cli.running.resume_run", True),
            ("teach convert connect_four a b.csv", "teaching.dataset.convert", True),
        ):
            _, command, given = app.read(line.split())
            monkeypatch.setattr(f"plyground.{work}", note)
            with suppress(AttributeError, TypeError):  # where the work should have given something
                command(**given)
            assert heard.pop() == hears, line
            assert not heard
            assert handler() is terminator() is waiting
        with ctrl_c.interruptible():
            assert terminator() is ctrl_c._end_now, "where Ctrl-C ends a hint alone, SIGTERM ends the process"
        saving = ctrl_c.interruptible(signal.SIGTERM, kept=ctrl_c.SAVED)
        with saving, ctrl_c.stop_on_signal() as stop, ctrl_c.interruptible():
            signal.raise_signal(signal.SIGINT)
        assert stop == [signal.SIGINT], "a handler of another is left as it is"
        ctrl_c.stop_at_once(Learns())
        assert handler() is terminator() is signal.default_int_handler


TRAIN = ["-m", "plyground", "train", "dqn", "connect_four", "--network", "8", "--seconds", "600", "--threads", "1"]


def terminated(line: list[str], seconds: float, after: Path = Path("/")) -> tuple[int, str]:
    """The exit code and the words of a command that SIGTERM reaches so many seconds after a file is there. The first
    milliseconds, in which no line of ours has run, do not count."""
    with started(line) as process:
        status = Path(f"/proc/{process.pid}/status")
        while not int(status.read_text().partition("SigCgt:")[2].split()[0], 16) >> (signal.SIGTERM - 1) & 1:
            time.sleep(0.001)
        while not after.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert "Traceback" not in out + err
    return process.returncode, (out + err).strip()


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it tells which signals are caught")


@needs_proc
def test_sigterm_while_a_command_starts_is_a_sentence(tmp_path: Path) -> None:
    assert terminated([*TRAIN, "--out", str(tmp_path / "run")], 0.1) == (130, "plyground: stopped")
    assert not (tmp_path / "run").exists()


@needs_proc
@pytest.mark.slow
def test_sigterm_at_any_moment_loses_nothing(tmp_path: Path) -> None:
    """While it is imported, while the run is made, while it learns: nothing is left of a run that has learned nothing,
    every other one is resumed."""
    rng, codes = random.Random(5), list[int]()
    for number in range(25):
        run = tmp_path / f"run{number}"
        moment = (Path("/"), run / "config.toml", run / "best.json")[number % 3]
        code, said = terminated([*TRAIN, "--out", str(run)], rng.uniform(0, 3), moment)
        saved = "Stopped and saved at step" in said
        assert (code, saved) in ((130, False), (0, True)), said
        assert run.exists() == saved, said
        codes.append(code)
        if saved:
            before = steps_of(run)
            code, said = terminated(["-m", "plyground", "resume", str(run)], rng.uniform(0, 6))
            assert code in (0, 130), said
            assert steps_of(run)[-1] >= before[-1]
            newest_whole(run)
    assert len(set(codes)) == 2, "some have begun to learn, some have not"


class Learns:
    """An agent that saves when a game ends."""

    def ended(self) -> None: ...


def test_the_first_ctrl_c_claims_nothing_and_the_second_what_it_knows(capsys: pytest.CaptureFixture[str]) -> None:
    ctrl_c.say_stopped(str(KeyboardInterrupt()))
    with at_once(), ctrl_c.interruptible(), ctrl_c.stop_on_signal():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt) as stopped:
            signal.raise_signal(signal.SIGINT)
    ctrl_c.say_stopped(str(stopped.value))
    assert capsys.readouterr().err == "plyground: stopped\nplyground: stopped; what was saved is there\n"
