"""Tables that play: the agent that reads one, and the one that goes on learning while it plays."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from plyground.errors import counted
from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.kernels.threads import available, over_slices
from plyground.models.model import of_config
from plyground.models.table import TableModel, turns_of
from plyground.runs.directory import best_of, game_of, newest_whole, open_run, read_config, told
from plyground.runs.fingerprints import of_model
from plyground.runs.learned import fill

Records = NDArray[np.void]
ROWS_FOR_A_THREAD = 256


class TableAgent:
    """Plays the action that looks best: what it does at once, and what the table says."""

    independent = True
    spec = ""  # by which `make` makes it again, where there is one

    def __init__(self, model: TableModel) -> None:
        self.model, self.table, self.rule = model, model.table, model.rule

    def __repr__(self) -> str:
        return f"<agent for {self.game}: {told(self.model.folder) if self.model.folder else 'a table'}>"

    @property
    def game(self) -> Game:
        return self.model.game

    def act(self, states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)

        def run(rows: slice) -> None:
            actions[rows], _ = self.model.choose(states[rows], rngs[rows])

        over_slices(run, len(states), available(), ROWS_FOR_A_THREAD)
        return actions

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))


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
        model = of_config(self.config, game_of(self.path, game))
        fill(model, self.checkpoint)
        model.folder = self.path
        self.run.rewind(self.checkpoint)
        super().__init__(model)
        self.updates, self.scratch = self.table.updates(1, turns_of(self.config["method"])), self.table.scratch()

    def act_in(self, games: NDArray[np.int64], states: Records, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[R] actions in the games of these numbers, having learned from where the last ones led."""
        table, pending = self.table, self.updates.pending
        if len(games) and games.max() >= len(pending.waiting):
            pending = table.pending(int(games.max()) + 1, pending.waiting.shape[2])
            for name, array in self.updates.pending._asdict().items():
                getattr(pending, name)[: len(array)] = array
            self.updates = self.updates._replace(pending=pending)
        own = pending._replace(**{name: array[games] for name, array in pending._asdict().items()})
        asked = table.games(states, np.arange(len(states)), rngs, np.empty(len(states), np.int32))
        table.learn(asked, self.rule, self.updates._replace(pending=own), self.scratch)
        for name, array in own._asdict().items():
            getattr(pending, name)[games] = array
        return asked.actions

    def ended(self, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None:
        """Learn from how games ended, and save; a game that did not end (RUNNING) is forgotten."""
        known = games < len(self.updates.pending.waiting)
        games, outcomes = games[known], outcomes[known]
        self.table.end_games(games, outcomes, self.rule, self.updates)
        if not self.updates.sums[0]:
            return
        # a checkpoint of the run, in which only the table is another
        before, state = self.checkpoint, self.checkpoint.state()
        groups = {name: before.tensors(name) for name in ("training", "replay")} | {"table": self.table.state()}
        corrections, step = int(self.updates.sums[0]), before.step + 1
        counters = state["parts"]["state"]
        counters["step"], counters["updates"] = step, counters["updates"] + corrections
        learned = f"{counted(corrections, 'correction')}, {len(self.table):,} entries"
        text = f"learned from {counted(int((outcomes != RUNNING).sum()), 'game')} of a match: {learned}"
        self.run.log({"event": "note", "step": step, "updates": counters["updates"], "text": text})
        current = of_model(self.model)
        self.checkpoint = self.run.save(step, before.identity, groups, state, current)
        self.run.prune(self.config["keep_last"], self.config["keep_every"], best_of(self.path).get("step", step))
        self.updates.sums[:] = 0
