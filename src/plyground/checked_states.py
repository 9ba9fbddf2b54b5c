"""Positions from files of others: compiled code is given none but those that the game's own text can tell.

A record is bytes; a forged one makes compiled code read and write beyond arrays. So each record is rebuilt from what
its text says, as a typed position is: what differs from that is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from plyground.errors import Error, shorten
from plyground.game import Game
from plyground.games.records import meaning

Records = NDArray[np.void]


def read_positions(game: Game, texts: Sequence[str]) -> tuple[Records, NDArray[np.int64], dict[int, str]]:
    """States of the texts [N] that are positions, their rows, and of each other row what is wrong with it."""
    states, batch, wrong = np.repeat(game.blank, len(texts)), game.rules.DATASET.batch, dict[int, str]()
    good = np.zeros(len(texts), np.bool_) if batch is None else batch.read(texts, states)
    for row in np.flatnonzero(~good).tolist():
        states[row] = game.blank[0]
        try:
            game.rules.parse(texts[row].strip(), states[row])
            if problems := game.rules.problems(states[row]):
                wrong[row] = f"{shorten(texts[row])!r} cannot be: {'; '.join(problems)}"
        except Error as error:
            wrong[row] = str(error)
    rows = np.delete(np.arange(len(texts)), list(wrong))
    return _settled(game, states[rows] if wrong else states), rows, wrong


def without_history(game: Game, heads: Records) -> Records:
    """[N] the same positions as their texts tell them: nothing is known of how often they have been on the board."""
    return game.heads(_settled(game, _states_of(game, heads)))


def rebuild(game: Game, heads: Records) -> tuple[Records, NDArray[np.bool_]]:
    """[N] records of unknown origin as their own texts tell them, and which of them can be told so: only these may be
    given to compiled code. Fields that a text does not tell (UNCOUNTED) are those of a position without history."""
    batch, good = game.rules.DATASET.batch, np.zeros(len(heads), np.bool_)
    if batch is not None:
        states = _states_of(game, heads)
        rows = np.flatnonzero(batch.sound(states))
        states = _settled(game, states if len(rows) == len(states) else states[rows])
    else:
        texts = [_text(game, head) for head in heads]
        rows = np.flatnonzero([text is not None for text in texts])
        states, kept, _ = read_positions(game, [text for text in texts if text is not None])
        rows = rows[kept]
    found = np.repeat(game.heads(game.blank), len(heads))
    found[rows], good[rows] = game.heads(states), True
    for name in meaning(game.rules.HEAD):
        if name not in game.rules.UNCOUNTED:
            good &= (found[name] == heads[name]).reshape(len(heads), -1).all(1)
    return found, good


def _text(game: Game, head: np.void) -> str | None:
    try:
        return game.rules.text(head)
    except Exception:
        return None


def _states_of(game: Game, heads: Records) -> Records:
    """[N] states with the fields of records but for settings, what texts do not tell, and what only a state has."""
    states, kept = np.repeat(game.blank, len(heads)), {*game.settings, *game.rules.UNCOUNTED}
    for name in meaning(game.rules.HEAD):
        if name not in kept:
            states[name] = heads[name]
    return states


def _settled(game: Game, states: Records) -> Records:
    if "settle" in game.rules.compiled and len(states):
        game.kernels().settle_all(states)
    return states
