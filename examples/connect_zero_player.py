"""A model of the policy-gradient series: boards of +1 and -1 in, seven logits out. Any torch module plays like this.

plyground match connect_four file:examples/connect_zero_player.py:Columns,sample=true random
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

encoder = "signed"  # what the modules of this file see: int8 boards (B, 6, 7), +1 own, -1 the opponent's


class Columns(nn.Module):
    """Prefers the centre, and among columns those with own stones."""

    def forward(self, x: Tensor) -> Tensor:
        centre = torch.tensor([0.0, 1, 2, 3, 2, 1, 0])
        return centre + 0.5 * x.clamp(min=0).sum(-2)
