"""Analyses of chess games beside Stockfish's: do both name the same mistakes, and how good is what is suggested?

    python benchmarks/analysis.py --games 12

Games between levels 3 to 7, from six random plies, are analysed by each analyst as `plyground analyse` does. Stockfish
judges every position to a fixed depth; its values are brought to [-1, 1] by the curve that lichess publishes, where
mistakes have the same thresholds as ours. Printed for each analyst: the mean value that its suggested moves lose by
Stockfish's judgement, the mean difference of the values, and for moves that lose at least 0.2: how many of those that
the analyst names Stockfish names too (precision), and how many of Stockfish's it names (recall). Moves that lose within
0.05 of that, by Stockfish's judgement, are not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import chess
import chess.engine
import numpy as np

import plyground as pg
from plyground.agents.registry import make
from plyground.agents.uci import find
from plyground.games.rng import seeds
from plyground.report.analysis import GameAnalysis, analyse_game

ANALYSTS = ("minimax:nodes=2000000", "search:sims=100000", "search:sims=700000")
LEVELS = (3, 4, 5, 6, 7)
OPENING_PLIES, MOST_PLIES = 6, 80
NAMED, DOUBT = 0.2, 0.05


@dataclass
class Judged:
    """What an analyst has said, beside Stockfish."""

    lost: list[float] = field(default_factory=list[float])  # by its suggestions, Stockfish's judgement
    differences: list[float] = field(default_factory=list[float])  # of the values of positions
    both: int = 0
    only_ours: int = 0
    only_theirs: int = 0
    seconds: float = 0.0


class Stockfish:
    """Values of positions for white, each searched once."""

    def __init__(self, depth: int) -> None:
        self.engine = chess.engine.SimpleEngine.popen_uci(str(find("stockfish")))
        self.limit = chess.engine.Limit(depth=depth)
        self.known = dict[str, float]()

    def value(self, fen: str) -> float:
        if fen not in self.known:
            board = chess.Board(fen)
            outcome = board.outcome()
            if outcome is not None:
                self.known[fen] = 0.0 if outcome.winner is None else 1.0 if outcome.winner else -1.0
            else:
                score = cast(chess.engine.PovScore, self.engine.analyse(board, self.limit).get("score")).white()
                self.known[fen] = 2.0 * score.wdl(model="lichess").expectation() - 1.0
        return self.known[fen]


def play_game(game: pg.Game, number: int) -> tuple[pg.Position, list[int]]:
    """A game between two levels after random plies: the position from which it is analysed, and its moves."""
    rng = np.random.default_rng(number)
    position = game.start()
    for _ in range(OPENING_PLIES):
        position = position.play(int(rng.choice(position.legal())))
    if position.over:
        return play_game(game, number + 1_000_000)
    start, actions = position, list[int]()
    sides = [make(f"level:{level}", game) for level in rng.choice(LEVELS, 2, replace=False)]
    while not position.over and len(actions) < MOST_PLIES:
        action = int(sides[position.to_move].act(position.states, seeds(int(rng.integers(1 << 30)), 1))[0])
        actions.append(action)
        position = position.play(action)
    return start, actions


def judge(start: pg.Position, actions: Sequence[int], found: GameAnalysis, fish: Stockfish, into: Judged) -> None:
    """Add what an analyst said of one game."""
    positions = [start]
    for action in actions:
        positions.append(positions[-1].play(action))
    for (before, after), ply in zip(pairwise(positions), found.plies, strict=True):
        sign = 1.0 if before.to_move == 0 else -1.0
        was, now = sign * fish.value(before.text), sign * fish.value(after.text)
        suggested = sign * fish.value(before.play(ply.best).text)
        best = max(was, now, suggested)  # what is searched a ply deeper may be better
        into.lost.append(best - suggested)
        into.differences.append(abs(ply.value - fish.value(after.text)))
        if abs(best - now - NAMED) < DOUBT:
            continue
        ours, theirs = ply.lost >= NAMED, best - now >= NAMED
        into.both += ours and theirs
        into.only_ours += ours and not theirs
        into.only_theirs += theirs and not ours


def table(judged: Mapping[str, Judged]) -> str:
    lines = [
        "analyst | plies | suggestions lose | values differ | precision | recall | seconds a ply",
        "---|---|---|---|---|---|---",
    ]
    for spec, row in judged.items():
        named, theirs = row.both + row.only_ours, row.both + row.only_theirs
        error = float(np.std(row.lost)) / np.sqrt(len(row.lost))
        lost, differ = f"{np.mean(row.lost):.4f} ± {1.96 * error:.4f}", f"{np.mean(row.differences):.3f}"
        lines.append(
            f"`{spec}` | {len(row.lost)} | {lost} | {differ}"
            f" | {row.both} of {named} | {row.both} of {theirs} | {row.seconds / len(row.lost):.2f}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0, help="of the first game")
    parser.add_argument("--depth", type=int, default=16, help="of Stockfish")
    parser.add_argument("--analysts", nargs="+", default=ANALYSTS)
    chosen = parser.parse_args()
    game, fish = pg.load("chess"), Stockfish(chosen.depth)
    analysts: dict[str, Any] = {spec: make(spec, game) for spec in chosen.analysts}
    judged = {spec: Judged() for spec in analysts}
    try:
        for number in range(chosen.seed, chosen.seed + chosen.games):
            start, actions = play_game(game, number)
            for spec, agent in analysts.items():
                begun = time.perf_counter()
                *_, found = analyse_game(agent.analyst(), start, actions)
                judged[spec].seconds += time.perf_counter() - begun
                judge(start, actions, found, fish, judged[spec])
            print(f"{number + 1 - chosen.seed} games\n{table(judged)}\n", flush=True)
    finally:
        fish.engine.quit()


if __name__ == "__main__":
    main()
