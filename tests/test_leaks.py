"""What a seat cannot see reaches nobody who plays for it: whatever is shown, said, chosen or saved stays the same when
the hidden part of a state is drawn anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plyground as pg
from conftest import JIT, TINY
from plyground.agents.registry import known, make
from plyground.games.rng import seeds
from plyground.learners import LEARNERS
from plyground.models.table import rule_of
from plyground.play import typed
from plyground.play.session import Session
from plyground.tables import Table

VARIANTS = ["sequence", "sequence:seats=4", "sequence:rules=boxed", "sequence:rules=boxed,seats=4", TINY[0]]
EXAMPLES = 12 if JIT else 4


def told(position: pg.Position, seat: int) -> Iterator[tuple[str, Any]]:
    """Everything that a seat is shown or told in a position, whoever acts."""
    game, state = position.game, position.state
    yield "observe", game.rules.observe(state, seat)
    yield "view", game.rules.view(state, seat)
    yield "scene", position.scene(seat)
    if game.rules.draw_marked is not None:
        yield "draw_marked", game.rules.draw_marked(state, seat, None, ())
    for name in dict.fromkeys(map(str, game.encoders.values())):
        yield name, position.encode(name, seat).tobytes()


def chosen(position: pg.Position) -> Iterator[tuple[str, Any]]:
    """What the seat that acts is offered, told and answered, and what agents choose for it."""
    game, legal = position.game, position.legal()
    yield "legal", legal
    yield "names", position.names()
    yield "clicks", position.paths()
    for wrong in ("nonsense", "take", "", 10**6, -1):
        yield f"the error for {wrong!r}", refused(position.action, wrong)
    yield "the error for a typed move", refused(lambda: typed.read(position, "nonsense"))
    yield "the error of a batch", refused(lambda: step(position))
    for spec in known(game):
        if spec.partition(":")[0] not in ("run", "uci", "teacher"):
            agent = make(spec, game)
            yield spec, position.ask(agent, seed=5)
            if hasattr(agent, "analyse"):
                yield f"what {spec} thinks", replace(position.analyse(agent, seed=5), seconds=0.0)
    for key in game.rules.KEYS:
        yield str(key), table_key(position, str(key))


def refused(call: Any, *arguments: Any) -> str:
    with pytest.raises(pg.Error) as caught:
        call(*arguments)
    return str(caught.value)


def step(position: pg.Position) -> None:
    batch = pg.Batch(position.game, 1)
    batch.states[:] = position.states
    batch.step([-1])


def table_key(position: pg.Position, key: str) -> bytes:
    """The key of the state and its first action, as a table computes it."""
    table = Table(position.game, key)
    scratch, actions = table.scratch(), np.empty(1, np.int32)
    games = table.games(position.states.copy(), np.zeros(1, np.int64), seeds(3, 1), actions)
    rule = rule_of(asdict(LEARNERS["tabular"].config()), table.key)
    table.kernels.act_all(games, table.entries, rule, False, table.updates(0), scratch)
    return scratch.key.tobytes() + actions.tobytes()


def saved(position: pg.Position, seat: int) -> str:
    """The file that a person on this seat's side may write in the middle of a game, but for its seal: that holds the
    cards, encrypted, so that the game can be played on."""
    session = Session(position, make("random", position.game), "random", seat % 2, seed=0)
    return re.sub(r"(?m)^sealed: [A-Za-z0-9+/=]+\n", "", session.record())


@pytest.mark.parametrize("word", VARIANTS)
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32), plies=st.integers(0, 60))
def test_nothing_depends_on_what_a_seat_cannot_see(word: str, seed: int, plies: int) -> None:
    position, rng = pg.load(word).start(seed), np.random.default_rng(seed)
    for _ in range(plies):
        after = position.play(int(rng.choice(position.legal())))
        if after.over:
            break
        position = after
    seats = int(position.game.settings.get("seats", 2))
    for seat in range(seats):
        states = position.states.copy()
        position.game.kernels().determinize_all(states, np.array([seat], np.int32), seeds(seed + 1, 1))
        other = pg.Position(position.game, states)
        both = [dict(told(each, seat)) | {"saved file": saved(each, seat)} for each in (position, other)]
        if seat == position.seat:
            both = [{**first, **dict(chosen(each))} for first, each in zip(both, (position, other), strict=True)]
        for name, value in both[0].items():
            assert value == both[1][name], f"{name} shows seat {seat} what it cannot see"


def test_the_test_would_see_a_leak() -> None:
    """The whole text differs between redrawn worlds, and so would anything that shows it."""
    position = pg.load("sequence").start(1)
    states = position.states.copy()
    position.game.kernels().determinize_all(states, np.zeros(1, np.int32), seeds(2, 1))
    assert pg.Position(position.game, states).text != position.text
    assert pg.Position(position.game, states).view == position.view
