"""Spaces, masks and actions of any game as an encoder numbers them; pictures; missing packages."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import plyground as pg
from plyground.errors import InvalidValue

PACKAGES = {
    "spaces": "gymnasium",
    "gymnasium": "gymnasium",
    "pettingzoo": "pettingzoo",
    "onnx": "onnx",
    "openspiel": "pyspiel",
}


@pytest.mark.once
@pytest.mark.parametrize("adapter", PACKAGES)
def test_a_missing_package_is_one_sentence_that_names_the_extra(adapter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, package = f"plyground.interop.{adapter}", PACKAGES[adapter]
    for each in [each for each in sys.modules if each.partition(".")[0] == package or each == name]:
        monkeypatch.delitem(sys.modules, each)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidValue, match=rf"is not installed; .*\[{adapter.replace('spaces', 'gymnasium')}\]"):
        importlib.import_module(name)


WITHOUT_TORCH = """
import sys
sys.modules["torch"] = sys.modules["safetensors"] = None
import plyground as pg
from plyground.interop import gymnasium, openspiel, pettingzoo
env = gymnasium.GameEnv("connect_four", "greedy", render_mode="rgb_array")
env.reset(seed=0)
env.step(3)
state = openspiel.as_spiel_game(pg.load("connect_four")).new_initial_state()
print(env.render().shape, pettingzoo.env("connect_four", render_mode="rgb_array").render().shape, state.legal_actions())
"""


@pytest.mark.peers
def test_environments_need_no_torch() -> None:
    for package in ("gymnasium", "pettingzoo", "pyspiel", "matplotlib"):
        pytest.importorskip(package)
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, check=False)
    assert done.stdout == "(660, 600, 3) (660, 600, 3) [0, 1, 2, 3, 4, 5, 6]\n", done.stderr


@pytest.mark.peers
def test_actions_are_numbered_as_the_encoder_shows_the_board() -> None:
    """Chess planes are turned for Black: the number of e7e5 is that of White's e2e4."""
    pytest.importorskip("gymnasium")
    from plyground.interop.spaces import EncodedGame

    chess = pg.load("chess")
    encoded, white, black = EncodedGame(chess), chess.start(), chess.start().play("e2e4")
    moves = [white.action("e2e4")], [black.action("e7e5")]
    numbers = [encoded.numbers(p.states, np.array(m)) for p, m in zip((white, black), moves, strict=True)]
    assert numbers[0] == numbers[1]
    for position in (white, black):
        legal = np.flatnonzero(encoded.legal_mask(position.states)[0])
        actions = encoded.actions(np.repeat(position.states, len(legal)), legal)
        assert sorted(actions.tolist()) == position.legal()
    outside = np.array([-1, chess.num_actions])
    assert (encoded.actions(np.repeat(black.states, 2), outside) == outside).all()


@pytest.mark.peers
def test_masks_and_spaces_fit_every_game(game: pg.Game) -> None:
    pytest.importorskip("gymnasium")
    from plyground.interop.spaces import EncodedGame

    batch, encoded = pg.Batch(game, 8, seed=1), EncodedGame(game)
    for _ in range(20):
        assert all(seen in encoded.observation_space() for seen in encoded.observe(batch.states))
        masks, actions = encoded.legal_mask(batch.states), batch.random_actions()
        assert (masks.sum(1) == batch.legal_mask().sum(1)).all()
        assert masks[np.arange(8), encoded.numbers(batch.states, actions)].all()
        batch.step(actions)


@pytest.mark.peers
def test_a_picture_shows_the_position_and_a_text_only_what_the_acting_seat_sees() -> None:
    pytest.importorskip("gymnasium")
    from plyground.interop.spaces import render

    start = pg.load("connect_four").start()
    before, after = render(start, "rgb_array"), render(start.play("4"), "rgb_array")
    assert isinstance(before, np.ndarray)
    assert before.dtype == np.uint8
    assert before.shape[2] == 3
    assert (before != after).any()
    position = pg.load("sequence").start(3)
    assert render(position, "ansi") == position.game.rules.observe(position.state, position.seat)
    with pytest.raises(InvalidValue, match="render_mode is one of ansi, rgb_array, not 'human'"):
        render(start, "human")
