"""Saving and loading of training state: one mechanism for every learner.

A learner names its parts once, `parts() -> {name: part}`; `backend/parts.py` says what a part may be. `save` writes
tensors in groups (one safetensors file each) and everything else as JSON; `load` puts every value back in place.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields, is_dataclass
from typing import Any, Protocol, get_type_hints

from plyground.backend.parts import Arrays, Parts, Stateful, dump, restore
from plyground.errors import InvalidValue, shorten
from plyground.learners.state import TrainingState
from plyground.models.model import KINDS
from plyground.runs.directory import Checkpoint, Run
from plyground.runs.files import DamagedFile
from plyground.runs.records import fit
from plyground.runs.settings import differences

PLAYED = ("replay", "games", "rollout", "search_results")  # parts that grow with what was played
GROUPS = {**{kind: kind for kind in KINDS}, **dict.fromkeys(PLAYED, "replay")}
OTHER_PARTS = "training"  # the group of all other parts
MOST_SHOWN = 1000  # characters of differences
NOT_SAVED_SO = (KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError, RuntimeError)
"""what torch, numpy and Python raise where a value has another type or shape than `save` writes"""


class Saved(Protocol):
    """What `save` and `load` need of a learner."""

    config: Any

    @property
    def limits(self) -> tuple[str, ...]: ...  # settings that a resumed run may change: its end

    @property
    def model(self) -> Any: ...  # its `identity` says what checkpoints belong to

    def parts(self) -> Parts: ...


def save(learner: Saved, run: Run, step: int) -> Checkpoint:
    """Write a checkpoint of all parts of a learner."""
    groups: dict[str, Arrays] = {}
    plain: dict[str, Any] = {}
    for name, part in learner.parts().items():
        group = groups.setdefault(GROUPS.get(name, OTHER_PARTS), {})
        found: Arrays = {}
        dump(name, part, found, plain)
        group |= {key.removeprefix(f"{name}.") if name in KINDS else key: v for key, v in found.items()}
    state = {"config": asdict(learner.config), "parts": plain}
    return run.save(step, learner.model.identity, {name: arrays for name, arrays in groups.items() if arrays}, state)


def load(learner: Saved, checkpoint: Checkpoint) -> list[str]:
    """Become what was saved; returns the limits that have changed, in words. Identity, config and trust are checked
    first."""
    checkpoint.check(learner.model.identity)
    changed, state = changed_limits(learner.config, learner.limits, checkpoint), checkpoint.state()
    checkpoint.check_trusted()
    arrays: Arrays = {}
    for file in checkpoint.manifest["files"]:
        group = file.removesuffix(".safetensors")
        if group != file:
            prefix = f"{group}." if group in KINDS else ""
            arrays |= {f"{prefix}{key}": values for key, values in checkpoint.tensors(group).items()}
    for name, part in learner.parts().items():
        try:
            if is_dataclass(part) and not isinstance(part, type | Stateful):
                for field, hint in get_type_hints(type(part)).items():
                    fit(state["parts"][name][field], hint, f"{field} of {checkpoint.path}/state.json")
            restore(name, part, arrays, state.get("parts", {}))
            if isinstance(part, TrainingState):
                part.check()
        except NOT_SAVED_SO as error:
            raise DamagedFile(f"{checkpoint.path} does not hold {name} as it was saved: {error!r}") from error
    return changed


def changed_limits(config: Any, limits: Sequence[str], checkpoint: Checkpoint) -> list[str]:
    """The limits that differ from those of a checkpoint, in words; another setting that differs is an error."""
    state = checkpoint.state()
    if "config" not in state:
        raise InvalidValue(f"{checkpoint.path} holds only a network: it can play, but a run cannot be resumed from it")
    now = {**json.loads(json.dumps(asdict(config))), "game": state["config"].get("game")}  # `load` compares it
    before = {**_defaults(config), **state["config"]}  # an older checkpoint lacks settings that are new
    ends = {name: before[name] for name in limits if name in before}
    if edited := "; ".join(differences(before, now | ends)):
        raise InvalidValue(f"config.toml differs from the config of {checkpoint.path}: {shorten(edited, MOST_SHOWN)}")
    return differences(before, now)


def _defaults(config: Any) -> dict[str, Any]:
    """The defaults of all settings, as JSON holds them: new settings must change nothing by default."""
    return json.loads(json.dumps({field.name: field.default for field in fields(config)}))
