"""Positions of unknown origin: what a game writes is known again, forged bytes never reach compiled code."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plyground.checked_states import read_positions, rebuild, without_history
from plyground.checks import laws

pytestmark = pytest.mark.compiled
GAMES = ["chess", "chess:draws=automatic", "connect_four", "paco_sako", "sequence", "sequence:rules=boxed,seats=4"]


@pytest.fixture(params=GAMES, scope="module")
def heads(request: pytest.FixtureRequest) -> tuple[pg.Game, np.ndarray]:
    game = pg.load(request.param)
    states = laws.sample(game, 4, seed=3).states
    return game, game.heads(states[states["outcome"] == 0][:150])


def test_positions_of_games_are_known_again(heads: tuple[pg.Game, np.ndarray]) -> None:
    game, played = heads
    found, good = rebuild(game, played)
    assert good.all(), "whatever their history is"
    told = without_history(game, played)
    assert found.tobytes() == told.tobytes()
    states, rows, wrong = read_positions(game, [game.rules.text(head) for head in played])
    assert (game.heads(states).tobytes(), rows.tolist(), wrong) == (told.tobytes(), list(range(len(played))), {})


def test_of_changed_bytes_only_positions_are_left(heads: tuple[pg.Game, np.ndarray]) -> None:
    game, played = heads
    rng, forged = np.random.default_rng(1), np.concatenate([played, played])
    content = forged.view(np.uint8).reshape(len(forged), -1)
    for row in content:
        row[rng.integers(len(row), size=rng.integers(1, 3))] ^= rng.integers(1, 256, dtype=np.uint8)
    random = np.frombuffer(rng.bytes(100 * played.dtype.itemsize), played.dtype)
    found, good = rebuild(game, np.concatenate([forged, random]))
    assert not good[len(forged) :].any()
    assert not good.all()
    for head in found[good]:
        again = game.position(game.rules.text(head)).states
        assert game.heads(again).tobytes() == head.tobytes()


@pytest.mark.parametrize(
    ("word", "field", "value"),
    [
        ("chess", "to_move", 7),
        ("chess", "sides", 0),
        ("chess", "pinned", 1),  # what follows from the rest is computed, not believed
        ("connect_four", "stones", 2**63),
        ("connect_four", "to_move", -100),
        ("sequence", "deck_size", 127),
        ("sequence", "turn", 100),
        ("paco_sako", "required", 99),
        ("paco_sako", "planes", 2**64 - 1),
    ],
)
def test_a_forged_field_is_refused(word: str, field: str, value: int) -> None:
    game = pg.load(word)
    head = game.heads(game.start().states)
    head[field] = value
    assert not rebuild(game, head)[1][0]
