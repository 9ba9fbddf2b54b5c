"""Tables that play: the agent that reads one, and the one that goes on learning while it plays."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, counted
from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.games.table_key import TableKey
from plyground.kernels.table import Entries, Pending, Rule
from plyground.kernels.threads import available, over_slices
from plyground.runs.directory import (
    Checkpoint,
    best_of,
    find_checkpoint,
    game_of,
    newest_whole,
    open_run,
    read_config,
    told,
)
from plyground.runs.fingerprints import of_table, rules_fingerprint
from plyground.tables import Table

Records = NDArray[np.void]
ROWS_FOR_A_THREAD = 256
MOST_REWARD = 1.25  # no action's reward is higher (Sequence: four sequences at once that block four others, 1.21)


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


def identity(table: Table) -> dict[str, str]:
    """What a checkpoint of a table belongs to."""
    return {"game": str(table.game), "key": str(table.key)}


class TableAgent:
    """Plays the action that looks best: what it does at once, and what the table says."""

    independent = True
    folder: Path | None = None  # the run that has learned it
    spec = ""  # by which `make` makes it again, where there is one

    def __init__(self, table: Table, rule: Rule, entries: Entries | None = None) -> None:
        self.table, self.rule, self.entries = table, rule, entries

    def __repr__(self) -> str:
        return f"<agent for {self.game}: {told(self.folder) if self.folder else 'a table'}>"

    @property
    def game(self) -> Game:
        return self.table.game

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        table, entries, actions = self.table, self.entries or self.table.entries, np.empty(len(states), np.int32)

        def run(rows: slice) -> None:
            actions[rows] = table.choose(states[rows], rngs[rows], self.rule, entries, table.scratch())

        over_slices(run, len(states), available(), ROWS_FOR_A_THREAD)
        return actions

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))


def load_table(path: Path, game: Game | None, checkpoint: Checkpoint) -> tuple[Table, Rule]:
    """The table of a run's checkpoint, and how the run plays with it."""
    config, own = read_config(path), game_of(path, game)
    try:
        table = Table(own, config["key"])
        rule = rule_of({"score_scale": "log", **config}, table.key)  # runs made before the setting have the logarithm
    except KeyError as error:
        raise InvalidValue(f"{path}/config.toml does not say {error}") from None
    checkpoint.check(identity(table), rules_fingerprint(own))
    table.load_state(checkpoint.tensors("table"))
    return table, rule


def load_run(path: str, game: Game | None = None, which: str = "best") -> TableAgent:
    """The agent that a run has learned: `best`, `last`, or the one of a step."""
    run = Path(path)
    read_config(run)  # what is no run is refused before its checkpoints are looked for
    return TableAgent(*load_table(run, game, find_checkpoint(run, which)))


class LearningAgent(TableAgent):
    """Plays with a run's newest table and goes on learning; after each match, stopped or not, the run keeps it.

    It holds the run while it lives, so that nobody else writes there. It must be told which games it plays and how they
    end (`agents.agent.ask` and `tell`); what it is merely asked, it answers without learning.
    """

    independent = False  # what it learns in one game it knows in the others

    def __init__(self, path: str, game: Game | None = None) -> None:
        self.path, self.config = Path(path), read_config(Path(path))
        self.run = open_run(self.path)
        weakref.finalize(self, self.run.close)
        self.checkpoint = newest_whole(self.path)
        self.checkpoint.check_trusted()  # its positions go into the checkpoints that this agent writes
        table, rule = load_table(self.path, game, self.checkpoint)
        self.run.rewind(self.checkpoint)
        super().__init__(table, rule)
        self.updates, self.scratch = table.updates(1), table.scratch()

    def act_in(self, games: NDArray[np.int64], states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[R] actions in the games of these numbers, having learned from where the last ones led."""
        table, pending = self.table, self.updates.pending
        if len(games) and games.max() >= len(pending.waiting):
            pending = self._make_room(int(games.max()) + 1)
        own = pending._replace(**{name: array[games] for name, array in pending._asdict().items()})
        asked = table.games(states, np.arange(len(states)), rngs, np.empty(len(states), np.int32))
        table.learn(asked, self.rule, self.updates._replace(pending=own), self.scratch)
        for name, array in own._asdict().items():
            getattr(pending, name)[games] = array
        return asked.actions

    def _make_room(self, games: int) -> Pending:
        larger = self.table.pending(games)
        for name, array in self.updates.pending._asdict().items():
            getattr(larger, name)[: len(array)] = array
        self.updates = self.updates._replace(pending=larger)
        return larger

    def ended(self, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None:
        """Learn from how games ended, and save; a game that did not end (RUNNING) is forgotten."""
        known = games < len(self.updates.pending.waiting)
        games, outcomes = games[known], outcomes[known]
        self.table.end_games(games, outcomes, self.rule, self.updates)
        if self.updates.sums[0]:
            self._save(int((outcomes != RUNNING).sum()))

    def _save(self, games: int) -> None:
        """A checkpoint of the run, in which only the table is another."""
        before, state = self.checkpoint, self.checkpoint.state()
        groups = {name: before.tensors(name) for name in ("training", "replay")} | {"table": self.table.state()}
        corrections, step = int(self.updates.sums[0]), before.step + 1
        counters = state["parts"]["state"]
        counters["step"], counters["updates"] = step, counters["updates"] + corrections
        learned = f"{counted(corrections, 'correction')}, {len(self.table):,} entries"
        text = f"learned from {counted(games, 'game')} of a match: {learned}"
        self.run.log({"event": "note", "step": step, "updates": counters["updates"], "text": text})
        current = of_table(self.game, self.table.key)
        self.checkpoint = self.run.save(step, before.identity, groups, state, current)
        self.run.prune(self.config["keep_last"], self.config["keep_every"], best_of(self.path).get("step", step))
        self.updates.sums[:] = 0
