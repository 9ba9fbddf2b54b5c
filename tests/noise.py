"""Noise in memory that nobody has initialised: results must not depend on it."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Generator

import pytest

M_PERTURB = -6  # of glibc's mallopt: memory is filled when it is allocated and when it is freed


@contextlib.contextmanager
def noise(byte: int) -> Generator[None]:
    """Memory that numpy, numba or torch allocate without initialising it is filled with a byte."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None or not mallopt(M_PERTURB, byte):
        pytest.skip("only glibc fills uninitialised memory with noise")
    try:
        yield
    finally:
        mallopt(M_PERTURB, 0)
