"""A GUI for tests: it sends lines to an engine in the same process and reads what it says."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator

from plyground.interop.uci_engine import UciEngine

PATIENCE = 120.0  # seconds; the first test may compile


class Gui:
    def __init__(self, agent: str = "") -> None:
        self.said, self._sent = queue.Queue[str](), queue.Queue[str | None]()
        self.engine = UciEngine(self.said.put, agent)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.fault: Exception | None = None
        self.thread.start()

    def _run(self) -> None:
        try:
            self.engine.run(self._lines())
        except Exception as error:
            self.fault = error

    def _lines(self) -> Iterator[str]:
        while (line := self._sent.get()) is not None:
            yield line

    def send(self, *lines: str) -> None:
        for line in lines:
            self._sent.put(line)

    def wait_for(self, word: str) -> list[str]:
        """All lines up to the first that begins with a word, this one included."""
        lines, end = list[str](), time.monotonic() + PATIENCE
        while not lines or lines[-1].split()[:1] != [word]:
            lines.append(self.said.get(timeout=max(0.0, end - time.monotonic())))
        return lines

    def ask(self, *lines: str, word: str = "bestmove") -> list[str]:
        """What the engine says after these lines; nothing of before is left."""
        self.send("isready")
        self.wait_for("readyok")
        self.send(*lines)
        return self.wait_for(word)

    def best(self, *lines: str) -> str:
        """The move that it plays after these lines."""
        return self.ask(*lines)[-1].split()[1]

    def close(self) -> None:
        """The end of the lines, as when a GUI dies."""
        self._sent.put(None)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
