"""Rules as plain Python do what compiled rules do, and nothing compiles."""

from __future__ import annotations

import random

import pytest
from numba.core import event

import plyground as pg
from conftest import ROOT
from plyground.games.interpreted import Interpreted

pytestmark = pytest.mark.compiled
WORDS = ["connect_four", "chess", "paco_sako", "sequence", "sequence:rules=boxed,seats=4"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.filterwarnings("error")
def test_interpreted_and_compiled_games_are_the_same_bit_for_bit(word: str) -> None:
    compiled, plain, numbers = pg.load(word), pg.load(word), random.Random(1)
    plain.interpret()
    for seed in range(3):
        ours, theirs = compiled.start(seed), plain.start(seed)
        for _ in range(60):
            if ours.over:
                break
            with event.install_recorder("numba:compile") as found:
                legal, seat = theirs.legal(), theirs.seat
                action = numbers.choice(legal)
                theirs = theirs.play(action)
            assert not found.buffer, "nothing was compiled"
            assert (legal, seat) == (ours.legal(), ours.seat)
            ours = ours.play(action)
            assert ours.states.tobytes() == theirs.states.tobytes()
            assert ours.rngs == theirs.rngs


def test_random_plays_without_a_compiler() -> None:
    game = pg.load("paco_sako")
    game.interpret()
    with event.install_recorder("numba:compile") as found:
        assert game.start().ask(pg.agent("random", game)) in game.start().legal()
    assert not found.buffer


def test_a_game_is_compiled_in_the_end() -> None:
    game = pg.load("chess")
    game.interpret()
    assert isinstance(game.kernels(), Interpreted)
    game.compile()
    assert not isinstance(game.kernels(), Interpreted)


def test_a_game_of_ones_own_is_compiled_first() -> None:
    game = pg.load(ROOT / "examples" / "three_in_a_row.py")
    game.interpret()
    assert not isinstance(game.kernels(), Interpreted)
