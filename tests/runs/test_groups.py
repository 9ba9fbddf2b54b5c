"""Runs of several seeds in one folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyground.runs.groups import is_seed, nearest_run, runs_of, seed_path, seed_runs


def make(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "config.toml").write_text("")
    return path


def test_seeds_are_found_in_their_order_and_other_folders_are_left_out(tmp_path: Path) -> None:
    runs = [make(seed_path(tmp_path, seed)) for seed in (10, 9, 0)]
    make(tmp_path / "seed-x")
    seed_path(tmp_path, 1).mkdir()  # begun, but without a config
    assert seed_runs(tmp_path) == runs_of(tmp_path) == runs[::-1]
    assert all(is_seed(run) for run in runs)
    assert not is_seed(tmp_path / "seed-x")


def test_a_run_and_a_missing_folder_stand_for_themselves(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    make(run / "seed-0")
    assert seed_runs(run) == []
    assert runs_of(run) == [run]
    assert runs_of(tmp_path / "missing") == [tmp_path / "missing"]
    assert seed_runs(Path("x" * 5000)) == [], "no folder can have this path"


def test_the_nearest_run_is_found_beside_a_path_and_by_a_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(Path("runs") / "mine")
    make(Path("runs") / "several" / "seed-0")
    (Path("runs") / "mind").mkdir()  # no run
    assert nearest_run(Path("minee")) == Path("mine")
    assert nearest_run(Path("runs/minee")) == Path("runs/mine")
    assert nearest_run(Path("severl")) == Path("several")
    assert nearest_run(Path("mind")) == Path("mine")
    assert nearest_run(Path("mine")) == Path("runs/mine"), "nothing is suggested to itself"
    assert nearest_run(Path("elsewhere/mine")) is nearest_run(Path("x" * 5000)) is None
