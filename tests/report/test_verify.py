"""The page that compares a network before and after imitation, and after fine-tuning."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import plyground as pg
from plyground.agents.network import NetworkAgent
from plyground.arena.match import Match
from plyground.backend.view import View
from plyground.errors import Error
from plyground.models.network import NetworkModel
from plyground.networks import make_network
from plyground.report.verify import AFTER, BEFORE, TUNED, Stage, on_held_out, page, save_picture, stages_of, verify
from plyground.runs.directory import create
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import read_all
from plyground.teaching.lines import Lines

pytestmark = pytest.mark.compiled
FOUR = Collect(game="connect_four", games=6, opening_plies=4, threads=1)


def agent_of(game: pg.Game, seed: int) -> NetworkAgent:
    torch.manual_seed(seed)
    view = View(game, "planes-v1")
    return NetworkAgent(NetworkModel(view, make_network("8", view.shape, view.outputs)))


def run_of(path: Path, agents: dict[int, NetworkAgent], best: int, **config: str) -> Path:
    """A run directory whose checkpoints hold these agents' networks."""
    own = {"game": "connect_four", "encoder": "planes-v1", "network": "8", "outputs": 7, **config}
    with create(path, own) as run:
        for step, agent in agents.items():
            tensors = {name: values.numpy() for name, values in agent.network.state_dict().items()}
            run.save(step, NetworkModel(agent.view, agent.network, "8").identity, {"network": tensors}, {})
        run.write("best.json", json.dumps({"step": best}))
    return path


def same(one: NetworkAgent, other: NetworkAgent) -> bool:
    pairs = zip(one.network.parameters(), other.network.parameters(), strict=True)
    return all(bool((a == b).all()) for a, b in pairs)


def test_stages_are_the_first_the_best_and_the_fine_tuned_network(tmp_path: Path, connect_four: pg.Game) -> None:
    made = {step: agent_of(connect_four, step) for step in (0, 5, 9)}
    run = run_of(tmp_path / "run", made, 5, learner="imitation")
    found = stages_of(run, None)
    assert list(found) == [BEFORE, AFTER]
    assert same(found[BEFORE], made[0])
    assert same(found[AFTER], made[5]), "the best, not the last"
    tuned = run_of(tmp_path / "tuned", {3: made[9]}, 3, learner="dqn", init=str(run))
    for found in (stages_of(tuned, None), stages_of(run, tuned)):
        assert list(found) == [BEFORE, AFTER, TUNED]
        assert same(found[TUNED], made[9])


def test_other_runs_are_refused(tmp_path: Path, connect_four: pg.Game) -> None:
    agents = {0: agent_of(connect_four, 0)}
    dqn = run_of(tmp_path / "dqn", agents, 0, learner="dqn")
    after = run_of(tmp_path / "after", agents, 0, learner="dqn", init=str(dqn))
    with pytest.raises(Error, match="neither an imitation run nor a run that was initialised with one"):
        stages_of(dqn, None)
    with pytest.raises(Error, match=r"was initialised with .*dqn, which is not an imitation run"):
        stages_of(after, None)


def test_agreement_is_counted_over_held_out_positions(tmp_path: Path, connect_four: pg.Game) -> None:
    collect(FOUR, tmp_path / "a.ndjson", lambda *_: None)
    examples = read_all(tmp_path / "a.ndjson", Lines(connect_four))
    agent = agent_of(connect_four, 3)
    actions = agent.act(connect_four.heads(examples["state"]), np.zeros(len(examples), np.uint64))
    agreed = (actions == examples["top"][:, 0]).mean()
    assert 0 < agreed < 1
    assert on_held_out(agent, examples)["match@1"] == pytest.approx(agreed)


def test_a_page_has_a_row_for_each_stage_and_match(tmp_path: Path, connect_four: pg.Game) -> None:
    held_out = {"match@1": 0.25, "match@3": 0.5, "match@5": 0.75, "kl": 1.5, "entropy": 1.0, "even_entropy": 2.0}
    match = Match(np.array([[1.0, 0.5], [0.0, 1.0]]), 20.0, 1, {"four": 3})
    stage = Stage(BEFORE, agent_of(connect_four, 0), {**held_out, "value_error": 0.125}, {"random": match})
    stages = [stage, replace(stage, name=AFTER, matches={"random": match, "greedy": match})]
    rows = page(tmp_path / "run", stages, "400 held-out positions", 400, "minimax", 4).splitlines()
    assert "| before imitation | 25.0% [20.8%, 29.2%] | 50.0% | 75.0% | 1.500 | 1.00 (2.00) | 0.125 |" in rows
    played = [row for row in rows if "| 62.5% |" in row]
    assert [row.split(" | ")[:2] for row in played] == [
        ["| before imitation", "random"], ["| after imitation", "random"], ["| after imitation", "greedy"],
    ]  # fmt: skip
    assert all(row.endswith("| 2, 1, 1 | 20 | four 3, stopped 1 |") for row in played)
    save_picture(tmp_path / "verify.png", stages)
    assert (tmp_path / "verify.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_is_verified_on_a_dataset(tmp_path: Path, connect_four: pg.Game) -> None:
    run = run_of(tmp_path / "run", {step: agent_of(connect_four, step) for step in (0, 5)}, 5, learner="imitation")
    collect(FOUR, tmp_path / "a.ndjson", lambda *_: None)
    told: list[str] = []
    text = verify(run, data=tmp_path / "a.ndjson", games=2, depth=1, quiescence=0, say=told.append)
    assert (run / "verify.md").read_text() == text
    assert "| after imitation | untrained |" in text
    assert "| before imitation | untrained |" not in text, "a network does not play against itself"
    assert "held-out" not in text, "the run may have learned from these"
    assert f"positions of {tmp_path / 'a.ndjson'} (95%" in text
    assert told[-1] == "after imitation: 2 games against teacher"
