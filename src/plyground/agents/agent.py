"""Who chooses a move. An agent acts on many games at once, and never learns.

Agents go by words, the same in Python, on the command line and in configurations: `random`, `greedy`,
`minimax:depth=3`, `solver`, `uci:stockfish`, `run:DIR` (what a run has learned). A game adds policies of its own
(`greedy`, `punisher`) in the module of its name in this folder, or in its own file: `POLICIES = {"greedy": greedy}`,
each a compiled function `(state, rng) -> action`. Where it brings no `greedy`, that is the move that wins at once, or
else the one that looks best by `evaluate`. There it may also have advice for people: `advise(position) -> str`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plyground import words
from plyground.agents import uci
from plyground.agents.minimax import Minimax
from plyground.agents.simple import Policy, Random
from plyground.agents.solver import Perfect
from plyground.errors import InvalidValue, shorten, unknown
from plyground.game import Game
from plyground.games.interface import Function
from plyground.solver.solver import solves

MINIMAX_OPTIONS = {"depth": 3, "quiescence": 0, "table": 0}
GIVES_UP = uci.GIVES_UP  # instead of an action: this game is lost, and the last of the agent's `faults` say why


class Agent(Protocol):
    """Whoever can do this can play."""

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[N] a legal action for each running state [N]. Chance comes from `rngs` [N], each row from its own."""
        ...


def make(word: str, game: Game) -> Agent:
    """The agent that a word names."""
    if word.startswith("run:"):
        return _learned(word, game)
    if word.startswith("uci:"):
        return uci.read(word, game)
    name, options = words.split(word)
    policies = policies_of(game)
    if name == "random":
        agent: Agent = Random(game)
    elif name == "minimax":
        depth, quiescence, table = (_number(word, k, options.pop(k, v)) for k, v in MINIMAX_OPTIONS.items())
        agent = Minimax(game, depth, quiescence, table)
    elif name == "solver" and solves(game):
        agent = Perfect()
    elif name in policies:
        agent = Policy(game, name, policies[name])
    elif name == "greedy" and can_search(game):
        agent = Minimax(game, depth=1)
    else:
        raise unknown(f"agent for {game}", name, [*known(game), "run:DIR"])
    if options:
        raise unknown(f"option of the agent {name}", next(iter(options)), MINIMAX_OPTIONS if name == "minimax" else ())
    return agent


def _learned(word: str, game: Game) -> Agent:
    """`run:DIR`, or `run:DIR,checkpoint=last`: what a run has learned."""
    from plyground.agents.network import load_run  # torch takes its time

    path, _, which = word.removeprefix("run:").partition(",checkpoint=")
    return load_run(path, game, which or "best")


def known(game: Game) -> list[str]:
    """The words that name an agent of this game."""
    search = ["greedy", "minimax:depth=3"] if can_search(game) else []
    special = ["solver"] * solves(game) + ["uci:stockfish,elo=1350"] * (
        game.word == "chess" and uci.find("stockfish") is not None
    )
    return list(dict.fromkeys(["random", *policies_of(game), *search, *special]))


def policies_of(game: Game) -> Mapping[str, Function]:
    """The policies a game brings along."""
    return _brought(game, "POLICIES") or {}


def scorers_of(game: Game) -> Mapping[str, Function]:
    """The compiled functions `(state, action) -> float` with which a game judges actions: a teacher's judgement."""
    return _brought(game, "SCORERS") or {}


def adviser_of(game: Game) -> Function | None:
    """A function `(position) -> str` with which a game advises people; empty where it has nothing to say."""
    return _brought(game, "advise")


def _brought(game: Game, what: str) -> Any:
    """Something that a game defines for agents: in its own module, or in the module of its name in this folder."""
    module = game.rules.module
    found: Any = getattr(module, what, None)
    home, _, name = module.__name__.rpartition(".")
    if found is None and home == "plyground.games" and importlib.util.find_spec(f"plyground.agents.{name}"):
        found = getattr(importlib.import_module(f"plyground.agents.{name}"), what, None)
    return found


def can_search(game: Game) -> bool:
    """Whether minimax can play it."""
    return "evaluate" in game.rules.compiled and not game.rules.hidden and not game.rules.CHANCE


def _number(word: str, key: str, value: words.Value) -> int:
    try:
        return int(value)
    except ValueError:
        raise InvalidValue(f"{key} in {shorten(word)!r} is a whole number, not {shorten(str(value))!r}") from None
