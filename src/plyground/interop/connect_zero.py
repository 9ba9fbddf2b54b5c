"""The interface of a policy-gradient series on Connect Four: boards as torch tensors. Needs the extra `learn`.

A board is an int8 tensor (6, 7), row 0 on top: +1 the player to move, -1 the opponent, 0 empty; the caller negates it
after a move. A batch is (B, 6, 7). A model is any `nn.Module` that maps (6, 7) -> (7,) and (B, 6, 7) -> (B, 7) logits.
Everything runs on the device of the model's boards.

This is a second implementation of the rules, for readers of that series; the learners use the compiled rules.
Differences from the series: illegal moves are masked on a copy of the logits, never in the model's own output; NaN, a
wrong shape or another device in a model's output is an error, not a random move.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, overload

import torch
from torch import Tensor, nn

from plyground.errors import IllegalAction, InvalidValue

Rng = torch.Generator | None
Device = str | torch.device
ROWS, COLS = 6, 7
WEIGHTS = torch.tensor([2.0 ** (7 * column + ROWS - 1 - row) for row in range(ROWS) for column in range(COLS)]).double()
"""(42,) the bit of each cell, as a power of two"""


class RandomPlayer(nn.Module):
    """Equal logits: every open column is equally likely."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros(*x.shape[:-2], COLS, device=x.device)


@overload
def sample_move(
    model: nn.Module, board: Tensor, output_probs: Literal[False] = False, generator: Rng = None
) -> int: ...
@overload
def sample_move(
    model: nn.Module, board: Tensor, output_probs: Literal[True], generator: Rng = None
) -> tuple[int, Tensor]: ...
def sample_move(
    model: nn.Module, board: Tensor, output_probs: bool = False, generator: Rng = None
) -> int | tuple[int, Tensor]:
    """A column 0-6 sampled from the model's probabilities over open columns; with `output_probs` also those (7,)."""
    _check_board(board, 2)
    with torch.no_grad():
        probs = move_probabilities(model, board)
        move = int(torch.multinomial(probs, 1, generator=generator).item())
    return (move, probs) if output_probs else move


def move_probabilities(model: nn.Module, board: Tensor) -> Tensor:
    """(7,) or (B, 7): the softmax of the model's logits, 0 for full columns. Differentiable."""
    full = board[..., 0, :] != 0
    if bool(full.all(-1).any()):
        raise IllegalAction("no column is open: the game is over")
    logits = model(board)
    name, wanted = type(model).__name__, (*board.shape[:-2], COLS)
    if not isinstance(logits, Tensor) or logits.shape != wanted or not logits.dtype.is_floating_point:
        got = f"{logits.dtype} {tuple(logits.shape)}" if isinstance(logits, Tensor) else type(logits).__name__
        raise InvalidValue(f"{name} maps boards {tuple(board.shape)} to float logits {wanted}, not to {got}")
    if logits.device != board.device:
        raise InvalidValue(f"{name} answers on {logits.device}, but the board is on {board.device}")
    if bool((torch.isnan(logits) | torch.isposinf(logits)).any()):
        raise InvalidValue(f"{name} answers with logits that are not numbers: {logits.flatten()[:COLS].tolist()} ...")
    logits = logits.masked_fill(full, -torch.inf)
    if bool(torch.isneginf(logits).all(-1).any()):
        raise InvalidValue("the model gives every open column a logit of minus infinity")
    return torch.softmax(logits, -1)


def make_move_and_check(board: Tensor, move: int | Tensor) -> tuple[Tensor, bool | Tensor]:
    """The board after +1 drops a stone, not negated, and whether that makes four; the given board is not changed.

    (6, 7) and a column give a board and a bool; (B, 6, 7) and columns (B,) give boards and bools (B,).
    """
    single = board.ndim == 2
    _check_board(board, 2 if single else 3)
    boards = board[None] if single else board
    moves = torch.as_tensor(move, device=board.device).reshape(-1)
    if moves.dtype.is_floating_point or len(moves) != len(boards):
        raise InvalidValue(f"{len(boards)} boards take as many whole columns, not {move!r}")
    if bool(((moves < 0) | (moves >= COLS)).any()):
        raise IllegalAction(f"columns are 0 to {COLS - 1}, not {move!r}")
    rows = torch.arange(len(boards), device=board.device)
    height = (boards[rows, :, moves] != 0).sum(1)  # (B,) stones in the chosen columns
    if bool((height == ROWS).any()):
        where = int((height == ROWS).nonzero()[0])
        free = [column for column in range(COLS) if boards[where, 0, column] == 0]
        raise IllegalAction(f"column {int(moves[where])} is full; open columns: {free}")
    after = boards.clone()
    after[rows, ROWS - 1 - height, moves] = 1
    wins = has_four(after)
    return (after[0], bool(wins[0])) if single else (after, wins)


