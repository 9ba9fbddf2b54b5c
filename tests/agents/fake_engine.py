"""An engine for tests: speaks UCI and answers as its name says (good, silent, dying, lying, mute)."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path


def main() -> None:
    mood, asked = Path(sys.argv[0]).stem, 0
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            print("id name fake\noption name Skill Level type spin default 20 min 0 max 20\nuciok", flush=True)
        elif words[:1] == ["isready"]:
            print("readyok", flush=True)
        elif words[:1] == ["go"]:
            asked += 1
            if mood == "dying" and asked == 3:
                os._exit(1)
            if mood == "silent" and asked == 3:
                time.sleep(60)
            answer = {"lying": "a1h8", "mute": ""}.get(mood, "right") if asked == 3 else "right"
            print(f"info depth 1\nbestmove {answer}", flush=True)
        elif words[:1] == ["quit"]:
            return


if __name__ == "__main__":
    main()
