"""Record types without padding: every byte belongs to a field, in every copy that numpy makes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import plyground as pg
from plyground.games.records import PADDING, meaning, state_type, without_padding


def covered(dtype: np.dtype[np.void]) -> bool:
    """Whether the fields of a record type, and of the records in it, cover all its bytes."""
    used = np.zeros(dtype.itemsize, np.bool_)
    for kind, offset in (field[:2] for field in (dtype.fields or {}).values()):
        used[offset : offset + kind.itemsize] = True
        base = kind.base
        if base.fields is not None and not covered(base):
            return False
    return bool(used.all())


def test_no_record_type_of_a_game_has_a_gap(game: pg.Game) -> None:
    rules = game.rules
    for dtype in (rules.STATE, rules.HEAD, rules.WORK):
        assert covered(dtype)
        assert eval(repr(dtype), {"dtype": np.dtype}) == dtype  # noqa: S307  (kernels are written out with it)
    heads, states = dict(rules.HEAD.fields or {}), dict(rules.STATE.fields or {})
    assert {name: states.get(name) for name in heads} == heads, "a state begins with its head, gaps included"
    assert all(field[1] >= rules.HEAD.itemsize for name, field in states.items() if name not in heads)


def test_a_games_own_fields_stay_where_they_were() -> None:
    inner = np.dtype([("small", np.int8), ("large", np.int32)], align=True)
    outer = np.dtype([("a", np.int8), ("pairs", inner, (3,)), ("b", np.uint64), ("c", np.int8)], align=True)
    filled = without_padding(outer)
    assert (filled.itemsize, filled.alignment, filled.isalignedstruct) == (outer.itemsize, outer.alignment, True)
    assert meaning(filled) == list(outer.names or ())
    assert {name: filled.fields[name][1] for name in meaning(filled)} == {  # type: ignore[index]
        name: field[1] for name, field in (outer.fields or {}).items()
    }
    assert covered(filled)
    assert not covered(outer)
    assert without_padding(filled) == filled
    packed = np.dtype([("a", np.int8), ("b", np.int16)])
    assert without_padding(packed) == packed


def test_a_field_that_numpy_put_behind_the_last_of_the_head_moves_out_of_the_head() -> None:
    """Otherwise equal heads would differ in the bytes of that field."""
    fields = [("key", np.uint64), ("to_move", np.int8)]
    head, state = np.dtype(fields, align=True), np.dtype([*fields, ("tail", np.int16)], align=True)
    assert state.fields["tail"][1] == 10 < head.itemsize  # type: ignore[index]
    moved = state_type(state, head)
    assert moved.fields["tail"][1] == 16  # type: ignore[index]
    assert meaning(moved) == ["key", "to_move", "tail"]
    assert covered(moved)


COPIES = {
    "copy": lambda states: states.copy(),
    "rows": lambda states: states[np.arange(len(states))[::-1]],
    "mask": lambda states: states[np.arange(len(states)) > 7],
    "repeat": lambda states: np.repeat(states, 2),
    "concatenate": lambda states: np.concatenate([states, states]),
    "contiguous": lambda states: np.ascontiguousarray(states[::2]),
    "assignment": lambda states: assigned(states),
}


@pytest.mark.parametrize("how", COPIES)
def test_every_copy_of_records_carries_all_bytes(game: pg.Game, how: str) -> None:
    """numpy leaves gaps of a copy as it finds the memory: the memory is filled with noise before."""
    for dtype in (game.rules.STATE, game.rules.HEAD):
        states = np.zeros(64, dtype)
        for _ in range(3):
            leave_noise(2 * states.nbytes)
            assert not COPIES[how](states).view(np.uint8).any()


def assigned(states: NDArray[np.void]) -> NDArray[np.void]:
    there = np.frombuffer(bytearray(b"\xa5" * states.nbytes), states.dtype)
    there[:] = states
    return there


def leave_noise(size: int) -> None:
    """Fill memory that the next arrays of these sizes may get, and free it."""
    for part in (size, size // 2, size // 4, size * 7 // 16):
        held = [np.full(part, 0xA5, np.uint8) for _ in range(4)]
        del held


def test_padding_is_named_after_its_place() -> None:
    record = without_padding(np.dtype([("a", np.int8), ("b", np.int64)], align=True))
    assert record.names == ("a", f"{PADDING}1", "b")
