"""An engine for tests: speaks UCI and answers as its name says (good, silent, dying, lying, mute, ...)."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

RANGES = {"numberless": "min ² max many", "cut": "max 20 min", "huge": f"min 0 max {'9' * 6000}"}


def misbehave(mood: str) -> None:
    """What an engine does in place of an answer."""
    if mood == "dying":
        os._exit(1)
    if mood == "silent":
        time.sleep(60)
    while mood == "endless":
        sys.stdout.write("x" * 100_000)
    while mood == "chatting":
        sys.stdout.write("info depth 1\n" * 1000)


def main() -> None:
    mood, asked = Path(sys.argv[0]).stem, 0
    if mood in ("parent", "setsid"):
        line = [sys.executable, "-c", "import time; time.sleep(60)"]
        child = subprocess.Popen(line, start_new_session=mood == "setsid")
        Path(sys.argv[0]).with_suffix(".child").write_text(str(child.pid))
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            skill = RANGES.get(mood, "min 0 max 20")
            print(f"id name fake\noption name Skill Level type spin default 20 {skill}\nuciok", flush=True)
        elif words[:1] == ["isready"]:
            print("readyok", flush=True)
        elif words[:1] == ["go"]:
            asked += 1
            if asked == 3:
                misbehave(mood)
            answer = {"lying": "a1h8", "mute": ""}.get(mood, "right") if asked == 3 else "right"
            print(f"info depth 1\nbestmove {answer}", flush=True)
            if mood == "twice":
                time.sleep(0.05)
                print("bestmove left", flush=True)
        elif words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    main()
