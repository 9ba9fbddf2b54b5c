"""A player against every reply of the opponent: it never loses, or the lost games are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import plyground as pg
from plyground.games.interface import FIRST_WINS, RUNNING

Choose = Callable[[Any], Any]
"""states [N] -> [N] actions"""


def lost_games(game: pg.Game, choose: Choose, seat: int) -> int:
    """How many final positions the side `seat` can lose in, if it plays by `choose` and the other side plays anything.

    All positions of a level are asked for at once; a position that several ways lead to is asked for once.
    """
    states, lost = game.start().states, 0
    if seat == 1:
        states = _after_all(game, states)
    while len(states):
        states = _running(_after(game, states, choose(states)))
        if len(states):
            states = _after_all(game, states)
            lost += int((states["outcome"] == FIRST_WINS + 1 - seat).sum())
            states = _running(states)
    return lost


def _after_all(game: pg.Game, states: Any) -> Any:
    """The positions after every legal action of states [N]."""
    rows, actions = np.nonzero(game.legal_mask(states))
    return _after(game, states[rows], actions)


def _after(game: pg.Game, states: Any, actions: Any) -> Any:
    """The positions after actions [N] in states [N], each once."""
    after = states.copy()
    game.kernels().play_all(after, np.asarray(actions, np.int32), np.zeros(len(after), np.uint64), game.work())
    return np.array(list({state.tobytes(): state for state in after}.values()), game.rules.STATE)


def _running(states: Any) -> Any:
    return states[states["outcome"] == RUNNING]
