"""Models that learn by games against themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from plyground.models.files import load_model
from plyground.models.training import learn_by_self_play
from plyground.search.minimax import Minimax

LINEAR = str(Path(__file__).parents[2] / "examples" / "linear_model.py")
ROW = "examples/three_in_a_row.py"

pytestmark = pytest.mark.compiled


def test_a_model_of_ones_own_learns_is_saved_and_plays(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(Path(LINEAR).read_text())
    model = load_model(str(path), ROW)
    with pytest.raises(pg.Error, match="has no weights yet"):
        pg.agent(f"minimax:depth=1,model={path}", ROW)
    assert learn_by_self_play(model, 5000, opening_plies=2) > 20_000
    assert model.save() == tmp_path / "mine.safetensors"
    again = load_model(str(path), ROW, trained=True)
    assert (again.weights == model.weights).all()
    for spec in ("minimax:depth=2", "minimax:nodes=500", "search:sims=50"):
        agent = pg.agent(f"{spec},model={path}", ROW)
        assert str(agent) == f"{spec},model={path}"
        assert pg.match(ROW, agent, "random", games=40).score > 0.8


def test_the_same_seed_gives_the_same_weights_and_learning_helps() -> None:
    game = pg.load("connect_four")
    models = [load_model(LINEAR, game) for _ in range(3)]
    for seed, model in zip((1, 1, 2), models, strict=True):
        learn_by_self_play(model, 4000, seed=seed, opening_plies=8)
    assert (models[0].weights == models[1].weights).all()
    assert (models[0].weights != models[2].weights).all()
    assert pg.match(game, Minimax(game, 1, model=models[0]), "random", games=100).score > 0.75


def test_a_certain_result_is_learned_with_its_sign() -> None:
    """The side that moves next wins at once: its value goes up, that of the position before down."""
    model = load_model(LINEAR, ROW)
    learn_by_self_play(model, 20_000, opening_plies=9, rate=0.02)
    game = pg.load(ROW)
    won, lost = game.position("xx.oo...."), game.position("xx.oo.x..")
    assert model.judge(won.states)[0] > 0.2
    assert model.judge(lost.states)[0] < 0.2
    assert model.judge(won.states)[0] > model.judge(lost.states)[0]


def test_what_cannot_learn_says_why(tmp_path: Path) -> None:
    path = tmp_path / "fixed.py"
    path.write_text(Path(LINEAR).read_text().replace("def learn(", "def teach("))
    with pytest.raises(pg.Error, match=r"defines no `learn\(state, target, rate, weights, scratch\)`"):
        learn_by_self_play(load_model(str(path), ROW), 1)
    with pytest.raises(pg.Error, match="in which nothing is hidden"):
        learn_by_self_play(load_model(LINEAR, "sequence"), 1)
    with pytest.raises(pg.Error, match=r"not games=3, opening_plies=-1, epsilon=0\.1"):
        learn_by_self_play(load_model(LINEAR, ROW), 3, opening_plies=-1)


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "other", "infinite"])
def test_damaged_weights_are_one_sentence(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(Path(LINEAR).read_text())
    model = load_model(str(path), ROW)
    if damage == "infinite":
        model.arrays["table"][0, 0] = np.inf
    file = (load_model(str(path), "connect_four") if damage == "other" else model).save()
    whole = file.read_bytes()
    if damage in ("cut", "empty", "text"):
        file.write_bytes({"cut": whole[:40], "empty": b"", "text": b"weights"}[damage])
    with pytest.raises(pg.Error) as caught:
        load_model(str(path), ROW, trained=True)
    assert len(str(caught.value)) < 400
