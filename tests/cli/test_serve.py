"""The command `serve` as a person calls it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from plyground.cli import serve
from plyground.cli.app import main
from plyground.cli.serve import address_of, listen, opened
from plyground.errors import InvalidValue
from plyground.web.trust import Trust
from served import wait_until

pytestmark = [pytest.mark.compiled, pytest.mark.once]


def test_the_address_has_the_token() -> None:
    assert address_of(Trust("0.0.0.0", 8421, "x")) == "http://127.0.0.1:8421/?token=x"  # noqa: S104
    assert address_of(Trust("::1", 8421, "x")) == "http://[::1]:8421/?token=x"


def test_a_browser_finds_the_token_in_a_private_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr("webbrowser.open", asked.append)
    with opened(Trust("127.0.0.1", 8421, "the-token")):
        file = Path(urlsplit(asked[0]).path)
        assert "the-token" not in asked[0], "it would be in the list of processes"
        assert "url=http://127.0.0.1:8421/?token=the-token" in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        with opened(Trust("127.0.0.1", 8421, "other")):  # a file that a killed server has left
            assert "token=other" in file.read_text()
    assert not file.exists()


def test_the_file_is_removed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    monkeypatch.setattr("webbrowser.open", asked.append)
    monkeypatch.setattr(serve, "READ", 0.05)
    with opened(Trust("127.0.0.1", 8421, "x")):
        wait_until(lambda: not Path(urlsplit(asked[0]).path).exists())


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
        address = urlsplit(said.split()[-1])
        connection = http.client.HTTPConnection(address.netloc, timeout=60)
        connection.request("GET", f"/?{address.query}")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (303, b"")
        connection.request("GET", "/", headers={"Cookie": answer.headers["Set-Cookie"].partition(";")[0]})
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
