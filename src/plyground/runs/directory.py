"""The run directory.

    config.toml          every setting, and the versions of Python and libraries at the start
    metrics.jsonl        one JSON object per line: cycles, evaluations, events
    checkpoints/<step>/  tensors in safetensors, other values in JSON, a manifest with sizes, checksums and
                         fingerprints of the code
    best.json            the best checkpoint and the result of its match
    games/               a few games of each evaluation, in notation
    report.md, curves.png
    examples.bin, held_out.safetensors  training and validation data of an imitation run

The process may be killed at any moment. A checkpoint is written to a temporary folder, synced and renamed: it is either
complete or absent. Resuming truncates `metrics.jsonl` to its length at the newest checkpoint, because the steps after
it are repeated.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from plyground import specs
from plyground.errors import InvalidValue, command, plain_os_errors, shorten
from plyground.game import Game, load
from plyground.private_folder import make_folder, open_private
from plyground.runs import files, trust
from plyground.runs.files import DamagedFile
from plyground.runs.groups import nearest_run, seed_runs, several_seeds
from plyground.runs.records import Best, Config, Manifest, Published, State, fit, parse_json, read_json
from plyground.runs.settings import differences, read_toml, to_toml

Tensors = Mapping[str, NDArray[Any]]
Names = Mapping[str, str]
AnyManifest = TypeVar("AnyManifest", Manifest, Published)
FORMAT = 2
REPLAY = "replay.safetensors"
MANIFEST, EXAMPLES, HELD_OUT = "manifest.json", "examples.bin", "held_out.safetensors"
PUBLISHED, WEIGHTS = "config.json", "model.safetensors"  # of a published folder (`report/publish.py`)
BEFORE_FIRST = {"checkpoints", "lock", "metrics.jsonl", "config.toml", EXAMPLES, HELD_OUT, "held_out.signature"}
"""the names in a run directory that has no checkpoint yet"""
STEP = re.compile(r"0|[1-9][0-9]{0,17}")  # the name of a checkpoint's folder
PARTIAL = re.compile(r"\.[0-9]+\.partial")  # a checkpoint that is being written or removed


@dataclass(frozen=True)
class Checkpoint:
    """A saved training state; its files are read on demand and checked against the manifest."""

    path: Path
    manifest: Manifest

    @property
    def step(self) -> int:
        return int(self.path.name)

    @property
    def identity(self) -> Names:
        """The names of game, encoder and network (or table key)."""
        return self.manifest["identity"]

    @property
    def fingerprints(self) -> Names:
        """Of the code it was made with (`runs/fingerprints.py`); empty where unknown."""
        return self.manifest["fingerprints"]

    def check(self, identity: Names, rules: str = "") -> None:
        """Refuse a checkpoint of another game, encoder or network. A game's file may have moved; with the same
        fingerprint of its `rules` it may also have another name."""
        same = bool(rules) and rules == self.fingerprints.get("rules")
        names = (
            {**each, "game": "" if same else Path(each.get("game", "")).name} for each in (identity, self.identity)
        )
        if found := differences(*names):
            raise InvalidValue(f"{self.path} does not fit: {'; '.join(found)}")

    def changes(self, current: Names) -> list[str]:
        """What differs between the code of this checkpoint and the current code, one sentence each."""
        game = Path(self.identity.get("game", "the game")).name
        words = {"rules": f"the rules of {game} have", "network": "the code of the network has"}
        for name in ("encoder", "key"):
            words[name] = f"the {name} {self.identity.get(name, '')} of {game} has"
        both = ((name, current[name], self.fingerprints.get(name)) for name in current)
        changed = [name for name, now, before in both if now and before and now != before]
        return [f"{words[name]} changed since this checkpoint was made" for name in changed]

    def notice(self, current: Names) -> str:
        """The same in one line; a missing fingerprint is said too. Empty where nothing has changed."""
        found = self.changes(current)
        if unknown := [name for name in current if not (current[name] and self.fingerprints.get(name))]:
            found.append(f"whether its code has changed is unknown: no fingerprint of {', '.join(unknown)}")
        return f"{self.path}: {'; '.join(found)}" if found else ""

    def check_unchanged(self, current: Names) -> None:
        """Refuse to resume where the code has changed; an unknown fingerprint is accepted."""
        if found := self.changes(current):
            raise InvalidValue(f"{self.path}: {'; '.join(found)}; --force resumes it with the current code")

    def check_trusted(self) -> None:
        """Refuse positions that this user's Plyground has not written: compiled code uses them unchecked."""
        content = trust.read_own(self.path.parents[1], self.path / MANIFEST)
        if parse_json(content, Manifest, self.path / MANIFEST) != self.manifest:
            raise DamagedFile(f"{self.path / MANIFEST} has just been changed: another process works on {self.path}")

    def state(self) -> dict[str, Any]:
        """All values that are not tensors."""
        return cast("dict[str, Any]", parse_json(self._read("state.json"), State, self.path / "state.json"))

    def tensors(self, group: str) -> dict[str, NDArray[Any]]:
        """The arrays of one group; a value that is not finite is an error."""
        import safetensors.numpy  # only here: playing without a network does not need it

        name = f"{group}.safetensors"
        try:
            found = safetensors.numpy.load(self._read(name))
        except (safetensors.SafetensorError, ValueError, TypeError, KeyError) as error:  # KeyError: a type of no array
            raise DamagedFile(f"{self.path / name} cannot be read: {error}") from None
        _check_finite(found, self.path / name)
        return found

    def verify(self) -> None:
        """Check size and checksum of every file."""
        for name in self.manifest["files"]:
            self._read(name)

    def _read(self, name: str) -> bytes:
        if name not in self.manifest["files"]:
            raise DamagedFile(f"{self.path}: its manifest does not list {name}")
        if name == REPLAY and not (self.path / name).exists():
            why = "it was packed without its replay buffer"
            raise DamagedFile(f"{self.path} has no {name}: {why}, so it can play but cannot be resumed")
        entry = self.manifest["files"][name]
        return files.read_checked(self.path / name, entry["size"], entry["sha256"])


