"""The device that a test runs on: the CPU, and the GPU where there is one (or numba's simulation of it)."""

from __future__ import annotations

import pytest

from plyground.backend.device import problem

NEEDS_GPU = [pytest.mark.gpu, pytest.mark.skipif(bool(problem()), reason=f"needs a GPU: {problem()}")]


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=NEEDS_GPU)])
def device(request: pytest.FixtureRequest) -> str:
    return request.param
