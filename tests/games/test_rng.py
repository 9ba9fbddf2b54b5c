"""The generator: known numbers, fair draws, seeds that lie apart."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from conftest import JIT
from plyground.errors import InvalidValue
from plyground.games.rng import below, next_bits, seeds, uniform

M64 = 2**64 - 1


def naive_splitmix(state: int) -> tuple[int, int]:
    """The published recipe with Python's own integers."""
    state = (state + 0x9E3779B97F4A7C15) & M64
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return state, z ^ (z >> 31)


@pytest.mark.filterwarnings("error")  # with the compiler off, numpy must not warn of what overflows on purpose
def test_the_numbers_are_those_of_splitmix64() -> None:
    rng, state = np.array([1234567], np.uint64), 1234567
    numbers: list[int] = []
    for _ in range(5):
        state, expected = naive_splitmix(state)
        assert int(next_bits(rng)) == expected
        numbers.append(expected)
    assert numbers == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_draws_are_fair() -> None:
    rng, draws = np.array([5], np.uint64), 70_000 if JIT else 3500
    counts = np.bincount([int(below(rng, 7)) for _ in range(draws)], minlength=7)
    assert len(counts) == 7
    chi_square = ((counts - draws / 7) ** 2 / (draws / 7)).sum()
    assert chi_square < 22.5  # six degrees of freedom: 99.9% lie below
    floats = [float(uniform(rng)) for _ in range(2000)]
    assert min(floats) >= 0
    assert max(floats) < 1
    assert abs(np.mean(floats) - 0.5) < 0.03


def test_seeds_differ_and_do_not_depend_on_how_many_are_asked_for() -> None:
    many = seeds(3, 10_000)
    assert len(np.unique(many)) == 10_000
    assert (seeds(3, 10) == many[:10]).all()
    assert not (seeds(4, 10) == many[:10]).any()
    assert (seeds(-1, 2) == seeds(2**64 - 1, 2)).all()


@pytest.mark.parametrize("wrong", [None, "a", "5", 1.5, True])
def test_a_seed_is_a_whole_number(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match=f"^a seed is a whole number, not {wrong!r}$"):
        seeds(wrong, 3)
    assert (seeds(cast(int, np.int64(5)), 3) == seeds(5, 3)).all()
