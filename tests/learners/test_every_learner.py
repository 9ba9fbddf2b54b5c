"""Every learner on every game: it learns, and plays nothing illegal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from plyground.agents.agent import Agent
from plyground.agents.registry import can_search, make
from plyground.arena.match import play_match
from plyground.errors import Error
from plyground.learners import LEARNERS, saving
from plyground.learners.config import Imitation
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner
from plyground.learners.imitation import ImitationLearner
from plyground.learners.training import progress, save
from plyground.runs.directory import create, newest_whole
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from resumed import new_learner

SELF_PLAY = [name for name in LEARNERS if name != "imitation"]  # it learns from a dataset, on the games that have one
COMMON: dict[str, Any] = {
    "num_envs": 8, "max_plies": 20, "games_per_cycle": 1000, "eval_opponents": ("random",), "opening_plies": 0
}  # fmt: skip
NETWORK: dict[str, Any] = {"threads": 1, "rollback_entropy": 0.0}
OWN: dict[str, dict[str, Any]] = {
    "dqn": {"network": "16", "buffer_size": 2000, "learning_starts": 64, "batch_size": 16, **NETWORK},
    "reinforce": {"network": "16+value", "rollout_length": 20, **NETWORK},
    "a2c": {"network": "16+value", "rollout_length": 2, **NETWORK},
    "ppo": {"network": "16+value", "rollout_length": 4, "batch_size": 16, **NETWORK},
    "alphazero": {
        "network": "16+value", "buffer_size": 2000, "learning_starts": 64, "batch_size": 16, "simulations": 4, **NETWORK
    },
    "tabular": {},
    "td": {"tuples": 5, "length": 3, "games_per_round": 4, "max_plies": 400},  # truncated games teach nothing at first
    "sparse": {"units": 32, "nodes": 20, "games_per_cycle": 32, "batch_size": 32, "epochs": 100},
}  # fmt: skip
ROW = str(ROOT / "examples" / "three_in_a_row.py")


def config_of(name: str, **settings: Any) -> Any:
    """A learner's config; settings that it does not have are left out."""
    kind = LEARNERS[name].config
    return kind(**{key: value for key, value in settings.items() if key in kind.__dataclass_fields__})


def knowledge(learner: Any) -> list[bytes]:
    """What it has learned so far, to compare."""
    return [np.ascontiguousarray(values).tobytes() for values in learner.model.present.state().values()]


@pytest.mark.parametrize("name", [name for name in SELF_PLAY if name not in ("alphazero", "td", "sparse")])
def test_no_choice_draws_from_the_generators_that_decide_a_games_chance(name: str) -> None:
    """They advance while a ply is played, and never while one is chosen. AlphaZero and `sparse` refuse such games; `td`
    plays in compiled code (test_td.py)."""
    game = pg.load(ROOT / "tests" / "tiny_games" / "pig.py")
    encoder = {} if name == "tabular" else {"network": "16+value" if "value" in OWN[name]["network"] else "16"}
    config = config_of(
        name, game=str(game), **{**COMMON, **OWN[name], **encoder, "opponents": ("0.8 self", "0.2 random")}
    )
    learner = new_learner(resolve(config))
    batch = getattr(learner, "rollout", learner).games.batch
    played = batch.step
    last = [batch.rngs.clone()]

    def step(actions: Any) -> Any:
        assert torch.equal(batch.rngs, last[0])
        found = played(actions)
        last[0] = batch.rngs.clone()
        return found

    batch.step = step
    for _ in range(40):
        learner.iterate()
    assert learner.state.plies > 100


@pytest.mark.parametrize("name", [name for name in SELF_PLAY if name != "alphazero"])  # test_alphazero.py
def test_fifty_updates(name: str, game: pg.Game) -> None:
    """On every game, with the network that fits its first encoder: finite metrics, no illegal action."""
    config = config_of(name, game=str(game), **{**COMMON, **OWN[name]})
    if name == "sparse" and (game.rules.hidden or not can_search(game)):
        with pytest.raises(Error, match=r"hides some|needs a game|has no cells"):
            new_learner(resolve(config))
        return
    if name in ("td", "sparse") and game.rules.CELLS is None:
        with pytest.raises(Error, match="has no cells"):
            new_learner(resolve(config))
        return
    if name == "tabular" and game.rules.hidden and "sequence" not in str(game):
        with pytest.raises(Error, match="hides something from its players"):
            resolve(config)
        return
    if name == "dqn" and any(len(each.shape) == 3 for each in game.encoders.values()):
        config = replace(config, network="b1c4")
    learner = new_learner(resolve(config))
    before, metrics = knowledge(learner), dict[str, float]()
    for _ in range(2000):  # no step raises IllegalAction
        learner.state.progress = progress(learner)
        metrics = learner.iterate() or metrics
        if learner.state.updates >= 50:
            break
    assert learner.state.updates >= 50
    assert knowledge(learner) != before
    assert metrics
    assert all(np.isfinite(value) for value in metrics.values())


