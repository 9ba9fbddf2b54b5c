"""What a checkpoint was made with: fingerprints of rules, encoder or table key, and network code.

    rules    reset, legal, play and the other rule functions, record types, sizes and settings
    encoder  what it writes, its shape, and which output stands for which action
    key      the functions of a table's key
    network  the classes that a network consists of

Evaluation functions and faster forms of the same rules (mask, count_legal, play_head) are not part of it: a checkpoint
means the same with others. `kernels/fingerprint.py` says which edits count as a change.

    python -m plyground.runs.fingerprints RUN   declares that RUN's checkpoints fit the current code
"""

from __future__ import annotations

import functools
import json
import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np

from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.games.table_key import TableKey, pick_key
from plyground.kernels.fingerprint import code_fingerprint
from plyground.runs.directory import find_checkpoint, game_of, read_config, steps_of
from plyground.runs.files import write_whole

NOT_RULES = frozenset({"evaluate", "evaluate_fine", "loudness", "legal_loud", "mask", "count_legal", "play_head"}) | {
    *("transposition_key", "in_check", "can_win", "pass_turn")
}
SIZES = ("STATE", "HEAD", "NUM_ACTIONS", "MAX_LEGAL", "MAX_PLIES", "SEATS", "SYMMETRIES", "CHANCE")


def of_network(game: Game, encoder: Encoder, network: Any) -> dict[str, str]:
    """The fingerprints of a checkpoint that holds a network (an `nn.Module`)."""
    classes = {f"{kind.__module__}.{kind.__qualname__}": kind for kind in map(type, network.modules())}
    dense = encoder.spread or encoder.expand
    shown = code_fingerprint(encoder.shape, np.dtype(encoder.dtype), encoder.write, encoder.slot, dense)
    found = code_fingerprint(*(classes[name] for name in sorted(classes)))
    return {"rules": rules_fingerprint(game), "encoder": shown, "network": found}


def of_table(game: Game, key: TableKey) -> dict[str, str]:
    """The fingerprints of a checkpoint that holds a table."""
    return {"rules": rules_fingerprint(game), "key": code_fingerprint(key.words, sorted(key.functions.items()))}


def of_run(run: Path, game: Game | None = None) -> dict[str, str]:
    """The fingerprints of the current code for the game, encoder and network (or table key) of a run's config.toml."""
    config = read_config(run)
    if "key" not in config and not {"encoder", "network", "outputs"} <= config.keys():
        return {}
    game = game_of(run, game)
    if "key" in config:
        return of_table(game, pick_key(game.rules, config["key"]))
    import torch

    from plyground.networks import make_network

    encoder = game.encoder(config["encoder"])
    shape = game.encoder(encoder.dense).shape if encoder.dense else encoder.shape
    with torch.device("meta"):  # no memory, no arithmetic
        dueling, parts = config.get("dueling", False), encoder.parts() if encoder.parts else None
        network = make_network(config["network"], shape, config["outputs"], dueling, parts)
    return of_network(game, encoder, network)


def notice(run: Path, which: str = "best", game: Game | None = None) -> str:
    """One line about what has changed since a run's checkpoint was made; empty where nothing has."""
    return find_checkpoint(run, which).notice(of_run(run, game))


@functools.cache  # each is said once
def warn(text: str) -> None:
    """Tell people through the logger."""
    if text:
        logging.getLogger("plyground").warning("%s", text)


def stamp(run: Path) -> None:
    """Replace the fingerprints of all checkpoints of a run by those of the current code."""
    found = of_run(run)
    for step in steps_of(run):
        path = run / "checkpoints" / str(step) / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        write_whole(path, json.dumps({**manifest, "fingerprints": found}, indent=1).encode())


@functools.cache
def rules_fingerprint(game: Game) -> str:
    rules: Any = game.rules
    functions = sorted((name, function) for name, function in rules.compiled.items() if name not in NOT_RULES)
    return code_fingerprint([getattr(rules, name) for name in SIZES], sorted(game.settings.items()), functions)


if __name__ == "__main__":
    stamp(*map(Path, sys.argv[1:]))
