"""Network inputs: an encoder turns one state, as one seat may know it, into an array of numbers.

An encoder has a name and a version, `planes-v1`, which every checkpoint names. A game lists its encoders as
`ENCODERS = (Encoder(...), ...)`, in a folder in `encoders.py`; the first is the default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from plyground.errors import unknown
from plyground.games.interface import Function, Rules


@dataclass(frozen=True)
class Encoder:
    """A compiled function `write(state, seat, out)` that fills all of `out`.

    `out` is flat: an observation of this shape, row by row. (Flat loops compile to far better code than nested ones.)
    """

    name: str
    version: int
    shape: tuple[int, ...]
    dtype: type[np.generic]
    write: Function = field(repr=False)
    meaning: str
    slot: Function | None = field(default=None, repr=False)
    """a compiled function `slot(action, seat) -> number of the network's output for it`, a permutation of the actions,
    where an encoder turns the board for a seat; otherwise the action itself"""
    dense: str = ""
    """the name of the dense encoder that a sparse one stands for"""
    spread: Function | None = field(default=None, repr=False)
    """a compiled function `spread(place, token, tokens) -> (first, cells, hundredths)`: what the token in a place fills
    in the dense observation, from which cell on, and with what; all else is 0, and no two tokens disagree"""
    parts: Callable[[], NDArray[np.int64]] | None = field(default=None, repr=False)
    """makes [A, 3] for networks that score actions by their parts (`-parts`): the map that scores an action, the cell
    of that map, and the plane of the observation whose marked cells add to the score, or -1"""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """the least and the greatest number that it may write, for the spaces of environments; otherwise unknown"""

    def __str__(self) -> str:
        return f"{self.name}-v{self.version}"


def encoders_of(rules: Rules) -> Mapping[str, Encoder]:
    """A game's encoders by full name (`planes-v1`), and the newest of each also by its short one (`planes`)."""
    encoders: tuple[Encoder, ...] = tuple(rules.ENCODERS)
    newest = {each.name: each for each in sorted(encoders, key=lambda each: each.version)}
    return {str(each): each for each in encoders} | newest


def pick(encoders: Mapping[str, Encoder], name: str) -> Encoder:
    """The encoder of that name, or an error that lists the names."""
    if name not in encoders:
        raise unknown("encoder", name, dict.fromkeys(str(each) for each in encoders.values()))
    return encoders[name]
