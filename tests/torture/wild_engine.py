"""A program that answers UCI commands as its seed says: rightly, with mutated lines, too much, never, or by dying."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

from torture.mutations import Corpus

ANSWERS = {
    "uci": [
        "id name wild\noption name Skill Level type spin default 20 min 0 max 20\nuciok\n",
        "option name UCI_Elo type spin default 1350 min 1320 max 3190\noption name Ponder type check\nuciok\n",
    ],
    "isready": ["readyok\n"],
    "go": ["info depth 1 score cp 13 nodes 20 pv right\nbestmove right ponder left\n", "bestmove left\n", "bestmove\n"],
}


def flood(rng: random.Random, line_ends: bool) -> None:
    """Megabytes without a pause."""
    part = (b"info string x\n" if line_ends else b"x") * 65536
    for _ in range(rng.choice((1, 20, 400))):
        os.write(1, part)


def misbehave(rng: random.Random, answers: Corpus) -> None:
    """One of the things that an engine should not do in place of an answer."""
    kind = rng.randrange(10)
    if kind == 0:
        os._exit(rng.choice((0, 1, 70)))
    if kind == 1:
        time.sleep(rng.choice((0.05, 100)))
    elif kind in (2, 3):
        flood(rng, kind == 2)
    elif kind == 4:
        os.close(1)
        time.sleep(100)
    elif kind == 5:
        os.write(1, rng.randbytes(rng.choice((1, 100, 70_000))) + b"\n")
    else:
        os.write(1, answers.next().encode(errors="surrogatepass"))


def main() -> None:
    rng = random.Random(sys.argv[1])
    corpora = {word: Corpus(rng, texts) for word, texts in ANSWERS.items()}
    wildness = rng.choice((0.0, 0.1, 0.3, 0.8))
    if rng.random() < 0.1:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
    for line in sys.stdin:
        word = (line.split() or [""])[0]
        if word == "quit" and rng.random() < 0.8:
            return
        if word in corpora and rng.random() < (wildness if word == "go" else wildness / 4):
            misbehave(rng, corpora[word])
        elif word in corpora:
            os.write(1, rng.choice(ANSWERS[word]).encode())


if __name__ == "__main__":
    main()
