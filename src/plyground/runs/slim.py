"""Reduce a run to what is needed for playing: its config, and its best network in half precision.

The pretrained networks (`trained/`) were made this way; the config of each original run is kept beside its weights:

    python -m plyground.runs.slim RUN FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from plyground.runs.directory import best_of, create, find_checkpoint, read_config


def slim(run: Path, folder: Path) -> None:
    """Write a run's best network to a new folder; it can play but cannot be resumed."""
    checkpoint = find_checkpoint(run, "best")
    network = {name: values.astype(np.float16) for name, values in checkpoint.tensors("network").items()}
    with create(folder, read_config(run)) as made:
        made.save(checkpoint.step, checkpoint.identity, {"network": network}, {}, checkpoint.fingerprints)
        made.write("best.json", json.dumps(best_of(run), indent=1) + "\n")
    for name in ("lock", "metrics.jsonl"):
        (folder / name).unlink()


if __name__ == "__main__":
    slim(*map(Path, sys.argv[1:]))
