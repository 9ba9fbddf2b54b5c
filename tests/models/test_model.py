"""What every kind of model keeps: copies, weights by name, a judgement, what its checkpoints belong to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.agents.agent import ask
from plyground.agents.registry import agent_of
from plyground.backend.view import View
from plyground.games.rng import seeds
from plyground.learners import LEARNERS
from plyground.models import table
from plyground.models.files import load_model
from plyground.models.model import KINDS, kind_of, of_config
from plyground.models.network import NetworkModel
from plyground.models.sparse import Sparse
from plyground.runs import fingerprints
from plyground.search.tree_config import SearchConfig
from plyground.search.tree_search import TreeSearch

pytestmark = pytest.mark.compiled
LINEAR = str(Path(__file__).parents[2] / "examples" / "linear_model.py")
ROW = str(Path(__file__).parents[2] / "examples" / "three_in_a_row.py")
NETWORK = {"encoder": "planes-v1", "network": "8+value", "outputs": 9}


@pytest.fixture(scope="module")
def three() -> pg.Game:
    return pg.load(ROW)


def network(game: pg.Game, seed: int) -> Any:
    torch.manual_seed(seed)
    return NetworkModel.make(View(game, "planes-v1"), "8+value")


def learned_table(game: pg.Game, seed: int) -> Any:
    """A table after some random games."""
    model = table.of_config({**asdict(LEARNERS["tabular"].config()), "alpha": 0.5}, game)
    model.rule = model.rule._replace(epsilon=1.0)
    updates, scratch = model.table.updates(32), model.table.scratch()
    batch = pg.Batch(game, 32, seed=seed)
    for _ in range(100):
        games = model.table.games(batch.states, np.arange(32), batch.rngs, np.empty(32, np.int32))
        model.table.learn(games, model.rule, updates, scratch)
        ended = batch.step(games.actions).terminated
        model.table.end_games(np.flatnonzero(ended), batch.next_states["outcome"][ended], model.rule, updates)
    return model


def linear(game: pg.Game, seed: int) -> Any:
    model = load_model(LINEAR, game)
    model.arrays["table"][...] = np.random.default_rng(seed).normal(0, 0.1, model.arrays["table"].shape)
    return model


def sparse(game: pg.Game, seed: int) -> Any:
    model, rng = Sparse(game, 32), np.random.default_rng(seed)
    floats = model.floats()
    for name in floats.dtype.names or ():
        floats[name] = rng.normal(0, 0.3, floats[name].shape)
    model.quantise(floats)
    return model


MODELS = {"network": network, "table": learned_table, "linear": linear, "sparse": sparse}


def states_of(game: pg.Game, n: int) -> Any:
    batch = pg.Batch(game, n, seed=3)
    batch.random_play(2)
    return batch.states


@pytest.mark.parametrize("name", MODELS)
def test_a_copy_keeps_the_weights_of_its_time(name: str, three: pg.Game) -> None:
    model, other, states = MODELS[name](three, 1), MODELS[name](three, 2), states_of(three, 64)
    before, kept = model.judge(states), model.copy()
    assert (np.abs(before) <= 1).all()
    assert len(np.unique(before)) > 1
    model.load_state({key: np.array(values) for key, values in other.state().items()})
    assert (model.judge(states) == other.judge(states)).all()
    assert (model.judge(states) != before).any()
    if name == "table":  # a copy of a table is a prefix of its entries: it belongs to the table as it grows
        return
    assert (kept.judge(states) == before).all()
    kept.take(model)
    assert (kept.judge(states) == other.judge(states)).all()


def test_a_table_as_it_was_plays_as_it_did_while_the_table_learns(three: pg.Game) -> None:
    model, states = learned_table(three, 1), states_of(three, 64)
    kept, before = model.copy(), model.judge(states)
    model.table.entries.values[: len(model)] += 0.25
    assert (kept.judge(states) == before).all()
    assert (model.judge(states) != before).any()
    kept.take(model)
    assert (kept.judge(states) == model.judge(states)).all()
    assert "2 entries" not in kept.words


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_another_model_are_refused(name: str, three: pg.Game) -> None:
    model = MODELS[name](three, 1)
    wrong = {key: np.zeros((3, 1), np.int8) for key in model.state()}
    for state in (wrong, {}, {**{key: np.array(value) for key, value in model.state().items()}, "more": np.zeros(1)}):
        if name == "table" and "more" in state:
            continue  # what a table does not know it does not read
        with pytest.raises(pg.InvalidValue):
            model.load_state(state)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_plays_has_an_identity_and_fingerprints(name: str, three: pg.Game) -> None:
    model, states = MODELS[name](three, 1), states_of(three, 8)
    assert model.identity["game"] == str(three)
    found = fingerprints.of_model(model)
    assert all(found.values())
    assert set(found) > {"rules"}
    actions = ask(agent_of(model), three, states.copy(), seeds(0, 8))
    assert all(int(action) in pg.Position(three, states[k : k + 1]).legal() for k, action in enumerate(actions))
    assert model.words


def test_a_config_says_what_kind_of_model_its_run_learns(three: pg.Game) -> None:
    settings = asdict(LEARNERS["tabular"].config())
    assert (kind_of(NETWORK), kind_of(settings), kind_of({"game": "chess"})) == ("network", "table", "")
    assert kind_of(asdict(LEARNERS["td"].config())) == "ntuple"
    assert kind_of(asdict(LEARNERS["sparse"].config())) == "sparse"
    assert set(KINDS) == {"network", "table", "ntuple", "sparse"}
    assert of_config(NETWORK, three).identity == network(three, 0).identity
    with pytest.raises(
        pg.InvalidValue,
        match="does not say what was learned: it has key, or tuples and length, or units, or network and encoder",
    ):
        of_config({"game": "three"}, three)
    del settings["gamma"]
    with pytest.raises(pg.InvalidValue, match=r"config\.toml does not say 'gamma'"):
        of_config(settings, three)


def test_a_network_of_a_config_takes_no_memory_until_it_has_weights(three: pg.Game) -> None:
    huge = of_config({**NETWORK, "network": "8192-8192-8192-8192-8192-8192-8192-8192"}, three)
    assert all(each.is_meta for each in huge.network.parameters())
    with pytest.raises(pg.InvalidValue, match="weights of another network"):
        huge.load_state({"w": np.zeros(1, np.float32)})
    small = of_config(NETWORK, three)
    small.load_state(network(three, 4).state())
    states = states_of(three, 8)
    assert (small.judge(states) == network(three, 4).judge(states)).all()


@pytest.mark.parametrize("spec", ["tree", "minimax:depth=2", "minimax:nodes=200"])
def test_a_search_has_other_weights_as_a_whole_from_its_next_position_on(spec: str, three: pg.Game) -> None:
    one, other, states = linear(three, 1), linear(three, 2), states_of(three, 16)

    def search_of(model: Any) -> Any:
        if spec == "tree":
            searcher = TreeSearch(three, SearchConfig(simulations=60, leaf="evaluate"), 1, model)
            return lambda: searcher.search(states, seeds(5, 16)).chosen.tolist()
        kind: Any = type(pg.agent(spec, three))
        agent = kind(three, **({"depth": 2} if "depth" in spec else {"nodes": 200}), model=model)
        return lambda: agent.act(states.copy(), seeds(5, 16)).tolist()

    by_one, by_other = search_of(one), search_of(other)
    assert by_one() != by_other()
    block, version = one.weights, one.version
    one.swap(other.weights.copy())
    assert by_one() == by_other()
    assert one.version == version + 1
    assert one.weights is not block
    with pytest.raises(pg.InvalidValue, match="weights of another model"):
        one.swap(np.zeros(2, one.weights.dtype))
