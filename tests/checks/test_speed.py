"""The speed of the rules is measured on every ply that is played."""

from __future__ import annotations

import time

import pytest

import plyground as pg
from plyground.checks.speed import measure_rules, rate, stepper

pytestmark = pytest.mark.compiled


def test_a_step_plays_one_ply_in_every_game(connect_four: pg.Game) -> None:
    step = stepper(connect_four, "planes-v1", 32, 1)
    assert [step() for _ in range(3)] == [32, 32, 32]


def test_the_rate_is_plies_by_the_clock() -> None:
    now = [0.0]

    def step() -> int:
        now[0] += 0.5
        return 10

    assert rate(step, 0.01, lambda: now[0]) == pytest.approx(20.0)


def test_a_measurement_names_what_it_measured(connect_four: pg.Game) -> None:
    began = time.monotonic()
    speed = measure_rules(connect_four, None, 64, 0.1)
    assert (speed["game"], speed["encoder"], speed["batch"]) == ("connect_four", "planes-v1", 64)
    assert speed["plies_per_cpu_second"] > 0
    assert speed["plies_per_second"] > 0
    assert time.monotonic() - began < 60
