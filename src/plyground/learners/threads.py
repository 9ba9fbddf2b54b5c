"""How many threads torch should use: measured, since on a busy machine several threads can be far slower than one."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import time

import torch
from torch import nn

from plyground.backend.view import View
from plyground.kernels.threads import available

TRIALS, TRIAL_ROWS, TRIAL_SECONDS = 20, 256, 0.25  # updates to time; people wait for them
MIN_SPEEDUP = (
    1.3  # of one thread for each core over one thread; below it, load that comes later costs more than it gains
)
ADAPT_INTERVAL = 10.0  # seconds between two measurements in a run that a clock ends


def faster(network: nn.Module, view: View, batch_size: int) -> int:
    """1, or the number of cores if that makes updates at least MIN_SPEEDUP times as fast."""
    observations, trial = torch.zeros((min(batch_size, TRIAL_ROWS), *view.shape)), copy.deepcopy(network)

    def seconds(threads: int) -> float:
        """Of one update."""
        prepare_torch(threads)
        trial(observations)  # the first call is slower
        start, passed, updates = time.perf_counter(), 0.0, 0
        while updates < TRIALS and passed < TRIAL_SECONDS:
            trial(observations).sum().backward()
            updates, passed = updates + 1, time.perf_counter() - start
        return passed / updates

    return available() if available() > 1 and seconds(1) >= MIN_SPEEDUP * seconds(available()) else 1


def prepare_torch(threads: int) -> None:
    """Settings that exact repetition and speed need; to be called before torch starts its threads."""
    torch.set_flush_denormal(True)  # denormals slow Adam threefold
    torch.set_num_threads(threads)
    torch.backends.cudnn.deterministic = True  # otherwise some convolutions on a GPU differ from call to call
    torch.backends.cuda.matmul.allow_tf32 = True  # as convolutions do; an MLP is evaluated twice as fast
