"""An encoder over a batch."""

from __future__ import annotations

import math

import numpy as np

import plyground as pg


def test_the_seat_to_act_or_a_given_seat_observes(game: pg.Game) -> None:
    batch = pg.Batch(game, 7, seed=2)
    batch.random_play(5)
    encoder = game.encoder()
    kernels, size = game.encode_kernels(encoder), math.prod(encoder.shape)
    shown, same, other = (np.full((7, size), 99, encoder.dtype) for _ in range(3))
    seats = np.array([batch.position(row).seat for row in range(7)], np.int32)
    kernels.encode_all(batch.states, shown)
    kernels.encode_for(batch.states, seats, same)
    kernels.encode_for(batch.states, (seats + 1) % game.rules.SEATS, other)
    assert (shown == same).all()
    one = np.full(size, 99, encoder.dtype)
    for row in range(7):
        encoder.write(batch.states[row], int(seats[row]), one)
        assert (shown[row] == one).all()
    assert (shown != other).any() or game.label == "hops"  # both sides see the same token there


def test_outputs_are_a_permutation_of_the_actions_for_every_seat(game: pg.Game) -> None:
    slots = game.slots(str(game.encoder()))
    assert slots.shape == (game.rules.SEATS, game.num_actions)
    assert (np.sort(slots, axis=1) == np.arange(game.num_actions)).all()
