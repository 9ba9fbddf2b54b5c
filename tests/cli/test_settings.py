"""The settings of learners, as help and profiles show them."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from plyground.cli.settings import comment_of, learner_of, profile_rows, settings_of, train_help
from plyground.learners import LEARNERS
from plyground.runs.settings import profiles


@pytest.mark.parametrize("name", LEARNERS)
def test_the_source_says_what_the_configs_are(name: str) -> None:
    shown = {each.name: each for part in settings_of(name).values() for each in part.values()}
    config = LEARNERS[name].config
    assert {field.name: field.default for field in fields(config)} == {each: shown[each].default for each in shown}
    for each in shown.values():
        assert each.sentence, each.name
        assert "\n" not in each.sentence


def test_settings_stand_where_they_are_introduced() -> None:
    parts = settings_of("ppo")
    general, networks, policies, own = parts.values()
    assert list(parts)[1:] == ["of dqn, reinforce, a2c, ppo, alphazero", "of reinforce, a2c, ppo", "of ppo"]
    assert "seconds" in general
    assert networks["network"].default.endswith("+value"), "with the default that the learner gives it"
    assert "network" not in policies
    assert set(own) == {"gae_lambda", "clip_range", "epochs", "target_kl"}


def test_options_are_written_as_they_are_typed() -> None:
    shown = {each.name: each.option(each.default) for part in settings_of("dqn").values() for each in part.values()}
    assert shown["opponents"] == "--opponents TEXT ..."
    assert shown["exploration"] == "--exploration epsilon|boltzmann"
    assert shown["double_dqn"] == "--double-dqn"
    assert settings_of("ppo")["of reinforce, a2c, ppo"]["symmetries"].option(True) == "--no-symmetries"


def test_help_without_a_learner_says_which_options_are_whose() -> None:
    text = train_help("")
    for words in ("Options of ppo:\n  --gae-lambda,", "Options of tabular:\n  --method,", "alphazero  self-play"):
        assert words in text
    assert "--target-kl FLOAT" not in text


def test_help_with_a_profile_shows_its_defaults(command) -> None:
    assert learner_of(["--profile", "connect_four_demo"], "connect_four_demo") == "dqn"
    text = " ".join(command("train", "--profile", "connect_four_demo", "--help")[1].split())
    assert "Options of dqn, as connect_four_demo sets them" in text
    assert re.search(r"--opening-plies INT [^)]*\) \(default: 24\)", text)


def test_every_profile_says_first_how_long_it_takes(command) -> None:
    for name in profiles():
        assert re.search(r"seconds|minutes?|hours?", comment_of(name)[0]), name
    code, out, _ = command("profiles")
    assert code == 0
    assert len(profile_rows()) == len(profiles())
    assert re.search(r"connect_four_demo +dqn +connect_four +Two minutes on two cores\n", out)
    assert "collect + imitation + dqn + verify" in out


def test_a_profile_is_shown_beside_the_defaults(command) -> None:
    code, out, _ = command("profiles", "connect_four_demo")
    assert code == 0
    assert re.search(r"opening_plies +24 +\(without it: -1\)", out)
    assert re.search(r"num_envs +512\n", out), "as without it"
    assert "[verify]" in command("profiles", "chess_dqn_original")[1]
    code, _, err = command("profiles", "connect_for_demo")
    assert code == 2
    assert "did you mean 'connect_four_demo'" in err
