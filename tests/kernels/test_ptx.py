"""Every rule function, encoder, policy and kernel compiles for a GPU; that needs numba-cuda, but no GPU."""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

import plyground as pg
from plyground.games.interface import COMPILED, Rules
from plyground.kernels.arrays import Games, Legal, NStepReturns, Plies, RolloutPlies, SampleShares, Step
from plyground.kernels.cache import load_kernels
from plyground.kernels.slots import slots_of
from plyground.search.choosing_arrays import Choices, TurnMemory
from plyground.search.tree_arrays import EDGE, NODE, ROOT, TREE, Result, Settings, Trees
from plyground.search.tree_config import SearchConfig
from plyground.search.tree_memory import RESULT_LISTS, RESULT_ROWS
from plyground.search.within_turn import TEMPLATE, new_turn

pytestmark = pytest.mark.compiled


@pytest.fixture
def ptx(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that compiles another."""
    pytest.importorskip("numba_cuda", reason="needs numba-cuda, which compiles for GPUs without having one")
    from numba import cuda
    from numba.cuda import dispatcher

    # A function that is called by another asks which GPU there is: say one.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))

    def compiled(function: Any, *arguments: Any, device: bool = True) -> str:
        return cuda.compile_ptx(getattr(function, "py_func", function), arguments, device=device, cc=(9, 0))[0]

    return compiled


def signatures_of(rules: Rules) -> dict[str, tuple[Any, ...]]:
    """What each function of the contract takes, all its arguments."""
    state, head, work = (numba.from_dtype(dtype) for dtype in (rules.STATE, rules.HEAD, rules.WORK))
    rng, actions = types.Array(types.uint64, 1, "C"), types.Array(types.int32, 1, "C")
    return {
        "reset": (state, rng),
        "legal": (state, actions, work),
        "mask": (state, types.Array(types.boolean, 1, "C")),
        "play": (state, types.int32, rng, work),
        "play_head": (head, types.int32, rng, work),
        "count_legal": (head, actions, work),
        "settle": (state,),
        "evaluate": (state,),
        "evaluate_fine": (state,),
        "seat": (state,),
        "determinize": (state, types.int32, rng),
        "transform": (state, types.int32),
        "transform_action": (types.int32, types.int32),
        "loudness": (state, types.int32),
        "legal_loud": (head, actions, work),
        "transposition_key": (state,),
        "in_check": (state, work),
        "can_win": (state, work),
        "pass_turn": (state,),
    }


def test_no_function_of_the_contract_is_left_out(connect_four: pg.Game) -> None:
    assert signatures_of(connect_four.rules).keys() == set(COMPILED)


def test_rules_encoders_and_policies_compile_to_ptx(game: pg.Game, ptx: Any) -> None:
    rules, signatures = game.rules, signatures_of(game.rules)
    state, work = (numba.from_dtype(dtype) for dtype in (rules.STATE, rules.WORK))
    rng = types.Array(types.uint64, 1, "C")
    for name, function in rules.compiled.items():
        code = getattr(function, "py_func", function).__code__
        assert ".visible .func" in ptx(function, *signatures[name][: code.co_argcount]), name
    for encoder in set(game.encoders.values()):
        out = types.Array(numba.typeof(encoder.dtype(0)), 1, "C")
        assert ptx(encoder.write, state, types.int32, out)
        assert encoder.slot is None or ptx(encoder.slot, types.int32, types.int32)
    if rules.CELLS is not None:
        assert ptx(rules.CELLS.write, state, types.int32, types.Array(types.int16, 1, "C"))
    for policy in game.rules.POLICIES.values():
        code = getattr(policy, "py_func", policy).__code__
        assert ptx(policy, *(state, rng, work)[: code.co_argcount])


def array(of: Any, dimensions: int = 1) -> Any:
    return types.Array(of if isinstance(of, types.Type) else numba.from_dtype(np.dtype(of)), dimensions, "C")


def group(of: type[Any], *arrays: Any) -> Any:
    """The type of a NamedTuple."""
    return types.NamedTuple(arrays, of)


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])
@pytest.mark.parametrize("word", ["connect_four", "chess", "sequence", "paco_sako"])
def test_kernels_compile_to_ptx(word: str, every: bool, ptx: Any) -> None:
    """Every one; or those that tell most: some of Paco Ŝako's take half a minute each."""
    from plyground.backend.device import count_bits_by_instruction

    def kernel(template: str, name: str, functions: Any, *arguments: Any) -> None:
        module = load_kernels(template, functions, word, "cuda")
        assert ".visible .entry" in ptx(getattr(module, name), *arguments, device=False), name

    count_bits_by_instruction()
    game = pg.load(word)
    rules, whole, size = game.rules, types.int64, types.int64
    functions = slots_of(rules)
    states, heads, work = array(rules.STATE), array(rules.SEARCHED), array(rules.WORK)
    words, bools, ints, rngs = array(f"u{rules.STATE.alignment}", 2), array("?"), array("i4"), array("u8")
    games, step = group(Games, states, words, words, words, rngs, ints), group(Step, array("f4"), bools, bools)
    legal = group(Legal, array("i4", 2), ints, array("?", 2), array("i4", 2), rngs, ints, ints, ints)
    kernel("rules", "begin_all", functions, games, words, work)
    kernel("rules", "step_all", functions, games, ints, step, whole, words, work)
    kernel("rules", "find_legal", functions, states, legal, work)
    kernel("rules", "play_heads", functions, heads, ints, rngs, work)
    kernel("rules", "count_all", functions, heads, array("i8"), work)
    kernel("rules", "seats_to_act", functions, states, ints)
    if every or word != "paco_sako":
        kernel("rules", "random_play", functions, games, whole, array("i8"), words, work)
        kernel("rules", "open_games", functions, games, bools, ints, words, work)
    if "mask" in rules.compiled:
        kernel("mask", "legal_masks", functions, states, array("?", 2))
    kernel("rules", "transform_all", functions, states, ints)
    policies, encoders = list(game.rules.POLICIES.values()), list(dict.fromkeys(game.encoders.values()))
    if not every:
        policies, encoders = policies[: word != "paco_sako"], encoders[::5]
    for policy in policies:
        kernel("choose", "choose_where", {"choose": policy}, states, bools, rngs, ints, work)
    if "evaluate" in rules.compiled:
        kernel("evaluate", "evaluate_all", functions, states, array("f4"))
    for encoder in encoders:
        writes = {"write": encoder.write, **functions}
        kernel("encode", "encode_columns", writes, states, whole, array(encoder.dtype, 2))
        kernel("encode", "encode_staged", writes, states, whole, size, array(encoder.dtype), rngs, size)
    for encoder in [each for each in game.encoders.values() if each.spread][: None if every else 1]:
        arguments = array("i2", 2), array("i2"), array("i2", 2), array("u8", 2)
        kernel("expand", "expand_all", {"spread": encoder.spread}, *arguments)


@pytest.mark.parametrize("word", ["connect_four", "chess", pytest.param("paco_sako", marks=pytest.mark.slow)])
def test_tree_search_compiles_to_ptx(word: str, ptx: Any) -> None:
    from plyground.backend.device import count_bits_by_instruction

    count_bits_by_instruction()
    rules = pg.load(word).rules
    module = load_kernels("plyground.search.tree", slots_of(rules), word, "cuda")
    unsigned, work, floats = f"u{rules.STATE.alignment}", array(rules.WORK), array("f4")
    arrays = {
        "states": array(rules.STATE, 2),
        "words": array(unsigned, 3),
        "nodes": array(NODE, 2),
        "edges": array(EDGE, 2),
        "counters": array(TREE),
        "roots": array(ROOT, 2),
        "rngs": array("u8"),
        "actions": array("i4", 2),
        "ahead": array(rules.STATE),
        "ahead_words": array(unsigned, 2),
    }
    trees = group(Trees, *(arrays[name] for name in Trees._fields))
    numbers = {int: types.int64, bool: types.boolean, float: types.float64}
    given = SearchConfig(leaf="network").settings(pg.load(word))
    settings = group(Settings, *(numbers[type(value)] for value in given))
    rows = {name: array(np.dtype(dtype)) for name, dtype in RESULT_ROWS.items()}
    lists = {name: array(np.dtype(dtype), 2) for name, dtype in RESULT_LISTS.items()}
    result = group(Result, *((rows | lists)[name] for name in Result._fields))
    matrix, table = array("f4", 2), array("i4", 2)
    assert ptx(module.plant_all, trees, array(unsigned, 2), device=False)
    assert ptx(module.replant_all, trees, array(unsigned, 2), table, device=False)
    assert ptx(module.select_all, trees, array(unsigned, 2), table, settings, work, device=False)
    assert ptx(module.expand_and_back_up_all, trees, matrix, floats, table, settings, work, device=False)
    assert ptx(module.begin_rounds, trees, settings, device=False)
    assert ptx(module.finish_all, trees, settings, result, device=False)


@pytest.mark.parametrize("word", ["connect_four", "sequence", pytest.param("paco_sako", marks=pytest.mark.slow)])
def test_what_is_chosen_within_a_turn_compiles_to_ptx(word: str, ptx: Any) -> None:
    from plyground.backend.device import count_bits_by_instruction

    count_bits_by_instruction()
    game = pg.load(word)
    rules, turn = game.rules, new_turn(game, 4)
    choose: Any = load_kernels(TEMPLATE, slots_of(rules), word).choose
    parts = group(TurnMemory, *(array(each.dtype, each.ndim) for each in turn))
    numbers = {int: types.int64, float: types.float64}
    choices = group(Choices, *(numbers[type(value)] for value in Choices()))
    words = array(turn.words.dtype)
    assert ".visible .func" in ptx(choose, words, array("u8"), choices, parts, numba.from_dtype(rules.WORK))


def test_kernels_that_belong_to_no_game_compile_to_ptx(ptx: Any) -> None:
    replay, rollouts = load_kernels("replay", {}, "replay", "cuda"), load_kernels("advantages", {}, "rollout", "cuda")
    rows, bools, floats = array("i1", 2), array("?", 2), array("f4", 2)
    tree, indices, numbers = array("f8"), array("i8"), array("f4")
    whole, real, cursor = types.int64, types.float64, array("u8")
    plies, out = group(Plies, rows, rows, floats, rows, bools), group(NStepReturns, numbers, numbers, indices, numbers)
    shares = group(SampleShares, real, real, whole)
    how = whole, types.boolean, real, real
    assert ptx(replay.n_step_returns, indices, cursor, plies, *how, out, device=False)
    assert ptx(replay.sample_uniform, cursor, shares, bools, bools, indices, device=False)
    assert ptx(replay.sample_prioritised, cursor, tree, indices, tree, device=False)
    assert ptx(replay.mark_games, bools, cursor, array("?"), array("i4"), types.boolean, device=False)
    rollout = group(RolloutPlies, rows, rows, floats, rows, bools, floats, floats)
    assert ptx(rollouts.compute_advantages, rollout, real, real, floats, device=False)
