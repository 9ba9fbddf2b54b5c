"""Games in lockstep, each against an opponent drawn from a mix, the learner on either side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, make
from plyground.batch import Batch
from plyground.errors import InvalidValue, shorten
from plyground.game import Game
from plyground.learners.arrays import OnCpu


def opponents_of(mix: tuple[str, ...]) -> dict[str, float]:
    """{word: share} of the opponents."""
    found: dict[str, float] = {}
    for item in mix:
        weight, _, word = item.partition(" ")
        try:
            found[word] = float(weight)
        except ValueError:
            word = ""
        if not word or not 0 < found[word] < math.inf:
            raise InvalidValue(f"an opponent is a weight and a word, such as '0.2 greedy', not {shorten(item)!r}")
    if not found:
        raise InvalidValue("there is no opponent; '1 self' is the usual one")
    return {word: weight / sum(found.values()) for word, weight in found.items()}


def others_of(mix: tuple[str, ...], game: Game) -> dict[str, Agent]:
    """{word: agent} of those opponents that are not the learner itself."""
    return {word: make(word, game) for word in opponents_of(mix) if word not in ("self", "snapshot")}


class SelfPlay:
    """The games, and who the learner meets in each."""

    def __init__(
        self,
        on: OnCpu,  # its chance is the learner's
        n: int,
        seed: int,
        *,
        max_plies: int | None = None,
        opening_plies: int = 0,
        mix: tuple[str, ...] = ("1 self",),
        snapshots: int = 0,
    ) -> None:
        self.on, self.game, self.rng = on, on.game, on.rng
        self.opening_plies, self.most_snapshots = opening_plies, snapshots
        shares = opponents_of(mix)
        self.words, self.chances = list(shares), list(shares.values())
        self.batch = self._make_batch(n, seed, max_plies)
        self.agents = others_of(mix, self.game)
        self.is_other = on.from_numpy(np.array([word != "self" for word in self.words]))  # [words]
        self.opponent = on.zeros((n,), np.int64)  # [N] place in `words`
        self.earlier = on.zeros((n,), np.int64)  # [N] which snapshot, where that is the opponent
        self.side = on.zeros((n,), np.int8)  # [N] the learner's side
        self.begin(np.arange(n))

    def _make_batch(self, n: int, seed: int, max_plies: int | None) -> Batch:
        return Batch(self.game, n, seed, max_plies=max_plies)

    def renew(self, over: NDArray[np.bool_]) -> None:
        """New games where one is over [N]."""
        self.begin(np.flatnonzero(over))

    def begin(self, rows: NDArray[np.int64]) -> None:
        """New games: after a random opening, against an opponent drawn from the mix, the learner on either side."""
        game, games = self.game, self.batch
        if self.opening_plies:
            plies = self.rng.integers(0, self.opening_plies + 1, len(rows))
            kernels = game.kernels("openings")
            kernels.open_games(games.states, rows, plies, game.blank, games.rngs, game.work(), game.scratch())
        if self.words != ["self"]:
            self.opponent[rows] = self.rng.choice(len(self.words), len(rows), p=self.chances)
            self.earlier[rows] = self.rng.integers(0, max(1, self.most_snapshots), len(rows))
            self.side[rows] = self.rng.integers(0, 2, len(rows))

    def answer(self, actions: Any, snapshots: Sequence[Agent]) -> Any:
        """Let the opponents act where it is their turn: fills in their actions, says where [N]."""
        theirs = (self.side != self.batch.to_move) & self.is_other[self.opponent]
        for place, word in enumerate(self.words if self.on.any(theirs) else ()):
            turn = theirs & (self.opponent == place)
            if word == "snapshot":
                which = self.earlier % max(1, len(snapshots))
                for number, agent in enumerate(snapshots):
                    self._ask(agent, turn & (which == number), actions)
            elif word != "self":
                self._ask(self.agents[word], turn, actions)
        return theirs

    def _ask(self, agent: Agent, turn: NDArray[np.bool_], actions: NDArray[np.int32]) -> None:
        rows = np.flatnonzero(turn)
        if len(rows):
            rngs = self.batch.rngs[rows]
            actions[rows] = agent.act(self.batch.states[rows], rngs)
            self.batch.rngs[rows] = rngs

    def step(self, actions: NDArray[np.int32]) -> Any:
        """One ply in every game; see `Batch.step`."""
        return self.batch.step(actions)

    def check(self) -> None:
        """Refuse illegal actions of the last step, where `step` did not wait to see them."""

    # ---- to disk and back ----

    def arrays(self) -> dict[str, NDArray[Any]]:
        games = self.batch
        found = {"states": games.states.view(np.uint8), "rngs": games.rngs, "plies": games.plies}
        return found | {"opponent": self.opponent, "earlier": self.earlier, "side": self.side}

    def restore(self, found: dict[str, NDArray[Any]]) -> None:
        """Become what `arrays` gave."""
        self.batch.states[:] = found["states"].view(self.game.rules.STATE)
        self.batch.rngs[:], self.batch.plies[:] = found["rngs"], found["plies"]
        self.opponent[:], self.earlier[:], self.side[:] = found["opponent"], found["earlier"], found["side"]
