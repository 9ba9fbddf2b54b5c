"""The server from outside: files and headers, who may connect, and what malformed messages do."""

from __future__ import annotations

import http.client
import json
import random
import re
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from plyground.games.sequence.cards import CARDS
from plyground.web import host
from plyground.web.app import STATIC
from plyground.web.requests import LARGEST
from plyground.web.trust import HEADERS
from served import TOKEN, Client, Served, serving

pytestmark = [pytest.mark.compiled, pytest.mark.once]
ABUSES = 2000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as found:
        yield found


def get(served: Served, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return ask(served, path, **served.signed_in, **headers)


def ask(served: Served, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """The same without the token."""
    connection = http.client.HTTPConnection(served.host, timeout=30)
    connection.request("GET", path, headers={"Host": served.host, **headers})
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def test_the_page_and_its_files_are_served_with_strict_headers(served: Served) -> None:
    for path, kind in (("/", "text/html"), *((f"/static/{each.name}", "") for each in STATIC.glob("*.*"))):
        status, headers, body = get(served, path)
        assert status == 200, path
        assert body
        assert headers["content-type"].startswith(kind)
        for name, value in HEADERS.items():
            assert headers[name.lower()] == value, (path, name)


def test_everything_that_the_page_loads_is_small() -> None:
    total = sum(each.stat().st_size for each in STATIC.rglob("*") if each.is_file())
    assert total < 300_000, f"{total} bytes"


def test_nothing_outside_the_folder_is_served(served: Served) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/etc/passwd", "/static/.."):
        assert get(served, path)[0] in (403, 404, 405), path


def test_another_host_is_refused(served: Served) -> None:
    assert get(served, "/", Host="evil.example")[0] == 403
    assert get(served, "/", Host=f"evil.example:{served.trust.port}")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost", "http://127.0.0.1:1"])
def test_a_socket_of_another_site_is_refused(served: Served, origin: str) -> None:
    with pytest.raises(InvalidStatus, match="403"), served.page(origin=origin):
        pass


BROWSER = {"Accept": "text/html,*/*", "Sec-Fetch-Mode": "navigate"}


def test_nothing_is_served_without_the_token(served: Served) -> None:
    """Other users of this machine reach 127.0.0.1 too, and choose Host and Origin as they like."""
    cookie = served.trust.cookie
    for path in ("/", "/?token=wrong", f"/?token={TOKEN[:-1]}", "/static/main.js", "/static/token.html", "/nowhere"):
        for headers in ({}, {"Cookie": f"{cookie}=wrong"}, {"Cookie": f"plyground_token_1={TOKEN}"}):
            assert ask(served, path, **headers)[0] == 403, (path, headers)
    for headers in ({}, {"Cookie": f"{cookie}=wrong"}):
        with pytest.raises(InvalidStatus, match="403"), served.page(headers=headers):
            pass


def test_a_token_becomes_a_cookie_and_leaves_the_address(served: Served) -> None:
    cookie = served.trust.cookie
    for given in (TOKEN, f"http://{served.host}/?token={TOKEN}"):  # also the whole address, pasted into the field
        for headers in ({}, {"Cookie": f"{cookie}=of-an-old-server"}):
            status, answer, _ = ask(served, f"/?{urlencode({'token': given})}", **headers)
            assert (status, answer["location"]) == (303, "/")
            said = answer["set-cookie"]
            assert said.startswith(f"{cookie}={TOKEN};")
            assert "HttpOnly" in said
            assert "SameSite=strict" in said
    assert ask(served, "/", Cookie=f"{cookie}={TOKEN}; plyground_token_1=of-another-server")[0] == 200


def test_a_person_without_a_token_reads_what_to_do(served: Served) -> None:
    status, headers, body = ask(served, "/", **BROWSER)
    assert (status, headers["content-security-policy"]) == (403, HEADERS["Content-Security-Policy"])
    assert b"plyground serve" in body
    assert b'name="token"' in body
    assert TOKEN.encode() not in body


def test_a_browser_that_was_sent_here_asks_again_with_its_cookie(served: Served) -> None:
    """A strict cookie is not shown after a click elsewhere, nor after the file of `--open`."""
    status, _, body = ask(served, "/", **BROWSER, **{"Sec-Fetch-Site": "cross-site"})
    assert (status, b'http-equiv="refresh" content="0; url=/"' in body) == (403, True)
    assert b'http-equiv="refresh"' not in ask(served, "/", **BROWSER, **{"Sec-Fetch-Site": "same-origin"})[2]


def test_a_request_that_is_too_large_is_refused(served: Served) -> None:
    with served.page() as page:
        page.socket.send(json.dumps({"type": "stop", "request": 1, "x": "y" * LARGEST}))
        refused = wait_for_refusal(page)
        assert refused["request"] == 1
        assert "it has 1,000," in refused["text"]
        assert "more than 1,000,000" in refused["text"]


def test_a_request_of_the_largest_characters_is_read(served: Served) -> None:
    """The page counts characters; each that it sends may be three bytes."""
    with served.page() as page:
        page.socket.send(json.dumps({"type": "stop", "request": 1, "x": "一" * (LARGEST - 100)}, ensure_ascii=False))
        assert wait_for_refusal(page)["request"] == 1


def test_the_longest_text_passes(served: Served) -> None:
    with served.page() as page:
        text = 20_000 * '[Event "?"]\n"e4"\n'
        refused = page.refusal("new_game", game="connect_four", players=["you", "you"], text=text)
        assert "is no request" not in refused["text"]


def test_every_request_that_is_too_fast_is_answered(served: Served) -> None:
    with served.page() as page:
        asked = [page.send("record", table="none", ply=0) for _ in range(200)]
        answered = [wait_for_refusal(page) for _ in asked]
        assert [each["request"] for each in answered] == asked
        assert {"busy", "refused"} == {each["reason"] for each in answered}


def test_a_page_that_sends_only_nonsense_is_disconnected(served: Served) -> None:
    def send_nonsense(page: Client) -> None:
        for _ in range(200):
            page.socket.send("nonsense")
            page.receive(10.0)

    with served.page() as page:
        with pytest.raises(ConnectionClosed) as closed:
            send_nonsense(page)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "too many messages that are no requests")


def test_a_page_that_floods_the_server_is_disconnected(served: Served) -> None:
    def flood(page: Client) -> None:
        for _ in range(40):  # at most 2,000 requests a second: between those that are refused some are allowed
            for _ in range(100):
                page.send("stop")
            with suppress(TimeoutError):
                while True:
                    page.receive(0.05)

    with served.page() as page, pytest.raises(ConnectionClosed):
        flood(page)


def wait_for_refusal(page: Client) -> Any:
    while True:
        message = page.receive()
        if message["type"] == "refused":
            return message


# ---- abuse ----


def test_abuse_crashes_nothing_leaks_nothing_and_disturbs_nobody(served: Served) -> None:
    """2,000 malformed, oversized, replayed, out-of-order and foreign messages."""
    rng = random.Random(21)
    with served.page() as quiet:
        quiet.new("connect_four", "you", "random")
        victim = quiet.new("sequence", "you", "window")
        sent, seen = 0, list[str]()
        while sent < ABUSES:
            with served.page() as attacker:
                sent += attack(attacker, rng, victim, quiet)
                seen += attacker.seen
            move(quiet)
        quiet.until_mine()  # the agent's answer to the last move counts too
        table = host.TABLES[victim]
        assert table.saved.revision == quiet.table["revision"]
        hidden = hidden_words(table)
        assert hidden
        for text in (*quiet.seen, *seen):
            assert not [word for word in hidden if word in text], text[:300]
        written = hidden_as_written(table)
        for text in refusals([*quiet.seen, *seen]):
            assert not written.search(text), text[:300]


def move(page: Client) -> None:
    """The game that nobody disturbs goes on."""
    page.until_mine()
    if not page.table["over"]:
        page.act(page.position["choices"][0]["action"])


def hidden_words(table: Any) -> list[str]:
    """How the cards of the agent would be written in a scene that shows them, those that were never shown openly."""
    held, shown, mine = set[str](), set[str](), set[str]()
    for position in table.line.positions:
        mine |= {cell.name.removeprefix("hand") for cell in cells(position, 0, "hand")}
        held |= {cell.name.removeprefix("hand") for cell in cells(position, 1, "hand")}
        shown |= {cell.name.removeprefix("seat1") for cell in cells(position, 0, "seat 1")}
    return [f'"seat1{card}"' for card in held - shown] + [f'"hand{card}"' for card in held - shown - mine]


def hidden_as_written(table: Any) -> re.Pattern[str]:
    """How people and texts of positions would write the agent's cards: `4d`, and three or more in a row, `4dqsth`. A
    refusal has no reason to name any. `as` is a word too, and `qs` is what the attacker types."""
    held, hands = set[str](), set[str]()
    for position in table.line.positions:
        hand = [CARDS[card] for card in position.state["hands"][1][: position.state["held"][1]]]
        held |= set(hand)
        hands |= {"".join(hand[first : first + 3]) for first in range(len(hand) - 2)}
    words = sorted(held - {"as", "qs"})
    assert words
    return re.compile("|".join([*(rf"\b{card}\b" for card in words), *sorted(hands)]), re.IGNORECASE)


def refusals(seen: Sequence[str]) -> list[str]:
    messages = [json.loads(text) for text in seen]
    return [message["text"] for message in messages if message["type"] in ("refused", "failed")]


def cells(position: Any, seat: int, name: str) -> list[Any]:
    return [cell for zone in position.scene(seat).zones if zone.name == name for cell in zone.cells]


def attack(page: Client, rng: random.Random, victim: str, quiet: Client) -> int:
    """Messages until the server has had enough of this page; returns how many were sent."""
    mine = page.new("connect_four", "you", "you")
    sent = 0
    try:
        for _ in range(100):
            page.socket.send(abuse(rng, mine, victim, quiet))
            sent += 1
        page.socket.send(json.dumps({"type": "stop"}))
        while True:
            page.receive(0.05)
    except (ConnectionClosed, TimeoutError):
        pass
    return sent


def abuse(rng: random.Random, mine: str, victim: str, quiet: Client) -> str | bytes:
    """One message that no page of ours would send."""
    big = 10**30
    name = rng.choice([mine, victim, "", "../../etc/passwd", "0" * 16, "x" * 200])
    number = rng.choice([0, 1, -1, big, 1.5, True, None, "1", [], {}])
    table: dict[str, Any] = {"table": name, "revision": rng.choice([0, quiet.table["revision"], number])}
    requests: list[dict[str, Any]] = [
        {"type": "play", **table, "ply": number, "action": rng.randrange(-5, 3000), "prune": True},
        {"type": "play", **table, "ply": 0, "action": rng.randrange(7), "prune": number},
        {"type": "say", **table, "ply": 0, "text": rng.choice(["4", "\0", "💥" * 500, "place qs j3", "<script>"])},
        {"type": "undo", **table, "ply": number},
        {"type": "resign", **table},
        {"type": "look", "table": name, "ply": number, "line": [number] * rng.randrange(300)},
        {"type": "record", "table": name, "ply": rng.randrange(5)},
        {"type": "hint", "table": victim},
        {"type": "analyse", "table": victim, "ply": 1},
        {"type": "review", "table": victim},
        {"type": "fork", "table": victim, "ply": 0, "players": ["window", "you"]},
        {"type": "new_game", "game": name, "players": ["you", number]},
        {"type": "new_game", "game": "chess", "players": ["you", "uci:/bin/sh"]},
        {"type": "new_game", "game": "sequence", "players": ["you", "you"], "settings": {"seats": str(number)}},
        {"type": "new_game", "game": "connect_four", "players": ["you", "you"], "text": "9" * rng.randrange(60_000)},
        {"type": "follow", "runs": ["../" * 20]},
        {"type": "run_games", "run": "/etc"},
        {"type": "open_run_game", "run": "/etc", "file": "passwd"},
        {"type": "watch_policy", "run": "x", "text": "y" * 2_000},
        {"type": rng.choice(["welcome", "table", "__class__", "", "play" * 100])},
    ]
    text = json.dumps(rng.choice(requests))
    kind = rng.randrange(8)
    if kind == 0:
        return text[: rng.randrange(len(text))]
    if kind == 1:
        return rng.randbytes(rng.randrange(1, 300))
    if kind == 2:
        return text.replace('"', rng.choice(["'", "", '"\\u0000']), 1)
    return text
