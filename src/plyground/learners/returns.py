"""What actions are worth, as targets for a network, and how likely: masks, bootstraps and signs, each said once.

How a game is followed for several plies, with the sign of who acts and the discount where the turn passes, stands in
`kernels/replay.py`; here its result meets the networks' values.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
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


def read(numbers: Mapping[str, Tensor]) -> dict[str, float]:
    """Single numbers, wherever they are; all in one go, since on a GPU each look waits."""
    found = torch.stack([number.detach() for number in numbers.values()])
    return dict(zip(numbers, cast("list[float]", found.tolist()), strict=True))


# ---- actions drawn by chance ----


def log_probabilities(values: Tensor, legal: Tensor) -> Tensor:
    """[B, A] of the softmax over the legal actions only; minus infinity elsewhere."""
    return torch.log_softmax(masked(values, legal), 1)


def entropy_of(logs: Tensor, legal: Tensor) -> Tensor:
    """[B] of log-probabilities [B, A], in nats. Probabilities of 0 count 0, in the value and in the gradient."""
    logs = logs.masked_fill(~legal, 0.0)  # before the product: 0 times minus infinity is no number, nor is its gradient
    return -(torch.where(legal, logs.exp(), 0.0) * logs).sum(1)


def entropy(values: Tensor, legal: Tensor, temperature: float = 1.0) -> Tensor:
    """[B] of the softmax over the legal actions only, in nats; right where probabilities are 0."""
    return entropy_of(log_probabilities(values / temperature, legal), legal)


def draw(logs: Tensor, chance: NDArray[np.float32] | Tensor) -> Tensor:
    """[B] an action for each row of log-probabilities [B, A], by a number in [0, 1) for each [B].

    It is the first action up to which the probabilities sum to more than that number: never one of probability 0, also
    where rounding makes them sum to less than 1.
    """
    sums = logs.double().exp().cumsum(1)
    numbers = torch.from_numpy(chance).to(logs.device) if isinstance(chance, np.ndarray) else chance
    wanted = numbers.double() * sums[:, -1]  # exact in 53 bits, so below the last sum
    return (sums <= wanted[:, None]).sum(1)


def policy_gradient_loss(logs: Tensor, advantages: Tensor) -> Tensor:
    """Its gradient makes actions [B] likelier that turned out better than expected. `logs` [B] are theirs."""
    return -(logs * advantages).mean()