# ---- they learn: strength in paired matches, and a loss on a fixed batch ----


LEARNS: dict[str, dict[str, Any]] = {
    "dqn": {
        "network": "64", "buffer_size": 20_000, "learning_starts": 500, "batch_size": 64, "replay_ratio": 4.0,
        "target_update_interval": 50, "learning_rate": 3e-3,
    },
    "reinforce": {"network": "64+value", "rollout_length": 9, "learning_rate": 5e-3},
    "a2c": {"network": "64+value", "rollout_length": 4, "learning_rate": 5e-3, "batch_size": 256},
    "ppo": {"network": "64+value", "rollout_length": 16, "learning_rate": 3e-3, "batch_size": 256},
    "tabular": {"epsilon": 0.3, "alpha": 0.3},
    "td": {"tuples": 8, "length": 6},
}  # fmt: skip


def score(game: pg.Game, agent: Agent, opponent: Agent) -> float:
    """400 games from the start, in pairs from both sides, with the same random numbers in every match."""
    return play_match(game, agent, opponent, 400, seed=3, opening_plies=0).score


@pytest.mark.parametrize("name", [*LEARNS])  # test_alphazero.py, test_sparse.py
def test_after_some_games_it_is_clearly_stronger_than_untrained(name: str) -> None:
    settings = {"game": ROW, "seed": 1, "num_envs": 64, "games_per_cycle": 5000, "cycles": 1, "opening_plies": 3}
    if name != "tabular":
        settings["threads"] = 1
    learner = new_learner(resolve(config_of(name, **settings, **LEARNS[name])))
    game, opponent = learner.game, make("random", learner.game)
    before = score(game, learner.model.agent(), opponent)
    while learner.cycle.progress() < 1:
        learner.state.progress = progress(learner)
        learner.iterate()
    after = score(game, learner.model.agent(), opponent)
    assert after > before + 0.15, f"{before:.3f} untrained, {after:.3f} after {learner.state.updates} updates"
    assert after > 0.62


def test_dqn_lowers_the_loss_on_a_fixed_batch() -> None:
    """Targets and batch stay the same: an optimizer step must lower their loss."""
    config = LEARNERS["dqn"].config(game=ROW, **COMMON, **OWN["dqn"])
    learner = new_learner(resolve(config))
    assert isinstance(learner, DQNLearner)
    for _ in range(40):
        learner.play()
    batch = learner.replay.sample(256)
    targets = learner.targets(batch).clone()
    outputs = learner.view.output_of(batch.states, batch.actions)[:, None]

    def loss() -> torch.Tensor:
        values = learner.q_network(learner.view.observe(batch.states)).gather(1, outputs)[:, 0]
        return learner.losses(values, targets).mean()

    first = loss().item()
    for _ in range(50):
        learner.model.optimizer.zero_grad(set_to_none=True)
        loss().backward()
        learner.model.step()
    assert loss().item() < 0.7 * first


@pytest.mark.compiled
def test_imitation_lowers_its_loss_on_games_that_it_has_not_seen(tmp_path: Path) -> None:
    data = tmp_path / "four.ndjson"
    collect(Collect(game="connect_four", games=100, weak_games=0.0, threads=1, depth=2), data, lambda *_: None)
    config = Imitation(game="connect_four", data=(str(data),), network="32", threads=1, batch_size=16)
    config = replace(config, validation_split=0.2, learning_rate=3e-3)
    learner = ImitationLearner(resolve(config), tmp_path)
    before = learner.measure()
    for _ in range(2):
        learner.iterate()
    after = learner.measure()
    assert after["loss"] < before["loss"]
    assert after["kl"] < before["kl"] - 0.01


# ---- the learning rate ----


@pytest.mark.parametrize("name", ["dqn", "reinforce", "ppo", "alphazero"])
def test_the_learning_rate_after_a_resume_is_that_of_a_run_that_never_stopped(name: str, tmp_path: Path) -> None:
    """In the second half of a run, where it falls; also between two rollouts."""
    own = {**COMMON, "games_per_cycle": 100, "cycles": 1, **OWN[name]}
    through = new_learner(resolve(LEARNERS[name].config(game=ROW, **own)))
    rates: set[float] = set()
    with create(tmp_path / "run", {}) as run:
        while through.cycle.results.games < 90:
            through.state.progress = progress(through)
            through.iterate()
            through.state.step += 1
            if through.state.step % 7 == 0:
                save(through, run)
                again = new_learner(through.config)
                saving.load(again, newest_whole(run.path))
                (now,) = {through.model.learning_rate, again.model.learning_rate}
                rates.add(now)
    assert len(rates) > 2
    assert min(rates) < 0.5 * through.config.learning_rate == 0.5 * max(rates)
