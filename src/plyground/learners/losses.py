"""Masked action values and policies, targets and losses: pure functions of tensors, each tested by hand.

`kernels/replay.py` follows a game for n steps, with the sign of the side that acts and gamma where the turn passes; the
targets here add the networks' values. `legal` [B, A] is the mask of legal actions everywhere.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor


def masked(values: Tensor, legal: Tensor) -> Tensor:
    """[B, A] minus infinity where an action is not legal; a copy."""
    return values.masked_fill(~legal, -torch.inf)


def best_legal(values: Tensor, legal: Tensor, chooser: Tensor | None = None) -> Tensor:
    """[B] the value of the best legal action; 0 where the game is over.

    Double DQN: `chooser` [B, A] selects the action, `values` evaluates it.
    """
    best = masked(values if chooser is None else chooser, legal).argmax(1, keepdim=True)
    return torch.where(legal.any(1), values.gather(1, best)[:, 0], 0.0)


def td_targets(
    returns: Tensor, bootstrap_discounts: Tensor, next_values: Tensor, legal: Tensor, chooser: Tensor | None = None
) -> Tensor:
    """[B] the n-step return plus the discounted, signed value of the best legal action in the next state."""
    return returns + bootstrap_discounts * best_legal(next_values, legal, chooser)


def to_floats(metrics: Mapping[str, Tensor]) -> dict[str, float]:
    """Scalars as Python floats, all read at once: on a GPU each read synchronises."""
    found = torch.stack([value.detach().float() for value in metrics.values()])
    return dict(zip(metrics, cast("list[float]", found.tolist()), strict=True))


# ---- policies ----


def log_probabilities(values: Tensor, legal: Tensor) -> Tensor:
    """[B, A] of the softmax over the legal actions only; minus infinity elsewhere."""
    return torch.log_softmax(masked(values, legal), 1)


def entropy_of(log_probs: Tensor, legal: Tensor) -> Tensor:
    """[B] of log-probabilities [B, A], in nats. Probabilities of 0 count 0, in the value and in the gradient."""
    log_probs = log_probs.masked_fill(
        ~legal, 0.0
    )  # before the product: 0 times minus infinity is NaN, also its gradient
    return -(torch.where(legal, log_probs.exp(), 0.0) * log_probs).sum(1)


def entropy(values: Tensor, legal: Tensor, temperature: float = 1.0) -> Tensor:
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


def policy_gradient_loss(log_probs: Tensor, advantages: Tensor) -> Tensor:
    """Its gradient raises the probability of actions [B] with a positive advantage."""
    return -(log_probs * advantages).mean()


def normalized(advantages: Tensor) -> Tensor:
    """[B] with mean 0 and standard deviation 1, so that the step size does not depend on the scale of rewards."""
    if not len(advantages):
        return advantages
    centred = advantages - advantages.mean()
    return centred / (centred.square().mean().sqrt() + 1e-8)
