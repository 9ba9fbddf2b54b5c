"""TD(λ) with an n-tuple network: self-play by afterstates, in compiled code, without torch.

    value of a position -> (1 - λ) * value of the next one + λ * the target of the next one

The value of a position belongs to whoever looks at it (`models/ntuple_code.py`); the side to move plays the action
after which the position is worth most to it. Where chance decides or cards are hidden, that is a mean over redraws from
another generator than the game's. After a random action nothing is learned of the position before it.

Games are played in rounds with frozen weights, in any number of threads. Then each table learns from the round, in the
order of the games, in a thread of its own: the result is the same bit for bit for any number of threads.

The step of an entry is its part of `alpha` times |sum of its changes| / sum of |changes| (temporal coherence): entries
whose errors cancel out come to rest. Both sums fade with each change, so that an entry moves again when what it stands
for has changed.

Differences from Thill and others (2014): rounds; λ-returns in place of eligibility
traces; random openings; fading sums; steps and exploration fall in the second half of a run.

Metrics: `td_error` (mean absolute error, as a moving average); for each cycle the share of entries ever met.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from plyground.errors import InvalidValue
from plyground.game import load
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS
from plyground.games.rng import agent_seeds, seeds
from plyground.kernels.threads import available, over_slices
from plyground.learners.config import TD
from plyground.learners.evaluation import SelfPlayCycle
from plyground.learners.state import Metrics, TrainingState
from plyground.learners.versions import Versions
from plyground.models.ntuple import PLAY, of_config
from plyground.models.ntuple_arrays import Played, Settings
from plyground.runs.learned import begin_with

BYTES = 16  # of an entry while it learns: its value, that of the best version, and two sums
LONGEST = 512  # plies of a game that are played; then its last position keeps its value
ROUNDS = 2**32  # at most, of a run


class TDLearner:
    """An n-tuple network, the best version of it so far, and rounds of games."""

    limits = ("cycles", "seconds")

    def __init__(self, config: TD) -> None:
        self.config, self.state, self.game = config, TrainingState(), load(config.game)
        model = of_config(asdict(config), self.game)
        needed = model.table.size * BYTES / 2**20
        if needed > config.memory:
            raise InvalidValue(
                f"{config.tuples} tuples of {config.length} cells learn in {needed:,.0f} MB, and memory allows "
                f"{config.memory}: fewer or shorter tuples, or --memory {int(needed) + 1}"
            )
        if config.init:
            begin_with(model, config.init)
        self.network, self.model = model, Versions(model)
        self.steps = np.zeros((*model.table.shape, 2), np.float32)  # of each entry: fading sums of changes, of sizes
        self.threads = min(config.threads or available(), available())
        self.kernels, self.memories = model.kernels(PLAY), [model.memory() for _ in range(self.threads)]
        games, plies = config.games_per_round, min(config.max_plies or LONGEST, self.game.rules.MAX_PLIES)
        self.played = Played(
            rngs=np.zeros(games, np.uint64),
            own_rngs=np.zeros(games, np.uint64),
            codes=np.zeros((games, plies, len(model.weights["start"][0])), np.int32),
            tables=np.zeros((games, plies), np.int8),
            sides=np.zeros((games, plies), np.int8),
            values=np.zeros((games, plies)),
            explored=np.zeros((games, plies), np.bool_),
            lengths=np.zeros(games, np.int32),
            outcomes=np.zeros(games, np.int8),
        )
        self.results = Results()
        self.cycle = SelfPlayCycle(config, self.state, self.model, self.results, self.metrics_of_cycle, self.size)  # pyright: ignore
        settings = self._settings()
        self.kernels.play_games(0, 0, self.game.blank, model.weights, settings, self.memories[0], self.played)
        nothing = self.played._replace(lengths=np.zeros(0, np.int32))
        self.kernels.learn_games(0, model.table[0], self.steps[0], settings, nothing, np.zeros(2))

    def iterate(self) -> Metrics:
        """A round: games in all threads, then what they teach."""
        config, state, played, settings = self.config, self.state, self.played, self._settings()
        number, games = config.seed * ROUNDS + state.step, config.games_per_round
        played.rngs[:], played.own_rngs[:] = seeds(number, games), agent_seeds(number, games)

        def play(thread: slice) -> None:
            for k in range(thread.start, thread.stop):
                first, last = games * k // self.threads, games * (k + 1) // self.threads
                self.kernels.play_games(
                    first, last, self.game.blank, self.network.weights, settings, self.memories[k], played
                )

        def learn(tables: slice) -> None:
            for k in range(tables.start, tables.stop):
                self.kernels.learn_games(k, self.network.table[k], self.steps[k], settings, played, sums[k])

        over_slices(play, self.threads, self.threads, 1)
        sums = np.zeros((len(self.steps), 2))  # of each table: updates, absolute errors
        over_slices(learn, len(self.steps), self.threads, 1)
        updates, errors = sums.sum(axis=0)
        state.plies += int(played.lengths.sum())
        state.updates += int(updates)
        self.results.add(played)
        return {"td_error": errors / updates} if updates else {}

    def _settings(self) -> Settings:
        config, late = self.config, max(0.0, 2.0 * self.state.progress - 1.0)
        return Settings(
            alpha=config.alpha
            / self.network.used
            * (1.0 + late * (config.alpha_final - 1.0))
            / 2**self.state.rollbacks,
            epsilon=config.epsilon * (1.0 + late * (config.epsilon_final - 1.0)),
            coherence_memory=config.coherence_memory,
            td_lambda=config.td_lambda,
            opening_plies=config.opening_plies,
            opening_share=config.opening_share,
            redraws=config.redraws,
            codes=self.network.used,
        )

    def parts(self) -> dict[str, Any]:
        """Everything that a checkpoint holds."""
        own = {"state": self.state, "steps": Sparse(self.steps), "results": self.results.counts}
        return {**own, **self.model.parts()}

    # ---- for the records ----

    def metrics_of_cycle(self) -> dict[str, Any]:
        met = float((self.steps[..., 1] > 0).mean())
        return {**self.results.record(), "entries_met": met}

    def size(self) -> str:
        return f"{self.network.table.size:,} entries, {self.network.table.size * BYTES / 2**20:.0f} MB"


class Sparse:
    """An array that is mostly zeros, as a part of a checkpoint."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def state(self) -> dict[str, Any]:
        flat = self.array.reshape(-1)
        places = np.flatnonzero(flat)
        return {"places": places, "values": flat[places]}

    def load_state(self, state: dict[str, Any]) -> None:
        flat, places = self.array.reshape(-1), state["places"]
        if len(places) and not 0 <= places.min() <= places.max() < flat.size:
            raise InvalidValue(f"places of steps are below {flat.size}")
        flat[:] = 0
        flat[places] = state["values"]


class Results:
    """Counts of the games of a cycle."""

    NAMES = ("games", "plies", "draws", "first_wins", "second_wins", "truncated", "longest")

    def __init__(self) -> None:
        self.counts = np.zeros(len(self.NAMES), np.int64)

    @property
    def games(self) -> int:
        return int(self.counts[0])

    def clear(self) -> None:
        self.counts[:] = 0

    def add(self, played: Played) -> None:
        ended = [(played.outcomes == code).sum() for code in (DRAW, FIRST_WINS, SECOND_WINS, RUNNING)]
        self.counts[:-1] += np.array([len(played.lengths), played.lengths.sum(), *ended])
        self.counts[-1] = max(self.counts[-1], played.lengths.max())

    def record(self) -> dict[str, Any]:
        """Shares and lengths, for the metrics of a cycle."""
        counts = dict(zip(self.NAMES, self.counts.tolist(), strict=True))
        games = max(1, self.games)
        shares = {name: counts[name] / games for name in ("first_wins", "second_wins", "draws", "truncated")}
        return {"games": self.games, **shares, "mean_length": counts["plies"] / games, "longest": counts["longest"]}
