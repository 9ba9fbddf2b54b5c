"""Lines of a dataset in bulk: read, checked and written by compiled functions, for games that have a `TextCodec`.

The form of a line is that of `lines.py`. A line that is not exactly in this form, or not right, is left to it.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.game import Game
from plyground.games.dataset_format import TextCodec
from plyground.kernels.cache import load_kernels
from plyground.kernels.slots import slots_of
from plyground.teaching.scan import SCANNED

TOGETHER = 512  # lines whose arrays fit a core's cache
SUM_ERROR = 1e-3  # how far a policy may be from a sum of 1
SURE = 0.999  # share of that error below which another order of summation changes nothing
BEFORE = ('{{"{}": "', '", "{}": "', '", "{}": ', ', "{}": [', '], "{}": {{', '}}, "{}": ', ', "{}": [', '], "{}": "')
BEHIND = ('", "{}": "', '", "{}": ', ', "{}": "')  # of the fields in their order: what stands before each value

Records = NDArray[np.void]
Bools = NDArray[np.bool_]


class Bulk:
    """The lines of one game."""

    def __init__(self, game: Game, fields: Sequence[str]) -> None:
        self.game, self.form, self.codec = game, game.rules.DATASET, codec_of(game)
        words = [form.format(name) for form, name in zip((*BEFORE, *BEHIND), fields, strict=True)]
        self.words, self.sizes = _padded([*words, '"}\n'])
        self.sides, _ = _padded([f'{side}"' for side in self.form.sides])

    @functools.cached_property
    def kernels(self) -> Any:
        slots = {**slots_of(self.game.rules), **self.codec._asdict()}
        del slots["longest"]
        return load_kernels("plyground.teaching.scan", slots, self.game.label)

    # ---- reading ----

    def read(self, lines: Sequence[bytes], records: Records, kept: Bools) -> None:
        """Fill the records [N] of the lines that are in the usual form and right, and mark these in `kept` [N]."""
        for first in range(0, len(lines), TOGETHER):
            part = slice(first, first + TOGETHER)
            self._read(lines[part], records[part], kept[part])

    def _read(self, lines: Sequence[bytes], records: Records, kept: Bools) -> None:
        content, most = b"".join(lines), self.game.rules.MAX_LEGAL
        text, ends = np.frombuffer(content, np.uint8), np.cumsum([len(line) for line in lines])
        found, valid = np.zeros(len(lines), SCANNED), np.empty((len(lines), most), np.int32)
        self.kernels.scan_all(text, ends, self.words, self.sizes, found, valid, kept)
        states = np.repeat(self.game.blank, len(lines))
        self.kernels.read_positions(text, found, states, kept)
        rows = np.flatnonzero(kept)
        found, valid, states, good = found[rows], valid[rows], states[rows], np.empty(len(rows), np.bool_)
        if "settle" in self.game.rules.compiled:
            self.game.kernels().settle_all(states)
        legal, counts = np.empty((len(rows), most), np.int32), np.empty(len(rows), np.int32)
        self.game.kernels().legal_lists(states, legal, counts, self.game.work())
        legal = np.ascontiguousarray(legal[:, : max(1, counts.max(initial=0))])
        numbers, out = self.form.actions(states, legal), np.empty(self.codec.longest, np.uint8)
        tolerance = SURE * SUM_ERROR
        self.kernels.check_all(text, found, valid, states, legal, numbers, self.sides, out, tolerance, good)
        kept[rows] = good
        records[rows[good]] = self._records(content, found[good], self.game.heads(states)[good], records.dtype)

    def _records(self, content: bytes, found: Records, heads: Records, dtype: np.dtype[np.void]) -> Records:
        """[N] records of lines that were found to be right."""
        records = np.zeros(len(found), dtype)
        records["state"], records["top"], records["value"] = heads, found["top"], found["value"]
        records["ply"], policy = found["ply"], found["policy"].astype(np.float32)
        records["policy"] = policy / policy.sum(1, keepdims=True)
        clocks = self.form.clocks
        texts = [content[begin:end] for begin, end in found["position"].tolist()]
        records["key"] = [hash_of_bytes(text.rsplit(b" ", clocks)[0] if clocks else text) for text in texts]
        records["game"] = [hash_of_bytes(content[begin:end]) for begin, end in found["game"].tolist()]
        return records

    # ---- writing ----

    def texts(self, states: Records) -> list[str]:
        """The texts of positions."""
        out, lengths = np.empty((len(states), self.codec.longest), np.uint8), np.empty(len(states), np.int64)
        self.kernels.write_positions(states, out, lengths)
        return _decoded(out, lengths)

    def names(self, states: Records, actions: NDArray[np.int32]) -> list[str]:
        """The names of actions [N] of states [N]."""
        out, lengths = np.empty((len(states), self.codec.longest), np.uint8), np.empty(len(states), np.int64)
        self.kernels.write_actions(states, actions, out, lengths)
        return _decoded(out, lengths)


def codec_of(game: Game) -> TextCodec:
    codec = game.rules.DATASET.codec
    assert codec is not None
    return codec


def _padded(words: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """[N, W] words as bytes, and their lengths [N]."""
    found = [word.encode() for word in words]
    sizes = np.array([len(word) for word in found])
    table = np.zeros((len(found), sizes.max()), np.uint8)
    for row, word in zip(table, found, strict=True):
        row[: len(word)] = np.frombuffer(word, np.uint8)
    return table, sizes


def _decoded(texts: NDArray[np.uint8], lengths: NDArray[np.int64]) -> list[str]:
    return [bytes(text[:length]).decode("ascii") for text, length in zip(texts, lengths.tolist(), strict=True)]


def hash_of(text: str) -> int:
    """64 bits, the same on every machine."""
    return hash_of_bytes(text.encode(errors="surrogatepass"))


def hash_of_bytes(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
