"""Searched positions: what is noted of each, and that seed and number alone decide them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.errors import Error, InvalidValue
from plyground.games.interface import RUNNING
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import map_packed
from plyground.teaching.packed import header
from plyground.teaching.searched import DECIDED, SURE, SearchedGames, SearchedLines, make_searcher

ROW = str(ROOT / "examples" / "three_in_a_row.py")
SMALL: dict[str, Any] = {"game": "connect_four", "teacher": "minimax:nodes=50", "games": 40, "threads": 1}


def collected(path: Path, **settings: Any) -> Any:
    """The records of a small collection."""
    collect(Collect(**{**SMALL, **settings}), path, lambda *_: None)
    lines = SearchedLines(pg.load(settings.get("game", SMALL["game"])))
    return np.array(map_packed(path, lines, needed=lines.learned.names))


@pytest.mark.parametrize("name", ["connect_four", "chess", "paco_sako", ROW])
def test_each_position_has_what_its_search_found_and_how_its_game_ended(name: str) -> None:
    game = pg.load(name)
    search = make_searcher(game, "minimax:nodes=60")
    games, ends, loud = SearchedGames(game, search, 4, 120), list[str](), 0
    for number in range(4):
        records, how = games.play(3, number)
        ends.append(how)
        assert (np.diff(records["ply"]) == 1).all()
        results = {int(result) * (1 if record == 0 else -1) for result, record in
                   zip(records["result"], records["state"]["to_move"], strict=True)}  # of side 0  # fmt: skip
        assert results == {{"FIRST_WINS": 1, "SECOND_WINS": -1}.get(how, 0)}
        for record in records[::7]:
            states = game.blank.copy()
            for field in game.rules.HEAD.names or ():
                states[field][0] = record["state"][field]
            position = pg.Position(game, states)
            assert states["outcome"][0] == RUNNING
            found = search.search(position.states)
            if "loudness" in game.rules.compiled:
                checked = position.states["checkers"][0] != 0 if name == "chess" else None
                is_loud = game.rules.compiled["loudness"](states[0], found.action) > 0
                loud += is_loud
                if is_loud or checked:
                    assert record["quiet"] == 0
                elif checked is not None:
                    assert record["quiet"] == 1
    assert set(ends) <= {"FIRST_WINS", "SECOND_WINS", "DRAW", "STOPPED"}


def test_a_game_ends_when_the_search_is_sure_for_some_plies() -> None:
    """Of a win of the second side, from the tenth ply on."""
    game = pg.load("chess")
    search: Any = make_searcher(game, "minimax:nodes=20")
    real = search.search

    def sure(state: Any) -> Any:
        searches.append(1)
        value = 0.95 if state["to_move"][0] == 1 else -0.95
        return replace(real(state), value=value if len(searches) > 10 else 0.0)

    search.search, searches = sure, list[int]()
    records, how = SearchedGames(game, search, 0, 300).play(0, 1)
    assert how == "SECOND_WINS"
    assert (np.abs(records["value"]) > DECIDED).sum() == SURE
    assert len(records) == 9 + SURE
    assert (records["result"] == np.where(records["state"]["to_move"] == 1, 1, -1)).all()


def test_positions_with_equal_cells_have_one_key() -> None:
    game = pg.load("chess")
    games = SearchedGames(game, make_searcher(game, "minimax:nodes=1"), 0, 9)
    texts = [
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "4k3/8/8/8/8/8/4P3/4K3 w - - 5 9",  # another clock
        "4k3/4p3/8/8/8/8/8/4K3 b - - 0 1",  # the other side's
        "3k4/8/8/8/8/8/3P4/3K4 w - - 0 1",  # the other wing
        "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1",  # the other to move
        "4k3/8/8/8/8/4P3/8/4K3 w - - 0 1",
    ]
    states = np.concatenate([game.position(text).states for text in texts])
    legal = np.array([game.position(text).legal()[0] for text in texts], np.int32)
    keys, quiet = np.zeros(len(texts), np.uint64), np.zeros(len(texts), np.int8)
    games.notes.note_all(states, legal, games.cells, games.work, keys, quiet)
    assert len({*keys[:4].tolist()}) == 1
    assert len({*keys.tolist()}) == 3
    assert quiet.all()


def test_processes_interruptions_and_the_order_of_games_change_no_position(tmp_path: Path) -> None:
    whole = collected(tmp_path / "whole.packed", games=300)
    several = collected(tmp_path / "several.packed", games=300, threads=2)
    assert (whole == several).all()
    assert len({*whole["key"].tolist()}) == len(whole), "each position once"
    stops = iter([False] * 130 + [True] * 1000)
    config, path = Collect(**{**SMALL, "games": 300}), tmp_path / "parts.packed"
    found = collect(config, path, lambda *_: None, lambda: next(stops))
    assert 0 < found["games"] < 300
    path.write_bytes(path.read_bytes() + b"half a record")  # a write that was interrupted
    assert (collected(path, games=300) == whole).all()


def test_positions_of_others_are_checked(tmp_path: Path) -> None:
    game = pg.load("connect_four")
    lines, records = SearchedLines(game), collected(tmp_path / "own.packed")
    for name, value in (("result", 2), ("quiet", 3), ("value", np.nan)):
        forged, path = records.copy(), tmp_path / f"{name}.packed"
        forged[name][5] = value
        path.write_bytes(header(game, lines.dtype) + forged.tobytes())
        with pytest.raises(InvalidValue, match="position 6"):
            map_packed(path, lines, needed=lines.learned.names)


def test_what_cannot_be_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="minimax:nodes=1000, not minimax:depth=3"):
        collected(tmp_path / "a.packed", teacher="minimax:depth=3")
    with pytest.raises(InvalidValue, match="are kept packed"):
        collected(tmp_path / "a.ndjson")
    with pytest.raises(Error, match="nothing is hidden"):
        collected(tmp_path / "b.packed", game="sequence")
