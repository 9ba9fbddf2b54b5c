"""The DQN document's own examples, as printed there."""

from __future__ import annotations

import time

import numpy as np
import pytest

import plyground as pg
from plyground.interop.connect_four_dqn import best_legal, encode_state

RAW = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 2, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 0],
        [1, 2, 0, 2, 1, 0, 0],
    ]
)
AS_SECOND = [[0, 0, 0, 1, 0, 0, 0], [0, 2, 0, 2, 0, 0, 0], [2, 1, 0, 1, 2, 0, 0]]


def test_both_printed_encodings() -> None:
    first, second = encode_state(RAW, 1), encode_state(RAW, 2)
    assert first.dtype == second.dtype == np.float32
    assert first.shape == second.shape == (42,)
    assert (first == RAW.reshape(-1)).all()
    assert (second == np.concatenate([np.zeros(21), np.reshape(AS_SECOND, -1)])).all()


def test_the_flat_index_rule() -> None:
    flat = encode_state(RAW, 2)
    for row in range(6):
        for column in range(7):
            assert flat[row * 7 + column] == {0: 0, 1: 2, 2: 1}[RAW[row, column]]


def test_the_masking_example_chooses_column_5() -> None:
    values = [-0.5, 2.3, -1.1, 0.8, 1.9, -0.3, -0.7]
    assert best_legal(values, [2, 5, 6]) == 5
    assert best_legal(values, range(7)) == 1
    assert best_legal([-np.inf] * 7, [3]) in range(7)


def test_lists_are_boards_too() -> None:
    assert (encode_state(RAW.tolist(), 1) == encode_state(RAW, 1)).all()


@pytest.mark.parametrize(
    ("board", "player"), [(RAW, 0), (RAW, 3), (RAW + 1, 1), (RAW - 1, 1), (RAW, "1"), (RAW.T, 1), (RAW[:3, :3], 1)]
)
def test_what_is_no_board_or_player_is_refused(board: np.ndarray, player: int) -> None:
    with pytest.raises(pg.InvalidValue):
        encode_state(board, player)


def test_the_printed_board_is_a_position_and_its_mover_is_not_the_printed_one() -> None:
    position = pg.load("connect_four").position(RAW)
    assert position.to_move == 1, "four stones against three: player 2 is to move, the document says player 1"
    assert len(position.legal()) == 7, "no column is full, the document's example has three legal ones"
    assert (RAW.dtype, RAW.nbytes) == (np.dtype(np.int64), 336), "not int32 and 168 bytes"


def test_the_printed_network_and_choice_fail_as_the_page_says() -> None:
    torch = pytest.importorskip("torch")

    class DQNetwork(torch.nn.Module):
        def __init__(self) -> None:  # as printed, without super().__init__()
            self.fc1 = torch.nn.Linear(42, 128)

    with pytest.raises(AttributeError):
        DQNetwork()
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.nn.Linear(42, 7)(torch.zeros(1, 42)).cpu().numpy()


def test_encoding_a_board_in_a_batch_takes_less_than_the_page_allows() -> None:
    batch = pg.Batch("connect_four", 4096, seed=0)
    batch.encode("relative")
    begun = time.process_time()
    for _ in range(50):
        batch.encode("relative")
    assert (time.process_time() - begun) / (50 * 4096) < 1e-6, "the document: 0.1 ms"


@pytest.mark.parametrize("legal", [[], [7], [-1, 2]])
def test_impossible_columns_are_refused(legal: list[int]) -> None:
    with pytest.raises(pg.InvalidValue, match="legal columns"):
        best_legal([0.0] * 7, legal)
