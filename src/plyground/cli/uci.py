"""The command `uci`: the engine on standard input and output."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Annotated

from plyground.cli.ctrl_c import interruptible
from plyground.cli.grammar import hint


def uci(agent: Annotated[str, hint("AGENT", "the strongest: alpha-beta for the time that the GUI gives")] = "") -> None:
    """Play chess in a GUI: a UCI engine on standard input and output (docs/uci.md).

    Args:
        agent: who plays: level:3, trained, search:model=trained, run:DIR, ...
    """
    from plyground.interop.uci_engine import UciEngine

    for stream in (sys.stdin,):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    engine = UciEngine(lambda line: print(line, flush=True), agent)
    with (
        suppress(KeyboardInterrupt),
        interruptible(),
    ):  # Ctrl-C in the terminal that started the GUI reaches the engine too
        engine.run(iter(sys.stdin.readline, ""))
    if engine.loading:
        os._exit(0)  # nobody waits for what is compiled
