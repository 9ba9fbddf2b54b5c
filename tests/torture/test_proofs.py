"""The proofs of `make torture`, for a few seconds each."""

from __future__ import annotations

import importlib
import importlib.util
import json
import mmap
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import plyground as pg
import torture
from conftest import JIT, ROOT, TESTS
from plyground.web import store as web_store
from torture import (
    PROOFS,
    Report,
    Share,
    archives,
    crashes,
    determinism,
    engines,
    faults,
    kills,
    resources,
    store,
    texts,
)
from torture.__main__ import main, run_here

pytestmark = [pytest.mark.once, pytest.mark.skipif(not JIT, reason="too slow without the compiler")]
SHORT = {
    "texts": 3.0,
    "files": 6.0,
    "crashes": 8.0,
    "engines": 3.0,
    "determinism": 1.0,
    "resources": 3.0,
    "store": 4.0,
    "archives": 4.0,
    "faults": 6.0,
    "kills": 8.0,
}
"""proof: seconds in `make test`; those that are not here have tests of their own"""


@pytest.mark.parametrize("name", [name for name in SHORT if importlib.util.find_spec(f"torture.{name}")])
def test_a_proof_finds_nothing(name: str) -> None:
    report: Report = importlib.import_module(f"torture.{name}").run(seed=0, seconds=SHORT[name])
    assert report.findings == []
    assert report.cases > 0


def test_every_module_with_a_proof_is_in_the_table() -> None:
    files = [path for path in (TESTS / "torture").glob("*.py") if "\ndef run(seed: int" in path.read_text()]
    assert {path.stem for path in files} <= set(PROOFS)


def test_a_finding_is_reported_and_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(torture.PROOFS, "no_such_proof", "nothing")
    out = tmp_path / "report.json"
    assert main(["no_such_proof", "--here", "--seconds", "1", "--seed", "3", "--report", str(out)]) == 1
    (proof,) = json.loads(out.read_text())["proofs"]
    assert proof["findings"] == ["there is no tests/torture/no_such_proof.py"]
    assert run_here("no_such_proof", 0, 1.0).cases == 0


def test_the_documentation_counts_the_cases() -> None:
    text = (ROOT / "tests" / "torture" / "README.md").read_text(encoding="utf-8")
    assert f"{len(determinism.COMMANDS)} commands and {len(determinism.LEARNERS)} learners" in text
    assert f"{len(determinism.CASES)} cases) with 1, 2 and 4 threads" in text
    assert len(resources.LEARNERS) == 6, "the table says six"


# ---- shares ----


def test_the_shares_of_determinism_have_each_case_once_in_each_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, int, str, int]] = []

    def variant(cases: Sequence[str], seed: int, threads: int, hash_seed: str, busy: int) -> dict[str, str]:
        compared.extend((case, threads, hash_seed, busy) for case in cases)
        return dict.fromkeys(cases, "equal")

    monkeypatch.setattr(determinism, "variant", variant)
    parts = len(determinism.CASES) + 1  # one of them is empty
    total = sum(determinism.run(0, 60.0, Share(part, parts)).cases for part in range(1, parts + 1))
    every = {(case, *variant) for case in determinism.CASES for variant in determinism.VARIANTS}
    assert total == len(compared) == len(every)
    assert set(compared) == every


def test_the_shares_of_crashes_have_each_crash_point_once(monkeypatch: pytest.MonkeyPatch) -> None:
    points: list[tuple[str, str, int]] = []

    class Case:
        calls = 7

        def __init__(self, folder: Path, config: Any) -> None:
            self.name = folder.name

        def fail(self, fault: str, at: int) -> list[str]:
            points.append((self.name, fault, at))
            return []

        def lose_power(self, rng: Any) -> list[str]:
            return []

    monkeypatch.setattr(crashes, "Case", Case)
    monkeypatch.setattr(crashes, "configs", lambda _: {"dqn": None, "ppo": None})
    reports = [crashes.run(0, 60.0, Share(part, 4)) for part in range(1, 5)]
    assert [report.cases for report in reports] == [11, 11, 10, 10]
    assert len(set(points)) == len(points) == 2 * 3 * 7


