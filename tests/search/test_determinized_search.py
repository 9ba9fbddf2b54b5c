"""Search over determinizations: it knows only what the seat may know, and plays whole games."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import TINY
from plyground.agents.registry import make
from plyground.agents.search import prior_of
from plyground.arena.match import play_match
from plyground.backend.view import View
from plyground.checks import laws
from plyground.games.interface import Rules
from plyground.games.rng import seeds
from plyground.kernels.cache import load_kernels
from plyground.kernels.slots import slots_of
from plyground.models.network import NetworkModel
from plyground.search.determinized_search import TEMPLATE, DeterminizedSearch, Prior
from plyground.search.tree_config import SearchConfig

pytestmark = pytest.mark.compiled
VARIANTS = ["sequence", "sequence:seats=4", "sequence:rules=boxed", "sequence:rules=boxed,seats=4"]


def leaks(game: pg.Game, search: DeterminizedSearch, most: int) -> bool:
    """Whether redrawing what is hidden from the seat to act changes the answer for the same seed, in any bit."""
    states = laws.sample(game, 6, seed=4, most=400).states
    states = states[:: max(1, len(states) // most)]
    n = len(states)
    seats, other = np.empty(n, np.int32), states.copy()
    game.kernels().seats_to_act(states, seats)
    game.kernels().determinize_all(other, seats, seeds(7, n))
    assert (other != states).any()
    found, redrawn = search.search(states, seeds(1, n)), search.search(other, seeds(1, n))
    return not all(np.array_equal(one, two) for one, two in zip(found, redrawn, strict=True))


@pytest.mark.parametrize("word", [TINY[0], *VARIANTS])
def test_redrawing_what_is_hidden_changes_nothing_in_the_answer(word: str) -> None:
    game = pg.load(word)
    config = SearchConfig(simulations=48, leaf=game.rules.ROLLOUT or "random")
    assert not leaks(game, DeterminizedSearch(game, config), 40)


def prior_of_random_weights(game: pg.Game) -> Prior:
    view = View(game, "lines")
    torch.manual_seed(3)
    return prior_of(NetworkModel.make(view, "b1c8-slim-parts+value"))


def test_a_network_names_the_candidates_and_sees_nothing_hidden() -> None:
    game = pg.load("sequence")
    prior, config = prior_of_random_weights(game), SearchConfig(simulations=48, leaf="window", considered=4)
    search = DeterminizedSearch(game, config, prior=prior)
    assert not leaks(game, search, 20)
    states = laws.sample(game, 4, seed=5).states[::9]
    found = search.search(states, seeds(1, len(states)))
    for row, state in enumerate(states):
        log_probs = prior(states[row : row + 1])
        legal = pg.Position(game, np.array([state])).legal()
        assert set(np.flatnonzero(np.isfinite(log_probs))) == set(legal)
        best = sorted(legal, key=lambda action, of=log_probs: (-of[action], action))[:4]
        assert set(found.actions[row][found.visits[row] > 0]) == set(best[: len(legal)]) or len(legal) == 1


def test_a_search_that_reads_the_true_state_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    game = pg.load(TINY[0])

    def without_determinize(rules: Rules) -> dict[str, Any]:
        return {name: function for name, function in slots_of(rules).items() if name != "determinize"}

    cheat = load_kernels(TEMPLATE, without_determinize(game.rules), "a duel that peeks")
    monkeypatch.setattr(type(game), "kernels", lambda self, *_: cheat)
    search = DeterminizedSearch(game, SearchConfig(simulations=48))
    monkeypatch.undo()
    assert leaks(game, search, 40)


@pytest.mark.parametrize("word", VARIANTS)
def test_games_of_every_variant_end(word: str) -> None:
    game = pg.load(word)
    match = play_match(game, make("search:sims=20", game), make("random", game), 2, seed=1)
    assert match.unfinished == 0
    assert match.score == 1.0


def test_a_search_beats_greedy() -> None:
    game = pg.load("sequence")
    assert play_match(game, make("search:sims=100", game), make("greedy", game), 10, seed=0).score > 0.5


def test_a_game_without_scorer_and_rollout_agent_is_searched_by_random_play() -> None:
    game = pg.load(TINY[0])
    match = play_match(game, make("search:sims=60", game), make("random", game), 1000, seed=0)
    assert match.interval[0] > 0.5, "it wins a little more often: luck decides most games"


def test_rollouts_of_some_plies_need_an_evaluation() -> None:
    with pytest.raises(pg.InvalidValue, match="sequence has no evaluate, so rollouts end with the game"):
        make("search:sims=20,plies=4", pg.load("sequence"))


def test_the_answer_depends_on_the_seed_alone() -> None:
    game = pg.load("sequence")
    states = laws.sample(game, 2, seed=3, most=40).states[::4]
    config = SearchConfig(simulations=40, leaf="window")
    alone = [DeterminizedSearch(game, config, threads=1).search(states[k : k + 1], seeds(5, 1)) for k in range(3)]
    one = DeterminizedSearch(game, config, threads=2).search(states[:3], np.repeat(seeds(5, 1), 3))
    for row, each in enumerate(alone):
        assert all(np.array_equal(part[0], whole[row]) for part, whole in zip(each, one, strict=True))


@pytest.mark.parametrize(("word", "leaf"), [("sequence", "window"), (TINY[0], "random")])
def test_a_search_in_pieces_is_the_search_in_one_piece(word: str, leaf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It pauses so that Ctrl-C is heard."""
    game, found = pg.load(word), list[list[bytes]]()
    for chunk in (1, 10**9):
        monkeypatch.setattr("plyground.search.determinized_search.FIRST", chunk)
        monkeypatch.setattr("plyground.search.determinized_search.SIGNAL_INTERVAL", 0.0)
        rngs = seeds(4, 2)
        search = DeterminizedSearch(game, SearchConfig(simulations=90, leaf=leaf), threads=1)
        result = search.search(np.repeat(game.start(1).states, 2), rngs)
        found.append([*(each.tobytes() for each in result), rngs.tobytes()])
    assert found[0] == found[1]


