"""The memory of trees: how much they need, and that it is said before it is taken."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plyground.errors import InvalidValue
from plyground.search.tree_memory import check_memory, edges_per_node, new_result, new_trees, tree_bytes, words_of

pytestmark = pytest.mark.compiled


def test_the_memory_of_trees_is_what_is_said(connect_four: pg.Game) -> None:
    trees = new_trees(connect_four, 3, 100)
    shared = ("words", "ahead_words")  # the same memory as the records
    taken = sum(array.nbytes for name, array in trees._asdict().items() if name not in shared)
    assert taken == 3 * tree_bytes(connect_four, 100)
    assert np.shares_memory(trees.words, trees.states)


def test_edges_have_room_for_more_than_random_games_need(connect_four: pg.Game) -> None:
    assert edges_per_node(connect_four) == 7
    assert 30 < edges_per_node(pg.load("chess")) < 80


def test_too_many_trees_are_refused_with_the_numbers(connect_four: pg.Game) -> None:
    with pytest.raises(
        InvalidValue, match=r"^1000 search trees of 100000000 nodes of connect_four need 2.* GB, where "
    ):
        check_memory(connect_four, 100_000_000, 1000)


def test_a_result_has_a_row_for_each_position(connect_four: pg.Game) -> None:
    result = new_result(connect_four, 5)
    assert all(len(array) == 5 for array in result)
    assert words_of(connect_four.start().states).tobytes() == connect_four.start().states.tobytes()
