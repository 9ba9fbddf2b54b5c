"""Connect Four by phases: the share of moves that keep the win/draw/loss value, where moves differ in it.

    python benchmarks/connect_four_phases.py run:DIR search:model=DIR,sims=64 --seed 7
    python benchmarks/connect_four_phases.py search:model=trained,sims=64 --first 200
    python benchmarks/connect_four_phases.py trained --files Test_L1_R1 Test_L2_R1

500 positions of random games for each phase, by the plies played; the perfect player solves them once for each seed.
With `--first`, instead: so many games from the empty board against the perfect player, which draws among equally good
moves. With `--files`, instead: those positions of each file, one at the start of a line, in which moves differ.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import plyground as pg
from plyground.agents.agent import Agent
from plyground.agents.registry import make
from plyground.games.connect_four.solver.solver import NO_MOVE, perfect
from plyground.games.interface import RUNNING
from plyground.games.rng import seeds

PHASES = ((2, 9), (13, 18), (19, 24), (25, 36))  # plies played, both included
POSITIONS = 500  # of each phase


Positions = tuple[NDArray[np.void], NDArray[np.bool_]]  # [N], and which moves keep their value [N, 7]


def where_moves_differ(states: NDArray[np.void]) -> Positions:
    """The positions in which moves differ in win, draw or loss."""
    scores = perfect().move_scores(states).astype(np.int64)
    signs = np.where(scores != NO_MOVE, np.sign(scores), -9)
    differ = np.where(scores != NO_MOVE, signs, 9).min(1) < signs.max(1)
    return states[differ], (signs == signs.max(1, keepdims=True))[differ]


def positions_of(game: pg.Game, phase: tuple[int, int], seed: int) -> Positions:
    """[500] positions, each once."""
    states, keeps, attempt = np.zeros(0, game.rules.STATE), np.zeros((0, 7), np.bool_), 0
    low, high = phase
    while len(states) < POSITIONS:
        batch = pg.Batch(game, 2 * POSITIONS, seed=seed + 1000 * attempt + low, threads=1)
        plies = np.random.default_rng(seed + attempt).integers(low, high + 1, len(batch.states))
        kept = batch.states.copy()
        for ply in range(1, high + 1):
            ended = batch.step(batch.random_actions()).terminated
            plies[ended & (ply <= plies)] = -1  # the game ended before
            kept[plies == ply] = batch.states[plies == ply]
        drawn = np.unique(kept[(plies > 0) & (kept["outcome"] == RUNNING)])
        drawn = drawn[~np.isin(drawn, states)]
        found = where_moves_differ(drawn)
        states, keeps = np.concatenate([states, found[0]]), np.concatenate([keeps, found[1]])
        attempt += 1
    chosen = np.random.default_rng(seed).permutation(len(states))[:POSITIONS]
    return states[chosen], keeps[chosen]


def shares(agent: Agent, positions: list[Positions]) -> list[float]:
    """The share of value-keeping moves in each phase."""
    found: list[float] = []
    for states, keeps in positions:
        actions = agent.act(states.copy(), seeds(1, len(states)))
        found.append(float(keeps[np.arange(len(states)), actions].mean()))
    return found


def all_positions(game: pg.Game, seed: int, folder: Path) -> list[Positions]:
    """The positions of all phases, kept in a file: solving takes a minute."""
    file = folder / f"connect_four_phases_{seed}.npz"
    if not file.exists():
        found = [positions_of(game, phase, seed) for phase in PHASES]
        states = {f"s{k}": each.view("u1") for k, (each, _) in enumerate(found)}
        np.savez(file, allow_pickle=False, **states, **{f"k{k}": keeps for k, (_, keeps) in enumerate(found)})
    kept = np.load(file)
    return [(kept[f"s{k}"].view(game.rules.STATE), kept[f"k{k}"]) for k in range(len(PHASES))]


def moving_first(agent: Agent, game: pg.Game, games: int, seed: int) -> tuple[int, int]:
    """Wins and draws of an agent that moves first from the empty board against the perfect player."""
    batch, results = pg.Batch(game, games, seed=seed), np.zeros(games, np.int8)  # the outcomes, RUNNING before
    players, rngs = (agent, make("solver", game)), (seeds(seed, games), seeds(seed + 99, games))
    for ply in range(game.rules.MAX_PLIES):  # games that have ended begin anew, and are not counted again
        step = batch.step(players[ply % 2].act(batch.states.copy(), rngs[ply % 2]))
        ended = step.terminated & (results == RUNNING)
        results[ended] = batch.next_states["outcome"][ended]
    return int((results == pg.Outcome.FIRST_WINS).sum()), int((results == pg.Outcome.DRAW).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("agents", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path(), help="where solved positions are kept")
    parser.add_argument("--first", type=int, default=0, help="games against the perfect player, instead of positions")
    parser.add_argument("--files", type=Path, nargs="+", default=[], help="positions of these files, instead")
    chosen = parser.parse_args()
    game = pg.load("connect_four")
    if chosen.first:
        for spec in chosen.agents:
            wins, draws = moving_first(make(spec, game), game, chosen.first, chosen.seed)
            print(f"{spec}: {wins} wins, {draws} draws of {chosen.first} games", flush=True)
        return
    if chosen.files:
        lines = [file.read_text().splitlines() for file in chosen.files]
        boards = [[game.position(line.split()[0]).states for line in some] for some in lines]
        positions = [where_moves_differ(np.concatenate(each)) for each in boards]
        names = [f"{file.name} ({len(states)})" for file, (states, _) in zip(chosen.files, positions, strict=True)]
    else:
        positions = all_positions(game, chosen.seed, chosen.folder)
        names = [f"{low}-{high}" for low, high in PHASES]
    even = [float(keeps.sum(1).mean()) for _, keeps in positions]
    print("plies or files " + "  ".join(names), f"(moves that keep: {np.round(even, 2)})", flush=True)
    for spec in chosen.agents:
        found = shares(make(spec, game), positions)
        print(spec, "  ".join(f"{100 * share:.1f}" for share in found), f"mean {100 * np.mean(found):.1f}", flush=True)


if __name__ == "__main__":
    main()
