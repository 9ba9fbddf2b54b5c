"""Blocks: what actors send to the learner, as bytes of our own with a checked header.

A block holds plies: heads of states, actions, rewards and flags, and what the learner needs besides: sparse policies
and values (AlphaZero), or log-probabilities, values and the few next states that are bootstrapped from (PPO). Nothing
in it is pickled; a block that was cut short, changed, or made for another game is refused.

    header   magic, format, kind, rules' fingerprint, block, stream and weights numbers, counts, length, SHA-256
    columns  one after the other, as `columns_of` lists them; little-endian
    results  how the games ended that ended in this block, as JSON
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.kernels.replay import TRUNCATED
from plyground.runs.fingerprints import rules_fingerprint
from plyground.runs.records import fit

MAGIC, FORMAT = b"PLYBLOCK", 1
HEADER = struct.Struct("<8sHH16sQQIIIIIQ32s")
CHECKSUM = 32  # bytes of SHA-256, at the end of the header
KINDS = ("alphazero", "ppo")
MOST_PLIES = 1 << 26  # of a block: a header that counts more is not believed

ENDED, EXPLORED, USABLE, NEXT_SIDE, BOOTSTRAPPED = 0b11, 0b100, 0b1000, 0b10000, 0b100000  # bits of `flags`

Columns = dict[str, NDArray[Any]]


class DamagedBlock(InvalidValue):
    """Bytes that are no block of this version, of this game."""


class Column(NamedTuple):
    """A column of a block: `width` numbers for each ply, each edge of a policy or each bootstrapped state."""

    name: str
    dtype: np.dtype[Any]
    counted: str  # plies, edges or tails
    width: int = 1


@dataclass(frozen=True)
class Block:
    """Plies of one stream of games. All columns have a row for each ply: `policy` and `policy_actions` [M, E] are 0
    where there is none, `next_states` [M, bytes] are zeros where the flag BOOTSTRAPPED is not set."""

    stream: int
    number: int
    """of all blocks of a run"""
    weights: int
    """version of the network that played"""
    plies: Columns
    results: dict[str, dict[str, int]]
    """`counts` and `reasons` of the games that ended, as `GameResults` counts them"""

    def __len__(self) -> int:
        return len(self.plies["flags"])


def columns_of(kind: str, game: Game) -> list[Column]:
    """The columns of a block, in their order."""
    head = game.rules.HEAD.itemsize
    found = [
        Column("states", np.dtype("u1"), "plies", head),
        Column("actions", np.dtype("<i4"), "plies"),
        Column("rewards", np.dtype("<f4"), "plies"),
        Column("flags", np.dtype("u1"), "plies"),
        Column("values", np.dtype("<f4"), "plies"),
    ]
    if kind == "ppo":
        logs = Column("log_probs", np.dtype("<f4"), "plies")
        return [*found, logs, Column("next_states", np.dtype("u1"), "tails", head)]
    return [
        *found,
        Column("edges", np.dtype("u1"), "plies"),
        Column("policy_actions", action_type(game), "edges"),
        Column("policy", np.dtype("<f2"), "edges"),
    ]


def action_type(game: Game) -> np.dtype[Any]:
    """Two bytes for each action of a policy, where that is enough."""
    return np.dtype("<i2" if game.num_actions < 2**15 else "<i4")


# ---- to bytes ----


def encode(block: Block, kind: str, game: Game) -> bytes:
    """A block as bytes."""
    packed = _pack(block.plies, kind)
    counts = {"plies": len(block), "edges": len(packed.get("policy", ())), "tails": len(packed.get("next_states", ()))}
    body = [packed[name].astype(dtype, copy=False).tobytes() for name, dtype, _, _ in columns_of(kind, game)]
    results = json.dumps(block.results).encode()
    rest = b"".join([*body, results])
    head = (MAGIC, FORMAT, KINDS.index(kind), _fingerprint(game), block.number, block.weights, block.stream)
    sizes = (counts["plies"], counts["edges"], counts["tails"], len(results), HEADER.size + len(rest))
    header = HEADER.pack(*head, *sizes, bytes(CHECKSUM))[:-CHECKSUM]
    return header + _checksum(header, rest) + rest


def _pack(plies: Columns, kind: str) -> Columns:
    """Only what is there: the edges of each policy in a row, the next states that are bootstrapped from."""
    if kind == "ppo":
        return {**plies, "next_states": plies["next_states"][(plies["flags"] & BOOTSTRAPPED) != 0]}
    there = plies["policy"] > 0  # [M, E]
    lists = {name: plies[name][there] for name in ("policy", "policy_actions")}
    return {**plies, **lists, "edges": there.sum(1).astype(np.uint8)}


# ---- from bytes ----


def decode(data: bytes, kind: str, game: Game) -> Block:
    """The block that bytes hold; raises DamagedBlock if they are not one of this kind and game."""
    if len(data) < HEADER.size:
        raise DamagedBlock(f"a block has a header of {HEADER.size} bytes; these are {len(data)} bytes")
    magic, form, code, fingerprint, number, weights, stream, *counts, size, length, checksum = HEADER.unpack(
        data[: HEADER.size]
    )
    if magic != MAGIC or form != FORMAT:
        raise DamagedBlock(f"bytes begin with {magic!r}, format {form}; a block with {MAGIC!r}, format {FORMAT}")
    if length != len(data):
        raise DamagedBlock(f"block {number} has {length} bytes; {len(data)} have arrived")
    rest = data[HEADER.size :]
    if checksum != _checksum(data[: HEADER.size - CHECKSUM], rest):
        raise DamagedBlock(f"block {number} was changed on its way: its SHA-256 differs")
    if code != KINDS.index(kind) or fingerprint != _fingerprint(game):
        raise DamagedBlock(f"block {number} was not played for {kind} on {game} with the rules of this version")
    packed, used = _read(rest, dict(zip(("plies", "edges", "tails"), counts, strict=True)), kind, game)
    if used + size != len(rest):
        raise DamagedBlock(f"block {number} has {len(rest)} bytes after its header, not the {used + size} it counts")
    plies = _unpack(packed, kind, game)
    _check(plies, number, game)
    return Block(stream, number, weights, plies, _results(rest[used:], number))


def _read(rest: bytes, counts: dict[str, int], kind: str, game: Game) -> tuple[Columns, int]:
    """The columns as they were sent, and how many bytes they are."""
    found: Columns = {}
    used = 0
    for name, dtype, counted, width in columns_of(kind, game):
        total = counts[counted] * width
        if counts[counted] > MOST_PLIES * 64 or used + total * dtype.itemsize > len(rest):
            raise DamagedBlock(f"a block counts {counts[counted]} {counted}, more than its bytes hold")
        values = np.frombuffer(rest, dtype, total, used)
        found[name] = values.reshape(-1, width) if width > 1 else values
        used += total * dtype.itemsize
    return found, used


def _unpack(packed: Columns, kind: str, game: Game) -> Columns:
    """A row for each ply."""
    if kind == "ppo":
        there = (packed["flags"] & BOOTSTRAPPED) != 0
        if there.sum() != len(packed["next_states"]):
            raise DamagedBlock("a block's flags do not fit its next states")
        whole = np.zeros((len(there), game.rules.HEAD.itemsize), np.uint8)
        whole[there] = packed["next_states"]
        return {**packed, "next_states": whole}
    edges, most = packed["edges"], min(255, game.rules.MAX_LEGAL)
    if int(edges.sum(dtype=np.int64)) != len(packed["policy"]) or (len(edges) and edges.max() > most):
        raise DamagedBlock("a block's policies do not fit their lengths")
    width = int(edges.max(initial=1))
    there = np.arange(width) < edges[:, None]  # [M, E]
    found = {name: np.zeros(there.shape, packed[name].dtype) for name in ("policy", "policy_actions")}
    for name, whole in found.items():
        whole[there] = packed[name]
    return {**{name: values for name, values in packed.items() if name != "edges"}, **found}


def _check(plies: Columns, number: int, game: Game) -> None:
    """Refuse numbers that no player writes."""
    for name in ("actions", "policy_actions"):
        values = plies.get(name, np.zeros(1))
        if len(values) and (values.min() < 0 or values.max() >= game.num_actions):
            raise DamagedBlock(f"block {number} holds {name} that {game} does not have")
    for name in ("rewards", "values", "log_probs", "policy"):
        if not np.isfinite(plies.get(name, np.zeros(1))).all():
            raise DamagedBlock(f"block {number} holds {name} that are not finite")
    if ((plies["flags"] & ENDED) > TRUNCATED).any():
        raise DamagedBlock(f"block {number} holds flags that no player writes")


def _results(text: bytes, number: int) -> dict[str, dict[str, int]]:
    try:
        return fit(json.loads(text.decode()), dict[str, dict[str, int]], "results")
    except (ValueError, RecursionError, InvalidValue) as error:
        raise DamagedBlock(f"block {number} has results that cannot be read: {error}") from None


def _checksum(header: bytes, rest: bytes) -> bytes:
    found = hashlib.sha256(header)
    found.update(rest)
    return found.digest()


def _fingerprint(game: Game) -> bytes:
    """Of the rules, 16 bytes."""
    return hashlib.sha256(rules_fingerprint(game).encode()).digest()[:16]
