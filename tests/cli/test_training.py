"""The command `train`, as a person uses it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.cli.running import settings_of
from plyground.cli.training import with_end
from plyground.learners import LEARNERS
from plyground.learners.config import DQN
from plyground.runs.directory import read_config, steps_of
from plyground.runs.settings import build, profile, profiles
from runs_on_disk import read_records
from short_run import ROW, SHORT, train_command


def test_a_run_leaves_what_it_promises(trained: Path) -> None:
    for name in ("config.toml", "metrics.jsonl", "best.json", "report.md", "curves.png"):
        assert (trained / name).stat().st_size > 0, name
    assert len(list((trained / "games").glob("*.txt"))) == 2
    config = read_config(trained)
    assert config["encoder"] == "planes-v1"
    assert config["versions"].keys() == {"plyground", "python", "torch", "numba", "numpy"}
    printed = (trained / "printed").read_text()
    for words in ("cycle 2/2", "next-state masking is active", "illegal_moves 0", "95% interval", "What to try next"):
        assert words in printed, words
    assert "a step is a ply in each of 8 environments" in printed
    assert f"play {ROW} run:{trained}" in printed
    assert "cycle 3" not in printed


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_all_files_of_a_run_are_its_owners_alone(trained: Path) -> None:
    found = {each for each in trained.rglob("*") if each.is_file() and each.name != "printed"}
    assert trained / "curves.png" in found
    assert [each for each in found if each.stat().st_mode & 0o777 != 0o600] == []


def test_a_run_plays_as_an_agent(trained: Path, command) -> None:
    code, out, _ = command("match", ROW, f"run:{trained}", "random", "--games", "10", "--json")
    assert code == 0
    assert json.loads(out)["games"] == 10
    code, out, _ = command("match", str(trained), "random", "--games", "10", "--json")
    assert (code, json.loads(out)["game"]) == (0, ROW), "a run knows its game"
    code, _, err = command("match", "connect_four", f"run:{trained}", "random", "--games", "10")
    assert code == 2
    assert "has learned" in err


def test_evaluate_and_plot(trained: Path, tmp_path: Path, command) -> None:
    arguments = ["evaluate", str(trained), "random", "greedy", "--games", "20"]
    code, out, _ = command(*arguments, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["against"].keys() == {"random", "greedy"}
    assert found["checkpoint"] in steps_of(trained)
    code, out, _ = command(*arguments, "--checkpoint", "last")
    assert code == 0
    assert "95% interval" in out
    code, _, _ = command("plot", str(trained), str(trained), "--out", str(tmp_path / "x.png"))
    assert code == 0
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    path = tmp_path / "run"
    process = subprocess.Popen(train_command(path, 100_000), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (path.exists() and read_records(path)):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    (step,) = map(int, re.findall(r"Stopped and saved at step (\d+)", out))
    assert f"plyground resume {path}" in out
    assert steps_of(path)[-1] == step


def test_ctrl_c_while_the_run_is_measured_says_that_it_is_saved(tmp_path: Path, command, monkeypatch) -> None:
    def measure(path: Path) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("plyground.cli.running.write_report", measure)
    path = tmp_path / "run"
    code, _, err = command(*train_command(path, 1)[3:])
    assert code == 130
    assert "stopped; the run is finished and saved" in err
    assert f"plyground report {path}\n" in err
    assert f"plyground play {ROW} run:{path}\n" in err


def test_a_limit_of_zero_is_said_to_be_none(command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plyground.cli.running.train_new", lambda *_, **__: True)
    code, out, err = command("train", "ppo", "connect_four", "--seconds", "0")
    assert code == 0, err
    assert "--seconds 0: no such limit; this run ends after 10 cycles, or by Ctrl-C" in out
    assert "no such limit" not in command("train", "ppo", "connect_four", "--seconds", "5")[1]


def test_learner_game_and_options_stand_in_any_order(command, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, ...]] = []
    monkeypatch.setattr("plyground.cli.running.train_new", lambda name, config, *_, **__: seen.append((name, config)))
    for line in ("ppo chess --seed 3", "--seed 3 chess ppo", "--seed=3 ppo --game chess", "chess --seed 3 ppo"):
        assert command("train", *line.split())[0] == 0, line
    assert [(name, config.game, config.seed) for name, config in seen] == 4 * [("ppo", "chess", 3)]


@pytest.mark.parametrize("word", ["reinforce", "a2c", "ppo"])
def test_policy_gradients_have_the_same_commands(word: str, tmp_path: Path, command) -> None:
    path = str(tmp_path / "run")
    few = ["--network", "16+value", "--games-per-cycle", "40", "--num-envs", "8", "--rollout-length", "9"]
    few += ["--batch-size", "16", "--eval-games", "4", "--eval-opponents", "random", "--threads", "1", "--cycles", "2"]
    code, out, err = command("train", word, ROW, *few, "--verbose", "--out", path)
    assert code == 0, err
    for words in (
        "cycle 2/2",
        "policy_loss",
        "kl",
        "entropy",
        "win_in_1",
        "block_in_1",
        "of block-in-1",
        "95% interval",
    ):
        assert words in out, words
    code, out, _ = command("match", ROW, f"run:{path}", "random", "--games", "10", "--json")
    assert (code, json.loads(out)["games"]) == (0, 10)
    code, out, _ = command("evaluate", path, "random", "--games", "10", "--json")
    assert (code, json.loads(out)["against"]["random"]["games"]) == (0, 10)
    code, out, _ = command("runs", "inspect", path)
    assert "plies stored" in out
    code, out, err = command("resume", path)
    assert (code, "95% interval" in out) == (0, True), err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "td", "--profile", "connect_for_demo"], "did you mean 'connect_four_demo'"),
        (["train", "td", "--profile", "connect_four_demo", "--game", "chess"], "is for connect_four, not for chess"),
        (["train", "dqn", "--game", "nothing"], "no game"),
        (["train", "dqn", "--encoder", "nothing"], "no encoder"),
        (["train", "dqn", "--network", "nothing"], "no network"),
        (["train", "dqn", "--batch-size", "0"], "batch_size is a number of at least 1"),
        (
            ["train", "dqn", "--bach-size", "3"],
            "no option of train '--bach-size'; did you mean '--batch-size'? see plyground train --help",
        ),
        (
            ["train", "ppo", "--double-dqn"],
            "--double-dqn is an option of dqn, not of ppo: see plyground",
        ),
        (["train", "--profile", "three_q", "--gae-lambda", "1"], "--gae-lambda is an option of ppo, not of tabular"),
        (["train", "ppo", "--network", "512-256"], "+value"),
        (["train", "ppo", "checkers"], "no game 'checkers'"),
        (["train", "dqn", "--device", "abacus"], "no device 'abacus'"),
        (["train", "dqn", "--init", "nowhere"], "is no run"),
        (["train", "dqn", "--seed", "-1"], "seed is a number of at least 0"),
        (["train", "dqn", "--eval-opponents", "nobody"], "no agent"),
        (["train"], "train needs a learner (dqn, "),
        (["train", "--out", "tabular"], "train needs a learner (dqn, "),
        (["train", "chess"], "or a profile: plyground train dqn chess, or plyground train --profile connect_four_demo"),
        (["train", "ppo", "dqn"], "train takes LEARNER [GAME]; two learners are named: ppo dqn"),
        (["train", "ppo", "chess", "--seconds", "soon"], "--seconds takes a number, not 'soon'"),
        (["train", "dqn", "chess", "sequence"], "train takes LEARNER [GAME]; two games are named: chess sequence"),
        (["train", "dqn", "conect_four"], "no game 'conect_four'; did you mean 'connect_four'"),
        (["train", "dqn", "chess", "--game", "sequence"], "two games are named: chess and --game sequence"),
        (["train", "ppo", "--profile", "connect_four_demo"], "is for td: plyground train --profile connect_four_demo"),
        (["train", "chess", "--profile", "connect_four_demo"], "is for connect_four, not for chess"),
        (["train", "dqn", "--opponents", "1 nobody"], "no agent"),
        (["train", "tabluar"], "no learner 'tabluar'; did you mean 'tabular'? known: dqn, "),
        (["resume", "nowhere"], "no run 'nowhere'; see "),
        (["train", "dqn", "--on", "ray"], "--on is an option of ppo, alphazero, not of dqn"),
        (["train", "ppo", "--actors", "2"], "options of a cluster, such as --actors, need a cluster: --on ray"),
        (["train", "ppo", "--on", "ray", "--deterministic"], "a deterministic run states its actors or streams"),
        (["train", "ppo", "--on", "ray", "--seeds", "2", "--parallel", "2"], "leave out --parallel"),
        (["evaluate", "nowhere"], "no run 'nowhere'; see "),
        (["plot", "nowhere"], "no run 'nowhere'; see "),
        (["runs", "dance"], "no action of runs"),
        (["runs", "pack", "x"], "takes 2 names"),
        (["match", "run:nowhere", "random"], "no run 'nowhere'; see "),
        (["train", "tabular", "sequence", "--key", "nothing"], "no table key"),
        (["train", "tabular", ROW, "--alpha", "2"], "alpha is at most 1"),
        (["train", "tabular", "--profile", "sequence_dqn"], "is for dqn: plyground train --profile sequence_dqn"),
        (["train", "tabular", ROW, "--opponents", "1 snapshot"], "no snapshots"),
        (["table", "nowhere"], "no run 'nowhere'"),
    ],
)
def test_bad_input_is_one_clear_error(command, tmp_path: Path, monkeypatch, arguments: list[str], message: str) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = command(*arguments)
    assert code == 2
    assert message in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["cluster = 3", "versions = 3", "learner = 3", "cluster = []", "[cluster]\non = 3"])
def test_a_table_that_is_none_is_one_clear_error(command, tmp_path: Path, line: str) -> None:
    (tmp_path / "run").mkdir()
    text = "" if "learner" in line else 'learner = "ppo"\n'
    for file in (tmp_path / "own.toml", tmp_path / "run" / "config.toml"):
        file.write_text(f'game = "connect_four"\n{text}{line}\n')
    for *words, name in (["resume", "run"], ["train", "--profile", "run"], ["train", "--profile", "own.toml"]):
        code, _, err = command(*words, str(tmp_path / name))
        assert (code, len(err.splitlines())) == (2, 1), err
        assert "is a table of names and values, not" in err or "is of type str, not 3" in err


HOPS = (ROOT / "tests" / "tiny_games" / "hops.py").read_text()


def test_a_game_without_evaluate_is_trained_measured_and_played(
    steady_path: Path,
    command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the defaults; from any folder, by any spelling of its path, and where the file has moved."""
    home, elsewhere = steady_path / "home", steady_path / "elsewhere"
    for folder in (home, elsewhere):
        folder.mkdir()
    (home / "plain.py").write_text(HOPS.replace("def evaluate", "def worth"))
    monkeypatch.chdir(home)
    few = ["./plain.py", *(word for word in SHORT if word not in ("--eval-opponents", "random"))]
    code, _, err = command("train", "dqn", *few, "--opponents", "1 greedy", "--cycles", "1", "--out", "run")
    assert (code, "the agent greedy cannot play ./plain.py: it needs" in err) == (2, True), (
        "what a person names is not left out"
    )
    code, out, err = command("train", "dqn", *few, "--cycles", "1", "--out", "run")
    assert code == 0, err
    assert "# run: dqn on plain.py" in out
    config = read_config(Path("run"))
    assert (config["game"], config["eval_opponents"]) == (str(home / "plain.py"), ["random"])
    assert command("resume", "run", "--cycles", "2")[0] == 0
    code, out, err = command("evaluate", "run", "--games", "2")
    assert (code, "against random" in out) == (0, True), err
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    code, out, err = command("play", "plain.py")
    assert (code, "random is" in out) == (0, True), err

    monkeypatch.chdir(elsewhere)
    for spelling in (str(home / "plain.py"), "../home/./plain.py"):
        code, _, err = command("match", spelling, "run:../home/run", "random", "--games", "2")
        assert code == 0, err
    shutil.copy(home / "plain.py", elsewhere / "plain.py")
    assert command("match", "plain.py", "run:../home/run", "random", "--games", "2")[0] == 0, "a copy"
    (elsewhere / "other.py").write_text((home / "plain.py").read_text() + "# the same rules\n")
    assert pg.agent("run:../home/run", "other.py"), "another name"
    (elsewhere / "plain.py").write_text((home / "plain.py").read_text().replace("% 3 == 0", "% 4 == 0"))
    code, _, err = command("match", "plain.py", "run:../home/run", "random", "--games", "2")
    assert (code, f"has learned {home / 'plain.py'}, not {elsewhere / 'plain.py'}" in err) == (2, True), err
    (home / "plain.py").rename(elsewhere / "plain.py")
    assert command("evaluate", "../home/run", "--games", "2")[0] == 0, "the file lies here"
    assert command("resume", "../home/run", "--cycles", "3")[0] == 0
    (elsewhere / "plain.py").rename(home / "run" / "plain.py")
    assert command("evaluate", "../home/run", "--games", "2")[0] == 0, "the file lies in the run"
    (home / "run" / "plain.py").unlink()
    code, _, err = command("evaluate", "../home/run", "--games", "2")
    assert (code, "put plain.py here or into ../home/run" in err) == (2, True)
    (elsewhere / "other.py").write_text((elsewhere / "other.py").read_text().replace("% 3 == 0", "% 4 == 0"))
    with pytest.raises(pg.InvalidValue, match=r"home/plain\.py, which is missing, not .*elsewhere/other\.py"):
        pg.agent("run:../home/run", "other.py")


