"""Every game as Gymnasium environments: Gymnasium's own checks, and games compared with `Position` and `Batch`."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.agents.agent import GIVES_UP
from plyground.errors import Error, IllegalAction, InvalidValue
from plyground.games.rng import seeds

pytestmark = pytest.mark.peers
gymnasium = pytest.importorskip("gymnasium")


def make(game: str | pg.Game, opponent: Any = "random", **options: Any) -> Any:
    from plyground.interop.gymnasium import GameEnv

    return GameEnv(game, opponent, **options)


def make_vector(game: str | pg.Game, num_envs: int, opponent: Any = None, **options: Any) -> Any:
    from plyground.interop.gymnasium import GameVectorEnv

    return GameVectorEnv(game, num_envs, opponent, **options)


def legal_actions(masks: Any, rng: np.random.Generator) -> Any:
    """[N] one legal action of each row."""
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


class Fixed:
    """An agent whose answer is always the same."""

    def __init__(self, action: int) -> None:
        self.action = action

    def act(self, states: Any, rngs: Any) -> Any:
        return np.full(len(states), self.action, np.int32)


class Lowest:
    """An agent that plays the legal action of the lowest number."""

    def __init__(self, game: pg.Game) -> None:
        self.game = game

    def act(self, states: Any, rngs: Any) -> Any:
        return self.game.legal_mask(states).argmax(1).astype(np.int32)


def test_every_game_passes_gymnasiums_own_check(game: pg.Game) -> None:
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*alternative render modes")  # of environments that were not registered
        if game.encoder().bounds[0] == -np.inf:
            warnings.filterwarnings("ignore", ".*infinity")  # an encoder need not say how large its numbers are
        check_env(make(game, render_mode="ansi"))


def test_games_are_registered_for_make_and_make_vec() -> None:
    env = gymnasium.make("plyground.interop.gymnasium:plyground/connect_four-v1", opponent="greedy", side="second")
    observation, info = env.reset(seed=0)
    assert observation.sum() == 1  # the opponent has begun
    assert info["side"] == 1
    assert gymnasium.make_vec("plyground/chess-v1", num_envs=3).num_envs == 3
    assert gymnasium.make("plyground/game-v1", game=TINY[1]).unwrapped.game.label == "hops"


def test_an_env_plays_as_positions_and_the_opponent_do() -> None:
    agent = Lowest(pg.load("connect_four"))
    env = make("connect_four", agent, side="first")
    _, info = env.reset(seed=3)
    position, rng = env.position, np.random.default_rng(0)
    for _ in range(40):
        action = int(legal_actions([info["action_mask"]], rng)[0])
        assert (env.action_masks() == info["action_mask"].astype(bool)).all()
        observation, reward, terminated, truncated, info = env.step(action)
        position = position.play(action)
        if not position.over:
            position = position.play(position.ask(agent))
        assert position == env.position
        assert terminated == position.over
        assert not truncated
        if terminated:
            assert reward == {0: 0, 1: 0, 2: 1, 3: -1}[position.outcome]
            assert not info["action_mask"].any()
            break
        assert reward == 0
        assert (observation == position.encode("planes")).all()
    else:
        pytest.fail("the game did not end")
    with pytest.raises(InvalidValue, match=r"call reset\(\)"):
        env.step(0)


def test_an_illegal_action_loses() -> None:
    env = make("connect_four", Fixed(1), side="first")
    env.reset(seed=0)
    for _ in range(3):
        assert env.step(0)[1:4] == (0.0, False, False)
    env = make("connect_four", Fixed(0), side="first")
    before, _ = env.reset(seed=0)
    for _ in range(3):
        before = env.step(0)[0]
    observation, reward, terminated, truncated, _ = env.step(0)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert (observation == before).all()


def test_an_opponent_that_gives_up_has_lost_and_one_that_cheats_is_an_error() -> None:
    env = make("connect_four", Fixed(GIVES_UP), side="first")
    env.reset(seed=0)
    assert env.step(3)[1:4] == (1.0, True, False)
    env = make("connect_four", Fixed(9), side="first")
    env.reset(seed=0)
    with pytest.raises(Error, match="chose an illegal action: 9 is not legal"):
        env.step(3)


@pytest.mark.parametrize("word", ["sequence", TINY[0]])
def test_an_observation_holds_only_what_its_seat_may_know(word: str) -> None:
    env, rng = make(word), np.random.default_rng(0)
    observation, info = env.reset(seed=2)
    for _ in range(12):
        states = env._games.states
        hidden, seat = states.copy(), env.encoded.seats_to_act(states)
        env.game.kernels().determinize_all(states, seat, seeds(7, 1))
        assert (env._seen()[0] == observation).all()
        states[:] = hidden
        observation, _, terminated, _, info = env.step(int(legal_actions([info["action_mask"]], rng)[0]))
        if terminated:
            break


@pytest.mark.parametrize("word", ["connect_four", "chess", "sequence", "paco_sako"])
def test_a_vector_env_for_both_sides_is_a_batch(word: str) -> None:
    game, rng = pg.load(word), np.random.default_rng(1)
    envs, batch = make_vector(game, 5, max_plies=30), pg.Batch(game, 5, max_plies=30)
    observations, info = envs.reset(seed=11)
    batch.rngs[:], batch.states[:] = envs._games.rngs, envs._games.states
    encoder, ended = str(game.encoder()), 0
    for _ in range(80):
        actions = legal_actions(info["action_mask"], rng)
        step = batch.step(envs.encoded.actions(batch.states, actions))
        observations, rewards, terminated, truncated, info = envs.step(actions)
        assert (observations == batch.encode(encoder)).all()
        assert (rewards == step.rewards).all()
        assert (terminated == step.terminated).all()
        assert (truncated == step.truncated).all()
        assert (info["to_move"] == batch.to_move).all()
        assert (info["action_mask"].sum(1) == batch.legal_mask().sum(1)).all()
        final = batch.encode(encoder, batch.next_states)
        for row in np.flatnonzero(terminated | truncated):
            assert info["_final_obs"][row]
            assert (info["final_obs"][row] == final[row]).all()
            ended += 1
    assert ended > 5


@pytest.mark.parametrize("word", ["connect_four", "paco_sako", "sequence:seats=4"])
def test_a_vector_env_against_an_agent_equals_single_games(word: str) -> None:
    """Each row is replayed as positions: the caller's action, then the opponent's until it is the caller's turn."""
    game, rng = pg.load(word), np.random.default_rng(2)
    opponent = "greedy" if word != "paco_sako" else "minimax:depth=1"
    envs, agent, ended = make_vector(game, 6, opponent), pg.agent(opponent, game), 0
    observations, info = envs.reset(seed=5)
    games = envs._games
    assert {*games.sides} == {0, 1}
    for _ in range(60):
        actions = legal_actions(info["action_mask"], rng)
        own = envs.encoded.actions(games.states, actions)
        rows = [pg.Position(game, games.states[k : k + 1], rngs=games.rngs[k : k + 1]).play(own[k]) for k in range(6)]
        sides, rngs = games.sides.copy(), games.agent_rngs.copy()
        for k, position in enumerate(rows):
            while not position.over and position.to_move != sides[k]:
                position = position.play(int(agent.act(position.states.copy(), rngs[k : k + 1])[0]))
            rows[k] = position
        observations, rewards, terminated, truncated, info = envs.step(actions)
        assert not truncated.any()
        for k, position in enumerate(rows):
            assert terminated[k] == position.over
            if position.over:
                ended += 1
                assert rewards[k] == (position.outcome == 2 + sides[k]) * 2 - (position.outcome >= 2)
                seen = position.encode(str(game.encoder()), int(sides[k]))
                assert (info["final_obs"][k] == seen).all()
            else:
                assert position.states.tobytes() == games.states[k : k + 1].tobytes()
                assert (observations[k] == position.encode(str(game.encoder()))).all()
    assert ended
    assert (info["to_move"] == games.sides).all()


