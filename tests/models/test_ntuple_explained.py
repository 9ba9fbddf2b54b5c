"""What an n-tuple network has learned, and why it likes a move: beside slow twins, with known answers, and in silence
where there is nothing to say."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from models.test_ntuple import GAMES, ROW, cells_of, naive_sum, network_of, positions
from plyground.agents.ntuple import NTupleAgent
from plyground.games.rng import agent_seeds
from plyground.games.scene import Item
from plyground.models import ntuple_explained as explained
from plyground.models.model import Reason
from plyground.models.ntuple import NTuple, draw_tuples

NOTHING = 0.01  # of positions in which noise may look like a reason


def many_positions(game: pg.Game, count: int) -> list[pg.Position]:
    """Those of several random games, with a move to play that does not end the game."""
    rng, found = np.random.default_rng(5), list[pg.Position]()
    while len(found) < count:
        here = game.start(seed=len(found))
        while not (after := here.play(int(rng.choice(here.legal())))).over and len(found) < count:
            here = after
            found.append(here)
    return found


def reasons(network: NTuple, position: pg.Position) -> list[Reason]:
    return explained.find_reasons(network, position, position.legal()[:1])


# ---- codes, tables, seats ----


@pytest.mark.parametrize("name", GAMES)
def test_codes_are_those_of_the_compiled_functions(name: str) -> None:
    game = pg.load(name)
    network = network_of(game)
    scratch = network.scratch()
    for position in positions(game, 10):
        network.functions["refresh"](position.states[0], network.weights[0], scratch[0])
        for view in range(scratch["codes"].shape[1]):
            found = explained.codes_of(network, game.write_cells(position.states, view))
            assert found.tolist() == [scratch["codes"][0, view, : network.used].tolist()]


@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("name", GAMES)
def test_a_position_is_seen_and_judged_as_the_compiled_functions_do(name: str, tables: int) -> None:
    game = pg.load(name)
    network = network_of(game, tables)
    for position in positions(game, 10):
        (view,) = explained.viewers(network, position.states, np.array([position.seat], np.int32))
        (table,) = explained.tables_of(network, position.states, np.array([view]))
        codes = explained.codes_of(network, game.write_cells(position.states, int(view)))
        value = np.tanh(network.table[table, codes].sum()) * (1 if view % 2 == position.to_move else -1)
        assert network.judge(position.states)[0] == pytest.approx(value, abs=1e-5)


# ---- patterns ----


def met_in(network: NTuple, pattern: explained.Pattern, cells: Any) -> int:
    """Under how many symmetries a position's cells show a pattern."""
    there = list(zip(pattern.cells, pattern.values, strict=True))
    return sum(all(cells[image[cell]] == value for cell, value in there) for image in network.game.cells.images)