@dataclass(frozen=True)
class PublishedCheckpoint(Checkpoint):
    """The only checkpoint of a published folder: config.json describes the tensors of model.safetensors."""

    number: int

    @property
    def step(self) -> int:
        return self.number

    def tensors(self, group: str) -> dict[str, NDArray[Any]]:
        return super().tensors(WEIGHTS.removesuffix(".safetensors"))


def _check_finite(tensors: Tensors, where: object) -> None:
    for name, values in tensors.items():
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise DamagedFile(f"{where}: {name} holds values that are not finite")


class Run(AbstractContextManager["Run"]):
    """A run directory, locked by this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with plain_os_errors(f"work on {path}"):
            self._lock = files.lock(path / "lock")
            try:
                for left in (path / "checkpoints").glob(".*.partial"):  # left by a process that was killed
                    if PARTIAL.fullmatch(left.name):
                        shutil.rmtree(left)
                self._metrics: IO[bytes] = open_private(path / "metrics.jsonl", "ab")
            except BaseException:
                self._lock.close()
                raise

    def close(self) -> None:
        try:
            with plain_os_errors(f"write {self.path / 'metrics.jsonl'}"):  # what a full disk has refused before
                self._metrics.close()
        finally:
            self._lock.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- metrics ----

    def log(self, record: Mapping[str, Any]) -> None:
        """Append one line to the metrics; NaN and infinity become null."""
        with plain_os_errors(f"write {self.path / 'metrics.jsonl'}"):
            self._metrics.write(json.dumps(_plain(record), ensure_ascii=False).encode() + b"\n")
            self._metrics.flush()

    # ---- checkpoints ----

    @functools.cached_property
    def fingerprints(self) -> dict[str, str]:
        """Of the code that this process runs; computed once, since a later edit of a file does not change that code."""
        from plyground.runs.fingerprints import of_run

        return of_run(self.path)

    def save(
        self, step: int, identity: Names, groups: Mapping[str, Tensors], state: Any, fingerprints: Names | None = None
    ) -> Checkpoint:
        """Write a checkpoint: each group is one file of tensors, `state` is JSON.

        A checkpoint of the same step already holds the same training state and is kept. `fingerprints` are those of
        the current code unless given.
        """
        import safetensors.numpy

        folder = self.path / "checkpoints" / str(step)
        if not folder.exists():
            names = {"identity": identity, "fingerprints": self.fingerprints if fingerprints is None else fingerprints}
            os.fsync(self._metrics.fileno())  # `log` has flushed it
            size = (self.path / "metrics.jsonl").stat().st_size
            contents = {"state.json": json.dumps({**state, "metrics_bytes": size}).encode()}
            for group, tensors in groups.items():
                _check_finite(tensors, f"step {step}, {group}")
                whole = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
                contents[f"{group}.safetensors"] = safetensors.numpy.save(whole)
            what = f"save checkpoint {step} in {self.path}"
            with plain_os_errors(what, "; earlier checkpoints are complete"):
                self._write(folder, contents, names)
        return read_checkpoint(folder)

    def _write(self, folder: Path, contents: Mapping[str, bytes], names: Mapping[str, Any]) -> None:
        entries = {name: {"size": len(data), "sha256": files.checksum(data)} for name, data in contents.items()}
        before = steps_of(self.path)[-1:]
        number = read_checkpoint(folder.with_name(str(before[0]))).manifest["number"] + 1 if before else 0
        content = json.dumps({"format": FORMAT, "number": number, **names, "files": entries}, indent=1).encode()
        trust.remember_data(self.path, [(MANIFEST, content)])  # first: a crash leaves no checkpoint that is not known
        aside = folder.with_name(f".{folder.name}.partial")
        try:
            make_folder(aside.parent)
            aside.mkdir(mode=0o700)
            for name, data in {**contents, MANIFEST: content}.items():
                files.write_synced(aside / name, data)
            files.sync_folder(aside)
            aside.rename(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)  # there only after an error
        files.sync_folder(folder.parent)

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Remove the metrics that were written after a checkpoint."""
        file, length = self.path / "metrics.jsonl", checkpoint.state()["metrics_bytes"]
        there = file.stat().st_size
        if not 0 <= length <= there:
            raise DamagedFile(f"{file} has {there} bytes; {checkpoint.path} was made when it had {length}")
        os.truncate(file, length)

    def prune(self, keep_last: int, keep_every: int, best: int) -> None:
        """Keep the best checkpoint, the last `keep_last` and every `keep_every`-th; remove the others."""
        there, gone = steps_of(self.path), list[Path]()
        with plain_os_errors(f"remove checkpoints of {self.path}"):
            for place, step in enumerate(there):
                folder = self.path / "checkpoints" / str(step)
                kept = step == best or place >= len(there) - keep_last
                if not kept and not (keep_every and read_checkpoint(folder).manifest["number"] % keep_every == 0):
                    gone.append(folder.rename(folder.with_name(f".{step}.partial")))
            if gone:
                files.sync_folder(self.path / "checkpoints")  # first the names: a crash leaves no half checkpoint
            for each in gone:
                shutil.rmtree(each)

    def write(self, name: str, text: str) -> None:
        """Write a file of the run directory atomically."""
        with plain_os_errors(f"write {self.path / name}"):
            make_folder((self.path / name).parent)
            files.write_whole(self.path / name, text.encode())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}  # pyright: ignore
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]  # pyright: ignore
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def create(path: Path, config: Mapping[str, Any]) -> Run:
    """A new run directory. An existing one is never overwritten, unless it was killed before its first checkpoint."""
    if is_taken(path):
        raise InvalidValue(f"{path} exists already: choose another directory (--out), or `{command('resume', path)}`")
    with plain_os_errors(f"create {path}"):
        make_folder(path / "checkpoints")
        run = Run(path)  # the lock comes first: `is_unborn` recognises our files by it
        try:
            os.truncate(path / "metrics.jsonl", 0)
            files.write_whole(path / "config.toml", to_toml(config).encode())
            trust.remember(_named(path))  # whoever makes a run has named what it uses
        except BaseException:
            run.close()
            raise
    return run


