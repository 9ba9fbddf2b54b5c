"""Folders and processes of clusters: found by their mark, and removed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from plyground.cluster import leftovers

pytestmark = [pytest.mark.once, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]
SLEEP = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]


def sleeper(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(SLEEP, env={**os.environ, leftovers.MARK: str(folder)})


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(leftovers, "_parent", lambda: tmp_path)
    return tmp_path


def test_a_folder_is_for_its_user_alone_and_short_enough_for_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/" + "x" * 90)
    folder = leftovers.new_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(str(folder)) + len("/ray/session_2026-11-16_08-59-01_227311_1234567/sockets/plasma_store.123456") < 107
    leftovers.remove(folder)
    assert not folder.exists()


def test_removing_a_folder_ends_its_processes_and_no_others(parent: Path) -> None:
    mine, other = leftovers.new_folder(), leftovers.new_folder()
    with sleeper(mine) as process, sleeper(other) as bystander:
        assert leftovers.processes(mine) == [process.pid]
        leftovers.remove(mine)
        assert process.wait(5) == -15
        assert bystander.poll() is None
        bystander.kill()


def test_what_a_killed_process_has_left_is_removed_and_what_a_running_one_has_stays(parent: Path) -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", ""]) as ended:
        ended.wait()
    stale, running, foreign = parent / f"plyray-{ended.pid}-a", leftovers.new_folder(), parent / "plyray-x-a"
    stale.mkdir(mode=0o700)
    foreign.mkdir()
    with sleeper(stale) as process:
        leftovers.remove_all()
        assert process.wait(5) == -15
    assert not stale.exists()
    assert running.exists()
    assert foreign.exists()


def test_a_process_that_ignores_sigterm_is_killed(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "GRACE", 0.2)
    folder = leftovers.new_folder()
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    environment = {**os.environ, leftovers.MARK: str(folder)}
    with subprocess.Popen([sys.executable, "-S", "-c", code], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        leftovers.remove(folder)
        assert process.wait(5) == -9
