"""The glossary names config keys that exist."""

from __future__ import annotations

import dataclasses
import re

from conftest import ROOT
from plyground.learners import LEARNERS, find_learner


def test_every_key_of_the_glossary_is_a_key_of_some_learner() -> None:
    keys = {field.name for name in LEARNERS for field in dataclasses.fields(find_learner(name).config)}
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    section = page[page.index("## Config keys") : page.index("## Metrics")]
    named = set(re.findall(r"`(\w+)", section[: section.index("| here")]))
    for row in re.findall(r"^\| (.*?) \|", section, re.MULTILINE):
        named |= set(re.findall(r"`(\w+)", row))
    assert len(named) > 30
    assert named <= keys
