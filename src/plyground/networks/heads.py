"""Heads: what computes outputs from features, and scores of actions by the board."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

POLICY_GAIN = 0.01  # scales the initial weights of a policy's last layer: the first policy is nearly uniform
Indices = NDArray[np.int64]
Head = Callable[[int, int], nn.Module]  # (inputs, outputs) -> module


class Pairs(nn.Module):
    """A score for each pair of squares (from, to): the scaled dot product of their features, with shared weights.

    The first cells * cells actions are the pairs. The hidden layer scores the others; unless `slim`, also the pairs.
    """

    def __init__(self, channels: int, others: int, slim: bool) -> None:
        super().__init__()
        self.source, self.target = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1)
        self.others, self.slim, self.scale = others, slim, channels**-0.5

    @property
    def last(self) -> nn.Module:
        return self.target

    @staticmethod
    def scored(outputs: int, cells: int, slim: bool) -> int:
        """How many outputs the head has."""
        return outputs - cells**2 if slim else outputs

    def forward(self, x: Tensor, observed: Tensor) -> Tensor:
        source, target = self.source(x).flatten(2), self.target(x).flatten(2)  # [B, channels, cells]
        scores = torch.einsum("bcs,bct->bst", source, target) * self.scale  # [B, cells, cells]
        return scores.flatten(1)

    def finish(self, outputs: Tensor, scores: Tensor) -> Tensor:
        if self.slim:
            return torch.cat([scores, outputs], 1)
        return outputs + nn.functional.pad(scores, (0, self.others))


class Parts(nn.Module):
    """Scores of actions that are made of parts: a cell of a map, a term for that map, and perhaps what the cells that a
    plane of the observation marks are worth. `parts` [A, 3]: see `Encoder.parts`."""

    def __init__(self, channels: int, cells: int, parts: Indices) -> None:
        super().__init__()
        maps, planes = self.scored(parts), sorted({int(plane) for plane in parts[:, 2] if plane >= 0})
        self.maps = nn.Conv2d(channels, maps + 1, 1)  # the last one: what marked cells are worth
        places = {plane: maps * cells + 1 + k for k, plane in enumerate(planes)}  # of the sums in `forward`'s result
        indices = {
            "planes": planes,
            "cell": parts[:, 0] * cells + parts[:, 1],
            "map": parts[:, 0],
            "marked": [places.get(int(plane), maps * cells) for plane in parts[:, 2]],
        }
        for name, values in indices.items():
            self.register_buffer(name, torch.as_tensor(values, dtype=torch.int64), persistent=False)
        self.planes: Tensor
        self.cell: Tensor
        self.map: Tensor
        self.marked: Tensor
        with torch.no_grad():
            self.maps.weight.mul_(POLICY_GAIN)

    @property
    def last(self) -> nn.Module:
        return self.maps

    @staticmethod
    def scored(parts: Indices) -> int:
        """How many maps there are: the head has an output for each."""
        return int(parts[:, 0].max()) + 1

    def forward(self, x: Tensor, observed: Tensor) -> Tensor:
        """[B, maps * cells + 1 + planes] the scores of cells, 0, and the sums over marked cells."""
        maps = self.maps(x).flatten(2)  # [B, maps + 1, cells]
        marked = observed.index_select(1, self.planes).flatten(2)  # [B, planes, cells]
        sums = torch.einsum("bc,bpc->bp", maps[:, -1], marked)
        return torch.cat([maps[:, :-1].flatten(1), nn.functional.pad(sums, (1, 0))], 1)

    def finish(self, outputs: Tensor, scores: Tensor) -> Tensor:
        return scores[:, self.cell] + scores[:, self.marked] + outputs[:, self.map]


class Dueling(nn.Module):
    """The dueling head: a state value, and each action's advantage minus the mean advantage."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.value, self.advantage = nn.Linear(inputs, 1), nn.Linear(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)


class Valued(nn.Module):
    """A policy head, nearly uniform at first, and a value head."""

    def __init__(self, policy: nn.Module, value: nn.Module) -> None:
        super().__init__()
        self.policy, self.value = policy, value
        *_, last = (layer for layer in policy.modules() if isinstance(layer, nn.Linear))
        with torch.no_grad():
            last.weight.mul_(POLICY_GAIN)

    def forward(self, x: Tensor) -> Tensor:
        return self.policy(x)

    def state_value(self, x: Tensor) -> Tensor:
        """[B] the value of each state for the side to move, -1 to 1."""
        return torch.tanh(self.value(x))[:, 0]


def with_value_head(inputs: int, outputs: int) -> Valued:
    return Valued(nn.Linear(inputs, outputs), nn.Linear(inputs, 1))
