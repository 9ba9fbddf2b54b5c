"""How often, and how soon, `minimax:time` finds the Paco in 2 and the Paco in 3 of positions from games of `greedy`.

    python benchmarks/paco_in_three.py [POSITIONS=200] [NODES=3000000]

An exhaustive search that shares no code with alpha-beta proves them first: every turn, every answer, and again; only
the last two turns of Paco in 3 are limited to turns that give Ŝako (`analysis.paco_in_2`). Positions whose chains the
exhaustive search cannot see completely are left out. Times are CPU-seconds of one thread.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

import plyground as pg
from plyground.agents.registry import make
from plyground.games.interface import RUNNING
from plyground.games.paco_sako.board import LIFT
from plyground.games.paco_sako.search import DEEP_WORK, copy, ended, explore, forced_wins, gives_sako, limit, memory
from plyground.games.rng import seeds
from plyground.search.timed import Found, TimedMinimax

TURNS = np.dtype([("mine", memory(8192)), ("theirs", memory(8192))], align=True)
SPACING = 3  # turns between two positions of a game
Records = NDArray[np.void]


@njit
def forced_turns(states: Records, turns: Records, work: Records, found: NDArray[np.int32]) -> int:
    """In how many turns (1, 2, 3) the side to move wins by force; 0: not so soon; -1: too many positions."""
    state, mine = states[0], turns[0]["mine"]
    side = state["to_move"]
    now = gives_sako(state, side, work[0])
    if now != 0:
        return now
    two, cut = forced_wins(state, side, work[0], found)
    if two > 0 or cut:
        return 2 if two > 0 else -1
    copy(state, mine["nodes"][0])
    count = explore(mine, False, work[0])
    if count >= limit(mine):
        return -1
    for index in range(1, count):
        if ended(mine["nodes"][index], side) and gives_sako(mine["nodes"][index], 1 - side, work[0]) == 0:
            answer = wins_after_all_answers(mine["nodes"][index], side, turns[0]["theirs"], work[0], found)
            if answer != 0:
                return 3 if answer > 0 else -1
    return 0


@njit
def wins_after_all_answers(state: np.void, side: int, theirs: np.void, work: np.void, found: NDArray[np.int32]) -> int:
    """Whether `side` has Paco, or Paco in 2, whatever the opponent answers: 1 yes, 0 no, -1 unknown."""
    copy(state, theirs["nodes"][0])
    count = explore(theirs, False, work)
    if count >= limit(theirs):
        return -1
    for index in range(1, count):
        end = theirs["nodes"][index]
        if ended(end, 1 - side):
            if end["outcome"] != RUNNING:
                return 0
            if gives_sako(end, side, work) == 1:
                continue
            two, cut = forced_wins(end, side, work, found)
            if two == 0:
                return -1 if cut else 0
    return 1


def positions(game: pg.Game) -> Iterator[pg.Position]:
    """Positions of games between two `greedy` agents, at the beginning of turns."""
    greedy, seed = make("greedy", game), 0
    while True:
        position, rng, turn = game.start(), seeds(seed, 1), 0
        while not position.over:
            if position.state["required"] == LIFT:
                turn += 1
                if turn % SPACING == 0 and position.state["idle"] < 10:
                    yield position
            position = position.play(int(greedy.act(position.states, rng)[0]))
        seed += 1


def seconds_to_proof(agent: TimedMinimax, position: pg.Position, turns: int) -> float:
    """CPU-seconds until the agent has proven a win in so many turns; infinite if it has not with its nodes."""
    begin, told = time.thread_time(), list[Found]()
    for found in agent.deepen(position.states):
        told.append(found)
        if 0 < found.turns <= 2 * turns - 1:
            return time.thread_time() - begin
    spent = time.thread_time() - begin
    print(f"Paco in {turns} not found: {position.text}, {spent:.3f} s of CPU, last {told[-1]}", flush=True)
    return float("inf")


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 3_000_000
    game = pg.load("paco_sako")
    agent, work, turns = TimedMinimax(game, nodes=most), np.zeros(1, DEEP_WORK), np.zeros(1, TURNS)
    room, times, looked = np.empty(8192, np.int32), dict[int, list[float]]({2: [], 3: []}), 0
    for position in positions(game):
        looked += 1
        forced = forced_turns(position.states, turns, work, room)
        if forced in times and len(times[forced]) < wanted:
            times[forced].append(seconds_to_proof(agent, position, forced))
        if len(times[3]) == wanted:
            break
    for forced, found in times.items():
        inside = sum(each <= 1.0 for each in found)
        print(
            f"Paco in {forced}: {len(found)} positions of {looked}, median {statistics.median(found):.4f} s of CPU, "
            f"{inside} within 1 s, slowest {max(found):.2f} s"
        )


if __name__ == "__main__":
    main()
