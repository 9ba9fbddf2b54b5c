"""A game's own generator of random numbers: 64 bits of state in an array of one, so that compiled code can advance it.

The numbers are those of splitmix64: a counter in large odd steps, and a mixer that scatters it. Every game of a batch
has its own generator, hence results depend on the seed alone: not on threads, nor on the other games.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.errors import InvalidValue, is_whole, shown
from plyground.games.bits import wrapping

Rng = NDArray[np.uint64]  # [1]: the state of one generator

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


def scatter(x: Any) -> Any:
    """Mix 64 bits: a bijection in which each input bit changes about half of the output."""
    x = (x ^ (x >> S30)) * MIX_1
    x = (x ^ (x >> S27)) * MIX_2
    return x ^ (x >> S31)


mix = wrapping(scatter)


@wrapping
def next_bits(rng: Rng) -> np.uint64:
    """The next 64 random bits."""
    rng[0] += STEP
    return mix(rng[0])


@njit
def below(rng: Rng, n: int) -> np.int64:
    """A random integer of 0 .. n - 1, for n below 2**32 (bias under n / 2**32)."""
    return np.int64(((next_bits(rng) >> S32) * np.uint64(n)) >> S32)


@njit
def uniform(rng: Rng) -> np.float64:
    """A random float in [0, 1)."""
    return np.float64(next_bits(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


def seeds(seed: int, n: int) -> NDArray[np.uint64]:
    """`n` generators that start far apart: [n] uint64, each a function of `seed` and its row alone."""
    check_seed(seed)
    with np.errstate(over="ignore"):
        start = scatter(np.uint64(int(seed) % 2**64) + STEP)
        rows = np.arange(n, dtype=np.uint64) * STEP  # [n]
        return scatter(start + rows)


def agent_seeds(seed: int, n: int) -> NDArray[np.uint64]:
    """`n` generators for agents: [n] uint64, far from all that `seeds` makes for games. An agent with the generator of
    its game would know the dice before they fall; so one leads to the other by no calculation."""
    check_seed(seed)
    digest = hashlib.blake2b(f"agents {int(seed)}".encode(), digest_size=8).digest()
    return seeds(int.from_bytes(digest, "little"), n)


def check_seed(seed: int) -> None:
    if not is_whole(seed):
        raise InvalidValue(f"a seed is a whole number, not {shown(seed)}")


def draw(rngs: NDArray[np.uint64], n: NDArray[np.int64]) -> NDArray[np.int64]:
    """`below` without the compiler: [N] a random integer of 0 .. n - 1 from each generator, which it advances."""
    with np.errstate(over="ignore"):
        rngs += STEP
        return (((scatter(rngs) >> S32) * n.astype(np.uint64)) >> S32).astype(np.int64)
