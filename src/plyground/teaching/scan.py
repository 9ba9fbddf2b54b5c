"""Template: lines of a dataset read and checked in bulk, for games whose positions compiled functions can read.

Accepted is a line that is byte for byte in the form that `lines.py` writes, and right. Every other line is left to
`lines.py`, which reads all forms of JSON and says what is wrong: this file need not be clever, only strict.
"""

# Compiled code mixes the integers of Python and numpy:
# pyright: reportArgumentType=false, reportAssignmentType=false, reportReturnType=false

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import RUNNING
from plyground.kernels.slots import is_sound, read_position, write_action, write_position

Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Doubles = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Records = NDArray[np.void]

SCANNED = np.dtype(
    [
        ("position", np.int64, (2,)),  # begin and end of a text in the chunk
        ("side", np.int64, (2,)),
        ("move", np.int64, (2,)),
        ("game", np.int64, (2,)),
        ("best", np.int64),
        ("ply", np.int64),
        ("value", np.float64),
        ("top", np.int32, (16,)),  # then -1
        ("policy", np.float64, (16,)),  # then 0
    ],
    align=True,
)
"""what is found in a line"""
DIGITS = 15  # of a number that 64 bits hold exactly; powers of ten up to 22 are exact too
TENS = 10.0 ** np.arange(23)
LARGEST = 2**31 - 1
QUOTE, ESCAPE, COLON, COMMA, SPACE, MINUS, DOT, NOUGHT, SMALL_E = (np.uint8(ord(sign)) for sign in '"\\:, -.0e')
END_OF_LIST, END_OF_OBJECT = np.uint8(ord("]")), np.uint8(ord("}"))


@njit(cache=True, nogil=True)
def scan_all(text: Bytes, ends: Longs, words: Bytes, sizes: Longs, found: Records, valid: Ints, good: Bools) -> None:
    """Read the lines that end at `ends` [N] into `found` [N] and `valid` [N, MAX_LEGAL], -1 behind the actions.

    `words` [12, W] of `sizes` [12] are what stands before, between and behind the values.
    """
    start = 0
    for i in range(len(ends)):
        good[i] = scan(text[: ends[i]], start, words, sizes, found[i], valid[i])
        start = ends[i]


@njit
def scan(text: Bytes, at: int, words: Bytes, sizes: Longs, found: Records, valid: Ints) -> bool:
    """One line, which ends with the text. Each step returns the place behind what it has read, or -1."""
    at = read_text(text, skip(text, at, words[0], sizes[0]), found["position"])
    at = read_text(text, skip(text, at, words[1], sizes[1]), found["side"])
    found["best"], at = read_integer(text, skip(text, at, words[2], sizes[2]))
    at = read_list(text, skip(text, at, words[3], sizes[3]), found["top"])
    at = read_policy(text, skip(text, at, words[4], sizes[4]), found["top"], found["policy"])
    found["value"], at = read_float(text, skip(text, at, words[5], sizes[5]))
    at = read_list(text, skip(text, at, words[6], sizes[6]), valid)
    at = read_text(text, skip(text, at, words[7], sizes[7]), found["move"])
    at = read_text(text, skip(text, at, words[8], sizes[8]), found["game"])
    found["ply"], at = read_integer(text, skip(text, at, words[9], sizes[9]))
    at = read_text(text, skip(text, at, words[10], sizes[10]), np.empty(2, np.int64))
    return skip(text, at, words[11], sizes[11]) == len(text)


# ---- values ----


@njit
def skip(text: Bytes, at: int, word: Bytes, size: int) -> int:
    if at < 0 or at + size > len(text):
        return -1
    for k in range(size):
        if text[at + k] != word[k]:
            return -1
    return at + size


@njit
def read_text(text: Bytes, at: int, place: Longs) -> int:
    """Plain ASCII up to a quote, which is not passed; `place` [2] is where it begins and ends."""
    if at < 0:
        return -1
    place[0] = at
    while at < len(text) and text[at] != QUOTE:
        if text[at] == ESCAPE or not 32 <= text[at] < 127:
            return -1
        at += 1
    place[1] = at
    return at


