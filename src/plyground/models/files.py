"""Models from a file of one's own, `PATH.py`, whose weights lie beside it in `PATH.safetensors`.

The file is code and runs with the rights of the person who names it; the weights are data.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, naming_extras, plain_os_errors, shorten
from plyground.game import Game, load, module_of_file
from plyground.models.compiled import CompiledModel


class FileModel(CompiledModel):
    """The model of a file."""

    def __init__(self, game: Game, path: str) -> None:
        super().__init__(game, module_of_file(path, "model file"))
        self.spec = path

    @property
    def weights_file(self) -> Path:
        return Path(self.spec).with_suffix(".safetensors")

    def save(self) -> Path:
        """Write the weights beside the file; returns where."""
        with naming_extras():
            from safetensors.numpy import save
        arrays = {name: np.array(values) for name, values in self.arrays.items()}
        content = save(arrays, {"model": self.kind, "game": str(self.game)})
        aside = self.weights_file.with_suffix(f".{os.getpid()}")
        with plain_os_errors(f"write {self.weights_file}"):
            aside.write_bytes(content)
            aside.replace(self.weights_file)
        return self.weights_file

    def read(self) -> None:
        """Take the saved weights over, if they fit this model."""
        path = self.weights_file
        if not path.is_file():
            raise InvalidValue(f"{self.spec} has no weights yet: {path} is not there; train the model and save it")
        found = _read(path)
        try:
            self.load_state(found)
        except InvalidValue as error:
            raise InvalidValue(f"{path} holds {error}") from None


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file, if all numbers are finite."""
    with naming_extras():
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    try:
        found: dict[str, NDArray[Any]] = load_file(path)
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        raise InvalidValue(f"cannot read the weights {path}: {shorten(str(error))}") from None
    if bad := [name for name, values in found.items() if values.dtype.kind == "f" and not np.isfinite(values).all()]:
        raise InvalidValue(f"{path} is damaged: {', '.join(bad)} hold numbers that are not finite")
    return found


def load_model(path: str, game: Game | str, trained: bool = False) -> FileModel:
    """The model of a file for a game; with `trained` it has the saved weights, otherwise all are zero."""
    model = FileModel(load(game), path)
    if trained:
        model.read()
    return model
