"""Saving and loading of training state: one mechanism for every learner.

A learner names its parts once, `parts() -> {name: object}`. A part is a network, an optimizer, a torch generator, a
tensor or array, a dataclass of plain values, a dict of parts, or an object with `state()` and `load_state()`, which
returns and takes parts again. `save` writes tensors in groups (one safetensors file each) and everything else as JSON;
`load` puts every value back in place, after all of them were checked.
"""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from plyground.errors import InvalidValue
from plyground.runs.directory import Checkpoint, Run
from plyground.runs.settings import differences

GROUPS = {"network": "network", "table": "table", "replay": "replay", "games": "replay", "rollout": "replay"}
OTHER_PARTS = "training"  # the group of all other parts

Arrays = dict[str, NDArray[Any]]
Parts = Mapping[str, Any]


@runtime_checkable
class Stateful(Protocol):
    """An object that says itself what its parts are, because they change in size or form."""

    def state(self) -> Parts: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


class Saved(Protocol):
    """What `save` and `load` need of a learner."""

    config: Any
    limits: tuple[str, ...]  # settings that a resumed run may change: its end

    @property
    def identity(self) -> dict[str, str]: ...

    def parts(self) -> Parts: ...


# ---- to and from arrays and JSON ----


def dump(name: str, part: Any, arrays: Arrays, plain: dict[str, Any]) -> None:
    """Add a part's tensors to `arrays` and its other values to `plain`, both by full name."""
    if isinstance(part, Tensor):
        arrays[name] = part.detach().cpu().numpy()
    elif isinstance(part, np.ndarray):
        arrays[name] = part
    elif isinstance(part, torch.Generator):
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
    if isinstance(part, nn.Module):
        return part.state_dict()
    if isinstance(part, torch.optim.Optimizer):
        rates = [group["lr"] for group in part.param_groups]
        return {"rates": rates, **{str(k): slot for k, slot in part.state_dict()["state"].items()}}
    if isinstance(part, Stateful):
        return part.state()
    return part if isinstance(part, Mapping) else None


def restore(name: str, part: Any, arrays: Arrays, plain: Mapping[str, Any]) -> None:
    """Put saved values back into a part, in place."""
    if isinstance(part, Tensor):
        with torch.no_grad():
            part.copy_(_fitting(name, arrays, tuple(part.shape)).to(part.dtype))
    elif isinstance(part, np.ndarray):
        part[...] = _fitting(name, arrays, part.shape).numpy()
    elif isinstance(part, torch.Generator):
        part.set_state(torch.from_numpy(_found(name, arrays).copy()))
    elif isinstance(part, torch.optim.Optimizer):
        _restore_optimizer(part, _below(name, {**arrays, **plain}))
    elif isinstance(part, Stateful):
        part.load_state(_below(name, {**arrays, **plain}))
    elif is_dataclass(part):
        for each in fields(part):
            setattr(part, each.name, _found(name, plain)[each.name])
    else:
        for key, value in (_inside(part) or {}).items():
            restore(f"{name}.{key}", value, arrays, plain)


def _restore_optimizer(part: torch.optim.Optimizer, saved: Mapping[str, Any]) -> None:
    """Adam keeps two tensors and a step for each parameter, once it has made a step."""
    slots: dict[int, dict[str, Tensor]] = {}
    for key, values in saved.items():
        place, _, slot = key.partition(".")
        if slot:
            tensor = torch.from_numpy(values.copy())
            slots.setdefault(int(place), {})[slot] = tensor.reshape(()) if slot == "step" else tensor
    part.load_state_dict({**part.state_dict(), "state": slots})
    for group, rate in zip(part.param_groups, _found("rates", saved), strict=True):
        group["lr"] = rate


def _below(name: str, saved: Mapping[str, Any]) -> dict[str, Any]:
    """All saved values whose names begin with `name.`, without it."""
    return {key.removeprefix(f"{name}."): value for key, value in saved.items() if key.startswith(f"{name}.")}


def _found(name: str, saved: Mapping[str, Any]) -> Any:
    if name not in saved:
        raise InvalidValue(f"the checkpoint lacks {name}")
    return saved[name]


def _fitting(name: str, arrays: Arrays, shape: tuple[int, ...]) -> Tensor:
    found = _found(name, arrays)
    if found.shape != shape:
        raise InvalidValue(f"the checkpoint's {name} has the shape {found.shape}, not {shape}")
    return torch.from_numpy(found.copy())


# ---- to and from a run ----


def save(learner: Saved, run: Run, step: int) -> Checkpoint:
    """Write a checkpoint of all parts of a learner."""
    groups: dict[str, Arrays] = {}
    plain: dict[str, Any] = {}
    for name, part in learner.parts().items():
        group = groups.setdefault(GROUPS.get(name, OTHER_PARTS), {})
        found: Arrays = {}
        dump(name, part, found, plain)
        group |= {key.removeprefix(f"{name}.") if name in ("network", "table") else key: v for key, v in found.items()}
    state = {"config": asdict(learner.config), "parts": plain}
    return run.save(step, learner.identity, {name: arrays for name, arrays in groups.items() if arrays}, state)


def load(learner: Saved, checkpoint: Checkpoint) -> list[str]:
    """Become what was saved; returns the limits that have changed, in words. Everything is checked before use."""
    checkpoint.check(learner.identity)
    state = checkpoint.state()
    if "config" not in state:
        raise InvalidValue(f"{checkpoint.path} holds only a network: it can play, but a run cannot be resumed from it")
    now = {**json.loads(json.dumps(asdict(learner.config))), "game": state["config"]["game"]}  # `check` compared it
    ends = {name: state["config"][name] for name in learner.limits}
    edited = differences(state["config"], now | ends)
    if edited:
        raise InvalidValue(f"config.toml differs from the config of {checkpoint.path}: {'; '.join(edited)}")
    arrays: Arrays = {}
    for file in checkpoint.manifest["files"]:
        group = file.removesuffix(".safetensors")
        if group != file:
            prefix = f"{group}." if group in ("network", "table") else ""
            arrays |= {f"{prefix}{key}": values for key, values in checkpoint.tensors(group).items()}
    for name, part in learner.parts().items():
        restore(name, part, arrays, state["parts"])
    return differences(state["config"], now)
