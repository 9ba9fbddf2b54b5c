"""Files of a checkpoint that are well formed, with valid checksums, but not what was saved."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import safetensors.numpy

from plyground.runs.files import checksum
from plyground.runs.trust import remember_data

Arrays = dict[str, Any]


def rewrite(path: Path, content: bytes) -> None:
    """Replace a file of a checkpoint, and its entry in the manifest."""
    path.write_bytes(content)
    manifest = path.with_name("manifest.json")
    found = json.loads(manifest.read_bytes())
    found["files"][path.name] = {"size": len(content), "sha256": checksum(content)}
    manifest.write_text(json.dumps(found))


def change_tensors(path: Path, change: Callable[[Arrays], Arrays]) -> None:
    """Replace some tensors of a checkpoint's file."""
    arrays = safetensors.numpy.load(path.read_bytes())
    rewrite(path, safetensors.numpy.save({**arrays, **change(arrays)}))


def claim(path: Path) -> None:
    """Enter a file with positions into the list of what this user's Plyground has written."""
    run = path.parents[2] if path.name == "manifest.json" else path.parent
    remember_data(run, [(path.name, path.read_bytes())])