def is_taken(path: Path) -> bool:
    """Whether there is something that a new run would overwrite."""
    return path.exists() and not is_unborn(path) and (not path.is_dir() or any(path.iterdir()))


def is_unborn(path: Path) -> bool:
    """Whether this is a run that was killed before its first checkpoint, so that nothing can be resumed."""
    if not (path / "checkpoints").is_dir() or ((path / "config.toml").exists() and not (path / "lock").exists()):
        return False  # not made by `create`
    names = {each.name.removeprefix(".").removesuffix(".partial") for each in path.iterdir()}
    return names <= BEFORE_FIRST and not any((path / "checkpoints").glob("[!.]*"))


def open_run(path: Path) -> Run:
    """An existing run directory, to resume or to add checkpoints."""
    read_config(path)
    if is_published(path):
        raise InvalidValue(f"{path} is a published model: it can play, but a run cannot be resumed from it")
    return Run(path)


# ---- reading without the lock ----


def read_config(path: Path) -> dict[str, Any]:
    """The settings of a run; those that are read without the learner's own class have their types."""
    if not files.is_file(path / "config.toml"):
        raise no_run(path)
    return fit(read_toml(path / "config.toml"), Config, str(path / "config.toml"))


def no_run(path: Path) -> InvalidValue:
    """The error for a path that is no run, with the nearest run suggested, or one of the seeds in it."""
    if seeds := seed_runs(path):
        return several_seeds(shorten(str(path)), seeds[0])
    near, name = nearest_run(path), shorten(str(path))
    if near is None and files.is_folder(path):
        return InvalidValue(f"{name!r} is no run directory: it has no config.toml")
    hint = "" if near is None else f"did you mean {str(near)!r}? "
    return InvalidValue(f"no run {name!r}; {hint}see {command('runs')}")


