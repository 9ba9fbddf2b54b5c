"""Networks by spec. The inputs are an encoder's observation [*shape], the outputs one number for each action.

512-256         an MLP with two hidden layers
b4c64           a residual net of 4 blocks with 64 channels
b4c64-pairs     the same with a head for pairs of squares: the first actions are (from, to)
b4c64-parts     the same with scores of cells, of which the encoder says how they add up to those of actions
b4c64-slim      a residual net whose hidden layer is small: a fraction of the weights; also -slim-pairs, -slim-parts
b4c64-norm      a residual net with batch normalisation, of which inference copies are free; also -norm-slim-pairs ...
k4c64-128       one convolution of 64 filters over 4 x 4 windows without padding, then an MLP: cheap, and the
                filters are shared between all places of the board
connect_zero    the residual net of a policy-gradient series on Connect Four
512-256+value   any of these with a value head beside the policy head, for actor-critic methods
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import copy
import itertools
import math
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.backend.device import convolution_layout, convolution_relu, for_inference, mixed_precision, on_gpu
from plyground.errors import InvalidValue, shorten
from plyground.specs import WITH_VALUE

WIDEST, DEEPEST = 8192, 64
NORM = "-norm"
POLICY_GAIN = 0.01  # scales the initial weights of a policy's last layer: the first policy is nearly uniform
Indices = NDArray[np.int64]
Head = Callable[[int, int], nn.Module]  # (inputs, outputs) -> module


def make_network(
    spec: str, shape: Sequence[int], outputs: int, dueling: bool = False, parts: Indices | None = None
) -> Network:
    """[B, *shape] -> [B, outputs], not in training mode. Weights are initialised from torch's global generator: seed it
    first.

    `parts` [A, 3] are those of the encoder, for networks that score actions by parts.
    """
    return _build(spec, shape, outputs, dueling, parts).eval()


def _build(spec: str, shape: Sequence[int], outputs: int, dueling: bool, parts: Indices | None) -> Network:
    body, valued = spec.removesuffix(WITH_VALUE), spec.endswith(WITH_VALUE)
    if valued and dueling:
        raise InvalidValue(f"a network has a dueling head or a value head, not both: {shorten(spec)!r}")
    head: Head = Dueling if dueling else _valued if valued else nn.Linear
    blocks = re.fullmatch(rf"b(\d{{1,3}})c(\d{{1,5}})({NORM})?(-slim)?(-pairs|-parts)?", body)
    if blocks:
        form = Form(int(blocks[1]), int(blocks[2]), bool(blocks[3]), bool(blocks[4]), blocks[5] == "-pairs")
        if blocks[5] != "-parts":
            return ResidualNet(shape, form, outputs, head)
        if parts is None:
            why = f"says of what parts actions are made; this one, of shape {tuple(shape)}, does not"
            raise InvalidValue(f"-parts needs an encoder that {why}")
        return ResidualNet(shape, form, outputs, head, parts[:outputs])
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
    if isinstance(network, ResidualNet) and network.board is not None:
        last.append(network.board.last)
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


# ---- copies for inference ----


def inference_copy(network: Network) -> Network:
    """A network for evaluation alone: on a GPU a copy with bfloat16 weights and without normalisation, more than twice
    as fast; on the CPU the same one."""
    if not on_gpu(network):
        return network
    return for_inference(without_norm(network))


def without_norm(network: Network) -> Network:
    """A copy in which normalisation is folded into the convolutions."""
    copied = copy.deepcopy(network).requires_grad_(False).eval()
    for layer in copied.modules():
        if isinstance(layer, Convolution):
            layer.norm = None
    copy_weights(copied, network)
    return copied


def copy_weights(copied: nn.Module, network: nn.Module) -> None:
    """Give an inference copy the network's weights. They stay where they are: captured graphs read them."""
    if copied is not network:
        with torch.no_grad():
            for mine, theirs in zip(copied.parameters(), folded_weights(network), strict=True):
                mine.copy_(theirs)


def folded_weights(network: nn.Module) -> Iterator[Tensor]:
    """The parameters of a network with normalisation folded into the convolutions."""
    for layer in network.modules():
        if isinstance(layer, Convolution):
            yield from layer.folded()
        elif not isinstance(layer, Norm):
            yield from layer.parameters(recurse=False)


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