def test_a_share_of_a_proof_without_a_list_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words, sentence in (
        (["texts", "--share", "1/2"], "--share needs a proof with a list of cases, not 'texts'"),
        (["crashes", "--share", "3/2"], "invalid parse value: '3/2'"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert sentence in capsys.readouterr().err


# ---- each proof can fail ----


def refuse_at_length(text: str) -> None:
    raise pg.InvalidText("x" * 3000)


def loop(text: str) -> None:
    while True:
        text.strip()


@pytest.mark.parametrize(
    ("read", "finding"),
    [(int, "raises ValueError"), (loop, "raises Endless"), (refuse_at_length, "3000 characters")],
    ids=["undeclared", "endless", "long"],
)
def test_texts_finds(read: Callable[[str], Any], finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SLOWEST", 0.2)
    assert finding in texts.outcome_of(texts.Parser("numbers", read, []), "one")[1]
    assert texts.outcome_of(texts.Parser("numbers", str, []), "one") == ("one", "")


def test_resources_finds_memory_that_grows() -> None:
    kept: list[mmap.mmap] = []

    def leak() -> int:
        kept.append(mmap.mmap(-1, 4 << 20))  # new pages; an object might lie in memory that earlier tests have freed
        kept[-1].write(b"x" * (4 << 20))
        return 1

    assert resources.growth(leak, 0.0)[1] > resources.MOST_GROWTH
    assert resources.growth(lambda: 1, 0.0)[1] < resources.MOST_GROWTH


def test_resources_finds_what_is_left_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "WAIT", 0.1)
    findings: list[str] = []
    end = threading.Event()
    with resources.left_behind(findings):
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        threading.Thread(target=end.wait, name="forgotten", daemon=True).start()
        folder = Path(tempfile.mkdtemp())
        file = (tmp_path / "open").open("w")
    end.set()
    file.close()
    process.communicate(b"\n")
    found = " ".join(findings)
    for word in (f"temporary file {folder.name}", "['forgotten']", f"{tmp_path}/open", str(process.pid)):
        assert word in found
    assert len(findings) == 4


def test_store_finds_a_file_that_costs_more_than_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "change", lambda rng, content: content.replace(b"you", b"y\xffu"))
    decode = web_store._decode

    def careless(data: bytes, name: str) -> web_store.Index:
        data.decode()
        return decode(data, name)

    assert store.run(0, 0.5).findings == []
    monkeypatch.setattr(web_store, "_decode", careless)
    assert "UnicodeDecodeError" in store.run(0, 0.5).findings[0]


def test_faults_finds_what_is_not_synced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "FAULTS", ["exit"])
    monkeypatch.setattr(faults, "KINDS", {"games": faults.KINDS["games"]})
    monkeypatch.setattr("plyground.runs.files.sync_folder", lambda _: None)
    assert any("power loss" in each and "is gone" in each for each in faults.run(0, 30.0).findings)


@pytest.mark.parametrize(
    ("error", "finding"), [(IndexError("x"), "IndexError"), (pg.InvalidText("x" * 700), "an error of 700 characters")]
)
def test_archives_finds(error: Exception, finding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unpack(source: Path, run: Path) -> None:
        raise error

    monkeypatch.setattr(archives, "unpack", unpack)
    assert finding in archives.run(0, 0.0).findings[0]


def test_kills_finds_what_is_not_on_disk(tmp_path: Path) -> None:
    seen: kills.Seen = {"a" * 16: (3, ["e4", "e5", "d4"])}
    assert kills.lost(tmp_path, seen) == [f"{'a' * 16} is gone, of which 3 plies were shown"]
    (tmp_path / f"{'a' * 16}.json").write_text("{")
    (tmp_path / "b.json").write_text("{")
    assert kills.lost(tmp_path, seen) == [f"{'a' * 16} is damaged", "b.json is left"]


def test_kills_finds_that_nobody_has_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with the server or the pages: a kill that no game has seen proves nothing."""
    monkeypatch.setattr(kills, "PATIENCE", 0.5)
    monkeypatch.setattr(kills, "TOKEN", "another")
    assert kills.run(0, 0.0).findings == ["kill 0: no page was shown three moves within 0 s"]


def test_determinism_finds_what_differs_between_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    def variant(cases: Sequence[str], seed: int, threads: int, *_: Any) -> dict[str, str]:
        return {case: f"{case} {threads if case == 'match sequence' else ''}" for case in cases}

    monkeypatch.setattr(determinism, "variant", variant)
    (found, *_) = determinism.run(0, 0.0).findings
    assert found.startswith("'match sequence' (seed ")
    assert found.endswith("differs with 2 threads, PYTHONHASHSEED=1, 0 busy loops")


def test_engines_finds_a_process_that_stays() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    assert engines.alive({process.pid}) == [process.pid]
    process.communicate(b"\n")
    assert engines.alive({process.pid}) == []
