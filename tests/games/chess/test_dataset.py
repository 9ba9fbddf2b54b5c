"""Chess as datasets write it: 4096 actions, whatever a pawn becomes; many FENs and moves at once, as one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT
from plyground.checks import laws
from plyground.games.chess import dataset
from plyground.games.chess.dataset import DATASET

CHESS = pg.load("chess")
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
    *("", "8", "8/8", "8/8/8/8/8/8/8/8 w", "8/8/8/8/8/8/8/8 w - ", "x" * 200),
    "4k3/8/8/8/8/8/8/8/4K3 w - - 0 1",
    "4k3/8/8/8/8/8/8/4K3 w - - 0 12345",
]


def read(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    states = np.repeat(CHESS.blank, len(texts))
    return states, dataset.read(texts, states)


@pytest.mark.parametrize("fen", ["3r4/2P4k/8/8/8/8/8/K7 w - - 0 1", "k7/8/8/8/8/8/p6K/1R6 b - - 0 1"])
def test_promotions_share_the_number_of_the_one_to_a_queen(fen: str) -> None:
    position = CHESS.position(fen)
    legal = np.array([position.legal()], np.int32)
    seen = DATASET.actions(position.states, legal)[0]
    for action, number in zip(legal[0], seen, strict=True):
        name = position.name(int(action))
        assert position.action(f"{name[:4]}q" if len(name) == 5 else name) == number
    assert len(set(seen)) < len(seen)


@pytest.mark.compiled
def test_many_positions_and_moves_are_read_and_written_as_one_by_one() -> None:
    sampled = laws.sample(CHESS, 10, seed=3).states
    states = [*(CHESS.position(fen).state for fen in FENS), *sampled[:: max(1, len(sampled) // 300)]]
    plain = [CHESS.position(CHESS.rules.text(state)) for state in states]
    texts = [position.text for position in plain]
    found, good = read(*texts)
    assert good.all()
    CHESS.kernels().settle_all(found)
    assert found.tobytes() == np.concatenate([position.states for position in plain]).tobytes()
    assert dataset.write(found) == texts
    for position in plain:
        legal = np.array(position.legal(), np.int32)
        assert dataset.names(np.repeat(position.states, len(legal)), legal) == position.names()


@pytest.mark.parametrize("text", UNSOUND)
def test_what_is_no_position_is_refused(text: str) -> None:
    assert not read(text, FENS[0])[1][0]
    with pytest.raises(pg.InvalidText):
        CHESS.position(text or "-")


def test_a_changed_text_is_accepted_only_where_the_plain_functions_accept_it() -> None:
    rng, signs, changed = random.Random(5), "PNBRQKpnbrqk12345678/ wb-KQkqacdefgh0369x", list[str]()
    for _ in range(4000 if JIT else 400):
        text = list(rng.choice(FENS))
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(text))
            text[place : place + rng.randint(0, 1)] = rng.choice(signs)
        changed.append("".join(text))
    good = read(*changed)[1]
    for text, accepted in zip(changed, good.tolist(), strict=True):
        try:
            CHESS.position(text)
            plain = True
        except pg.Error:
            plain = False
        assert accepted == plain, text
    assert good.sum() > 1


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FENS), st.dictionaries(st.integers(0, 88), st.integers(0, 255), max_size=4))
def test_any_bytes_that_are_sound_are_a_position(fen: str, changes: dict[int, int]) -> None:
    heads = CHESS.heads(read(fen)[0])
    for place, value in changes.items():
        heads.view(np.uint8)[place] = value
    if dataset.sound(heads)[0]:
        assert not CHESS.rules.problems(heads[0])
        assert read(*dataset.write(heads))[1].all()
