"""The command `doctor`."""

from __future__ import annotations

import sys


def doctor() -> None:
    """Say what is installed, what is missing, and whether a GPU can be used; exit code 1 if something is broken."""
    from plyground.checks.doctor import BROKEN, examine
    from plyground.cli.terminal import say

    states = set[str]()
    for finding in examine():
        states.add(finding.state)
        remedy = f"\n{'':9}{finding.remedy}" if finding.remedy else ""
        say(f"{finding.state:<9}{finding.part}: {finding.words}{remedy}")
    sys.exit(1 if BROKEN in states else 0)
