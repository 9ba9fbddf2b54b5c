"""`Table`: the action values of a tabular learner, as plain arrays that grow.

`kernels/table.py` stores the entries, `kernels/tabular.py` plays and learns with them. Entries keep their order, so an
earlier version of a table is a prefix of its values and visits: that is how the best version is kept.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.games.interface import read
from plyground.games.table_key import TableKey, pick_key
from plyground.kernels.cache import load_kernels
from plyground.kernels.table import ANY_STATE, FREE, NOTES, NOTHING, Acting, Entries, Pending, Rule, Scratch, Updates

ROOM = 1 << 12  # entries that a new table has room for
PLACES = 2  # for each entry that there is room for
ENTRIES_PER_UPDATE = 3  # the action's own, the state's value and the action's advantage in any state
Arrays = dict[str, NDArray[Any]]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Records = NDArray[np.void]
Rngs = NDArray[np.uint64]


class Table:
    """The values of a game's keys."""

    def __init__(self, game: Game, key: str = "") -> None:
        self.game, self.key = game, pick_key(game.rules, key)
        self.entries = _room(ROOM, self.key.words)

    @functools.cached_property
    def kernels(self) -> Any:
        return _kernels(self.key, self.game.rules.module, self.game.label)

    def __len__(self) -> int:
        return int(self.entries.size[0])

    @property
    def bytes(self) -> int:
        """The size of its arrays in memory."""
        return sum(array.nbytes for array in self.entries)

    def reserve(self, more: int) -> None:
        """Make room for so many more entries."""
        needed, room = len(self) + more, len(self.entries.values)
        if needed > room:
            while room < needed:
                room *= 2
            self._set(room, self.state())

    def _set(self, room: int, arrays: Arrays) -> None:
        size, entries = len(arrays["values"]), _room(room, self.key.words)
        entries.keys[:size], entries.values[:size] = arrays["keys"], arrays["values"]
        entries.visits[:size], entries.size[0] = arrays["visits"], size
        self.kernels.fill_places(entries)
        self.entries = entries

    def state(self) -> Arrays:
        """keys [size, W], values [size] and visits [size] of all entries."""
        size = len(self)
        return {name: getattr(self.entries, name)[:size] for name in ("keys", "values", "visits")}

    def load_state(self, arrays: Arrays) -> None:
        """Replace all entries by those that `state` returned. Arrays that are no entries of this table are refused:
        compiled code checks neither shapes nor types."""
        size = len(arrays["values"]) if "values" in arrays else 0
        for name, there in self.state().items():
            found, shape = arrays.get(name), (size, *there.shape[1:])
            if found is None or found.dtype != there.dtype or found.shape != shape:
                given = "missing" if found is None else f"{found.dtype} of shape {found.shape}"
                raise InvalidValue(f"the {name} of a table are {there.dtype} of shape {shape}, not {given}")
        if size and not arrays["visits"].all():
            raise InvalidValue(f"entry {int(arrays['visits'].argmin())} of the table has no visit")
        self._set(max(ROOM, 1 << (size - 1).bit_length()), arrays)

    def snapshot(self) -> Arrays:
        """Copies of the values [size] and visits [size], for `with_values`."""
        size = len(self)
        return {"values": self.entries.values[:size].copy(), "visits": self.entries.visits[:size].copy()}

    def with_values(self, snapshot: Arrays) -> Entries:
        """The entries as they were when the snapshot was taken."""
        return self.entries._replace(values=snapshot["values"], visits=snapshot["visits"])

    def plain(self) -> NDArray[np.bool_]:
        """[size] which entries belong to a state and an action; guesses are made of the others."""
        keys = self.state()["keys"]
        return (keys[:, -1] != NOTHING) & (keys[:, :-1] != ANY_STATE).any(axis=1)

    def choose(
        self, states: Records, rngs: Rngs, rule: Rule, entries: Entries, scratch: Scratch
    ) -> tuple[Ints, NDArray[np.float64]]:
        """[N] the actions that an agent with these entries chooses, and [N] the highest value of any action there;
        `scratch` then describes the last state."""
        games = self.games(states, np.arange(len(states)), rngs, np.empty(len(states), np.int32))
        self.kernels.act_all(games, entries, rule, False, self.updates(0), scratch)
        return games.actions, games.values

    def learn(self, games: Acting, rule: Rule, updates: Updates, scratch: Scratch) -> None:
        """Choose an action in each of the games, and update the value of the seat's action before it."""
        self.reserve(ENTRIES_PER_UPDATE * len(games.rows))
        self.kernels.act_all(games, self.entries, rule, True, updates, scratch)

    def end_games(self, rows: Longs, outcomes: NDArray[np.int8], rule: Rule, updates: Updates) -> None:
        """Update the values of the pending actions of games by their outcomes [R]; RUNNING: they were stopped."""
        self.reserve(ENTRIES_PER_UPDATE * int(updates.pending.waiting[rows].sum()))
        self.kernels.end_games(rows, outcomes, self.entries, rule, updates)

    # ---- for the kernels ----

    def games(self, states: Records, rows: Longs, rngs: Rngs, actions: Ints) -> Acting:
        """The games [N] and the rows [R] to act in; actions [N] is written."""
        return Acting(states, self.records(states), rows, rngs, actions, np.zeros(len(states)))

    def records(self, states: Records) -> NDArray[np.uint8]:
        """[N, bytes] the heads of states, as bytes."""
        return self.game.heads(states).view(np.uint8).reshape(len(states), self.game.rules.HEAD.itemsize)

    def scratch(self) -> Scratch:
        """Working memory for one thread."""
        actions, words, rules = self.game.num_actions, self.key.words, self.game.rules
        return Scratch(
            actions=self.game.scratch(),
            stamp=np.zeros(1, np.int64),
            seen=np.zeros((2, actions), np.int64),
            rewards=np.zeros((2, actions)),
            words=np.zeros(actions, np.uint64),
            values=np.zeros(actions),
            key=np.zeros(words, np.uint64),
            anywhere=np.full(words, ANY_STATE),
            notes=np.zeros(NOTES, np.float32),
            ahead=np.zeros(1, rules.STATE),
            rng=np.zeros(1, np.uint64),
            work=self.game.work(),
        )

    def pending(self, games: int, turns: int = 1) -> Pending:
        """Room for so many actions of each seat in so many games."""
        shape = (games, self.game.rules.SEATS, turns)
        return Pending(
            keys=np.zeros((*shape, self.key.words), np.uint64),
            rewards=np.zeros(shape),
            discounts=np.zeros(shape),
            waiting=np.zeros(shape, np.bool_),
        )

    def updates(self, games: int, turns: int = 1) -> Updates:
        """What learning in so many games writes beside the entries, all zero."""
        return Updates(self.pending(games, turns), np.zeros(self.game.num_actions, np.int64), np.zeros(3))


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
