"""Template: sampling from a replay buffer and following each sampled ply for n steps.

The buffer is a ring of rows; a row holds one ply of every environment, so that the ply after (row, env) is
(row + 1, env) unless the game ended. A ply's index is row * envs + env. The template belongs to no game: no slot is
filled. On a GPU a thread takes a sample (`cache.py` makes these loops).

The cursor of a buffer is [2]: how many rows were written so far, and a generator, from which a call that samples takes
its seed. It is in the device's memory, since a captured graph runs again and again with the same arguments. Sample k
draws from the generator `mix(seed + k * STEP)`, so that both devices draw the same samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import wrapping
from plyground.games.rng import STEP, Rng, below, mix, uniform
from plyground.kernels.arrays import NStepReturns, Plies, SampleShares
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop

Bools = NDArray[np.bool_]
Cursor = NDArray[np.uint64]  # [2] rows written so far, generator
Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Whole = int | np.int64

RUNS_ON, TERMINATED, TRUNCATED = range(3)  # the values of `ended`
TRIES = 64


# ---- bodies for one sample, the same on every device ----


@njit
def newest_row(cursor: Cursor, rows: int) -> np.int64:
    """The row that was written last."""
    return (np.int64(cursor[0]) - 1) % rows


@njit
def filled_rows(cursor: Cursor, rows: int) -> np.int64:
    return min(np.int64(cursor[0]), np.int64(rows))


@wrapping
def generator_of(cursor: Cursor, k: int) -> np.uint64:
    """The state of sample k's generator."""
    return mix(mix(cursor[1]) + np.uint64(k) * STEP)


@uncounted_body
def n_step_return(
    row: int, env: int, newest: Whole, plies: Plies, n_step: int, own_turns: bool, gamma: float, penalty: float
) -> tuple[float, float, int]:
    """A ply's n-step return for the side that acted in it, the bootstrap factor (the factor of the next state's value
    as the side to move there sees it), and the row of the ply that led to the next state.

    The next state's value is negated when the side to move is not the side that acted; gamma applies only where the
    side to move changes. A terminated game has no next state's value; a truncated one has, and costs `penalty`. A later
    ply that explored is not followed: its return does not estimate greedy play. With `own_turns` the opponent is part
    of the environment: steps are counted from own turn to own turn. If the next own turn is not stored yet, the ply is
    no sample: the row is -1.
    """
    side, value, factor, left = plies.sides[row, env], 0.0, 1.0, n_step
    while True:
        value += (factor if plies.sides[row, env] == side else -factor) * plies.rewards[row, env]
        if plies.ended[row, env] == TERMINATED:
            return value, 0.0, row
        if plies.next_sides[row, env] != plies.sides[row, env]:
            factor *= gamma
        mine = plies.next_sides[row, env] == side
        signed = factor if mine else -factor
        if plies.ended[row, env] == TRUNCATED:
            return value - penalty, signed, row
        if mine or not own_turns:
            left -= 1
        if row == newest:
            return value, signed, row if mine or not own_turns else -1
        following = (row + 1) % len(plies.sides)
        if (mine or not own_turns) and (left == 0 or plies.explored[following, env]):
            return value, signed, row
        row = following


@uncounted_body
def n_step_return_of(
    k: int,
    indices: Longs,
    cursor: Cursor,
    plies: Plies,
    n_step: int,
    own_turns: bool,
    gamma: float,
    penalty: float,
    out: NStepReturns,
) -> None:
    """Sample k's `n_step_return` into `out`."""
    envs = plies.sides.shape[1]
    row, env = indices[k] // envs, indices[k] % envs
    newest = newest_row(cursor, len(plies.sides))
    value, factor, last = n_step_return(row, env, newest, plies, n_step, own_turns, gamma, penalty)
    out.returns[k], out.bootstrap_discount[k] = value, factor
    out.complete[k] = 0.0 if last < 0 else 1.0
    out.next_indices[k] = indices[k] if last < 0 else last * envs + env


@uncounted_body
def lambda_return(
    row: int, env: int, newest: Whole, plies: Plies, values: Floats, gamma: float, td_lambda: float
) -> float:
    """A ply's λ-return for the side that acted in it, from the values [rows, envs] of the states for the side that acts
    in each: (1 - λ) * value + λ * the following ply's return, negated where another side acts there.

    It ends with the result of a terminated game; and with the value of a state in which the search proved it or another
    action was played (`explored`), in which the game was truncated, or which is the newest one.
    """
    side, total, weight = plies.sides[row, env], 0.0, 1.0
    while True:
        signed = weight if plies.sides[row, env] == side else -weight
        value, ended = values[row, env], plies.ended[row, env]
        if plies.explored[row, env] or ended == TRUNCATED or (row == newest and ended == RUNS_ON):
            return total + signed * value
        total += (1.0 - td_lambda) * signed * value
        if ended == TERMINATED:
            return total + td_lambda * signed * plies.rewards[row, env]
        weight *= td_lambda
        if plies.next_sides[row, env] != plies.sides[row, env]:
            weight *= gamma
        row = (row + 1) % len(plies.sides)


