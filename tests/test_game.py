"""Loading games, their settings and their positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.game import module_of_file
from plyground.games.rng import below
from plyground.kernels.numba_internals import options_of


def test_an_unknown_game_gets_a_suggestion() -> None:
    with pytest.raises(pg.UnknownName, match="no game 'conect_four'; did you mean 'connect_four'"):
        pg.load("conect_four")
    with pytest.raises(pg.UnknownName, match="known: connect_four"):
        pg.load("")
    with pytest.raises(pg.InvalidValue, match="no such file"):
        pg.load("nowhere.py")


def test_a_file_that_does_not_run_is_named(tmp_path: Path) -> None:
    path = tmp_path / "oops.py"
    path.write_text("def (")
    with pytest.raises(pg.InvalidValue, match=r"oops\.py' does not run: SyntaxError"):
        pg.load(str(path))


def test_a_file_changes_nothing_of_what_it_imports(tmp_path: Path) -> None:
    """Other games' kernels would be compiled again in this process, as with other options."""
    before, path = dict(options_of(below)), tmp_path / "drawing.py"
    path.write_text("from plyground.games.rng import below\nfrom numba import njit\n\n\n@njit\ndef own(): pass\n")
    assert options_of(module_of_file(str(path), "game").own)["nogil"]
    assert options_of(below) == before


def test_settings_come_by_keyword_or_in_the_name() -> None:
    word = TINY[1]
    by_name, by_keyword = pg.load(f"{word}:length=7,resting=forbidden"), pg.load(word, length=7, resting="forbidden")
    assert str(by_name) == str(by_keyword) == f"{word}:length=7,resting=forbidden"
    assert str(pg.load(word, length=9)) == word
    assert pg.load(word).start().text == "----o---- 0 0 running"
    assert by_name.start().text == "---o--- 0 0 running"
    assert by_name.start().names() == ["left", "right"]
    assert pg.load(word).start().names() == ["left", "right", "rest"]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("connect_four:size=8", "no setting of connect_four 'size'; known: none"),
        (f"{TINY[1]}:lenght=7", "did you mean 'length'"),
        (f"{TINY[1]}:length=8", "length cannot be '8'; it is one of: 5, 7, 9, 11, 13, 15"),
        (f"{TINY[1]}:length", "cannot read 'length' in"),
        (f"{TINY[1]}:length=5,length=7", "cannot read 'length=7'"),
        (f"{TINY[1]}:", "cannot read ''"),
    ],
)
def test_wrong_settings_are_refused(word: str, message: str) -> None:
    with pytest.raises(pg.Error, match=message):
        pg.load(word)


def test_a_text_game_refuses_arrays() -> None:
    with pytest.raises(pg.InvalidText, match="reads positions from texts, not from list"):
        pg.load(TINY[1]).position([1, 2])


def test_the_tutorial_game_has_its_known_number_of_games() -> None:
    start = pg.load(str(ROOT / "examples" / "three_in_a_row.py")).start()
    assert [start.perft(depth) for depth in range(10)] == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


def test_a_path_may_be_a_path_and_have_colons(tmp_path: Path) -> None:
    folder = tmp_path / "a:b"
    folder.mkdir()
    path = folder / "hops.py"
    path.write_text(Path(TINY[1]).read_text())
    assert pg.load(path).start().text == "----o---- 0 0 running"
    assert pg.load(f"{path}:length=5").start().text == "--o-- 0 0 running"


def test_the_package_lists_what_it_offers() -> None:
    assert set(dir(pg)) == {*pg.__all__, "__version__"}
    for name in dir(pg):
        assert getattr(pg, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        pg.lode  # noqa: B018


def test_agents_choose_moves_and_play_matches(connect_four: pg.Game) -> None:
    position = connect_four.position("121212")
    assert position.name(position.ask(pg.agent("greedy", connect_four))) == "1"
    agents = [pg.agent(word, connect_four) for word in ("greedy", "random")]
    assert pg.match(connect_four, *agents, games=20).score > 0.7


def test_heads_are_copied_byte_by_byte_from_any_rows() -> None:
    game = pg.load("chess")
    states = np.repeat(game.start().states, 6)
    states.view(np.uint8)[:] = np.arange(states.nbytes, dtype=np.uint64).astype(np.uint8)  # padding too
    expected = states.view(np.uint8).reshape(6, -1)[::2, : game.rules.HEAD.itemsize]
    heads = game.heads(states[::2])
    assert np.array_equal(heads.view(np.uint8).reshape(3, -1), expected)
    states.view(np.uint8)[:] = 0
    assert heads.view(np.uint8).any(), "heads are copies"


def test_a_game_is_loaded_as_it_is_or_with_other_settings() -> None:
    game = pg.load("sequence:seats=4")
    assert pg.load(game) is game
    assert pg.load(game, rules="boxed") == pg.load("sequence", seats=4, rules="boxed")


def test_a_game_is_shown_by_its_sizes() -> None:
    assert repr(pg.load("chess")) == "<game chess: 4,168 actions, 2 seats, planes-v1 20x8x8 and 2 more>"


def test_a_folder_is_no_game(tmp_path: Path) -> None:
    with pytest.raises(pg.InvalidValue, match=f"is a folder, not a game; .* an agent, run:{tmp_path}"):
        pg.load(tmp_path)
    with pytest.raises(pg.InvalidValue, match=r"is a folder, not a game; .* an agent, run:/$") as error:
        pg.load("/" * 3000)
    assert len(str(error.value)) < 200
