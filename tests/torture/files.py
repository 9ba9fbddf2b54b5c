"""Damaged and malformed files: whatever lies in a run, a ladder or an archive, readers raise declared errors only.

A small run of each kind of learner is made once. Each case changes one file: its bytes, one value of its JSON or TOML,
or the types, shapes and names of its tensors, with checksums made right again; a folder in its place, or nothing. Then
everything reads it that people use.
"""

from __future__ import annotations

import functools
import json
import random
import shutil
import tempfile
import tomllib
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from forged import claim, rewrite
from plyground.agents.registry import load_run
from plyground.arena import ladder
from plyground.cli.running import named
from plyground.errors import Error
from plyground.learners import find_learner, saving
from plyground.learners.config import DQN, AlphaZero, Imitation, Tabular
from plyground.learners.imitation_batches import read_held_out
from plyground.learners.launch import begin as begin_learner
from plyground.learners.training import train
from plyground.report.inspect import inspect_run
from plyground.report.run import save_curves, table_of
from plyground.report.table import ranked
from plyground.runs import fingerprints, trust
from plyground.runs.directory import (
    HELD_OUT,
    REPLAY,
    best_of,
    check_trusted,
    find_checkpoint,
    game_of,
    newest_whole,
    open_run,
)
from plyground.runs.pack import pack, unpack
from plyground.runs.settings import to_toml
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.lines import Lines
from resumed import after_steps, begin, silent
from runs_on_disk import read_records
from small_runs import ROW, short
from torture import MOST_FINDINGS, Deadline, Report

ODD: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        1.5,
        -0.0,
        1e308,
        2**31,
        2**63,
        10**30,
        "",
        "x",
        "²",
        "x" * 5000,
        "[/red]",
        "../../x",
    ),
    *([], [1], ["x"], [[]], {}, {"x": 1}, {"": None}, "uci:/bin/false", "run:.", "connect_four", "exact-v1", "0"),
]
OWN = {"num_envs": 4, "games_per_cycle": 4, "cycles": 1, "eval_games": 2, "eval_opponents": ("random",)}
Readers = dict[str, Callable[[Path], object]]
Change = Callable[[random.Random, bytes], bytes]


def make_runs(folder: Path) -> dict[str, Path]:
    """A finished run of each kind of learner, by its name."""
    data = folder / "four.ndjson"
    collect(Collect(game="connect_four", games=8, weak_games=0.0, threads=1, depth=1), data, lambda *_: None)
    network: dict[str, Any] = {"network": "4", "threads": 1, "batch_size": 8, "learning_starts": 8, "buffer_size": 64}
    valued: dict[str, Any] = network | {"network": "4+value"}
    configs = {
        "dqn": DQN(game=ROW, **OWN, **network, prioritized_replay=True),
        "tabular": Tabular(game=ROW, **OWN),
        "alphazero": AlphaZero(game=ROW, **OWN, **valued, simulations=2),
        "ppo": short("ppo", **OWN),
        "imitation": Imitation(game="connect_four", data=(str(data),), network="4", threads=1, batch_size=8, epochs=1),
    }
    for name, config in configs.items():
        learner, run = begin(folder / name, config)
        with run:
            train(learner, run, silent)
    return {name: folder / name for name in configs}


# ---- changes ----


def damage(rng: random.Random, content: bytes) -> bytes:
    """Other bytes."""
    a, b = sorted(rng.randint(0, len(content)) for _ in range(2))
    noise = rng.randbytes(rng.choice((1, 1, 8, 300)))
    return rng.choice(
        (
            content[:a],
            content[:a] + noise + content[a:],
            content[:a] + noise + content[a + len(noise) :],
            content[:a] + content[b:],
            content + content[a:b],
            bytes(len(content)),
        )
    )


def change_value(rng: random.Random, value: Any) -> Any:
    """The same value with one place changed: replaced, removed, or under another name."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(ODD)
    found = value.copy()
    key = rng.choice(list(found)) if isinstance(found, dict) else rng.randrange(len(found))
    choice = rng.random()
    if choice < 0.6:
        found[key] = change_value(rng, found[key])
    elif choice < 0.8:
        found.pop(key)
    elif isinstance(found, dict):
        found[str(rng.choice(ODD))] = found[key]
    else:
        found.insert(key, rng.choice(ODD))
    return found


def change_json(rng: random.Random, content: bytes) -> bytes:
    return json.dumps(change_value(rng, json.loads(content))).encode()


def change_lines(rng: random.Random, content: bytes) -> bytes:
    lines = content.splitlines()
    place = rng.randrange(len(lines))
    lines[place] = change_json(rng, lines[place])
    return b"\n".join(lines) + b"\n"


def change_toml(rng: random.Random, content: bytes) -> bytes:
    changed = change_value(rng, tomllib.loads(content.decode()))
    if not isinstance(changed, dict) or None in changed.values():
        return rng.choice((b"x = " + b"[" * 3000, b"x = " + b"9" * 5000, b"= 3", b"game = 3\n"))
    try:
        return to_toml(changed).encode()
    except TypeError:
        return b""


def change_tensors(rng: random.Random, content: bytes) -> bytes:
    """Tensors of another type, shape or name; or a header that says something else."""
    if rng.random() < 0.3:
        size = int.from_bytes(content[:8], "little")
        header = change_json(rng, content[8 : 8 + size])
        return len(header).to_bytes(8, "little") + header + content[8 + size :]
    arrays = safetensors.numpy.load(content)
    name = rng.choice(list(arrays))
    values = arrays.pop(name)
    choice = rng.randrange(6)
    if choice == 0:
        arrays[name] = values.astype(rng.choice((np.float16, np.float64, np.int8, np.uint64, np.bool_)))
    elif choice == 1:
        arrays[name] = values.reshape(-1)
    elif choice == 2:
        arrays[name] = np.ascontiguousarray(values[: len(values) // 2] if values.ndim else values.reshape(1, 1))
    elif choice == 3:
        arrays[rng.choice(("x", "0", f"{name}.x", "network.head.weight"))] = values
    elif choice == 4:
        arrays[name] = np.frombuffer(rng.randbytes(values.nbytes), values.dtype).reshape(values.shape)
    return safetensors.numpy.save(arrays)


CHANGES: dict[str, Change] = {
    ".json": change_json,
    ".jsonl": change_lines,
    ".toml": change_toml,
    ".safetensors": change_tensors,
}


def change_file(rng: random.Random, run: Path, path: Path) -> str:
    """Change one file of a run; returns in words what was done."""
    choice, content = rng.random(), path.read_bytes()
    if choice < 0.06:
        path.unlink()
        return "removed"
    if choice < 0.12:
        path.unlink()
        path.mkdir()
        return "a folder in its place"
    change = CHANGES.get(path.suffix, damage) if choice < 0.8 else damage
    try:
        content = change(rng, content)
    except (ValueError, TypeError, OverflowError):  # what cannot be changed so is damaged
        content = damage(rng, content)
    path.write_bytes(content)
    _repair(path)
    return change.__name__


def _repair(path: Path) -> None:
    """Make the checksum right again and the content this user's, so that it is read."""
    manifest = path.with_name("manifest.json")
    if manifest.is_file() and path != manifest:
        rewrite(path, path.read_bytes())
    for held in (path, manifest):
        if held.name in ("manifest.json", HELD_OUT) and held.is_file():
            claim(held)


