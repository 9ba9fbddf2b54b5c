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
from plyground.kernels.cache import load_kernels

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
        "seat": (state,),
        "determinize": (state, types.int32, rng),
        "transform": (state, types.int32),
        "transform_action": (types.int32, types.int32),
        "loudness": (state, types.int32),
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
    for policy in game.rules.POLICIES.values():
        code = getattr(policy, "py_func", policy).__code__
        assert ptx(policy, *(state, rng, work)[: code.co_argcount])


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["some", "every"])
@pytest.mark.parametrize("word", ["connect_four", "chess", "sequence", "paco_sako"])
def test_kernels_compile_to_ptx(word: str, every: bool, ptx: Any) -> None:
    """Every one; or those that tell most: some of Paco Ŝako's take half a minute each."""
    from plyground.backend.device import count_bits_by_instruction

    def array(of: Any, dimensions: int = 1) -> Any:
        return types.Array(of if isinstance(of, types.Type) else numba.from_dtype(np.dtype(of)), dimensions, "C")

    def kernel(template: str, name: str, functions: Any, *arguments: Any) -> None:
        module = load_kernels(template, functions, word)
        assert ".visible .entry" in ptx(getattr(module, name), *arguments, device=False), name

    count_bits_by_instruction()
    game = pg.load(word)
    rules, whole, size = game.rules, types.int64, types.int64
    sizes = {"STATE": rules.STATE, "MAX_LEGAL": rules.MAX_LEGAL, "CHANCE": rules.CHANCE}
    functions = {**rules.compiled, **sizes}
    states, heads, work = array(rules.STATE), array(rules.SEARCHED), array(rules.WORK)
    words, bools, ints, rngs = array(f"u{rules.STATE.alignment}", 2), array("?"), array("i4"), array("u8")
    kernel("cuda_rules", "reset_all", functions, states, words, words, rngs)
    outcome = array("f4"), bools, bools
    kernel("cuda_rules", "step_all", functions, states, *[words] * 3, ints, rngs, words, ints, whole, *outcome, work)
    asked = array("i4", 2), ints, array("?", 2), rngs, ints, ints, ints
    kernel("cuda_rules", "look_all", functions, states, *asked, work)
    kernel("cuda_rules", "play_heads", functions, heads, ints, rngs, work)
    kernel("cuda_rules", "count_all", functions, heads, array("i8"), work)
    kernel("cuda_rules", "seats_to_act", functions, states, ints)
    if every or word != "paco_sako":
        kernel("cuda_rules", "random_play", functions, words, words, rngs, ints, whole, array("i8"), work)
        kernel("cuda_rules", "open_games", functions, states, words, bools, ints, words, rngs, work)
    if "mask" in rules.compiled:
        kernel("cuda_mask", "legal_masks", rules.compiled, states, array("?", 2))
    kernel("cuda_rules", "transform_all", functions, states, ints)
    policies, encoders = list(game.rules.POLICIES.values()), list(dict.fromkeys(game.encoders.values()))
    if not every:
        policies, encoders = policies[: word != "paco_sako"], encoders[::5]
    for policy in policies:
        kernel("cuda_choose", "choose_all", {"choose": policy}, states, bools, rngs, ints, work)
    if "evaluate" in rules.compiled:
        kernel("cuda_evaluate", "evaluate_all", rules.compiled, states, array("f4"))
    for encoder in encoders:
        writes = {"write": encoder.write, **rules.compiled}
        kernel("cuda_encode", "encode_columns", writes, states, whole, array(encoder.dtype, 2))
        kernel("cuda_encode", "encode_staged", writes, states, whole, size, array(encoder.dtype), rngs, size)
    for encoder in [each for each in game.encoders.values() if each.spread][: None if every else 1]:
        arguments = array("i2", 2), array("i2"), array("i2", 2), array("u8", 2)
        kernel("cuda_expand", "expand_all", {"spread": encoder.spread}, *arguments)


def test_the_memorys_kernels_compile_to_ptx(ptx: Any) -> None:
    module, rollouts = load_kernels("cuda_replay", {}, "memory"), load_kernels("cuda_advantages", {}, "rollouts")
    rows, bools, floats = (types.Array(each, 2, "C") for each in (types.int8, types.boolean, types.float32))
    tree, picked, numbers, lengths, over = (
        types.Array(each, 1, "C") for each in (types.float64, types.int64, types.float32, types.int32, types.boolean)
    )
    whole, real, seed = types.int64, types.float64, types.uint64
    stored = rows, rows, floats, rows, bools
    how = whole, types.boolean, real, real
    assert ptx(module.follow_all, picked, whole, *stored, *how, numbers, numbers, picked, numbers, device=False)
    assert ptx(module.draw_uniform, seed, whole, whole, whole, real, real, bools, bools, picked, device=False)
    assert ptx(module.draw_prioritised, seed, tree, picked, tree, device=False)
    assert ptx(module.mark_good, bools, whole, over, lengths, device=False)
    judged = rows, rows, floats, rows, bools, floats, floats, real, real, floats
    assert ptx(rollouts.advantages, *judged, device=False)
