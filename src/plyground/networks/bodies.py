"""Networks: an MLP, a residual net, one of windows, and that of a policy-gradient series."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from plyground.errors import InvalidValue
from plyground.networks.heads import Head, Indices, Pairs, Parts, Valued
from plyground.networks.layers import Block, Convolution, NormedBlock, residual_tower

WIDEST, DEEPEST = 8192, 64


class Network(nn.Module):
    """A body that computes features from observations, and a head that computes outputs from the features."""

    head: nn.Module

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        """From observations [B, *shape]: the head's input [B, F], and a term [B, outputs] to add to its output."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """[B, outputs] Q-values, or logits of a policy."""
        features, more = self.features(x)
        return self.finish(self.head(features), more)

    def finish(self, outputs: Tensor, more: Tensor | float) -> Tensor:
        """[B, outputs] from the head's outputs and the body's term."""
        return outputs + more

    def with_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The logits [B, outputs], and the value [B] of the state for the side to move, -1 to 1."""
        features, more = self.features(x)
        return self.finish(self.head(features), more), cast(Valued, self.head).state_value(features)


class MLP(Network):
    """Linear layers with ReLU between them; `sizes` includes inputs and outputs."""

    def __init__(self, sizes: Sequence[int], head: Head = nn.Linear) -> None:
        super().__init__()
        self.body = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes[:-1]))
        self.head = head(sizes[-2], sizes[-1])

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        x = x.flatten(1)
        for layer in self.body:
            x = torch.relu(layer(x))
        return x, 0.0


class Form(NamedTuple):
    """What a residual net's spec says."""

    blocks: int
    channels: int
    norm: bool
    slim: bool
    pairs: bool


class ResidualNet(Network):
    """A convolutional stem, residual blocks of the board's shape, and one hidden layer; often a head that scores pairs
    or parts of the board.

    `slim`: the hidden layer has 256 units that see 16 channels, made of all by a 1 x 1 convolution; and the pairs have
    no further outputs from it.
    """

    SLIM_CHANNELS, SLIM_HIDDEN = 16, 256

    def __init__(
        self,
        shape: Sequence[int],
        form: Form,
        outputs: int,
        head: Head = nn.Linear,
        parts: Indices | None = None,
    ) -> None:
        super().__init__()
        blocks, channels, norm, slim, pairs = form
        if not 1 <= blocks <= DEEPEST or not 1 <= channels <= WIDEST:
            raise InvalidValue(f"b{blocks}c{channels}: 1 to {DEEPEST} blocks of 1 to {WIDEST} channels")
        self.planes = planes_of(shape)
        cells = shape[-2] * shape[-1]
        if pairs and outputs < cells**2:
            raise InvalidValue(f"-pairs needs an action for each pair of {cells} squares; there are {outputs} actions")
        self.stem = Convolution(self.planes[0], channels, 3, norm)
        self.blocks = nn.ModuleList(Block(channels, norm) for _ in range(blocks))
        seen, hidden = (self.SLIM_CHANNELS, self.SLIM_HIDDEN) if slim else (channels, 4 * channels)
        self.narrow = Convolution(channels, seen, 1, norm) if slim else None
        self.hidden = nn.Linear(seen * cells, hidden)
        scored = Pairs.scored(outputs, cells, slim) if pairs else outputs if parts is None else Parts.scored(parts)
        self.head = head(hidden, scored)
        self.pairs = Pairs(channels, outputs - cells**2, slim) if pairs else None
        self.parts = Parts(channels, cells, parts) if parts is not None else None

    @property
    def board(self) -> Pairs | Parts | None:
        """What scores actions by the board."""
        return self.pairs if self.parts is None else self.parts

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        observed = x.reshape(-1, *self.planes)
        x = residual_tower(observed, self.stem, self.blocks)
        more = 0.0 if self.board is None else self.board(x, observed)
        if self.narrow is not None:
            x = torch.relu(self.narrow(x))
        return torch.relu(self.hidden(x.flatten(1))), more

    def finish(self, outputs: Tensor, more: Tensor | float) -> Tensor:
        return outputs + more if self.board is None else self.board.finish(outputs, cast(Tensor, more))


class WindowNet(Network):
    """One convolution of size x size without padding, followed by an MLP."""

    def __init__(
        self, shape: Sequence[int], size: int, channels: int, sizes: Sequence[int], head: Head = nn.Linear
    ) -> None:
        super().__init__()
        self.planes = planes, rows, columns = planes_of(shape)
        if not 1 <= size <= min(rows, columns) or not 1 <= channels <= WIDEST:
            raise InvalidValue(
                f"k{size}c{channels}: windows of 1 to {min(rows, columns)} cells, 1 to {WIDEST} channels"
            )
        self.windows = nn.Conv2d(planes, channels, size)
        inputs = channels * (rows - size + 1) * (columns - size + 1)
        self.body = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise([inputs, *sizes[:-1]]))
        self.head = head(sizes[-2], sizes[-1])

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        x = torch.relu(self.windows(x.reshape(-1, *self.planes))).flatten(1)
        for layer in self.body:
            x = torch.relu(layer(x))
        return x, 0.0


class ConnectZero(Network):
    """Three residual blocks with group norm, a convolution over whole columns, and an MLP.

    With the three planes of Connect Four's `onehot` encoder it has 323,655 weights, with a value head 356,616.
    """

    CHANNELS, BLOCKS, GROUPS, HIDDEN, VALUE_HIDDEN = 64, 3, 8, 128, 64

    def __init__(self, shape: Sequence[int], outputs: int, valued: bool) -> None:
        super().__init__()
        self.planes = planes, rows, columns = planes_of(shape)
        self.stem = nn.Conv2d(planes, self.CHANNELS, 3, padding=1)
        self.blocks = nn.ModuleList(NormedBlock(self.CHANNELS, self.GROUPS) for _ in range(self.BLOCKS))
        self.columns = nn.Conv2d(self.CHANNELS, self.CHANNELS, (rows, 1))
        inputs = self.CHANNELS * columns  # 448 on a board of seven columns
        policy = MLP([inputs, self.HIDDEN, self.HIDDEN, outputs])
        self.head = Valued(policy, MLP([inputs, self.VALUE_HIDDEN, self.VALUE_HIDDEN, 1])) if valued else policy

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        x = residual_tower(x.reshape(-1, *self.planes), self.stem, self.blocks)
        return torch.relu(self.columns(x)).flatten(1), 0.0


def planes_of(shape: Sequence[int]) -> tuple[int, int, int]:
    """An encoder's shape as (planes, rows, columns)."""
    if len(shape) not in (2, 3):
        raise InvalidValue(f"a convolution needs planes of rows and columns; this encoder writes {tuple(shape)}")
    return (shape[0] if len(shape) == 3 else 1, shape[-2], shape[-1])
