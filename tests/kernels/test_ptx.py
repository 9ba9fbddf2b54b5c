"""Every rule function, encoder and policy compiles for a GPU; that needs numba-cuda, but no GPU."""

# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import plyground as pg
from plyground.agents.agent import policies_of

pytestmark = pytest.mark.compiled


def test_rules_encoders_and_policies_compile_to_ptx(game: pg.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba_cuda", reason="needs numba-cuda, which compiles for GPUs without having one")
    import numba
    from numba import cuda, types
    from numba.cuda import dispatcher

    # A function that is called by another asks which GPU there is: say one.
    monkeypatch.setattr(dispatcher, "get_current_device", lambda: SimpleNamespace(compute_capability=(9, 0)))

    def ptx(function: Any, *arguments: Any) -> str:
        return cuda.compile_ptx(getattr(function, "py_func", function), arguments, device=True, cc=(9, 0))[0]

    rules = game.rules
    state, work = numba.from_dtype(rules.STATE), numba.from_dtype(rules.WORK)
    rng, actions = types.Array(types.uint64, 1, "C"), types.Array(types.int32, 1, "C")
    signatures = {
        "reset": (state, rng),
        "legal": (state, actions, work),
        "mask": (state, types.Array(types.boolean, 1, "C")),
        "play": (state, types.int32, rng, work),
        "evaluate": (state,),
        "seat": (state,),
        "determinize": (state, types.int32, rng),
        "transform": (state, types.int32),
        "transform_action": (types.int32, types.int32),
    }
    for name, function in rules.compiled.items():
        code = getattr(function, "py_func", function).__code__
        assert ".visible .func" in ptx(function, *signatures[name][: code.co_argcount]), name
    for encoder in set(game.encoders.values()):
        out = types.Array(numba.typeof(encoder.dtype(0)), 1, "C")
        assert ptx(encoder.write, state, types.int32, out)
    for policy in policies_of(game).values():
        code = getattr(policy, "py_func", policy).__code__
        assert ptx(policy, *(state, rng, work)[: code.co_argcount])
