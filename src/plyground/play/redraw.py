"""Redraws: moves are taken back, and what the player has not seen is drawn anew, so that looking has gained nothing.

A game is replayed from its start, its actions and its redraws.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plyground.position import Position

DRAWN_ANEW = "What was hidden or left to chance is drawn anew"


class Redraw(NamedTuple):
    """At a ply, all that a seat could not know was drawn anew: hidden cards, and chance to come."""

    ply: int
    seat: int
    seed: int
    """of what was drawn"""


def fresh_seed() -> int:
    return secrets.randbits(48)


def redrawn(position: Position, ply: int, redraws: Iterable[Redraw]) -> Position:
    """The position at a ply, after the redraws there."""
    for each in redraws:
        if each.ply == ply:
            position = position.redrawn(each.seat, each.seed)
    return position


def taken_back(
    position: Position, ply: int, seat: int, redraws: Sequence[Redraw], latest: Position | None = None
) -> tuple[Position, list[Redraw]]:
    """The position at a ply to which a game goes back from its `latest` one, for the person of a seat, and the redraws
    until there. The same position where nothing is hidden or left to chance, where chance has decided nothing since
    (unless a copy of the game begins there: no `latest`), or where the game is over."""
    hidden = position.game.rules.hidden
    seen = hidden or latest is None or bool((latest.rngs != position.rngs).any())
    if position.over or not position.game.uncertain or not seen:
        return position, [each for each in redraws if each.ply <= ply]
    last = Redraw(ply, seat, fresh_seed())
    return position.redrawn(seat, last.seed), [*(each for each in redraws if each.ply < ply), last]
