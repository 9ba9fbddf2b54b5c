"""Cells: what a game's `write` says, beside a naive twin, and what follows from groups and values alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import JIT, ROOT, TESTS
from naive import cells as naive
from plyground.checks import laws
from plyground.errors import BrokenGame
from plyground.games.cells import Cells, Group, mirrored

ROW = ROOT / "examples" / "three_in_a_row.py"
Twin = Callable[[str, int], list[int]]


def three_in_a_row(text: str, seat: int) -> list[int]:
    return [(".xo", ".ox")[seat].index(mark) for mark in text]


@pytest.mark.parametrize(
    ("word", "twin"),
    [
        ("connect_four", naive.connect_four),
        ("chess", naive.chess),
        ("paco_sako", naive.paco_sako),
        ("sequence", naive.sequence),
        ("sequence:rules=boxed", naive.sequence),
        ("sequence:seats=4", naive.sequence),
        ("sequence:rules=boxed,seats=4", naive.sequence),
        (str(ROW), three_in_a_row),
    ],
    ids=lambda value: Path(value).name if isinstance(value, str) else "",
)
def test_cells_are_what_a_naive_twin_reads_off_the_text(word: str, twin: Twin) -> None:
    game = pg.load(word)
    states = laws.sample(game, 40 if JIT else 2, seed=5, most=800 if JIT else 30).every
    for seat in range(game.rules.SEATS):
        for found, state in zip(game.write_cells(states, seat), states, strict=True):
            text = game.rules.view(state, seat) if game.rules.hidden else game.rules.text(state)
            assert found.tolist() == twin(text, seat), text


POSITIONS = {
    "chess": [
        "4k3/8/8/8/3pP3/8/8/R3K3 b Q e3 0 1",
        "4k3/8/8/3Pp3/8/8/8/2K4R w - e6 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 0 1",
        "r3k2r/8/8/8/8/8/8/2KR4 b k - 0 1",
        "2kr4/8/8/8/8/8/8/R3K2R w Q - 0 1",
    ],
    "paco_sako": [
        "8/8/8/8/8/8/8/8 w 0 - - -",
        "8/8/8/8/2p5/8/3D4/4K3^e7d b 7 - d3 -",
        "4k3/8/8/8/8/8/8/R3K3 b 0 A - -",
        "8/8/8/8/2p5/8/3D4/4K3^e7G w 7 Ha c6 -",
    ],
}


@pytest.mark.parametrize("word", POSITIONS)
def test_rare_cells_are_what_the_twin_reads(word: str) -> None:
    for text in POSITIONS[word]:
        position = pg.load(word).position(text)
        for seat in range(2):
            assert position.game.write_cells(position.states, seat)[0].tolist() == getattr(naive, word)(text, seat)


def test_the_seat_to_act_looks_unless_another_is_named(game: pg.Game) -> None:
    if game.rules.CELLS is None:
        pytest.skip("without cells")
    batch = pg.Batch(game, 30 if JIT else 4, seed=2)
    batch.random_play(5)
    found = game.write_cells(batch.states)
    for row in range(len(batch)):
        states = batch.states[row : row + 1]
        assert (game.write_cells(states, batch.position(row).seat) == found[row]).all()
    room = np.empty_like(found)
    assert game.write_cells(batch.states, 0, room) is room


def test_chess_is_mirrored_when_the_own_king_crosses_the_middle() -> None:
    game = pg.load("chess")
    one, other = (
        game.position(f"4k3/8/8/8/8/8/{pawns}/{king} w - - 0 1") for pawns, king in (("5PPP", "6K1"), ("PPP5", "1K6"))
    )
    board = game.cells.places["board"]
    own = [game.write_cells(each.states)[0, board] for each in (one, other)]
    rest = own[0] != 12
    assert (own[0][rest] == own[1][rest])[:-12].all(), "the same pawns before the same king"
    here, there = (game.write_cells(one.play(move).states, 0)[0] for move in ("Kf1", "Kh1"))
    before = game.write_cells(one.states, 0)[0]
    assert (here != before).sum() == (there != before).sum() == 2, "a step of the king on its wing"


def test_a_stone_changes_its_cell_and_the_one_above(connect_four: pg.Game) -> None:
    before, after = (connect_four.write_cells(connect_four.position(text).states, 0)[0] for text in ("4", "44"))
    assert np.flatnonzero(before != after).tolist() == [3 + 7 * 3, 3 + 7 * 4]
    assert before[[24, 31]].tolist() == [0, 3]
    assert after[[24, 31]].tolist() == [3, 2]


GROUPS = (Group("board", 6, 3, (2, 3), layers=2), Group("counter", 1, 10), Group("hand", 2, 4))


def test_places_values_and_features_follow_from_the_groups() -> None:
    cells = Cells(GROUPS, lambda: None)
    assert (cells.count, cells.num_features) == (15, 12 * 2 + 9 + 2 * 3)
    assert cells.places == {"board": slice(0, 12), "counter": slice(12, 13), "hand": slice(13, 15)}
    assert cells.values.tolist() == [3] * 12 + [10, 4, 4]
    assert cells.features.tolist() == [*range(0, 24, 2), 24, 33, 36]
    assert cells.images.tolist() == [list(range(15))]


def test_every_value_but_nothing_has_a_feature_of_its_own() -> None:
    cells = Cells(GROUPS, lambda: None)
    every = [
        first + value - 1 for first, most in zip(cells.features, cells.values, strict=True) for value in range(1, most)
    ]
    assert every == list(range(cells.num_features))


def test_neighbours_lie_in_eight_directions_and_in_the_other_layers() -> None:
    near = [sorted(each.tolist()) for each in Cells(GROUPS, lambda: None).neighbours]
    assert near[0] == [1, 3, 4, 6]
    assert near[4] == [0, 1, 2, 3, 5, 10]
    assert near[11] == [5, 7, 8, 10]
    assert near[12] == near[13] == near[14] == []
    assert all(cell in near[other] for cell in range(15) for other in near[cell])


def test_a_mirror_exchanges_columns_in_every_layer_of_a_shape() -> None:
    images = mirrored(GROUPS)
    assert images.tolist() == [2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 12, 13, 14]
    assert Cells(GROUPS, lambda: None, [np.arange(15), images]).images[1, 0] == 2


@pytest.mark.parametrize(
    ("size", "values", "shape", "layers"),
    [(0, 2, None, 1), (4, 1, None, 1), (4, 2, (2, 3), 1), (4, 2, None, 0), (4, 40_000, None, 1)],
)
def test_a_group_that_cannot_be_is_refused(size: int, values: int, shape: tuple[int, int] | None, layers: int) -> None:
    with pytest.raises(pg.InvalidValue, match="group"):
        Group("board", size, values, shape, layers)


def test_values_and_cells_have_words_for_people() -> None:
    words = ("own pawn", "own king", "their pawn", "their king")
    cells = Cells((Group("board", 6, 3, (2, 3), 2, words), *GROUPS[1:]), lambda: None)
    found = [cells.in_words(cell, value) for cell, value in ((0, 2), (5, 0), (6, 1), (11, 2), (12, 7), (14, 0))]
    assert found == ["own king", "empty", "their pawn", "their king", "7", "empty"]
    names = cells.names(np.void(b""), 0)
    assert names[4:8] == ["board 2,2", "board 2,3", "board 1,1", "board 1,2"], "both layers"
    assert names[12:] == ["counter", "hand 1", "hand 2"]
    with pytest.raises(pg.InvalidValue, match="the group 'board' has words for 4 values, not 2"):
        Group("board", 6, 3, (2, 3), 2, words[:2])


def test_cells_that_cannot_be_are_refused() -> None:
    with pytest.raises(pg.InvalidValue, match="different names"):
        Cells((GROUPS[0], GROUPS[0]), lambda: None)
    for images in ([[0] * 15], [[0, 1]], [list(range(1, 16))], list(range(15))):
        with pytest.raises(pg.InvalidValue, match="permutations of all 15 cells"):
            Cells(GROUPS, lambda: None, images)


def test_a_game_without_cells_says_what_to_add() -> None:
    game = pg.load(str(TESTS / "tiny_games" / "race.py"))
    assert game.rules.module.CELLS == 12, "what the name means to a game older than it"
    with pytest.raises(pg.InvalidValue, match=r"has no cells: add CELLS, as docs/adding_a_game.md says"):
        game.write_cells(game.start().states)


def test_wrong_seats_and_rooms_are_refused(connect_four: pg.Game) -> None:
    states = connect_four.start().states
    for seat in (-1, 2, 0.5):
        with pytest.raises(pg.InvalidValue, match="has seats 0 to 1, not"):
            connect_four.write_cells(states, seat)  # type: ignore[arg-type]
    for room in (np.empty((1, 41), np.int16), np.empty((2, 42), np.int16), np.empty((1, 42), np.int8)):
        with pytest.raises(pg.InvalidValue, match="`out` is a writable, contiguous int16 of shape"):
            connect_four.write_cells(states, out=room)  # type: ignore[arg-type]


def test_images_without_a_row_for_each_symmetry_are_refused(tmp_path: Path) -> None:
    source = (TESTS / "tiny_games" / "every_name.py").read_text()
    path = tmp_path / "flat.py"
    path.write_text(source.replace(", [[0, 1, 2], [1, 0, 2]])", ")"))
    with pytest.raises(BrokenGame, match=r"`images` of CELLS has 1 rows for 2 SYMMETRIES; see .*flat.py, line"):
        _ = pg.load(str(path)).cells
