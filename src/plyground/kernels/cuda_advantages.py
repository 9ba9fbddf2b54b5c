"""Template: the function of `advantages.py` on a GPU, one thread for each environment."""

# pyright: reportUntypedFunctionDecorator=false

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda as untyped
from numpy.typing import NDArray

from plyground.kernels.advantages import advantages_of_env
from plyground.kernels.arrays import Rollout

cuda: Any = untyped


@cuda.jit(cache=True)
def compute_advantages(rollout: Rollout, gamma: float, gae_lambda: float, out: NDArray[np.float32]) -> None:
    for env in range(cuda.grid(1), rollout.sides.shape[1], cuda.gridsize(1)):
        advantages_of_env(env, rollout, gamma, gae_lambda, out)
