"""The functions a kernel template calls and a game fills in: their types, and defaults.

A template says `from plyground.kernels.slots import legal, play`; `cache.load_kernels` puts the game's own functions
in their place. So a template is an ordinary module that editors, linters and type checkers understand.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import Actions, Function, Rng, Rules, State

Out = NDArray[np.generic]
Words = NDArray[np.uint64]

INSTEAD = {
    "play_head": "play",
    "count_legal": "legal",
    "legal_loud": "legal",
}  # the game's function that fills a slot it does not define


def slots_of(rules: Rules) -> dict[str, Function | bool | int | np.dtype[np.void]]:
    """What a game fills in: its compiled functions, and sizes."""
    sizes = {"STATE": rules.STATE, "MAX_LEGAL": rules.MAX_LEGAL, "CHANCE": rules.CHANCE, "HIDDEN": bool(rules.hidden)}
    scores = {"first_score": next(iter(rules.SCORERS.values()))} if rules.SCORERS else {}
    cells = {"write_cells": rules.CELLS.write, "NUM_CELLS": rules.CELLS.count} if rules.CELLS else {}
    return {**rules.compiled, **sizes, **scores, **cells}


# ---- a game always has these ----

CHANCE = False
HIDDEN = False
MAX_LEGAL = 1
STATE = np.dtype([("unused", np.int8)], align=True)


@njit
def reset(state: State, rng: Rng) -> None: ...


@njit
def legal(state: State, actions: Actions, work: State) -> int:
    return 0


@njit
def play(state: State, action: int, rng: Rng, work: State) -> None: ...


# ---- a game may have these; otherwise ----


@njit
def seat(state: State) -> int:
    """The side to move sits on the seat of its number."""
    return state["to_move"]


@njit
def play_head(state: State, action: int, rng: Rng, work: State) -> None:
    """Filled with `play`."""


@njit
def count_legal(state: State, actions: Actions, work: State) -> int:
    """Filled with `legal`."""
    return 0


@njit
def legal_loud(state: State, actions: Actions, work: State) -> int:
    """Filled with `legal`."""
    return 0


@njit
def settle(state: State) -> None:
    """`parse` has filled everything."""


@njit
def determinize(state: State, seat: int, rng: Rng) -> None:
    """Nothing is hidden."""


@njit
def transform(state: State, symmetry: int) -> None:
    """The identity is the only symmetry."""


@njit
def loudness(state: State, action: int) -> int:
    """Every action is quiet."""
    return 0


@njit
def transposition_key(state: State) -> np.uint64:
    """0: the search hashes all bytes of the state."""
    return np.uint64(0)


@njit
def in_check(state: State, work: State) -> bool:
    """Never."""
    return False


@njit
def can_win(state: State, work: State) -> bool:
    """Unknown: the search plays the turn out."""
    return False


@njit
def pass_turn(state: State) -> bool:
    """Not allowed."""
    return False


@njit
def transform_action(action: int, symmetry: int) -> int:
    """The identity."""
    return action


@njit
def first_score(state: State, action: int) -> float:
    """The first of the game's SCORERS; without one, all actions are equal."""
    return 0.0


# ---- a game may have these; there is no default ----


@njit
def mask(state: State, mask: NDArray[np.bool_]) -> None: ...


@njit
def evaluate(state: State) -> float:
    return 0.0


NUM_CELLS = 0


@njit
def write_cells(state: State, seat: int, out: NDArray[np.int16]) -> None:
    """out [NUM_CELLS]: the `write` of the game's CELLS."""


# ---- filled by a model (models/compiled.py): `weights` and `scratch` are records of its own types ----


@njit
def model_value(state: State, weights: State, scratch: State) -> float:
    """In [-1, 1], for the side to move."""
    return 0.0


@njit
def refresh(state: State, weights: State, scratch: State) -> None:
    """The model keeps no scratch memory."""


@njit
def update(before: State, after: State, weights: State, scratch: State, next_scratch: State) -> None:
    """The model keeps no scratch memory."""


@njit
def learn(state: State, target: float, rate: float, weights: State, scratch: State) -> None: ...


# ---- filled by a search ----

PLAIN = False
"""of alpha-beta: to a fixed depth, with exact values"""


# ---- filled by encoders and agents ----


@njit
def write(state: State, seat: int, out: Out) -> None: ...


@njit
def slot(action: int, seat: int) -> int:
    """The output of an action is its number."""
    return action


@njit
def spread(place: int, token: int, tokens: int) -> tuple[int, int, int]:
    return 0, 0, 0


@njit
def choose(state: State, rng: Rng, work: State) -> int:
    return 0


@njit
def score(state: State, action: int) -> float:
    return 0.0


# ---- filled by a table's key; without one, all that a state holds and the action itself ----


@njit
def state_key(state: State, seat: int, record: NDArray[np.uint8], key: Words, notes: NDArray[np.float32]) -> None:
    """The key of a state as `seat` sees it: all words of `key` but the last.

    `record` are the state's bytes; by default they are the key. `notes` is scratch memory for `action_key`.
    """
    for k in range(len(key) - 1):
        word = np.uint64(0)
        for place in range(8 * k, min(8 * k + 8, len(record))):
            word |= np.uint64(record[place]) << np.uint64(8 * (place % 8))
        key[k] = word


@njit
def action_key(state: State, effect: int, notes: NDArray[np.float32]) -> tuple[float, np.uint64]:
    """An action's immediate score and the last word of its key; 0 if there is nothing to store."""
    return 0.0, np.uint64(effect + 1)


@njit
def effect_of(action: int) -> int:
    return action


@njit
def draw_of(action: int) -> int:
    """Which card an action takes; -1: none."""
    return -1


@njit
def draw_reward(state: State, draw: int) -> float:
    return 0.0
