"""A whole game as text: what the rules and encoders said when it was written down.

After a change that is meant, write them anew and read the difference:  python tests/playthrough.py
"""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np

import plyground as pg
from plyground.games import GAMES

FOLDER = Path(__file__).parent / "playthroughs"
DETAILED, MUCH = 42, 64


def playthrough(name: str, seed: int = 2026) -> str:
    """One random game, ply by ply: text, drawing, legal moves, what each encoder shows, and the end.

    A long game goes on in short: after DETAILED plies only texts and moves, until it ends.
    """
    game = pg.load(name)
    position, rng = game.start(seed), np.random.default_rng(seed)
    lines, plies = [f"game {game}, seed {seed}"], 0
    while True:
        detailed, plies = plies < DETAILED or position.over, plies + 1
        lines += ["", position.text]
        if detailed:
            lines += [str(position), f"to move: {position.to_move}"]
            lines += [f"{encoder}: {_numbers(position.encode(str(encoder)))}" for encoder in _encoders(game)]
        if position.over:
            return "\n".join([*lines, f"{position.outcome} ({position.reason})", ""])
        legal = position.legal()
        pairs = [f"{position.name(action)}={action}" for action in legal]
        action = legal[rng.integers(len(legal))]
        lines += [f"legal: {' '.join(pairs)}"] if detailed else []
        lines += [f"plays {position.name(action)}"]
        position.play(action)


def _encoders(game: pg.Game) -> list[str]:
    return list(dict.fromkeys(str(encoder) for encoder in game.encoders.values()))


def _numbers(array: np.ndarray) -> str:
    """An observation in one line: its shape, and where it is not zero (where that is much, its sum and a checksum)."""
    cells = [f"{index}={value:g}" for index, value in enumerate(array.reshape(-1).tolist()) if value]
    if len(cells) > MUCH:
        cells = [f"sum {array.sum():g}", f"crc32 {zlib.crc32(array.tobytes()):08x}"]
    return f"{'x'.join(map(str, array.shape))} {' '.join(cells)}".rstrip()


if __name__ == "__main__":
    for each in GAMES:
        (FOLDER / f"{each}.txt").write_text(playthrough(each), encoding="utf-8")
