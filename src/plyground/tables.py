"""Tables of values: what a table learner knows, as plain arrays that grow.

`kernels/table.py` has the entries, `kernels/tabular.py` plays and learns with them. Entries keep their order, so an
earlier state of a table is the front of its values and visits: that is how the best one is remembered.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.interface import read
from plyground.games.table_key import TableKey, pick_key
from plyground.kernels.cache import load_kernels
from plyground.kernels.table import ANY_STATE, FREE, NOTES, NOTHING, Entries, Pending, Rule, Scratch

ROOM = 1 << 12  # entries that a new table has room for
PLACES = 2  # for each entry that there is room for
ENTRIES_FOR_AN_ACTION = 3  # its own, and those that guesses are made of
Arrays = dict[str, NDArray[Any]]


class Table:
    """The values of a game's keys."""

    def __init__(self, game: Game, key: str = "") -> None:
        self.game, self.key = game, pick_key(game.rules, key)
        self.kernels = _kernels(self.key, game.rules.module, game.label)
        self.entries = _room(ROOM, self.key.words)

    def __len__(self) -> int:
        return int(self.entries.size[0])

    @property
    def bytes(self) -> int:
        """The memory it takes."""
        return sum(array.nbytes for array in self.entries)

    def reserve(self, more: int) -> None:
        """Make room for so many more entries."""
        needed, room = len(self) + more, len(self.entries.values)
        if needed > room:
            while room < needed:
                room *= 2
            self._take(room, self.state())

    def _take(self, room: int, arrays: Arrays) -> None:
        size, entries = len(arrays["values"]), _room(room, self.key.words)
        entries.keys[:size], entries.values[:size] = arrays["keys"], arrays["values"]
        entries.visits[:size], entries.size[0] = arrays["visits"], size
        self.kernels.fill_places(entries)
        self.entries = entries

    def state(self) -> Arrays:
        """All that it knows, entry by entry."""
        size = len(self)
        return {name: getattr(self.entries, name)[:size] for name in ("keys", "values", "visits")}

    def load_state(self, arrays: Arrays) -> None:
        """Become what `state` gave."""
        self._take(max(ROOM, 1 << (len(arrays["values"]) - 1).bit_length()), arrays)

    def snapshot(self) -> Arrays:
        """What has to be kept to know later what it knows now."""
        size = len(self)
        return {"values": self.entries.values[:size].copy(), "visits": self.entries.visits[:size].copy()}

    def with_values(self, snapshot: Arrays) -> Entries:
        """The entries as they were then."""
        return self.entries._replace(values=snapshot["values"], visits=snapshot["visits"])

    def plain(self) -> NDArray[np.bool_]:
        """[size] which entries belong to a state and an action; the others are what guesses are made of."""
        keys = self.state()["keys"]
        return (keys[:, -1] != NOTHING) & (keys[:, :-1] != ANY_STATE).any(axis=1)

    def choose(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64], rule: Rule, entries: Entries, scratch: Scratch
    ) -> NDArray[np.int32]:
        """[N] the actions that a player with these entries chooses; `scratch` then tells about the last state."""
        actions = np.empty(len(states), np.int32)
        self.kernels.act_all(
            *(states, self.records(states), np.arange(len(states)), rngs, entries, rule, False, self.pending(0)),
            *(actions, np.zeros(0, np.int64), np.zeros(0), self.game.work(), scratch),
        )
        return actions

    # ---- for the kernels ----

    def records(self, states: NDArray[np.void]) -> NDArray[np.uint8]:
        """[N, bytes] what memory keeps of each state, as bytes."""
        return self.game.heads(states).view(np.uint8).reshape(len(states), self.game.rules.HEAD.itemsize)

    def scratch(self) -> Scratch:
        """Working memory for one thread."""
        actions, words, rules = self.game.num_actions, self.key.words, self.game.rules
        return Scratch(
            actions=self.game.scratch(),
            looks=np.zeros(1, np.int64),
            seen=np.zeros((2, actions), np.int64),
            rewards=np.zeros((2, actions)),
            words=np.zeros(actions, np.uint64),
            values=np.zeros(actions),
            key=np.zeros(words, np.uint64),
            anywhere=np.full(words, ANY_STATE),
            notes=np.zeros(NOTES, np.float32),
            ahead=np.zeros(1, rules.STATE),
            rng=np.zeros(1, np.uint64),
        )

    def pending(self, games: int) -> Pending:
        """Room for the last actions in so many games."""
        shape = (games, self.game.rules.SEATS)
        return Pending(
            keys=np.zeros((*shape, self.key.words), np.uint64),
            rewards=np.zeros(shape),
            gammas=np.zeros(shape),
            waiting=np.zeros(shape, np.bool_),
        )


def _room(entries: int, words: int) -> Entries:
    return Entries(
        keys=np.zeros((entries, words), np.uint64),
        values=np.zeros(entries, np.float32),
        visits=np.zeros(entries, np.uint32),
        places=np.full(PLACES * entries, FREE, np.int32),
        size=np.zeros(1, np.int64),
    )


@functools.cache
def _kernels(key: TableKey, module: ModuleType, label: str) -> Any:
    return load_kernels("tabular", {**key.functions, **read(module).compiled}, f"{label} {key}")
