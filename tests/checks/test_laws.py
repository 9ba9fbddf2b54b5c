"""The laws of the contract hold for every game, and a game that breaks one is caught."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

import plyground as pg
from conftest import JIT, ROOT, TESTS, TINY
from plyground.checks import laws
from plyground.errors import BrokenGame

BOUNDS_CHECKED = bool(numba.config.BOUNDSCHECK)  # pyright: ignore
INTERPRETED, FEW, SOME, MANY = (6, 60), (20, 60), (100, 400), (200, 5000)  # games played, plies kept
OF_VALUES = {  # what these laws look at is computed by Python: checking bounds adds nothing to them
    *(laws.rewards, laws.words, laws.texts, laws.nonsense, laws.names),
    *(laws.scenes_are_plain, laws.scenes_keep_secrets, laws.clicks_tell_actions_apart),
}


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_law(game: pg.Game, law: Callable[[laws.Sample], None]) -> None:
    law(_sample(game, _size(game, law)))


def _size(game: pg.Game, law: Callable[[laws.Sample], None]) -> tuple[int, int]:
    if not JIT:
        return INTERPRETED
    if BOUNDS_CHECKED:
        return FEW if law in OF_VALUES else SOME
    return SOME if ":" in str(game) else MANY  # with other settings most of the code is the same


_samples: dict[tuple[pg.Game, int], laws.Sample] = {}


def _sample(game: pg.Game, size: tuple[int, int]) -> laws.Sample:
    games, most = size
    if (game, games) not in _samples:
        most = most // 2 if game.rules.hidden else most  # each is looked at from every seat
        _samples[game, games] = laws.sample(game, games, 7, most)
    return _samples[game, games]


BREAKS = [  # which law, and an edit that breaks it
    ("legal_lists", "duel", "actions[count] = card", "actions[count] = CARDS - 1 - card"),
    ("fields", "hops", 'state["to_move"] = 1 - state["to_move"]', 'state["to_move"] += 1'),
    ("texts", "hops", "int(again)\n", "0\n"),
    ("words", "hops", '("left", "right", "rest")[action]', "action"),
    ("nonsense", "hops", "InvalidText(", "ValueError("),
    ("nonsense", "three_in_a_row", ' or set(source) - set(".xo")', ""),
    ("names", "hops", '("left", "right", "rest")[action]', '("left", "right", "left")[action]'),
    ("fresh_start", "hops", 'state["place"] = state["length"] // 2', 'state["length"] = 7'),
    ("chance_is_declared", "duel", "CHANCE = True", "CHANCE = False"),
    (
        "heads_suffice",
        "hops",
        'out[LONGEST] = state["again"]',
        'out[LONGEST] = state["repeats"] and state["seen"][situation(state)]',
    ),
    ("encoders_fill", "duel", 'out[CARDS] = state["taken"][seat] - state["taken"][1 - seat]', "pass"),
    ("encoders_fill", "duel", '"what a seat sees"),)', '"what a seat sees", bounds=(0, 2)),)'),
    ("heads_suffice", "every_name", 'out[2] = state["secrets"][seat]', 'out[2] = state["played"][0] + 1'),
    ("cells_fill", "every_name", 'out[2] = state["secrets"][seat]', "pass"),
    ("cells_fill", "every_name", 'out[2] = state["secrets"][seat]', 'out[2] = state["secrets"][seat] + 1'),
    ("cells_fill", "every_name", 'out[2] = state["secrets"][seat]', 'out[2] = state["secrets"][seat] - 1'),
    ("cells_fill", "every_name", 'out[2] = state["secrets"][seat]', 'out[2] = state["ply"] = 0'),
    ("cells_keep_secrets", "every_name", 'out[2] = state["secrets"][seat]', 'out[2] = state["secrets"][1 - seat]'),
    ("cells_follow_symmetries", "every_name", "[[0, 1, 2], [1, 0, 2]])", "[[0, 1, 2], [0, 1, 2]])"),
    ("cells_follow_symmetries", "every_name", "[[0, 1, 2], [1, 0, 2]])", "[[0, 1, 2]])"),
    ("cells_are_named_as_drawn", "three_in_a_row", '"own disc", "their disc"', '"their disc", "own disc"'),
    (
        "cells_are_named_as_drawn",
        "three_in_a_row",
        "[action_name(state, cell) for cell",
        "[action_name(state, 8 - cell) for cell",
    ),
    (
        "cells_are_named_as_drawn",
        "three_in_a_row",
        "return [action_name(state, cell) for cell in range(9)]",
        'return ["a1"]',
    ),
    ("secrets_are_kept", "duel", "if where == seat else", "if where == seat else 4.0 if where == DECK else"),
    ("secrets_are_kept", "duel", "        draw_card(state, 1 - seat, rng)", "        pass"),
    ("secrets_are_kept", "duel", 'marks.get(int(where), "?")', "marks.get(int(where), str(where))"),
    (
        "secrets_are_kept",
        "every_name",
        'state["secrets"][1 - seat] = below(rng, SECRETS)',
        'state["secrets"][1 - seat] ^= below(rng, SECRETS)',
    ),
    ("heads_suffice", "hops", "lead = (state", 'lead = 0 * state["seen"][0] + (state'),
    ("evaluations", "hops", "lead = (state", "lead = 2 * (state"),
    ("transposition_keys", "every_name", 'np.uint64(1 + state["to_move"]', 'np.uint64(1 + state["ply"]'),
    ("loud_lists", "every_name", "if loudness(state, pile) > 0:", "if pile > 0:"),
    ("scenes_keep_secrets", "every_name", "state['secrets'][seat]}\", seat)", "state['secrets'][1 - seat]}\", seat)"),
    ("agents_keep_secrets", "every_name", 'LEFT if state["piles"][LEFT] > 0', 'LEFT if state["secrets"][0] > 1'),
    ("agents_keep_secrets", "every_name", "0.5 if action == RIGHT else", '0.5 if state["secrets"][0] > 1 else'),
    ("scenes_are_plain", "every_name", '(row("piles", piles),', '(row("piles", [*piles, piles[0]]),'),
    ("scenes_are_plain", "every_name", '", seat),))', '", state["to_move"]),))'),
    ("clicks_tell_actions_apart", "every_name", "[action_name(state, action)]\n", '["left"]\n'),
    ("clicks_tell_actions_apart", "every_name", "[action_name(state, action)]\n", '[f"pile{action}"]\n'),
    ("clicks_tell_actions_apart", "every_name", "[action_name(state, action)]\n", '["left", "right"][: 1 + action]\n'),
    ("clicks_tell_actions_apart", "every_name", "[action_name(state, action)]\n", "[]\n"),
    (
        "slots_are_permutations",
        "hops",
        'ENCODERS = (Encoder("line", 1, (LONGEST + 1,), np.float32, write_line, "where the token is"),)',
        "slot = njit(lambda action, seat: 0)\nslot.__name__ = 'slot'\n"
        'ENCODERS = (Encoder("line", 1, (LONGEST + 1,), np.float32, write_line, "", slot),)',
    ),
]


@pytest.mark.interpreted
def test_a_text_that_forgets_a_field_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "hops.py"
    path.write_text(Path(TINY[1]).read_text().replace("int(again)\n", "0\n"))
    with pytest.raises(BrokenGame, match="reads back as another state: `again` was 1 and is 0"):
        laws.texts(laws.sample(pg.load(str(path)), 40))


@pytest.mark.parametrize(
    ("law", "name", "right", "wrong"),
    [*BREAKS[:2], *(pytest.param(*each, marks=pytest.mark.interpreted) for each in BREAKS[2:])],  # two compiled too
)
def test_a_broken_game_is_caught(law: str, name: str, right: str, wrong: str, steady_path: Path) -> None:
    origin = TESTS / "tiny_games" / f"{name}.py"
    source = (origin if origin.exists() else ROOT / "examples" / origin.name).read_text()
    assert source.count(right) == 1, "the test's edit no longer fits the game"
    path = steady_path / f"{name}.py"
    path.write_text(source.replace(right, wrong))
    game = pg.load(str(path))
    with pytest.raises(BrokenGame) as caught:
        getattr(laws, law)(laws.sample(game, 40))
    assert path.name in str(caught.value)


RARE = """
import numpy as np
from numba import njit
from plyground.errors import InvalidText
from plyground.games.scene import Cell, Scene, row