@njit
def read_integer(text: Bytes, at: int) -> tuple[int, int]:
    value, begin = np.int64(0), at
    if at < 0:
        return value, -1
    while at < len(text) and 0 <= np.int64(text[at]) - NOUGHT <= 9 and value <= LARGEST:
        value, at = 10 * value + np.int64(text[at]) - NOUGHT, at + 1
    plain = at > begin and value <= LARGEST and (text[begin] != NOUGHT or at == begin + 1)
    return value, (at if plain else -1)


@njit
def read_float(text: Bytes, at: int) -> tuple[float, int]:
    """A decimal number whose digits and power of ten are exact in 64 bits: dividing rounds once, as Python does."""
    negative = 0 <= at < len(text) and text[at] == MINUS
    begin = at + 1 if negative else at
    whole, at = read_integer(text, begin)
    value, digits, power = np.float64(whole), at - begin, 0
    if at < 0:
        return 0.0, -1
    if at < len(text) and text[at] == DOT:
        first = at + 1
        at = first
        while at < len(text) and 0 <= np.int64(text[at]) - NOUGHT <= 9:
            value, at = 10.0 * value + (np.int64(text[at]) - NOUGHT), at + 1
        digits, power = digits + at - first, at - first
        if at == first:
            return 0.0, -1
    if at + 1 < len(text) and text[at] == SMALL_E and text[at + 1] == MINUS:
        first = at + 2
        exponent = 0
        at = first
        while at < len(text) and 0 <= np.int64(text[at]) - NOUGHT <= 9 and exponent < 100:
            exponent, at = 10 * exponent + np.int64(text[at]) - NOUGHT, at + 1
        power += exponent
        if at == first:
            return 0.0, -1
    if digits > DIGITS or power >= len(TENS):
        return 0.0, -1
    value /= TENS[power]
    return (-value if negative else value), at


@njit
def read_list(text: Bytes, at: int, out: Ints) -> int:
    """Integers up to the end of a list, which is not passed; -1 behind them."""
    count = 0
    while at >= 0 and count < len(out):
        value, at = read_integer(text, at)
        if at < 0:
            break
        out[count] = value
        count += 1
        if at < len(text) and text[at] == END_OF_LIST:
            out[count:] = -1
            return at
        at = next_item(text, at)
    return -1


@njit
def read_policy(text: Bytes, at: int, top: Ints, out: Doubles) -> int:
    """A probability for each action of `top`, in the same order, up to the end of the object."""
    out[:] = 0.0
    for k in range(len(top)):
        if at < 0 or at >= len(text) or text[at] != QUOTE:
            return -1
        action, at = read_integer(text, at + 1)
        if action != top[k] or at < 0 or at + 3 >= len(text):
            return -1
        if text[at] != QUOTE or text[at + 1] != COLON or text[at + 2] != SPACE:
            return -1
        out[k], at = read_float(text, at + 3)
        if at < 0 or at >= len(text):
            return -1
        if text[at] == END_OF_OBJECT:
            return np.int64(at if k + 1 == len(top) or top[k + 1] < 0 else -1)
        at = next_item(text, at)
    return -1


@njit
def next_item(text: Bytes, at: int) -> int:
    """The place behind a comma and a space."""
    more = at + 1 < len(text) and text[at] == COMMA and text[at + 1] == SPACE
    return at + 2 if more else -1


# ---- what the rules say ----


@njit(cache=True, nogil=True)
def read_positions(text: Bytes, found: Records, states: Records, good: Bools) -> None:
    """The positions of the good lines into blank records; a line whose position is not sound is not good."""
    for i in range(len(found)):
        place = found[i]["position"]
        good[i] = good[i] and read_position(text[place[0] : place[1]], states[i]) and is_sound(states[i])


