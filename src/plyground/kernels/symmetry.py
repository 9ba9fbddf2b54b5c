"""Template: the images of a game's actions under its symmetries."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.kernels.slots import transform_action


@njit(cache=True, nogil=True)
def fill_images(images: NDArray[np.int32]) -> None:
    """images [SYMMETRIES, A]: the image of each action."""
    for symmetry in range(images.shape[0]):
        for action in range(images.shape[1]):
            images[symmetry, action] = transform_action(action, symmetry)