NUM_ACTIONS, MAX_LEGAL, MAX_PLIES = 3, 2, 64
STATE = np.dtype([("sum", np.int32), ("ply", np.int16), ("to_move", np.int8), ("outcome", np.int8)], align=True)

@njit
def reset(state, rng):
    state["sum"] = 1

@njit
def legal(state, actions):
    if state["outcome"] != 0:
        return 0
    if state["sum"] == 77:  # in about one state of 250 the side must pass
        actions[0] = 2
        return 1
    actions[0], actions[1] = 0, 1
    return 2

@njit
def play(state, action, rng):
    state["sum"] = (5 * state["sum"] + 3 * action + 1) % 251
    state["ply"] += 1
    state["to_move"] = 1 - state["to_move"]
    if state["ply"] == 64:
        state["outcome"] = 1

def action_name(state, action):
    return ("left", "right", "pass")[action]

def text(state):
    return f"{state['sum']} {state['ply']}"

def parse(source, state):
    parts = source.split()
    if len(parts) != 2 or not all(part.isdecimal() and part.isascii() and len(part) < 4 for part in parts):
        raise InvalidText(f"not a sum and a ply: {source!r}")
    state["sum"], state["ply"] = int(parts[0]), int(parts[1])
    state["to_move"], state["outcome"] = int(parts[1]) % 2, int(parts[1]) == 64