@pytest.mark.parametrize("name", ["connect_four", ROW])
def test_patterns_are_counted_and_ranked_as_a_slow_twin_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = pg.load(name)
    network = network_of(game, 1, count=3)
    if name == "connect_four":  # the column in the middle is its own mirror image
        network = NTuple(game, [[3, 10, 17, 24], *network.tuples[:2]], 1)
        network.table[0, :-1] = np.random.default_rng(0).normal(0, 0.2, network.table.shape[1] - 1)
    every = [cells_of(each, each.seat) for each in many_positions(game, 200)]
    monkeypatch.setattr(explained, "codes_met", lambda *_: [explained.codes_of(network, np.array(every))])
    monkeypatch.setattr(explained, "LEAST_MET", 5)
    found, best, first = explained.find_patterns(network, 2), dict[int, float](), 0
    sizes, images = game.cells.values.astype(int), game.cells.images
    for number, walk in enumerate(network.tuples):
        adds = dict[tuple[int, ...], list[float]]()  # what it holds: what it adds, at each look of a position
        seen = dict[tuple[int, ...], set[int]]()
        for row, (cells, image) in enumerate(itertools.product(every, images)):
            values = tuple(int(cells[image[cell]]) for cell in walk)
            code = first + int(np.ravel_multi_index(values, [int(sizes[cell]) for cell in walk], order="F"))
            adds.setdefault(values, []).append(float(network.table[0, code]))
            seen.setdefault(values, set()).add(row // len(images))
        mean = float(np.mean([each for some in adds.values() for each in some]))
        ranks = {values: len(some) * (some[0] - mean) ** 2 for values, some in adds.items() if len(seen[values]) >= 5}
        best[number] = max(ranks.values())
        for pattern in found:
            if pattern.cells == walk:
                values = tuple(pattern.values)
                assert ranks[values] == pytest.approx(best[number])
                assert pattern.weight == pytest.approx(adds[values][0] - mean)
                assert pattern.share == sum(met_in(network, pattern, cells) > 0 for cells in every) / len(every)
        first += int(np.prod(sizes[walk]))
    order = sorted(best, key=lambda number: -best[number])
    assert [pattern.cells for pattern in found] == [network.tuples[number] for number in order[:2]]


def test_what_is_large_but_rare_is_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    game = pg.load(ROW)
    network = NTuple(game, [[0, 1, 2]], 1)
    cells = np.array([[1] + [0] * 8] * 50 + [[2] + [0] * 8] * 40 + [[1, 1, 1] + [0] * 6] * 10)  # [100, 9]
    monkeypatch.setattr(explained, "codes_met", lambda *_: [explained.codes_of(network, cells)])
    network.table[0, [1, 2, 13]] = 0.2, 0.1, 99.0
    (found,) = explained.find_patterns(network, 3)
    assert (found.values, found.share) == ([1, 0, 0], 0.5)
    assert found.weight == pytest.approx(0.2 - (0.5 * 0.2 + 0.4 * 0.1 + 0.1 * 99.0))


@pytest.mark.parametrize("name", ["connect_four", "sequence", ROW])
def test_patterns_come_from_games_against_itself_and_the_same_seed_gives_the_same(name: str) -> None:
    network = network_of(pg.load(name))
    found = explained.find_patterns(network, 3)
    assert found == explained.find_patterns(network, 3) != explained.find_patterns(network, 3, seed=1)
    assert {pattern.table for pattern in found} == {0, 1}
    tuples = [(pattern.table, *pattern.cells) for pattern in found]
    assert len(set(tuples)) == len(tuples)
    assert all(0.0 < pattern.share <= 1.0 for pattern in found)


def test_an_untrained_network_has_no_patterns() -> None:
    network = network_of(pg.load("connect_four"))
    network.table[:] = 0
    assert explained.find_patterns(network, 3) == []
    network.table[:, :-1] = 0.1
    assert explained.find_patterns(network, 3) == [], "what is the same everywhere tells nothing"


# ---- patterns for people ----


def test_a_pattern_is_drawn_on_the_board_with_the_games_own_pieces() -> None:
    network = network_of(pg.load("chess"))
    pattern = explained.Pattern(0, [0, 1, 63], [4, 0, 10], 0.25, 0.5)  # the king on e1: cells begin with h1
    assert explained.in_words(network, pattern) == {"h1": "White rook", "g1": "empty", "a8": "Black rook"}
    right = explained.Pattern(0, [66], [1], 0.1, 0.1)
    assert explained.in_words(network, right) == {"Black castling towards h": "allowed"}
    scene = explained.scene_of(network, pattern)
    drawn = {cell.name: cell.items for cell in scene.cells() if cell.marks}
    assert drawn == {"h1": (Item("rook", 0),), "g1": (), "a8": (Item("rook", 1),)}
    assert all(not cell.items for cell in scene.cells() if not cell.marks)
    assert scene.status == "adds +0.250, met in 50.0%"


def test_two_layers_of_a_square_are_drawn_together_and_what_is_printed_stays() -> None:
    network = network_of(pg.load("paco_sako"))
    union = explained.Pattern(0, [4, 64 + 4, 5], [6, 5, 0], 0.1, 0.1)
    assert explained.in_words(network, union) == {"e1": "white king, black queen", "f1": "empty"}
    (cell,) = (cell for cell in explained.scene_of(network, union).cells() if cell.name == "e1")
    assert cell.items == (Item("king", 0), Item("queen", 1))
    network = network_of(pg.load("sequence"))
    chips = explained.scene_of(network, explained.Pattern(0, [0, 1, 2], [5, 4, 0], 0.1, 0.1)).cells()
    assert [cell.items for cell in chips[:3]] == [
        (Item("corner"),),
        (Item("card:2s"), Item("chip", 1)),
        (Item("card:3s"),),
    ]


def test_a_game_without_names_and_words_has_a_plain_board(tmp_path: Path) -> None:
    own = tmp_path / "plain.py"
    source = Path(ROW).read_text(encoding="utf-8").replace(', words=("own disc", "their disc")', "")
    own.write_text(source.replace(", names=cell_names", ""), encoding="utf-8")
    network = network_of(pg.load(str(own)))
    pattern = explained.Pattern(1, [0, 4], [2, 0], 0.1, 0.1)
    assert explained.in_words(network, pattern) == {"board 1,1": "2", "board 2,2": "empty"}
    (board,) = explained.scene_of(network, pattern).zones
    assert (board.rows, board.columns) == (3, 3)
    assert [cell.name for cell in board.cells if cell.marks] == ["board 1,1", "board 2,2"]
    assert board.cells[0].items == (Item("2"),)
    assert explained.item_of("12") == Item("12"), "a number is no initial"


def test_a_table_says_when_it_judges_and_for_whom() -> None:
    chess = pg.load("chess")
    assert explained.title_of(network_of(chess), 1) == "Black to move, values for White"
    assert explained.title_of(network_of(chess, 1), 0) == "Any side to move, drawn as White, values for it"
    cards = network_of(pg.load("sequence"))
    assert explained.title_of(cards, 1) == "After a move of red, blue to move, values for red (c corner)"


# ---- reasons ----


@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("name", GAMES)
def test_changes_are_those_of_a_value_computed_without_the_cell(name: str, tables: int) -> None:
    game = pg.load(name)
    network = network_of(game, tables)
    for position in positions(game, 8):
        changes = explained.Changes(network)
        changes.add(position, position.seat)
        (view,) = explained.viewers(network, position.states, np.array([position.seat], np.int32))
        (table,) = explained.tables_of(network, position.states, np.array([view]))
        held = cells_of(position, int(view))
        sign = 1 if view % 2 == position.to_move else -1
        for cell in changes.told:
            without = held.copy()
            without[cell] = 0
            wanted = np.tanh(naive_sum(network, held, table)) - np.tanh(naive_sum(network, without, table))
            assert changes.values[cell] == pytest.approx(sign * wanted, abs=1e-5)
        there = {cell for cell in range(game.cells.count) if held[cell] and len(game.cells.neighbours[cell])}
        assert changes.told.keys() == there


def planted(game: pg.Game, tables: int, cell: int, value: int, weight: float) -> NTuple:
    """A network to which only one value of one cell means anything."""
    network = NTuple(game, draw_tuples(game.cells, 60, 4, 0), tables)
    first = 0
    for walk in network.tuples:
        sizes = [int(game.cells.values[each]) for each in walk]
        if cell in walk:
            digits = np.unravel_index(np.arange(np.prod(sizes)), sizes, order="F")[walk.index(cell)]
            noise = np.random.default_rng(first).normal(0, 0.01, len(digits))
            network.table[:, first : first + len(digits)] = weight * (digits == value) + noise
        first += int(np.prod(sizes))
    return network


def test_the_cell_that_alone_means_something_is_the_reason() -> None:
    game = pg.load("connect_four")
    position, d1 = game.position("4453"), 38
    network = planted(game, 2, d1, 1, 0.03)
    (found,) = explained.find_reasons(network, position, [0])
    assert (found.cell, found.holds, found.change > 0.1) == ("d1", "● disc", True)
    assert found.words == f"d1 (● disc): {found.change:.2f} lower without it"
    (other,) = explained.find_reasons(network, position.play(0), [1])  # to whom the same stone is a nuisance
    assert (other.cell, other.holds, other.change < -0.1) == ("d1", "● disc", True)
    (shared,) = explained.find_reasons(planted(game, 1, d1, 2, 0.03), position, [0])  # the opponent's, who looks next
    assert (shared.cell, shared.holds, shared.change < -0.1) == ("d1", "● disc", True)


def test_a_move_that_ends_the_game_needs_no_reason() -> None:
    game = pg.load("connect_four")
    network = planted(game, 2, 38, 1, 0.03)
    assert explained.find_reasons(network, game.position("414141"), [3]) == []


@pytest.mark.parametrize("name", ["connect_four", "chess", ROW])
def test_where_nothing_was_learned_nothing_is_claimed(name: str) -> None:
    game = pg.load(name)
    network, tried = network_of(game, count=70), many_positions(game, 150)
    for entry in (0.0, 0.002, 0.1):
        network.table[:, :-1] = entry
        assert not any(reasons(network, position) for position in tried)
    claims, rng = 0, np.random.default_rng(0)
    for scale in (0.01, 0.05, 0.2):
        network.table[:, :-1] = rng.normal(0, scale, network.table[:, :-1].shape)
        claims += sum(bool(reasons(network, position)) for position in tried)
    assert claims <= NOTHING * 3 * len(tried)


@pytest.mark.parametrize("name", ["connect_four", "chess"])
def test_a_network_that_values_equally_all_that_it_has_met_likes_no_cell(name: str) -> None:
    """What more tuples see changes more, and all of them agree: but the changes lie close together."""
    game = pg.load(name)
    network, tried = network_of(game, count=70), many_positions(game, 150)
    network.table[:] = 0.0
    for position in tried:
        codes = explained.codes_of(network, np.array([cells_of(position, seat) for seat in (0, 1)]))
        network.table[:, codes.reshape(-1)] = 0.5 / network.used
    assert sum(bool(reasons(network, position)) for position in tried) <= NOTHING * len(tried)


def test_of_few_cells_and_of_small_changes_none_stands_out() -> None:
    one = np.array([0.9, 0.0, 0.01, -0.02, 0.0, 0.01, 0.0, 0.01])
    assert explained.standing_out(one).tolist() == [True] + [False] * 7
    assert not explained.standing_out(one[:7]).any()
    assert not explained.standing_out(one / 20).any()
    assert explained.standing_out(-one)[0], "what speaks against a move stands out too"


def test_tuples_that_disagree_or_are_few_are_no_evidence() -> None:
    seen = np.ones((3, 20), np.bool_)
    terms = np.random.default_rng(0).normal(0, 1, (3, 20))
    terms[0] += 2.0
    agree = explained.agreement(terms, seen)
    assert agree[0] > explained.AGREEING > max(agree[1:])
    terms[1], seen[1] = 0.0, False
    terms[1, :2], seen[1, :2] = (1.0, 1.01), True  # two that happen to be alike
    assert explained.agreement(terms, seen)[1] < explained.AGREEING


def test_what_a_seat_cannot_see_changes_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explained, "AGREEING", 0.0)
    monkeypatch.setattr(explained, "OUTLYING", 0.5)
    game = pg.load("sequence")
    network, found = network_of(game), list[list[Reason]]()
    position = positions(game, 20)[-1]
    for seed in range(3):
        redrawn = pg.Position(game, game.redrawn(position.states, agent_seeds(seed, 1)))
        found.append(explained.find_reasons(network, redrawn, redrawn.legal()[:1]))
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_changes_are_means_over_what_may_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explained, "AGREEING", 0.0)
    monkeypatch.setattr(explained, "OUTLYING", 0.0)
    game = pg.load("sequence")
    network, position = network_of(game), positions(game, 20)[-1]
    every = list[dict[str, float]]()
    for seed in range(explained.REDRAWS):
        after, changes = position.redrawn(position.seat, seed).play(position.legal()[0]), explained.Changes(network)
        changes.add(after, position.seat)
        every.append({changes.told[cell][0]: float(changes.values[cell]) for cell in changes.told})
    assert any(one != every[0] for one in every), "what is drawn makes a difference"
    found = reasons(network, position)
    assert found
    for each in found:
        assert each.change == pytest.approx(np.mean([one[each.cell] for one in every]))


def test_reasons_are_of_the_end_of_the_turn() -> None:
    game = pg.load("paco_sako")
    position = game.start()
    line = [position.action(move) for move in ("Le2",)]
    line.append(position.play(line[0]).action("Pe4"))
    network = planted(game, 2, 28, 1, 0.05)
    (found,) = explained.find_reasons(network, position, line)
    assert (found.cell, found.holds) == ("e4", "white pawn")
    assert explained.find_reasons(network, position, line[:1]) == []


def test_reasons_come_with_an_analysis_of_its_first_move() -> None:
    game = pg.load("connect_four")
    agent = NTupleAgent(planted(game, 2, 38, 1, 0.03))
    found = game.position("4453").analyse(agent)
    assert [each.cell for each in found.moves[0].reasons] == ["d1"]
    assert not any(move.reasons for move in found.moves[1:])
    assert re.match(r"d1 \(● disc\): 0\.\d\d lower", found.moves[0].reasons[0].words)
