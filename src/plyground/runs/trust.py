"""Which code, programs, clusters and positions a run may use: those that this user has named or made.

A run names code and programs in config.toml: a game's .py file, opponents `uci:PROGRAM` and `file:PATH.py:NAME`; and
the cluster that plays, which receives the user's token and whose answers are unpickled. Its files hold positions, bytes
that compiled code uses as they are: forged ones would make it write beyond an array. One file in the user's private
folder, `own.txt`, lists what may be used, as SHA-256 digests:

* a checkpoint by its manifest, which has the checksums of its other files, and the held-out examples of an imitation
  run: with the run's settings, so that a file of one run is not accepted in another one;
* a program by its spec, one with a relative path and an agent's file also by the place that the path means;
* a cluster by its address, one that a file names by that file's place; a cluster of our own (`ray`) needs no entry;
* a game file by its content, so that it may be moved; inside a run together with all files there that Plyground did not
  write: whoever made the archive wrote them too;
* a game file outside the run also by its path: its owner may edit it.

Whoever trains a run has named and made all this, so `create` and `save` enter it. Another run, unpacked or copied from
somebody else, can be played and its weights can be continued; what it names, and its positions, are refused until the
user says `--trust`, or of a run of their own from another machine `resume --mine`.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, cast

from plyground import specs
from plyground.errors import Error, InvalidText, InvalidValue, command, shorten
from plyground.private_folder import cache_folder, is_ours, read_only_folders, secret
from plyground.runs.files import DamagedFile, is_file, lock, read_bytes, write_whole
from plyground.runs.settings import read_toml

PROGRAMS = ("uci:", "file:")  # how the specs of agents begin that are programs or code
OWN_FILES = re.compile(
    r"config\.toml|metrics\.jsonl|best\.json|lock|report\.md|curves\.png|verify\.(md|png)"
    r"|examples\.bin|held_out\.(safetensors|signature)|checkpoints/\.?\d+(\.partial)?/\w+\.(json|safetensors|signature)"
    r"|README\.md|config\.json|model\.safetensors|board\.png|games/\d+\.txt|tensorboard/events\.out\.tfevents\.[^/]+"
)
"""the files of a run that Plyground writes"""
LIST, MOST_LISTED = "own.txt", 20_000  # in the private folder: its newest digests, 1.3 MB
DIGEST = re.compile("^[0-9a-f]{64}$", re.MULTILINE)
LONGEST_WAIT = 20.0  # seconds, for another process that writes the list
NOT_IDENTITY = ("cycles", "seconds", "epochs", "versions")  # in config.toml: the end may be moved
MOST = 500  # characters of a spec that is shown
_REMEMBERED: set[str] = set()  # by this process, should the list be lost


class Untrusted(Error):
    """A run that would use code, programs, a cluster or positions that this user has not allowed."""


def programs_of(config: Mapping[str, Any]) -> list[str]:
    """The specs in a run's settings that start programs."""
    lists = (cast("list[Any]", value) if isinstance(value, list | tuple) else [value] for value in config.values())
    texts = [text for each in lists for text in each if isinstance(text, str)]
    found = [spec for text in texts for spec in (text, text.partition(" ")[2])]  # without a weight, and with one
    return [spec for spec in found if spec.startswith(PROGRAMS)]


def cluster_of(config: Mapping[str, Any]) -> str:
    """The address in a run's settings of a cluster that is not our own; empty where there is none."""
    table: object = config.get("cluster")
    on: object = cast("Mapping[str, Any]", table).get("on") if isinstance(table, Mapping) else ""
    if not isinstance(on, str) or (on.partition(":")[0] == "ray" and not on.startswith("ray://")):
        return ""
    return on


def named(run: Path, config: Mapping[str, Any], file: Path | None) -> dict[str, list[str]]:
    """What a run would use, in words, each with its keys: programs, a cluster that is not our own, a game file."""
    found = {f"run the program {shorten(spec, MOST)}": [_of_program(spec)] for spec in programs_of(config)}
    if on := cluster_of(config):
        place = _place(on) if specs.exists(on) else b""  # of a file that holds an address
        key = _hash(b"cluster", on.encode(errors="surrogateescape"), place)
        found[f"join the cluster {shorten(on, MOST)}, which receives your token"] = [key]
    if file:
        found[f"run the game file {file}"] = _of_game(run, file)
    return found


def check(run: Path, wanted: Mapping[str, list[str]]) -> None:
    """Refuse what the user has not allowed: of the keys of each thing one must be known."""
    if unknown := [what for what, keys in wanted.items() if not any(map(_known, keys))]:
        why = f"{run} was not trained here by you and would {' and '.join(unknown)}"
        raise Untrusted(f"{why}: if you trust its author, add --trust once (to resume, evaluate or table)")


def remember(wanted: Mapping[str, list[str]]) -> None:
    """Allow all that, now and later."""
    _remember(chain.from_iterable(wanted.values()))


# ---- the list ----


def _remember(keys: Iterable[str]) -> None:
    """Enter digests as the newest ones. Where nothing can be kept, this process remembers; the next one asks again."""
    keys = list(keys)
    _REMEMBERED.update(keys)
    with suppress(OSError, Error):
        file = cache_folder() / LIST
        with lock(file.with_suffix(".lock"), LONGEST_WAIT):
            listed = dict.fromkeys(_listed())
            if listed.keys() >= set(keys):
                return
            if os.path.lexists(file) and not is_ours(file):
                file.unlink()
            lines = [*listed, *(key for key in keys if key not in listed)][-MOST_LISTED:]
            write_whole(file, "".join(f"{line}\n" for line in lines).encode())


