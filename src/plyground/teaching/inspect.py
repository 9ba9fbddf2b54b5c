"""Statistics of a dataset, for people."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plyground.errors import counted
from plyground.game import Game
from plyground.teaching.config import BadLines
from plyground.teaching.dataset import read_all, rejected_lines
from plyground.teaching.lines import Lines

DECIDED, CLEAR = 0.999, 0.5  # values from which a game is decided, or one side clearly ahead
PHASES = {"opening": (0, 20), "middle game": (20, 60), "late": (60, math.inf)}  # first ply, and the one after the last


def inspect(path: Path, game: Game, bad_lines: BadLines) -> dict[str, str]:
    """Names and values of the statistics, as text."""
    examples = read_all(path, Lines(game), bad_lines)
    policy = examples["policy"].astype(np.float64)
    _, repeats = np.unique(examples["key"], return_counts=True)
    games, first = np.unique(examples["game"], return_index=True)
    order = np.lexsort((examples["ply"], examples["game"]))
    last = order[np.append(np.flatnonzero(np.diff(examples["game"][order])), len(order) - 1)]
    values: NDArray[np.float32] = examples["value"]
    ends = np.abs(values[last])
    clear = ((ends >= CLEAR) & (ends < DECIDED)).mean()
    plies, chances = examples["ply"], policy / policy.sum(1, keepdims=True)
    shares = {name: ((plies >= begin) & (plies < end)).mean() for name, (begin, end) in PHASES.items()}
    phases = [f"{name} (from ply {PHASES[name][0]}) {share:.0%}" for name, share in shares.items()]
    entropy = -np.where(chances > 0, chances * np.log(np.maximum(chances, 1e-300)), 0.0).sum(1)
    moves = (examples["top"] >= 0).sum(1)
    found = {
        "size": f"{counted(len(examples), 'position')} of {counted(len(games), 'game')}, {path.stat().st_size:,} bytes",
        "rejected lines": f"{rejected_lines(path):,}",
        "duplicates": f"{len(examples) - len(repeats):,} ({1 - len(repeats) / len(examples):.2%}); "
        f"one position at most {repeats.max()} times",
        "openings": f"{counted(len(np.unique(examples['key'][first])), 'different first position')} of all games",
        "phases": ", ".join(phases),
        "sides": f"{(examples['state']['to_move'] == 0).mean():.1%} with {game.rules.SIDES[0]} to move",
        "games' last positions": f"{(ends >= DECIDED).mean():.0%} decided, {clear:.0%} with a clear advantage, "
        f"{(ends < CLEAR).mean():.0%} balanced",
        "results": _results(path),
        "values": f"mean {values.mean():+.3f}, {(np.abs(values) >= DECIDED).mean():.1%} forced wins or losses",
        "entropy of policies": f"mean {entropy.mean():.3f} nats over {moves.mean():.1f} actions "
        f"(even choice: {np.log(moves).mean():.3f}); best action {chances[:, 0].mean():.1%}",
    }
    return {name: value for name, value in found.items() if value}


def _results(path: Path) -> str:
    """The results of the games, from the progress file; empty without one."""
    try:
        found = json.loads(path.with_name(f"{path.name}.progress.json").read_text(encoding="utf-8"))
        results: dict[str, int] = found["progress"]["results"]
        return ", ".join(f"{name} {count}" for name, count in Counter(results).most_common())
    except (OSError, ValueError, KeyError, TypeError):
        return ""
