"""The tensor game of the policy-gradient series, against the compiled rules and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import plyground as pg
from plyground.interop import connect_zero as cz

GAMES = 10_000


def test_moves_and_wins_agree_with_the_compiled_rules(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, GAMES, seed=21)
    going = np.ones(GAMES, np.bool_)
    while going.any():
        boards = torch.from_numpy(batch.encode("signed"))
        assert ((boards[:, 0] == 0).numpy() == batch.legal_mask()).all()
        actions = batch.random_actions()
        after, wins = cz.make_move_and_check(boards, torch.from_numpy(actions))
        step = batch.step(actions)
        assert isinstance(wins, Tensor)
        assert (wins.numpy() == (step.rewards == 1))[going].all()
        assert (-after.numpy() == batch.encode("signed", batch.next_states))[going].all()
        going &= ~step.terminated


def test_a_single_board_is_a_batch_of_one() -> None:
    board = torch.zeros((6, 7), dtype=torch.int8)
    for column in (0, 1, 0, 1, 0, 1):
        after, win = cz.make_move_and_check(board, column)
        assert win is False
        assert after is not board
        board = -after
    before = board.clone()
    after, win = cz.make_move_and_check(board, 0)
    assert win is True
    assert (board == before).all(), "the given board stays as it is"
    assert after[2, 0] == 1, "not negated"


class Fixed(nn.Module):
    """The same logits for every board."""

    def __init__(self, logits: list[float]) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        return self.logits.expand(*x.shape[:-2], 7)


def test_full_columns_are_masked_without_touching_the_models_output() -> None:
    board = torch.zeros((6, 7), dtype=torch.int8)
    board[:, 3] = torch.tensor([1, -1, 1, -1, 1, -1])
    model = Fixed([0, 0, 0, 100, 0, 0, 0])
    moves = {cz.sample_move(model, board) for _ in range(200)}
    assert moves == {0, 1, 2, 4, 5, 6}
    move, probs = cz.sample_move(model, board, output_probs=True)
    assert move in moves
    assert probs.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 0, 1 / 6, 1 / 6, 1 / 6])
    assert model.logits[3] == 100
    loss = -torch.log(cz.move_probabilities(model, board)[0])
    loss.backward()
    assert model.logits.grad is not None
    assert torch.isfinite(model.logits.grad).all()


def test_play_names_the_winner_and_restores_the_mode() -> None:
    left, right = Fixed([50, 0, 0, 0, 0, 0, -50]), Fixed([-50, 0, 0, 0, 0, 0, 50])
    left.train()
    right.eval()
    assert cz.play(left, right) == 1
    assert cz.play(right, left) == 1
    assert left.training
    assert not right.training
    results = [cz.play(cz.RandomPlayer(), left) for _ in range(60)]
    assert set(results) <= {0, 1, 2}
    assert results.count(2) > 20


def test_play_batch_returns_what_the_series_returns() -> None:
    generator = torch.Generator().manual_seed(1)
    states, moves, returns = cz.play_batch(cz.RandomPlayer(), cz.RandomPlayer(), 500, generator=generator)
    assert states.shape == (len(moves), 6, 7)
    assert (states.dtype, moves.dtype, returns.dtype) == (torch.int8, torch.int64, torch.float32)
    assert returns.shape == moves.shape
    assert set(returns.tolist()) <= {-1.0, 0.0, 1.0}
    stones = (states != 0).flatten(1).sum(1)
    assert (stones == 0).sum() == 250, "model1 begins half of the games"
    assert (stones == 1).sum() == 250
    assert states[torch.arange(len(moves)), 0, moves].eq(0).all(), "every move was legal"
    assert (states.flatten(1).sum(1) == -(stones % 2)).all(), "seen by the player to move"


def test_both_sides_on_request() -> None:
    one = cz.play_batch(cz.RandomPlayer(), cz.RandomPlayer(), 200, generator=torch.Generator().manual_seed(3))
    two = cz.play_batch(
        cz.RandomPlayer(), cz.RandomPlayer(), 200, both=True, generator=torch.Generator().manual_seed(3)
    )
    assert len(two[0]) > 1.9 * len(one[0])
    wins = ((two[0] != 0).flatten(1).sum(1) < 2).sum()
    assert wins == 400


def test_discounts_by_hand() -> None:
    left, right = Fixed([50, 0, 0, 0, 0, 0, -50]), Fixed([-50, 0, 0, 0, 0, 0, 50])
    states, moves, returns = cz.play_batch(left, right, 2, both=True, gamma=0.5)
    first = (states != 0).flatten(1).sum(1)
    for stones, move, value in zip(first.tolist(), moves.tolist(), returns.tolist(), strict=True):
        later = (6 - stones) // 2 if stones % 2 == 0 else (5 - stones) // 2
        winner = stones % 2 == 0  # whoever began wins with the seventh stone
        assert value == pytest.approx((1 if winner else -1) * 0.5**later)
        assert move in (0, 6)


class Broken(nn.Module):
    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, x: Tensor) -> object:
        return self.answer


@pytest.mark.parametrize(
    "answer",
    [
        torch.full((7,), torch.nan),
        torch.tensor([0, 0, torch.inf, 0, 0, 0, 0]),
        torch.full((7,), -torch.inf),
        torch.zeros(6),
        torch.zeros(1, 7),
        torch.zeros(7, dtype=torch.int64),
        torch.zeros(7, device="meta"),
        None,
    ],
    ids=["nan", "inf", "nothing", "short", "batched", "whole", "elsewhere", "none"],
)
def test_a_broken_model_is_an_error_not_a_random_move(answer: object) -> None:
    with pytest.raises(pg.InvalidValue):
        cz.sample_move(Broken(answer), torch.zeros((6, 7), dtype=torch.int8))


@pytest.mark.parametrize(
    "board", [torch.zeros(6, 7), torch.zeros((7, 6), dtype=torch.int8), torch.zeros(42, dtype=torch.int8)]
)
def test_what_is_no_board_is_refused(board: Tensor) -> None:
    with pytest.raises(pg.InvalidValue, match="a board is an int8 tensor"):
        cz.sample_move(cz.RandomPlayer(), board)


def test_illegal_moves_are_refused() -> None:
    board = torch.zeros((6, 7), dtype=torch.int8)
    board[:, 2] = 1
    with pytest.raises(pg.IllegalAction, match=r"column 2 is full; open columns: \[0, 1, 3, 4, 5, 6\]"):
        cz.make_move_and_check(board, 2)
    for move in (-1, 7):
        with pytest.raises(pg.IllegalAction, match="columns are 0 to 6"):
            cz.make_move_and_check(board, move)
    for move in (1.5, torch.tensor([1, 2])):
        with pytest.raises(pg.InvalidValue):
            cz.make_move_and_check(board, move)  # type: ignore[arg-type]
    with pytest.raises(pg.IllegalAction, match="the game is over"):
        cz.sample_move(cz.RandomPlayer(), torch.ones((6, 7), dtype=torch.int8))
    with pytest.raises(pg.InvalidValue, match="at least one game, not 0"):
        cz.play_batch(cz.RandomPlayer(), cz.RandomPlayer(), 0)
