"""Hints: whole turns, by the solver where there is one."""

from __future__ import annotations

import re

import pytest
from numba.core import event

import plyground as pg
from conftest import ROOT, TINY
from plyground.checks import laws
from plyground.games.connect_four.solver.solver import perfect
from plyground.play.hints import early_hint, hint, standing

pytestmark = pytest.mark.compiled


def test_a_hint_keeps_the_result_in_a_solved_game(connect_four: pg.Game) -> None:
    states = laws.sample(connect_four, 12, seed=4).states[::7]
    scores = perfect().move_scores(states)
    for row in range(len(states)):
        position = pg.Position(connect_four, states[row : row + 1].copy())
        found = hint(position)
        assert scores[row][found.actions[0]] == max(scores[row][action] for action in position.legal())
        assert found.text.startswith(f"the solver would play {position.name(found.actions[0])}: it ")


def test_equally_good_moves_are_named(connect_four: pg.Game) -> None:
    text = hint(connect_four.position("4453")).text
    assert text == "the solver would play 3: it loses in 18 moves (equally good: 6, 7)"
    assert hint(connect_four.position("121212")).text == "the solver would play 1: it wins in 1 move"


def test_a_turn_of_several_actions_is_told_whole() -> None:
    game = pg.load("paco_sako")
    start = game.start()
    found = hint(start)
    position = start
    for action in found.actions:
        assert position.to_move == start.to_move
        position = position.play(action)
    assert position.to_move != start.to_move
    turn = r"minimax:time=0.5 would play [A-Z]?[a-h][1-8]>[a-h][1-8]: "
    why = r"(it is about even|you stand a little (better|worse)) \([+-]0.\d\d\)"
    assert re.match(turn + why, found.text), found.text


def test_a_win_and_a_loss_are_told_with_their_distance() -> None:
    game = pg.load("chess")
    win, lost = game.position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), game.position("7k/R7/8/8/8/8/1R6/4K3 b - - 0 1")
    assert hint(win).text == "minimax:time=0.5 would play Ra8#: it wins in 1 move"
    assert hint(lost).text == "minimax:time=0.5 would play Kg8: every move loses, this one in 1 move"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.0, "you should win"),
        (0.45, "you should win"),
        (0.28, "you stand clearly better"),
        (0.14, "you stand a little better"),
        (0.05, "it is about even"),
        (0.0, "it is about even"),
        (-0.07, "it is about even"),
        (-0.14, "you stand a little worse"),
        (-0.28, "you stand clearly worse"),
        (-0.45, "you should lose"),
        (-1.2, "you should lose"),
    ],
)
def test_a_value_in_words_fits_the_pieces_of_chess(value: float, words: str) -> None:
    assert standing(value) == words


def test_a_bishop_less_is_clearly_worse() -> None:
    position = pg.load("chess").position("rnbqkbnr/ppp1pppp/8/8/2p1P3/5N2/PPPP1PPP/RNBQ1RK1 w kq - 0 5")
    assert "you stand clearly worse (-0." in hint(position).text


def test_where_chance_comes_between_only_the_first_action_is_told() -> None:
    assert len(hint(pg.load("sequence").start(3)).actions) == 1


def test_a_game_of_ones_own_is_searched() -> None:
    assert hint(pg.load(TINY[1]).start()).text.startswith("search:time=0.5 would play ")
    assert hint(pg.load("sequence").start(1)).text.startswith("search:model=trained,time=0.5 would play ")


@pytest.mark.parametrize("word", ["chess", "paco_sako", "sequence"])
def test_a_hint_before_its_time_needs_no_compiler(word: str) -> None:
    position = pg.load(word).start(3)
    with event.install_recorder("numba:compile") as found:
        early = early_hint(position)
    assert early is not None
    assert not found.buffer
    assert early.actions[0] in position.legal()
    assert early.text.startswith("window would play" if word == "sequence" else "minimax:nodes=300 would play")
    assert early.text.endswith("(at first sight: the better adviser is being compiled)")


def test_a_game_of_ones_own_waits_for_its_hints() -> None:
    assert early_hint(pg.load(ROOT / "examples" / "three_in_a_row.py").start()) is None
