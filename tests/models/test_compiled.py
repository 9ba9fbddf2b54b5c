"""Compiled models: weights are an argument, scratch memory follows the search, code is shared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from plyground.game import module_of_file
from plyground.models.compiled import CompiledModel, handwritten
from plyground.search.minimax import Minimax
from plyground.search.timed import TimedMinimax

LINEAR = Path(__file__).parents[2] / "examples" / "linear_model.py"
ACCUMULATING = Path(__file__).parent / "accumulating.py"
GAMES = ["connect_four", "chess", "paco_sako"]
UNIT = 1 / 4096  # of weights whose sums are exact in any order


def model_of(game: pg.Game, path: Path, seed: int = 0) -> CompiledModel:
    """A model of a file with random weights."""
    model, rng = CompiledModel(game, module_of_file(str(path), "model file")), np.random.default_rng(seed)
    for values in model.arrays.values():
        values[...] = np.round(rng.normal(0, 0.05, values.shape) / UNIT) * UNIT
    return model


def played(game: pg.Game, plies: int) -> pg.Position:
    position, rng = game.start(), np.random.default_rng(1)
    for _ in range(plies):
        position = position.play(int(rng.choice(position.legal())))
    return position


@pytest.mark.parametrize("word", GAMES)
def test_weights_are_an_argument_and_not_a_part_of_the_code(word: str) -> None:
    game = pg.load(word)
    one, other = model_of(game, LINEAR, 0), model_of(game, LINEAR, 1)
    template = "plyground.search.alpha_beta"
    assert vars(one.kernels(template)) is vars(other.kernels(template))
    states = played(game, 6).states
    before = one.judge(states)
    assert before != other.judge(states)
    one.weights[:] = other.weights
    assert one.judge(states) == other.judge(states)


@pytest.mark.compiled
@pytest.mark.parametrize("word", GAMES)
def test_scratch_memory_follows_null_moves_and_turns_of_several_actions(word: str) -> None:
    """The same weights with sums that follow the differences and with sums from nothing: the same search, node by
    node."""
    game = pg.load(word)
    plain, following = model_of(game, LINEAR), model_of(game, ACCUMULATING)
    for name, values in plain.arrays.items():
        following.arrays[name][...] = values
    for plies in (0, 5, 12):
        state = played(game, plies).states
        found = [TimedMinimax(game, nodes=30_000, threads=1, model=model).search(state) for model in (plain, following)]
        assert found[0] == found[1]
        rngs = np.zeros(1, np.uint64)
        fixed = [Minimax(game, 3, model=model, threads=1).search(state, rngs.copy()) for model in (plain, following)]
        assert (fixed[0][0] == fixed[1][0]).all()
        assert (fixed[0][1] == fixed[1][1]).all()


@pytest.mark.compiled
def test_a_search_that_misses_an_update_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison above can fail."""
    game = pg.load("chess")
    plain, following = model_of(game, LINEAR), model_of(game, ACCUMULATING)
    for name, values in plain.arrays.items():
        following.arrays[name][...] = values
    monkeypatch.delitem(following.functions, "update")
    state = played(game, 5).states
    found = [TimedMinimax(game, nodes=30_000, threads=1, model=model).search(state) for model in (plain, following)]
    assert found[0] != found[1]


@pytest.mark.parametrize("word", [*GAMES, "examples/three_in_a_row.py"])
def test_the_games_own_evaluation_is_a_model_without_weights(word: str) -> None:
    game = pg.load(word)
    model, position = handwritten(game), played(game, 4)
    assert model.arrays == {"unused": 0}
    assert model.judge(position.states)[0] == pytest.approx(position.evaluate(), abs=1e-7)
    assert model.option == ""


def test_the_evaluation_by_name_is_what_a_search_has_without_a_name() -> None:
    """A search by time judges by the finer one, named or not."""
    game = pg.load("chess")
    for spec in ("minimax:nodes=3000", "minimax:depth=2"):
        plain, named = pg.agent(spec, game), pg.agent(f"{spec},model=evaluate", game)
        assert isinstance(plain, Minimax | TimedMinimax)
        assert isinstance(named, Minimax | TimedMinimax)
        assert str(plain) == str(named)
        assert plain.model is named.model


def test_a_file_that_is_no_model_is_one_sentence(tmp_path: Path) -> None:
    game = pg.load("connect_four")
    cases = {
        "x = 1": "is no model: it defines no `value",
        "weights = 3": r"weights of .* is a function of the game, not 3",
        "def weights(game): return 3": r"weights\(game\) of .* is a record type, not 3",
    }
    for number, (text, error) in enumerate(cases.items()):
        path = tmp_path / f"model_{number}.py"
        path.write_text(text)
        with pytest.raises(pg.Error, match=error):
            CompiledModel(game, module_of_file(str(path), "model file"))


def test_a_game_without_cells_says_what_to_write() -> None:
    with pytest.raises(pg.Error, match="has no cells: add CELLS"):
        model_of(pg.load("tests/tiny_games/race.py"), LINEAR)
