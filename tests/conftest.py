"""What several tests share: the games that the laws are checked on, folders, fixtures, and the rule for GPUs."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import numba
import pytest
from hypothesis import HealthCheck, settings

import plyground as pg
from plyground.cli import app, ctrl_c
from plyground.games import GAMES
from plyground.play.background import NAME

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""torch's threads sleep while they wait for each other: two processes on two cores would spin most of their time"""

settings.register_profile("loaded", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("loaded")  # a busy machine is no fault of the code

if numba.config.ENABLE_CUDASIM:  # pyright: ignore
    from numba.cuda.simulator.kernel import BlockThread

    def _is_alive(self: threading.Thread) -> bool:
        """The simulation asks its threads in a loop, and while it asks they cannot run: let it wait a millisecond."""
        self.join(0.001)
        return threading.Thread.is_alive(self)

    BlockThread.is_alive = _is_alive

TESTS = Path(__file__).parent
ROOT = TESTS.parent
JIT = not numba.config.DISABLE_JIT  # pyright: ignore
TINY = [str(TESTS / "tiny_games" / "duel.py"), str(TESTS / "tiny_games" / "hops.py")]
EVERY_GAME = [
    *GAMES,
    "sequence:rules=boxed",
    "sequence:seats=4",
    "sequence:rules=boxed,seats=4",
    str(ROOT / "examples" / "three_in_a_row.py"),
    *TINY,
    f"{TINY[1]}:length=5,resting=forbidden",
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `game` runs on every game."""
    if "game" in metafunc.fixturenames:
        metafunc.parametrize("game", EVERY_GAME, ids=lambda word: Path(word).name, indirect=True)


def gpu_problem() -> str:
    """Why the GPU of this machine cannot be used although the extra `gpu` is installed; empty if it can, or is not."""
    if importlib.util.find_spec("numba_cuda") is None or not any(Path("/dev").glob("nvidia[0-9]*")):
        return ""
    import torch

    from plyground.backend.device import problem

    return problem() if torch.version.cuda else ""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that need a GPU skip where there is none; where one is there and unusable, they fail with the reason."""
    if item.get_closest_marker("gpu") and (reason := gpu_problem()):
        pytest.fail(f"the extra [gpu] is installed and there is a GPU, but it cannot be used: {reason}", pytrace=False)


@pytest.fixture
def game(request: pytest.FixtureRequest) -> pg.Game:
    return pg.load(request.param)


@pytest.fixture(scope="session")
def connect_four() -> pg.Game:
    return pg.load("connect_four")


@pytest.fixture(scope="session")
def paco_sako() -> pg.Game:
    return pg.load("paco_sako")


@pytest.fixture(scope="session")
def foreign_data() -> Path:
    """Other people's test data, which is not part of the project."""
    place = os.environ.get("PLYGROUND_TEST_DATA")
    if not place or not Path(place).is_dir():
        pytest.skip("PLYGROUND_TEST_DATA names no folder with other people's test data")
    return Path(place)


@pytest.fixture
def steady_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Like `tmp_path`, but the same in every run. Kernels belong to a game at its path: those of a game that a test
    writes here are compiled by the first run and found by the next. Two runs at once have two folders."""
    assert request.config.cache is not None
    home = request.config.cache.mkdir("games") / hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]
    home.mkdir(exist_ok=True)
    path = next(path for path in (home / str(number) for number in count()) if _made(path))
    yield path
    shutil.rmtree(path)


def _made(path: Path) -> bool:
    try:
        path.mkdir()
    except FileExistsError:
        return False
    return True


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command, in this process."""
    monkeypatch.setattr(sys, "argv", ["plyground", *arguments])
    capsys.readouterr()
    try:
        app.main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    finish_compiling()
    out, err = capsys.readouterr()
    return code, out, err


@contextmanager
def at_once() -> Iterator[None]:
    """Ctrl-C as in a process of its own that has just begun."""
    before, woken = {each: signal.getsignal(each) for each in ctrl_c.STOPS}, signal.set_wakeup_fd(-1)
    ctrl_c.stop_at_once(kept="")
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(woken)


def finish_compiling() -> None:
    """Wait for a compiler in the background, which a process of its own would leave behind."""
    for thread in threading.enumerate():
        if thread.name == NAME:
            thread.join()


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return lambda *arguments: run(capsys, monkeypatch, *arguments)
