"""Who chooses a move. An agent acts on many games at once, and never learns, unless it was asked to (`Learning`).

Agents go by words, the same in Python, on the command line and in configurations: `random`, `greedy`,
`minimax:depth=3`, `trained` (a network that comes with Plyground), `solver`, `uci:stockfish`, `run:DIR` (what a run
has learned). A game adds policies of its own
(`greedy`, `punisher`) in the module of its name in this folder, or in its own file: `POLICIES = {"greedy": greedy}`,
each a compiled function `(state, rng) -> action`. Where it brings no `greedy`, that is the move that wins at once, or
else the one that looks best by `evaluate`. There it may also have advice for people: `advise(position) -> str`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from plyground import specs
from plyground.agents import uci
from plyground.agents.simple import Random, ScriptedAgent
from plyground.errors import InvalidValue, command, shorten, unknown
from plyground.game import Game
from plyground.games.connect_four.perfect import Perfect
from plyground.games.connect_four.solver.solver import solves
from plyground.games.interface import Function
from plyground.runs.directory import read_config
from plyground.search.minimax import Minimax

MINIMAX_OPTIONS = {"depth": 3, "quiescence": 0, "table": 0}
RUN_OPTION = re.compile(r"(.*),(checkpoint|learn)=([^,]*)")
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
    name, options = specs.split(word)
    policies = policies_of(game)
    if name == "random":
        agent: Agent = Random(game)
    elif name == "minimax":
        depth, quiescence, table = (_number(word, k, options.pop(k, v)) for k, v in MINIMAX_OPTIONS.items())
        agent = Minimax(game, depth, quiescence, table)
    elif name == "solver" and solves(game):
        agent = Perfect()
    elif name == "trained" and _trained(game).is_dir():
        agent = load_run(str(_trained(game)), game)
    elif name in policies:
        agent = ScriptedAgent(game, name, policies[name])
    elif name == "greedy" and can_search(game):
        agent = Minimax(game, depth=1)
    else:
        raise unknown(f"agent for {game}", name, [*known(game), "run:DIR"])
    if options:
        raise unknown(f"option of the agent {name}", next(iter(options)), MINIMAX_OPTIONS if name == "minimax" else ())
    return agent


def _learned(word: str, game: Game) -> Agent:
    """`run:DIR`, `run:DIR,checkpoint=last`, or `run:DIR,learn=true`: what a run has learned."""
    path, options = word.removeprefix("run:"), dict[str, str]()
    while found := RUN_OPTION.fullmatch(path):
        path, options[found[2]] = found[1], found[3]
    if options.get("learn", "false") not in ("true", "false"):
        raise InvalidValue(f"learn in {shorten(word)!r} is true or false, not {shorten(options['learn'])!r}")
    which = options.get("checkpoint", "")
    if options.get("learn") != "true":
        return load_run(path, game, which or "best")
    if read_config(Path(path)).get("learner") != "tabular":
        how = command("resume", path)
        raise InvalidValue(f"{path} cannot go on learning while it plays: only tables do; use {how}")
    from plyground.agents.tabular import learning

    return learning(path, game, which)


def load_run(path: str, game: Game | None = None, which: str = "best") -> Any:
    """The agent that a run has learned: `best`, `last`, or the one of a step. Its `game` is the run's."""
    if read_config(Path(path)).get("learner") == "tabular":
        from plyground.agents.tabular import load_run as load_table

        return load_table(path, game, which)
    from plyground.agents.network import load_run as load_network  # torch takes its time

    return load_network(path, game, which)


# ---- agents that go on learning are told more ----


@runtime_checkable
class Learning(Agent, Protocol):
    """An agent that learns from its own games, if it is told which they are and how they end."""

    def act_in(
        self, games: NDArray[np.int64], states: NDArray[np.void], rngs: NDArray[np.uint64]
    ) -> NDArray[np.int32]: ...

    def ended(self, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None: ...


def ask(
    agent: Agent, games: NDArray[np.int64], states: NDArray[np.void], rngs: NDArray[np.uint64]
) -> NDArray[np.int32]:
    """[R] an agent's actions in the games of these numbers."""
    return agent.act_in(games, states, rngs) if isinstance(agent, Learning) else agent.act(states, rngs)


def tell(agent: Agent, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None:
    """How games ended; RUNNING: they did not, and are not played on."""
    if isinstance(agent, Learning):
        agent.ended(games, outcomes)


def known(game: Game) -> list[str]:
    """The words that name an agent of this game."""
    search = ["greedy", "minimax:depth=3"] if can_search(game) else []
    special = ["solver"] * solves(game) + ["uci:stockfish,elo=1350"] * (
        game.word == "chess" and uci.find("stockfish") is not None
    )
    learned = ["trained"] * _trained(game).is_dir()
    return list(dict.fromkeys(["random", *policies_of(game), *search, *learned, *special]))


def _trained(game: Game) -> Path:
    """Where the network is that comes with Plyground, for some games."""
    return Path(__file__).parents[1] / "trained" / str(game)


def usual(game: Game) -> tuple[str, ...]:
    """The agents that everybody plays against first, as far as a game has them; the stronger one last."""
    return tuple(word for word in ("random", "greedy") if word in known(game))


def policies_of(game: Game) -> Mapping[str, Function]:
    """The policies a game brings along."""
    return game.rules.POLICIES


def scorers_of(game: Game) -> Mapping[str, Function]:
    """The compiled functions `(state, action) -> float` with which a game judges actions: a teacher's judgement."""
    return game.rules.SCORERS


def adviser_of(game: Game) -> Function | None:
    """A function `(position) -> str` with which a game advises people; empty where it has nothing to say."""
    return game.rules.advise


def can_search(game: Game) -> bool:
    """Whether minimax can play it."""
    return "evaluate" in game.rules.compiled and not game.rules.hidden and not game.rules.CHANCE


def _number(word: str, key: str, value: specs.Value) -> int:
    try:
        return int(value)
    except ValueError:
        raise InvalidValue(f"{key} in {shorten(word)!r} is a whole number, not {shorten(str(value))!r}") from None
