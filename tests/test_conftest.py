"""The rules of the test suite itself: a GPU that cannot be used fails, and only our own warnings are errors."""

from __future__ import annotations

import types
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import conftest
from plyground.backend import device

pytestmark = pytest.mark.once


@pytest.fixture
def machine_with_gpu(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine that has a GPU and the extra `gpu`, as far as `gpu_problem` looks."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(Path, "glob", lambda *_: iter([Path("/dev/nvidia0")]))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(device, "problem", lambda: "its driver is too old")
    return monkeypatch


def item(*marks: str) -> Any:
    return types.SimpleNamespace(get_closest_marker=lambda name: name in marks)


def test_a_gpu_that_cannot_be_used_fails_the_tests_that_need_one(machine_with_gpu: pytest.MonkeyPatch) -> None:
    with pytest.raises(pytest.fail.Exception, match="cannot be used: its driver is too old"):
        conftest.pytest_runtest_setup(item("gpu"))
    conftest.pytest_runtest_setup(item("slow"))  # other tests run
    machine_with_gpu.setattr(device, "problem", lambda: "")
    conftest.pytest_runtest_setup(item("gpu"))


def test_without_a_gpu_or_its_extra_nothing_fails(machine_with_gpu: pytest.MonkeyPatch) -> None:
    with machine_with_gpu.context() as changed:
        changed.setattr(Path, "glob", lambda *_: iter([]))
        assert conftest.gpu_problem() == "", "no device node"
    with machine_with_gpu.context() as changed:
        changed.setattr("importlib.util.find_spec", lambda name: None)
        assert conftest.gpu_problem() == "", "no numba-cuda"
    machine_with_gpu.setattr(torch.version, "cuda", None)
    assert conftest.gpu_problem() == "", "a torch without CUDA"


def test_only_our_own_warnings_are_errors() -> None:
    def raised_in(module: str) -> None:
        """A warning about a line of this module."""
        warnings.warn_explicit("something", DeprecationWarning, "file.py", 1, module)

    for ours in (
        "plyground.search.minimax",
        "plyground_rules_chess_0.kernels",
        "tests.test_batch",
        "/a/src/plyground/x",
    ):
        with pytest.raises(DeprecationWarning, match="something"):
            raised_in(ours)
    for theirs in ("numba_cuda.numba.cuda.cudadrv", "/home/plyground/.venv/lib/numpy/core", "torch.cuda"):
        with warnings.catch_warnings(record=True) as seen:
            raised_in(theirs)
        assert len(seen) == 1
    with pytest.raises(UserWarning, match="here"):
        warnings.warn("here", UserWarning, stacklevel=1)