def problems(state):
    return []

def scene(state, seat):
    return Scene((row("ways", [Cell("left"), Cell("right")]),), "")

def clicks(state, action):
    return [action_name(state, action)]
"""


@pytest.mark.compiled
def test_a_rare_action_that_cannot_be_clicked_is_found_with_every_seed(tmp_path: Path) -> None:
    path = tmp_path / "rare.py"
    path.write_text(RARE)
    game = pg.load(path)
    for seed in range(20):
        sample = laws.sample(game, 64, seed)
        assert sample.seen == 3
        with pytest.raises(BrokenGame, match=r"`clicks` names \['pass'\]"):
            laws.clicks_tell_actions_apart(sample)


def test_every_action_that_was_legal_is_looked_at(game: pg.Game) -> None:
    sample = _sample(game, _size(game, laws.texts))
    telling = sample.states[sample.telling]
    assert (game.legal_mask(telling).any(0) == game.legal_mask(sample.states).any(0)).all()
    assert game.legal_mask(telling).any(0).sum() == sample.seen


AGENT = """

class Own:
    def __init__(self, game):
        self.game = game

    def act(self, states, rngs):
        {how}


AGENTS = {{"own": Own}}
"""


@pytest.mark.compiled
def test_an_agent_of_a_game_that_plays_by_what_is_hidden_is_caught(
    steady_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it got the states themselves."""
    path = steady_path / "duel.py"
    peek = (
        '[row.nonzero()[0][key % row.sum()] for row, key in zip(self.game.legal_mask(states), states["where"] @ KEY)]'
    )
    path.write_text(f"{Path(TINY[0]).read_text()}\nKEY = 3 ** np.arange(8)\n{AGENT.format(how=f'return {peek}')}")
    sample = laws.sample(pg.load(path), 40)
    laws.agents_keep_secrets(sample)
    monkeypatch.setattr("plyground.agents.agent.states_for", lambda agent, game, states, rngs: states)
    with pytest.raises(BrokenGame, match="the agent own acts by what seat 0 cannot see"):
        laws.agents_keep_secrets(sample)


