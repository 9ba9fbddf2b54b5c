"""Profiles with stages: one command collects, imitates, fine-tunes and verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from plyground.cli import training
from plyground.errors import Error
from plyground.learners import LEARNERS
from plyground.runs.directory import read_config, steps_of
from plyground.runs.settings import build, profile, profiles, read_toml

ROW = str(ROOT / "examples" / "three_in_a_row.py")
STAGES = f"""
[collect]
game = "{ROW}"
games = 30
opening_plies = 3

[imitation]
network = "16"
epochs = 1

[dqn]
network = "16"
dueling = true
cycles = 1
games_per_cycle = 10
num_envs = 4
learning_starts = 16
batch_size = 8
buffer_size = 200
eval_games = 2
eval_opponents = ["random"]

[verify]
games = 2
"""


@pytest.mark.compiled
def test_one_command_runs_all_stages_and_repeats_none_that_is_finished(tmp_path: Path, command) -> None:
    (tmp_path / "mine.toml").write_text(STAGES)
    line = "train", "--profile", str(tmp_path / "mine.toml"), "--out", str(tmp_path / "made"), "--seed", "3"
    code, out, err = command(*line)
    assert code == 0, err
    assert read_config(tmp_path / "made" / "dqn")["init"] == str(tmp_path / "made" / "imitation")
    assert read_config(tmp_path / "made" / "imitation")["seed"] == 3
    assert "| after fine-tuning | after imitation |" in out
    data, steps = (tmp_path / "made" / "teacher.ndjson").read_bytes(), steps_of(tmp_path / "made" / "dqn")
    (tmp_path / "made" / "dqn" / "report.md").unlink()  # as if it had been stopped
    code, out, err = command(*line)
    assert code == 0, err
    assert "epoch" not in out, "the imitation is finished"
    assert "| after fine-tuning | after imitation |" in out
    assert (tmp_path / "made" / "teacher.ndjson").read_bytes() == data
    assert steps_of(tmp_path / "made" / "dqn") == steps


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[collect]\n[dqn]\n[verify]", "not collect, dqn, verify"),
        ("[collect]\n[imitation]\n[dqnn]\n[verify]", r"\[dqn\] \(or another learner, or none\)"),
        ("collect = 3\nverify = 1\n[imitation]", "in this order"),
    ],
)
def test_other_stages_are_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "odd.toml").write_text(text)
    with pytest.raises(Error, match=message):
        training.check_stages("odd", training.profile_of(str(tmp_path / "odd.toml")))


def test_a_profile_with_stages_names_its_own_learners(command) -> None:
    code, _, err = command("train", "imitation", "--profile", "chess_dqn_original")
    assert code == 2
    assert err.endswith("names its learners and its game itself: plyground train --profile chess_dqn_original\n")


def test_a_setting_that_does_not_exist_is_named_with_its_stage(tmp_path: Path, command) -> None:
    (tmp_path / "odd.toml").write_text(STAGES.replace("games = 30", "gamse = 30"))
    code, _, err = command("train", "--profile", str(tmp_path / "odd.toml"), "--out", str(tmp_path / "made"))
    assert code == 2
    assert "'gamse'" in err
    assert "[collect] of the profile" in err


@pytest.mark.parametrize("name", profiles())
def test_every_profile_has_settings_that_exist(name: str) -> None:
    table = profile(name)
    if training.COLLECT in table:
        training.check_stages(name, table)
        stages = {stage: table[stage] for stage in table if stage in LEARNERS}
        stages["imitation"] = {**stages["imitation"], "data": ["x"]}
    else:
        table.pop("verbose", None)
        stages = {table.pop("learner"): table}
    for learner, settings in stages.items():
        build(LEARNERS[learner].config, settings, name)


def test_profiles_say_in_a_comment_what_they_are() -> None:
    for name in profiles():
        path = Path(training.__file__).parents[1] / "runs" / "profiles" / f"{name}.toml"
        assert path.read_text(encoding="utf-8").startswith("# "), name
        assert read_toml(path)


def test_a_run_has_no_stages(tmp_path: Path) -> None:
    """Its game file would be imported without being trusted."""
    (tmp_path / "config.toml").write_text(STAGES)
    for name in (tmp_path, tmp_path / "config.toml"):
        with pytest.raises(Error, match="is no run"):
            training.profile_of(str(name))


def test_a_game_that_alphazero_cannot_search_is_refused_before_anything_compiles(
    command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plyground.learners.defaults.resolve", lambda *_: pytest.fail("it compiles"))
    code, _, err = command("train", "alphazero", "sequence:seats=4")
    assert code == 2
    assert "sequence:seats=4 is not one. Another learner: plyground train ppo sequence:seats=4\n" in err


def test_a_profile_with_stages_has_few_options(command) -> None:
    for option in ("--cycles=3", "--on=ray", "--trust", "--seeds=2"):
        code, _, err = command("train", "--profile", "chess_dqn_original", option)
        assert code == 2
        assert err.startswith(f"plyground: no option of a profile with stages '{option.partition('=')[0]}'")
