"""Networks by spec. The inputs are an encoder's observation [*shape], the outputs one number for each action.

512-256         an MLP with two hidden layers
b4c64           a residual net of 4 blocks with 64 channels
b4c64-pairs     the same with a head for pairs of squares: the first actions are (from, to)
k4c64-128       one convolution of 64 filters over 4 x 4 windows without padding, then an MLP: cheap, and the
                filters are shared between all places of the board
connect_zero    the residual net of a policy-gradient series on Connect Four
512-256+value   any of these with a value head beside the policy head, for actor-critic methods
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from plyground.backend.device import convolution_layout, convolution_relu, mixed_precision
from plyground.errors import InvalidValue, shorten

WIDEST, DEEPEST = 8192, 64
WITH_VALUE = "+value"
POLICY_GAIN = 0.01  # scales the initial weights of a policy's last layer: the first policy is nearly uniform
Head = Callable[[int, int], nn.Module]  # (inputs, outputs) -> module


def make_network(spec: str, shape: Sequence[int], outputs: int, dueling: bool = False) -> Network:
    """[B, *shape] -> [B, outputs]. Weights are initialised from torch's global generator: seed it first."""
    body, valued = spec.removesuffix(WITH_VALUE), spec.endswith(WITH_VALUE)
    if valued and dueling:
        raise InvalidValue(f"a network has a dueling head or a value head, not both: {shorten(spec)!r}")
    head: Head = Dueling if dueling else _valued if valued else nn.Linear
    blocks = re.fullmatch(r"b(\d{1,3})c(\d{1,5})(-pairs)?", body)
    if blocks:
        return ResidualNet(shape, int(blocks[1]), int(blocks[2]), outputs, head, pairs=bool(blocks[3]))
    windows = re.fullmatch(r"k(\d{1,3})c(\d{1,5})((?:-\d{1,9})+)", body)
    if windows:
        hidden = _hidden(windows[3][1:])
        return WindowNet(shape, int(windows[1]), int(windows[2]), [*hidden, outputs], head)
    if body == "connect_zero":
        if dueling:
            raise InvalidValue("connect_zero has no dueling head; +value gives it a value head")
        return ConnectZero(shape, outputs, valued)
    if not re.fullmatch(r"\d{1,9}(-\d{1,9})*", body):
        known = "the hidden sizes of an MLP (512-256), b4c64, k4c64-128 or connect_zero, with +value or without"
        raise InvalidValue(f"no network {shorten(spec)!r}; write {known}")
    return MLP([math.prod(shape), *_hidden(body), outputs], head)


def suitable(shape: Sequence[int], outputs: int) -> str:
    """A network for what it sees and what it chooses between: a head for pairs where there are enough actions."""
    pairs = len(shape) == 3 and outputs >= (shape[-2] * shape[-1]) ** 2
    return "b3c32-pairs" if pairs else "512-256-128"


def _hidden(sizes: str) -> list[int]:
    """The sizes of hidden layers from `512-256`."""
    hidden = [int(size) for size in sizes.split("-")]
    if len(hidden) > DEEPEST or not all(1 <= size <= WIDEST for size in hidden):
        raise InvalidValue(f"an MLP has up to {DEEPEST} layers of 1 to {WIDEST}, not {shorten(sizes)!r}")
    return hidden


def count_parameters(network: nn.Module) -> int:
    return sum(each.numel() for each in network.parameters())


def scale_outputs(network: nn.Module, factor: float) -> None:
    """Multiply a network's outputs, by changing its last layers; a power of two loses no precision."""
    last = _last_layers(network.get_submodule("head"))
    if getattr(network, "pairs", None) is not None:
        last.append(network.get_submodule("pairs.target"))
    with torch.no_grad():
        for layer in last:
            for weights in layer.parameters():
                weights.mul_(factor)


def _last_layers(head: nn.Module) -> list[nn.Module]:
    """The layers whose outputs a head adds up."""
    if isinstance(head, Dueling):
        return [head.value, head.advantage]
    if isinstance(head, Valued):
        return _last_layers(head.policy)
    return _last_layers(head.head) if isinstance(head, MLP) else [head]


