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

from plyground.game import Game
from plyground.kernels.fingerprint import code_fingerprint
from plyground.models.model import Model, kind_of, of_config
from plyground.runs.directory import find_checkpoint, game_of, read_config, steps_of
from plyground.runs.files import write_whole

NOT_RULES = frozenset({"evaluate", "evaluate_fine", "loudness", "legal_loud", "mask", "count_legal", "play_head"}) | {
    *("transposition_key", "in_check", "can_win", "pass_turn")
}
SIZES = ("STATE", "HEAD", "NUM_ACTIONS", "MAX_LEGAL", "MAX_PLIES", "SEATS", "SYMMETRIES", "CHANCE")


def of_model(model: Model) -> dict[str, str]:
    """The fingerprints of a checkpoint that holds a model."""
    code = {name: code_fingerprint(*parts) for name, parts in model.code().items()}
    return {"rules": rules_fingerprint(model.game), **code}


def of_run(run: Path, game: Game | None = None) -> dict[str, str]:
    """The fingerprints of the current code for the game, encoder and network (or table key) of a run's config.toml."""
    config = read_config(run)
    return of_model(of_config(config, game_of(run, game))) if kind_of(config) else {}


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