@uncounted_body
def lambda_return_of(
    k: int,
    indices: Longs,
    cursor: Cursor,
    plies: Plies,
    values: Floats,
    gamma: float,
    td_lambda: float,
    out: Floats,
) -> None:
    """Sample k's `lambda_return` into `out`."""
    envs, newest = plies.sides.shape[1], newest_row(cursor, len(plies.sides))
    out[k] = lambda_return(indices[k] // envs, indices[k] % envs, newest, plies, values, gamma, td_lambda)


@uncounted_body
def draw_index(rng: Rng, cursor: Cursor, shares: SampleShares, usable: Bools, decided: Bools) -> int:
    """The index of one usable ply, all equally likely within the part of the buffer that the shares choose.

    With probability `shares.decided` a ply of a decided game, with `shares.recent` one of the newest rows.
    """
    rows, envs = usable.shape
    newest, filled = newest_row(cursor, rows), filled_rows(cursor, rows)
    kind = uniform(rng)
    from_recent = kind < shares.recent
    from_decided = not from_recent and kind < shares.recent + shares.decided
    depth: Any = min(shares.recent_rows, filled) if from_recent else filled
    index = 0
    for attempt in range(TRIES):
        row, env = (newest - below(rng, depth) + rows) % rows, below(rng, envs)
        index = row * envs + env
        if usable[row, env] and (decided[row, env] or not from_decided or attempt >= TRIES // 2):
            break
    return index


@njit
def mark_game(marks: Bools, row: Whole, env: int, length: int, value: bool) -> None:
    """Set the marks of the plies of a game of that length which has just ended in `row`."""
    rows = len(marks)
    for back in range(min(length, rows)):
        marks[(row - back + rows) % rows, env] = value


@njit
def leaf_at(tree: Doubles, rest: float) -> int:
    """The node of the leaf that `rest` falls into when the priorities are laid end to end."""
    node = 1
    while node < len(tree) // 2:
        node *= 2
        if rest >= tree[node] and tree[node + 1] > 0.0:
            rest -= tree[node]
            node += 1
    return node


@njit
def draw_by_priority(k: int, rng: Rng, tree: Doubles, indices: Longs, probabilities: Doubles) -> None:
    """Sample k of B: from the k-th of B equal parts of the sum."""
    leaf = leaf_at(tree, (k + uniform(rng)) / len(indices) * tree[1])
    indices[k] = leaf - len(tree) // 2
    probabilities[k] = tree[leaf] / tree[1]


# ---- loops ----


@uncounted_loop
def n_step_returns(
    indices: Longs,  # [B]
    cursor: Cursor,
    plies: Plies,
    n_step: int,
    own_turns: bool,
    gamma: float,
    penalty: float,  # for a truncated game
    out: NStepReturns,
) -> None:
    """The n-step returns of the plies `indices` [B]."""
    for k in range(len(indices)):
        n_step_return_of(k, indices, cursor, plies, n_step, own_turns, gamma, penalty, out)


@uncounted_loop
def lambda_returns(
    indices: Longs,  # [B]
    cursor: Cursor,
    plies: Plies,
    values: Floats,  # [rows, envs]
    gamma: float,
    td_lambda: float,
    out: Floats,  # [B] the result
) -> None:
    """The λ-returns of the plies `indices` [B]."""
    for k in range(len(indices)):
        lambda_return_of(k, indices, cursor, plies, values, gamma, td_lambda, out)


@njit(cache=True, nogil=True)
def sample_uniform(
    cursor: Cursor,
    shares: SampleShares,
    usable: Bools,  # [rows, envs] plies to learn from
    decided: Bools,  # [rows, envs] plies of decided games
    indices: Longs,  # [B] the result
) -> None:
    rng = np.empty(1, np.uint64)
    for k in range(len(indices)):
        rng[0] = generator_of(cursor, k)
        indices[k] = draw_index(rng, cursor, shares, usable, decided)


@uncounted_loop
def mark_games(marks: Bools, cursor: Cursor, over: Bools, lengths: NDArray[np.int32], value: bool) -> None:
    """Set the marks [rows, envs] of all plies of the games `over` [envs], of `lengths` [envs], that ended in the newest
    row."""
    row = newest_row(cursor, len(marks))
    for env in range(len(over)):
        if over[env]:
            mark_game(marks, row, env, lengths[env], value)


@njit(cache=True, nogil=True)
def sample_prioritised(cursor: Cursor, tree: Doubles, indices: Longs, probabilities: Doubles) -> None:
    """indices [B] in proportion to their priority, one from each of B equal parts of the sum, and probabilities [B].

    tree [2 * leaves]: a binary tree of sums; node n has the children 2n and 2n + 1, the root is 1.
    """
    rng = np.empty(1, np.uint64)
    for k in range(len(indices)):
        rng[0] = generator_of(cursor, k)
        draw_by_priority(k, rng, tree, indices, probabilities)


@njit(cache=True, nogil=True)
def set_priorities(tree: Doubles, indices: Longs, priorities: Doubles) -> None:
    """Set leaves and the sums above them; an index that occurs twice gets the largest of its priorities.

    Only on the CPU: on a GPU all sums are computed anew, level by level.
    """
    leaves = len(tree) // 2
    for k in range(len(indices)):
        tree[leaves + indices[k]] = 0.0
    for k in range(len(indices)):
        tree[leaves + indices[k]] = max(tree[leaves + indices[k]], priorities[k])
    for k in range(len(indices)):
        node = (leaves + indices[k]) // 2
        while node > 0:
            tree[node] = tree[2 * node] + tree[2 * node + 1]
            node //= 2
