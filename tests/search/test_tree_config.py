"""The settings of a search: what is refused, and that training and evaluation search alike."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import plyground as pg
from plyground.agents.registry import find_model
from plyground.agents.search import as_learned, make_search
from plyground.errors import InvalidValue
from plyground.learners.alphazero import self_play_search
from plyground.learners.config import AlphaZero
from plyground.models.network import NetworkEvaluator
from plyground.search.tree_arrays import NETWORK, SCRIPTED
from plyground.search.tree_config import SearchConfig, halving_schedule


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"simulations": 0}, "a search has 1 to 100000000 simulations, not 0"),
        ({"simulations": -3}, "a search has 1 to 100000000 simulations, not -3"),
        ({"seconds": -1.0}, "the time of a search is a number of seconds above 0, not -1.0"),
        ({"seconds": float("nan")}, "the time of a search is a number of seconds above 0, not nan"),
        ({"selection": "best"}, "a search selects by puct or gumbel, not by 'best'"),
        ({"considered": 1}, "Gumbel search considers 2 to 1024 actions, not 1"),
        ({"rollout_plies": -1}, "random play has 0 to 1000000 plies, not -1"),
        ({"prior_temperature": 1e-9}, "the temperature of priors is at least 0.001, or 0, not 1e-09"),
        ({"exploration": 0.0}, "the exploration of a search is a number above 0, not 0.0"),
    ],
)
def test_settings_out_of_range_are_refused_in_a_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidValue) as error:
        SearchConfig(**settings)
    assert str(error.value) == sentence


@pytest.mark.compiled
def test_a_run_of_alphazero_plays_with_the_search_that_it_learned_with(connect_four: pg.Game) -> None:
    """As they are made: the search of self-play, and that of `search:model=DIR`. Noise is for training alone."""
    own = AlphaZero(num_envs=2, simulations=9, considered=5, value_scale=0.7)
    network = find_model(connect_four, "trained")
    training = self_play_search(own, network.view, NetworkEvaluator(network.view, network.network)).config
    run = {"learner": "alphazero", **dataclasses.asdict(own)}
    playing: SearchConfig = make_search(connect_four, {"sims": "9"}, network, as_learned(run)).config
    assert (training.noise, playing.noise) == (True, False)
    assert dataclasses.replace(playing, noise=True) == training
    settings = playing.settings(connect_four)
    assert training.settings(connect_four)._replace(noise=0.0) == settings
    assert (settings.leaf, settings.gumbel, settings.value_scale) == (NETWORK, True, 0.7)


def test_a_scripted_agent_may_evaluate_leaves(connect_four: pg.Game) -> None:
    assert SearchConfig(leaf="punisher").settings(connect_four).leaf == SCRIPTED


@pytest.mark.parametrize("simulations", [1, 7, 64, 200])
def test_a_schedule_can_be_followed(simulations: int) -> None:
    """In each column there is an action with the visits that are due."""
    for count, due in enumerate(halving_schedule(16, simulations)[1:], start=1):
        visits = np.zeros(count, int)
        for wanted in due:
            visits[np.flatnonzero(visits == wanted)[0]] += 1
        assert visits.sum() == simulations
