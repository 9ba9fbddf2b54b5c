"""The groups of arrays that kernels take as one argument.

Each is a NamedTuple: of numpy arrays on the CPU, of device arrays on a GPU, of torch tensors before the seam
(`backend/`) converts them. The classes stand here, not in a template, because numba's cache looks a type up by module.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

int32: Any = np.int32  # a number of this type, whatever it was before, so that what takes it is compiled only once;
int64: Any = np.int64  # Any, because to the type checker it is an `int`


class Games(NamedTuple):
    """The memory of N games that are played side by side; the first three fields are views of the same bytes."""

    states: Any  # [N] records of STATE
    words: Any  # [N, SIZE] the same as unsigned integers of STATE's alignment: kernels copy these, never records
    heads: Any  # [N, bytes] the same as unsigned integers that also divide a head
    next_heads: Any  # [N, head's size] in such integers: the states that the last actions led to
    rngs: Any  # [N] uint64, the generator of each game
    plies: Any  # [N] int32, plies played in each current game


class Step(NamedTuple):
    """What a batch's `step` returns, a row for each game."""

    rewards: Any  # [N] float32: +1, 0 or -1 for the side that acted
    terminated: Any  # [N] bool: the rules ended the game
    truncated: Any  # [N] bool: the limit of plies ended it


class Legal(NamedTuple):
    """The outputs that a query about legal actions fills; an array of length 0 is left alone."""

    lists: Any  # [N, MAX_LEGAL] int32: the legal actions, ascending, then -1
    counts: Any  # [N] int32: how many there are; goes with `lists`
    masks: Any  # [N, A] or [N, outputs] bool, all false before
    outputs: Any  # [SEATS, A] int32: the output of a network that stands for an action; empty: masks of actions
    rngs: Any  # [N] uint64; goes with `drawn`
    drawn: Any  # [N] int32: one legal action, all equally likely; -1 where the game is over
    chosen: Any  # [N] int32: actions to check; goes with `illegal`
    illegal: Any  # [1] int32: becomes the first row whose `chosen` is not legal, if that is below what it held


class Plies(NamedTuple):
    """A ring of plies, one row for each step of all environments."""

    sides: Any  # [rows, envs] int8: the side that acted
    next_sides: Any  # [rows, envs] int8: the side to move in the next state
    rewards: Any  # [rows, envs] float32, for the side that acted
    ended: Any  # [rows, envs] int8: RUNS_ON, TERMINATED or TRUNCATED
    explored: Any  # [rows, envs] bool: the action was not the greedy one


class SampleShares(NamedTuple):
    """Where samples come from; the rest of them from the whole buffer."""

    decided: float  # the share that comes from decided games
    recent: float  # the share that comes from the newest rows
    recent_rows: int  # how many rows those are


class NStepReturns(NamedTuple):
    """The n-step returns of B sampled plies."""

    returns: Any  # [B] float32, up to the next state
    bootstrap_discount: Any  # [B] float32: the factor of the next state's value; 0 where the game has terminated
    next_indices: Any  # [B] int64: row * envs + env of the ply that led to the next state
    complete: Any  # [B] float32: 0 where the next own turn is not stored yet (then the ply is no sample), else 1


class RolloutPlies(NamedTuple):
    """Plies of consecutive steps, oldest first, with the value head's outputs."""

    sides: Any  # [rows, envs] int8: the side that acted
    next_sides: Any  # [rows, envs] int8: the side to move in the next state
    rewards: Any  # [rows, envs] float32, for the side that acted
    ended: Any  # [rows, envs] int8: RUNS_ON, TERMINATED or TRUNCATED
    own: Any  # [rows, envs] bool: the learner acted; the opponent's plies are part of the environment
    values: Any  # [rows, envs] float32: the value of each state for the side that acts in it
    next_values: Any  # [rows, envs] float32: the next state's value, read in the last row and at truncation


class Judge(NamedTuple):
    """A model as kernels take it that judge positions one by one."""

    weights: Any  # [1] of the model
    scratch: Any  # [2] of the model: of a position, and of one after it
