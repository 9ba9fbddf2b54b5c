"""The command `uci`: the engine on standard input and output."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from typing import Annotated

from plyground.cli.grammar import hint


def uci(agent: Annotated[str, hint("AGENT", "the strongest: alpha-beta for the time that the GUI gives")] = "") -> None:
    """Play chess in a GUI: a UCI engine on standard input and output (docs/uci.md).

    Args:
        agent: who plays: level:3, trained, search:net=trained, run:DIR, ...
    """
    from plyground.interop.uci_engine import UciEngine

    lines: Iterable[str] = sys.stdin
    if isinstance(lines, io.TextIOWrapper):
        lines.reconfigure(errors="replace")
    try:
        UciEngine(lambda line: print(line, flush=True), agent).run(lines)
    except KeyboardInterrupt:
        sys.exit(0)  # Ctrl-C in the terminal that started the GUI reaches the engine too
