"""Streams of games: environments that any actor can continue, because what they are at a moment fits into bytes.

A stream is played block by block. What it is between two blocks (the games, their generators, the plies of unfinished
games) travels with it, so that an actor owns nothing: a block depends on the stream, the weights and its number alone,
whoever plays it, and a block whose actor died is played again by another one, to the same bytes.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import safetensors.numpy
import torch
from torch import Tensor

from plyground.backend.parts import Arrays, Parts, dump, restore
from plyground.cluster.blocks import BOOTSTRAPPED, ENDED, EXPLORED, NEXT_SIDE, USABLE, Columns
from plyground.games.rng import seeds
from plyground.learners.replay import ReplayBuffer
from plyground.learners.selfplay import SelfPlay

PLAIN = "plain"  # in the metadata of safetensors: all values that are not tensors


class Player(Protocol):
    """What plays the blocks of a learner's streams; each learner has one, in a file of its name."""

    games: SelfPlay
    rng: torch.Generator

    def weights(self) -> Parts:
        """The parts that the learner broadcasts."""
        ...

    def play(self, progress: float) -> Columns:
        """A block of plies, after the share `progress` of the run."""
        ...

    def unfinished(self) -> Columns:
        """The plies that later blocks need."""
        ...

    def resume(self, unfinished: Columns) -> None:
        """Continue with such plies."""
        ...


class Sink(Protocol):
    """What stores the plies that players have played, and learns from them; each learner has one."""

    learner: Any

    def weights(self) -> Parts:
        """The parts that the players' networks become."""
        ...

    def add_row(self, plies: Columns) -> Any:
        """Store a ply for each environment and make the updates that are due; returns metrics."""
        ...

    def share(self, updates: Updates) -> None:
        """Share all updates with other processes from now on."""
        ...

    def compute_gradients(self, part: Sequence[Tensor], numbers: Sequence[float]) -> None:
        """The gradients of a part of a minibatch that the learner has divided."""
        ...


class Updates(Protocol):
    """How a minibatch is divided among learner processes: see `parallel.py`."""

    def divide(self, batch: Sequence[Tensor], numbers: Sequence[float]) -> list[Tensor]: ...

    def add_up(self) -> None: ...


# ---- parts as bytes ----


def to_bytes(parts: Parts) -> bytes:
    """Parts (see `backend/parts.py`) as safetensors; what is not a tensor as JSON in its metadata."""
    arrays: Arrays = {}
    plain: dict[str, Any] = {}
    for name, part in parts.items():
        dump(name, part, arrays, plain)
    whole = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    return safetensors.numpy.save(whole, {PLAIN: json.dumps(plain)})


def from_bytes(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    """The tensors and the other values of parts."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    return safetensors.numpy.load(data), json.loads(header["__metadata__"][PLAIN])


def load_parts(parts: Parts, data: bytes) -> None:
    """Put what `to_bytes` wrote back into parts, in place."""
    arrays, plain = from_bytes(data)
    for name, part in parts.items():
        restore(name, part, arrays, plain)


# ---- streams ----


def begin_stream(player: Player, seed: int, stream: int) -> None:
    """New games in every environment, from a seed that belongs to this stream alone."""
    games, own = player.games, int(seeds(seed, stream + 1)[stream] >> np.uint64(1))
    player.rng.manual_seed(own)
    games.batch.rngs.copy_(torch.from_numpy(seeds(own, len(games.batch))))
    games.seed_agents(own)
    games.batch.reset()
    for tensor in (games.opponent, games.snapshot, games.side):
        tensor.zero_()
    games.begin_games(torch.ones_like(games.side, dtype=torch.bool))
    player.resume({})


def pack_stream(player: Player) -> bytes:
    """What a stream is between two blocks."""
    return to_bytes({"games": player.games, "rng": player.rng, "unfinished": player.unfinished()})


def unpack_stream(player: Player, data: bytes) -> None:
    """Continue a stream that `pack_stream` has packed."""
    arrays, plain = from_bytes(data)
    restore("games", player.games, arrays, plain)
    restore("rng", player.rng, arrays, plain)
    prefix = "unfinished."
    player.resume({name.removeprefix(prefix): each for name, each in arrays.items() if name.startswith(prefix)})


# ---- between replay buffers and columns ----


def plies_at(replay: ReplayBuffer, indices: Tensor) -> Columns:
    """The columns that all blocks have, of plies [M]."""
    stored = replay.plies
    flags = replay.at(stored.ended, indices).to(torch.uint8)
    for bit, ring in ((EXPLORED, stored.explored), (USABLE, replay.usable), (NEXT_SIDE, stored.next_sides)):
        flags |= bit * replay.at(ring, indices).to(torch.uint8)
    columns = {
        "states": replay.at(replay.states, indices),
        "actions": replay.at(replay.actions, indices),
        "rewards": replay.at(stored.rewards, indices),
        "flags": flags,
    }
    return {name: values.cpu().numpy() for name, values in columns.items()}


def to_rings(replay: ReplayBuffer, plies: Columns) -> dict[str, Tensor]:
    """Plies [M] as values of a replay buffer's rings, by name, on its device."""
    games, flags = replay.games, torch.from_numpy(plies["flags"].copy())
    device = games.device
    states = torch.from_numpy(plies["states"].copy()).to(device)
    next_states = plies.get("next_states")
    found = {
        "actions": torch.from_numpy(plies["actions"].copy()),
        "rewards": torch.from_numpy(plies["rewards"].copy()),
        "ended": flags & ENDED,
        "explored": (flags & EXPLORED) != 0,
        "usable": (flags & USABLE) != 0,
        "next_sides": ((flags & NEXT_SIDE) != 0).to(torch.int8),
        "decided": torch.zeros(len(flags), dtype=torch.bool),
    }
    after = states if next_states is None else torch.from_numpy(next_states.copy()).to(device)
    moved = {name: values.to(device) for name, values in found.items()}
    return {**moved, "states": states, "next_states": after, "sides": games.field(states, "to_move")}


def bootstrapped(flags: Any, where: Any) -> Any:
    """Flags [M] with BOOTSTRAPPED where `where` [M] is set."""
    return flags | np.where(where, np.uint8(BOOTSTRAPPED), np.uint8(0))
