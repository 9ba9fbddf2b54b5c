"""The evaluation of Paco Ŝako positions, and what a search by time asks."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako.evaluate import can_win, evaluate, in_check, transposition_key


def value(game: pg.Game, text: str) -> float:
    return float(evaluate(game.position(text).state))


def test_exchanging_the_colours_changes_nothing_for_the_side_to_move(paco_sako: pg.Game) -> None:
    states = laws.sample(paco_sako, 10 if JIT else 1, seed=4).states[::7]
    turned = states.copy()
    turned["planes"] = states["planes"][:, ::-1].byteswap()  # the other side's, the ranks upside down
    turned["hand"] = states["hand"][:, ::-1]
    turned["to_move"] = 1 - states["to_move"]
    assert [evaluate(state) for state in turned] == [evaluate(state) for state in states]


def test_free_pieces_count_more_than_united_ones(paco_sako: pg.Game) -> None:
    assert value(paco_sako, "4k3/8/8/8/8/8/8/4K3 w 0 - - -") == 0
    free = value(paco_sako, "4k3/8/8/8/p7/8/7Q/4K3 w 0 - - -")
    united = value(paco_sako, "4k3/8/8/8/8/8/7f/4K3 w 0 - - -")  # the queen and the pawn in one union
    assert free > united > 0


def test_threats_beside_the_king_and_chains_count(paco_sako: pg.Game) -> None:
    far, near = "7k/8/8/8/8/8/R7/K7 w 0 - - -", "7k/R7/8/8/8/8/8/K7 w 0 - - -"
    assert value(paco_sako, near) > value(paco_sako, far)
    reached, missed = "k7/8/8/3A4/8/1B6/8/K7 w 0 - - -", "k7/8/8/3A4/8/B7/8/K7 w 0 - - -"
    assert value(paco_sako, reached) > value(paco_sako, missed)


@pytest.mark.compiled
def test_check_and_wins_are_those_of_the_analysis(paco_sako: pg.Game) -> None:
    states, work = laws.sample(paco_sako, 20, seed=6).states, paco_sako.work()
    starts, found = states[states["required"] == 0][::9], []
    for row in range(len(starts)):
        position = pg.Position(paco_sako, starts[row : row + 1])
        win, check = can_win(position.state, work[0]), in_check(position.state, work[0])
        assert win == bool(analysis.chains(position).found)
        assert check == analysis.in_sako(position, position.to_move)
        found.append((win, check))
    assert np.array(found).any(axis=0).all()


def test_the_key_tells_what_is_in_the_hand_but_not_the_clock(paco_sako: pg.Game) -> None:
    position = paco_sako.start()
    lifted = [transposition_key(position.play(name).state) for name in ("Lb1", "Le2", "Lg1")]
    assert len({*map(int, lifted), int(transposition_key(position.state))}) == 4
    there_and_back = position
    for move in ("Lb1", "Pc3", "Lb8", "Pc6", "Lc3", "Pb1", "Lc6", "Pb8"):
        there_and_back = there_and_back.play(move)
    assert there_and_back.state["idle"] == 4
    assert transposition_key(there_and_back.state) == transposition_key(position.state)
