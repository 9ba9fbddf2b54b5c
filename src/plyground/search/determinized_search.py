"""`DeterminizedSearch`: search for games with hidden information or chance, on the CPU. A network may say which actions
are worth considering; games played by the rollout agent judge them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, unknown
from plyground.game import Game
from plyground.games.interface import Function
from plyground.kernels.slots import slots_of
from plyground.kernels.threads import available, over_slices
from plyground.search.analysis import Tree
from plyground.search.determinized_arrays import CANDIDATE, PROGRESS, ROOT, FlatSearch
from plyground.search.pieces import CLOCK_INTERVAL, SIGNAL_INTERVAL, in_pieces
from plyground.search.tree_arrays import EDGE, NODE, Records, Result, Rngs
from plyground.search.tree_config import LEAVES, MOST_SIMULATIONS, SearchConfig
from plyground.search.tree_memory import new_result, words_of

TEMPLATE = "plyground.search.determinized"
FIRST = 16  # simulations before the first reading

Prior = Callable[[Records], NDArray[np.float64]]
"""states [1] -> [A] log-probabilities of the actions, as the seat to act sees them; minus infinity where not legal"""


def determinized_search(game: Game, leaf: str, considered: int) -> tuple[Any, FlatSearch]:
    """The compiled loops of search over determinizations, with the rollout agent `leaf` and the scorer of that name,
    and memory for one position with up to `considered` candidates: all that a search needs, in numbers.

    `begin_search(search, root, rngs, work)` begins with a root, `words_of(states)[0]`;
    `play_determinizations(search, simulations, settings, work)` goes on until there were so many simulations in all;
    `halve(search)` drops the worse half of the candidates; `finish_search(search, row, new_result(game, n), work)`
    writes down what was found.
    """
    policies, scorers = game.rules.POLICIES, game.rules.SCORERS
    if leaf != "random" and leaf not in policies:
        raise unknown(f"rollout agent for {game}", leaf, ["random", *policies])
    own: dict[str, Function] = {"choose": policies[leaf]} if leaf != "random" else {}
    own |= {"score": scorers[leaf]} if leaf in scorers else {}
    kernels = game.kernels_with(TEMPLATE, slots_of(game.rules) | own, leaf) if own else game.kernels(TEMPLATE)
    states, most = np.zeros(3, game.rules.STATE), game.rules.MAX_LEGAL
    return kernels, FlatSearch(
        states=states,
        words=words_of(states),
        candidates=np.zeros(min(considered, most), CANDIDATE),
        progress=np.zeros(1, PROGRESS),
        rng=np.zeros(1, np.uint64),
        actions=np.zeros(most, np.int32),
        scores=np.zeros(most, np.float64),
    )


class Searcher:
    """The search of one position, step by step. Sequential halving has rounds of equal length: in simulations, or in
    time where that is the limit."""

    def __init__(self, game: Game, config: SearchConfig, prior: Prior | None = None) -> None:
        self.game, self.config, self.prior = game, config, prior
        ranked = prior is not None or config.leaf in game.rules.SCORERS
        considered = config.considered if ranked else game.rules.MAX_LEGAL
        self.kernels, self.search = determinized_search(game, config.leaf, considered)
        self.settings, self.most = config.settings(game), config.simulations or MOST_SIMULATIONS
        self.work, self.begun, self.rounds, self.round = game.work(), 0.0, 1, 0

    def compile(self) -> None:
        """Run every kernel once, so that neither the first move of a game nor a clock waits for a compiler."""
        searcher = Searcher(self.game, replace(self.config, simulations=4, seconds=0.0))
        searcher.run(self.game.start(0).states, np.zeros(1, np.uint64))
        self.kernels.halve(searcher.search)
        searcher.finish()

    def begin(self, states: Records, rngs: Rngs) -> None:
        """Begin a search of states [1]."""
        self.begun, self.round = time.perf_counter(), 0
        self.kernels.begin_search(self.search, words_of(states)[0], rngs, self.work)
        considered = int(self.search.progress["considered"][0])
        if self.prior is not None:
            log_probs = self.prior(states)
            best = np.argsort(-log_probs, kind="stable")[:considered]
            self.search.candidates["action"][:considered] = best
            self.search.candidates["prior"][:considered] = log_probs[best]
        self.rounds = max(1, math.ceil(math.log2(considered)))

    def simulate(self, count: int) -> None:
        """About `count` simulations; each determinization is played by all candidates."""
        end = self.most if self.config.seconds else math.ceil(self.most * (self.round + 1) / self.rounds)
        self.kernels.play_determinizations(self.search, min(self.simulations + count, end), self.settings, self.work)
        while self.round + 1 < self.rounds and self._reached(self.round + 1):
            self.kernels.halve(self.search)
            self.round += 1

    def _reached(self, rounds: int) -> bool:
        """Whether so many rounds are over."""
        if self.config.seconds and (time.perf_counter() - self.begun) * self.rounds >= self.config.seconds * rounds:
            return True
        return self.simulations >= math.ceil(self.most * rounds / self.rounds)

    def finish(self) -> Result:
        """What was found so far; the search may go on."""
        result = new_result(self.game, 1)
        self.write(0, result)
        return result

    def write(self, row: int, result: Result) -> None:
        """Write what was found into a row of a result."""
        self.kernels.finish_search(self.search, row, result, self.work)

    def tree(self) -> Tree:
        """The root alone, for an analysis: there is nothing below it."""
        nodes, edges, found = np.zeros(1, NODE), np.zeros(self.game.rules.MAX_LEGAL, EDGE), self.finish()
        nodes["count"], edges["child"] = self.search.progress["count"], -1
        edges["action"], edges["visits"], edges["value"] = found.actions[0], found.visits[0], found.action_values[0]
        return Tree(self.search.states[ROOT : ROOT + 1], nodes, edges)

    def run(self, states: Records, rngs: Rngs) -> None:
        """The whole search of states [1]. A single legal action needs none."""
        self.begin(states, rngs)
        seconds = self.config.seconds

        def left() -> int:
            return self.most if self.search.progress["count"][0] > 1 and not self._reached(self.rounds) else 0

        interval = min(CLOCK_INTERVAL, seconds / 20) if seconds else SIGNAL_INTERVAL
        for _ in in_pieces(self.simulate, left, FIRST, interval):
            pass

    @property
    def simulations(self) -> int:
        return int(self.search.progress["simulations"][0])


class DeterminizedSearch:
    """Searches positions one by one, several at once in threads."""

    def __init__(
        self, game: Game, config: SearchConfig, threads: int | None = None, prior: Prior | None = None
    ) -> None:
        if config.leaf in LEAVES and config.leaf != "random":
            raise InvalidValue(
                f"a search of {game}, where something is hidden or left to chance, plays to the end by random or by"
                f" a scripted agent, not leaf={config.leaf}"
            )
        if config.rollout_plies and "evaluate" not in game.rules.compiled:
            raise InvalidValue(f"{game} has no evaluate, so rollouts end with the game: leave plies out")
        self.game, self.config, self.prior, self.threads = game, config, prior, threads or available()
        self._own = threading.local()
        self._own.searcher = Searcher(game, config, prior)

    def search(self, states: Records, rngs: Rngs) -> Result:
        """What the search finds in each state [N]; random numbers come from `rngs` [N], each row from its own."""
        result = new_result(self.game, len(states))

        def run(rows: slice) -> None:
            if not hasattr(self._own, "searcher"):
                self._own.searcher = Searcher(self.game, self.config, self.prior)
            for row in range(rows.start, rows.stop):
                try:
                    self._own.searcher.run(states[row : row + 1], rngs[row : row + 1])
                except KeyboardInterrupt:  # a single search ends with what it has found
                    if len(states) > 1 or not self._own.searcher.simulations:
                        raise
                self._own.searcher.write(row, result)

        over_slices(run, len(states), self.threads, 1)
        return result

    def compile(self) -> None:
        """Run every kernel once."""
        Searcher(self.game, self.config).compile()
