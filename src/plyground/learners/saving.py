"""Saving and loading of training state: one mechanism for every learner.

A learner names its parts once, `parts() -> {name: object}`. A part is a network, an optimizer, a generator, a tensor or
array, a dataclass of plain values, a list or dict of parts, or an object with `state()` and `load_state()`, which
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
    elif isinstance(part, nn.Module):
        dump(name, part.state_dict(), arrays, plain)
    elif isinstance(part, torch.optim.Optimizer):
        state = part.state_dict()
        dump(name, {str(k): slot for k, slot in state["state"].items()}, arrays, plain)
        plain[f"{name}.rates"] = [group["lr"] for group in part.param_groups]
    elif isinstance(part, torch.Generator):
        arrays[name] = part.get_state().numpy()
    elif isinstance(part, np.random.Generator):
        plain[name] = part.bit_generator.state
    elif isinstance(part, Stateful):
        dump(name, part.state(), arrays, plain)
    elif is_dataclass(part):
        plain[name] = asdict(cast(Any, part))
    elif isinstance(part, Mapping):
        for key, value in part.items():
            dump(f"{name}.{key}", value, arrays, plain)
    elif isinstance(part, list | tuple):
        plain[f"{name}.length"] = len(part)
        dump(name, {str(k): value for k, value in enumerate(part)}, arrays, plain)
    else:
        plain[name] = part


def restore(name: str, part: Any, arrays: Arrays, plain: Mapping[str, Any]) -> Any:
    """Put saved values back into a part, in place; a plain value is returned."""
    if isinstance(part, Tensor):
        with torch.no_grad():
            part.copy_(_fitting(name, arrays, tuple(part.shape)).to(part.dtype))
    elif isinstance(part, np.ndarray):
        part[...] = _fitting(name, arrays, part.shape).numpy()
    elif isinstance(part, nn.Module):
        restore(name, part.state_dict(), arrays, plain)
    elif isinstance(part, torch.optim.Optimizer):
        _restore_optimizer(name, part, arrays, plain)
    elif isinstance(part, torch.Generator):
        part.set_state(torch.from_numpy(_array(name, arrays).copy()))
    elif isinstance(part, np.random.Generator):
        part.bit_generator.state = _plain(name, plain)
    elif isinstance(part, Stateful):
        part.load_state(_below(name, arrays, plain))
    elif is_dataclass(part):
        for each in fields(part):
            setattr(part, each.name, _plain(name, plain)[each.name])
    elif isinstance(part, Mapping):
        for key, value in part.items():
            restore(f"{name}.{key}", value, arrays, plain)
    elif isinstance(part, list | tuple):
        for k, value in enumerate(part):
            restore(f"{name}.{k}", value, arrays, plain)
    else:
        return _plain(name, plain)
    return part


def _restore_optimizer(name: str, part: torch.optim.Optimizer, arrays: Arrays, plain: Mapping[str, Any]) -> None:
    """Adam keeps two tensors and a step for each parameter, once it has made a step."""
    slots: dict[int, dict[str, Tensor]] = {}
    for key, values in _below(name, arrays, {}).items():
        place, _, slot = key.partition(".")
        tensor = torch.from_numpy(values.copy())
        slots.setdefault(int(place), {})[slot] = tensor.reshape(()) if slot == "step" else tensor
    part.load_state_dict({**part.state_dict(), "state": slots})
    for group, rate in zip(part.param_groups, _plain(f"{name}.rates", plain), strict=True):
        group["lr"] = rate


def _below(name: str, arrays: Mapping[str, Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """All saved values whose names begin with `name.`, without it."""
    both = {**arrays, **plain}
    return {key.removeprefix(f"{name}."): value for key, value in both.items() if key.startswith(f"{name}.")}


def _array(name: str, arrays: Arrays) -> NDArray[Any]:
    if name not in arrays:
        raise InvalidValue(f"the checkpoint lacks the tensor {name}")
    return arrays[name]


def _plain(name: str, plain: Mapping[str, Any]) -> Any:
    if name not in plain:
        raise InvalidValue(f"the checkpoint lacks the value {name}")
    return plain[name]


def _fitting(name: str, arrays: Arrays, shape: tuple[int, ...]) -> Tensor:
    found = _array(name, arrays)
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
