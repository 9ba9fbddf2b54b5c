"""Runs that are begun from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import plyground as pg
from plyground.learners.config import Tabular
from plyground.learners.evaluation import Event
from plyground.learners.launch import new_run, next_free
from plyground.runs.directory import read_config
from small_runs import ROW

SMALL = {"network": "8+value", "num_envs": 4, "rollout_length": 4, "batch_size": 8, "cycles": 1}
SHORT = {**SMALL, "games_per_cycle": 4, "eval_games": 2, "eval_opponents": ("random",), "threads": 1}


def test_training_returns_the_agent_of_the_run(tmp_path: Path) -> None:
    events: list[Event] = []
    agent = pg.train("ppo", pg.load(ROW), tmp_path / "run", events.append, **SHORT)
    assert read_config(tmp_path / "run")["learner"] == "ppo"
    assert {event["event"] for event in events} >= {"cycle", "evaluation"}
    assert pg.match(ROW, agent, "random", games=4).games == 4
    assert repr(agent).startswith(f"<agent for {pg.load(ROW)}: run {tmp_path / 'run'}, ")
    assert repr(agent).endswith("% against random>")


def test_the_game_comes_second_in_any_spelling(tmp_path: Path) -> None:
    pg.train("ppo", "Connect4", out=tmp_path / "run", progress=lambda event: None, **SHORT)
    assert read_config(tmp_path / "run")["game"] == "connect_four"


def test_an_unknown_setting_or_learner_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(pg.Error, match="num_env"):
        pg.train("ppo", ROW, out=tmp_path / "a" / "run", num_env=3)
    with pytest.raises(pg.UnknownName, match=r"^no setting of ppo 'secs'; did you mean 'seconds'\? see plyground"):
        pg.train("ppo", ROW, out=tmp_path / "a" / "run", secs=1)
    with pytest.raises(pg.UnknownName, match=r"^no setting of ppo 'xyzzy'; see plyground train ppo --help$"):
        pg.train("ppo", ROW, out=tmp_path / "a" / "run", xyzzy=1)
    with pytest.raises(pg.UnknownName, match="learner 'pppo'"):
        pg.train("pppo", ROW, out=tmp_path / "a" / "run")
    with pytest.raises(pg.UnknownName, match="no game"):
        pg.train("ppo", str(tmp_path / "a" / "run"))
    with pytest.raises(pg.InvalidValue, match=r"^a game is its name, .*, not None$"):
        pg.train("ppo", None, out=tmp_path / "a" / "run")  # pyright: ignore
    with pytest.raises(pg.UnknownName, match=r"^no learner 'None'; known: dqn, "):
        pg.train(None, ROW, out=tmp_path / "a" / "run")  # pyright: ignore
    assert not (tmp_path / "a").exists()


def test_a_run_without_a_name_gets_the_next_free_one(tmp_path: Path) -> None:
    (tmp_path / "ppo-1").mkdir()
    assert next_free(tmp_path, "ppo") == tmp_path / "ppo-2"


def test_a_run_that_is_there_already_is_kept(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(
        pg.InvalidValue, match=rf"^{tmp_path} exists already: name another, out=\.\.\., or none"
    ) as caught:
        pg.train("ppo", ROW, out=tmp_path, **SHORT)
    assert f"pg.agent('run:{tmp_path}', game)" in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == ["notes.txt"]


def test_a_run_that_fails_takes_only_its_own_folder_with_it(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "mine" / "a"

    def stopped() -> None:
        with new_run(path, "tabular", Tabular(game=ROW)):
            (tmp_path / "runs" / "other").mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [each.name for each in (tmp_path / "runs").iterdir()] == ["other"]


def test_each_cycle_is_told_unless_events_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pg.train("ppo", ROW, tmp_path / "told", **{**SHORT, "cycles": 2})
    told = capsys.readouterr().err
    assert f"the run is in {tmp_path / 'told'}; for a report: " in told
    lines = [line for line in told.splitlines() if ": cycle" in line]
    assert [line.partition(": ")[2].partition(": ")[0] for line in lines] == ["cycle 1/2", "cycle 2/2"]
    assert "against random" in lines[0]
    pg.train("ppo", ROW, tmp_path / "quiet", lambda event: None, **SHORT)
    assert "cycle" not in capsys.readouterr().err
