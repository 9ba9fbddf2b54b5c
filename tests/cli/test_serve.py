"""The command `serve` as a person calls it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from plyground.cli.app import main
from plyground.cli.serve import address_of, listen
from plyground.errors import InvalidValue
from plyground.web.trust import Trust

pytestmark = [pytest.mark.compiled, pytest.mark.once]


def test_the_address_has_the_token_where_one_is_needed() -> None:
    assert address_of(Trust("127.0.0.1", 8421)) == "http://127.0.0.1:8421/"
    assert address_of(Trust("::1", 8421, "x")) == "http://[::1]:8421/?token=x"


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(InvalidValue, match=f"127.0.0.1:{number}.*--port"):
            listen("127.0.0.1", number)


def test_sockets_send_without_delay() -> None:
    """asyncio switches Nagle's algorithm off only for sockets that name TCP; with it an answer takes 40 ms more."""
    with listen("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_serve_answers_and_ctrl_c_leaves_no_process_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plyground", "serve", "--port", "0", "--runs", str(tmp_path)]
    command += ["--tables", str(tmp_path / "tables")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        address = said.partition("//")[2].strip().rstrip("/")
        connection = http.client.HTTPConnection(address, timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        children = children_of(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert "Stopped" in process.stdout.read()
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists() and os.getpgid(pid) == pid]


def children_of(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # not Linux
        return []


def test_without_the_extra_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "plyground.cli.serve")
    monkeypatch.setattr(sys, "argv", ["plyground", "serve"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "uvicorn, which is not installed" in (said := capsys.readouterr().err)
    assert ".[web]" in said
