"""Data-parallel updates: several learner processes share each minibatch, by torch's own distributed package.

The first process is the learner: it samples, sends its weights and a part of the minibatch to each of the others, adds
their gradients to its own and makes the optimizer's step. The others keep nothing between two updates, so that
checkpoints, schedules and rollbacks are the learner's alone. Bytes for each update and process: the weights out, the
gradients back (as much as an all-reduce), and the part of the minibatch. Only tensors are sent, never objects.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from plyground.backend import device as devices
from plyground.cluster.players import make_sink
from plyground.cluster.streams import Sink, from_bytes, to_bytes
from plyground.errors import Error, shorten
from plyground.kernels import threads
from plyground.learners import find_learner
from plyground.runs.settings import build

PATIENCE = timedelta(minutes=10)  # without an answer of another process; evaluations take minutes
INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


class Group(NamedTuple):
    """Where learner processes meet, and which one this is."""

    place: str  # file:///path on one machine, tcp://host:port elsewhere
    rank: int
    size: int
    device: str


def join(group: Group) -> None:
    """Meet the other processes; on one machine by way of the loopback alone."""
    names = INTERFACES if group.place.startswith("file:") else ()
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "lo"))
    try:
        backend = devices.group_backend(group.device)
        dist.init_process_group(
            backend, init_method=group.place, rank=group.rank, world_size=group.size, timeout=PATIENCE
        )
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def leave() -> None:
    with suppress(RuntimeError, ValueError):  # it has ended already
        dist.destroy_process_group()


# ---- the learner ----


class SharedUpdates:
    """The first process: divides minibatches and adds up gradients."""

    def __init__(self, sink: Sink, group: Group) -> None:
        self.size, self.network = group.size, sink.learner.model.network
        join(group)
        sink.share(self)

    def divide(self, batch: Sequence[Tensor], numbers: Sequence[float]) -> list[Tensor]:
        """Send each other process the weights, its part of a minibatch [B, ...] and numbers; returns our own part."""
        fields = [torch.tensor_split(field, self.size) for field in batch]
        with _one_sentence():
            for rank in range(1, self.size):
                part = {str(place): parts[rank] for place, parts in enumerate(fields)}
                _send(to_bytes({"part": part, "numbers": torch.tensor(numbers, dtype=torch.float64)}), rank)
            dist.broadcast(_flat(self.network.parameters()), 0)
        return [parts[0] for parts in fields]

    def add_up(self) -> None:
        """Add the gradients of the others to ours."""
        total = _flat(_gradients(self.network))
        with _one_sentence():
            dist.reduce(total, 0)
        _copy_back(total, _gradients(self.network))

    def close(self) -> None:
        """Let the others end."""
        with suppress(RuntimeError, ValueError):  # those that have died
            for rank in range(1, self.size):
                _send(b"", rank)
        leave()


# ---- the others ----


class Helper:
    """What runs in a further learner process."""

    def __init__(self, learner: str, settings: Mapping[str, Any]) -> None:
        """It computes with as many torch threads as the settings say, so it reserves as many CPUs."""
        threads.limit(settings["threads"] or 1)
        config = build(find_learner(learner).config, settings, "a learner process's settings")
        self.sink = make_sink(learner, config)

    def ready(self) -> bool:
        """Whether it was made: the learner asks before it waits for the group, which nothing can interrupt."""
        return True

    def help(self, where: tuple[Any, ...]) -> None:
        """Compute gradients until the learner lets us end; `where` are the fields of a `Group`."""
        _help(self.sink, Group(*where))


def help_learner(learner: str, settings: Mapping[str, Any], where: tuple[Any, ...]) -> None:
    """The same in a process of this machine."""
    Helper(learner, settings).help(where)


def _help(sink: Sink, group: Group) -> None:
    network = sink.learner.model.network
    join(group)
    try:
        while data := _receive():
            weights = _flat(network.parameters())
            dist.broadcast(weights, 0)
            _copy_back(weights, network.parameters())
            network.zero_grad(set_to_none=True)
            arrays, _ = from_bytes(data)
            numbers: list[float] = arrays.pop("numbers").tolist()
            part = [torch.from_numpy(arrays[f"part.{place}"]).to(weights.device) for place in range(len(arrays))]
            if len(part[0]):
                sink.compute_gradients(part, numbers)
            dist.reduce(_flat(_gradients(network)), 0)
    finally:
        leave()


# ---- messages ----


def _device() -> torch.device:
    """Where tensors must be that are sent."""
    return devices.of_group(dist.get_backend())


def _send(data: bytes, rank: int) -> None:
    dist.send(torch.tensor([len(data)], device=_device()), rank)
    if data:
        dist.send(torch.frombuffer(bytearray(data), dtype=torch.uint8).to(_device()), rank)


def _receive() -> bytes:
    """What the learner has sent; nothing at the end."""
    length = torch.zeros(1, dtype=torch.int64, device=_device())
    dist.recv(length, 0)
    data = torch.zeros(int(length), dtype=torch.uint8, device=_device())
    if len(data):
        dist.recv(data, 0)
    return data.cpu().numpy().tobytes()


def _gradients(network: nn.Module) -> list[Tensor]:
    """Of all weights; zeros where there are none yet."""
    for each in network.parameters():
        each.grad = torch.zeros_like(each) if each.grad is None else each.grad
    return [each.grad for each in network.parameters() if each.grad is not None]


def _flat(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat([each.detach().reshape(-1) for each in tensors])


def _copy_back(flat: Tensor, tensors: Iterable[Tensor]) -> None:
    """A flat tensor into the tensors that it was made of."""
    place = 0
    with torch.no_grad():
        for each in tensors:
            each.copy_(flat[place : place + each.numel()].view_as(each))
            place += each.numel()


@contextmanager
def _one_sentence() -> Generator[None]:
    """What torch's distributed package says, in one."""
    try:
        yield
    except RuntimeError as error:
        why = shorten(str(error).splitlines()[0], 200)
        raise Error(f"another learner process does not answer ({why}): resume the run") from error
