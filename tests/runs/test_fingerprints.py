"""Fingerprints of runs: an edited game, encoder or network is noticed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.backend.view import View
from plyground.games.encoder import Encoder
from plyground.games.table_key import TableKey, pick_key
from plyground.learners import LEARNERS
from plyground.models.network import NetworkModel
from plyground.models.table import of_config
from plyground.networks import make_network
from plyground.runs import fingerprints
from plyground.runs.directory import Run, create, find_checkpoint

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_in_a_row.py"
TABLE = asdict(LEARNERS["tabular"].config())
TRAINED = Path(pg.__file__).parent / "trained"


def of_network(game: pg.Game, encoder: Encoder, network: Any) -> dict[str, str]:
    return fingerprints.of_model(NetworkModel(View(game, str(encoder)), network))


def of_table(game: pg.Game, key: TableKey) -> dict[str, str]:
    return fingerprints.of_model(of_config({**TABLE, "key": str(key)}, game))


def run_of(path: Path, game: pg.Game, config: dict[str, object], found: dict[str, str]) -> Run:
    """A run directory with one checkpoint."""
    with create(path, {**config, "game": game.full}) as run:
        identity = {"game": str(game), "encoder": "planes-v1", "network": "8"}
        run.save(1, identity, {"network": {"w": np.zeros(1, np.float32)}}, {}, found)
        return run


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("# ", "# # ", []),
        ('state["outcome"] = DRAW', 'state["outcome"] = FIRST_WINS', ["the rules of"]),
        ("out[", "out[0 + ", ["the encoder planes-v1 of"]),
    ],
)
def test_an_edited_game_is_noticed_by_its_runs(tmp_path: Path, old: str, new: str, changed: list[str]) -> None:
    path = tmp_path / "game.py"
    source = EXAMPLE.read_text()
    assert old in source
    path.write_text(source)
    game = pg.load(path)
    encoder = game.encoder()
    network = make_network("8", encoder.shape, game.num_actions)
    config = {"encoder": str(encoder), "network": "8", "outputs": game.num_actions}
    run = run_of(tmp_path / "run", game, config, of_network(game, encoder, network))
    assert fingerprints.notice(run.path) == ""
    path.write_text(source.replace(old, new))
    found = find_checkpoint(run.path, "last").changes(fingerprints.of_run(run.path))
    assert len(found) == len(changed)
    assert all(words in said for words, said in zip(changed, found, strict=True))
    assert bool(fingerprints.notice(run.path)) == bool(changed)


def test_a_table_has_a_fingerprint_of_its_key(tmp_path: Path) -> None:
    game = pg.load("sequence")
    patterns, cards = (of_table(game, pick_key(game.rules, name)) for name in ("patterns", "cards"))
    assert patterns["rules"] == cards["rules"] != ""
    assert patterns["key"] != cards["key"] != ""
    run = run_of(tmp_path / "run", game, {**TABLE, "key": "cards-v1"}, patterns)
    assert "the key" in fingerprints.notice(run.path)


def test_networks_of_other_classes_have_other_fingerprints() -> None:
    game = pg.load("connect_four")
    encoder = game.encoder("planes-v1")
    found = {}
    for word in ("8", "8-8", "b1c8", "k4c8-8", "connect_zero"):
        network = make_network(word, encoder.shape, game.num_actions)
        found[word] = of_network(game, encoder, network)["network"]
    assert found["8"] == found["8-8"]  # the sizes are part of the checkpoint's identity
    assert len(set(found.values())) == 4
    assert "" not in found.values()


def test_an_edited_forward_is_another_network() -> None:
    game = pg.load("connect_four")
    encoder = game.encoder("planes-v1")
    network = make_network("b1c8", encoder.shape, game.num_actions)
    before = of_network(game, encoder, network)

    class Edited(type(network)):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return -super().forward(x)

    network.__class__ = Edited
    after = of_network(game, encoder, network)
    assert (before["rules"], before["encoder"]) == (after["rules"], after["encoder"])
    assert before["network"] != after["network"]


@pytest.mark.parametrize("name", ["connect_four", "chess", "paco_sako", "sequence"])
def test_settings_and_encoders_of_every_game_have_fingerprints(name: str) -> None:
    game = pg.load(name)
    network = make_network("8", (4,), 4)
    found = [of_network(game, each, network) for each in dict.fromkeys(game.encoders.values())]
    assert len({each["rules"] for each in found}) == 1
    assert len({each["encoder"] for each in found}) == len(found)
    assert all(value for each in found for value in each.values())


def test_a_run_can_be_stamped_with_the_current_code(tmp_path: Path) -> None:
    game = pg.load("connect_four")
    config = {"encoder": "planes-v1", "network": "8", "outputs": 7}
    run = run_of(tmp_path / "run", game, config, {"rules": "old", "encoder": "old"})
    assert "the rules of connect_four have changed" in fingerprints.notice(run.path)
    before = find_checkpoint(run.path, "last").manifest
    fingerprints.stamp(run.path)
    assert fingerprints.notice(run.path) == ""
    after = find_checkpoint(run.path, "last").manifest
    assert {**after, "fingerprints": 0} == {**before, "fingerprints": 0}


def test_a_setting_is_part_of_the_rules() -> None:
    two, four = (pg.load("sequence", seats=seats) for seats in (2, 4))
    key = pick_key(two.rules, "patterns")
    assert of_table(two, key)["rules"] != of_table(four, key)["rules"]


@pytest.mark.parametrize("name", ["connect_four", "chess", "paco_sako"])
def test_pretrained_networks_were_made_with_the_current_code(name: str) -> None:
    """Where a change on purpose fails here: prove that the network plays as before, then
    `python -m plyground.runs.fingerprints src/plyground/trained/NAME`."""
    run = TRAINED / name
    assert fingerprints.notice(run) == ""
    manifest = json.loads(next(run.glob("checkpoints/*/manifest.json")).read_text())
    assert set(manifest["fingerprints"]) == {"rules", "encoder", "network"}