def test_a_game_without_encoders_cannot_be_learned_by_networks(tmp_path: Path, command) -> None:
    path = tmp_path / "blind.py"
    path.write_text(HOPS.replace("ENCODERS = ", "NOTHING = "))
    code, _, err = command("train", "dqn", str(path))
    assert code == 2
    assert f"{path} has no encoder" in err
    assert "docs/adding_a_game.md" in err
    assert (ROOT / "docs" / "adding_a_game.md").is_file()


def test_bad_data_leaves_no_run_behind(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.ndjson").write_text('{"fen": 1}\n')
    code, _, err = command("train", "imitation", "--data", "x.ndjson", "--threads", "1", "--out", "run")
    assert code == 2
    assert "x.ndjson, line 1: the field 'side' is missing" in err
    assert not Path("run").exists()
    assert Path("x.ndjson.rejected").exists()


# ---- profiles and ends ----


def test_profiles_name_their_game_and_fit() -> None:
    names = {"connect_four_demo", "connect_four_dqn", "connect_four_conv", "chess_dqn_debug_masking", "chess_dqn"}
    names |= {"connect_four_reinforce", "connect_four_a2c", "connect_four_ppo", "paco_sako_ppo", "sequence_ppo"}
    assert names | {"paco_sako_dqn", "sequence_dqn"} <= set(profiles())
    for name in profiles():
        table = profile(name)
        game = table.get("collect", table)["game"]  # one with stages names it in the first; test_pipeline builds all
        assert name.startswith(Path(game).stem.removesuffix("_in_a_row"))
        if "learner" in table:
            assert table.pop("verbose", True)
            build(LEARNERS[table.pop("learner")].config, table, name)
    table = profile("chess_dqn_debug_masking")
    assert (table.pop("learner"), table.pop("verbose")) == ("dqn", True)
    debug = build(DQN, table, "")
    assert (debug.games_per_cycle, debug.num_envs, debug.max_plies, debug.target_update_interval) == (20, 8, 100, 20)
    assert (debug.network, debug.loss, debug.huber_delta, debug.cycles) == ("512-256-128", "huber", 1.0, 3)


def test_the_debug_profile_shows_masks_and_target_copies_by_itself(tmp_path: Path, command) -> None:
    few = "--cycles 1 --games-per-cycle 4 --max-plies 30 --learning-starts 64 --target-update-interval 2 --eval-games 2"
    code, out, err = command(
        "train", "--profile", "chess_dqn_debug_masking", *few.split(), "--out", str(tmp_path / "x")
    )
    assert code == 0, err
    for words in ("next-state masking is active", "legal next actions of the first sample", "of 4096", "synchronised"):
        assert words in out, words


def settings(run: Path) -> dict[str, Any]:
    return {name: value for name, value in read_config(run).items() if name not in ("versions", "threads")}


def test_a_profile_needs_no_learner_and_a_run_is_a_profile(trained: Path, tmp_path: Path, command) -> None:
    for number, word in enumerate((str(trained), str(trained / "config.toml"))):
        again = tmp_path / str(number)
        code, out, err = command("train", "--profile", word, "--out", str(again))
        assert code == 0, err
        assert "was made with" not in out
        assert settings(again) == settings(trained)
        losses = [[each["loss"] for each in read_records(run) if each["event"] == "cycle"] for run in (again, trained)]
        assert losses[0] == losses[1], "the same run, to the last bit"
    code, _, err = command(
        "train", "dqn", ROW, "--profile", str(trained), "--cycles", "1", "--out", str(tmp_path / "x")
    )
    assert (code, read_config(tmp_path / "x")["cycles"]) == (0, 1), err


def test_other_versions_are_said_in_one_line(trained: Path, tmp_path: Path, command) -> None:
    text = (trained / "config.toml").read_text()
    (tmp_path / "old.toml").write_text(re.sub(r'numpy = "[^"]*"', 'numpy = "1.0"', text))
    code, out, err = command(
        "train", "--profile", str(tmp_path / "old.toml"), "--cycles", "1", "--out", str(tmp_path / "x")
    )
    assert code == 0, err
    said = [line for line in out.splitlines() if "was made with" in line]
    assert len(said) == 1
    assert f"was made with numpy 1.0 (now {np.__version__}): numbers may differ." in said[0]


def test_an_end_that_is_named_alone_is_the_only_one(trained: Path) -> None:
    config = replace(build(DQN, settings_of(trained, {}), "the run"), cycles=2, seconds=60.0)
    for given, ends in (
        ({"seconds": 60.0}, (0, 60.0)),
        ({"cycles": 2}, (2, 0.0)),
        ({"cycles": 2, "seconds": 60.0}, (2, 60.0)),
        ({"seconds": 0.0}, (2, 60.0)),
        ({}, (2, 60.0)),
    ):
        found = with_end(config, ("cycles", "seconds"), given)
        assert (found.cycles, found.seconds) == ends, given


def test_seconds_alone_end_a_run_of_a_profile_with_cycles(trained: Path, tmp_path: Path, command) -> None:
    path = tmp_path / "run"
    code, out, err = command("train", "--profile", str(trained), "--seconds", "1.5", "--out", str(path))
    assert code == 0, err
    assert (read_config(path)["cycles"], read_config(path)["seconds"]) == (0, 1.5)
    assert f"plyground resume {path} --seconds 3\n" in out
    cycles = [record["cycle"] for record in read_records(path) if record["event"] == "cycle"]
    assert cycles[-1] > 2, "the profile would have stopped after 2"
