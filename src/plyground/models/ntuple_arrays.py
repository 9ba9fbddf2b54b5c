"""What `td_kernels.py` works on. R is the number of games in a round, P the length of the longest game."""

from __future__ import annotations

from typing import Any, NamedTuple


class Settings(NamedTuple):
    """How games are played, and what is learned from them."""

    alpha: float  # the step size
    epsilon: float  # the share of actions that are random
    coherence_memory: float  # the share of the sums behind an entry's step that an update keeps
    td_lambda: float  # the share of what followed in what a position learns
    opening_plies: int  # at most so many random plies begin a game
    opening_share: float  # of the games that begin so
    redraws: int  # over which an action's value is averaged, where chance decides or cards are hidden
    codes: int  # how many codes stand for tuples; the others fill up the lanes


class Memory(NamedTuple):
    """Of one thread."""

    states: Any  # [3] of STATE: the game, what a seat may know of it, the position after an action
    actions: Any  # [MAX_LEGAL] int32
    values: Any  # [MAX_LEGAL] float64
    rng: Any  # [1] uint64: decides the game's chance
    own_rng: Any  # [1] uint64: all other choices
    work: Any  # [1]
    looks: Any  # [3] the model's scratch memory: the position, the next one, one that is tried


class Played(NamedTuple):
    """A round of games. Values are those of side 0."""

    rngs: Any  # [R] uint64: the generators of the games' chance
    own_rngs: Any  # [R] uint64: of all other choices
    codes: Any  # [R, P, M] int32: of the position after each ply, as it was seen
    tables: Any  # [R, P] int8: which table judges it
    sides: Any  # [R, P] int8: whose eyes saw it
    values: Any  # [R, P] float64: its value when it was played; of the last one the result
    explored: Any  # [R, P] bool: the ply was random
    lengths: Any  # [R] int32
    outcomes: Any  # [R] int8
