"""Convolutions, normalisation and residual blocks."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
from collections.abc import Generator
from typing import cast

import torch
from torch import Tensor, nn

from plyground.backend.device import convolution_layout, convolution_relu, mixed_precision


def residual_tower(x: Tensor, stem: nn.Conv2d, blocks: nn.ModuleList) -> Tensor:
    """[B, planes, rows, columns] -> [B, channels, rows, columns]: a convolution and residual blocks.

    On a GPU they run under autocast in bfloat16 with channels-last memory: twice as fast. Weights stay float32, and so
    do all later layers, where small differences matter.
    """
    dtype = x.dtype
    with mixed_precision(x):
        x = convolution_relu(stem, convolution_layout(x))
        for block in blocks:
            x = block(x)
    return x.to(dtype, memory_format=torch.contiguous_format)


class Norm(nn.Module):
    """Batch normalisation, as torch's; without its counter of batches, which is no weight."""

    EPSILON, MOMENTUM = 1e-5, 0.1

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.running_mean: Tensor
        self.running_var: Tensor
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        statistics, affine = (self.running_mean, self.running_var), (self.weight, self.bias)
        return nn.functional.batch_norm(x, *statistics, *affine, self.training, self.MOMENTUM, self.EPSILON)


class Convolution(nn.Conv2d):
    """A convolution that keeps the board's size, perhaps followed by batch normalisation.

    The statistics of a minibatch are used and learned in training mode alone, in which only the update of a learner
    puts a network; otherwise the layer is a convolution with other weights, and `folded` says which.
    """

    def __init__(self, inputs: int, outputs: int, size: int, norm: bool = False) -> None:
        super().__init__(inputs, outputs, size, padding=size // 2)
        self.norm = Norm(outputs) if norm else None

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (torch's name)
        x = super().forward(input)
        return x if self.norm is None else self.norm(x)

    def folded(self) -> tuple[Tensor, Tensor]:
        """Weight and bias of the convolution that is the same without normalisation."""
        bias, norm = cast(Tensor, self.bias), self.norm
        if norm is None:
            return self.weight, bias
        scale = norm.weight / torch.sqrt(norm.running_var + norm.EPSILON)  # [outputs]
        return self.weight * scale[:, None, None, None], (bias - norm.running_mean) * scale + norm.bias


@contextlib.contextmanager
def training_mode(network: nn.Module) -> Generator[None]:
    """In which normalisation uses and learns the statistics of minibatches."""
    network.train()
    try:
        yield
    finally:
        network.eval()


class Block(nn.Module):
    """A residual block of two convolutions; the residual branch is zero-initialised (its last weights are 0)."""

    def __init__(self, channels: int, norm: bool = False) -> None:
        super().__init__()
        self.first = Convolution(channels, channels, 3, norm)
        self.second = Convolution(channels, channels, 3, norm)
        nn.init.zeros_(self.second.weight if self.second.norm is None else self.second.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        return convolution_relu(self.second, convolution_relu(self.first, x), residual=x)


class NormedBlock(nn.Module):
    """A residual block with group norm: it uses no batch statistics, so a single row gives the same result."""

    def __init__(self, channels: int, groups: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.first_norm, self.second_norm = nn.GroupNorm(groups, channels), nn.GroupNorm(groups, channels)

    def forward(self, x: Tensor) -> Tensor:
        inside = torch.relu(self.first_norm(self.first(x)))
        return torch.relu(x + self.second_norm(self.second(inside)))
