"""Compiled FENs and UCI moves: the same as the plain ones of `text.py`, and never more lenient."""

from __future__ import annotations

import random

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.teaching.bulk import Bulk
from plyground.teaching.lines import Lines
from plyground.teaching.scan import SCANNED

MANY = 300 if JIT else 40
FENS = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 12 345",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "8/P6k/8/8/8/8/p6K/8 w - - 99 9999",
    "1n5k/P7/8/8/8/8/p6K/1N6 b - - 0 60",
]
UNSOUND = [
    "4k3/8/8/8/8/8/8/4K1K1 w - - 0 1",
    "8/8/8/8/8/8/8/4K3 w - - 0 1",
    "4k2P/8/8/8/8/8/8/4K3 w - - 0 1",
    "4k3/8/8/8/8/8/8/4K2r b - - 0 1",
    "8/8/8/8/8/8/4k3/4K3 w - - 0 1",
    "4k3/8/8/4p3/8/8/8/4K3 w - e3 0 1",
    "4k3/4p3/8/4p3/8/8/8/4K3 w - e6 0 1",
    "4k3/8/8/8/8/8/8/4K3 w K - 0 1",
    "r3k3/8/8/8/8/8/8/4K3 w kq - 0 1",
    "4k3/8/8/8/PPPPP3/PPPP4/8/4K3 w - - 0 1",
    "4k3/8/8/8/8/8/PPPPPPPP/QQ2K3 w - - 0 1",
    "4k3/8/3N1N2/8/4R3/8/8/4K3 b - - 0 1",
]


@pytest.fixture(scope="module")
def chess() -> pg.Game:
    return pg.load("chess")


@pytest.fixture(scope="module")
def bulk(chess: pg.Game) -> Bulk:
    """The functions of `fen.py`, compiled once for this machine."""
    found = Lines(chess).bulk
    assert found is not None
    return found


def accepted(bulk: Bulk, text: str) -> np.ndarray | None:
    """What the compiled functions make of a text: a settled record, if it is sound and in the form that is written."""
    state, good, place = bulk.game.blank.copy(), np.ones(1, np.bool_), np.zeros(1, SCANNED)
    place["position"] = 0, len(text)
    bulk.kernels.read_positions(np.frombuffer(text.encode(), np.uint8), place, state, good)
    if not good[0]:
        return None
    bulk.game.kernels().settle_all(state)
    return state if bulk.texts(state) == [text] else None


def test_positions_and_moves_of_games_are_read_and_written_as_the_plain_functions_do(
    chess: pg.Game, bulk: Bulk
) -> None:
    states = [chess.position(fen).state for fen in FENS]
    sampled = laws.sample(chess, 10 if JIT else 2, seed=3).states
    states += list(sampled[:: max(1, len(sampled) // MANY)])
    for state in states:
        text = chess.rules.text(state)
        plain = chess.position(text)
        found = accepted(bulk, text)
        assert found is not None, text
        assert all(np.array_equal(found[name], plain.states[name]) for name in plain.states.dtype.names or ()), text
        legal = np.array(plain.legal(), np.int32)
        assert bulk.names(np.repeat(plain.states, len(legal)), legal) == plain.names()


@pytest.mark.parametrize("text", [*UNSOUND, "", "8", "8/8", "8/8/8/8/8/8/8/8 w", "8/8/8/8/8/8/8/8 w - ", "x" * 200])
def test_what_is_no_position_is_refused(chess: pg.Game, bulk: Bulk, text: str) -> None:
    assert accepted(bulk, text) is None
    with pytest.raises(pg.InvalidText):
        chess.position(text or "-")


def test_a_changed_text_is_accepted_only_where_the_plain_functions_accept_it(chess: pg.Game, bulk: Bulk) -> None:
    rng = random.Random(5)
    signs, both = "PNBRQKpnbrqk12345678/ wb-KQkqacdefgh0369x", 0
    for _ in range(4000 if JIT else 200):
        text = list(rng.choice(FENS))
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 1)] = rng.choice(signs)
        changed = "".join(text)
        found = accepted(bulk, changed)
        try:
            plain = chess.position(changed)
        except pg.Error:
            plain = None
        usual = plain is not None and plain.text == changed
        assert (found is not None) == usual, changed
        both += usual
    assert both > 1
