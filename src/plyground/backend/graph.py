"""Repeating the same work on a device: on a GPU as a captured CUDA graph, which is launched as one."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable

import torch

from plyground.backend.device import SIMULATED, is_gpu

WARM_UPS = 3  # runs before the capture: kernels are compiled and working memory is allocated then


def repeatable(device_name: str, work: Callable[[], object]) -> Callable[[], object]:
    """A function that does what `work` does. On a GPU `work` is run WARM_UPS times and captured; from then on its
    kernels are replayed with the same memory, so that it must read and write tensors that stay where they are."""
    if not is_gpu(device_name) or SIMULATED:
        return work
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            work()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        work()
    torch.cuda.current_stream().wait_stream(side)
    return graph.replay


def compiled_network(device_name: str, function: Callable[..., object]) -> Callable[..., object]:
    """A network's function with its operations fused by torch's compiler, on a GPU; elsewhere as it is."""
    return torch.compile(function, dynamic=False) if is_gpu(device_name) and not SIMULATED else function
