"""Template: how much better each ply of a rollout turned out than the critic expected.

A rollout is rows of one ply of every game, oldest first, as in `replay.py`. It belongs to no game: nothing here is
filled in.
"""

from __future__ import annotations

from numba import njit

from plyground.kernels.replay import TERMINATED, TRUNCATED, Bools, Bytes, Floats


@njit(cache=True, nogil=True)
def judge_game(
    game: int,
    sides: Bytes,  # [rows, games] who acted
    next_sides: Bytes,  # [rows, games] who acts after it
    rewards: Floats,  # [rows, games] for the side that acted
    ended: Bytes,  # [rows, games]
    own: Bools,  # [rows, games] the learner acted; the other plies belong to the world
    values: Floats,  # [rows, games] what the critic expected, for the side that acts
    behind: Floats,  # [rows, games] the same of the position behind a ply, where no row follows or the game was stopped
    discount: float,
    trace: float,  # the lambda of GAE: 0 trusts the critic at the learner's next ply, 1 only the end
    out: Floats,  # [rows, games]
) -> None:
    """Generalised advantage estimation with the sign of each turn.

    What is good for whoever acts next is bad for me, unless that is me again; the discount applies only where the turn
    passes. A game that ended has no value behind it; one that was stopped has. Plies of others are followed
    but not judged; the critic is asked at the learner's own plies, and where the rollout or a stop cuts a game.
    """
    rows = len(sides)
    expected = came = 0.0  # at the ply after, for its side: what the critic says, and what came of it
    for row in range(rows - 1, -1, -1):
        factor = 1.0 if next_sides[row, game] == sides[row, game] else -discount
        if ended[row, game] == TERMINATED:
            expected = came = 0.0
        elif ended[row, game] == TRUNCATED or row == rows - 1:
            expected = came = behind[row, game]
        if own[row, game]:
            came = rewards[row, game] + factor * ((1.0 - trace) * expected + trace * came)
            expected = values[row, game]
            out[row, game] = came - expected
        else:
            expected, came = rewards[row, game] + factor * expected, rewards[row, game] + factor * came
            out[row, game] = 0.0


@njit(cache=True, nogil=True)
def advantages(
    sides: Bytes,
    next_sides: Bytes,
    rewards: Floats,
    ended: Bytes,
    own: Bools,
    values: Floats,
    behind: Floats,
    discount: float,
    trace: float,
    out: Floats,
) -> None:
    """Of every game."""
    for game in range(sides.shape[1]):
        judge_game(game, sides, next_sides, rewards, ended, own, values, behind, discount, trace, out)
