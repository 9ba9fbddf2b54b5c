"""Sparse networks: sums that follow moves, integers beside floats, a net that counts material; what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.registry import agent_of
from plyground.errors import InvalidValue
from plyground.games.chess.board import QUEENS
from plyground.models.sparse import CLIP, Sparse, floats_type
from plyground.models.sparse_code import ONE, SQUARE
from plyground.models.sparse_training import LOGIT
from plyground.search.minimax import Minimax

ROW = str(ROOT / "examples" / "three_in_a_row.py")
GAMES = ["connect_four", "chess", "paco_sako", ROW]
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
PROMOTIONS = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1"
EN_PASSANT = "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3"
PIECES = np.array([0, 1, 3, 3, 5, 9, 0])  # by kind, a cell's value


def floats_of(game: pg.Game, units: int, seed: int = 0) -> Any:
    """[1] random weights; some units lie outside [0, 1] in every position."""
    found, rng = np.zeros(1, floats_type(game.cells.num_features, units)), np.random.default_rng(seed)
    found["first"], found["bias"] = rng.normal(0, 0.1, found["first"].shape), rng.normal(0.3, 1.0, (1, units))
    found["second"], found["second_bias"] = rng.normal(0, 0.5, (1, 2, units)), rng.normal()
    return found


def network_of(game: pg.Game, units: int = 32, seed: int = 0) -> Sparse:
    network = Sparse(game, units)
    network.quantise(floats_of(game, units, seed))
    return network


def random_line(start: pg.Position, plies: int, seed: int = 1) -> list[pg.Position]:
    found, rng = [start], np.random.default_rng(seed)
    while len(found) < plies and not found[-1].over:
        found.append(found[-1].play(int(rng.choice(found[-1].legal()))))
    return [each for each in found if not each.over]


def features_of(position: pg.Position, seat: int) -> list[int]:
    cells = position.game.cells
    out = np.zeros((1, cells.count), np.int16)
    position.game.kernels("cells").write_for(position.states, seat, out)
    return [int(cells.features[k]) + int(value) - 1 for k, value in enumerate(out[0]) if value > 0]


def naive_logit(network: Sparse, position: pg.Position) -> int:
    """In units of `unit`, with Python's whole numbers."""
    own: dict[str, Any] = {name: values.tolist() for name, values in network.state().items()}
    total = own["second_bias"][0]
    for factors, seat in zip(own["second"], (position.to_move, 1 - position.to_move), strict=True):
        features = features_of(position, seat)
        for j, factor in enumerate(factors):
            sum_ = own["bias"][j] + sum(own["first"][feature][j] for feature in features)
            total += (min(max(sum_, 0), ONE) ** 2 // (ONE * ONE // SQUARE)) * factor
    return total


@pytest.mark.parametrize("units", [32, 64, 128, 256])
@pytest.mark.parametrize("name", GAMES)
def test_a_value_is_that_of_the_twin_bit_for_bit(name: str, units: int) -> None:
    network = network_of(pg.load(name), units)
    for position in random_line(network.game.start(), 12):
        logit = naive_logit(network, position) * float(network.arrays["unit"])
        assert network.judge(position.states)[0] == logit / (LOGIT + abs(logit))


@pytest.mark.parametrize("name", GAMES)
def test_sums_that_follow_moves_are_those_from_nothing(name: str) -> None:
    """Bit for bit, through castling, promotions, en passant, chains and null moves."""
    game = pg.load(name)
    network = network_of(game)
    refresh, update = network.functions["refresh"], network.functions["update"]
    following, fresh = network.scratch(2), network.scratch()
    special = [game.position(text) for text in (KIWIPETE, PROMOTIONS, EN_PASSANT)] if name == "chess" else []
    lines = [random_line(game.start(), 150, seed) for seed in range(3)]
    lines += [random_line(position, 60) for position in special]
    lines += [[position, position.play(action)] for position in special for action in position.legal()]
    moves = [(before.states, after.states) for line in lines for before, after in itertools.pairwise(line)]
    for before, _ in moves[:]:
        passed = before.copy()
        if "pass_turn" in game.rules.compiled and game.rules.compiled["pass_turn"](passed[0]):
            moves.append((before, passed))
    for before, after in moves:
        refresh(before[0], network.weights[0], following[0])
        update(before[0], after[0], network.weights[0], following[0], following[1])
        refresh(after[0], network.weights[0], fresh[0])
        assert following[1].tobytes() == fresh[0].tobytes()


@pytest.mark.parametrize("units", [32, 256])
@pytest.mark.parametrize("name", GAMES)
def test_integers_lie_within_the_stated_bound_of_floats(name: str, units: int) -> None:
    game = pg.load(name)
    network, floats = Sparse(game, units), floats_of(game, units)
    network.quantise(floats)
    first, bias, second = (floats[name][0].astype(np.float64) for name in ("first", "bias", "second"))
    unit, errors = float(network.arrays["unit"]), list[float]()
    for position in random_line(game.start(), 60):
        seats = position.to_move, 1 - position.to_move
        seen = [features_of(position, seat) for seat in seats]
        sums = np.array([bias + first[features].sum(axis=0) for features in seen])
        wanted = float((np.clip(sums, 0, 1) ** 2 * second).sum() + floats["second_bias"][0, 0])
        value = float(network.judge(position.states)[0])
        found = LOGIT * value / (1 - abs(value))
        e = (max(map(len, seen)) + 1) / (2 * ONE)
        bound = np.abs(second).sum() * (2 * e + e * e + 1 / SQUARE) + units * unit * SQUARE + unit
        errors.append(abs(found - wanted))
        assert errors[-1] <= bound
    assert max(errors) > 0


def test_a_net_that_counts_material_plays_the_move_that_gains_most() -> None:
    """(1/2 + d)² - (1/2 - d)² is 2 d, with the difference of material d, in 1/256 of a pawn's value."""
    game = pg.load("chess")
    floats, cells = np.zeros(1, floats_type(game.cells.num_features, 32)), game.cells
    for cell in range(64):
        for kind in range(1, QUEENS + 2):
            floats["first"][0, cells.features[cell] + kind - 1, 0] = PIECES[kind] / 256
            floats["first"][0, cells.features[cell] + kind + 5, 0] = -PIECES[kind] / 256
    floats["bias"][0, 0], floats["second"][0, :, 0] = 0.5, (1, -1)
    network = Sparse(game, 32)
    network.quantise(floats)

    def material(position: pg.Position, side: int) -> int:
        text = position.text.split()[0]
        worth = {"p": 1, "n": 3, "b": 3, "r": 5, "q": 9}
        own = sum(worth.get(each.lower(), 0) * (1 if each.isupper() else -1) for each in text)
        return own if side == 0 else -own

    agent, several = Minimax(game, 1, model=network), 0
    for position in random_line(game.position(KIWIPETE), 30) + random_line(game.start(), 60):
        gains = dict[int, float]()
        for action in position.legal():
            after = position.play(action)
            won = after.over and after.outcome.name != "DRAW"
            gains[action] = np.inf if won else 0 if after.over else material(after, position.to_move)
        rngs = np.zeros(1, np.uint64)
        assert gains[int(agent.act(position.states, rngs)[0])] == max(gains.values())
        several += len(set(gains.values())) > 1
    assert several > 20


def test_weights_are_saved_whole_and_checked_when_they_are_loaded() -> None:
    game = pg.load("connect_four")
    network, other = network_of(game), Sparse(game, 32)
    saved = {name: values.copy() for name, values in network.state().items()}
    other.load_state(saved)
    assert all((values == saved[name]).all() for name, values in other.state().items())
    for name, values in {
        "second": np.full_like(saved["second"], 32767),
        "unit": np.array([np.nan]),
        "bias": np.full_like(saved["bias"], -(2**31)),
    }.items():
        with pytest.raises(InvalidValue, match="may leave their 32 bits"):
            other.load_state({**saved, name: values})
    with pytest.raises(InvalidValue, match="do not fit"):
        Sparse(game, 64).load_state(saved)
    assert all((values == saved[name]).all() for name, values in other.state().items())


def test_weights_become_integers_and_floats_again_without_a_change() -> None:
    network = network_of(pg.load("chess"), 64)
    twin = Sparse(network.game, 64)
    twin.quantise(network.floats())
    assert all((twin.arrays[name] == values).all() for name, values in network.arrays.items())


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 300.0])
def test_second_weights_of_any_size_stay_within_32_bits(size: float) -> None:
    network, floats = Sparse(pg.load("connect_four"), 256), floats_of(pg.load("connect_four"), 256)
    floats["second"] = size * np.sign(floats["second"])
    floats["first"] = np.clip(100 * floats["first"], -CLIP, CLIP)
    network.quantise(floats)
    largest = np.abs(network.arrays["second"].astype(np.int64)).sum() * SQUARE
    assert largest < 2**31
    assert size == 0 or largest > 2**24
    position = network.game.start()
    logit = naive_logit(network, position) * float(network.arrays["unit"])
    assert network.judge(position.states)[0] == logit / (LOGIT + abs(logit))


def test_what_cannot_be_is_refused_in_one_sentence() -> None:
    with pytest.raises(InvalidValue, match="sees the cells of both sides, and sequence hides some"):
        Sparse(pg.load("sequence"), 32)
    with pytest.raises(InvalidValue, match="32, 64, 128 or 256 units, not 48"):
        Sparse(pg.load("chess"), 48)


def test_a_network_plays_by_alpha_beta() -> None:
    network = network_of(pg.load("connect_four"))
    agent = agent_of(network)
    position = network.game.position("31313")
    assert position.name(int(agent.act(position.states, np.zeros(1, np.uint64))[0])) == "3", "it stops a row of four"
    assert network.words == f"Sparse network of 32 units ({network.weights.itemsize / 1024:.0f} KB)"
