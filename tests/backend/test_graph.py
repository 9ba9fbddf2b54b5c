"""Work that cannot be captured in a CUDA graph is done as it is, and somebody is told why. No GPU is needed: torch's
part in it is pretended. What a captured graph computes is compared on a GPU, in tests/learners/test_gpu.py."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from plyground.backend import graph
from plyground.backend.graph import WARM_UPS, Repeated, repeatable


class Stream:
    """Does nothing."""

    def wait_stream(self, other: object) -> None: ...

    def synchronize(self) -> None: ...


class Graph:
    """Counts its replays."""

    replays = 0

    def replay(self) -> None:
        Graph.replays += 1

    def register_generator_state(self, generator: torch.Generator) -> None: ...


@contextmanager
def pretended_capture(fails: bool) -> Generator[None]:
    yield
    if fails:
        raise RuntimeError("operation not permitted when\nstream is capturing")


@pytest.fixture(params=[False, True], ids=["captured", "fails"])
def fails(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the capture fails."""
    fails = bool(request.param)
    pretended: dict[str, Any] = {
        "Stream": Stream, "CUDAGraph": Graph, "current_stream": Stream, "synchronize": lambda: None,
        "stream": lambda stream: nullcontext(), "graph": lambda graph, stream: pretended_capture(fails),
    }  # fmt: skip
    monkeypatch.setattr(graph, "torch", SimpleNamespace(cuda=SimpleNamespace(**pretended)))
    monkeypatch.setattr(graph, "is_gpu", lambda name: True)
    monkeypatch.setattr(graph, "SIMULATED", False)
    monkeypatch.setattr(Graph, "replays", 0)
    return fails


def test_a_search_that_cannot_be_captured_runs_as_it_is(fails: bool, caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    with caplog.at_level(logging.WARNING):
        repeated = repeatable("cuda", lambda: done.append(1))
    assert len(done) == WARM_UPS + 1
    repeated()
    assert (len(done), Graph.replays) == ((WARM_UPS + 2, 0) if fails else (WARM_UPS + 1, 1))
    why = "slower: operation not permitted when stream is capturing"
    assert [why in line for line in caplog.messages] == ([True] if fails else [])


def test_steps_that_cannot_be_captured_run_as_they_are(fails: bool) -> None:
    done: list[int] = []
    said: list[str] = []

    def work() -> int:
        done.append(1)
        return len(done)

    step = Repeated("cuda", work, say=said.append)
    for _ in range(WARM_UPS + 2):
        step()
    assert Graph.replays == (0 if fails else 2)
    assert len(done) == WARM_UPS + (3 if fails else 1), "the failed attempt has run too"
    assert [("not captured" in text and "stream is capturing" in text) for text in said] == ([True] if fails else [])
    step("other tensors")
    assert len(done) == WARM_UPS + (4 if fails else 2)
