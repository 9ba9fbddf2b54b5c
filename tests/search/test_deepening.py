"""Iterative deepening: plain values, proofs, and a search that may be suspended anywhere."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.checks import laws
from plyground.games.connect_four.solver.solver import perfect
from plyground.games.interface import value_for
from plyground.games.paco_sako import analysis
from plyground.games.rng import seeds
from plyground.models.compiled import handwritten
from plyground.search import alpha_beta
from plyground.search.alpha_beta_arrays import PATH_NODE, PROGRESS, WIN, Limits
from plyground.search.alpha_beta_arrays import alpha_beta as kernels_and_buffers
from plyground.search.minimax import Minimax
from plyground.search.timed import LEVELS, TimedMinimax

THREE = str(ROOT / "examples" / "three_in_a_row.py")
FOR_EVER = 1e6  # seconds


def running(game: pg.Game, n: int, seed: int = 3) -> np.ndarray:
    states = laws.sample(game, 8, seed=seed).states
    return states[:: max(1, len(states) // n)][:n]


def plain(game: pg.Game, state: np.ndarray, depth: int) -> float:
    """The value of a search by time without anything selective, of a depth in turns."""
    return TimedMinimax(game, FOR_EVER, table=12).search(state, depth=depth, selective=False).value


@pytest.mark.compiled
@pytest.mark.parametrize(("word", "depth"), [("connect_four", 3), ("connect_four", 6)])
def test_without_selection_the_value_is_that_of_the_search_of_fixed_depth(word: str, depth: int) -> None:
    game = pg.load(word)
    states = running(game, 40)
    search = TimedMinimax(game, FOR_EVER, table=12)
    values = Minimax(game, depth).search(states, seeds(0, len(states)))[1]
    for row in range(len(states)):
        found = search.search(states[row : row + 1], depth=depth, selective=False)
        assert found.value == pytest.approx(values[row], abs=1e-8)


@pytest.mark.compiled
def test_without_selection_the_value_in_chess_is_the_naive_one() -> None:
    game = pg.load("chess")
    states = running(game, 3)
    for row in range(len(states)):
        expected = naive_turns(pg.Position(game, states[row : row + 1]), 2)
        assert plain(game, states[row : row + 1], 2) == pytest.approx(expected, abs=1e-8)


def leaf_value(position: pg.Position) -> float:
    """`evaluate_fine`, or else `evaluate`."""
    rules = position.game.rules
    return float((rules.evaluate_fine or rules.evaluate)(position.state))  # pyright: ignore[reportOptionalCall]


def naive_turns(position: pg.Position, depth: int, turn: int = 0) -> float:
    """Value for the side to move, `depth` turns deep; no window, no order, no stack."""
    values: list[float] = []
    for action in position.legal():
        child = position.play(action)
        turned = child.to_move != position.to_move
        if child.over:
            value = value_for(int(child.outcome), child.to_move) * (WIN - turn)
        elif turned and depth == 1:
            value = leaf_value(child)
        else:
            value = naive_turns(child, depth - turned, turn + turned)
        values.append(-value if turned else value)
    return max(values)


@pytest.mark.compiled
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_depth_counts_turns_where_a_side_acts_several_times(depth: int) -> None:
    game = pg.load(TINY[1])
    states = running(game, 12)
    for row in range(len(states)):
        expected = naive_turns(pg.Position(game, states[row : row + 1]), depth)
        assert plain(game, states[row : row + 1], depth) == pytest.approx(expected, abs=1e-5)


def naive_paco_turn(position: pg.Position) -> float:
    """The best of all ends of a turn, which `analysis` lists, for the side to move."""
    values: list[float] = []
    for turn in analysis.turns(position).found:
        end = position
        for action in turn.actions:
            end = end.play(action)
        if end.over:
            values.append(value_for(int(end.outcome), position.to_move) * WIN)
        else:
            values.append(1 - WIN if analysis.chains(end).found else -leaf_value(end))
    return max(values)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "text",
    [
        "rn2k1nr/pppppppp/4E2q/8/2E5/8/PP1PKPPP/RNBQ1BNR b 0 ah - -",  # a chain may run in circles
        "1i3k1h/2p2p2/1a2d3/5Fp1/cD6/4Ee2/3F2PD/1w3BKR b 3 - - -",
        "1i3k1h/2p2p2/1a2d3/5Fp1/cD6/4Ee2/3F2PD/1w3BKR w 3 - - -",
    ],
)
def test_a_turn_with_chains_is_searched_completely(text: str) -> None:
    game = pg.load("paco_sako")
    position = game.position(text)
    assert plain(game, position.states, 1) == pytest.approx(naive_paco_turn(position))


@pytest.mark.compiled
def test_three_in_a_row_is_a_draw_and_every_position_has_its_true_value() -> None:
    game = pg.load(THREE)
    search = TimedMinimax(game, FOR_EVER, table=12)
    assert search.search(game.start().states, depth=9).value == 0
    for row, state in enumerate(states := running(game, 30)):
        if (state["cells"] == 0).sum() <= 6:
            position = pg.Position(game, states[row : row + 1])
            assert search.search(position.states, depth=9).value == naive_turns(position, 9)


@pytest.mark.compiled
def test_what_is_proven_in_connect_four_is_what_the_solver_says() -> None:
    game = pg.load("connect_four")
    states = running(game, 400)
    late = states[[pg.Position(game, states[k : k + 1]).text.count(".") < 22 for k in range(len(states))]][:40]
    search, proven = TimedMinimax(game, FOR_EVER), 0
    exact = perfect().scores(late)
    for row in range(len(late)):
        found = search.search(late[row : row + 1], depth=14)
        proven += found.turns != 0
        assert found.turns == 0 or np.sign(found.turns) == np.sign(exact[row])
    assert proven > 15


@pytest.mark.compiled
def test_a_suspended_search_finds_what_an_uninterrupted_one_finds() -> None:
    game = pg.load("connect_four")
    model, state = handwritten(game), game.position("44").states
    results: list[tuple[bytes, bytes, bytes]] = []
    for budgets in ([1_000_000], [1], [7, 100, 3]):
        kernels, (stack, memory) = kernels_and_buffers(model, LEVELS, 1 << 10)
        limits = Limits(8, 0, True, False)
        kernels.begin_search(state, stack, memory)
        for turn in range(1_000_000):
            if memory.progress[0]["finished"]:
                break
            kernels.search_on(budgets[turn % len(budgets)], limits, stack, memory)
        results.append((memory.progress.tobytes(), memory.line.tobytes(), memory.table.tobytes()))
    assert results[0] == results[1] == results[2]


# ---- steps ----


def node(**fields: float) -> np.void:
    made = np.zeros(1, PATH_NODE)[0]
    for name, value in {"alpha": -0.25, "beta": 0.5, "floor": -0.25, "stage": alpha_beta.FULL, **fields}.items():
        made[name] = value
    return made


@pytest.mark.parametrize("same_side", [True, False])
@pytest.mark.parametrize(
    ("stage", "low", "high"),
    [
        (alpha_beta.FULL, -0.25, 0.5),
        (alpha_beta.NARROW, -0.25, -0.25 + alpha_beta.NO_WIDTH),
        (alpha_beta.REDUCED, -0.25, -0.25 + alpha_beta.NO_WIDTH),
        (alpha_beta.PASS, 0.5 - alpha_beta.NO_WIDTH, 0.5),
    ],
)
def test_the_window_of_a_child_depends_on_the_stage(stage: int, low: float, high: float, same_side: bool) -> None:
    child = node()
    alpha_beta.set_window(node(stage=stage), child, same_side)
    assert (child["alpha"], child["beta"]) == ((low, high) if same_side else (-high, -low))


def test_loud_checked_and_first_actions_are_not_reduced() -> None:
    limits, late = Limits(9, 0, True, True), {"depth": 6, "tried": 20, "quiet": 1, "child_depth": 5, "turn": 3}
    child = node(turn=4)
    wide, narrow = node(**late), node(**late, beta=-0.25 + alpha_beta.NO_WIDTH)
    assert alpha_beta.reduction(narrow, child, limits) == alpha_beta.reduction(wide, child, limits) + 1 > 1
    unreduced = [
        (node(**{**late, "quiet": 0}), child),
        (node(**{**late, "tried": 3}), child),
        (node(**{**late, "checked": 1}), child),
        (node(**late), node(turn=4, checked=1)),
        (node(**late), node(turn=3)),  # the turn goes on
    ]
    assert [alpha_beta.reduction(*each, limits) for each in unreduced] == [0] * 5
    assert alpha_beta.reduction(narrow, child, Limits(9, 0, False, False)) == 0


def test_an_iteration_outside_its_window_is_repeated_with_a_wider_one() -> None:
    run = np.zeros(1, PROGRESS)[0]
    run["depth"], run["margin"] = 5, 0.06
    root = node(alpha=0.1, floor=0.1, beta=0.2, best=0.05, count=3)
    alpha_beta.end_iteration(Limits(9, 0, True, False), root, run)
    assert (run["depth"], run["completed"]) == (5, 0)
    assert (root["alpha"], root["beta"]) == pytest.approx((0.05 - 0.24, 0.05 + 0.24))
    root["best"], root["floor"] = 0.06, root["alpha"]
    alpha_beta.end_iteration(Limits(9, 0, True, False), root, run)
    assert (run["depth"], run["completed"], run["value"]) == (6, 5, 0.06)


def test_a_search_ends_with_a_proof_with_the_depth_or_with_the_only_action() -> None:
    for best, depth, count, finished in (
        (WIN - 4, 5, 3, 1),  # the fifth turn wins
        (4 - WIN, 5, 3, 1),
        (WIN - 5, 5, 3, 0),  # an extension found it: there may be a shorter way
        (0.2, 9, 3, 1),
        (0.2, 5, 1, 1),
        (0.2, 5, 3, 0),
    ):
        run = np.zeros(1, PROGRESS)[0]
        run["depth"], run["margin"] = depth, 1.0
        root = node(alpha=-2 * WIN, floor=-2 * WIN, beta=2 * WIN, best=best, count=count)
        alpha_beta.end_iteration(Limits(9, 0, True, False), root, run)
        assert run["finished"] == finished, (best, depth, count)


@pytest.mark.compiled
def test_an_entry_of_which_two_threads_have_written_parts_fits_no_key() -> None:
    """Any part of another entry changes what the key is sealed with."""
    seal = handwritten(pg.load("chess")).kernels("plyground.search.alpha_beta").seal
    one, other = (np.uint64(7), 0.25, 808, 5, 3), (np.uint64(9), -0.5, 1618, 4, 1)
    mixed = [
        tuple(b if which >> k & 1 else a for k, (a, b) in enumerate(zip(one, other, strict=True)))
        for which in range(32)
    ]
    assert len({int(seal(*parts)) for parts in mixed}) == 32
    assert int(seal(*one)) == int(seal(np.uint64(7), 0.25, 808, 5, 3))
