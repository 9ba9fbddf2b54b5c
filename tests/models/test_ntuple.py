"""N-tuple networks: their codes, sums and choices beside a slow twin; what is saved; what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TESTS
from plyground.agents.ntuple import NTupleAgent
from plyground.errors import Error, InvalidValue
from plyground.games.interface import value_for
from plyground.games.rng import agent_seeds
from plyground.models.ntuple import MOST_ENTRIES, NTuple, draw_tuples
from plyground.models.numbers import tanh
from plyground.search.minimax import Minimax

ROW = str(ROOT / "examples" / "three_in_a_row.py")
GAMES = ["connect_four", "chess", "paco_sako", "sequence", "sequence:seats=4", ROW]
OPEN = [name for name in GAMES if "sequence" not in name]


def network_of(game: pg.Game, tables: int = 2, count: int = 9, seed: int = 0) -> NTuple:
    """One with random entries."""
    network = NTuple(game, draw_tuples(game.cells, count, 4, seed), tables)
    entries = np.random.default_rng(seed).normal(0, 0.2, network.table.shape)
    network.table[:, :-1] = entries[:, :-1].astype(np.float32)
    return network


def positions(game: pg.Game, plies: int) -> list[pg.Position]:
    """Those of a random game."""
    found, rng = [game.start(seed=3)], np.random.default_rng(1)
    while len(found) < plies and not found[-1].over:
        found.append(found[-1].play(int(rng.choice(found[-1].legal()))))
    return [each for each in found if not each.over]


def cells_of(position: pg.Position, seat: int) -> Any:
    """[count] as the game writes them."""
    game = position.game
    out = np.zeros((1, game.cells.count), np.int16)
    game.kernels("cells").write_for(position.states, seat, out)
    return out[0]


def naive_sum(network: NTuple, cells: Any, table: int) -> float:
    """The sum in eight lanes, of codes computed digit by digit."""
    cells, sizes = cells.astype(int), network.game.cells.values
    lanes, first, place = [np.float32(0)] * 8, 0, 0
    for walk in network.tuples:
        for image in network.game.cells.images:
            code, power = first, 1
            for cell in walk:
                code += power * cells[image[cell]]
                power *= int(sizes[cell])
            lanes[place % 8] = lanes[place % 8] + network.table[table, code]
            place += 1
        first += int(np.prod([int(sizes[cell]) for cell in walk]))
    a, b, c, d, e, f, g, h = lanes
    return float(((a + b) + (c + d)) + ((e + f) + (g + h)))


@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("name", GAMES)
def test_codes_that_follow_what_has_changed_are_those_from_nothing(name: str, tables: int) -> None:
    game = pg.load(name)
    network = network_of(game, tables)
    refresh, update = network.functions["refresh"], network.functions["update"]
    line = positions(game, 60)
    following, fresh = network.scratch(2), network.scratch()
    refresh(line[0].states[0], network.weights[0], following[0])
    for before, after in itertools.pairwise(line):
        update(before.states[0], after.states[0], network.weights[0], following[0], following[1])
        refresh(after.states[0], network.weights[0], fresh[0])
        assert following[1].tobytes() == fresh[0].tobytes()
        following[0] = following[1]


@pytest.mark.parametrize("tables", [1, 2])
@pytest.mark.parametrize("name", OPEN)
def test_a_value_is_that_of_the_twin_bit_for_bit(name: str, tables: int) -> None:
    game = pg.load(name)
    network = network_of(game, tables)
    for position in positions(game, 30):
        view, table = (0, position.to_move) if tables == 2 else (position.seat, 0)
        value = tanh(naive_sum(network, cells_of(position, view), table))
        value = value if view % 2 == position.to_move else -value
        assert network.judge(position.states)[0] == value


@pytest.mark.parametrize("name", OPEN)
def test_an_agent_plays_the_action_with_the_best_position_after_it(name: str) -> None:
    game = pg.load(name)
    network = network_of(game)
    for position in positions(game, 12):
        values = dict[int, float]()
        for action in position.legal():
            after = position.play(action)
            if after.over:
                value = {"DRAW": 0.0, "FIRST_WINS": 1.0, "SECOND_WINS": -1.0}[after.outcome.name]
                values[action] = value if position.to_move == 0 else -value
            else:
                value = float(network.judge(after.states)[0])
                values[action] = value if after.to_move == position.to_move else -value
        (chosen,), (actions,), (found,) = network.choose(position.states.copy(), agent_seeds(0, 1))
        assert dict(zip(actions[actions >= 0].tolist(), found[actions >= 0].tolist(), strict=True)) == values
        assert values[int(chosen)] == max(values.values())


def test_what_a_seat_cannot_see_changes_no_choice() -> None:
    game = pg.load("sequence")
    network = network_of(game)
    for position in positions(game, 30):
        found = []
        for seed in range(3):
            states = game.redrawn(position.states, agent_seeds(seed, 1))
            found.append([each.tolist() for each in network.choose(states, agent_seeds(9, 1))])
        assert found[0] == found[1] == found[2]


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["connect_four", ROW])
def test_alpha_beta_over_a_network_is_plain_minimax(name: str) -> None:
    """Its codes follow the moves of the search."""
    game = pg.load(name)
    network = network_of(game)

    def value(position: pg.Position, depth: int, ply: int) -> float:
        if position.over:
            return value_for(int(position.outcome), position.to_move) * (1000 - (ply - 1))
        if depth == 0:
            return float(network.judge(position.states)[0])
        return max(-value(position.play(action), depth - 1, ply + 1) for action in position.legal())

    for position in positions(game, 7)[::3]:
        actions, scores = Minimax(game, 3, model=network).scores(position.states)
        expected = [-value(position.play(action), 2, 1) for action in position.legal()]
        assert actions[0, : len(expected)].tolist() == position.legal()
        assert scores[0, : len(expected)].tolist() == pytest.approx(expected, abs=1e-6)


def test_redraws_are_drawn_one_by_one() -> None:
    """In Pig `hold`, the last action, meets no die. The value of a roll is that of the six dice, each by its entry."""
    game = pg.load(str(TESTS / "tiny_games" / "pig.py"))
    network = network_of(game, count=1)
    position = game.position("30 50 10 0")
    after = [game.position(f"30 50 {10 + die} 0") for die in range(2, 7)] + [game.position("30 50 0 1")]
    values = [float(network.judge(each.states)[0]) * (1 - 2 * each.to_move) for each in after]
    network.redraws = 4000
    _, _, ((roll, _),) = network.choose(position.states.copy(), agent_seeds(0, 1))
    assert roll == pytest.approx(np.mean(values), abs=0.02)
    network.redraws = 1
    rolls = {float(network.choose(position.states.copy(), agent_seeds(seed, 1))[2][0, 0]) for seed in range(60)}
    assert sorted(rolls) == pytest.approx(sorted(values))


def test_tuples_are_connected_distinct_and_no_larger_than_their_tables_may_be() -> None:
    for name in GAMES:
        cells = pg.load(name).cells
        drawn = draw_tuples(cells, 40, 8, 5)
        walks = [walk for walk in drawn if len(cells.neighbours[walk[0]])]
        assert len({tuple(sorted(walk)) for walk in drawn}) == len(drawn)
        assert sorted(walk[0] for walk in drawn if walk not in walks) == [
            cell for cell in range(cells.count) if not len(cells.neighbours[cell])
        ]
        for walk in walks:
            assert np.prod(cells.values[walk], dtype=float) <= MOST_ENTRIES
            for place, cell in enumerate(walk[1:], 1):
                assert any(cell in cells.neighbours[each] for each in walk[:place])
        assert draw_tuples(cells, 40, 8, 5) == drawn != draw_tuples(cells, 40, 8, 6)


def test_a_network_is_saved_as_the_entries_that_are_not_0() -> None:
    game = pg.load("connect_four")
    network, other = network_of(game), network_of(game, seed=1)
    network.table[:, ::3] = 0
    saved = {name: values.copy() for name, values in network.state().items()}
    assert len(saved["entries"]) == np.count_nonzero(network.table)
    with pytest.raises(InvalidValue, match="other tuples"):
        other.load_state(saved)
    twin = NTuple(game, network.tuples, 2)
    twin.load_state(saved)
    assert (twin.table == network.table).all()


def shifted(saved: dict[str, Any]) -> None:
    saved["places"] = saved["places"] + np.int32(2**24)


def repeated(saved: dict[str, Any]) -> None:
    saved["places"][1] = saved["places"][0]


def infinite(saved: dict[str, Any]) -> None:
    saved["entries"][0] = np.inf


def padding(saved: dict[str, Any]) -> None:
    saved["places"][-1] = saved["size"] - 1


def doubled(saved: dict[str, Any]) -> None:
    saved["entries"] = saved["entries"].astype(np.float64)


@pytest.mark.parametrize("damage", [shifted, repeated, infinite, padding, doubled])
def test_damaged_entries_are_refused(damage: Callable[[dict[str, Any]], None]) -> None:
    network = network_of(pg.load("connect_four"))
    saved: Any = {name: values.copy() for name, values in network.state().items()}
    damage({**saved, "size": network.table.size} if damage is padding else saved)
    with pytest.raises(InvalidValue):
        network.load_state(saved)


def test_a_game_without_cells_is_told_what_to_write(tmp_path: Path) -> None:
    text = Path(ROW).read_text(encoding="utf-8")
    own = tmp_path / "no_cells.py"
    own.write_text("\n".join(line for line in text.splitlines() if not line.startswith("CELLS")), encoding="utf-8")
    with pytest.raises(Error, match="has no cells: add CELLS"):
        draw_tuples(pg.load(str(own)).cells, 5, 3, 0)


def test_an_agent_says_what_it_is() -> None:
    network = network_of(pg.load("connect_four"))
    assert "an n-tuple network" in repr(NTupleAgent(network))
    assert network.words.startswith("N-tuple network of 9 tuples")
