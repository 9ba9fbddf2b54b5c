"""The command `doctor`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plyground.checks import doctor
from plyground.checks.doctor import BROKEN, MISSING, OK, Finding


@pytest.mark.parametrize(("state", "code"), [(OK, 0), (MISSING, 0), (BROKEN, 1)])
def test_only_what_is_broken_is_a_failure(command, monkeypatch: pytest.MonkeyPatch, state: str, code: int) -> None:
    def examine() -> Iterator[Finding]:
        yield Finding("part", state, "[words]", "a remedy")

    monkeypatch.setattr(doctor, "examine", examine)
    assert command("doctor")[:2] == (code, f"{state:<9}part: [words]\n         a remedy\n")
