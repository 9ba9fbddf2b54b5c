"""The table learner: updates by hand, what is never stored, bounds, bit-exact resume, and that it learns."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from every_line import losses_against_everything
from killed import go_on
from plyground.agents.agent import ask, tell
from plyground.agents.registry import load_run, make
from plyground.arena.match import play_match
from plyground.errors import Error
from plyground.games.interface import FIRST_WINS, RUNNING
from plyground.learners import saving
from plyground.learners.config import Tabular
from plyground.learners.defaults import resolve
from plyground.learners.tabular import TabularLearner
from plyground.learners.training import progress, save, train
from plyground.models.table import rule_of
from plyground.runs.directory import Checkpoint, find_checkpoint, newest_whole, steps_of, trust_run
from plyground.runs.files import Busy
from resumed import begin, check_resume, silent
from runs_on_disk import read_records

ROW = str(ROOT / "examples" / "three_in_a_row.py")
THREE = Tabular(
    game=ROW, cycles=3, games_per_cycle=100, num_envs=8, opening_plies=2, eval_games=4, eval_opponents=("random",),
    epsilon=0.5, alpha=0.3, opponents=("1 self", "1 random"),
)  # fmt: skip
RICH = Tabular(
    game="sequence", key="cards", method="sarsa", cycles=3, games_per_cycle=12, num_envs=8, eval_games=2,
    eval_opponents=("random",), opponents=("1 self", "1 greedy"), prior=5.0, epsilon=0.2,
)  # fmt: skip
RETURNS = replace(THREE, method="monte_carlo", rate="alpha")


# ---- bounds ----


def _extreme(config: Tabular, moves: int) -> tuple[float, float, float]:
    """The largest value of a state and action, the largest of all, and the limit, after so many moves."""
    learner = TabularLearner(resolve(config))
    while learner.state.plies < moves:
        learner.state.progress = progress(learner)
        learner.iterate()
    values = np.abs(learner.table.state()["values"])
    return (
        float(values[learner.table.plain()].max()),
        float(values.max()),
        rule_of(asdict(config), learner.table.key).limit,
    )


WILD = replace(RICH, num_envs=64, alpha=1.0, alpha_final=1.0, gamma=1.0, gamma_final=1.0)
WILD = replace(WILD, reward_weight=0.0, epsilon=0.5)


@pytest.mark.parametrize("method", ["q", "sarsa"])
def test_values_stay_bounded(method: Any) -> None:
    """No averaging, no discount, guesses built on guesses: without a limit they would feed each other."""
    largest, of_all, limit = _extreme(replace(WILD, method=method, prior=100.0), 40_000)
    assert limit == 1.0
    assert largest <= 1.0
    assert of_all <= 2.0, "an advantage is a difference of two"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["q", "sarsa"])
@pytest.mark.parametrize("key", ["patterns", "cards"])
def test_values_stay_bounded_for_long(method: Any, key: str) -> None:
    config = replace(WILD, method=method, key=key, prior=0.0, gamma=0.99, gamma_final=0.99, reward_weight=1.0)
    largest, _, limit = _extreme(replace(config, opponents=("1 self",)), 2_000_000)
    assert largest <= 1 + (limit - 1) / 2, "the geometric sum of one best reward a turn, for ever; it needs no cutting"


# ---- learning ----


SOLVES = replace(
    THREE, opponents=("1 self",), games_per_cycle=60_000, cycles=1, num_envs=128, opening_plies=4, epsilon=0.5,
    epsilon_final=0.1, alpha=0.3, alpha_final=0.02,
)  # fmt: skip


@pytest.mark.parametrize(("method", "losing_lines"), [("q", 0), ("sarsa", 0), ("monte_carlo", 3)])
def test_it_solves_three_in_a_row(method: Any, losing_lines: int) -> None:
    """Nearly, with Monte Carlo returns: they value an action by what follows while the player still explores."""
    learner = TabularLearner(resolve(replace(SOLVES, method=method)))
    while learner.cycle.progress() < 1:
        learner.state.progress = progress(learner)
        learner.iterate()
    game, agent = learner.game, learner.model.agent()
    assert play_match(game, agent, make("minimax:depth=9", game), 200, seed=3, opening_plies=0).losses == 0
    assert losses_against_everything(game, agent) <= losing_lines
    assert play_match(game, agent, make("random", game), 200, seed=3).score > 0.85


def test_the_learner_is_not_given_the_generators_that_decide_its_games() -> None:
    learner = TabularLearner(resolve(RICH))
    games = learner.games
    before, own = games.batch.rngs.clone(), games.agent_rngs.clone()
    learner._act(np.arange(8), rule_of(asdict(RICH), learner.table.key, explore=True), np.zeros(3))
    assert torch.equal(before.view(torch.int64), games.batch.rngs.view(torch.int64))
    assert (own.view(torch.int64) != games.agent_rngs.view(torch.int64)).all()


# ---- runs ----


@pytest.mark.parametrize(
    ("config", "stop"), [(THREE, 33), (THREE, 110), (RICH, 100), (RETURNS, 60)], ids=["33", "110", "rich", "returns"]
)
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, config: Tabular, stop: int) -> None:
    check_resume(tmp_path, replace(config, cycles=50), stop)
    assert len(find_checkpoint(tmp_path / "parts", "last").tensors("table")["values"]) > 100


@pytest.fixture
def three(tmp_path: Path) -> Path:
    learner, run = begin(tmp_path / "three", THREE)
    with run:
        assert train(learner, run, silent)
    return run.path


def test_a_cycle_tells_what_pictures_need(three: Path) -> None:
    *_, cycle = (record for record in read_records(three) if record["event"] == "cycle")
    table = load_run(str(three), None, "last").table
    assert cycle["entries"] == sum(cycle["visits"]) == sum(cycle["values"]["counts"]) == len(table)
    assert np.sum(cycle["squares"]) > 0
    assert cycle["table_bytes"] == table.bytes


def test_the_best_table_is_kept_while_the_other_goes_on() -> None:
    learner = TabularLearner(resolve(THREE))
    for _ in range(50):
        learner.iterate()
    learner.model.keep_best()
    batch = pg.Batch(learner.game, 64, seed=3)
    for _ in range(3):
        batch.step(batch.random_actions())
    before = learner.model.best_agent().act(batch.states, np.zeros(64, np.uint64))
    assert (before == learner.model.agent().act(batch.states, np.zeros(64, np.uint64))).all()
    for _ in range(300):
        learner.iterate()
    assert (before == learner.model.best_agent().act(batch.states, np.zeros(64, np.uint64))).all()
    assert (before != learner.model.agent().act(batch.states, np.zeros(64, np.uint64))).any()


def test_a_run_begins_with_what_another_learned(three: Path) -> None:
    best = json.loads((three / "best.json").read_text())
    best["step"] = steps_of(three)[-1]
    (three / "best.json").write_text(json.dumps(best))
    learner = TabularLearner(resolve(replace(THREE, init=str(three))))
    assert len(learner.table) == len(load_run(str(three)).table)
    with pytest.raises(Error, match="is no run to begin with") as error:
        TabularLearner(resolve(replace(THREE, init="x" * 5000)))
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.5}, "alpha is at most 1"),
        ({"gamma_final": -1.0}, "gamma_final is a number of at least 0"),
        ({"opponents": ("1 snapshot",)}, "no snapshots"),
        ({"opponents": ("greedy",)}, "an opponent is a weight and an agent spec"),
        ({"num_envs": 0}, "num_envs is a number of at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        replace(THREE, **change)


def test_keys_that_do_not_exist_are_refused() -> None:
    with pytest.raises(Error, match="did you mean 'patterns-v1'"):
        resolve(replace(RICH, key="pattern"))
    with pytest.raises(Error, match="no table key 'exact'"):
        resolve(replace(RICH, key="exact"))


def test_another_key_is_refused(three: Path, tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", RICH)
    with run:
        save(learner, run)
    with pytest.raises(Error, match="key: "):
        saving.load(TabularLearner(resolve(replace(RICH, key="patterns"))), newest_whole(run.path))
    with pytest.raises(Error, match="has learned sequence, not"):
        make(f"run:{run.path}", pg.load(ROW))


def test_a_run_does_not_begin_with_a_table_of_another_key(tmp_path: Path, three: Path) -> None:
    learner, run = begin(tmp_path / "run", RICH)
    with run:
        save(learner, run)
    assert len(TabularLearner(resolve(replace(RICH, init=str(run.path)))).table) == len(learner.table)
    with pytest.raises(Error, match=r"does not fit: key: 'cards-v\d'"):
        TabularLearner(resolve(replace(RICH, key="patterns", init=str(run.path))))
    with pytest.raises(Error, match="does not fit: game"):
        TabularLearner(resolve(replace(RICH, init=str(three))))


# ---- learning while it plays ----


def updates_of(checkpoint: Checkpoint) -> int:
    return checkpoint.state()["parts"]["state"]["updates"]


def test_a_run_whose_game_file_has_another_name_now_goes_on_learning(three: Path) -> None:
    config, game, before = three / "config.toml", pg.load(ROW), find_checkpoint(three, "last")
    config.write_text(config.read_text().replace("three_in_a_row.py", "gone.py"))
    trust_run(three)  # its settings are others now
    agent: Any = make(f"run:{three},learn=true", game)
    play_match(game, agent, make("random", game), 2, seed=8)
    after = find_checkpoint(three, "last")
    assert (after.step, after.fingerprints) == (before.step + 1, before.fingerprints)
    agent.run.close()


def test_an_agent_that_goes_on_learning_saves_what_it_learned(three: Path) -> None:
    game, before, best = pg.load(ROW), find_checkpoint(three, "last"), (three / "best.json").read_text()
    old = before.tensors("table")
    agent: Any = make(f"run:{three},learn=true", game)
    with pytest.raises(Busy):
        make(f"run:{three},learn=true", game)
    match = play_match(game, agent, make("random", game), 20, seed=8)
    after = find_checkpoint(three, "last")
    new, corrections = after.tensors("table"), updates_of(after) - updates_of(before)
    assert after.step == before.step + 1
    assert new["visits"].sum() - old["visits"].sum() == corrections
    assert corrections > match.games
    assert (new["keys"][: len(old["keys"])] == old["keys"]).all()
    assert (new["visits"][: len(old["visits"])] >= old["visits"]).all()
    assert (three / "best.json").read_text() == best, "what is best is decided by matches"
    assert "learned from 20 games" in read_records(three)[-1]["text"]
    play_match(game, agent, make("random", game), 4, seed=9)
    assert find_checkpoint(three, "last").step == before.step + 2
    agent.run.close()
    learner, run = go_on(three)
    with run:
        assert learner.state.step == before.step + 2
        assert len(learner.table) == len(agent.table)


@pytest.mark.parametrize("plies", [4, 8])
def test_a_match_that_is_stopped_keeps_what_was_learned(three: Path, plies: int) -> None:
    """After four plies no game has ended, after eight some have."""
    game, before, ended = pg.load(ROW), find_checkpoint(three, "last"), list[int]()
    agent: Any = make(f"run:{three},learn=true", game)

    def ctrl_c(games: int) -> None:
        ended.append(games)
        if len(ended) == plies:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(game, agent, make("random", game), 20, seed=8, opening_plies=0, progress=ctrl_c)
    agent.run.close()
    assert (ended[-1] > 0) == (plies == 8)
    after = find_checkpoint(three, "last")
    assert after.step == before.step + 1
    assert f"learned from {ended[-1]} games" in read_records(three)[-1]["text"]
    corrections = updates_of(after) - updates_of(before)
    assert corrections >= 20
    assert after.tensors("table")["visits"].sum() - before.tensors("table")["visits"].sum() == corrections
    again: Any = make(f"run:{three},learn=true", game)
    assert len(again.table) == len(agent.table)
    again.run.close()


def test_it_learns_as_the_learner_would(three: Path) -> None:
    """One game against a person, with a move taken back: the values are those of the plain rule."""
    game = pg.load(ROW)
    agent: Any = make(f"run:{three},learn=true", game)
    gamma, alpha = agent.rule.gamma, agent.rule.learning_rate
    position, number, rngs = game.start(), np.array([3]), np.zeros(1, np.uint64)

    def answer() -> int:
        return int(ask(agent, game, position.states.copy(), rngs, number)[0])

    def entry(state: pg.Position, action: int) -> tuple[float, int]:
        key, found = np.zeros((1, agent.table.key.words), np.uint64), np.zeros(1, np.int64)
        key[0, :-1] = np.frombuffer(
            agent.table.records(state.states).tobytes().ljust(8 * (key.size - 1), b"\0"), np.uint64
        )
        key[0, -1] = action + 1
        agent.table.kernels.find_all(agent.table.entries, key, found)
        if found[0] < 0:
            return 0.0, 0
        return float(agent.table.entries.values[found[0]]), int(agent.table.entries.visits[found[0]])

    start, first = position, answer()
    value, visits = entry(start, first)
    position = position.play(first)
    position = position.play(position.legal()[0])
    middle, second = position, answer()
    behind = max((entry(middle, move)[0] for move in middle.legal()), default=0.0)
    expected = value + max(alpha, 1 / (visits + 1)) * (gamma * behind - value)
    assert entry(start, first) == (pytest.approx(expected, abs=1e-6), visits + 1)
    held = entry(middle, second)
    tell(agent, number, np.array([RUNNING], np.int8))  # taken back
    assert entry(middle, second) == held
    third = answer()  # the same action, or another that is as good
    held = entry(middle, third)
    tell(agent, number, np.array([FIRST_WINS + start.to_move], np.int8))
    expected = held[0] + max(alpha, 1 / (held[1] + 1)) * (1.0 - held[0])
    assert entry(middle, third) == (pytest.approx(expected, abs=1e-6), held[1] + 1)
    assert steps_of(three)[-1] == agent.checkpoint.step
    agent.run.close()


def test_only_tables_go_on_learning(three: Path) -> None:
    with pytest.raises(Error, match="last checkpoint, not with 'best'"):
        make(f"run:{three},checkpoint=best,learn=true", pg.load(ROW))
    with pytest.raises(Error, match="learn of the agent run is true or false"):
        make(f"run:{three},learn=yes", pg.load(ROW))
    config = three / "config.toml"
    config.write_text(
        config.read_text().replace("key = ", 'encoder = "planes-v1"\nnetwork = "8"\noutputs = 9\nno_key = ')
    )
    with pytest.raises(Error, match="only tables do"):
        make(f"run:{three},learn=true", pg.load(ROW))


@pytest.mark.parametrize(
    "change",
    [
        lambda best: {"values": best["values"]},
        lambda best: {**best, "visits": best["visits"][:-1]},
        lambda best: {**best, "values": best["values"].astype(np.float64)},
    ],
    ids=["missing", "shorter", "type"],
)
def test_a_best_table_that_compiled_code_cannot_read_is_refused(change) -> None:
    learner = TabularLearner(resolve(Tabular(game=ROW, num_envs=4)))
    for _ in range(9):
        learner.iterate()
    learner.model.keep_best()
    best = learner.model.best
    best.load_state(best.state())
    with pytest.raises(pg.InvalidValue, match="the best table has arrays"):
        best.load_state(change(best.state()))