def game_of(run: Path, wanted: Game | None = None) -> Game:
    """The game of a run; an error where it differs from `wanted`. With `wanted` no other game file is imported."""
    name, options = specs.split(read_config(run).get("game", ""))
    file = Path(name) if name.endswith(".py") else None
    if file is None:
        found = load(specs.join(name, options))
    elif wanted is None:
        there = _game_file(run, file)
        if there is None:
            raise InvalidValue(f"{run} has learned {file}, which is missing: put {file.name} here or into {run}")
        trust.check(run, trust.named(run, {}, there))
        found = load(specs.join(str(there), options))
    elif _has_rules_of(run, wanted):
        found = wanted
    else:
        there, own = _game_file(run, file), Path(wanted.path)
        same = there is None or there.resolve() == own or (own.is_file() and there.read_bytes() == own.read_bytes())
        if own.name != file.name or not same:
            learned = specs.join(str(there or file), options) + (", which is missing" if there is None else "")
            raise InvalidValue(f"{run} has learned {learned}, not {wanted.full}: their rules differ")
        found = load(specs.join(wanted.path, options))
    if wanted is not None and found != wanted:
        raise InvalidValue(f"{run} has learned {found.full}, not {wanted.full}")
    return found


def _has_rules_of(run: Path, game: Game) -> bool:
    """Whether a run's best checkpoint was made with the rules and settings of a game, whatever its file is called."""
    from plyground.runs.fingerprints import rules_fingerprint

    begun = is_published(run) or steps_of(run)
    learned = find_checkpoint(run, "best").fingerprints.get("rules") if begun else ""
    return bool(learned) and learned == rules_fingerprint(game)


def _game_file(run: Path, file: Path) -> Path | None:
    """Where a run's game file is; if it has moved, one of that name from the current folder or in the run directory."""
    places = [folder.joinpath(*file.parts[k:]) for folder in (Path(), run) for k in range(len(file.parts))]
    return next((place for place in (file, *places) if files.is_file(place)), None)


def trust_run(run: Path) -> None:
    """Allow what a run names and holds, now and later: its game file, its programs, its cluster, its positions
    (`runs/trust.py`)."""
    trust.remember(_named(run))
    held = [run / HELD_OUT, *(run / "checkpoints" / str(step) / MANIFEST for step in steps_of(run))]
    trust.remember_data(run, ((file.name, files.read_bytes(file)) for file in held if files.is_file(file)))


