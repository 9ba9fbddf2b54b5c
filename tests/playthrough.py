"""A whole game as text: what the rules and encoders said when it was written down.

After a change that is meant, write them anew and read the difference:  python tests/playthrough.py
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

import plyground as pg
from plyground.games import GAMES

FOLDER = Path(__file__).parent / "playthroughs"
WORDS = (*GAMES, "sequence:rules=boxed")
MOST_SHOWN = 500  # characters of legal moves, numbers of an observation: longer ones are told by a fingerprint


def playthrough(name: str, seed: int = 2026) -> str:
    """One random game, ply by ply: text, drawing, legal moves, what each encoder shows, and the end."""
    game = pg.load(name)
    position, rng = game.start(seed), np.random.default_rng(seed)
    lines = [f"game {game}, seed {seed}"]
    while True:
        lines += ["", position.text, str(position), f"to move: {position.to_move}"]
        lines += [f"{encoder}: {_numbers(position.encode(str(encoder)))}" for encoder in _encoders(game)]
        if position.over:
            return "\n".join([*lines, f"{position.outcome} ({position.reason})", ""])
        legal = position.legal()
        pairs = [f"{position.name(action)}={action}" for action in legal]
        action = legal[rng.integers(len(legal))]
        lines += [f"legal: {_shown(' '.join(pairs))}", f"plays {position.name(action)}"]
        position.play(action)


def _encoders(game: pg.Game) -> list[str]:
    return list(dict.fromkeys(str(encoder) for encoder in game.encoders.values()))


def _numbers(array: np.ndarray) -> str:
    """An observation in one line: its shape, and where it is not zero."""
    if array.size > MOST_SHOWN:
        return f"{'x'.join(map(str, array.shape))} sum {array.sum():g} {_fingerprint(array.tobytes())}"
    cells = [f"{index}={value:g}" for index, value in enumerate(array.reshape(-1).tolist()) if value]
    return f"{'x'.join(map(str, array.shape))} {' '.join(cells)}".rstrip()


def _shown(line: str) -> str:
    """A line, cut where it is long, with a fingerprint of the whole."""
    return line if len(line) <= MOST_SHOWN else f"{line[:MOST_SHOWN]}… {_fingerprint(line.encode())}"


def _fingerprint(content: bytes) -> str:
    return f"sha256 {hashlib.sha256(content).hexdigest()[:16]}"


def path_of(word: str) -> Path:
    """`sequence:rules=boxed` is kept in `sequence-rules-boxed.txt`."""
    return FOLDER / f"{word.replace(':', '-').replace('=', '-')}.txt"


if __name__ == "__main__":
    for each in WORDS:
        path_of(each).write_text(playthrough(each), encoding="utf-8")
