"""exp and tanh, beside those of the library."""

from __future__ import annotations

import math

import numpy as np

from plyground.models.numbers import cosine, exp, tanh

POINTS = [0.0, *np.linspace(-20, 20, 2001), *np.logspace(-12, 2, 300), *-np.logspace(-12, 2, 300)]


def test_they_are_those_of_the_library_to_the_last_places() -> None:
    for x in POINTS:
        assert math.isclose(exp(x), math.exp(x), rel_tol=5e-16)
        assert abs(tanh(x) - math.tanh(x)) < 3e-16
    for x in np.linspace(-math.pi, math.pi, 2001):
        assert abs(cosine(x) - math.cos(x)) < 2e-15


def test_they_end_where_numbers_do() -> None:
    assert exp(-1e9) < 1e-300
    assert math.isfinite(exp(1e9))
    assert (tanh(1e9), tanh(-1e9)) == (1.0, -1.0)
