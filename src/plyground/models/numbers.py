"""Functions of one number whose bits are the same on every processor: additions, multiplications and divisions in a
fixed order, where a library's function may differ in the last bit."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is ln 2 to 30 digits
LARGEST, SMALLEST = 709.0, -708.0  # what exp takes; beyond, its result is that of the limit
SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(9, -1, -1))  # the series of sin x / x in x**2
TAYLOR = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))  # of exp, the highest power first


@njit
def exp(x: float) -> float:
    """e to the x, with an error of about two units in the last place."""
    x = min(max(x, SMALLEST), LARGEST)
    power = np.int64(math.floor(x / (LN2_HIGH + LN2_LOW) + 0.5))
    rest = (x - power * LN2_HIGH) - power * LN2_LOW  # within half of ln 2 of 0
    total = 0.0
    for k in range(14):
        total = total * rest + TAYLOR[k]
    return total * np.int64((power + 1023) << 52).view(np.float64)


@njit
def tanh(x: float) -> float:
    """With an error below 3e-16."""
    if abs(x) < 1e-4:  # the next term of the series is below the last place
        return x - x * x * x / 3.0
    grown = exp(-2.0 * abs(x))
    size = (1.0 - grown) / (1.0 + grown)
    return size if x > 0.0 else -size


@njit
def cosine(x: float) -> float:
    """For x from -pi to pi, with an error below 2e-15."""
    square, total = 0.25 * x * x, 0.0
    for k in range(10):
        total = total * square + SINE[k]
    sine = 0.5 * x * total  # of x / 2
    return 1.0 - 2.0 * sine * sine