# ---- readers ----


def _resume(run: Path, steps: int = 0) -> None:
    with open_run(run) as held:
        checkpoint = newest_whole(run)
        checkpoint.check_unchanged(held.fingerprints)
        name, config = named(run, {})
        learner = begin_learner(find_learner(name).learner, config, run)
        saving.load(learner, checkpoint)
        held.rewind(checkpoint)
        if steps:
            learner.config = replace(learner.config, **{learner.limits[0]: 99})
            train(learner, held, silent, after_steps(learner, steps))


def _words(run: Path) -> None:
    agent = load_run(str(run))
    if agent.model.kind == "table":
        ranked(agent.table, 3)


def _held_out(run: Path) -> None:
    read_held_out(run, Lines(game_of(run)))


def _pack(run: Path) -> None:
    target = run.with_name("packed.zip")
    target.unlink(missing_ok=True)
    pack(run, target)
    unpack(target, run.with_name("unpacked"))
    shutil.rmtree(run.with_name("unpacked"))


READERS: Readers = {
    "trust": check_trusted,
    "metrics": read_records,
    "best": best_of,
    "checkpoint": lambda run: find_checkpoint(run, "best").state(),
    "inspect": inspect_run,
    "agent": lambda run: load_run(str(run)),
    "notice": fingerprints.notice,
    "resume": _resume,
    "words": _words,
    "held out": _held_out,
    "pack": _pack,
    "list": lambda run: table_of(run.parent),
    "plot": lambda run: save_curves(run.with_name("x.png"), [run]),
}
PLAYED_ON = {**READERS, "play on": functools.partial(_resume, steps=4)}
"""with sound positions: forged ones may crash compiled code, which is why only a user's own are used"""
SELDOM = {"plot": 0.05, "pack": 0.2, "list": 0.2}  # the share of the cases in which slow readers read


def read_all(run: Path, rng: random.Random, readers: Readers) -> list[str]:
    """The readers that raise anything but declared errors, each with what it raised."""
    found: list[str] = []
    for name, read in readers.items():
        if rng.random() < SELDOM.get(name, 1.0):
            try:
                read(run)
            except Error:
                continue
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(frame.filename).name}:{frame.lineno}"
                found.append(f"{name}: {type(error).__name__} at {where}: {str(error)[:200]}")
    return found


def check_ladder(folder: Path, rng: random.Random) -> list[str]:
    """The same for a file with a ladder."""
    result = {"a": "random", "b": "greedy", "wins": 1, "draws": 0, "losses": 3}
    whole = json.dumps({"game": "connect_four", "games": 4, "seed": 0, "results": [result]}).encode()
    path = folder / "ladder.json"
    path.write_bytes(change_json(rng, whole) if rng.random() < 0.7 else damage(rng, whole))
    try:
        found = ladder.read(path)
        found.ratings() if found.agents else None
    except Error:
        pass
    except Exception as error:
        return [f"ladder: {type(error).__name__}: {str(error)[:200]} from {path.read_bytes()[:300]!r}"]
    return []


def run(seed: int, seconds: float) -> Report:
    """Change files and read them until the time is over."""
    rng, deadline, findings, cases = random.Random(seed), Deadline(seconds), list[str](), 0
    known = trust._REMEMBERED.copy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = make_runs(folder / "whole")
        while not cases or (not deadline.over() and len(findings) < MOST_FINDINGS):
            kind = rng.choice(list(runs))
            changed = folder / "changed" / "run"
            shutil.copytree(runs[kind], changed)
            files = [path for path in sorted(changed.rglob("*")) if path.is_file() and path.suffix in CHANGES]
            path = rng.choice(files)
            what = change_file(rng, changed, path)
            place = f"{kind}, {path.relative_to(changed)}, {what}, case {cases}"
            readers = READERS if path.name == REPLAY else PLAYED_ON
            findings += [f"{place}: {each}" for each in read_all(changed, rng, readers)]
            findings += check_ladder(folder, rng)
            shutil.rmtree(folder / "changed")
            cases += 1
    trust._REMEMBERED.intersection_update(known)
    return Report("files", cases, findings, deadline.passed)