def test_the_seed_alone_determines_the_games() -> None:
    def played(seed: int | None) -> list[bytes]:
        envs, rng = make_vector("sequence", 4, "greedy"), np.random.default_rng(0)
        _, info = envs.reset(seed=seed)
        found = []
        for _ in range(20):
            observations, *_, info = envs.step(legal_actions(info["action_mask"], rng))
            found.append(observations.tobytes())
        return found

    assert played(3) == played(3)
    assert played(3) != played(4)
    assert played(None) != played(None)


def test_what_is_no_legal_action_of_a_row_is_refused() -> None:
    for opponent in (None, "random"):
        envs = make_vector("connect_four", 3, opponent)
        envs.reset(seed=0)
        with pytest.raises(IllegalAction, match="row 1: 7 is not legal"):
            envs.step([0, 7, 0])
        with pytest.raises(InvalidValue, match="takes 3 whole numbers"):
            envs.step([0.0, 1.0, 2.0])
    with pytest.raises(InvalidValue, match="side is one of first, second, both, not 'white'"):
        make("chess", side="white")


def test_arrays_that_were_given_away_are_not_written_again() -> None:
    envs, rng = make_vector("connect_four", 2), np.random.default_rng(0)
    first, info = envs.reset(seed=0)
    kept, later = (first.copy(), info["action_mask"].copy(), info["to_move"].copy()), info
    for _ in range(12):
        later = envs.step(legal_actions(later["action_mask"], rng))[-1]
    assert (first == kept[0]).all()
    assert (info["action_mask"] == kept[1]).all()
    assert (info["to_move"] == kept[2]).all()


def test_a_copied_env_goes_its_own_way() -> None:
    """Planners try actions in copies."""
    env = make("connect_four", "greedy", side="first")
    env.reset(seed=0)
    env.step(3)
    before, other = env.position, copy.deepcopy(env)
    assert other.position == before
    for _ in range(3):
        other.step(2)
    assert env.position == before
    assert other.position != before
    twin = copy.deepcopy(env)
    assert twin.step(0)[0].tobytes() == env.step(0)[0].tobytes()


def test_a_truncated_game_does_not_show_what_the_opponent_could_play() -> None:
    env = make("sequence", "random", side="first", max_plies=1, render_mode="ansi")
    _, info = env.reset(seed=3)
    *_, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert truncated
    assert not info["action_mask"].any()
    position = env.position
    assert position.seat == 1, "the opponent is to act"
    assert env.render() == position.game.rules.observe(position.state, 0)


def test_games_that_are_always_over_before_the_callers_turn_are_an_error() -> None:
    with pytest.raises(InvalidValue, match=r"were over before the caller's first turn: .* max_plies is too small"):
        make("connect_four", "random", side="second", max_plies=1).reset(seed=0)
