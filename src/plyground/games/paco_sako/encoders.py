"""Network inputs for Paco Ŝako: the tensor of layers, and the short list of indices that expands to it.

Layers of 8x8, rank 1 first; "bottom" is the observing seat (with perspective) or white (without):

     0- 5  pieces of the bottom player on the board: pawn, rook, knight, bishop, queen, king
     6-11  the same of the top player
    12-23  the same twelve for pieces in the hand, on the square they were lifted from
    24     the en passant square
    25-28  castling rights, each a whole layer: bottom queen side, bottom king side, top queen side, top king side
    (+1)   who is to move, 0 white and 1 black: only without perspective
    (+1)   whether a lift is due (also after a promotion): only with `lift`
    (+1)   whether a promotion is due: only with `promote`
    last   turns without progress / 100

With perspective the ranks are mirrored for black (not the files: the king stays on the e file); `turned` mirrors the
actions too, so that an output of a network means the same for both sides. The index form holds
32 places of pieces (layer * 64 + square), the place of the en passant square, then one number for each whole layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.games.bits import ONE, lowest
from plyground.games.encoder import Encoder
from plyground.games.interface import State
from plyground.games.paco_sako.board import LIFT, PROMOTE_THEN_LIFT, kind_at, occupied

if TYPE_CHECKING:
    import torch

PERSPECTIVE, MUST_LIFT, MUST_PROMOTE = 1, 2, 4  # the bits of an option set
PIECES = 32
PLACES = PIECES + 1  # with the en passant square
WHOLE = 25  # the first layer that holds one number throughout
NOTHING = 64 * WHOLE  # a place that the whole layers overwrite
MIRROR = 56

Indices = NDArray[np.uint32]  # [38 .. 41]
Tensor = NDArray[np.float32]  # [64 * (30 .. 33)], layer by layer, rank by rank
NOT_HERE, HERE, HUNDRED = np.float32(0), np.float32(1), np.float32(100)


def layers(options: int) -> int:
    """How many layers an option set has: 30 to 33."""
    extra = (not options & PERSPECTIVE, options & MUST_LIFT, options & MUST_PROMOTE)
    return 30 + sum(map(bool, extra))


# ---- the index form ----


@njit
def write_indices(state: State, seat: int, options: int, out: Indices) -> None:
    """White's pieces by ascending square, then black's, then the hand's; missing ones repeat the first."""
    bottom = seat if options & PERSPECTIVE else 0
    mirror = MIRROR if bottom == 1 else 0
    count = 0
    for side in range(2):
        left = occupied(state, side)
        layer = -1 if side == bottom else 5  # a kind's number begins with 1
        while left and count < PIECES:
            square = lowest(left)
            left &= left - ONE
            out[count] = 64 * (layer + kind_at(state, side, square)) + (square ^ mirror)
            count += 1
    for turn in range(2):  # the mover's piece first
        side = state["to_move"] if turn == 0 else 1 - state["to_move"]
        if state["hand"][side] != 0 and count < PIECES:
            layer = 11 if side == bottom else 17
            out[count] = 64 * (layer + np.int64(state["hand"][side])) + (state["origin"] ^ mirror)
            count += 1
    first = out[0] if count > 0 else NOTHING
    for place in range(count, PIECES):
        out[place] = first
    passed = np.int64(state["en_passant"])
    out[PIECES] = 64 * (WHOLE - 1) + (passed ^ mirror) if passed >= 0 else first
    for k in range(len(out) - PLACES):
        out[PLACES + k] = whole_number(state, bottom, options, k)


@njit
def whole_number(state: State, bottom: int, options: int, k: int) -> int:
    """What fills the k-th whole layer."""
    required = state["required"]
    if k < 4:
        return (state["rights"] >> (k ^ (2 * bottom))) & 1
    k -= 4
    if not options & PERSPECTIVE:
        if k == 0:
            return state["to_move"]
        k -= 1
    if options & MUST_LIFT:
        if k == 0:
            return int(required in (LIFT, PROMOTE_THEN_LIFT))
        k -= 1
    if options & MUST_PROMOTE and k == 0:
        return int(required >= PROMOTE_THEN_LIFT)
    return state["idle"]


def expand(index: torch.Tensor) -> torch.Tensor:
    """[B, 38 .. 41] indices of any whole-number type, on any device, to the tensor [B, 30 .. 33, 8, 8] of float32."""
    import torch

    if index.ndim != 2 or not 38 <= index.shape[1] <= 41:
        raise InvalidValue(f"expand takes indices of shape (B, 38 to 41), not {tuple(index.shape)}")
    rows, numbers = index.shape
    tensor = torch.zeros(rows, 64 * (numbers - 8), dtype=torch.float32, device=index.device)
    tensor.scatter_(1, index[:, :PLACES].long(), 1.0)
    tensor = tensor.view(rows, numbers - 8, 8, 8)
    tensor[:, WHOLE:] = index[:, PLACES:].float()[:, :, None, None]
    tensor[:, -1] /= 100.0
    return tensor


