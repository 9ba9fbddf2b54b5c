"""A command as a process of the server."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.once
WAITING = """
import signal, time
from plyground.web.child import stop_with_server
stop_with_server()
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_a_process_stops_when_the_server_is_gone() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.close()  # as when the server has been killed
        assert process.stdout.readline() == "stopped\n"
        assert process.wait(30) == 0
