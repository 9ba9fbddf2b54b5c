"""Streams of games, which any actor can continue, because what they are at a moment is a dict of arrays.

A stream is played block by block. What it is between two blocks (the games, their generators, the plies of unfinished
games) travels with it, so that an actor owns nothing: a block depends on the stream, the weights and its number alone,
whoever plays it, and a block whose actor died is played again by another one, to the same arrays.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
import safetensors.numpy
import torch

from plyground.agents.turns import Turns
from plyground.backend.parts import Arrays, below, dump, restore
from plyground.cluster.alphazero import DistributedAlphaZero
from plyground.cluster.ppo import DistributedPPO
from plyground.errors import unknown
from plyground.games.rng import seeds

Distributed = DistributedAlphaZero | DistributedPPO
"""a learner that can be spread over a cluster: in an actor, or in the learner's own process"""


def distributed(learner: str, config: Any, rows: int = 0) -> Distributed:
    """The learner of this name; see DistributedAlphaZero."""
    kinds = {"alphazero": DistributedAlphaZero, "ppo": DistributedPPO}
    if learner not in kinds:
        raise unknown("learner on a cluster", learner, kinds)
    return kinds[learner](config, rows)


# ---- weights ----


def weights_of(own: Distributed) -> bytes:
    """The weights as safetensors."""
    arrays: Arrays = {}
    for name, part in own.weights().items():
        dump(name, part, arrays, {})
    return safetensors.numpy.save({name: np.ascontiguousarray(values) for name, values in arrays.items()})


def load_weights(own: Distributed, data: bytes) -> None:
    """Play with what `weights_of` returned."""
    arrays = safetensors.numpy.load(data)
    count = len({name.split(".")[1] for name in arrays if name.startswith("snapshots.")})
    for name, part in own.weights().items():
        restore(name, part, arrays, {"snapshots.count": count})


# ---- streams ----


def begin(own: Distributed, seed: int, stream: int) -> None:
    """New games in every environment, from a seed that belongs to this stream alone."""
    games, of_stream = own.games, int(seeds(seed, stream + 1)[stream] >> np.uint64(1))
    own.rng.manual_seed(of_stream)
    games.batch.rngs.copy_(torch.from_numpy(seeds(of_stream, len(games.batch))))
    games.seed_agents(of_stream)
    games.turns = Turns()
    games.batch.reset()
    for tensor in (games.opponent, games.snapshot, games.side):
        tensor.zero_()
    games.begin_games(torch.ones_like(games.side, dtype=torch.bool))
    own.resume({})


def pack(own: Distributed) -> Arrays:
    """What the stream is that was played last."""
    arrays: Arrays = {}
    for name, part in {"games": own.games, "rng": own.rng, "unfinished": own.unfinished()}.items():
        dump(name, part, arrays, {})
    return arrays


def unpack(own: Distributed, stream: Arrays) -> None:
    """Continue a stream."""
    restore("games", own.games, stream, {})
    restore("rng", own.rng, stream, {})
    own.resume(below("unfinished", stream))
