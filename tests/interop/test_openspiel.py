"""Every game for OpenSpiel: its random simulations, exploitability, MCTS both ways, and hidden information."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.errors import Error, InvalidValue
from plyground.games.rng import seeds

pytestmark = pytest.mark.peers
pyspiel: Any = pytest.importorskip("pyspiel")
ROW = str(ROOT / "examples" / "three_in_a_row.py")


def spiel(game: pg.Game | str) -> Any:
    from plyground.interop.openspiel import as_spiel_game

    return as_spiel_game(game)


def played(game: Any, seed: int, plies: int) -> Any:
    """A state after random actions."""
    state, rng = game.new_initial_state(), np.random.default_rng(seed)
    for _ in range(plies):
        if not state.is_terminal():
            actions = [each for each, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
            state.apply_action(int(rng.choice(actions)))
    return state


def test_every_game_passes_openspiels_random_simulations(game: pg.Game) -> None:
    """They compare clones, serialized states, legal actions, returns and observations at every ply."""
    pyspiel.random_sim_test(spiel(game), num_sims=1, serialize=True, verbose=False)


def test_a_game_played_there_is_the_game_played_here(connect_four: pg.Game) -> None:
    state, position = spiel(connect_four).new_initial_state(), connect_four.start()
    for move in "1212121":
        assert state.legal_actions() == position.legal()
        assert state.current_player() == position.seat
        assert state.observation_string(0) == position.text
        action = position.action(move)
        assert state.action_to_string(action) == move
        state.apply_action(action)
        position = position.play(move)
        assert (state.moment.states == position.states).all()
    assert state.is_terminal()
    assert state.returns() == [1.0, -1.0]


def test_games_are_registered_with_their_settings() -> None:
    assert spiel("sequence:seats=4").num_players() == 4
    assert pyspiel.load_game("plyground_sequence_seats_4").get_type().short_name == "plyground_sequence_seats_4"
    assert spiel("sequence").num_players() == 2


def test_two_games_of_one_name_are_refused(tmp_path: Any) -> None:
    spiel(ROW)
    (tmp_path / "three_in_a_row.py").write_text((ROOT / "examples" / "three_in_a_row.py").read_text())
    with pytest.raises(InvalidValue, match="another game is registered in OpenSpiel as plyground_three_in_a_row"):
        spiel(str(tmp_path / "three_in_a_row.py"))


@pytest.mark.parametrize("word", ["sequence", "sequence:seats=4", TINY[0]])
def test_a_player_is_told_only_what_it_may_know(word: str) -> None:
    game, differ = spiel(word), 0
    for plies in (1, 4, 9):
        state = played(game, 3, plies)
        for player in range(game.num_players()):
            other = state.resample_from_infostate(player, lambda: 0.25)
            differ += str(other) != str(state)
            assert other.observation_string(player) == state.observation_string(player)
            assert other.observation_tensor(player) == state.observation_tensor(player)
            assert other.information_state_string(player) == state.information_state_string(player)
    assert differ


def test_an_information_state_is_all_that_a_player_has_seen() -> None:
    game, last = spiel(TINY[0]), played(spiel(TINY[0]), 0, 6)
    for player in (0, 1):
        state, seen = game.new_initial_state(), ""
        for action in last.history():
            state.apply_action(action)
            seen += pg.load(TINY[0]).rules.view(state.moment.states[0], player) + "\n"
        assert last.information_state_string(player) == seen
    assert len({played(spiel(ROW), seed, 4).information_state_string(0) for seed in range(9)}) > 5  # histories


def test_ismcts_plays_a_game_with_hidden_cards() -> None:
    from open_spiel.python.algorithms import ismcts, mcts

    game, numbers = spiel(TINY[0]), np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, numbers), 1.0, 20, random_state=numbers)
    state = played(game, 1, 1)
    while not state.is_terminal():
        state.apply_action(bot.step(state))
    assert sum(state.returns()) == 0


def test_agents_are_bots_and_bots_are_agents(connect_four: pg.Game) -> None:
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    from plyground.interop.openspiel import SpielBot, mcts

    bots = [SpielBot(connect_four, "minimax:depth=3"), SpielBot(connect_four, "random")]
    results = [evaluate_bots(spiel(connect_four).new_initial_state(), bots, np.random.RandomState(k)) for k in range(4)]
    assert np.mean(results, axis=0)[0] > 0.5
    agent = mcts(connect_four, simulations=40)
    assert str(agent) == "openspiel-mcts:sims=40"
    assert pg.match(connect_four, agent, pg.agent("random", connect_four), games=6).score > 0.6
    start = connect_four.start()
    assert start.ask(agent, seed=3) == start.ask(agent, seed=3)


def test_a_bot_is_shown_nothing_that_its_seat_cannot_see() -> None:
    """Whatever the opponent holds, the bot gets the same state, in which that is drawn anew."""
    from plyground.interop.openspiel import SpielAgent

    shown = list[str]()

    class Spy:
        def step(self, state: Any) -> int:
            shown.append(str(state))
            return state.legal_actions()[0]

    game = pg.load(TINY[0])
    position, agent = game.start(1).play(game.start(1).legal()[0]), SpielAgent(game, lambda spiel_game, seed: Spy())
    held = set[str]()
    for seed in range(6):
        states = position.states.copy()
        game.kernels().determinize_all(states, np.array([position.seat], np.int32), seeds(seed, 1))
        held.add(pg.Position(game, states).text)
        agent.act(states, seeds(7, 1))
    assert len(held) > 1
    assert len(set(shown)) == 1


def test_an_agent_that_gives_up_is_an_error_there(connect_four: pg.Game) -> None:
    from plyground.agents.agent import GIVES_UP
    from plyground.interop.openspiel import SpielBot

    class Resigns:
        def act(self, states: Any, rngs: Any) -> Any:
            return np.full(len(states), GIVES_UP, np.int32)

    with pytest.raises(Error, match="gives up"):
        SpielBot(connect_four, Resigns()).step(spiel(connect_four).new_initial_state())


def test_mcts_is_on_a_ladder(command: Any) -> None:
    agent = f"file:{ROOT / 'examples' / 'openspiel_mcts.py'}:mcts_100"
    code, out, err = command("ladder", ROW, "random", agent, "--games", "4", "--json")
    assert code == 0, err
    assert "openspiel_mcts" in out


@pytest.mark.slow
def test_exploitability_of_the_uniform_policy_is_that_of_openspiels_own_game() -> None:
    """0.95983 is what OpenSpiel computes for its tic_tac_toe, with another implementation of the rules."""
    from open_spiel.python.algorithms.exploitability import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    game = spiel(ROW)
    assert exploitability(game, UniformRandomPolicy(game)) == pytest.approx(0.9598296957671957)
