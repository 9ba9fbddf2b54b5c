"""Everything of a game that can be compiled before somebody waits for it, as steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from plyground.agents.agent import Agent, known, make
from plyground.batch import Batch
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.play import hints
from plyground.position import Position
from plyground.search.analysis import analyse

EXTERNAL = "uci:"  # begins the specs of programs, which need no compiler
Steps = dict[str, Callable[[], Any]]
"""a step's name, as people read it: what it does"""


def of_session(start: Position, make_agent: Callable[[], Agent]) -> Steps:
    """What a game between a person and an agent needs, in the order in which the person needs it."""

    def agent() -> Agent:
        made = make_agent()
        made.act(start.states[:0].copy(), seeds(0, 0))
        return made

    return {"agent": agent, "hints": partial(hints.prepare, start), "rules": start.game.compile}


def of_game(game: Game) -> Steps:
    """Rules, batches, encoders, all agents, hints and analyses."""
    steps: Steps = {"rules": game.compile, "batches": partial(_batches, game)}
    steps |= {f"encoder {encoder}": partial(_encode, game, str(encoder)) for encoder in game.encoders.values()}
    steps |= {spec: partial(_ask, game, spec) for spec in known(game) if not spec.startswith(EXTERNAL)}
    return steps | {"analysis": partial(_analyse, game), "hints": lambda: hints.prepare(game.start())}


def _batches(game: Game) -> None:
    batch = Batch(game, 2)
    batch.step(batch.random_actions())
    batch.legal_mask()
    if not game.rules.CHANCE:
        game.start().perft(2)


def _encode(game: Game, encoder: str) -> None:
    game.start().encode(encoder)
    game.slots(encoder)


def _ask(game: Game, spec: str) -> None:
    game.start().ask(make(spec, game))


def _analyse(game: Game) -> None:
    searcher: Any = make("search:sims=16", game)
    for _ in analyse(searcher.growing(), game.start(), seeds(0, 1)):
        pass