def has_four(boards: Tensor) -> Tensor:
    """(B,) whether +1 has four in a row.

    Boards become bitboards (B,) int64, seven bits a column of which the last stays empty: a product with powers of two,
    exact in float64 (which autocast does not change), and faster than comparing slices.
    """
    stones = ((boards == 1).flatten(1).double() @ WEIGHTS.to(boards.device)).long()
    found = torch.zeros_like(stones)
    for shift in (1, 6, 7, 8):  # upright, falling, flat, rising
        pairs = stones & (stones >> shift)
        found |= pairs & (pairs >> 2 * shift)
    return found != 0


def play(model1: nn.Module, model2: nn.Module, device: Device = "cpu", generator: Rng = None) -> int:
    """One game, `model1` begins: 1 or 2 for the winner, 0 for a draw."""
    models, mover = (model1, model2), 0
    board = torch.zeros((ROWS, COLS), dtype=torch.int8, device=device)
    with _evaluating(model1, model2):
        while True:
            board, win = make_move_and_check(board, sample_move(models[mover], board, generator=generator))
            if win:
                return 1 + mover
            if bool((board[0] != 0).all()):
                return 0
            board, mover = -board, 1 - mover


def play_batch(
    model1: nn.Module,
    model2: nn.Module,
    games: int,
    *,
    both: bool = False,
    gamma: float | None = None,
    device: Device = "cpu",
    generator: Rng = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Many games at once, half begun by each model: states (N, 6, 7) int8, moves (N,) int64, returns (N,) float32.

    N counts the moves of `model1`, or of both models with `both=True`; states and returns are from the point
    of view of the player who moved: +1 won, 0 drawn, -1 lost. With `gamma`, a player's last move in a game has the full
    return, each earlier one `gamma` times that of the next.
    """
    if games < 1:
        raise InvalidValue(f"play_batch plays at least one game, not {games}")
    models = model1, model2
    boards = torch.zeros((games, ROWS, COLS), dtype=torch.int8, device=device)
    number = torch.arange(games, device=device)  # which game each row is
    mover = number % 2  # 0: model1 is to move
    result = torch.zeros((games, 2), device=device)  # (games, 2): +1, 0 or -1 for each model
    record: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []  # states, moves, games, movers
    with _evaluating(model1, model2), torch.no_grad():
        while len(boards):
            moves = torch.empty(len(boards), dtype=torch.int64, device=device)
            for index, model in enumerate(models):
                mine = (mover == index).nonzero().flatten()
                if len(mine):
                    probs = move_probabilities(model, boards[mine])
                    moves[mine] = torch.multinomial(probs, 1, generator=generator).flatten()
            record.append((boards, moves, number, mover))
            boards, wins = make_move_and_check(boards, moves)
            assert isinstance(wins, Tensor)
            result[number[wins], mover[wins]] = 1.0
            result[number[wins], 1 - mover[wins]] = -1.0
            going = ~wins & (boards[:, 0] == 0).any(1)
            boards, number, mover = -boards[going], number[going], 1 - mover[going]
    states, moves, number, mover = (torch.cat(column) for column in zip(*record, strict=True))
    returns = result[number, mover]
    if gamma is not None:
        player = 2 * number + mover  # of one game; rows are in the order of play
        order = torch.argsort(player, stable=True)
        ends = torch.bincount(player, minlength=2 * games).cumsum(0)  # behind each player's last move, in that order
        to_come = torch.empty_like(player)  # (N,) moves that the same player still makes
        to_come[order] = ends[player[order]] - 1 - torch.arange(len(player), device=player.device)
        returns = returns * gamma**to_come
    kept = torch.ones_like(mover, dtype=torch.bool) if both else mover == 0
    return states[kept], moves[kept], returns[kept]


@contextmanager
def _evaluating(*models: nn.Module) -> Generator[None]:
    """Put models into evaluation mode, and restore their mode afterwards."""
    modes = [model.training for model in models]
    try:
        for model in models:
            model.eval()
        yield
    finally:
        for model, mode in zip(models, modes, strict=True):
            model.train(mode)


def _check_board(board: Tensor, dimensions: int) -> None:
    if board.dtype != torch.int8 or board.ndim != dimensions or board.shape[-2:] != (ROWS, COLS):
        wanted = "(6, 7)" if dimensions == 2 else "(B, 6, 7)"
        raise InvalidValue(f"a board is an int8 tensor {wanted}, not {board.dtype} {tuple(board.shape)}")
