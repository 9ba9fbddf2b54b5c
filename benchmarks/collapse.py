"""The first lesson of policy gradients on Connect Four: without an entropy bonus, REINFORCE soon plays one game only.

Plays and learns from the empty board, with and without the bonus, three seeds each. How open the play still is: the
entropy of the policy, and how many different games there are among 1,000 that it plays against itself.

    python benchmarks/collapse.py            # half a minute of one core for each of six runs
"""

from __future__ import annotations

import argparse

import numpy as np
from plyground.learners.policy import SamplingAgent

from plyground.agents.agent import make
from plyground.batch import Batch
from plyground.learners.evaluation import score
from plyground.learners.reinforce import Reinforce, ReinforceLearner

GAMES = 1000


def different_games(learner: ReinforceLearner, seed: int = 7) -> int:
    """How many of 1,000 games with itself are different."""
    agent, batch = SamplingAgent(learner.view, learner.network), Batch(learner.game, GAMES, seed)
    moves, going = [""] * GAMES, np.ones(GAMES, np.bool_)
    while going.any():
        actions = agent.act(batch.states, batch.rngs)
        for row in np.flatnonzero(going):
            moves[row] += str(actions[row])
        going &= ~batch.step(actions).terminated
    return len(set(moves))


def run(seed: int, bonus: float, cycles: int) -> None:
    config = Reinforce(
        game="connect_four", encoder="onehot", network="128-64+value", seed=seed, cycles=cycles, games_per_cycle=1000,
        concurrency=64, rollout=42, learning_rate=5e-3, learning_rate_end=1.0, entropy_bonus=bonus, entropy_floor=0.0,
        symmetries=False, threads=1,
    ).resolved()  # fmt: skip
    learner = ReinforceLearner(config)
    print(f"| {seed} | {bonus} |", end="", flush=True)
    while not learner.finished:
        learner.advance()
        if learner.cycle_is_full:
            learner.end_cycle()
            if learner.cycle % (cycles // 4) == 0:
                print(f" {different_games(learner)} ({learner.averages['entropy']:.2f}) |", end="", flush=True)
    scores = [score(learner.game, learner.model.agent(), make(word, learner.game), 400, None).score for word in RIVALS]
    print("".join(f" {share:.1%} |" for share in scores), flush=True)


RIVALS = ("random", "punisher")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=120, help="thousands of games")
    parser.add_argument("--bonus", type=float, default=0.05)
    given = parser.parse_args()
    quarter = given.cycles // 4
    heads = [f"{quarter * k},000 games" for k in (1, 2, 3, 4)]
    print(f"| seed | bonus | {' | '.join(heads)} | {' | '.join(RIVALS)} |\n|{'---|' * (6 + len(RIVALS))}")
    for bonus in (0.0, given.bonus):
        for seed in range(3):
            run(seed, bonus, given.cycles)
