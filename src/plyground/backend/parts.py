"""Training state to and from the host: the tensors of any part as numpy arrays, everything else as JSON values.

A part is a network, an optimizer, a torch generator, a tensor or array, a dataclass of plain values, a dict of parts,
or an object with `state()` and `load_state()`, which returns and takes parts again.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Arrays = dict[str, NDArray[Any]]
Parts = Mapping[str, Any]


@runtime_checkable
class Stateful(Protocol):
    """An object that says itself what its parts are, because they change in size or form."""

    def state(self) -> Parts: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


def _is(part: Any, name: str) -> bool:
    """Whether a part is of a class of torch, which nobody has made who has not imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(part, operator.attrgetter(name)(torch))


def dump(name: str, part: Any, arrays: Arrays, plain: dict[str, Any]) -> None:
    """Add a part's tensors to `arrays` and its other values to `plain`, both by full name."""
    if _is(part, "Tensor"):
        arrays[name] = part.detach().cpu().numpy()
    elif isinstance(part, np.ndarray):
        arrays[name] = part
    elif _is(part, "Generator"):
        arrays[name] = part.get_state().numpy()
    elif is_dataclass(part) and not isinstance(part, Stateful):
        plain[name] = asdict(cast(Any, part))
    elif (inside := _inside(part)) is not None:
        for key, value in inside.items():
            dump(f"{name}.{key}", value, arrays, plain)
    else:
        plain[name] = part


def _inside(part: Any) -> Parts | None:
    """The parts of a part; none of a plain value."""
    if _is(part, "nn.Module"):
        return part.state_dict()
    if _is(part, "optim.Optimizer"):
        rates = [float(group["lr"]) for group in part.param_groups]
        return {"rates": rates, **{str(k): slot for k, slot in part.state_dict()["state"].items()}}
    if isinstance(part, Stateful):
        return part.state()
    return part if isinstance(part, Mapping) else None


def restore(name: str, part: Any, arrays: Arrays, plain: Mapping[str, Any]) -> None:
    """Put saved values back into a part, in place."""
    if _is(part, "Tensor"):
        import torch

        with torch.no_grad():
            part.copy_(torch.from_numpy(_fitting(name, arrays, tuple(part.shape)).copy()).to(part.dtype))
    elif isinstance(part, np.ndarray):
        part[...] = _fitting(name, arrays, part.shape)
    elif _is(part, "Generator"):
        import torch

        part.set_state(torch.from_numpy(_found(name, arrays).copy()))
    elif _is(part, "optim.Optimizer"):
        _restore_optimizer(part, below(name, {**arrays, **plain}))
    elif isinstance(part, Stateful):
        part.load_state(below(name, {**arrays, **plain}))
    elif is_dataclass(part):
        for each in fields(part):
            setattr(part, each.name, _found(name, plain)[each.name])
    else:
        for key, value in (_inside(part) or {}).items():
            restore(f"{name}.{key}", value, arrays, plain)


def _restore_optimizer(part: torch.optim.Optimizer, saved: Mapping[str, Any]) -> None:
    """Adam keeps two tensors and a step for each parameter, once it has made a step."""
    import torch

    slots: dict[int, dict[str, Tensor]] = {}
    weights = [each for group in part.param_groups for each in group["params"]]
    for key, values in saved.items():
        place, _, slot = key.partition(".")
        if slot:
            tensor = torch.from_numpy(values.copy())
            slots.setdefault(int(place), {})[slot] = tensor.reshape(()) if slot == "step" else tensor
    for place, found in slots.items():  # torch's fused step checks no shapes
        shape, given = weights[place].shape, {slot: tensor.shape for slot, tensor in found.items()}
        if given != {"step": torch.Size(), "exp_avg": shape, "exp_avg_sq": shape}:
            raise InvalidValue(f"the checkpoint's optimizer does not fit weights of the shape {tuple(shape)}")
    part.load_state_dict({**part.state_dict(), "state": slots})
    for rate in _found("rates", saved):
        set_learning_rate(part, rate)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """The same in all groups. Where it is a tensor, which a captured graph reads, it stays where it is."""
    for group in optimizer.param_groups:
        if _is(group["lr"], "Tensor"):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def below(name: str, saved: Mapping[str, Any]) -> dict[str, Any]:
    """All saved values whose names begin with `name.`, without it."""
    return {key.removeprefix(f"{name}."): value for key, value in saved.items() if key.startswith(f"{name}.")}


def _found(name: str, saved: Mapping[str, Any]) -> Any:
    if name not in saved:
        raise InvalidValue(f"the checkpoint lacks {name}")
    return saved[name]


def _fitting(name: str, arrays: Arrays, shape: tuple[int, ...]) -> NDArray[Any]:
    found = _found(name, arrays)
    if found.shape != shape:
        raise InvalidValue(f"the checkpoint's {name} has the shape {found.shape}, not {shape}")
    return found
