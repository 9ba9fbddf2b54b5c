"""Help: examples first, and every command is on the page."""

from __future__ import annotations

import re

import pytest

from plyground.cli.app import COMMANDS
from plyground.cli.help import HELP, PAGE, page


def test_every_command_is_on_the_page(command) -> None:
    assert HELP.keys() == {*COMMANDS}, "cli/help.py has a sentence and examples for each"
    code, out, _ = command("--help")
    assert (code, out) == (0, f"{page()}\n")
    for title, commands in PAGE.items():
        assert f"{title}:" in out
        for name, each in commands.items():
            assert f"  {name} " in out
            assert each.meaning.endswith(".")
    assert max(map(len, out.splitlines())) <= 100
    assert command()[:2] == (2, f"{page()}\n")


@pytest.mark.parametrize("name", HELP)
def test_examples_stand_first_and_their_options_exist(command, name: str) -> None:
    code, out, _ = command(name, "--help")
    assert code == 0
    assert re.match(r"Examples?:\n  plyground ", out)
    own = [line for line in HELP[name].examples if line.split()[0] == name]
    assert own
    for line in own:
        words = line.partition("#")[0].split()
        learner = words[1:2] if name in ("train", "teach") and not words[1].startswith("-") else []
        text = command(name, *learner, "--help")[1]
        for option in (word for word in words if word.startswith("--")):
            assert option in text, line


@pytest.mark.parametrize(
    "name", [*HELP, "teach collect", "teach inspect", "teach convert", "teach verify", "train ppo"]
)
def test_no_option_shows_types_of_python(command, name: str) -> None:
    words = " ".join(command(*name.split(), "--help")[1].replace("│", " ").split())
    assert "None" not in words
    assert "STR" not in words
    assert not re.search(r"\(default:[^()]*\) \(default", words)
