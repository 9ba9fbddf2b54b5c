"""Help: examples first, and every command is on the page."""

from __future__ import annotations

import re

import pytest

from plyground.cli.help import COMMANDS, PAGE, TEACH, examples_of, page


def test_every_command_is_on_the_page(command) -> None:
    code, out, _ = command("--help")
    assert (code, out) == (0, f"{page()}\n")
    for title, names in PAGE.items():
        assert f"{title}:" in out
        for name in names:
            assert re.search(rf"(?m)^  {name} .+\.$", out), name
    assert max(map(len, out.splitlines())) <= 100
    assert command()[:2] == (2, f"{page()}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_stand_first_and_their_options_exist(command, name: str) -> None:
    code, out, _ = command(name, "--help")
    assert code == 0
    assert re.match(r"Examples?:\n  plyground ", out)
    assert examples_of(name)
    for line in examples_of(name):
        words = line.partition("#")[0].split()
        learner = words[1:2] if name in ("train", "teach") and not words[1].startswith("-") else []
        text = command(name, *learner, "--help")[1]
        for option in (word for word in words if word.startswith("--")):
            assert option in text, line


@pytest.mark.parametrize("name", [*COMMANDS, *(f"teach {each}" for each in TEACH), "train ppo"])
def test_no_option_shows_types_of_python(command, name: str) -> None:
    words = " ".join(command(*name.split(), "--help")[1].replace("│", " ").split())
    assert "None" not in words
    assert "STR" not in words
    assert not re.search(r"\(default:[^()]*\) \(default", words)
