"""The settings of learners, as help and profiles show them."""

from __future__ import annotations

import re

from plyground.cli.settings import comment_of, groups_of, profile_rows
from plyground.runs.settings import profiles


def test_settings_stand_where_they_are_introduced() -> None:
    parts = groups_of("ppo")
    general, networks, policies, own = ({each.name: each for each in part} for part in parts.values())
    assert list(parts)[1:] == [
        f"Options of {whose}" for whose in ("dqn, reinforce, a2c, ppo, alphazero", "reinforce, a2c, ppo", "ppo")
    ]
    assert "seconds" in general
    assert networks["network"].default.endswith("+value"), "with the default that the learner gives it"
    assert "network" not in policies
    assert set(own) == {"gae_lambda", "clip_range", "epochs", "target_kl"}


def test_options_are_written_as_they_are_typed(command) -> None:
    text = command("train", "ppo", "--help")[1]
    for words in ("--opponents [TEXT ...]", "--symmetries, --no-symmetries", "--gae-lambda FLOAT", "--on TEXT", "-h"):
        assert f"  {words}" in text or f", {words}" in text, words
    text = command("train", "dqn", "--help")[1]
    assert "  --exploration epsilon|boltzmann" in text
    assert "  --double-dqn, --no-double-dqn" in text
    assert "--actors" not in text, "it plays on no cluster"


def test_help_without_a_learner_says_which_options_are_whose(command) -> None:
    text = command("train", "--help")[1]
    for words in ("Options of ppo:\n  --gae-lambda,", "Options of tabular:\n  --method,", "alphazero  self-play"):
        assert words in text
    assert "--target-kl FLOAT" not in text


def test_help_with_a_profile_shows_its_defaults(command) -> None:
    text = " ".join(command("train", "--profile", "connect_four_dqn_short", "--help")[1].split())
    assert "Options of dqn, as connect_four_dqn_short sets them" in text
    assert re.search(r"--opening-plies INT [^)]*\) \(default: 24\)", text)


def test_every_profile_says_first_how_long_it_takes(command) -> None:
    for name in profiles():
        assert re.search(r"seconds|minutes?|hours?", comment_of(name)[0]), name
    code, out, _ = command("profiles")
    assert code == 0
    assert len(profile_rows()) == len(profiles())
    assert re.search(r"connect_four_dqn_short +dqn +connect_four +Two minutes on two cores\n", out)
    assert "collect + imitation + dqn + verify" in out


def test_a_profile_is_shown_beside_the_defaults(command) -> None:
    code, out, _ = command("profiles", "connect_four_dqn_short")
    assert code == 0
    assert re.search(r"opening_plies +24 +\(without it: -1\)", out)
    assert re.search(r"num_envs +512\n", out), "as without it"
    assert "[verify]" in command("profiles", "chess_dqn_original")[1]
    code, _, err = command("profiles", "connect_for_demo")
    assert code == 2
    assert "did you mean 'connect_four_demo'" in err
