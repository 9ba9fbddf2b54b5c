"""The laws of the contract hold for every game, and a game that breaks one is caught."""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import JIT, TINY
from plyground import laws
from plyground.errors import BrokenGame

GAMES_PLAYED, STATES_KEPT = (200, 5000) if JIT else (6, 60)


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_law(game: pg.Game, law: Callable[[laws.Sample], None]) -> None:
    law(_sample(str(game), game))


_samples: dict[str, laws.Sample] = {}


def _sample(word: str, game: pg.Game) -> laws.Sample:
    if word not in _samples:
        most = STATES_KEPT // 2 if game.rules.hidden else STATES_KEPT  # each is looked at from every seat
        _samples[word] = laws.sample(game, GAMES_PLAYED, seed=7, most=most)
    return _samples[word]


BREAKS = {
    "legal_lists": ("duel", "actions[count] = card", "actions[count] = CARDS - 1 - card"),
    "fields": ("hops", 'state["to_move"] = 1 - state["to_move"]', 'state["to_move"] += 1'),
    "texts": ("hops", "int(again)\n", "0\n"),
    "names": ("hops", '("left", "right", "rest")[action]', '("left", "right", "left")[action]'),
    "fresh_start": ("hops", 'state["place"] = state["length"] // 2', 'state["length"] = 7'),
    "chance_is_declared": ("duel", "CHANCE = True", "CHANCE = False"),
    "heads_suffice": (
        "hops",
        'out[LONGEST] = state["again"]',
        'out[LONGEST] = state["repeats"] and state["seen"][situation(state)]',
    ),
    "encoders_fill": ("duel", 'out[CARDS] = state["taken"][seat] - state["taken"][1 - seat]', "pass"),
    "secrets_are_kept": ("duel", "if where == seat else", "if where == seat else 4.0 if where == DECK else"),
    "judgement": ("hops", "lead = (state", "lead = 2 * (state"),
}


@pytest.mark.parametrize("law", BREAKS)
def test_a_broken_game_is_caught(law: str, tmp_path: Path) -> None:
    name, right, wrong = BREAKS[law]
    source = Path(next(path for path in TINY if name in path)).read_text()
    assert source.count(right) == 1, "the test's edit no longer fits the game"
    path = tmp_path / f"{name}.py"
    path.write_text(source.replace(right, wrong))
    game = pg.load(str(path))
    with pytest.raises(BrokenGame) as caught:
        getattr(laws, law)(laws.sample(game, 40))
    assert path.name in str(caught.value)


@pytest.mark.parametrize("edit", ["carry", "action"])
def test_a_wrong_mirror_is_caught(edit: str, tmp_path: Path, connect_four: pg.Game) -> None:
    source = Path(connect_four.rules.module.__file__ or "").read_text()
    right, wrong = {
        "carry": ("np.uint64(42 - 7 * column)", "np.uint64(7 * column)"),
        "action": ("COLUMNS - 1 - action if", "action if"),
    }[edit]
    assert source.count(right) == 1
    path = tmp_path / "mirrored.py"
    path.write_text(source.replace(right, wrong))
    with pytest.raises(BrokenGame, match="symmetry 1"):
        laws.symmetries(laws.sample(pg.load(str(path)), 5))


def test_a_game_that_never_ends_is_caught(tmp_path: Path) -> None:
    source = Path(TINY[1]).read_text().replace("MAX_PLIES = 8 * LONGEST", "MAX_PLIES = 3")
    path = tmp_path / "endless.py"
    path.write_text(source)
    with pytest.raises(BrokenGame, match="still runs after MAX_PLIES = 3"):
        laws.sample(pg.load(str(path)), 20)


def test_missing_names_are_listed_at_once() -> None:
    module = types.ModuleType("half_a_game")
    module.STATE = np.dtype([("to_move", np.int8), ("outcome", np.int8)], align=True)  # type: ignore[attr-defined]
    with pytest.raises(BrokenGame, match="half_a_game does not define NUM_ACTIONS, MAX_LEGAL, MAX_PLIES, reset, legal"):
        pg.load(module)


def test_a_record_without_alignment_or_fields_is_refused(tmp_path: Path) -> None:
    source = (
        Path(TINY[0])
        .read_text()
        .replace('("outcome", np.int8)', '("result", np.int8)')
        .replace("align=True", "align=False")
    )
    path = tmp_path / "packed.py"
    path.write_text(source)
    with pytest.raises(BrokenGame, match=r"aligned record.*no field 'outcome'"):
        pg.load(str(path))
