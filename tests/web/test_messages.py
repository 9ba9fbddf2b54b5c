"""The protocol: names in snake case."""

from __future__ import annotations

import json
from typing import Any

from plyground.web import messages, requests

REQUESTS = requests.KINDS
REPLIES: list[Any] = [*messages.Sent.__subclasses__(), *messages.Stamped.__subclasses__()]


def test_every_message_has_a_type_of_its_own() -> None:
    tags = [each.__struct_config__.tag for each in (*REQUESTS, *REPLIES)]
    assert len(set(tags)) == len(tags)
    assert "new_game" in tags
    assert all(tag == tag.lower() for tag in tags)


def test_a_reply_names_its_type() -> None:
    assert json.loads(messages.encode(messages.Refused(3, "no")))["type"] == "refused"