def describe(spec: str, shape: Sequence[int], outputs: int, dueling: bool) -> str:
    """The spec with input and output sizes, for a checkpoint's identity: `84-512-256-7`."""
    inputs = str(math.prod(shape)) if spec[:1].isdigit() else "x".join(map(str, shape))
    return f"{inputs}-{spec}-{outputs}{' dueling' if dueling else ''}"


class Network(nn.Module):
    """A body that computes features from observations, and a head that computes outputs from the features."""

    head: nn.Module

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        """From observations [B, *shape]: the head's input [B, F], and a term [B, outputs] to add to its output."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """[B, outputs] Q-values, or logits of a policy."""
        features, more = self.features(x)
        return self.head(features) + more

    def with_value(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The logits [B, outputs], and the value [B] of the state for the side to move, -1 to 1."""
        features, more = self.features(x)
        return self.head(features) + more, cast(Valued, self.head).state_value(features)


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


class ResidualNet(Network):
    """A convolutional stem, residual blocks of the board's shape, and one hidden layer."""

    def __init__(
        self,
        shape: Sequence[int],
        blocks: int,
        channels: int,
        outputs: int,
        head: Head = nn.Linear,
        pairs: bool = False,
    ) -> None:
        super().__init__()
        if not 1 <= blocks <= DEEPEST or not 1 <= channels <= WIDEST:
            raise InvalidValue(f"b{blocks}c{channels}: 1 to {DEEPEST} blocks of 1 to {WIDEST} channels")
        self.planes = planes_of(shape)
        self.stem = nn.Conv2d(self.planes[0], channels, 3, padding=1)
        self.blocks = nn.ModuleList(Block(channels) for _ in range(blocks))
        cells = shape[-2] * shape[-1]
        self.hidden = nn.Linear(channels * cells, 4 * channels)
        self.head = head(4 * channels, outputs)
        if pairs and outputs < cells**2:
            raise InvalidValue(f"-pairs needs an action for each pair of {cells} squares; there are {outputs} actions")
        self.pairs = Pairs(channels, outputs - cells**2) if pairs else None

    def features(self, x: Tensor) -> tuple[Tensor, Tensor | float]:
        x = residual_tower(x.reshape(-1, *self.planes), self.stem, self.blocks)
        more = 0.0 if self.pairs is None else self.pairs(x)
        return torch.relu(self.hidden(x.flatten(1))), more


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


def planes_of(shape: Sequence[int]) -> tuple[int, int, int]:
    """An encoder's shape as (planes, rows, columns)."""
    if len(shape) not in (2, 3):
        raise InvalidValue(f"a convolution needs planes of rows and columns; this encoder writes {tuple(shape)}")
    return (shape[0] if len(shape) == 3 else 1, shape[-2], shape[-1])


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


class Block(nn.Module):
    """A residual block of two convolutions; the residual branch is zero-initialised (its second convolution is 0)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        nn.init.zeros_(self.second.weight)

    def forward(self, x: Tensor) -> Tensor:
        return convolution_relu(self.second, convolution_relu(self.first, x), residual=x)


# ---- the network of the policy-gradient series ----


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


# ---- heads ----


class Pairs(nn.Module):
    """A score for each pair of squares (from, to): the scaled dot product of their features, with shared weights.

    The first cells * cells actions are the pairs; the others get 0.
    """

    def __init__(self, channels: int, others: int) -> None:
        super().__init__()
        self.source, self.target = nn.Conv2d(channels, channels, 1), nn.Conv2d(channels, channels, 1)
        self.others, self.scale = others, channels**-0.5

    def forward(self, x: Tensor) -> Tensor:
        source, target = self.source(x).flatten(2), self.target(x).flatten(2)  # [B, channels, cells]
        scores = torch.einsum("bcs,bct->bst", source, target) * self.scale  # [B, cells, cells]
        return nn.functional.pad(scores.flatten(1), (0, self.others))


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


def _valued(inputs: int, outputs: int) -> Valued:
    return Valued(nn.Linear(inputs, outputs), nn.Linear(inputs, 1))


# ---- masked values and policies; `legal` [B, A] is the mask of legal actions ----


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
