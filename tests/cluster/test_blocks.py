"""Blocks as bytes: what was sent arrives, and anything else is refused."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plyground as pg
from plyground.cluster import blocks
from plyground.cluster.blocks import BOOTSTRAPPED, CHECKSUM, HEADER, Block, Columns, DamagedBlock, decode, encode
from plyground.game import Game

pytestmark = pytest.mark.once
FOUR = pg.load("connect_four")
RESULTS = {"counts": {"games": 2, "longest": 9}, "reasons": {"four in a row": 2}}


def plies_of(kind: str, game: Game, count: int, seed: int = 0) -> Columns:
    """Plies of random numbers, with policies of different lengths."""
    rng = np.random.default_rng(seed)
    head, edges = game.rules.HEAD.itemsize, min(5, game.rules.MAX_LEGAL)
    found: Columns = {
        "states": rng.integers(0, 256, (count, head), np.uint8),
        "actions": rng.integers(0, game.num_actions, count, np.int32),
        "rewards": rng.normal(size=count).astype(np.float32),
        "flags": rng.integers(0, 3, count, np.uint8) | rng.integers(0, 8, count, np.uint8) << np.uint8(3),
        "values": rng.normal(size=count).astype(np.float32),
    }
    if kind == "ppo":
        after = rng.integers(0, 256, (count, head), np.uint8) * ((found["flags"] & BOOTSTRAPPED) != 0)[:, None]
        return {**found, "log_probs": rng.normal(size=count).astype(np.float32), "next_states": after}
    there = np.arange(edges) < rng.integers(1, edges + 1, count)[:, None]
    policy = (rng.uniform(0.1, 1, (count, edges)) * there).astype(np.float16)
    actions = (rng.integers(0, game.num_actions, (count, edges)) * there).astype(blocks.action_type(game))
    return {**found, "policy": policy, "policy_actions": actions}


def block_of(kind: str, count: int = 20, game: Game = FOUR, seed: int = 0) -> Block:
    return Block(3, 7, 5, plies_of(kind, game, count, seed), RESULTS)


def same_columns(one: Columns, other: Columns) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        found = other[name]
        if values.ndim == 2:  # as wide as the longest policy
            found = np.pad(found, ((0, 0), (0, values.shape[1] - found.shape[1])))
        assert np.array_equal(values, found), name


@given(
    st.sampled_from(blocks.KINDS), st.integers(0, 40), st.integers(0, 99), st.sampled_from(["connect_four", "chess"])
)
def test_what_was_sent_arrives(kind: str, count: int, seed: int, name: str) -> None:
    game = pg.load(name)
    sent = block_of(kind, count, game, seed)
    found = decode(encode(sent, kind, game), kind, game)
    same_columns(sent.plies, found.plies)
    assert (found.stream, found.number, found.weights) == (3, 7, 5)
    assert (found.results, len(found)) == (RESULTS, count)


@given(st.sampled_from(blocks.KINDS), st.data())
def test_a_block_with_any_changed_byte_is_refused(kind: str, data: Any) -> None:
    sent = bytearray(encode(block_of(kind, 4), kind, FOUR))
    place = data.draw(st.integers(0, len(sent) - 1))
    sent[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedBlock):
        decode(bytes(sent), kind, FOUR)


@given(st.sampled_from(blocks.KINDS), st.integers(0, 500))
def test_a_block_that_is_cut_short_or_too_long_is_refused(kind: str, length: int) -> None:
    sent = encode(block_of(kind, 8), kind, FOUR)
    with pytest.raises(DamagedBlock):
        decode(sent[: min(length, len(sent) - 1)], kind, FOUR)
    with pytest.raises(DamagedBlock, match=r"block 7 has \d+ bytes; \d+ have arrived"):
        decode(sent + b"x", kind, FOUR)


@given(st.binary(max_size=300))
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedBlock):
        decode(data, "ppo", FOUR)


def sealed(header: list[Any], rest: bytes) -> bytes:
    """A block with any header, whose checksum is right."""
    bare = HEADER.pack(*header[:-1], bytes(CHECKSUM))[:-CHECKSUM]
    return bare + hashlib.sha256(bare + rest).digest() + rest


@given(
    st.sampled_from(blocks.KINDS),
    st.lists(st.sampled_from([0, 1, 3, 20, 21, 100, 2**31, 2**32 - 1]), min_size=4, max_size=4),
)
def test_counts_that_do_not_fit_are_refused_even_with_a_right_checksum(kind: str, counts: list[int]) -> None:
    sent = encode(block_of(kind), kind, FOUR)
    header, rest = list(HEADER.unpack(sent[: HEADER.size])), sent[HEADER.size :]
    assert header[7] == 20
    if header[7:11] == counts:
        return
    header[7:11] = counts
    with pytest.raises(DamagedBlock):
        decode(sealed(header, rest), kind, FOUR)


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("actions", 7, "block 7 holds actions that connect_four does not have"),
        ("policy_actions", -1, "block 7 holds policy_actions that"),
        ("values", np.nan, "block 7 holds values that are not finite"),
        ("policy", np.inf, "block 7 holds policy that are not finite"),
        ("flags", 3, "block 7 holds flags that no player writes"),
    ],
)
def test_numbers_that_no_player_writes_are_refused(column: str, value: float, sentence: str) -> None:
    plies = plies_of("alphazero", FOUR, 5)
    plies[column][:] = value
    with pytest.raises(DamagedBlock, match=sentence):
        decode(encode(Block(0, 7, 0, plies, RESULTS), "alphazero", FOUR), "alphazero", FOUR)


def test_results_are_checked() -> None:
    for wrong in ({"counts": {"games": "2"}}, {"counts": 1}):
        sent = encode(Block(0, 7, 0, plies_of("ppo", FOUR, 5), json.loads(json.dumps(wrong))), "ppo", FOUR)
        with pytest.raises(DamagedBlock, match="results that cannot be read"):
            decode(sent, "ppo", FOUR)


def test_a_block_of_another_game_or_learner_is_refused() -> None:
    sent = encode(block_of("ppo"), "ppo", FOUR)
    for kind, game in (("alphazero", FOUR), ("ppo", pg.load("chess")), ("ppo", pg.load("paco_sako"))):
        with pytest.raises(DamagedBlock, match="block 7 was not played for"):
            decode(sent, kind, game)


def test_a_chess_position_with_a_policy_over_all_its_moves_takes_less_than_300_bytes() -> None:
    game, rng = pg.load("chess"), np.random.default_rng(0)
    batch = pg.Batch(game, 64, seed=1)
    sizes: list[float] = []
    for ply in range(60):
        batch.step(batch.random_actions())
        if ply % 10 < 9:
            continue
        mask = batch.legal_mask()  # [N, A]
        edges = min(64, int(mask.sum(1).max()))
        order = np.argsort(~mask, axis=1, kind="stable")[:, :edges]  # legal actions first
        there = np.take_along_axis(mask, order, 1)
        plies = plies_of("alphazero", game, len(mask))
        plies["states"] = game.heads(batch.states).view(np.uint8).reshape(len(mask), -1)
        plies["policy"] = (rng.uniform(0.01, 1, there.shape) * there).astype(np.float16)
        plies["policy_actions"] = (order * there).astype(np.int16)
        sizes.append(len(encode(Block(0, 0, 0, plies, RESULTS), "alphazero", game)) / len(mask))
    assert 150 < np.mean(sizes) < 300, sizes
