"""The proofs of `make torture`, for a few seconds each."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import torture
from conftest import JIT, TESTS
from torture import PROOFS, Report
from torture.__main__ import main, run_here

pytestmark = [pytest.mark.once, pytest.mark.skipif(not JIT, reason="too slow without the compiler")]
SHORT = {"texts": 4.0}
"""proof: seconds in `make test`; those that are not here have tests of their own"""


@pytest.mark.xfail(reason="over-long paths and numbers in files are refused by other changes", strict=False)
@pytest.mark.parametrize("name", SHORT)
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
