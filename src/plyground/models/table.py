"""`TableModel`: a table of action values as a model, with the rule by which a run chooses and learns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.table_key import TableKey
from plyground.kernels.table import TURNS, Entries, Rule
from plyground.models.model import Arrays, Records
from plyground.tables import Table

MOST_REWARD = 1.25  # no action's reward is higher (Sequence: four sequences at once that block four others, 1.21)


class TableModel:
    """A table as it is now or, with `then`, as it was: entries keep their order, so its former values are enough."""

    kind, compiled = "table", False
    spec, folder = "", None

    def __init__(self, table: Table, rule: Rule, then: dict[str, NDArray[Any]] | None = None) -> None:
        self.table, self.rule, self.then = table, rule, then
        self.folder: Path | None = None

    @property
    def game(self) -> Game:
        return self.table.game

    @property
    def entries(self) -> Entries:
        return self.table.entries if self.then is None else self.table.with_values(self.then)

    def __len__(self) -> int:
        return len(self.table if self.then is None else self.then["values"])

    @property
    def identity(self) -> dict[str, str]:
        return {"game": str(self.game), "key": str(self.table.key)}

    @property
    def words(self) -> str:
        return f"Table of {len(self):,} entries with the key {self.table.key}"

    def code(self) -> dict[str, tuple[Any, ...]]:
        return {"key": (self.table.key.words, sorted(self.table.key.functions.items()))}

    def choose(self, states: Records, rngs: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """[N] the actions that look best in states [N], and [N] the highest value of any action there."""
        return self.table.choose(states, rngs, self.rule, self.entries, self.table.scratch())

    def judge(self, states: Records) -> NDArray[np.float64]:
        return np.clip(self.choose(states, np.zeros(len(states), np.uint64))[1], -1.0, 1.0)

    def state(self) -> Arrays:
        return self.table.state() if self.then is None else self.then

    def load_state(self, state: Arrays) -> None:
        if self.then is None:
            self.table.load_state(dict(state))
            return
        now, sizes = self.table.state(), {len(array) for array in state.values()}
        types = {name: (array.dtype, array.ndim) for name, array in state.items()}
        if types != {name: (now[name].dtype, 1) for name in ("values", "visits")} or len(sizes) > 1:
            raise InvalidValue(f"the best table has arrays {types} of {sizes} entries, not values and visits")
        self.then = {name: array.copy() for name, array in state.items()}

    def copy(self) -> TableModel:
        return TableModel(self.table, self.rule, self.table.snapshot() if self.then is None else dict(self.then))

    def take(self, other: TableModel) -> None:
        self.then = other.copy().then


def of_config(config: Mapping[str, Any], game: Game) -> TableModel:
    """The empty table of a run's config."""
    table = Table(game, config["key"])
    return TableModel(table, rule_of({"score_scale": "log", "rate": "visits", **config}, table.key))  # of older runs


def turns_of(method: str) -> int:
    """How many actions of a seat wait for their update."""
    return TURNS if method == "monte_carlo" else 1


def rule_of(config: Mapping[str, Any], key: TableKey, progress: float = 1.0, explore: bool = False) -> Rule:
    """How a run with these settings and this key chooses and learns, after a share of it is done."""

    def now(name: str) -> float:
        return config[name] + progress * (config[f"{name}_final"] - config[name])

    raw = config["score_scale"] == "raw"
    most = (1.0 + key.full) ** MOST_REWARD if raw and key.full else MOST_REWARD
    gamma, rewards = now("gamma"), most * config["reward_weight"]
    turns = 1000.0 if gamma > 0.999 else 1.0 / (1.0 - gamma)
    return Rule(
        sarsa=config["method"] == "sarsa",
        learning_rate=now("alpha"),
        averages=config["rate"] == "visits",
        gamma=gamma,
        epsilon=now("epsilon") if explore else 0.0,
        score_weight=float(config["score_weight"]),
        value_weight=float(config["value_weight"] * config["value_scale"]),
        draw_weight=float(config["draw_weight"]),
        reward_weight=float(config["reward_weight"]),
        prior=float(config["prior"]),
        full=0.0 if raw else math.log1p(key.full),
        limit=1.0 + 2.0 * rewards * turns,  # in a turn there may be two actions: a trade, and the move
    )
