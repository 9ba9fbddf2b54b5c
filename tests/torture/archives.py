"""Damaged and foreign archives: `runs unpack` makes a run or raises one short sentence, and leaves nothing else.

Each case is a zip file whose entries have odd names, kinds, sizes or methods, or whose bytes were changed.
"""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import stat
import struct
import tempfile
import traceback
import warnings
import zipfile
from pathlib import Path
from unittest.mock import patch

from plyground.errors import Error
from plyground.learners.config import Tabular
from plyground.learners.training import train
from plyground.runs.pack import pack, unpack
from resumed import begin, silent
from small_runs import ROW
from torture import MOST_FINDINGS, Deadline, Report
from torture.files import OWN, damage

LONGEST = 600  # characters of an error
NAMES = (
    *(
        "",
        "/",
        ".",
        "..",
        "../x",
        "a/../../x",
        "/etc/x",
        "//x",
        "\\x",
        "a\\..\\..\\x",
        "C:x",
        "C:/x",
        "x:y",
        "a//b",
        "./x",
    ),
    *(
        "\0",
        "x\0y",
        "\n",
        "x\ny",
        "\x1b[31mx",
        "\u202ex",
        "é",
        "\ud800",
        "CON",
        "x ",
        " ",
        "x.",
        "x" * 300,
        "x" * 60_000,
    ),
    *("a/" * 2_000, "a/" * 30_000, "../" * 300, ".hidden", "a/.hidden", "config.toml", "config.toml/x", "checkpoints"),
    *("games/", "x/", "metrics.jsonl", "lock", ".x.partial", "CONFIG.TOML", "checkpoints/7/x", "checkpoints/../x"),
)
KINDS = (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, 0, 0o170000)
HEADERS = {b"PK\x03\x04": 26, b"PK\x01\x02": 42, b"PK\x05\x06": 18}
"""the mark of each header of a zip file, and how many bytes of numbers follow it"""


def packed_run(folder: Path) -> dict[str, bytes]:
    """The files of a small run."""
    learner, run = begin(folder / "run", Tabular(game=ROW, **OWN))
    with run:
        train(learner, run, silent)
    pack(folder / "run", folder / "run.zip")
    with zipfile.ZipFile(folder / "run.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forged(rng: random.Random, files: dict[str, bytes]) -> bytes:
    """An archive with the files of a run and some others."""
    content = io.BytesIO()
    chosen = list(files.items()) if rng.random() < 0.9 else rng.sample(list(files.items()), len(files) // 2)
    for _ in range(rng.choice((0, 1, 1, 2, 30))):
        chosen.insert(rng.randint(0, len(chosen)), (odd_name(rng, list(files)), rng.randbytes(rng.choice((0, 9, 900)))))
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in chosen:
            entry = zipfile.ZipInfo("x")
            entry.filename = name  # what the constructor would change
            entry.compress_type = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED))
            entry.external_attr = (rng.choice(KINDS) if rng.random() < 0.1 else stat.S_IFREG) << 16
            entry.comment = rng.randbytes(rng.choice((0, 0, 0, 300)))
            try:
                archive.writestr(entry, data)
            except (UnicodeEncodeError, struct.error, zipfile.LargeZipFile, UserWarning):
                continue  # no zip file has such a name
        archive.comment = rng.randbytes(rng.choice((0, 0, 5)))
    return content.getvalue()


def odd_name(rng: random.Random, names: list[str]) -> str:
    name = rng.choice(NAMES)
    choice = rng.random()
    if choice < 0.3:
        return rng.choice(names).rpartition("/")[0] + "/" + name
    return name + rng.choice(names) if choice < 0.5 else name


def change(rng: random.Random, content: bytes) -> bytes:
    """Other numbers in one header (names' lengths, sizes, methods, flags, places), or other bytes anywhere."""
    if rng.random() < 0.4:
        return damage(rng, content)
    found = bytearray(content)
    mark, size = rng.choice(list(HEADERS.items()))
    places = [each.start() for each in re.finditer(re.escape(mark), content)]
    if places:
        for _ in range(rng.choice((1, 1, 3))):
            place = rng.choice(places) + len(mark) + 2 * rng.randrange(size // 2)
            struct.pack_into("<H", found, place, rng.choice((0, 1, 2, 8, 99, 255, 0x7FFF, 0xFFFF)))
    return bytes(found)


def fault_of(source: Path, home: Path) -> str:
    """What is wrong with how an archive is unpacked; empty where nothing is."""
    run = home / "run"
    try:
        unpack(source, run)
    except Error as error:
        text = str(error)
        if len(text) > LONGEST or "\n" in text:
            return f"an error of {len(text)} characters and {text.count(chr(10))} line ends: {text[:200]!r}"
        if list(home.iterdir()):
            return f"{[path.name for path in home.iterdir()]} is left after {text[:200]!r}"
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {str(error)[:200]!r}"
    if {path.name for path in home.iterdir()} - {"run"}:
        return f"{[path.name for path in home.iterdir()]} lies beside the run"
    if odd := [path for path in home.rglob("*") if path.is_symlink() or not (path.is_file() or path.is_dir())]:
        return f"{odd[0].name[:80]!r} is no plain file"
    return ""


def run(seed: int, seconds: float) -> Report:
    """Forge archives and unpack them until the time is over."""
    rng, deadline, findings, cases, unpacked = random.Random(seed), Deadline(seconds), list[str](), 0, 0
    no_sync = patch.object(os, "fsync", lambda _: None)  # no power is lost here
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(), no_sync:
        warnings.simplefilter("ignore", UserWarning)  # zipfile's, of names that are there twice
        files = packed_run(Path(name))
        source, home = Path(name) / "forged.zip", Path(name) / "home"
        while not cases or (not deadline.over() and len(findings) < MOST_FINDINGS):
            content = forged(rng, files)
            source.write_bytes(change(rng, content) if rng.random() < 0.5 else content)
            home.mkdir()
            fault = fault_of(source, home)
            findings += [f"case {cases}: {fault}"] if fault else []
            unpacked += (home / "run").exists()
            shutil.rmtree(home)
            cases += 1
    return Report("archives", cases, findings, deadline.passed, {"unpacked": float(unpacked)})
