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
WORDS = (*GAMES, "sequence:rules=boxed")
SEEDS = {"chess": 1618}  # a short game, which ends in mate
DETAILED = 42  # plies after which a long game goes on in short: texts and moves only, until it ends
MUCH = 64  # numbers of an observation, legal moves: where there are more, a checksum tells them


def playthrough(word: str) -> str:
    """One random game, ply by ply: text, drawing, legal moves, what each encoder shows, and the end."""
    game, seed = pg.load(word), SEEDS.get(word, 2026)
    position, rng = game.start(seed), np.random.default_rng(seed)
    lines, plies = [f"game {game}, seed {seed}"], 0
    while True:
        detailed, plies = plies < DETAILED or position.over, plies + 1
        lines += ["", position.text]
        if detailed:
            lines += [str(position), f"to move: {position.to_move}"]
            lines += [f"{encoder}: {_numbers(position.encode(encoder))}" for encoder in _encoders(game)]
        if position.over:
            return "\n".join([*lines, f"{position.outcome} ({position.reason})", ""])
        legal = position.legal()
        action = legal[rng.integers(len(legal))]
        if detailed:
            lines += [f"legal: {_listed([f'{position.name(each)}={each}' for each in legal])}"]
        lines += [f"plays {position.name(action)}"]
        position = position.play(action)


def _encoders(game: pg.Game) -> list[str]:
    return list(dict.fromkeys(str(encoder) for encoder in game.encoders.values()))


def _numbers(array: np.ndarray) -> str:
    """An observation in one line: its shape, and where it is not zero."""
    cells = [f"{index}={value:g}" for index, value in enumerate(array.reshape(-1).tolist()) if value]
    return f"{'x'.join(map(str, array.shape))} {_listed(cells)}".rstrip()


def _listed(items: list[str]) -> str:
    """The items, or the first of them and a checksum of all."""
    if len(items) <= MUCH:
        return " ".join(items)
    return f"{' '.join(items[:8])} ... {len(items)} in all, crc32 {zlib.crc32(' '.join(items).encode()):08x}"


def path_of(word: str) -> Path:
    """`sequence:rules=boxed` is kept in `sequence-rules-boxed.txt`."""
    return FOLDER / f"{word.replace(':', '-').replace('=', '-')}.txt"


if __name__ == "__main__":
    for each in WORDS:
        path_of(each).write_text(playthrough(each), encoding="utf-8")
