"""A tree of priorities for prioritised replay, on either device."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import torch
from torch import Tensor

from plyground.backend.clock import timed
from plyground.backend.games import run_kernel
from plyground.backend.runner import get


class PriorityTree:
    """A binary tree of sums, whose leaves are the priorities of indices 0 to `leaves` - 1; all are 0 at first."""

    def __init__(self, leaves: int, device: str) -> None:
        self.device_name = device
        size = 2 << max(leaves - 1, 1).bit_length()
        self.tree = torch.zeros(size, dtype=torch.float64, device=get(device).device)  # node n: children 2n and 2n + 1

    @timed("replay")
    def set(self, indices: Tensor, priorities: Tensor) -> None:
        """New priorities [B] float64 for indices [B] int64; an index that occurs twice gets the largest of its own."""
        if self.device_name == "cpu":
            run_kernel("cpu", "replay", "set_priorities", len(indices), self.tree, indices, priorities)
            return
        leaves = self.tree[len(self.tree) // 2 :]
        leaves.scatter_reduce_(0, indices, priorities, "amax", include_self=False)
        level = len(self.tree) // 2
        while level > 1:  # all sums: on a GPU faster than along the paths that changed
            self.tree[level // 2 : level] = self.tree[level : 2 * level].view(-1, 2).sum(1)
            level //= 2

    @timed("replay")
    def sample(self, n: int, cursor: Tensor) -> tuple[Tensor, Tensor]:
        """[n] int64 indices in proportion to their priority, and their probabilities [n] float64. The samples depend on
        the tree and the cursor [2] (see `kernels/replay.py`) alone, not on the device."""
        indices = torch.empty(n, dtype=torch.int64, device=self.tree.device)
        probabilities = torch.empty(n, dtype=torch.float64, device=self.tree.device)
        run_kernel(self.device_name, "replay", "sample_prioritised", n, cursor, self.tree, indices, probabilities)
        return indices, probabilities
