"""Everything of a game that can be compiled before somebody waits for it, as steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from plyground.agents.agent import Agent, compile_kernels
from plyground.agents.levels import ALPHA_BETA, analysis_spec, levels_of
from plyground.agents.registry import known, make
from plyground.batch import Batch
from plyground.game import Game
from plyground.games import GAMES
from plyground.play import hints
from plyground.position import Position

QUICK = ("random", "greedy", "minimax:depth=1", "minimax:depth=2", "minimax:depth=3", "level:1", "level:2", "level:3")
QUICK_BY_ALPHA_BETA = ("level:4", "level:5", "level:6")
"""agents that search so little, or so seldom, that the interpreter needs a second or so for most moves of theirs"""
EXTERNAL = "uci:"  # begins the specs of programs, which need no compiler
Steps = dict[str, Callable[[], Any]]
"""a step's name, as people read it: what it does"""


def of_session(start: Position, make_agent: Callable[[], Agent]) -> Steps:
    """What a game between a person and an agent needs, in the order in which the person needs it: rules that are
    interpreted meanwhile come last."""

    def agent() -> Agent:
        made = make_agent()
        compile_kernels(made)
        return made

    rules: Steps = {"rules": start.game.compile}
    others: Steps = {"agent": agent, "hints": partial(hints.prepare, start)}
    return others | rules if start.game.interpreter else rules | others


def quick_agent(game: Game, spec: str) -> Agent | None:
    """The agent of a spec without the compiler, which plays the same moves: it replies while the compiler works. None
    where that would take long, and for a game of one's own, which nobody has tested without the compiler."""
    quick = (*QUICK, *game.rules.POLICIES, *(QUICK_BY_ALPHA_BETA if levels_of(game) is ALPHA_BETA else ()))
    return make(spec, game.without_compiler()) if spec in quick and game.word in GAMES else None


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
    for spec in {"search:sims=16", analysis_spec(game)}:
        game.start().analyse(spec)