def check_trusted(run: Path, cluster: bool = True) -> None:
    """Refuse a run that names a game file, programs or (unless another one is used) a cluster that the user has not
    allowed."""
    trust.check(run, _named(run, cluster))


def _named(run: Path, cluster: bool = True) -> dict[str, list[str]]:
    config = read_config(run)
    name, _ = specs.split(config.get("game", ""))
    file = _game_file(run, Path(name)) if name.endswith(".py") else None
    return trust.named(run, config if cluster else {**config, "cluster": {}}, file)


def steps_of(path: Path) -> list[int]:
    """The steps of a run's checkpoints, ascending. Anything else in the folder is left alone."""
    return sorted(int(each.name) for each in (path / "checkpoints").glob("*") if STEP.fullmatch(each.name))


def read_checkpoint(path: Path) -> Checkpoint:
    if not (path / MANIFEST).is_file():
        raise DamagedFile(f"{path} has no {MANIFEST}")
    return Checkpoint(path, _read_manifest(path / MANIFEST, Manifest))


def _read_manifest(file: Path, kind: type[AnyManifest]) -> AnyManifest:
    found = read_json(file, dict[str, Any]).get("format")
    if found != FORMAT:
        what = f"{file.parent} has format {shorten(repr(found))}"
        raise DamagedFile(f"{what}; this version of Plyground reads format {FORMAT}")
    manifest = read_json(file, kind)
    for name in manifest["files"]:
        if name != PurePosixPath(name).name or name.startswith(".") or {"\\", ":", "\0"} & set(name):
            raise DamagedFile(f"{file} names {shorten(name)!r}, which is no plain file of its folder")
    return manifest


def is_published(path: Path) -> bool:
    """Whether this is a folder that `runs publish` has written."""
    return files.is_file(path / PUBLISHED) and not (path / "checkpoints").exists()


def find_checkpoint(path: Path, which: str) -> Checkpoint:
    """The checkpoint `best`, `last`, or that of a step."""
    published = _read_manifest(path / PUBLISHED, Published) if is_published(path) else None
    steps = [published["step"]] if published else steps_of(path)
    if not steps:
        raise InvalidValue(f"{path} has no checkpoint yet; if nothing works on it, begin it again with --out {path}")
    chosen = int(which) if STEP.fullmatch(which) else -1
    if which in ("best", "last"):
        chosen = best_of(path).get("step", steps[-1]) if which == "best" else steps[-1]
    if chosen not in steps:
        raise InvalidValue(
            f"{path} has no checkpoint {shorten(which)!r}; it has: best, last, {', '.join(map(str, steps))}"
        )
    if published:
        return PublishedCheckpoint(path, published, chosen)
    return read_checkpoint(path / "checkpoints" / str(chosen))


def best_of(path: Path) -> Best:
    """The content of `best.json`; empty before the first evaluation."""
    return read_json(path / "best.json", Best) if (path / "best.json").exists() else {}


def told(path: Path) -> str:
    """A run in words: where it is, and what its best step scored when it was chosen."""
    found = best_of(path).get("eval_opponents", {})
    scores = ", ".join(f"{one['score']:.0%} against {spec}" for spec, one in found.items())
    return f"run {path}{f', {scores}' if scores else ''}"


def newest_whole(path: Path) -> Checkpoint:
    """The newest checkpoint, with every file checked; if it is damaged, the error names the newest intact one."""
    try:
        checkpoint = find_checkpoint(path, "last")
        checkpoint.verify()
    except DamagedFile as error:
        *earlier, newest = steps_of(path)
        for step in reversed(earlier):
            try:
                read_checkpoint(path / "checkpoints" / str(step)).verify()
            except DamagedFile:
                continue
            remedy = f"checkpoint {step} is intact: remove {path / 'checkpoints' / str(newest)} to resume from it"
            raise DamagedFile(f"{error}; {remedy}") from None
        raise
    return checkpoint
