"""The first lesson of policy gradients on Connect Four: without an entropy bonus, REINFORCE soon plays one game only.

Plays and learns from the empty board, with and without the bonus, three seeds each. How open the play still is: the
entropy of the policy, and how many different games there are among 1,000 that it plays against itself.

    python benchmarks/collapse.py            # half a minute of one core for each of six runs
"""

from __future__ import annotations

import argparse

import numpy as np

from plyground.agents.network import SamplingAgent
from plyground.batch import Batch
from plyground.learners.config import Reinforce
from plyground.learners.defaults import resolve
from plyground.learners.evaluation import evaluate
from plyground.learners.reinforce import ReinforceLearner
from plyground.learners.training import progress

GAMES = 1000


def different_games(learner: ReinforceLearner, seed: int = 7) -> int:
    """How many of 1,000 games with itself are different."""
    agent, batch = SamplingAgent(learner.model.present), Batch(learner.game, GAMES, seed)
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
        num_envs=64, rollout_length=42, learning_rate=5e-3, learning_rate_final=1.0, entropy_coef=bonus,
        rollback_entropy=0.0, symmetries=False, threads=1,
    )  # fmt: skip
    learner = ReinforceLearner(resolve(config))
    state, results = learner.state, learner.rollout.games.results
    print(f"| {seed} | {bonus} |", end="", flush=True)
    while state.cycle < cycles:
        state.progress = progress(learner)
        state.track_metrics(learner.iterate(), learner.config)
        if results.games >= config.games_per_cycle:
            state.cycle += 1
            results.clear()
            if state.cycle % (cycles // 4) == 0:
                print(f" {different_games(learner)} ({state.averages['entropy']:.2f}) |", end="", flush=True)
    scores = evaluate(learner.game, learner.model.agent(), RIVALS, 400, None)
    print("".join(f" {found['score']:.1%} |" for found in scores.values()), flush=True)


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
