"""Sequence's keys for tables: the vectors they stand for, and that they tell no secrets."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from compiled import Compiled, compiled
from conftest import JIT
from plyground.checks import laws
from plyground.games.rng import seeds
from plyground.games.sequence import cards
from plyground.games.sequence import patterns as module
from plyground.games.sequence import table_keys as keys
from plyground.kernels.table import Rule
from plyground.tables import Table

patterns = Compiled(module)
hearts = compiled(keys.hearts)
RULE = Rule(False, 0.1, True, 0.9, 0.0, 0.4, 0.6, 0.5, 0.1, 0.0, float(np.log1p(15000)), 10.0)


def _look(table: Table, state: np.void) -> tuple[int, dict[int, tuple[float, int]]]:
    """The word of a state, and of each effect that is possible there the reward and the word; as the kernels see it."""
    states, scratch = np.array([state]), table.scratch()
    table.choose(states, np.zeros(1, np.uint64), RULE, table.entries, scratch)
    effects = np.flatnonzero(scratch.seen[0]).tolist()
    return int(scratch.key[0]), {each: (float(scratch.rewards[0, each]), int(scratch.words[each])) for each in effects}


def _counts(word: int, bits: int, names: tuple[str, ...]) -> list[int]:
    return [word >> bits * k & (2**bits - 1) for k in range(len(names))]


def test_the_words_of_patterns_are_the_vectors() -> None:
    game, values = pg.load("sequence"), patterns.DEFAULT_VALUES
    table, other, stored = Table(game, "patterns"), Table(game, "cards"), 0
    for state in laws.sample(game, 20 if JIT else 1, seed=3, most=120 if JIT else 2).states:
        side, vector = int(state["to_move"]), np.zeros(12, np.float32)
        patterns.state_vector(state, side, vector[:11])
        word, effects = _look(table, state)
        assert _counts(word, keys.STATE_BITS, patterns.STATE_VECTOR) == vector[:11].astype(int).tolist()
        for effect, (reward, word) in effects.items():
            patterns.action_vector(state, effect, vector)
            assert _counts(word, keys.ACTION_BITS, patterns.ACTION_VECTOR) == vector.astype(int).tolist()
            score = patterns.action_score(state, effect, side, values)
            assert reward == pytest.approx(np.log1p(score) / np.log(15001))
            stored += word != 0
        assert {e: reward for e, (reward, _) in _look(other, state)[1].items()} == {
            e: r for e, (r, _) in effects.items()
        }
    assert stored > 0


def test_an_action_is_its_effect_and_its_draw() -> None:
    game, table = pg.load("sequence"), Table(pg.load("sequence"), "patterns")
    position = game.start(3)
    scratch = table.scratch()
    states, rng = position.states, np.zeros(1, np.uint64)
    table.choose(states, rng, RULE, table.entries, scratch)
    legal = position.legal()
    assert set(np.flatnonzero(scratch.seen[0])) == {action % cards.MOVES for action in legal}
    slots = sorted({action // cards.MOVES for action in legal})
    assert np.flatnonzero(scratch.seen[1]).tolist() == slots
    for slot in slots:
        worth = patterns.card_score(states[0], states[0]["display"][slot], 0, patterns.DEFAULT_VALUES)
        assert scratch.rewards[1, slot] == pytest.approx(np.log1p(worth) / np.log(15001))


@pytest.mark.parametrize("word", ["sequence", "sequence:seats=4", "sequence:rules=boxed"])
def test_keys_tell_no_secrets(word: str) -> None:
    game, seen = pg.load(word), set[int]()
    redrawn = (states := laws.sample(game, 20 if JIT else 1, seed=6, most=150 if JIT else 2).states).copy()
    game.kernels().determinize_all(redrawn, redrawn["turn"].astype(np.int32), seeds(5, len(redrawn)))
    table, plain = Table(game, "cards"), Table(game, "patterns")
    for before, after in zip(states, redrawn, strict=True):
        assert _look(table, before) == _look(table, after)
        assert _look(plain, before) == _look(plain, after)
        seen.add(_look(table, before)[0])
    assert not JIT or len(seen) > 3
    assert not JIT or not (states["hands"] == redrawn["hands"]).all()


def test_what_an_action_leaves_behind() -> None:
    """Red has four in row 5 with both ends open; blue holds 9d, which blocks one end, and is known to hold a jack."""
    text = (
        "#________#/__________/__________/__________/___rrrr___/____bb____/__________/__________/__________/#________# "
        "turn=0 hands=7c2cjd4c5c6c,9d+jc+2d3d4d5d display=9d9sts3s4s deck=5s6s7s discards=6h5h4hahjd2h3h"
    )
    position = pg.load("sequence").position(text, strict=False)
    table = Table(position.game, "cards")

    def said(name: str) -> str:
        effect = position.action(name) % cards.MOVES
        return table.key.read((0, _look(table, position.state)[1][effect][1]))[1]

    state, _ = table.key.read((_look(table, position.state)[0], 0))
    assert state == "their known two-eyed jacks 1, unseen two-eyed jacks 1"
    assert said("place 7c c5 take 9d") == "own sequences 1, own two-eyed jacks 1"
    # d6 spends the jack; the four stays with two ways to complete it, one of them with 7c
    assert said("place jd d6 take 9d") == "own ways to a sequence 2, own cells to complete 1"
    position.state["to_move"] = position.state["turn"] = 1
    assert said("place 9d h5 take 9d") == "own two-eyed jacks 1, their ways to a sequence 1"
    assert said("place 2d j6 take 9d") == "own two-eyed jacks 1, their ways to a sequence 2"
    position.state["drawn"][0, 0] = cards.OPEN  # now blue knows of 7c
    assert said("place 9d h5 take 9d").endswith("their known cells to complete 1")
    position.state["hands"][0, 0] = cards.NUMBER_OF["9d"]
    assert "their known cells" in said("place 2d j6 take 9d")
    assert "their known cells" not in said("place 9d h5 take 9d"), "it stands in the way"


def test_the_card_that_goes_on_with_a_four() -> None:
    """Red makes three a four on g5; c5 (7c) or h5 (9d) would complete it."""
    board = (
        "#________#/__________/__________/__________/___rrr____/__________/__________/__________/__________/#________#"
    )
    for hand, display, expected in (("7c", "2c", 1), ("2c", "9d", 1), ("2c", "2c", 0)):
        text = f"{board} turn=0 hands=ah{hand}3c4c5c6c,2d3d4d5d6d7d display={display}9sts3s4s deck=5s6s7s"
        position = pg.load("sequence").position(text, strict=False)
        _, effects = _look(Table(position.game, "cards"), position.state)
        _, word = effects[position.action(f"place ah g5 take {display}") % cards.MOVES]
        assert word >> keys.BITS * keys.MY_CELLS & 15 == expected


def test_the_patterns_left_behind_are_those_of_the_next_board() -> None:
    """Only the lines through one cell are counted anew: the same as counting the whole board."""
    game, rng, looked = pg.load("sequence"), np.random.default_rng(4), 0
    now, before, after, whole = (np.zeros(11, np.float32) for _ in range(4))
    for state in laws.sample(game, 20 if JIT else 1, seed=9, most=100 if JIT else 3).states:
        side, cell = int(state["to_move"]), int(cards.CELL_OF[rng.integers(96)])
        patterns.state_vector(state, side, now)
        mark = cards.EMPTY if state["cells"][cell] != cards.EMPTY else cards.CHIP + side
        patterns.lines_through(state, cell, int(state["cells"][cell]), side, before)
        patterns.lines_through(state, cell, mark, side, after)
        state["cells"][cell] = mark
        patterns.state_vector(state, side, whole)
        assert (now - before + after == whole).all()
        looked += 1
    assert looked


def test_hearts_count_only_while_they_can_become_all() -> None:
    state = pg.load("sequence").start().state
    first, second, third, fourth = cards.HEARTS
    assert hearts(state, first, -1, 0) == (0, 0)
    state["cells"][second] = state["cells"][third] = cards.RED
    assert hearts(state, -1, -1, 0) == (1, 0)
    assert hearts(state, fourth, -1, 0) == (2, 0)
    assert hearts(state, -1, -1, 1) == (0, 1)
    assert hearts(state, -1, second, 1) == (0, 0)
    state["cells"][first] = cards.BLUE
    assert hearts(state, fourth, -1, 0) == (0, 0)
