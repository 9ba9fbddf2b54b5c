"""The table of the contract: reading, checking and documenting each name that a game may define."""

from __future__ import annotations

import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TESTS, TINY
from plyground.agents.registry import make
from plyground.checks import laws
from plyground.errors import BrokenGame
from plyground.games import GAMES
from plyground.games.interface import COMPILED, KINDS, PARTS, TABLE, documentation
from plyground.games.interface import laws as laws_of_names
from plyground.games.table_key import pick_key

EVERY_NAME = str(TESTS / "tiny_games" / "every_name.py")
GUIDE, CONTRACT = (ROOT / "docs" / f"{name}.md" for name in ("adding_a_game", "contract"))
FOLDER = Path(pg.__file__).parent / "games"


def test_the_page_of_the_contract_is_the_table() -> None:
    assert documentation().strip() in CONTRACT.read_text(encoding="utf-8"), "run: python -m plyground.games.interface"


@pytest.mark.parametrize("name", TABLE)
def test_a_name_has_a_known_kind_file_and_law_and_some_game_defines_it(name: str) -> None:
    entry = TABLE[name]
    assert entry.name == name
    assert entry.kind in KINDS
    assert [part for part, files in PARTS.items() if entry.file in files]
    assert len(laws_of_names()[name]) > 10
    assert f"| `{name}` |" in documentation()
    assert any(pg.load(word).rules.defined(name) is not None for word in GAMES)


@pytest.mark.parametrize("name", TABLE)
def test_a_game_in_one_file_may_define_the_name(name: str) -> None:
    rules = pg.load(EVERY_NAME).rules
    assert rules.defined(name) is not None
    value, defined = getattr(rules, name), rules.defined(name)
    assert value is defined or (isinstance(value, np.dtype) and value == defined)  # this game's records have no gaps


@pytest.mark.compiled
def test_a_game_that_defines_every_name_keeps_the_laws() -> None:
    game = pg.load(EVERY_NAME)
    told = dict(laws.check(game, 40))
    assert len(told) == len(laws.LAWS)
    assert all(told.values()), "no law is about a name that the game leaves out"
    assert set(game.rules.compiled) == set(COMPILED)


def test_names_of_ones_own_file_reach_agents_keys_and_encoders() -> None:
    game = pg.load(EVERY_NAME)
    position = game.start(seed=2)
    assert position.name(position.ask(make("leftmost", game))) == "left"
    assert str(pick_key(game.rules)) == "piles-v1"
    assert str(game.encoder()) == "piles-v1"
    assert game.rules.advise is not None
    assert game.rules.advise(position) == "take the last one"
    assert game.rules.DATASET.position == "piles"
    assert game.rules.AGENTS["rightmost"](game).act(position.states, position.rngs).tolist() == [1]


def test_a_game_that_defines_only_what_it_must_gets_the_defaults(tmp_path: Path) -> None:
    blocks = GUIDE.read_text(encoding="utf-8").split("```python\n")
    (tmp_path / "bare.py").write_text(blocks[1].split("```")[0])
    rules = pg.load(tmp_path / "bare.py").rules
    optional = {name for name, entry in TABLE.items() if not entry.required}
    assert {name for name in optional if rules.defined(name) is not None} == {"OPENING_PLIES"}
    assert rules.HEAD is rules.STATE
    assert (rules.SEATS, rules.SYMMETRIES, rules.CHANCE, rules.hidden) == (2, 1, False, False)
    state = np.zeros(1, rules.STATE)[0]
    assert rules.draw(state) == rules.observe(state, 0) == rules.view(state, 1) == rules.text(state) == "." * 9
    assert rules.notation(state, 4, [4]) == rules.action_name(state, 4) == "b2"
    assert (rules.problems(state), rules.reason(state), rules.read_action(state, "x", [])) == ([], "", [])
    assert (rules.POLICIES, rules.SCORERS, rules.AGENTS, tuple(rules.ENCODERS), tuple(rules.KEYS)) == (
        {},
        {},
        {},
        (),
        (),
    )
    assert (rules.DATASET.position, rules.DATASET.sides, rules.DATASET.clocks) == ("position", ("first", "second"), 0)
    assert rules.DATASET.actions(None, [3]) == [3]


@pytest.mark.parametrize("word", GAMES)
def test_a_games_folder_defines_each_name_in_its_file(word: str) -> None:
    """A name that stands in another file of the folder than the table says would be ignored."""
    rules = pg.load(word).rules
    for file in (path.stem for path in (FOLDER / word).glob("*.py")):
        home = rules.home(file)
        for name, entry in TABLE.items():
            value = vars(home).get(name)
            if value is not None and entry.file != file:
                assert value is rules.defined(name) or getattr(value, "__module__", "") != getattr(
                    home, "__name__", ""
                ), (file, name)
    assert {path.stem for path in (FOLDER / word).glob("*.py")} >= {"rules", "text", "drawing", "scene", "encoders"}


