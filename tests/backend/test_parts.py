"""Parts of training state, to the host and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from plyground.backend import parts
from plyground.errors import Error


@dataclass
class Counters:
    step: int = 0
    names: tuple[str, ...] = ()


class Growing:
    """Says itself what its parts are."""

    def __init__(self) -> None:
        self.rows = torch.zeros(0)

    def state(self) -> dict[str, Any]:
        return {"rows": self.rows, "count": len(self.rows)}

    def load_state(self, state: Any) -> None:
        self.rows = torch.from_numpy(state["rows"].copy())
        assert len(self.rows) == state["count"]


def everything() -> dict[str, Any]:
    network = nn.Linear(2, 3)
    return {
        "network": network,
        "optimizer": torch.optim.Adam(network.parameters(), 0.1),
        "rng": torch.Generator(),
        "tensor": torch.zeros(4, dtype=torch.int32),
        "array": np.zeros((2, 2)),
        "counters": Counters(),
        "nested": {"inner": torch.zeros(1)},
        "growing": Growing(),
    }


def test_every_kind_of_part_is_restored_in_place() -> None:
    torch.manual_seed(1)
    one = everything()
    one["network"](torch.ones(1, 2)).sum().backward()
    one["optimizer"].step()
    one["optimizer"].param_groups[0]["lr"] = 0.025
    one["rng"].manual_seed(5)
    one["tensor"] += 7
    one["array"][:] = 3
    one["counters"].step = 9
    one["nested"]["inner"] += 2
    one["growing"].rows = torch.arange(3.0)
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    parts.dump("all", one, arrays, plain)
    other = everything()
    places = {name: id(part) for name, part in other.items()}
    parts.restore("all", other, arrays, plain)
    assert places == {name: id(part) for name, part in other.items()}
    again: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    parts.dump("all", other, *again)
    assert again[0].keys() == arrays.keys()
    assert all((again[0][name] == values).all() for name, values in arrays.items())
    assert again[1] == plain
    assert torch.rand(3, generator=one["rng"]).equal(torch.rand(3, generator=other["rng"]))


def test_a_tensor_of_another_shape_is_refused_by_name() -> None:
    arrays: dict[str, Any] = {}
    parts.dump("part", {"x": torch.zeros(3)}, arrays, {})
    with pytest.raises(Error, match=r"the checkpoint's part.x has the shape \(3,\), not \(4,\)"):
        parts.restore("part", {"x": torch.zeros(4)}, arrays, {})


def test_a_part_that_is_missing_is_refused_by_name() -> None:
    with pytest.raises(Error, match=r"the checkpoint lacks part\.x"):
        parts.restore("part", {"x": torch.zeros(4)}, {}, {})


@pytest.mark.parametrize("name", ["exp_avg", "exp_avg_sq"])
def test_an_optimizer_of_other_shapes_is_refused(name: str) -> None:
    """Its step would read and write beyond the tensors."""
    part = everything()
    part["network"](torch.ones(1, 2)).sum().backward()
    part["optimizer"].step()
    arrays: dict[str, Any] = {}
    plain: dict[str, Any] = {}
    parts.dump("all", part, arrays, plain)
    whole = arrays.pop(f"all.optimizer.0.{name}")
    with pytest.raises(Error, match=r"optimizer does not fit weights of the shape \(3, 2\)"):
        parts.restore("all", everything(), arrays, plain)
    with pytest.raises(Error, match=r"optimizer does not fit weights of the shape \(3, 2\)"):
        parts.restore("all", everything(), {**arrays, f"all.optimizer.0.{name}": whole[:1]}, plain)
