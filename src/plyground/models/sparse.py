"""`Sparse`: a network of one hidden layer over the cells of a position, for any game in which nothing is hidden.

Each cell that is not empty is an input of 1, so the hidden layer is a sum of rows of weights, which a search updates by
the few cells that a move changes. The position is seen twice, by the side to move and by the other, with the same
weights; both halves of the hidden layer, clipped to [0, 1] and squared, give one output, the logit of winning.

It is learned in floats (`Floats`) and plays in integers. `sparse_code.py` is the compiled part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.models import sparse_code
from plyground.models.compiled import CompiledModel, check_fitting
from plyground.models.sparse_code import ONE, SHIFT, SQUARE, VIEWS

Arrays = Mapping[str, NDArray[Any]]
Records = NDArray[np.void]
LARGEST = np.iinfo(np.int16).max
CLIP = LARGEST / ONE  # of the first weights
HALF_OF_SUM = 2 ** (30 - SHIFT)  # what second weights in integers may add up to; the other half is for their rounding
MOST_BIAS = 2**15  # far beyond all that rows of weights can add up to
TINY = 1e-9
WIDTHS = (32, 64, 128, 256)


def floats_type(features: int, units: int) -> np.dtype[np.void]:
    """The record of the weights while they are learned; nothing lies between its numbers."""
    shapes = {"first": (features, units), "bias": (units,), "second": (VIEWS, units), "second_bias": (1,)}
    return np.dtype([(name, np.float32, shape) for name, shape in shapes.items()])


class Sparse(CompiledModel):
    """A sparse network for one game; all weights are zero at first."""

    def __init__(self, game: Game, units: int) -> None:
        if game.rules.hidden:
            how = "`td` learns for such games, with one seat's eyes"
            raise InvalidValue(
                f"a sparse network sees the cells of both sides, and {game} hides some from a side: {how}"
            )
        if units not in WIDTHS:
            raise InvalidValue(f"a sparse network has {', '.join(map(str, WIDTHS[:-1]))} or 256 units, not {units}")
        super().__init__(game, sparse_code, units=units)
        self.kind, self.units = "sparse", units
        self.weights["feature"], self.weights["unit"], self.weights["units"] = game.cells.features, 1.0, units

    @property
    def identity(self) -> dict[str, str]:
        return {"game": str(self.game), "sparse": f"{self.game.cells.num_features} features, {self.units} units"}

    @property
    def words(self) -> str:
        return f"Sparse network of {self.units} units ({self.weights.itemsize / 1024:.0f} KB)"

    def state(self) -> Arrays:
        own = {name: np.atleast_1d(values) for name, values in self.arrays.items() if name not in ("feature", "units")}
        return {**own, "first": own["first"][1:]}

    def load_state(self, state: Arrays) -> None:
        check_fitting(state, self.state())
        unit, second = float(state["unit"][0]), state["second"].astype(np.int64)
        largest = SQUARE * int(np.abs(second).sum()) + abs(int(state["second_bias"][0]))
        if not 0.0 < unit <= 1.0 or largest >= 2**31 or np.abs(state["bias"].astype(np.int64)).max() > MOST_BIAS * ONE:
            raise InvalidValue(f"a sparse network whose sums may leave their 32 bits: {largest} units of {unit}")
        fresh = self.weights.copy()
        fresh["unit"], fresh["second_bias"] = unit, state["second_bias"]
        fresh["bias"], fresh["second"], fresh["first"][0, 1:] = state["bias"], state["second"], state["first"]
        self.swap(fresh)

    def quantise(self, floats: Records) -> None:
        """Have the nearest weights in integers. For a position of C cells that are not empty the logit differs by at
        most S (2 e + e² + 1 / SQUARE) + N unit SQUARE, with e = (C + 1) / (2 ONE) and S the sum of all |second|."""
        found = {name: floats[name][0].astype(np.float64) for name in floats.dtype.names or ()}
        largest, total = np.abs(found["second"]).max(), np.abs(found["second"]).sum() + np.abs(found["second_bias"][0])
        room = min(LARGEST / max(largest, TINY), HALF_OF_SUM / max(total, TINY))
        scale = 2.0 ** (math.frexp(room)[1] - 1)  # a power of two
        self.load_state(
            {
                "first": np.rint(np.clip(found["first"], -CLIP, CLIP) * ONE).astype(np.int16),
                "bias": np.rint(np.clip(found["bias"], -MOST_BIAS, MOST_BIAS) * ONE).astype(np.int32),
                "second": np.rint(found["second"] * scale).astype(np.int16),
                "second_bias": np.rint(found["second_bias"] * scale * SQUARE).astype(np.int32),
                "unit": np.array([1.0 / (scale * SQUARE)]),
            }
        )

    def floats(self) -> Records:
        """[1] the weights as numbers to go on learning with."""
        found, own = np.zeros(1, floats_type(self.game.cells.num_features, self.units)), self.weights[0]
        found["first"], found["bias"] = own["first"][1:] / ONE, own["bias"] / ONE
        found["second"] = own["second"] * (own["unit"] * SQUARE)
        found["second_bias"] = own["second_bias"] * own["unit"]
        return found


def of_config(config: Mapping[str, Any], game: Game) -> Sparse:
    """The empty sparse network of a run's config."""
    return Sparse(game, config["units"])
