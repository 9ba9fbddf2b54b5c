"""The settings of torch that exact repetition and speed need."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import torch


def prepare_torch(threads: int) -> None:
    """To be called before torch starts its threads. Their number is a setting, never a measurement: it changes the
    last bits of sums, and so the weights that a seed gives."""
    torch.set_flush_denormal(True)  # denormals slow Adam threefold
    torch.set_num_threads(threads)
    torch.backends.cudnn.deterministic = True  # otherwise some convolutions on a GPU differ from call to call
    torch.backends.cuda.matmul.allow_tf32 = True  # as convolutions do; an MLP is evaluated twice as fast