@njit(cache=True, nogil=True)
def check_all(
    text: Bytes,
    found: Records,  # [N]
    valid: Ints,  # [N, MAX_LEGAL]
    states: Records,  # [N] settled
    legal: Ints,  # [N, MAX_LEGAL] the legal actions, then -1
    numbers: Ints,  # [N, MAX_LEGAL] these in the dataset's numbers
    sides: Bytes,  # [2, W] the sides' names, each ended by a quote
    out: Bytes,  # [longest text] scratch memory
    tolerance: float,  # of a policy's sum
    good: Bools,  # [N]
) -> None:
    """Compare each line with the rules."""
    for i in range(len(found)):
        line, state = found[i], states[i]
        good[i] = (
            state["outcome"] == RUNNING
            and same(text, line["position"], out, write_position(state, out))
            and text_is(text, line["side"], sides[state["to_move"]])
            and same_actions(valid[i], legal[i], numbers[i])
            and -1.0 <= line["value"] <= 1.0
            and top_is_right(line["top"], valid[i])
            and line["best"] == line["top"][0]
            and abs(line["policy"].sum() - 1.0) <= tolerance
            and line["policy"].max() <= 1.0
            and line["policy"].min() >= 0.0
            and is_best_move(text, line, state, legal[i], numbers[i], out)
        )


@njit
def same(text: Bytes, place: Longs, other: Bytes, size: int) -> bool:
    """Whether the text at a place is another one."""
    if place[1] - place[0] != size:
        return False
    for k in range(size):  # noqa: SIM110  (compiled)
        if text[place[0] + k] != other[k]:
            return False
    return True


@njit
def text_is(text: Bytes, place: Longs, word: Bytes) -> bool:
    """Whether the text at a place is a word, which a quote ends."""
    size = 0
    while word[size] != QUOTE:
        size += 1
    return same(text, place, word, size)


@njit
def same_actions(valid: Ints, legal: Ints, numbers: Ints) -> bool:
    """Whether `valid` ascends and has exactly the numbers of the legal actions; several of these may share one."""
    count, shared, low = 0, 0, -1
    while count < len(valid) and valid[count] >= 0:
        if valid[count] <= low:
            return False
        low, count = valid[count], count + 1
    for k in range(len(legal)):
        if legal[k] < 0:
            break
        if place_of(valid[:count], numbers[k]) < 0:
            return False
        shared += numbers[k] == legal[k]
    return shared == count


@njit
def place_of(ascending: Ints, number: int) -> int:
    """Where a number is in a list, or -1."""
    low, high = 0, len(ascending)
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < number:
            low = middle + 1
        else:
            high = middle
    return np.int64(low if low < len(ascending) and ascending[low] == number else -1)


@njit
def top_is_right(top: Ints, valid: Ints) -> bool:
    """Whether all of them are legal, each once."""
    count = 0
    while count < len(valid) and valid[count] >= 0:
        count += 1
    for k in range(len(top)):
        if top[k] < 0:
            break
        if place_of(valid[:count], top[k]) < 0:
            return False
        for j in range(k):
            if top[j] == top[k]:
                return False
    return True


@njit
def is_best_move(text: Bytes, line: Records, state: Records, legal: Ints, numbers: Ints, out: Bytes) -> bool:
    """Whether `move` is the name of an action that goes by the number `best_action`."""
    for k in range(len(legal)):
        if legal[k] < 0:
            break
        if numbers[k] == line["best"] and same(text, line["move"], out, write_action(state, legal[k], out)):
            return True
    return False


# ---- writing ----


@njit(cache=True, nogil=True)
def write_positions(states: Records, out: Bytes, lengths: Longs) -> None:
    """The texts of positions: `out` [N, longest]."""
    for i in range(len(states)):
        lengths[i] = write_position(states[i], out[i])


@njit(cache=True, nogil=True)
def write_actions(states: Records, actions: Ints, out: Bytes, lengths: Longs) -> None:
    """The names of actions [N] of states [N]: `out` [N, longest]."""
    for i in range(len(states)):
        lengths[i] = write_action(states[i], actions[i], out[i])
