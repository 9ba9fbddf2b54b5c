"""`Model`: what judges positions by weights. A search takes a model; an agent is a model, a search and a way to choose.

    network    a torch network (`network.py`)
    table      action values by keys (`table.py`)
    compiled   weights and a few functions over one record, which kernels call (`compiled.py`); a game's own `evaluate`
               is one of them

KINDS names the module of each kind that a run can learn. `of_config` there makes the model of a run's config, without
weights; whoever loads, saves, compares or plays by a model asks no further what it is.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.game import Game

Arrays = Mapping[str, NDArray[Any]]
Records = NDArray[np.void]


class Model(Protocol):
    """What search, learners, runs, agents and reports know of a model."""

    kind: str
    """also the name of its file of weights in a checkpoint"""
    compiled: bool
    """whether kernels can call it: alpha-beta, and tree search without torch"""
    spec: str
    """by which the option `model=...` of an agent's spec names it, where it does"""
    folder: Path | None
    """the run that has learned it, if one has"""

    @property
    def game(self) -> Game: ...

    @property
    def identity(self) -> dict[str, str]:
        """What its checkpoints belong to: game, encoder and network, or key, or sizes."""
        ...

    @property
    def words(self) -> str:
        """What it is and how large, for people."""
        ...

    def code(self) -> dict[str, tuple[Any, ...]]:
        """The functions, classes and numbers beside the rules that its weights mean nothing without, by name."""
        ...

    def judge(self, states: Records) -> NDArray[np.float64]:
        """[N] the values of running states [N] for their sides to move, in [-1, 1]."""
        ...

    def state(self) -> Arrays:
        """The weights by name: on a CPU in the memory that is used."""
        ...

    def load_state(self, state: Arrays) -> None:
        """Take the weights of another; InvalidValue where names, shapes or types do not fit."""
        ...

    def copy(self) -> Self:
        """The same with weights of its own, as they are now."""
        ...

    def take(self, other: Self) -> None:
        """Have the present weights of another model of the same kind and sizes."""
        ...


@dataclass(frozen=True)
class Reason:
    """A cell of the position after a move without which it would be worth another value."""

    cell: str
    """its name, that of the scene where it is drawn"""
    holds: str
    """`White pawn`"""
    change: float
    """the value for the side that moved, less the value without it: positive, it speaks for the move"""

    @property
    def words(self) -> str:
        """`f2 (White pawn): 0.18 lower without it`"""
        return (
            f"{self.cell} ({self.holds}): {abs(self.change):.2f} {'lower' if self.change > 0 else 'higher'} without it"
        )


class Kind(NamedTuple):
    """A kind of model that runs learn."""

    module: str
    settings: tuple[str, ...]
    """of the runs that learn it, and of no others"""


KINDS = {
    "table": Kind("plyground.models.table", ("key",)),
    "ntuple": Kind("plyground.models.ntuple", ("tuples", "length")),
    "sparse": Kind("plyground.models.sparse", ("units",)),
    "network": Kind("plyground.models.network", ("network", "encoder", "outputs")),
}


def kind_of(config: Mapping[str, Any]) -> str:
    """The kind of model that a run with this config learns; empty where it names none."""
    return next((kind for kind, each in KINDS.items() if config.keys() >= {*each.settings}), "")


def of_config(config: Mapping[str, Any], game: Game) -> Any:
    """The model that a run with this config learns, without weights yet."""
    kind = kind_of(config)
    if not kind:
        needed = ", or ".join(" and ".join(each.settings) for each in KINDS.values())
        raise InvalidValue(f"config.toml does not say what was learned: it has {needed}")
    try:
        return importlib.import_module(KINDS[kind].module).of_config(config, game)
    except KeyError as error:
        raise InvalidValue(f"config.toml does not say {error}") from None
