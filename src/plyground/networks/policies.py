"""Masked values and policies. `legal` [B, A] is the mask of legal actions."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import torch
from torch import Tensor


def masked(values: Tensor, legal: Tensor) -> Tensor:
    """[B, A] minus infinity where an action is not legal; a copy."""
    return values.masked_fill(~legal, -torch.inf)


def log_probabilities(values: Tensor, legal: Tensor) -> Tensor:
    """[B, A] of the softmax over the legal actions only; minus infinity elsewhere."""
    return torch.log_softmax(masked(values, legal), 1)


def entropy_of(log_probs: Tensor, legal: Tensor) -> Tensor:
    """[B] of log-probabilities [B, A], in nats. Probabilities of 0 count 0, in the value and in the gradient."""
    log_probs = log_probs.masked_fill(
        ~legal, 0.0
    )  # before the product: 0 times minus infinity is NaN, also its gradient
    return -(torch.where(legal, log_probs.exp(), 0.0) * log_probs).sum(1)


def entropy(values: Tensor, legal: Tensor, temperature: float | Tensor = 1.0) -> Tensor:
    """[B] of the softmax over the legal actions only, in nats; right where probabilities are 0."""
    return entropy_of(log_probabilities(values / temperature, legal), legal)


def sample_actions(log_probs: Tensor, numbers: Tensor) -> Tensor:
    """[B] an action for each row of log-probabilities [B, A], by inverse transform of numbers [B] in [0, 1).

    It is the first action up to which the probabilities sum to more than the number: never one of probability 0, even
    where rounding makes them sum to less than 1.
    """
    sums = log_probs.double().exp().cumsum(1)
    wanted = numbers.double() * sums[:, -1]  # exact in 53 bits, hence below the last sum
    return (sums <= wanted[:, None]).sum(1)