@njit
def spread(place: int, token: int, tokens: int) -> tuple[int, int, int]:
    """The same for one index: the cells it fills, from the first on, and with how many hundredths."""
    if place < PLACES:
        return token, 1 if token < NOTHING else 0, 100
    return 64 * (WHOLE + place - PLACES), 64, token if place == tokens - 1 else 100 * token


# ---- the tensor ----


@njit
def write_layers(state: State, seat: int, options: int, out: Tensor) -> None:
    """The layers themselves: the whole ones first, then a one for each piece."""
    bottom = seat if options & PERSPECTIVE else 0
    mirror = MIRROR if bottom == 1 else 0
    for cell in range(64 * WHOLE):
        out[cell] = NOT_HERE
    whole = len(out) // 64 - WHOLE
    for k in range(whole):
        number = np.float32(whole_number(state, bottom, options, k))
        if k == whole - 1:
            number /= HUNDRED
        for cell in range(64 * (WHOLE + k), 64 * (WHOLE + k + 1)):
            out[cell] = number
    for side in range(2):
        left = occupied(state, side)
        layer = -1 if side == bottom else 5
        while left:
            square = lowest(left)
            out[64 * (layer + kind_at(state, side, square)) + (square ^ mirror)] = HERE
            left &= left - ONE
        if state["hand"][side] != 0:
            out[64 * (layer + 12 + np.int64(state["hand"][side])) + (state["origin"] ^ mirror)] = HERE
    passed = np.int64(state["en_passant"])
    if passed >= 0:
        out[64 * (WHOLE - 1) + (passed ^ mirror)] = HERE


# ---- the eight option sets of each ----


def encoder_name(form: str, use_perspective: bool, with_must_lift: bool, with_must_promote: bool) -> str:
    """The encoder of a form (`tensor` or `index`) with options: `tensor`, `index_absolute_lift_promote`."""
    words = (not use_perspective, "absolute"), (with_must_lift, "lift"), (with_must_promote, "promote")
    return "_".join([form, *(word for wanted, word in words if wanted)])


def _encoders() -> list[Encoder]:
    """Both forms with every option set, each with a compiled function of its own in this module."""
    found: list[Encoder] = []
    for form, writer in (("tensor", write_layers), ("index", write_indices)):
        for options in (1, 3, 5, 7, 0, 2, 4, 6):
            chosen = [bool(options & flag) for flag in (PERSPECTIVE, MUST_LIFT, MUST_PROMOTE)]
            name = encoder_name(form, *chosen)
            write = globals()[f"write_{name}"] = _with_options(writer, options, f"write_{name}")
            size = layers(options)
            shape, dtype = ((size, 8, 8), np.float32) if form == "tensor" else ((size + 8,), np.uint32)
            seen = ["as the side to move sees the board" if chosen[0] else "from white's side, and who is to move"]
            seen += ["whether it must lift"] * chosen[1] + ["whether it must promote"] * chosen[2]
            meaning = f"{size} layers" if form == "tensor" else f"{size + 8} numbers that expand to {size} layers"
            meaning += f": {', '.join(seen)}"
            dense, expansion = (f"{encoder_name('tensor', *chosen)}-v1", spread) if form == "index" else ("", None)
            bounds = (0.0, 1.0) if form == "tensor" else (0.0, 64.0 * size)
            found.append(Encoder(name, 1, shape, dtype, write, meaning, dense=dense, spread=expansion, bounds=bounds))
    return found


def _with_options(writer: Any, options: int, name: str) -> Any:
    def write(state: State, seat: int, out: Any) -> None:
        writer(state, seat, options, out)

    write.__name__ = write.__qualname__ = name
    return njit(write)


# ---- the same board with actions that turn with it ----


@njit
def slot(action: int, seat: int) -> int:
    """Black's squares upside down, as its board is; promotions are the same for both."""
    return action ^ MIRROR if seat == 1 and action < 128 else action


def _turned() -> list[Encoder]:
    """`tensor_lift_promote` and its index form, with outputs that mean the same for both sides."""
    size, meaning = layers(PERSPECTIVE | MUST_LIFT | MUST_PROMOTE), "as the side to move sees the board and its actions"
    dense, index = globals()["write_tensor_lift_promote"], globals()["write_index_lift_promote"]
    return [
        Encoder(
            "turned", 1, (size, 8, 8), np.float32, dense,
            f"{size} layers: {meaning}, whether it must lift, whether it must promote", slot=slot, bounds=(0.0, 1.0),
        ),
        Encoder(
            "turned_index", 1, (size + 8,), np.uint32, index, f"`turned` as {size + 8} numbers",
            slot=slot, dense="turned-v1", spread=spread, bounds=(0.0, 64.0 * size),
        ),
    ]  # fmt: skip


ENCODERS = (*_encoders(), *_turned())
