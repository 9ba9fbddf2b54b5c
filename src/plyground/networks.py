"""Networks by name: `512-256` is an MLP with two hidden layers, `b4c64` a residual net of 4 blocks with 64 channels,
`b4c64-pairs` one whose first actions are pairs of squares, from and to.

Any game and any encoder: the inputs are what the encoder writes, the outputs one value for each action.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from plyground.errors import InvalidValue, shorten

WIDEST, DEEPEST = 8192, 64


def make_network(word: str, shape: Sequence[int], outputs: int, dueling: bool = False) -> nn.Module:
    """[B, *shape] -> [B, outputs]. Drawn from torch's own generator: seed it first."""
    blocks = re.fullmatch(r"b(\d+)c(\d+)(-pairs)?", word)
    if blocks:
        return ResidualNet(shape, int(blocks[1]), int(blocks[2]), outputs, dueling, pairs=bool(blocks[3]))
    if not re.fullmatch(r"\d+(-\d+)*", word):
        raise InvalidValue(f"no network {shorten(word)!r}; write the hidden sizes of an MLP (512-256) or b4c64")
    hidden = [int(size) for size in word.split("-")]
    if len(hidden) > DEEPEST or not all(1 <= size <= WIDEST for size in hidden):
        raise InvalidValue(f"an MLP has up to {DEEPEST} layers of 1 to {WIDEST}, not {shorten(word)!r}")
    return MLP([math.prod(shape), *hidden, outputs], dueling)


def weights_of(network: nn.Module) -> int:
    return sum(each.numel() for each in network.parameters())


def describe(word: str, shape: Sequence[int], outputs: int, dueling: bool) -> str:
    """A network with its sizes, which a checkpoint carries: `84-512-256-7`."""
    inputs = "x".join(map(str, shape)) if word.startswith("b") else str(math.prod(shape))
    return f"{inputs}-{word}-{outputs}{' dueling' if dueling else ''}"


class MLP(nn.Module):
    """Linear layers with ReLU between them, by their sizes, inputs and outputs included."""

    def __init__(self, sizes: Sequence[int], dueling: bool = False) -> None:
        super().__init__()
        self.body = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes[:-1]))
        self.head = _head(sizes[-2], sizes[-1], dueling)

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        for layer in self.body:
            x = torch.relu(layer(x))
        return self.head(x)


class ResidualNet(nn.Module):
    """Convolutions that keep the board's shape, each block adding to what came in, and one hidden layer behind."""

    def __init__(
        self,
        shape: Sequence[int],
        blocks: int,
        channels: int,
        outputs: int,
        dueling: bool = False,
        pairs: bool = False,
    ) -> None:
        super().__init__()
        if len(shape) not in (2, 3):
            raise InvalidValue(f"a convolution needs planes of rows and columns; this encoder writes {tuple(shape)}")
        if not 1 <= blocks <= DEEPEST or not 1 <= channels <= WIDEST:
            raise InvalidValue(f"b{blocks}c{channels}: 1 to {DEEPEST} blocks of 1 to {WIDEST} channels")
        self.planes = (shape[0] if len(shape) == 3 else 1, *shape[-2:])
        self.stem = nn.Conv2d(self.planes[0], channels, 3, padding=1)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        cells = shape[-2] * shape[-1]
        self.hidden = nn.Linear(channels * cells, 4 * channels)
        self.head = _head(4 * channels, outputs, dueling)
        if pairs and outputs < cells**2:
            raise InvalidValue(f"pairs need an action for each two of {cells} squares; there are {outputs} actions")
        self.pairs = Pairs(channels, outputs - cells**2) if pairs else None

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.stem(x.reshape(-1, *self.planes)))
        for block in self.blocks:
            x = block(x)
        values = self.head(torch.relu(self.hidden(x.flatten(1))))
        return values if self.pairs is None else values + self.pairs(x)


class Block(nn.Module):
    """Two convolutions around which the input passes unchanged; the second begins at nothing, which keeps it calm."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.second(torch.relu(self.first(x))))


class Pairs(nn.Module):
    """How well two squares go together, from and to, whichever they are: what is learned of one pair serves all.

    The first cells * cells actions are the pairs; the others get nothing.
    """

    def __init__(self, channels: int, others: int) -> None:
        super().__init__()
        self.source, self.target = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1)
        self.others, self.scale = others, channels**-0.5

    def forward(self, x: Tensor) -> Tensor:
        source, target = self.source(x).flatten(2), self.target(x).flatten(2)  # [B, channels, cells]
        fits = torch.einsum("bcs,bct->bst", source, target) * self.scale
        return nn.functional.pad(fits.flatten(1), (0, self.others))


class Dueling(nn.Module):
    """A state's value, and each action's advantage over the mean of all of them."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.value, self.advantage = nn.Linear(inputs, 1), nn.Linear(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)


def _head(inputs: int, outputs: int, dueling: bool) -> nn.Module:
    return Dueling(inputs, outputs) if dueling else nn.Linear(inputs, outputs)
