"""Q-learning and SARSA with a table: a value for each key, which says in a few numbers what an action does in a state.

    value += alpha * (reward + gamma * value behind - value)

The value behind is that of the best action at the same player's next turn (Q-learning), or of the one that is played
there (SARSA); at the end of a game it is the result. The reward is what the action does at once, on the scale of
results; a card that is drawn counts in the choice, never in the reward. `kernels/tabular.py` plays and learns in many
games at once, `encoders/table_key.py` says what keys are.

Metrics: `td_error` (mean distance of a value from its target) and `q` (mean target) as moving averages; of each cycle
the size of the table, how its visits and values are distributed, and where on the board it played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from plyground.agents.tabular import TableAgent, identity, load_run, rule_of
from plyground.errors import InvalidValue
from plyground.game import load
from plyground.kernels.table import Rule, Updates
from plyground.learners.arrays import OnCpu
from plyground.learners.learner import Groups, Learner, Settings
from plyground.learners.selfplay import SelfPlay, opponents_of, others_of
from plyground.runs.directory import Checkpoint
from plyground.tables import Table

VALUE_BINS, VISIT_BINS = 40, 24  # of the histograms; a bin of visits holds twice as many as the one before


@dataclass(frozen=True)
class Tabular(Settings):
    """Learn a game by playing it, with a table of values."""

    method: Literal["q", "sarsa"] = "q"
    """Q-learning follows the best next action, SARSA the one that is played"""
    key: str = ""
    """what the table knows of a state and an action (empty: the game's first key)"""
    concurrency: int = 256
    """games played side by side"""
    opening_plies: int = 0
    """games begin after a random number of random plies, up to this many"""
    opponents: tuple[str, ...] = ("1 self",)
    """weight and name of each opponent: self, or any agent's word"""
    alpha: float = 0.1
    """how far a value moves towards its target, at first; but the first visits of an entry are averaged"""
    alpha_end: float = 0.01
    """and at last"""
    gamma: float = 0.95
    """what the value behind counts, each time that the others have moved in between"""
    gamma_end: float = 0.95
    """and at last"""
    epsilon: float = 0.1
    """chance of a random action, at first"""
    epsilon_end: float = 0.02
    """and at last"""
    score_weight: float = 0.4
    """of what an action does at once and what it draws, in a choice"""
    value_weight: float = 0.6
    """of its value, in a choice"""
    value_scale: float = 10.0
    """what a value is multiplied with there, so that values of different actions lie as far apart as their scores"""
    draw_weight: float = 0.5
    """of what it draws, beside what it does at once"""
    reward_weight: float = 0.1
    """of what an action does at once, beside the game's result of 1 or -1, in its value"""
    prior: float = 0.0
    """for how many visits a guess counts beside an entry's value (0: none is made)"""

    AT_LEAST: ClassVar[dict[str, float]] = Settings.AT_LEAST | {"concurrency": 1}
    AT_MOST_ONE: ClassVar[tuple[str, ...]] = ("alpha", "alpha_end", "gamma", "gamma_end", "epsilon", "epsilon_end")

    def __post_init__(self) -> None:
        super().__post_init__()
        if "snapshot" in opponents_of(self.opponents):
            raise InvalidValue("a table has no snapshots to play against; opponents are self and agents' words")

    def resolved(self) -> Self:
        known, game = super().resolved(), load(self.game)
        others_of(self.opponents, game)
        return replace(known, key=str(Table(game, self.key).key))


class TabularLearner(Learner[Tabular]):
    """A table that gets better, the best it was, and games in lockstep."""

    counts = (*Learner.counts, "moves")

    def __init__(self, config: Tabular) -> None:
        super().__init__(config)
        self.settings = asdict(config)
        self.table = Table(self.game, config.key)
        if config.init:
            given = load_run(config.init, self.game).table
            if identity(given) != self.identity:
                raise InvalidValue(f"{config.init} has a table of {given.key}, not of {self.table.key}")
            self.table.restore(given.arrays())
        self.best = self.table.snapshot()
        self.selfplay = SelfPlay(
            *(OnCpu(self.game, self.rng), config.concurrency, config.seed),
            max_plies=config.max_steps or None,
            opening_plies=config.opening_plies,
            mix=config.opponents,
        )
        self.pending, self.scratch = self.table.pending(config.concurrency), self.table.scratch()
        self.actions = np.zeros(config.concurrency, np.int32)
        self.played = np.zeros(self.game.num_actions, np.int64)  # how often each effect was chosen in this cycle
        self.moves = 0  # of the learner
        nothing, rule = np.zeros(0, np.int64), rule_of(self.settings)
        self._learn(nothing, rule, np.zeros(3))  # so that the compiler's time is not the run's
        self._end(nothing, rule, np.zeros(3))

    @property
    def identity(self) -> dict[str, str]:
        return identity(self.table)

    @property
    def plies(self) -> int:
        return self.moves

    def agent(self) -> TableAgent:
        return TableAgent(self.table, rule_of(self.settings))

    def best_agent(self) -> TableAgent:
        return TableAgent(self.table, rule_of(self.settings), self.table.with_values(self.best))

    def keep_best(self) -> None:
        self.best = self.table.snapshot()

    # ---- playing and learning ----

    def advance(self) -> None:
        """One ply in every game."""
        games, sums = self.selfplay.batch, np.zeros(3)
        rule = rule_of(self.settings, self.progress, explore=True)
        theirs = self.selfplay.answer(self.actions, [])
        self.clock.lap("opponents")
        mine = np.flatnonzero(~theirs)
        self._learn(mine, rule, sums)
        self.clock.lap("learning")
        lengths = games.plies + 1
        _, terminated, truncated = games.step(self.actions)
        over = np.flatnonzero(terminated | truncated)
        self._end(over, rule, sums)
        if len(over):
            self.tally.count(self.selfplay.on, games.after, terminated, truncated, lengths)
            self.selfplay.begin(over)
        self.clock.lap("moves")
        self.step += 1
        self.moves += len(mine)
        self.updates += int(sums[0])
        if sums[0]:
            self.look({"td_error": sums[1] / sums[0], "q": sums[2] / sums[0]})

    def _learn(self, rows: NDArray[np.int64], rule: Rule, sums: NDArray[np.float64]) -> None:
        """Choose in these games, and learn from where the actions before have led."""
        batch = self.selfplay.batch
        games = self.table.games(batch.states, rows, batch.rngs, self.actions)
        self.table.learn(games, rule, Updates(self.pending, self.played, sums), self.scratch)

    def _end(self, rows: NDArray[np.int64], rule: Rule, sums: NDArray[np.float64]) -> None:
        """Learn from how these games have ended."""
        outcomes = self.selfplay.batch.after["outcome"][rows]
        self.table.end_games(rows, outcomes, rule, Updates(self.pending, self.played, sums))

    # ---- what a cycle was like ----

    def cycle_numbers(self) -> dict[str, Any]:
        plain, arrays, key = self.table.plain(), self.table.arrays(), self.table.key
        values, visits = arrays["values"][plain], arrays["visits"][plain]
        edges = np.linspace(float(values.min(initial=0.0)), float(values.max(initial=0.0)) + 1e-6, VALUE_BINS + 1)
        squares = np.zeros(key.board[0] * key.board[1] + 1, np.int64)  # the last one: no place
        np.add.at(squares, [key.square(effect) for effect in range(len(self.played))], self.played)
        self.played[:] = 0
        return {
            "entries": len(values),
            "guesses": len(self.table) - len(values),
            "table_bytes": self.table.bytes,
            "largest": float(np.abs(values).max(initial=0.0)),
            "visits": np.bincount(np.log2(visits).astype(int), minlength=VISIT_BINS).tolist(),
            "values": {"edges": edges.tolist(), "counts": np.histogram(values, edges)[0].tolist()},
            "squares": squares[:-1].reshape(key.board).tolist(),
        }

    def experience(self) -> dict[str, Any]:
        visits = self.table.arrays()["visits"]
        return {
            "key": str(self.table.key),
            "entries": len(self.table),
            "visited_once": float((visits == 1).mean()) if len(visits) else 0.0,
            "most_visits": int(visits.max(initial=0)),
            "table_bytes": self.table.bytes,
            "moves": self.moves,
        }

    def memory_words(self) -> str:
        return f"{len(self.table):,} entries in {self.table.bytes / 2**20:.0f} MB"

    # ---- to disk and back ----

    def groups(self) -> Groups:
        training = {f"best.{name}": array for name, array in self.best.items()}
        training |= {f"pending.{name}": array for name, array in self.pending._asdict().items()}
        memory = {f"games.{name}": array for name, array in self.selfplay.arrays().items()}
        return {"table": self.table.arrays(), "training": training, "memory": {**memory, "played": self.played}}

    def take(self, checkpoint: Checkpoint, state: Mapping[str, Any]) -> None:
        training, memory = checkpoint.tensors("training"), checkpoint.tensors("memory")
        self.table.restore(checkpoint.tensors("table"))
        self.best = {name: training[f"best.{name}"].copy() for name in self.best}
        for name, array in self.pending._asdict().items():
            array[:] = training[f"pending.{name}"]
        games = {name.removeprefix("games."): array for name, array in memory.items() if name.startswith("games.")}
        self.selfplay.restore(games)
        self.played[:] = memory["played"]
        super().take(checkpoint, state)
