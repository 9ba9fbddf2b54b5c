"""Compiled code without reference counts, and without a way in for Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numba import njit

import plyground as pg
from plyground.kernels.cache import load_kernels
from plyground.kernels.no_refcounts import inner

pytestmark = pytest.mark.compiled


def test_a_step_counts_no_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a cache of its own: code that was loaded from disk cannot be inspected."""
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path))
    game = pg.load("connect_four")
    kernels = load_kernels("rules", {**game.rules.compiled, "STATE": game.rules.STATE, "MAX_LEGAL": 7}, "inspected")
    batch = pg.Batch(game, 2)
    step = batch.step([0, 1])
    work, fresh = game.work(), batch.on.fresh
    games = batch._games  # pyright: ignore[reportPrivateUsage]
    kernels.step_all(games, np.array([2, 3], np.int32), step, 99, fresh, work)
    assert batch.states["ply"].tolist() == [2, 2]
    kernels.random_play(games, 0, np.zeros(4, np.int64), fresh, work)
    (counted,), (code,) = kernels.random_play.inspect_llvm().values(), kernels.step_all.inspect_llvm().values()
    assert "NRT_incref" not in code
    assert "NRT_decref" in counted, "what is looked for occurs in other loops"


@inner
def half(x: int) -> int:
    return x // 2


@njit
def quarter(x: int) -> int:
    return half(half(x))


def test_a_part_of_a_kernel_has_no_way_in_for_python() -> None:
    assert quarter(9) == 2
    (kernel,), (part,) = quarter.inspect_llvm().values(), cast(Any, half).inspect_llvm().values()
    assert "PyArg_UnpackTuple" in kernel
    assert "PyArg_UnpackTuple" not in part
    with pytest.raises(TypeError, match="half is a part of kernels: only compiled code can call it"):
        half(9)
