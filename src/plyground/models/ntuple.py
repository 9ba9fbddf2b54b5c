"""`NTuple`: an n-tuple network, a model for any game with cells that needs no torch.

A tuple is a few cells, found by a random walk over neighbouring cells; all values that they can hold together have an
entry each in the tuple's table. A position's value is tanh of the sum of the entries that it meets, those of its mirror
images included. Learning moves these entries alone, in microseconds. `ntuple_code.py` is the compiled part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.cells import Cells
from plyground.games.rng import below, seeds, uniform
from plyground.models import ntuple_code
from plyground.models.compiled import CompiledModel
from plyground.models.ntuple_arrays import Memory

Arrays = Mapping[str, NDArray[Any]]
Records = NDArray[np.void]
PLAY = "plyground.models.ntuple_play"
MOST_ENTRIES = 2**18  # of one tuple
REDRAWS = 8  # of chance and hidden cards, at least, where a run's network plays: it learns with fewer
STRAIGHT_ON = 0.7  # of a walk: the chance that the next cell lies beside the last one, not beside any


def draw_tuples(cells: Cells, count: int, length: int, seed: int) -> list[list[int]]:
    """`count` different walks of `length` cells, or of fewer where their values together exceed MOST_ENTRIES; and each
    cell without neighbours alone."""
    rng, found = seeds(seed, 1), dict[tuple[int, ...], list[int]]()
    neighbours: list[list[int]] = [near.tolist() for near in cells.neighbours]
    places = [cell for cell, near in enumerate(neighbours) if near]
    pick: Callable[..., int] = _plain(below)
    chance: Callable[..., float] = _plain(uniform)
    with np.errstate(over="ignore"):
        for _ in range(100 * count if places else 0):  # a small board has few different walks
            walk: list[int] = [places[pick(rng, len(places))]]
            entries = int(cells.values[walk[0]])
            while len(walk) < length:
                at = walk[-1] if chance(rng) < STRAIGHT_ON else walk[pick(rng, len(walk))]
                near = [cell for cell in neighbours[at] if cell not in walk]
                if not near and not any(cell not in walk for each in walk for cell in neighbours[each]):
                    break  # it fills its island
                if near:
                    cell = near[pick(rng, len(near))]
                    entries *= int(cells.values[cell])
                    if entries > MOST_ENTRIES:
                        break
                    walk.append(cell)
            found.setdefault(tuple(sorted(walk)), walk)
            if len(found) == count:
                break
    lonely = [[cell] for cell, near in enumerate(neighbours) if not near]
    return [*found.values(), *lonely]


def _plain(function: Any) -> Any:
    """A compiled function as Python runs it: for a few hundred draws nobody should wait for a compiler."""
    return getattr(function, "py_func", function)


class NTuple(CompiledModel):
    """An n-tuple network for one game."""

    def __init__(self, game: Game, tuples: list[list[int]], tables: int, redraws: int = 1) -> None:
        """`tables`: two, for the side to move; or one that both sides share, each with its own eyes. `redraws`: how
        often what chance may bring is drawn anew before a choice."""
        cells = game.cells
        self.tuples, self.redraws, images = tuples, redraws, cells.images
        starts = np.cumsum([0, *(int(np.prod(cells.values[walk], dtype=np.int64)) for walk in tuples)])
        self.used = len(tuples) * len(images)
        super().__init__(
            game,
            ntuple_code,
            codes=-(-self.used // ntuple_code.LANES) * ntuple_code.LANES,
            entries=int(starts[-1]) + 1,  # the last one, always 0, is for the codes that fill up the lanes
            tables=2 if game.rules.hidden else tables,
            views=1 if tables == 2 and not game.rules.hidden else game.rules.SEATS,
        )
        self.kind = "ntuple"
        start, powers = self.weights["start"][0], self.weights["powers"][0]
        start[:] = starts[-1]
        for t, walk in enumerate(tuples):
            power, first = 1, len(images) * t
            start[first : first + len(images)] = starts[t]
            for cell in walk:
                for k, image in enumerate(images):
                    powers[image[cell], first + k] += power
                power *= int(cells.values[cell])

    @property
    def identity(self) -> dict[str, str]:
        tables, entries = self.table.shape
        return {"game": str(self.game), "ntuple": f"{len(self.tuples)} tuples, {tables} tables of {entries} entries"}

    @property
    def words(self) -> str:
        return f"N-tuple network of {len(self.tuples)} tuples ({self.table.nbytes / 2**20:.0f} MB)"

    @property
    def table(self) -> NDArray[np.float32]:
        """[tables, entries]"""
        return self.weights["table"][0]

    def memory(self) -> Memory:
        """For one thread."""
        rules = self.game.rules
        return Memory(
            states=np.zeros(3, rules.STATE),
            actions=self.game.scratch(),
            values=np.zeros(rules.MAX_LEGAL),
            rng=np.zeros(1, np.uint64),
            own_rng=np.zeros(1, np.uint64),
            work=self.game.work(),
            looks=self.scratch(3),
        )

    def choose(
        self, states: Records, rngs: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """[N] the best actions in running states [N], [N, MAX_LEGAL] the legal ones and then -1, and their values."""
        n, most = len(states), self.game.rules.MAX_LEGAL
        chosen, actions, values = np.empty(n, np.int32), np.empty((n, most), np.int32), np.empty((n, most))
        self.kernels(PLAY).choose_all(states, rngs, self.weights, self.redraws, self.memory(), actions, values, chosen)
        return chosen, actions, values

    def state(self) -> Arrays:
        """The entries that were ever met: the others are 0."""
        flat = self.table.reshape(-1)
        places = np.flatnonzero(flat)
        tuples = np.full((len(self.tuples), max(map(len, self.tuples))), -1, np.int32)
        for t, walk in enumerate(self.tuples):
            tuples[t, : len(walk)] = walk
        return {"tuples": tuples, "places": places.astype(np.int32), "entries": flat[places]}

    def load_state(self, state: Arrays) -> None:
        own, flat = self.state(), self.table.reshape(-1)
        if state.keys() != own.keys() or any(state[name].dtype != own[name].dtype for name in own):
            raise InvalidValue(f"an n-tuple network is saved as {', '.join(own)}, not as {', '.join(state)}")
        places, entries = state["places"], state["entries"]
        if not np.array_equal(state["tuples"], own["tuples"]):
            raise InvalidValue("the n-tuple network of another game, or of other tuples")
        rising = places.ndim == 1 and (np.diff(places) > 0).all()
        if (
            not rising
            or places.shape != entries.shape
            or (len(places) and not 0 <= places[0] <= places[-1] < flat.size)
        ):
            raise InvalidValue(f"places of an n-tuple network rise from 0 to below {flat.size}")
        if (
            not np.isfinite(entries).all()
            or np.isin(places, np.arange(1, len(self.table) + 1) * self.table.shape[1] - 1).any()
        ):
            raise InvalidValue("the entries of an n-tuple network are finite")
        flat[:] = 0
        flat[places] = entries


def of_config(config: Mapping[str, Any], game: Game) -> NTuple:
    """The empty n-tuple network of a run's config. A learner has redraws of its own."""
    tuples = draw_tuples(game.cells, config["tuples"], config["length"], config["seed"])
    return NTuple(game, tuples, 1 if config["shared"] else 2, max(config["redraws"], REDRAWS))
