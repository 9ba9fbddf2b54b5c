"""Template: what a replay memory does for every sample: choose it, and follow its game for some plies.

The memory is a ring of rows; a row holds one ply of every game that is played side by side, so that the ply after
(row, game) is (row + 1, game) unless the game ended. It belongs to no game: nothing here is filled in.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.rng import below, uniform

Bools = NDArray[np.bool_]
Bytes = NDArray[np.int8]
Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Rng = NDArray[np.uint64]

RUNS_ON, TERMINATED, TRUNCATED = range(3)  # what became of a game with a ply
TRIES = 64


@njit(cache=True, nogil=True)
def follow(
    row: int,
    game: int,
    newest: int,
    sides: Bytes,  # [rows, games] who acted
    next_sides: Bytes,  # [rows, games] who acts after it
    rewards: Floats,  # [rows, games] for the side that acted
    ended: Bytes,
    explored: Bools,  # [rows, games] the action was not the one the learner thinks best
    plies: int,
    own_turns: bool,
    discount: float,
    penalty: float,
) -> tuple[float, float, int]:
    """What came of a ply, for the side that acted in it: the return of up to `plies` plies, the factor for the value of
    the position behind them (as the side to move there sees it), and the row that led to that position.

    The sign comes from who acts, and the discount applies only where the turn passes. A game that ended has no value
    behind it; one that was stopped has, and costs a penalty. A later ply that explored is not followed: it says nothing
    about best play. With `own_turns` the opponent belongs to the world: plies are counted from own turn to own turn. A
    ply whose next own turn has not come yet is no sample: the row is -1.
    """
    side, value, factor, left = sides[row, game], 0.0, 1.0, plies
    while True:
        value += (factor if sides[row, game] == side else -factor) * rewards[row, game]
        if ended[row, game] == TERMINATED:
            return value, 0.0, row
        if next_sides[row, game] != sides[row, game]:
            factor *= discount
        mine = next_sides[row, game] == side
        signed = factor if mine else -factor
        if ended[row, game] == TRUNCATED:
            return value - penalty, signed, row
        if mine or not own_turns:
            left -= 1
        if row == newest:
            return value, signed, row if mine or not own_turns else -1
        following = (row + 1) % len(sides)
        if (mine or not own_turns) and (left == 0 or explored[following, game]):
            return value, signed, row
        row = following


@njit(cache=True, nogil=True)
def follow_all(
    picked: Longs,  # [B] row * games + game
    newest: int,
    sides: Bytes,
    next_sides: Bytes,
    rewards: Floats,
    ended: Bytes,
    explored: Bools,
    plies: int,
    own_turns: bool,
    discount: float,
    penalty: float,
    returns: Floats,  # [B]
    factors: Floats,  # [B]
    behind: Longs,  # [B] row * games + game of the ply that led to the position behind; itself where there is none
    whole: Floats,  # [B] 0 where `follow` found no sample, else 1
) -> None:
    games = sides.shape[1]
    for k in range(len(picked)):
        row, game = picked[k] // games, picked[k] % games
        value, factor, last = follow(
            row, game, newest, sides, next_sides, rewards, ended, explored, plies, own_turns, discount, penalty
        )
        returns[k], factors[k] = value, factor
        whole[k] = 0.0 if last < 0 else 1.0
        behind[k] = picked[k] if last < 0 else last * games + game


# ---- uniform ----


@njit(cache=True, nogil=True)
def draw_one(
    rng: Rng,
    newest: int,
    filled: int,
    recent: int,  # how many rows count as recent
    share_good: float,
    share_recent: float,
    usable: Bools,  # [rows, games] plies to learn from
    good: Bools,  # [rows, games] plies of decided games
) -> int:
    """A ply to learn from, all equally likely; with some chance of a decided game, with some from the newest rows."""
    rows, games = usable.shape
    kind = uniform(rng)
    from_recent, wants_good = kind < share_recent, share_recent <= kind < share_recent + share_good
    depth = min(recent, filled) if from_recent else filled
    picked = 0
    for attempt in range(TRIES):
        row, game = (newest - below(rng, depth) + rows) % rows, below(rng, games)
        picked = row * games + game
        if usable[row, game] and (good[row, game] or not wants_good or attempt >= TRIES // 2):
            break
    return picked


@njit(cache=True, nogil=True)
def draw_uniform(
    rng: Rng,
    newest: int,
    filled: int,
    recent: int,
    share_good: float,
    share_recent: float,
    usable: Bools,
    good: Bools,
    picked: Longs,
) -> None:
    for k in range(len(picked)):
        picked[k] = draw_one(rng, newest, filled, recent, share_good, share_recent, usable, good)


@njit(cache=True, nogil=True)
def mark_good(good: Bools, row: int, games_over: NDArray[np.int64], lengths: NDArray[np.int32]) -> None:
    """Mark all plies of games that have just ended in `row`."""
    rows = len(good)
    for k in range(len(games_over)):
        for back in range(min(lengths[k], rows)):
            good[(row - back + rows) % rows, games_over[k]] = True


# ---- prioritised: a binary tree of sums, whose leaves are the priorities ----


@njit(cache=True, nogil=True)
def set_priorities(tree: Doubles, picked: Longs, priorities: Doubles) -> None:
    """tree [2 * leaves]: node n has the children 2n and 2n + 1, the root is 1."""
    leaves = len(tree) // 2
    for k in range(len(picked)):
        node = leaves + picked[k]
        tree[node] = priorities[k]
        while node > 1:
            node //= 2
            tree[node] = tree[2 * node] + tree[2 * node + 1]


@njit(cache=True, nogil=True)
def leaf_at(tree: Doubles, rest: float) -> int:
    """The leaf that `rest` falls into, when the priorities are laid end to end."""
    node = 1
    while node < len(tree) // 2:
        node *= 2
        if rest >= tree[node] and tree[node + 1] > 0.0:
            rest -= tree[node]
            node += 1
    return node


@njit(cache=True, nogil=True)
def draw_prioritised(rng: Rng, tree: Doubles, picked: Longs, chances: Doubles) -> None:
    """Plies drawn in proportion to their priority, one from each of B equal parts of the sum, with their chances."""
    n = len(picked)
    for k in range(n):
        leaf = leaf_at(tree, (k + uniform(rng)) / n * tree[1])
        picked[k] = leaf - len(tree) // 2
        chances[k] = tree[leaf] / tree[1]
