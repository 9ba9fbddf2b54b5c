"""Threats, chains and forced wins of Paco Ŝako."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from naive import paco_sako as naive
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako import text as texts

PACO_IN_2 = {
    ("r2q2k1/ppp1n2p/4c2e/3f1C2/1b1o1p1P/2S1P3/PPP2PP1/2KR1B2 w 0 - - -", 0): [
        "Ld1 Pd4 Pe6 Pg6",
        "Ld1 Pd4 Pf5 Pe6 Pg6",
    ],
    ("r2q2k1/ppp1n2p/4c2e/3f1C2/1b1o1p1P/2S1P3/PPP2PP1/2KR1B2 w 0 - - -", 1): [],
    ("1k3b2/p3ppp1/e1d2r2/1S1rP2p/P2P4/4a3/1PP1I1PP/2s2yRK w 0 - - -", 0): [],
    ("2btk2r/1pe2ppp/1P2p3/1dC5/8/P1E3a1/2sP1PP1/3LK1NR w 0 Hh - -", 0): [],
    ("2btk2r/1pe2ppp/1P2p3/1dC5/8/P1E3a1/2sP1PP1/3LK1NR w 0 Hh - -", 1): [],
    ("r1b1kb1r/pp1D1e2/q1a2n2/1Pp3pp/3f4/8/P1P2PPP/RNB1K1NR w 0 AHah - -", 0): [],
}


@pytest.mark.compiled
def test_paco_in_2(paco_sako: pg.Game) -> None:
    for (text, side), turns in PACO_IN_2.items():
        search = analysis.paco_in_2(paco_sako.position(text), side)
        assert [str(chain) for chain in search.found] == turns
        assert search.complete
    eight = analysis.paco_in_2(paco_sako.position("1k3b2/p3ppp1/e1d2r2/1S1rP2p/P2P4/4a3/1PP1I1PP/2s2yRK w 0 - - -"), 1)
    assert len(eight.found) == 8
    assert {chain.actions[-1] for chain in eight.found} == {"Pg3"}
    assert {"Ld5 Pb5 Pe2 Pg3", "Lf6 Pf1 Pe2 Pg3"} <= {str(chain) for chain in eight.found}


THREATS = {
    "8/8/8/2p5/8/4c3/2P5/3K4": "b3 d3",
    "8/8/8/2p5/8/3c2K1/2P5/8": "d1 d2 a3 b3 c3 d3 e3 f3 g3 d4 d5 d6 d7 d8",
    "8/8/8/8/1p1a1a2/4K3/2N5/8": "a1 a3 b4 d4 e1 e3 c5 e5",
    "7d/6P1/6d1/8/8/8/8/8": "a8 b8 c8 d8 e8 f8 g8 h8 h1 h2 h3 h4 h5 h6 h7 a1 b2 c3 d4 e5 f6 g7 f4 e7 g6 f7",
}


@pytest.mark.parametrize("board", THREATS)
def test_threatened_squares(paco_sako: pg.Game, board: str) -> None:
    assert set(analysis.threats(paco_sako.position(f"{board} w 0 - - -"), 0)) == set(THREATS[board].split())


def test_winning_chains_win(paco_sako: pg.Game) -> None:
    text = "rn2k1nr/pppppppp/4E2q/8/2E5/8/PP1PKPPP/RNBQ1BNR b 0 ah - -"  # one may go round and round here
    for chain in analysis.chains(paco_sako.position(text)).found:
        position = paco_sako.position(text)
        for name in chain.actions:
            position = position.play(name)
        assert (position.outcome, position.reason) == (pg.Outcome.SECOND_WINS, "Paco Ŝako")


@pytest.mark.compiled
def test_a_search_that_reaches_its_limit_says_so(paco_sako: pg.Game) -> None:
    crowded = paco_sako.position("N1S1s1Ss/SpS1P1Sp/S1sp1SP1/ppS1S3/1H1S1S2/1pHPHs1s/KDpppppp/2sSSSSk w 0 - - -")
    assert not analysis.chains(crowded).complete
    assert not analysis.count_turn(crowded).complete
    assert not analysis.turns(crowded).complete
    assert not analysis.paco_in_2(crowded).complete
    assert analysis.in_sako(crowded, 1) is None


@pytest.mark.compiled
def test_threats_agree_with_the_naive_twin(paco_sako: pg.Game) -> None:
    """Castling kings meet few chains, so threats are compared on all sorts of boards."""
    rng = np.random.default_rng(5)
    chained = 0
    for _ in range(25):
        position, twin = paco_sako.start(), naive.started(1, repetitions=3, clean=False)
        for _ in range(60):
            action = rng.choice(position.legal())
            position = position.play(action)
            naive.play_all(twin, np.array([action], np.int32))
            if position.over:
                break
            if twin["board"][0, naive.MUST] == naive.LIFT:
                for side in (0, 1):
                    (direct,), (expected,) = (naive.threats(twin, side, chains) for chains in (False, True))
                    squares = [texts.SQUARES[square] for square in np.flatnonzero(expected)]
                    assert sorted(analysis.threats(position, side)) == sorted(squares)
                    chained += (expected > direct).any()
    assert chained > 100


@pytest.mark.compiled
def test_counts_by_turns() -> None:
    counts = analysis.count_turns(pg.load("paco_sako").start(), 4)
    assert [count.sequences for count in counts] == [20, 400, 8902, 197_792]
    assert [count.positions for count in counts] == [20, 400, 7602, 101_645]
    assert [count.united for count in counts] == [0, 0, 32, 1613]
    assert not any(count.over or count.gifts for count in counts)
