"""The protocol: strict schemas, names in snake case."""

from __future__ import annotations

import json
import typing
from typing import Any

import msgspec
import pytest

from plyground.web import messages

REQUESTS: tuple[Any, ...] = typing.get_args(messages.Request)
REPLIES: tuple[Any, ...] = typing.get_args(messages.Reply)


def test_every_message_has_a_type_of_its_own() -> None:
    tags = [each.__struct_config__.tag for each in (*REQUESTS, *REPLIES)]
    assert len(set(tags)) == len(tags)
    assert "new_game" in tags
    assert all(tag == tag.lower() for tag in tags)


def test_every_request_refuses_a_field_that_it_does_not_name() -> None:
    for each in REQUESTS:
        assert each.__struct_config__.forbid_unknown_fields, each
        with pytest.raises(msgspec.ValidationError):
            messages.decode(json.dumps({"type": each.__struct_config__.tag, "surprise": 1}))


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
        messages.decode(text)


def test_a_reply_names_its_type() -> None:
    assert json.loads(messages.encode(messages.Refused(3, "no")))["type"] == "refused"