def _listed() -> list[str]:
    """The digests of the list, the oldest first. What is damaged, or could be written by others, does not count."""
    found = list[str]()
    with suppress(InvalidValue):
        for folder in (*read_only_folders(), cache_folder()):
            with suppress(OSError):
                if is_ours(folder.resolve()) and is_ours(folder / LIST):
                    found += DIGEST.findall((folder / LIST).read_text(encoding="latin-1"))
    return found


def _known(key: str) -> bool:
    """Whether something is on the list, or was remembered by a version that kept an empty file for each digest."""
    if key in _REMEMBERED or key in _listed():
        return True
    with suppress(OSError, InvalidValue):
        place = cache_folder() / "trusted" / key
        return is_ours(place.parent) and is_ours(place)
    return False


# ---- files with positions ----


def remember_data(run: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Enter files of a run that hold positions: names and contents."""
    _remember([_hash(b"data", identity_of(run), name.encode(), content) for name, content in files])


def read_own(run: Path, file: Path) -> bytes:
    """The content of a file of a run that holds positions; an error where this user has not written it."""
    content = read_bytes(file)
    key = _hash(b"data", identity_of(run), file.name.encode(), content)
    if not _known(key):
        # an earlier version has signed files with this user's secret, as NAME.signature beside them
        wanted = hmac.digest(_key(), _hash(identity_of(run), file.name.encode(), content).encode(), "sha256")
        was_signed = False
        with suppress(DamagedFile):  # there is none
            was_signed = hmac.compare_digest(read_bytes(file.with_suffix(".signature")), wanted.hex().encode() + b"\n")
        if not was_signed:
            why = f"{run} was not trained here by you, and compiled code would use positions in {file.relative_to(run)}"
            remedy = f"if it is your own, `{command('resume', run, '--mine')}` adds it to your list"
            raise Untrusted(f"{why} unchecked: {remedy}; it can be played, and continued as --init {run}")
        _remember([key])
    return content


def identity_of(run: Path) -> bytes:
    """The settings of a run without its end, and without the folder of its game file, which may be moved."""
    file = run / "config.toml"
    table = read_toml(file) if is_file(file) else {}
    kept = {name: value for name, value in table.items() if name not in NOT_IDENTITY}
    return json.dumps({**kept, "game": Path(str(kept.get("game", ""))).name}, sort_keys=True, default=str).encode()


# ---- texts that only this user's Plyground can read ----


def _key() -> bytes:
    try:
        return secret(cache_folder())
    except InvalidValue:
        return secret(None)


PADDED = 1024  # sealed texts have whole multiples of so many bytes: their length tells nothing


def seal(text: str) -> str:
    """A text as base64 that nobody can read or change without the user's key: the hidden cards of a saved game.

    The text's keyed hash begins a stream of keyed hashes, which covers the text, and shows when it is opened that
    nothing has changed. The same text gives the same seal.
    """
    plain = text.encode()
    plain += b"\n" * (-len(plain) % PADDED)
    mark = hmac.digest(_key(), b"sealed " + plain, "sha256")
    return base64.b64encode(mark + _covered(plain, mark)).decode()


def unseal(text: str) -> str:
    """The text that `seal` covered; InvalidText where it was not sealed here, or has changed."""
    try:
        sealed = base64.b64decode(text, validate=True)
    except ValueError:
        sealed = b""
    mark, plain = sealed[:32], _covered(sealed[32:], sealed[:32])
    if not plain or not hmac.compare_digest(mark, hmac.digest(_key(), b"sealed " + plain, "sha256")):
        raise InvalidText("what is sealed in it cannot be read: the line has changed, or another user has sealed it")
    return plain.decode().rstrip("\n")


def _covered(data: bytes, mark: bytes) -> bytes:
    """Data exclusive-or a stream that follows from the key and `mark`."""
    key, blocks = _key(), range(0, len(data), 32)
    stream = b"".join(hmac.digest(key, b"stream " + mark + block.to_bytes(8, "big"), "sha256") for block in blocks)
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


# ---- keys ----


def _of_program(spec: str) -> str:
    """The key of a spec, with the place that a path means here: of `file:PATH.py:NAME`, and of a program's relative
    path. One without a folder is looked up on the user's PATH."""
    name, _, rest = spec.partition(":")
    program = specs.split_path(rest)[0] if name == "uci" else ""
    if {os.sep, os.altsep or os.sep} & set(program) and not Path(program).is_absolute():
        place = _place(program)
    else:
        place = _place(rest.partition(".py")[0]) if name == "file" else b""
    return _hash(b"program", spec.encode(errors="surrogateescape"), place)


def _place(path: str) -> bytes:
    """The place that a path means here; a text that no path can be is its own."""
    try:
        return _name(Path(path).resolve())
    except (OSError, ValueError):  # too long, or with a zero
        return path.encode(errors="surrogateescape")


def _of_game(run: Path, file: Path) -> list[str]:
    """The keys of a game file: its content and, outside the run, its path."""
    home, file = run.resolve(), file.resolve()
    if not file.is_relative_to(home):
        return [_hash(b"path", _name(file)), _hash(b"code", read_bytes(file))]
    parts = [b"code", read_bytes(file)]
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home)
        if path != file and path.is_file() and not OWN_FILES.fullmatch(name.as_posix()):
            parts += [_name(name), read_bytes(path)]
    return [_hash(*parts)]


def _name(path: Path) -> bytes:
    return str(path).encode(errors="surrogateescape")


def _hash(*parts: bytes) -> str:
    """One hash of all parts, which begin with their lengths."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()
