"""What actions are worth, as targets for a network: masks, bootstraps and signs, each said once.

How a game is followed for several plies, with the sign of who acts and the discount where the turn passes, stands in
`kernels/replay.py`; here its result meets the networks' values.
"""

from __future__ import annotations

import torch
from torch import Tensor


def masked(values: Tensor, legal: Tensor) -> Tensor:
    """[B, A] minus infinity where an action is not legal; a copy."""
    return values.masked_fill(~legal, -torch.inf)


def best_legal(values: Tensor, legal: Tensor, chooser: Tensor | None = None) -> Tensor:
    """[B] the value of the best legal action; 0 where none is legal, since the game is over.

    With a `chooser` [B, A] that one names the best action and `values` says what it is worth: Double DQN.
    """
    best = masked(values if chooser is None else chooser, legal).argmax(1, keepdim=True)
    return torch.where(legal.any(1), values.gather(1, best)[:, 0], 0.0)


def td_targets(
    returns: Tensor, factors: Tensor, values: Tensor, legal: Tensor, chooser: Tensor | None = None
) -> Tensor:
    """[B] what came of each action, and the value of the best legal action behind, signed and discounted."""
    return returns + factors * best_legal(values, legal, chooser)


def entropy(values: Tensor, legal: Tensor, temperature: float = 1.0) -> Tensor:
    """[B] of the softmax over the legal actions only, in nats; right where probabilities are 0."""
    logs = torch.log_softmax(masked(values / temperature, legal), 1)
    return -torch.where(legal, logs.exp() * logs, 0.0).sum(1)
