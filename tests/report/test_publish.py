"""A run as a folder for model hubs: it plays as the run does, its card says what was measured, and no path leaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from plyground.agents.registry import load_run
from plyground.backend.view import View
from plyground.errors import Error, InvalidValue
from plyground.learners import LEARNERS
from plyground.learners.defaults import resolve
from plyground.models.network import NetworkModel
from plyground.models.table import of_config
from plyground.report.publish import publish, without_folders
from plyground.report.run import write_report
from plyground.runs.directory import create, find_checkpoint
from plyground.runs.files import DamagedFile
from plyground.runs.trust import Untrusted

pytestmark = pytest.mark.once
ROW = str(ROOT / "examples" / "three_in_a_row.py")


def network_run(folder: Path, **more: Any) -> Path:
    """A run with random weights on a game that is a file."""
    torch.manual_seed(0)
    model = NetworkModel.make(View(pg.load(ROW), "planes-v1"), "8")
    config = {"learner": "dqn", "game": ROW, "encoder": "planes-v1", "network": "8", "outputs": 9, "seed": 3, **more}
    with create(folder, config) as run:
        run.save(7, model.identity, {"network": model.state()}, {})
    return folder


def table_run(folder: Path) -> Path:
    """A run with an empty table."""
    config = resolve(LEARNERS["tabular"].config(game=ROW))
    table = of_config(vars(config), pg.load(ROW))
    settings = {"learner": "tabular", **vars(config), "eval_opponents": ["random"]}
    with create(folder, settings) as run:
        run.save(2, table.identity, {"table": table.state()}, {})
    return folder


@pytest.mark.parametrize("make_run", [network_run, table_run])
def test_a_published_run_plays_as_the_run_does(make_run: Any, tmp_path: Path) -> None:
    run, folder, game = make_run(tmp_path / "run"), tmp_path / "hub" / "model", pg.load(ROW)
    names = publish(run, folder, games=2)
    assert names == ["README.md", "board.png", "config.json", "config.toml", "model.safetensors", "three_in_a_row.py"]
    assert {path.name for path in folder.iterdir()} == set(names)
    batch = pg.Batch(game, 30, seed=1)
    batch.random_play(3)
    chosen = [load_run(str(path), game).act(batch.states, np.zeros(30, np.uint64)) for path in (run, folder)]
    assert (chosen[0] == chosen[1]).all()
    assert find_checkpoint(folder, "last").step == find_checkpoint(run, "best").step
    assert pg.match(game, pg.agent(f"run:{folder}", game), pg.agent("random", game), games=2).games == 2


def test_programs_that_a_foreign_run_names_as_opponents_are_not_started(tmp_path: Path) -> None:
    engine, config = tmp_path / "engine", tmp_path / "run" / "config.toml"
    engine.write_text(f"#!/bin/sh\ntouch {tmp_path / 'started'}\n")
    engine.chmod(0o700)
    run = network_run(tmp_path / "run", eval_opponents=["random"])
    config.write_text(config.read_text().replace('"random"', f'"uci:{engine}"'))
    for measure in (lambda: write_report(run, games=2), lambda: publish(run, tmp_path / "hub", games=2)):
        with pytest.raises(Untrusted, match=f"would run the program uci:{engine}"):
            measure()
    assert not (tmp_path / "started").exists()


def test_the_card_has_a_head_for_hubs_and_results_with_intervals(tmp_path: Path) -> None:
    publish(network_run(tmp_path / "run"), tmp_path / "model", licence="cc-by-4.0", games=4)
    _, head, text = (tmp_path / "model" / "README.md").read_text().split("---\n", 2)
    values = {key: json.loads(value) for key, _, value in (line.partition(": ") for line in head.splitlines())}
    assert (values["library_name"], values["license"]) == ("plyground", "cc-by-4.0")
    (metric, *_) = values["model-index"][0]["results"][0]["metrics"]
    assert metric["name"] == "score against random, 4 games"
    assert 0 <= metric["value"] <= 1
    for title in ("## Use", "## Training", "## Results", "## Limits"):
        assert title in text
    assert "| `random` | " in text
    assert "% to " in text


def test_no_folder_of_the_machine_is_published(tmp_path: Path) -> None:
    run = network_run(tmp_path / "run", init=str(tmp_path / "other"), opponents=[f"0.5 run:{tmp_path}/x", "0.5 self"])
    again = network_run(tmp_path / "again", eval_opponents=[f"run:{run}"])
    publish(again, tmp_path / "again_model", games=2)
    assert str(tmp_path) not in (tmp_path / "again_model" / "README.md").read_text()
    publish(run, tmp_path / "model", games=2)
    for name in ("README.md", "config.json", "config.toml"):
        text = (tmp_path / "model" / name).read_text()
        assert str(tmp_path) not in text
        assert str(ROOT) not in text
    config = (tmp_path / "model" / "config.toml").read_text()
    assert 'game = "three_in_a_row.py"' in config
    assert 'opponents = ["0.5 run:x", "0.5 self"]' in config


@pytest.mark.parametrize(
    ("value", "published"),
    [
        ("/home/me/runs/a", "a"),
        ("C:\\me\\a.py:length=5", "a.py:length=5"),
        ("0.3 file:/a/b c/agent.py:NAME", "0.3 file:agent.py:NAME"),
        ("uci:/usr/games/stockfish,elo=1350", "uci:stockfish,elo=1350"),
        ("minimax:depth=3", "minimax:depth=3"),
        ("runs/a", "runs/a"),
        (["/x/y", 3], ["y", 3]),
        (0.5, 0.5),
    ],
)
def test_absolute_paths_become_names(value: Any, published: Any) -> None:
    assert without_folders(value) == published


def test_what_cannot_be_published_or_resumed_is_said(tmp_path: Path, command: Any) -> None:
    run, folder = network_run(tmp_path / "run"), tmp_path / "model"
    code, out, _ = command("runs", "publish", str(run), str(folder), "--games", "2")
    assert (code, "model.safetensors" in out) == (0, True)
    code, _, err = command("runs", "publish", str(run), str(folder), "--games", "2")
    assert (code, "exists already" in err) == (2, True)
    code, _, err = command("resume", str(folder))
    assert (code, "is a published model: it can play" in err) == (2, True)
    assert not (folder / "lock").exists()
    with pytest.raises(InvalidValue, match=r"no checkpoint '3'; it has: best, last, 7"):
        find_checkpoint(folder, "3")
    with pytest.raises(InvalidValue, match="a licence is a short name"):
        publish(run, tmp_path / "other", licence="a: b")


def test_a_damaged_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    publish(network_run(tmp_path / "run"), folder, games=2)
    weights = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(weights[:-1] + b"\0")
    with pytest.raises(Error, match=r"model\.safetensors"):
        load_run(str(folder), pg.load(ROW))
    (folder / "config.json").write_text("{}")
    with pytest.raises(DamagedFile, match="has format None"):
        load_run(str(folder))
