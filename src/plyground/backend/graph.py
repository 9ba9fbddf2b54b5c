"""Repeating the same work on a device: on a GPU as a captured CUDA graph, which is launched as one."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import torch

from plyground.backend.clock import untimed
from plyground.backend.device import SIMULATED, is_gpu
from plyground.errors import Error, shorten

LOG = logging.getLogger("plyground")
R = TypeVar("R")

WARM_UPS = 3  # runs before the capture: kernels are compiled and working memory is allocated then


def repeatable(device_name: str, work: Callable[[], object]) -> Callable[[], object]:
    """A function that does what `work` does. On a GPU `work` is run WARM_UPS times and captured; from then on its
    kernels are replayed with the same memory, so that it must read and write tensors that stay where they are. Where
    it cannot be captured, the reason is logged and the function is `work` itself."""
    if not is_gpu(device_name) or SIMULATED:
        return work
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            work()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=side):
            work()
    except (RuntimeError, Error) as error:
        LOG.warning("a search is not captured in a CUDA graph and will be slower: %s", _reason(error))
        return work
    torch.cuda.current_stream().wait_stream(side)
    return graph.replay


def _reason(error: Exception) -> str:
    return shorten(" ".join(str(error).split()), 200)


class Repeated(Generic[R]):
    """Work that a learner does again and again, with the same tensors and Python values each time.

    On a GPU its first WARM_UPS calls run as they are; then its kernels are captured in a graph, and a call launches
    that graph. What differs from call to call must be in tensors that stay where they are, and nothing may be read
    back: what Python counts is counted by the caller. The result of a call is overwritten by the next one.
    """

    def __init__(
        self,
        device_name: str,
        work: Callable[[], R],
        generators: Sequence[torch.Generator] = (),
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        """`generators` are those that the work draws from; `say` is told why the work cannot be captured."""
        self.work, self.generators, self.say = work, generators, say
        self.captures = is_gpu(device_name) and not SIMULATED
        self.calls = 0  # since the tensors are these
        self._key: object = None
        self._graph: Any = None
        self._result: R | None = None
        self._side: Any = torch.cuda.Stream() if self.captures else None

    def __call__(self, key: object = None) -> R:
        """Do the work once. Another `key` than before means other tensors: they are captured anew."""
        if not self.captures:
            return self.work()
        if key != self._key:
            self._key, self._graph, self.calls = key, None, 0
        self.calls += 1
        if self.calls <= WARM_UPS:
            return self._beside(self.work)
        if self._graph is None and not self._capture():
            return self.work()
        graph: Any = self._graph
        graph.replay()
        return self._result  # pyright: ignore[reportReturnType]

    def _beside(self, work: Callable[[], R]) -> R:
        """In the stream that the graph is captured in: working memory belongs to a stream."""
        self._side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._side):
            found = work()
        torch.cuda.current_stream().wait_stream(self._side)
        return found

    def _capture(self) -> bool:
        """Whether it was possible."""
        self._graph = torch.cuda.CUDAGraph()
        before = [generator.clone_state() for generator in self.generators]
        for generator in self.generators:
            self._graph.register_generator_state(generator)
        torch.cuda.synchronize()
        try:
            with untimed(), torch.cuda.graph(self._graph, stream=self._side):
                self._result = self.work()
        except (RuntimeError, Error) as error:
            self.captures, self._graph = False, None
            for generator, state in zip(self.generators, before, strict=True):  # a failed capture leaves them in it
                generator.graphsafe_set_state(state)
            self.say(f"the steps of this run are not captured in a CUDA graph and will be slower: {_reason(error)}")
        return self.captures


def compiled_network(device_name: str, function: Callable[..., object]) -> Callable[..., object]:
    """A network's function with its operations fused by torch's compiler, on a GPU; elsewhere as it is."""
    return torch.compile(function, dynamic=False) if is_gpu(device_name) and not SIMULATED else function
