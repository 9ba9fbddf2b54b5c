"""A template that compiles in a moment, for the proof `faults`."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def twice(number):
    return number + number