@pytest.mark.compiled
def test_an_agent_of_a_game_that_foresees_its_dice_is_caught(
    steady_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it got the generator that decides them."""
    path, pig = steady_path / "pig.py", TESTS / "tiny_games" / "pig.py"
    path.write_text(pig.read_text() + AGENT.format(how="return (rngs % np.uint64(2)).astype(np.int32)"))
    sample = laws.sample(pg.load(path), 40)
    laws.agents_foresee_nothing(sample)

    def ask_with_its_generator(self: pg.Position, agent: Any, seed: int = 0) -> int:
        return int(agent.act(self.states, self.rngs.copy())[0])

    monkeypatch.setattr(pg.Position, "ask", ask_with_its_generator)
    with pytest.raises(BrokenGame, match=r"the agent .* acts by what chance will do"):
        laws.agents_foresee_nothing(sample)


@pytest.mark.interpreted
@pytest.mark.parametrize("wrong", ["None", "'x'"])
def test_a_scene_that_is_none_is_told(tmp_path: Path, wrong: str) -> None:
    path, source = tmp_path / "pictured.py", (ROOT / "examples" / "three_in_a_row.py").read_text()
    path.write_text(re.sub(r"(?m)^(def scene\(.*)$", rf"\1\n    return {wrong}", source))
    with pytest.raises(BrokenGame, match=f"`scene` returns {wrong}, not a Scene"):
        laws.scenes_are_plain(laws.sample(pg.load(str(path)), 5))


SHORTCUTS = {
    "count_legal": "def count_legal(state, actions, work):\n    return 1\n",
    "play_head": 'def play_head(state, action, rng, work):\n    state["place"] += 1\n',
}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_that_differs_is_caught(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hops.py"
    path.write_text(f"{Path(TINY[1]).read_text()}\n\n@njit\n{SHORTCUTS[name]}")
    with pytest.raises(BrokenGame, match=name):
        laws.heads_play_on(laws.sample(pg.load(str(path)), 20))


@pytest.mark.interpreted
@pytest.mark.parametrize("edit", ["carry", "action"])
def test_a_wrong_mirror_is_caught(edit: str, tmp_path: Path, connect_four: pg.Game) -> None:
    source = Path(connect_four.rules.module.__file__ or "").read_text()
    right, wrong = {
        "carry": ("np.uint64(42 - 7 * column)", "np.uint64(7 * column)"),
        "action": ("COLUMNS - 1 - action if", "action if"),
    }[edit]
    assert source.count(right) == 1
    path = tmp_path / "mirrored.py"
    people = "from plyground.games.connect_four.text import action_name, parse, text"
    path.write_text(f"{source.replace(right, wrong)}\n\n{people}\n")
    with pytest.raises(BrokenGame, match="symmetry 1"):
        laws.symmetries(laws.sample(pg.load(str(path)), 5))


@pytest.mark.interpreted
def test_a_game_that_never_ends_is_caught(tmp_path: Path) -> None:
    source = Path(TINY[1]).read_text().replace("MAX_PLIES = 8 * LONGEST", "MAX_PLIES = 3")
    path = tmp_path / "endless.py"
    path.write_text(source)
    with pytest.raises(BrokenGame, match="still runs after MAX_PLIES = 3"):
        laws.sample(pg.load(str(path)), 20)


@pytest.mark.interpreted
@pytest.mark.parametrize("function", ["text", "action_name", "parse"])
def test_an_error_in_a_games_own_text_is_told_in_a_sentence(tmp_path: Path, function: str) -> None:
    source = Path(TINY[1]).read_text()
    path = tmp_path / "raising.py"
    path.write_text(re.sub(rf"(?m)^(def {function}\(.*)$", r"\1\n    None + 1", source))
    with pytest.raises(BrokenGame, match=r"fails with TypeError"):
        list(laws.check(pg.load(str(path)), 5))
