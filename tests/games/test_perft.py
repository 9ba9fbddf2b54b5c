"""Perft numbers from the data files in tests/perft, which anyone can add to."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from conftest import JIT, TESTS
from naive.connect_four import Board
from plyground.games import GAMES

DEEPEST = 50_000_000 if JIT else 500


def _entries() -> list[tuple[str, str, int, int]]:
    entries: list[tuple[str, str, int, int]] = []
    for path in sorted((TESTS / "perft").glob("*.perft")):
        position = ""
        for line in path.read_text().splitlines():
            if line.startswith("position "):
                position = line.removeprefix("position ")
            elif line and not line.startswith("#"):
                depth, count = map(int, line.split())
                entries.append((path.stem, position, depth, count))
    return entries


@pytest.mark.slow
@pytest.mark.parametrize(("name", "position", "depth", "count"), [entry for entry in _entries() if entry[3] > DEEPEST])
def test_deep_perft(name: str, position: str, depth: int, count: int) -> None:
    assert pg.load(name).position(position).perft(depth) == count


@pytest.mark.parametrize(("name", "position", "depth", "count"), [entry for entry in _entries() if entry[3] <= DEEPEST])
def test_perft(name: str, position: str, depth: int, count: int) -> None:
    start = pg.load(name).position(position)
    assert start.perft(depth) == count
    if count < 10_000:
        assert sum(start.divide(depth).values()) == count


def test_every_game_without_chance_has_a_perft_file() -> None:
    with_chance = {name for name in GAMES if pg.load(name).rules.CHANCE}
    assert {Path(path).stem for path in (TESTS / "perft").glob("*.perft")} == set(GAMES) - with_chance


def test_the_naive_twin_counts_the_same(connect_four: pg.Game) -> None:
    def count(moves: list[int], depth: int) -> int:
        board = Board()
        for move in moves:
            board.play(move)
        return 1 if depth == 0 else sum(count([*moves, move], depth - 1) for move in board.legal())

    start = [0, 1, 0, 1, 0, 1]
    position = connect_four.position("".join(str(column + 1) for column in start))
    for depth in range(4):
        assert position.perft(depth) == count(start, depth)


def test_depth_zero_is_one_and_bad_depths_are_refused(connect_four: pg.Game) -> None:
    assert connect_four.start().perft(0) == 1
    assert connect_four.position("1212121").perft(3) == 0
    for depth in (-1, 65):
        with pytest.raises(pg.InvalidValue, match=f"not {depth}"):
            connect_four.start().perft(depth)
    with pytest.raises(pg.InvalidValue, match="without chance"):
        pg.load(str(TESTS / "tiny_games" / "duel.py")).start().perft(2)
