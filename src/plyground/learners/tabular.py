"""Q-learning, SARSA and Monte Carlo returns with a table: a value for each key, a few numbers that describe a state and
an action in it.

    value += alpha * (reward + gamma * next value - value)

The next value is that of the best action at the same player's next turn (Q-learning), or of the action played there
(SARSA); at the end of a game it is the result. With Monte Carlo returns a value is updated at the end of the game, by
the rewards and the result that followed. The reward is the immediate effect of the action, on the scale of
results; a card that is drawn counts in the choice of an action, never in the reward. `kernels/tabular.py` plays and
updates many games at once, `games/table_key.py` explains keys.

Metrics: `td_error` (mean absolute TD error) and `q` (mean target) as moving averages; for each cycle the size of the
table, the distributions of its visits and values, and where on the board the learner played.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from plyground.game import load
from plyground.kernels.table import Rule, Updates
from plyground.learners.config import Tabular
from plyground.learners.evaluation import SelfPlayCycle
from plyground.learners.selfplay import SelfPlay
from plyground.learners.state import Metrics, TrainingState
from plyground.learners.versions import Versions
from plyground.models.table import of_config, rule_of, turns_of
from plyground.runs.learned import begin_with

VALUE_BINS, VISIT_BINS = 40, 24  # of the histograms; a bin of visits holds twice as many as the one before


class TabularLearner:
    """A table, the best version of it so far, and games in lockstep."""

    limits = ("cycles", "seconds")

    def __init__(self, config: Tabular) -> None:
        self.config, self.state, self.game = config, TrainingState(), load(config.game)
        self.settings = asdict(config)
        self.rng = torch.Generator().manual_seed(config.seed)
        present = of_config(self.settings, self.game)
        if config.init:
            begin_with(present, config.init)
        self.table, self.model = present.table, Versions(present)
        self.games = SelfPlay(self.game, config.device, config, self.rng)
        self.pending = self.table.pending(config.num_envs, turns_of(config.method))
        self.scratch = self.table.scratch()
        self.actions = torch.zeros(config.num_envs, dtype=torch.int32)
        self.played = np.zeros(self.game.num_actions, np.int64)  # how often each effect was chosen in this cycle
        self.cycle = SelfPlayCycle(
            config, self.state, self.model, self.games.results, self.metrics_of_cycle, self.size_of_table
        )
        nothing, rule = np.zeros(0, np.int64), rule_of(self.settings, self.table.key)
        self._act(nothing, rule, np.zeros(3))  # compile now, so that the compiler's time is not the run's
        self._end_games(nothing, np.zeros(0, np.int8), rule, np.zeros(3))

    def iterate(self) -> Metrics:
        """One ply in every environment: each action corrects the value of the same player's action before it."""
        state, sums = self.state, np.zeros(3)  # updates, absolute TD errors, targets
        rule = rule_of(self.settings, self.table.key, state.progress, explore=True)
        own = self.games.own_turns().nonzero()[:, 0].numpy()
        self._act(own, rule, sums)
        ply = self.games.step(self.actions)
        over = (ply.terminated | ply.truncated).nonzero()[:, 0]
        outcomes = self.games.batch.on.field(ply.next_states, "outcome")[over]
        self._end_games(over.numpy(), outcomes.numpy(), rule, sums)
        state.plies += len(own)
        state.updates += int(sums[0])
        return {"td_error": sums[1] / sums[0], "q": sums[2] / sums[0]} if sums[0] else {}

    def _act(self, rows: NDArray[np.int64], rule: Rule, sums: NDArray[np.float64]) -> None:
        """Choose actions in these rows, and update the values of the actions before them."""
        batch, rngs = self.games.batch, self.games.choosing_rngs
        games = self.table.games(batch.on.to_records(batch.states), rows, rngs.numpy(), self.actions.numpy())
        self.table.learn(games, rule, Updates(self.pending, self.played, sums), self.scratch)

    def _end_games(
        self, rows: NDArray[np.int64], outcomes: NDArray[np.int8], rule: Rule, sums: NDArray[np.float64]
    ) -> None:
        """Update the last values of the games that have ended in these rows."""
        self.table.end_games(rows, outcomes, rule, Updates(self.pending, self.played, sums))

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        own = {"state": self.state, "rng": self.rng, **self.model.parts()}
        pending = {  # views [games, seats * T, ...], as older checkpoints have them
            name: array.reshape(len(array), -1, *array.shape[3:]) for name, array in self.pending._asdict().items()
        }
        return {**own, **self.games.parts(), "pending": pending, "played": self.played}

    # ---- for the records ----

    def metrics_of_cycle(self) -> dict[str, Any]:
        table, played = self.table, self.played
        plain, arrays, key = table.plain(), table.state(), table.key
        values, visits = arrays["values"][plain], arrays["visits"][plain]
        edges = np.linspace(float(values.min(initial=0.0)), float(values.max(initial=0.0)) + 1e-6, VALUE_BINS + 1)
        squares = np.zeros(key.board[0] * key.board[1] + 1, np.int64)  # the last one: no place
        np.add.at(squares, [key.square(effect) for effect in range(len(played))], played)
        played[:] = 0
        return {
            **self.games.results.record(),
            "entries": len(values),
            "guesses": len(table) - len(values),
            "table_bytes": table.bytes,
            "largest": float(np.abs(values).max(initial=0.0)),
            "visits": np.bincount(np.log2(visits).astype(int), minlength=VISIT_BINS).tolist(),
            "values": {"edges": edges.tolist(), "counts": np.histogram(values, edges)[0].tolist()},
            "squares": squares[:-1].reshape(key.board).tolist(),
        }

    def size_of_table(self) -> str:
        return f"{len(self.table):,} entries in {self.table.bytes / 2**20:.0f} MB"