def test_every_number_of_simulations_ends() -> None:
    game = pg.load(TINY[0])
    for simulations in range(1, 40):
        search = DeterminizedSearch(game, SearchConfig(simulations=simulations), threads=1)
        found = search.search(game.start(0).states, seeds(0, 1))
        assert simulations <= found.simulations[0] < simulations + 4


def test_a_limit_by_time_is_kept() -> None:
    game = pg.load("sequence")
    config = SearchConfig(simulations=0, seconds=0.02, leaf="window")
    found = DeterminizedSearch(game, config).search(game.start(1).states, seeds(0, 1))
    assert 16 <= found.simulations[0] < 5000
    both = dataclasses.replace(config, simulations=20, seconds=100.0)
    assert DeterminizedSearch(game, both).search(game.start(1).states, seeds(0, 1)).simulations[0] < 60


def test_a_single_legal_action_needs_no_simulation() -> None:
    game = pg.load(TINY[0])
    position = game.start(0)
    while len(position.legal()) > 1:
        position = position.play(position.legal()[0])
    found = DeterminizedSearch(game, SearchConfig(simulations=1000)).search(position.states, seeds(0, 1))
    assert (found.simulations[0], found.chosen[0]) == (0, position.legal()[0])


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("search:leaf=oracle", "no rollout agent for sequence 'oracle'"),
        ("search:leaf=evaluate", "plays to the end by random or by a scripted agent, not leaf=evaluate"),
        ("search:reuse=true", "reuse of the agent search is for games without chance in which nothing is hidden"),
    ],
)
def test_options_for_trees_are_refused_in_a_sentence(spec: str, sentence: str) -> None:
    with pytest.raises(pg.Error, match=sentence) as error:
        make(spec, pg.load("sequence"))
    assert "\n" not in str(error.value)
