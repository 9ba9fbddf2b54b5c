"""The parser: a line is read once, words and options in any order, and what is wrong with it is one sentence."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Literal

import pytest

import plyground as pg
from plyground.cli import app
from plyground.cli.parser import Parser, Settings, Shown, Table, Verbose, Words, settings_of, typed
from plyground.cli.training import planned, profile_of
from plyground.learners import LEARNERS
from plyground.teaching.config import Collect

LINES = Path(__file__).with_name("documented_lines.txt").read_text(encoding="utf-8").splitlines()
"""every line that the README, the guides and these tests held for right when another parser read them"""
STANDS_FOR = {"GAME": "chess", "LEARNER": "ppo", "A": "random", "B": "greedy", "N": "10"}


def example(
    words: Annotated[Words, Shown("[GAME] A B")] = (),
    games: Annotated[int | None, Shown("INT", "100")] = None,
    sprt: Annotated[tuple[float, float] | None, Shown("ELO ELO", "none")] = None,
    several: Words = (),
    text: str = "startpos",
    out: Path = Path("x"),
    mode: Literal["one", "two"] = "one",
    json: bool = False,
    verbose: Verbose = False,
    *,
    config: Annotated[Table, Settings(lambda: {"": settings_of(Collect)[4:8]})],
) -> None:
    """What it does.

    Args:
        words: two agents, 50% of the time
        games: number of games
            in pairs
    """


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", {}),
        ("chess --games 4 a b", {"words": ("chess", "a", "b"), "games": 4}),
        ("--json a b --sprt -5 5", {"words": ("a", "b"), "json": True, "sprt": (-5.0, 5.0)}),
        ("--sprt 0 20 a b", {"words": ("a", "b"), "sprt": (0.0, 20.0)}),
        ("--games=4 a --mode two b -v", {"words": ("a", "b"), "games": 4, "mode": "two", "verbose": True}),
        ("c --several a b --games 2", {"words": ("c",), "several": ("a", "b"), "games": 2}),
        ("--text --|-/x a b", {"words": ("a", "b"), "text": "--|-/x"}),  # a position may begin with "-"
        ("--text -o- a --out y", {"words": ("a",), "text": "-o-", "out": Path("y")}),
        ("--text=x -o- a", {"words": ("-o-", "a"), "text": "x"}),
        ("--top_k 3 a --quiescence=1", {"words": ("a",), "config": {"top_k": 3, "quiescence": 1}}),
    ],
)
def test_words_and_options_stand_in_any_order(line: str, found: dict[str, object]) -> None:
    read = Parser("name", example).read(line.split())
    assert {"words": (), "config": {}} | found == {"words": (), **read}


KNOWN = "--games, --sprt, --several, --text, --out, --mode, --json, --verbose, "
KNOWN += "--quiescence, --table, --top-k, --temperature"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--games abc", "--games takes a whole number, not 'abc'"),
        ("--sprt 1 x", "--sprt takes a number, not 'x'"),
        ("--mode three", "no value of --mode 'three'; known: one, two"),
        ("--gmaes 3", f"no option of name '--gmaes'; did you mean '--games'? known: {KNOWN}"),
        ("a -x b", f"no option of name '-x'; known: {KNOWN}"),
        ("--games", "name: --games: expected one argument; see plyground name --help"),
        ("a --text --", "name: --text: expected one argument; see plyground name --help"),
        ("--json=1", "name: --json: ignored explicit argument '1'; see plyground name --help"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(line: str, message: str) -> None:
    with pytest.raises(pg.Error) as error:
        Parser("name", example).read(line.split())
    assert str(error.value) == message


def test_help_has_the_sentences_of_the_docstring_and_of_the_config() -> None:
    shown = " ".join(Parser("name", example).format_help().split())
    assert shown.startswith("usage: plyground name [GAME] A B [OPTIONS] What it does.")
    for words in (
        "[GAME] A B two agents, 50% of the time",
        "--games INT number of games in pairs (default: 100)",
        "--sprt ELO ELO",
        "--several [TEXT ...]",
        "--mode one|two (default: one)",
        "--verbose, -v",
        "--top-k INT actions with a probability above 0: the best ones (default: 5)",
    ):
        assert words in shown


def test_what_was_given_is_written_as_a_line_again() -> None:
    given = {"top_k": 3, "json": True, "symmetries": False, "several": ("a", "b"), "text": "-x", "rate": 0.5}
    line = "c --top-k 3 --json --no-symmetries --several a b --text=-x --rate 0.5"
    assert typed(["c"], given) == line.split()


def test_a_setting_of_several_learners_has_one_type() -> None:
    """So that a line can be read before its learner is known."""
    kinds: dict[str, str] = {}
    for entry in LEARNERS.values():
        for each in settings_of(entry.config):
            assert kinds.setdefault(each.name, str(each.kind)) == str(each.kind), each.name


@pytest.mark.parametrize("name", LEARNERS)
def test_every_setting_has_a_sentence(name: str) -> None:
    shown = {each.name: each for each in settings_of(LEARNERS[name].config)}
    assert {each.name: each.default for each in fields(LEARNERS[name].config)} == {
        each: shown[each].default for each in shown
    }
    assert [each.name for each in shown.values() if not each.sentence] == []


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where documented lines are typed."""
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('learner = "dqn"\nnetwork = "16"\n')
    for name, game in (("connect_four-dqn-1", "connect_four"), ("x", "chess")):
        run = Path("runs") / name
        run.mkdir(parents=True)
        (run / "config.toml").write_text(f'learner = "dqn"\ngame = "{game}"\n')
    return tmp_path


@pytest.mark.parametrize("line", LINES)
@pytest.mark.usefixtures("workshop")
def test_every_line_that_was_documented_once_is_read(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [STANDS_FOR.get(word, word) for word in shlex.split(line)]
    if "--help" in words and words[0] != "train":
        with pytest.raises(SystemExit, match="0"):
            app.read(words)
        assert "plyground" in capsys.readouterr().out
        return
    _, function, given = app.read(words)
    assert callable(function)
    if words[0] == "train" and not given.get("help") and "data" not in words:
        profile = given.get("profile", "")
        table = profile_of(profile) if profile else {}
        if "collect" not in table:
            name, config, _ = planned(given.get("words", ()), profile, table, given["config"], given["cluster"])
            assert type(config) is LEARNERS[name].config


def test_reading_a_line_imports_nothing_slow() -> None:
    """Nor does help: of every command, every stage of `teach`, and every learner."""
    code = """
import sys, contextlib, io
from plyground.cli import app, help
from plyground.learners import LEARNERS
lines = [line.partition("#")[0].split() for line in help.EXAMPLES]
lines += [[name, "--help"] for name in help.COMMANDS] + [["teach", name, "--help"] for name in help.TEACH]
lines += [["train", name, "--help"] for name in LEARNERS]
assert {line[0] for line in lines} == {*help.COMMANDS}
with contextlib.redirect_stdout(io.StringIO()) as shown:
    print(help.page())
    for line in lines:
        with contextlib.suppress(SystemExit):
            _, run, given = app.read(line)
            if given.get("help"):
                run(**given)
assert shown.getvalue().count("usage: ") == sum("--help" in line for line in lines) - 1  # teach --help lists four
print(sorted({"numba", "torch", "numpy", "rich", "matplotlib", "asyncio"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
