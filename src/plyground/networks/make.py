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

import math
import re
from collections.abc import Sequence

import torch
from torch import nn

from plyground.errors import InvalidValue, shorten
from plyground.networks.bodies import DEEPEST, MLP, WIDEST, ConnectZero, Form, Network, ResidualNet, WindowNet
from plyground.networks.heads import Dueling, Head, Indices, Valued, with_value_head

WITH_VALUE, NORM = "+value", "-norm"


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
    head: Head = Dueling if dueling else with_value_head if valued else nn.Linear
    blocks = re.fullmatch(rf"b(\d{{1,3}})c(\d{{1,5}})({NORM})?(-slim)?(-pairs|-parts)?", body)
    if blocks:
        form = Form(int(blocks[1]), int(blocks[2]), bool(blocks[3]), bool(blocks[4]), blocks[5] == "-pairs")
        by_parts = _checked_parts(parts, shape, outputs) if blocks[5] == "-parts" else None
        return ResidualNet(shape, form, outputs, head, by_parts)
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


def _checked_parts(parts: Indices | None, shape: Sequence[int], outputs: int) -> Indices:
    if parts is None:
        raise InvalidValue(
            f"-parts needs an encoder that says of what parts actions are made; this one, of shape "
            f"{tuple(shape)}, does not"
        )
    return parts[:outputs]


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
