"""Connections that are slow, half-sent or malformed end, and disturb nobody."""

from __future__ import annotations

import http.client
import logging
import socket
import time
from collections.abc import Generator

import pytest

from plyground.web import protocol
from plyground.web.protocol import MOST_CONNECTIONS
from served import Served, serving

pytestmark = [pytest.mark.compiled, pytest.mark.once]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as found:
        yield found


def connected(served: Served) -> socket.socket:
    return socket.create_connection(("127.0.0.1", served.trust.port), timeout=60)


def head(served: Served, line: str, *headers: str) -> bytes:
    return "\r\n".join([line, f"Host: {served.host}", *headers, "", ""]).encode()


def answers(served: Served) -> bool:
    connection = http.client.HTTPConnection(served.host, timeout=60)
    connection.request("GET", "/", headers=served.signed_in)
    return connection.getresponse().status == 200


def ended(connection: socket.socket) -> bool:
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


HALVES = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHo",
    "half a body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
    "half of the next": b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT",
    "a body that never comes": b"GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Content-Length: 9\r\n\r\n",
}


@pytest.mark.parametrize("sent", HALVES.values(), ids=HALVES)
def test_a_request_that_is_never_complete_ends(served: Served, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.2)
    with connected(served) as connection:
        connection.sendall(sent)
        assert ended(connection)
    assert answers(served)


def test_a_request_in_drops_ends(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "PATIENCE", 0.2)

    def drip(connection: socket.socket) -> None:
        for _ in range(500):
            connection.sendall(b"G")
            time.sleep(0.02)

    with connected(served) as connection, pytest.raises(OSError, match=r"reset|Broken pipe"):
        drip(connection)


def test_of_too_many_connections_the_oldest_end(served: Served) -> None:
    waiting = [connected(served) for _ in range(MOST_CONNECTIONS)]
    for each in waiting:
        each.sendall(b"GET / HTTP/1.1\r\n")
    with served.page() as page:
        waiting += [connected(served) for _ in range(50)]
        assert answers(served)
        assert all(ended(each) for each in waiting[:50])
        page.new("connect_four", "you", "you")  # a page that is connected is none of them
    assert len(protocol.Connection.waiting) <= MOST_CONNECTIONS
    for each in waiting:
        each.close()


MALFORMED = [b"\0\r\n\r\n", b"zz\r\nhello\r\n", b"-1\r\n", 1000 * b"f" + b"\r\n", b"5\r\nhelloXX"]


@pytest.mark.parametrize("pause", [0.0, 0.2])
@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_body_ends_the_connection_without_a_traceback(
    served: Served, body: bytes, pause: float, caplog: pytest.LogCaptureFixture
) -> None:
    """With a pause the answer has begun before the body turns out to be malformed."""
    with caplog.at_level(logging.ERROR), connected(served) as connection:
        connection.sendall(head(served, "POST / HTTP/1.1", "Transfer-Encoding: chunked") + (b"" if pause else body))
        time.sleep(pause)
        connection.sendall(body if pause else b"")
        assert ended(connection)
        assert answers(served)
    assert not caplog.records
