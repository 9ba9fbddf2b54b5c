"""Table keys by name and version, and the key of the whole state."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.games.table_key import exact, pick_key


def test_keys_are_found_by_full_and_by_short_name() -> None:
    rules = pg.load("sequence").rules
    assert [str(pick_key(rules, name)) for name in ("", "patterns", "cards", "cards-v1")] == [
        *("patterns-v1", "patterns-v1", "cards-v1", "cards-v1")
    ]
    with pytest.raises(pg.UnknownName, match="no table key 'card'; did you mean"):
        pick_key(rules, "card")


def test_a_game_that_hides_something_needs_a_key_of_its_own() -> None:
    with pytest.raises(pg.InvalidValue, match=r"duel\.py hides something from its players .* add KEYS"):
        pick_key(pg.load(TINY[0]).rules)


def test_the_exact_key_is_read_back_as_state_and_action(connect_four: pg.Game) -> None:
    key, position = pick_key(connect_four.rules), connect_four.position("4453")
    assert str(key) == str(exact(connect_four.rules)) == "exact-v1"
    record = np.zeros(8 * (key.words - 1), np.uint8)
    heads = connect_four.heads(position.states).view(np.uint8)
    record[: len(heads)] = heads
    words = [int(word) for word in record.view(np.uint64)]
    assert key.read((*words, 3 + 1)) == (position.text, "4")
