"""What the doctor finds: packages, extras, the cache, games, GPU, Stockfish."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from pathlib import Path
from typing import Any

import pytest

from plyground.agents import uci
from plyground.checks import doctor
from plyground.checks.doctor import BROKEN, MISSING, OK, Finding, examine, read_requirements
from plyground.games import GAMES

pytestmark = pytest.mark.compiled
NEEDS = [
    "numpy>=2.1",
    'torch>=2.6; extra == "learn"',
    'plyground[learn]; extra == "gpu"',
    'odd-thing[cu13]>=1; extra == "gpu"',
]


def found_with(monkeypatch: pytest.MonkeyPatch, needs: list[str], versions: dict[str, str]) -> dict[str, Finding]:
    def version(name: str) -> str:
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(importlib.metadata, "requires", lambda package: needs)
    monkeypatch.setattr(importlib.metadata, "version", version)
    monkeypatch.setattr(doctor, "_play_every_game", lambda: "played")
    return {finding.part: finding for finding in examine()}


def test_all_games_are_played_and_all_extras_are_listed() -> None:
    found = {finding.part: finding for finding in examine()}
    assert found["rules"].state == OK
    assert all(name in found["rules"].words for name in GAMES)
    assert "numpy" in found["packages"].words
    extras = {each.extra for each in read_requirements() if each.extra}
    for_users = extras & {*doctor.PURPOSES}
    assert {f"[{extra}]" for extra in for_users} <= set(found)
    assert {"learn", "tensorboard", "gpu", "ray"} <= for_users
    assert all(f"[{extra}]" in found[doctor.DEVELOPMENT].words for extra in extras - for_users)


def test_what_is_installed_has_its_version_and_what_is_missing_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = found_with(monkeypatch, NEEDS, {"numpy": "2.4.6", "torch": "2.13.0+cpu"})
    assert found["packages"] == Finding("packages", OK, "numpy 2.4.6")
    assert found["[learn]"] == Finding("[learn]", OK, "torch 2.13.0+cpu")
    assert (found["[gpu]"].state, found["[gpu]"].words) == (
        MISSING,
        "not installed: odd-thing; for rules and learning on an NVIDIA GPU",
    )
    assert "'.[gpu]'" in found["[gpu]"].remedy


def test_what_only_developers_need_is_one_line_and_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["numpy>=2.1", 'pytest>=8; extra == "test"', 'ruff; extra == "lint"', 'ray>=2.52; extra == "ray"']
    found = found_with(monkeypatch, needs, {"numpy": "2.4.6", "ruff": "1.0"})
    assert found["[ray]"].words == "not installed: ray; for more machines: --on ray"
    assert found[doctor.DEVELOPMENT].state == OK
    assert found[doctor.DEVELOPMENT].words.endswith("installed: [lint]; not installed: [test]")
    assert not {"[test]", "[lint]"} & {*found}


def test_what_is_too_old_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = found_with(monkeypatch, NEEDS, {"numpy": "1.26.4", "torch": "2.6.0rc1"})
    assert (found["packages"].state, found["packages"].words) == (BROKEN, "too old: numpy 1.26.4 (at least 2.1)")
    assert found["[learn]"].state == OK


def test_a_source_folder_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "requires", missing)
    monkeypatch.setattr(doctor, "_play_every_game", lambda: "played")
    found = {finding.part: finding for finding in examine()}
    assert "not installed" in found["packages"].words


def test_rules_that_do_not_compile_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise RuntimeError("no LLVM\nhere")

    monkeypatch.setattr(doctor, "_play_every_game", fail)
    found = {finding.part: finding for finding in examine()}
    assert (found["rules"].state, found["rules"].words) == (BROKEN, "RuntimeError: no LLVM here")


@pytest.mark.parametrize(("problem", "state"), [("its driver is too old", MISSING), ("", OK)])
def test_a_gpu_is_named_or_the_reason_why_it_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, problem: str, state: str
) -> None:
    device = pytest.importorskip("plyground.backend.device")
    monkeypatch.setattr(device, "problem", lambda: problem)
    monkeypatch.setattr(device, "name", lambda: "H200")
    found = doctor._gpu()  # pyright: ignore
    assert (found.state, found.words) == (state, f"cannot be used: {problem}" if problem else "H200")


def test_without_torch_no_gpu_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def find(name: str, *rest: Any) -> Any:
        return None if name == "torch" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    assert "PyTorch is not installed" in doctor._gpu().words  # pyright: ignore


def test_stockfish_is_optional(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(uci, "find", lambda program: None)
    assert doctor._stockfish().state == MISSING  # pyright: ignore
    monkeypatch.setattr(uci, "find", lambda program: str(tmp_path))
    assert doctor._stockfish() == Finding("Stockfish", OK, str(tmp_path))  # pyright: ignore


def test_the_token_of_clusters_is_found_and_one_that_is_no_secret_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    file = tmp_path / "token"
    file.write_text("x")
    file.chmod(0o600)
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(file))
    (found,) = doctor._cluster()
    assert found.state == OK
    assert found.words.endswith(f"the token is in {file}")
    file.chmod(0o644)
    (found,) = doctor._cluster()
    assert found.state == MISSING
    assert "chmod 600" in found.words
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not list(doctor._cluster())
