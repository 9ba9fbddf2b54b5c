"""What a run has learned, as a model: loaded from a checkpoint that fits it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plyground.errors import InvalidValue, command, naming_extras, shorten
from plyground.game import Game
from plyground.models.model import Model, of_config
from plyground.runs import fingerprints
from plyground.runs.directory import Checkpoint, find_checkpoint, game_of, read_config
from plyground.runs.files import is_file


def load_model(path: Path, game: Game | None = None, which: str = "best") -> Any:
    """The model of a run's checkpoint `best`, `last`, or that of a step; a notice says what has changed in the code
    since it was made."""
    config, own = read_config(path), game_of(path, game)
    try:
        with naming_extras():
            model = of_config(config, own)
    except InvalidValue as error:
        raise InvalidValue(f"{path}: {error}") from None
    checkpoint = find_checkpoint(path, which)
    fill(model, checkpoint)
    model.folder, model.spec = path, str(path)
    fingerprints.warn(checkpoint.notice(fingerprints.of_model(model)))
    return model


def fill(model: Model, checkpoint: Checkpoint) -> None:
    """Give a model the weights of a checkpoint, if they belong to the same game, encoder and sizes."""
    checkpoint.check(model.identity, fingerprints.rules_fingerprint(model.game))
    try:
        model.load_state(checkpoint.tensors(model.kind))
    except InvalidValue as error:
        raise InvalidValue(f"{checkpoint.path} does not fit: {error}") from None


def begin_with(model: Model, path: str) -> None:
    """Give a model the weights of the best checkpoint of a run that has learned the same."""
    if not is_file(Path(path) / "config.toml"):
        how = command("train", "imitation", "--data", "FILE", "--out", shorten(path))
        make = f"make one with `{how}`, or " if model.kind == "network" else ""
        raise InvalidValue(f"{shorten(path)!r} is no run to begin with: {make}name another with --init")
    fill(model, find_checkpoint(Path(path), "best"))
