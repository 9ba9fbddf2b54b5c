"""Requests: strict schemas."""

from __future__ import annotations

import json

import msgspec
import pytest

from plyground.web import requests
from plyground.web.app import STATIC

REQUESTS = requests.KINDS


def test_every_request_refuses_a_field_that_it_does_not_name() -> None:
    for each in REQUESTS:
        assert each.__struct_config__.forbid_unknown_fields, each
        with pytest.raises(msgspec.ValidationError):
            requests.decode(json.dumps({"type": each.__struct_config__.tag, "surprise": 1}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '"play"',
        "{}",
        '{"type": "no_such"}',
        '{"type": "play"}',
        '{"type": "play", "table": "a", "revision": "0", "ply": 0, "action": 0}',
        '{"type": "play", "table": "a", "revision": 0, "ply": -1, "action": 0}',
        '{"type": "play", "table": "a", "revision": 0, "ply": 0, "action": 1.5}',
        '{"type": "play", "table": "a", "revision": true, "ply": 0, "action": 0}',
        '{"type": "play", "table": "", "revision": 0, "ply": 0, "action": 0}',
        '{"type": "speed", "table": "a", "seconds": 1e99}',
        '{"type": "follow", "runs": ["a", 1]}',
        '{"type": "new_game", "game": "chess", "players": []}',
        "[" * 100_000,
    ],
)
def test_what_is_no_request_is_refused(text: str) -> None:
    with pytest.raises((msgspec.DecodeError, RecursionError)):
        requests.decode(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('{"type": "no_such", "request": 7, "x": []}', 7), (b'{"request": 2}', 2), ('{"type": "play"}', 0), ("", 0),
        ('{"request": -1}', 0), ('{"request": 1.5}', 0), ('{"request": 3', 0), (b"\xff", 0), ("[" * 200_000, 0),
    ],
)  # fmt: skip
def test_whoever_sent_a_request_that_is_refused_is_found(text: str | bytes, number: int) -> None:
    assert requests.number_of(text) == number


def test_the_page_knows_the_largest_request() -> None:
    assert f"const LARGEST = {requests.LARGEST:_};" in (STATIC / "connection.js").read_text()
