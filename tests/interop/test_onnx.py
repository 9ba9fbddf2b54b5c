"""Networks of every family as ONNX files: the same scores, the same moves, metadata, int8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from plyground.arena.match import play_match
from plyground.backend.view import View
from plyground.errors import InvalidValue
from plyground.learners import LEARNERS
from plyground.learners.defaults import resolve
from plyground.models.network import NetworkModel
from plyground.models.table import of_config
from plyground.networks import make_network
from plyground.runs.directory import create

pytestmark = pytest.mark.peers
onnx: Any = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")
TRAINED = ROOT / "src" / "plyground" / "trained"
FAMILIES = [
    ("connect_four", "planes-v1", "16-8", True),
    ("connect_four", "relative-v1", "16+value", False),
    ("connect_four", "onehot-v1", "connect_zero+value", False),
    ("connect_four", "planes-v1", "k4c8-16", False),
    ("chess", "index-v1", "b2c8-pairs+value", False),
    ("paco_sako", "planes", "b1c8", False),
    ("sequence", "planes-v1", "b1c4", False),
]


def new_run(folder: Path, game: str, encoder: str, network: str, dueling: bool) -> Path:
    """A run with random weights."""
    torch.manual_seed(0)
    rules = pg.load(game)
    view = View(rules, encoder if encoder in rules.encoders else "")
    made = make_network(network, view.shape, view.outputs, dueling)
    for each in made.parameters():
        torch.nn.init.normal_(each, std=0.2)
    config = {"learner": "dqn", "game": game, "encoder": str(view.encoder), "network": network}
    with create(folder, {**config, "outputs": view.outputs, "dueling": dueling}) as run:
        weights = {name: values.numpy() for name, values in made.state_dict().items()}
        run.save(1, NetworkModel(view, made, network, dueling).identity, {"network": weights}, {})
    return folder


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family[0]} {family[2]}")
def test_a_network_of_each_family_plays_the_same_as_onnx(family: tuple[str, str, str, bool], tmp_path: Path) -> None:
    from plyground.interop.onnx import export, load_agent

    game, encoder, network, dueling = family
    run, file = new_run(tmp_path / "run", game, encoder, network, dueling), tmp_path / "network.onnx"
    found = export(run, file)
    assert (found.size, found.positions) == (file.stat().st_size, 1000)
    assert found.agreement > 0.998  # equal but for scores that are equal
    agent, own = load_agent(file), pg.agent(f"run:{run}", pg.load(game))
    batch = pg.Batch(pg.load(game), 20, seed=9)
    batch.random_play(5)
    assert (agent.act(batch.states, batch.rngs) == own.act(batch.states, batch.rngs)).mean() >= 0.95
    names = [each.name for each in onnx.load(file).graph.output]
    assert names == (["scores", "value"] if "+value" in network else ["scores"])


def test_the_metadata_name_game_encoder_actions_and_outputs(tmp_path: Path) -> None:
    from plyground.interop.onnx import export

    export(TRAINED / "chess", tmp_path / "chess.onnx")
    model, chess = onnx.load(tmp_path / "chess.onnx"), pg.load("chess")
    meta = {each.key: each.value for each in model.metadata_props}
    outputs = np.array(json.loads(meta.pop("action_outputs")))
    assert (outputs == chess.slots("planes-v1")).all()
    assert meta == {
        "plyground": pg.__version__,
        "game": "chess",
        "encoder": "planes-v1",
        "actions": "4168",
        "network": "b6c128-slim-pairs+value",
        "checkpoint": "176",
    }


def test_int8_is_a_quarter_of_the_size_and_plays_almost_as_well(tmp_path: Path, connect_four: pg.Game) -> None:
    """Measured with 1,000 positions and 400 games (docs/interop.md): 95.5% the same actions."""
    from plyground.interop.onnx import export, load_agent

    whole, small = (export(TRAINED / "connect_four", tmp_path / f"{int8}.onnx", int8=int8) for int8 in (False, True))
    assert small.size < 0.3 * whole.size
    assert small.agreement > 0.9
    agent = load_agent(tmp_path / "True.onnx")
    assert play_match(connect_four, agent, pg.agent("random", connect_four), 40).score > 0.95


def test_a_table_is_refused(tmp_path: Path) -> None:
    from plyground.interop.onnx import export

    config = resolve(LEARNERS["tabular"].config(game="sequence"))
    table = of_config(vars(config), pg.load("sequence"))
    with create(tmp_path / "run", {"learner": "tabular", **vars(config)}) as run:
        run.save(2, table.identity, {"table": table.state()}, {})
    with pytest.raises(InvalidValue, match="has learned a table"):
        export(tmp_path / "run", tmp_path / "a.onnx")


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    from plyground.interop.onnx import load_agent

    (tmp_path / "bad.onnx").write_bytes(b"nonsense")
    with pytest.raises(InvalidValue, match="not an ONNX file that can be run"):
        load_agent(tmp_path / "bad.onnx")
    with pytest.raises(InvalidValue, match="cannot read"):
        load_agent(tmp_path / "missing.onnx")


def test_a_file_that_names_code_needs_the_game_from_the_caller(tmp_path: Path) -> None:
    """Whoever wrote the file must not choose what is executed."""
    from plyground.interop.onnx import export, load_agent

    game = str(ROOT / "examples" / "three_in_a_row.py")
    run, file = new_run(tmp_path / "run", game, "planes", "8", False), tmp_path / "network.onnx"
    export(run, file)
    with pytest.raises(InvalidValue, match=r"the file is for '.*three_in_a_row\.py', a game of its own"):
        load_agent(file)
    assert load_agent(file, pg.load(game)).game == pg.load(game)
