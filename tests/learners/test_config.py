"""Configs: bounds, defaults that depend on game and machine, and what is refused before a run begins."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.backend.device import problem
from plyground.errors import Error
from plyground.learners import LEARNERS, find_learner
from plyground.learners.config import DQN, PPO, Bounds, Imitation, RunConfig, Tabular, check_bounds
from plyground.learners.defaults import DEFAULT_CYCLES, resolve

ROW = str(ROOT / "examples" / "three_in_a_row.py")


def test_configs_import_neither_torch_nor_numba() -> None:
    """The command line reads its line by them."""
    code = """
import sys
from plyground.learners import LEARNERS
from plyground.cluster.config import ClusterConfig
from plyground.teaching.config import Collect
print([entry.config.__name__ for entry in LEARNERS.values()])
print(sorted({"numba", "torch", "numpy", "asyncio"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert "'PPO'" in names


def test_defaults_are_filled_in(connect_four: pg.Game) -> None:
    found = resolve(DQN(game="connect_four", threads=1))
    assert found.cycles == DEFAULT_CYCLES
    assert found.eval_opponents[0] == "random"
    assert "greedy" in found.eval_opponents
    assert found.outputs == connect_four.num_actions
    assert found.encoder == str(connect_four.encoder(""))
    assert resolve(found) == found, "what config.toml states is resolved already"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("dqn", {"huber_delta": 0.0}), ("dqn", {"replay_ratio": 1e308}), ("dqn", {"priority_alpha": 1e308}),
        ("dqn", {"learning_rate": 1e308}), ("dqn", {"opening_plies": 2**31}), ("tabular", {"opening_plies": 2**62}),
        ("ppo", {"clip_range": 1e308}), ("ppo", {"value_coef": float("inf")}), ("tabular", {"prior": float("nan")}),
    ],
)  # fmt: skip
def test_a_number_that_no_run_can_use_is_refused_by_name(name: str, settings: dict[str, Any]) -> None:
    with pytest.raises(Error, match=f"{next(iter(settings))} is "):
        LEARNERS[name].config(game=ROW, **settings)


def test_a_table_has_a_key_and_neither_network_nor_threads() -> None:
    found = resolve(Tabular(game="sequence"))
    assert found.key == "patterns-v1"
    assert not hasattr(found, "threads")


def test_a_timed_run_has_no_limit_of_cycles() -> None:
    assert resolve(DQN(game=ROW, seconds=5.0)).cycles == 0
    assert resolve(DQN(game=ROW, seconds=5.0, cycles=3)).cycles == 3


# a table has none, and n-tuples learn the same bits with any number
@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in ("tabular", "td", "sparse")])
@pytest.mark.parametrize("given", [{}, {"threads": 0}, {"threads": 2}])
def test_no_clock_chooses_the_number_of_threads(
    name: str, given: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> float:
        raise AssertionError("the number of threads depends on the load of the machine")

    monkeypatch.setattr(time, "perf_counter", read)
    data = {"data": ("x",)} if name == "imitation" else {}
    config = LEARNERS[name].config(game="connect_four", **data, **given)
    assert resolve(config).threads == (given.get("threads") or 1)


@pytest.mark.parametrize(
    ("name", "plies"), [("connect_four", range(18, 25)), (ROW, range(6, 9)), ("chess", [60]), ("sequence", [60])]
)
def test_games_begin_in_the_middle_of_random_games_by_default(name: str, plies: Any) -> None:
    config = resolve(DQN(game=name, threads=1))
    assert config.opening_plies in plies
    assert config == resolve(DQN(game=name, threads=1)), "the same each time"
    assert resolve(DQN(game=name, threads=1, opening_plies=0)).opening_plies == 0, "what is named is kept"


def test_a_cycle_of_a_timed_run_is_a_twentieth_of_its_time() -> None:
    timed = resolve(DQN(game=ROW, seconds=60.0))
    assert (timed.games_per_cycle, timed.seconds_per_cycle) == (0, 3.0)
    assert resolve(timed) == timed
    by_games = resolve(DQN(game=ROW, threads=1))
    assert (by_games.games_per_cycle, by_games.seconds_per_cycle) == (2000, 0.0)
    named = resolve(DQN(game=ROW, seconds=60.0, games_per_cycle=7))
    assert (named.games_per_cycle, named.seconds_per_cycle) == (7, 0.0)


def test_a_book_is_played_to_its_end_by_default(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("1 2\n")
    assert resolve(Tabular(game=ROW, openings=str(tmp_path / "book.txt"))).opening_plies == 0


def test_policy_gradients_have_a_scripted_opponent_by_default_where_the_game_has_one() -> None:
    assert resolve(PPO(game=ROW, threads=1)).opponents == ("0.7 self", "0.3 greedy")
    assert resolve(PPO(game=TINY[0], threads=1)).opponents == ("1 self",)
    assert resolve(PPO(game=ROW, threads=1, opponents=("1 random",))).opponents == ("1 random",)
    assert resolve(DQN(game=ROW, threads=1)).opponents == ("1 self",)


def test_an_epoch_is_the_cycle_of_imitation() -> None:
    assert Imitation(data=("x",), epochs=7).cycles == 7


def test_the_choice_of_a_device_is_said() -> None:
    said: list[str] = []
    found = resolve(DQN(game=ROW, device="auto", threads=1), said.append)
    assert len(said) == 1
    assert said[0].startswith(f"device: {found.device} (")
    assert found.device == ("cpu" if problem() else "cuda")
    resolve(DQN(game=ROW, device="cpu", threads=1), said.append)
    assert len(said) == 1, "nothing was to be chosen"
    with pytest.raises(Error, match="no device 'gpu'; known: cpu, cuda, auto"):
        resolve(DQN(game=ROW, device="gpu"))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (DQN(game="conect_four"), "connect_four"),
        (DQN(game=ROW, eval_opponents=("rondom",)), "random"),
        (DQN(game=ROW, opponents=("1 self", "1 gredy")), "greedy"),
        (DQN(game=ROW, encoder="plans"), "plans"),
        (DQN(game=ROW, network="16-x"), "16-x"),
        (DQN(game=ROW, outputs=10), "has 1 to 9 outputs, not 10"),
        (Tabular(game="sequence", key="card"), "cards"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_that_do_not_exist_are_refused_before_the_run(config: Any, message: str) -> None:
    with pytest.raises(Error, match=message):
        resolve(config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eval_games": 1}, "eval_games is a number of at least 2, not 1"),
        ({"eval_games": 7}, "eval_games is even, not 7: matches are played in pairs"),
        ({"keep_last": 0}, "keep_last is a number of at least 1"),
        ({"checkpoint_interval": 0}, "checkpoint_interval is a number of at least 1"),
        ({"seconds": float("inf")}, "seconds is a number of at least 0, not inf"),
        ({"seconds": -1.0}, "seconds is a number of at least 0"),
        ({"seed": -1}, "seed is a number of at least 0"),
        ({"seed": 2**63}, r"seed is below 2\*\*63"),
        ({"gamma": 1.01}, "gamma is at most 1, not 1.01"),
        ({"num_envs": 0}, "num_envs is a number of at least 1"),
        ({"threads": 2**31}, "threads is at most 1024, not 2147483648"),
        ({"cycles": 10**4000}, "cycles is at most 1e.30, not 10{78}…$"),
        ({"cycles": -(10**5000)}, "cycles is a number of at least 0, not an int of many digits$"),
    ],
)
def test_numbers_out_of_bounds_are_refused_by_name(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        replace(DQN(), **change)


def test_bounds_come_from_the_annotation() -> None:
    check_bounds(RunConfig(seconds=3.5))
    assert Bounds(1) == (1, float("inf"))


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_found_by_name_with_a_config_whose_settings_have_help(name: str) -> None:
    entry = find_learner(name)
    assert entry.meaning
    assert hasattr(entry.learner, "iterate")
    names = {field.name for field in fields(entry.config)}
    assert {"game", "seed", "init"} <= names


def test_an_unknown_learner_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Error, match="did you mean 'dqn'"):
        find_learner("dqm")