def test_a_file_of_a_folder_is_imported_when_one_of_its_names_is_read() -> None:
    program = """
import sys, plyground as pg
game = pg.load("chess")
game.start().play("e2e4")
there = lambda file: f"plyground.games.chess.{file}" in sys.modules
assert there("text") and not there("encoders") and not there("pgn") and not there("dataset")
assert game.rules.ENCODERS and there("encoders")
assert game.rules.write_record and there("pgn")
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_missing_names_are_listed_at_once() -> None:
    module = types.ModuleType("half_a_game")
    module.STATE = np.dtype([("to_move", np.int8), ("outcome", np.int8)], align=True)  # type: ignore[attr-defined]
    with pytest.raises(BrokenGame, match="half_a_game does not define NUM_ACTIONS, MAX_LEGAL, MAX_PLIES, reset, legal"):
        pg.load(module)


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [("action_name", "actionname", "def actionname("), ("MAX_PLIES", "MAX_PLIS", "NUM_ACTIONS = ")],
)
def test_a_missing_name_that_is_misspelt_is_asked_about(tmp_path: Path, right: str, wrong: str, line: str) -> None:
    path = tmp_path / "misspelt.py"
    path.write_text((ROOT / "examples" / "three_in_a_row.py").read_text().replace(right, wrong))
    (number,) = (k for k, each in enumerate(path.read_text().splitlines(), start=1) if each.startswith(line))
    question = f"does not define {right}; `{wrong}`: did you mean `{right}`? see {path}, line {number}"
    with pytest.raises(BrokenGame, match=f"{re.escape(question)}$"):
        pg.load(path)


def test_a_record_without_alignment_or_fields_is_refused(tmp_path: Path) -> None:
    source = Path(TINY[0]).read_text().replace('("outcome", np.int8)', '("result", np.int8)')
    path = tmp_path / "packed.py"
    path.write_text(source.replace("align=True", "align=False"))
    with pytest.raises(BrokenGame, match=r"aligned record.*no field 'outcome'"):
        pg.load(str(path))


WRONG = [
    (TINY[0], "MAX_PLIES = CARDS, 4", 'MAX_PLIES = "8", 4', "NUM_ACTIONS is a whole number of at least 1, not '8'"),
    (TINY[0], "def observe(", "def observed(", "says what a seat may see"),
    (EVERY_NAME, "def clicks(", "def clicked(", "`scene` and `clicks` are defined together"),
    (EVERY_NAME, "def transform_action(", "def transformed(", "SYMMETRIES needs `transform` and `transform_action`"),
    (EVERY_NAME, "HEAD = np.dtype(FIELDS", "HEAD = np.dtype(FIELDS[1:]", "HEAD's field 'secrets' differs from STATE's"),
    (EVERY_NAME, "CHANCE = True", "CHANCE = 1", "CHANCE is True or False, not 1"),
    (EVERY_NAME, 'SIDES = ("one", "two")', 'SIDES = "one"', "SIDES is a tuple, not 'one'"),
    (
        TINY[1],
        "def play(state, action, rng, work)",
        "def play(state, action)",
        "`play` takes (state, action, rng), not (",
    ),
    (
        TINY[1],
        "def write_line(state, seat, out)",
        "def write_line(state, out)",
        "`write_line` takes (state, seat, out)",
    ),
    (EVERY_NAME, "def leftmost(state, rng", "def leftmost(state, seat, rng", "`leftmost` takes (state, rng), not ("),
]


@pytest.mark.parametrize(("origin", "right", "wrong", "message"), WRONG)
def test_a_wrong_module_is_refused(tmp_path: Path, origin: str, right: str, wrong: str, message: str) -> None:
    source = Path(origin).read_text()
    assert source.count(right) == 1, "the test's edit no longer fits the game"
    path = tmp_path / "wrong.py"
    path.write_text(source.replace(right, wrong))
    with pytest.raises(BrokenGame, match=re.escape(message)):
        pg.load(str(path))


@pytest.mark.compiled
@pytest.mark.parametrize("function", ["play", "evaluate", "leftmost", "prefers_right", "write_piles"])
def test_a_function_that_is_not_compiled_is_named(tmp_path: Path, function: str) -> None:
    path = tmp_path / "plain.py"
    path.write_text(Path(EVERY_NAME).read_text().replace(f"@njit\ndef {function}(", f"def {function}("))
    with pytest.raises(BrokenGame, match=f"`{function}` is not compiled: write @njit above it"):
        pg.load(str(path))
