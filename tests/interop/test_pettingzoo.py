"""Every game as a PettingZoo environment: PettingZoo's own tests, and what they do not test."""

from __future__ import annotations

import copy
import functools
import warnings
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.errors import InvalidValue
from plyground.games.rng import seeds

pytestmark = pytest.mark.peers
pettingzoo = pytest.importorskip("pettingzoo")


def make(game: str | pg.Game, **options: Any) -> Any:
    from plyground.interop.pettingzoo import env

    return env(game, **options)


def play(env: Any, moves: str) -> None:
    """The moves of a game whose encoder does not turn the board, by name."""
    for move in moves:
        env.step(env.position.action(move))


def test_every_game_passes_pettingzoos_own_tests(game: pg.Game) -> None:
    from pettingzoo.test import api_test, render_test, seed_test

    with (
        warnings.catch_warnings()
    ):  # it wants observations that are arrays, except of environments that it knows by name
        warnings.filterwarnings("ignore", "Observation is not a NumPy|Observation space for each|.*all zeros")
        api_test(make(game), num_cycles=200)
    seed_test(functools.partial(make, game), num_cycles=50)
    render_test(functools.partial(make, game))


def test_games_are_registered_a_file_of_ones_own_too() -> None:
    make("connect_four")  # imports the adapter
    assert str(pettingzoo.make("aec", "plyground/chess-v1")) == "chess_v1"
    own = pettingzoo.make("aec", "plyground/game-v1", game=str(ROOT / "examples" / "three_in_a_row.py"))
    own.reset(seed=0)
    assert own.action_space("player_0").n == 9


def test_a_won_game_ends_with_plus_and_minus_one() -> None:
    env = make("connect_four")
    env.reset(seed=0)
    play(env, "121212")
    assert env.agent_selection == "player_0"
    play(env, "1")
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.terminations == {"player_0": True, "player_1": True}
    assert env.truncations == {"player_0": False, "player_1": False}
    assert not env.infos[env.agent_selection]["action_mask"].any()
    while env.agents:
        env.step(None)
    with pytest.raises(InvalidValue, match=r"call reset\(\)"):
        env.step(None)


def test_the_seat_to_act_follows_the_rules_and_only_its_mask_has_actions() -> None:
    """In Paco Ŝako a side acts several times in a turn."""
    env = make("paco_sako")
    env.reset(seed=0)
    turns = []
    for _ in range(12):
        seat = env.position.seat
        turns.append(seat)
        assert env.agent_selection == f"player_{seat}"
        assert not env.observe(f"player_{1 - seat}")["action_mask"].any()
        assert not env.infos[f"player_{1 - seat}"]["action_mask"].any()
        mask = env.observe(f"player_{seat}")["action_mask"]
        assert (mask == env.infos[f"player_{seat}"]["action_mask"]).all()
        assert mask.sum() == len(env.position.legal())
        env.step(int(np.flatnonzero(mask)[0]))
    assert turns[:4] == [0, 0, 1, 1]


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed,seats=4", TINY[0]])
def test_an_observation_holds_only_what_its_seat_may_know(word: str) -> None:
    env = make(word)
    env.reset(seed=4)
    for ply in range(30):
        for seat, agent in enumerate(env.agents):
            before, states = env.observe(agent)["observation"], env._states.copy()
            env.game.kernels().determinize_all(env._states, np.array([seat], np.int32), seeds(ply, 1))
            assert (env.observe(agent)["observation"] == before).all()
            env._states[:] = states
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask)[ply % mask.sum()]))
        if not env.agents or any(env.terminations.values()):
            break


def test_four_seats_are_rewarded_by_side() -> None:
    env, rng, found = make("sequence:seats=4"), np.random.default_rng(0), set[tuple[float, ...]]()
    env.reset(seed=1)
    for _ in range(20):
        while not any(env.terminations.values()):
            env.step(int(rng.choice(np.flatnonzero(env.infos[env.agent_selection]["action_mask"]))))
        found.add(tuple(env.rewards[f"player_{seat}"] for seat in range(4)))
        env.reset()
    assert {(1.0, -1.0, 1.0, -1.0), (-1.0, 1.0, -1.0, 1.0)} == found - {(0.0, 0.0, 0.0, 0.0)}


def test_an_illegal_action_loses_the_game_and_no_array_that_was_given_away_can_make_it_legal() -> None:
    env = make("connect_four")
    env.reset(seed=0)
    play(env, "111111")
    for mask in (env.observe("player_0")["action_mask"], env.infos["player_0"]["action_mask"]):
        mask[:] = 1
    before = env.position
    env.step(0)
    assert env.position == before
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert all(env.terminations.values())


@pytest.mark.parametrize("action", [7, -1, None, 1.0, "1", True])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = make("connect_four")
    with pytest.raises(InvalidValue, match="a whole number of 0 to 6, not"):
        env.step(action)


def test_long_games_are_truncated() -> None:
    env = make("connect_four", max_plies=3)
    env.reset(seed=0)
    play(env, "123")
    assert env.truncations == {"player_0": True, "player_1": True}
    assert not any(env.terminations.values())
    assert not any(env.rewards.values())


def test_a_copied_env_goes_its_own_way() -> None:
    """Planners try actions in copies."""
    env = make("sequence")
    env.reset(seed=0)
    before, other = env.position, copy.deepcopy(env)
    for each in (other, other):
        each.step(int(np.flatnonzero(each.infos[each.agent_selection]["action_mask"])[0]))
    assert env.position == before
    assert other.position != before
    assert env.rewards is not other.rewards


def test_a_limit_of_plies_is_at_least_one() -> None:
    with pytest.raises(InvalidValue, match="max_plies is at least 1, not -3"):
        make("connect_four", max_plies=-3)
