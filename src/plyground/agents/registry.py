"""The table of agents: from a spec to an agent.

An agent spec is the same in Python, on the command line and in configs: `random`, `greedy`, `minimax:depth=3`,
`search:sims=1000`, `trained` (a pretrained network), `uci:stockfish`, `run:DIR` (what a run has learned),
`file:PATH.py:NAME` (an agent or a torch module from your own file). AGENTS has one entry for each name; a game adds its
own (`POLICIES` and `AGENTS` of the contract). Where a game has no scripted agent `greedy`, that is the move that wins
at once, or else the one with the best `evaluate`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plyground import specs
from plyground.agents import from_file, search, uci
from plyground.agents.agent import Agent, name_of
from plyground.agents.scripted import Random, ScriptedAgent
from plyground.errors import InvalidValue, command, shorten, unknown
from plyground.game import Game, load
from plyground.models.compiled import handwritten
from plyground.models.files import load_model as model_of_file
from plyground.models.model import kind_of
from plyground.runs.directory import read_config
from plyground.runs.learned import load_model
from plyground.search.minimax import Minimax
from plyground.search.timed import TimedMinimax

SEARCHABLE = "a game without chance in which nothing is hidden and that defines `evaluate`"
Options = Mapping[str, str]


@dataclass(frozen=True)
class Entry:
    """One row of the table: `name:option=value`, or `name:PATH,option=value`."""

    make: Callable[[Game, str, Options], Agent]
    """(game, path, options) -> agent; the docstring is shown to people"""
    example: str = ""
    """the spec that is listed for a game that the agent can play"""
    plays: Callable[[Game], bool] = lambda _: True
    needs: str = ""
    """what a game must have, for the error where it has not"""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    """option: its meaning"""
    path: str = ""
    """the name of the path in help, where the spec has one"""


def _random(game: Game, path: str, options: Options) -> Agent:
    """any legal action, equally likely"""
    return Random(game)


def _greedy(game: Game, path: str, options: Options) -> Agent:
    """a winning move, or else the one with the best `evaluate`"""
    return Minimax(game, depth=1)


def _minimax(game: Game, path: str, options: Options) -> Agent:
    """alpha-beta search to a fixed depth, for a time, or for a number of nodes"""
    for limit in ("time", "nodes"):
        others = [name for name in options if name not in (limit, "model")]
        if limit in options and others:
            raise InvalidValue(
                f"the agent minimax takes time, or nodes, or depth, quiescence and table; not {limit} and {others[0]}"
            )
    word = options.get("model", "evaluate")
    model = None if word == "evaluate" else find_model(game, word)  # None: a search by time has a finer `evaluate`
    if model is not None and not model.compiled:
        how = f"; a tree search uses it, search:model={word}" if model.kind == "network" else ""
        raise InvalidValue(f"minimax judges by compiled models, and {word} is a {model.kind}{how}")
    if "time" in options:
        return TimedMinimax(game, specs.read_number("minimax", "time", options["time"]), model=model)
    numbers = {name: specs.read_whole("minimax", name, value) for name, value in options.items() if name != "model"}
    if "nodes" in options:
        if numbers["nodes"] < 1:
            raise InvalidValue(f"nodes of the agent minimax is a whole number of at least 1, not {numbers['nodes']}")
        return TimedMinimax(game, nodes=numbers["nodes"], model=model)
    return Minimax(game, numbers.get("depth", 3), numbers.get("quiescence", 0), numbers.get("table", 0), model=model)


def _search(game: Game, path: str, options: Options) -> Agent:
    """tree search, without a network or with one; where something is hidden, search over determinizations"""
    search.check_options(game, options)
    model = find_model(game, word) if (word := options.get("model", "")) else None
    how = search.as_learned(read_config(model.folder)) if model and model.folder else {}
    return search.make_search(game, options, model, how)


def find_model(game: Game, word: str) -> Any:
    """The model that an option `model=...` names: the game's own evaluation, the pretrained network, the model of a
    file of one's own, or what a run has learned."""
    if word == "evaluate":
        if "evaluate" not in game.rules.compiled:
            raise InvalidValue(f"{game} defines no `evaluate`: leave model=evaluate out")
        return handwritten(game)
    if word.endswith(".py"):
        return model_of_file(word, game, trained=True)
    if word == "trained" and not _pretrained(game).is_dir():
        raise InvalidValue(f"{game} has no pretrained network: leave model=trained out, or name a run by model=DIR")
    model = load_model(_pretrained(game) if word == "trained" else Path(word), game)
    model.spec = word
    return model


def current(options: Options) -> Options:
    """The options of a search as they are written today: `net=trained` and `run=DIR`, which older specs have, mean
    `model=trained` and `model=DIR`."""
    names = [name for name in ("model", "net", "run") if name in options]
    if len(names) > 1:
        raise InvalidValue(f"a search has one model, not {' and '.join(f'{name}={options[name]}' for name in names)}")
    if options.get("net", "trained") != "trained":
        raise InvalidValue(
            f"net of the agent search is trained, not {shorten(options['net'])!r}; model=DIR names a run"
        )
    return {"model" if name in names else name: value for name, value in options.items()}


def _level(game: Game, path: str, options: Options) -> Agent:
    """an opponent of a strength from 1 to 10; 10 is the strongest agent"""
    from plyground.agents.levels import LevelAgent, read_level

    return LevelAgent(game, read_level(path))


def _trained(game: Game, path: str, options: Options) -> Agent:
    """the pretrained network"""
    agent = load_run(str(_pretrained(game)), game)
    agent.spec = "trained"
    return agent


def _run(game: Game, path: str, options: Options) -> Agent:
    """what a run has learned"""
    which = options.get("checkpoint", "")
    if not specs.read_flag("run", "learn", options.get("learn", "false")):
        return load_run(path, game, which or "best")
    if kind_of(read_config(Path(path))) != "table":
        how = command("resume", path)
        raise InvalidValue(f"{path} cannot learn while it plays: only tables do; use {how}")
    if which not in ("", "last"):
        raise InvalidValue(f"an agent that goes on learning begins with the run's last checkpoint, not with {which!r}")
    from plyground.agents.tabular import LearningAgent

    return LearningAgent(path, game)


def can_search(game: Game) -> bool:
    """Whether minimax can play it."""
    return "evaluate" in game.rules.compiled and not game.rules.hidden and not game.rules.CHANCE


def _pretrained(game: Game) -> Path:
    """The run directory of the game's pretrained network, if there is one."""
    return Path(__file__).parents[1] / "trained" / str(game)


def has_network(game: Game) -> bool:
    """Whether the pretrained network can play: there is one for this game with its settings, and torch is installed."""
    return _pretrained(game).is_dir() and importlib.util.find_spec("torch") is not None


MINIMAX_OPTIONS = {
    "depth": "plies to look ahead (3)",
    "quiescence": "plies beyond the depth that follow captures (0)",
    "table": "keep 2**table positions (0: none)",
    "time": "seconds for a turn, in place of the others: iterative deepening",
    "nodes": "nodes for an action, in place of the others: the same search, reproducible",
    "model": "what judges positions: evaluate, or PATH.py, a model of one's own (evaluate)",
}
RUN_OPTIONS = {"checkpoint": "best, last, or a step (best)", "learn": "true: a table that goes on learning (false)"}
AGENTS = {
    "random": Entry(_random, "random"),
    "greedy": Entry(_greedy, "greedy", can_search, SEARCHABLE),
    "minimax": Entry(_minimax, "minimax:depth=3", can_search, SEARCHABLE, MINIMAX_OPTIONS),
    "search": Entry(_search, "search:sims=1000", options=search.OPTIONS),
    "level": Entry(_level, "level:5", path="N"),
    "trained": Entry(_trained, "trained", lambda game: _pretrained(game).is_dir(), "a pretrained network"),
    "uci": Entry(
        uci.make_engine,
        "uci:stockfish,elo=1350",
        lambda game: game.rules.UCI and uci.find("stockfish") is not None,
        options=uci.OPTIONS,
        path="ENGINE",
    ),
    "run": Entry(_run, options=RUN_OPTIONS, path="DIR"),
    "file": Entry(from_file.make_agent, options=from_file.OPTIONS, path="PATH.py:NAME"),
}


def entries(game: Game) -> dict[str, Entry]:
    """The table for one game, with the agents that it defines itself: scripted ones, and classes."""

    def entry(name: str, value: Any, made: Callable[[Game], Agent]) -> Entry:
        def make(game: Game, path: str, options: Options) -> Agent:
            return made(game)

        make.__doc__ = (value.__doc__ or f"the game's own {name}").strip().splitlines()[0]
        return Entry(make, name)

    own = {
        name: entry(name, function, functools.partial(ScriptedAgent, name=name, choose=function))
        for name, function in game.rules.POLICIES.items()
    } | {name: entry(name, kind, kind) for name, kind in game.rules.AGENTS.items()}
    return {"random": AGENTS["random"], **own, **{name: own.get(name, entry) for name, entry in AGENTS.items()}}


def make(spec: str | Any, game: Game | str, encoder: str = "") -> Agent:
    """The agent of a spec, or of a torch module: `pg.agent("minimax:depth=3", "chess")`. An agent is returned as it is.

    A module maps the observations of `encoder`, or of the encoder that its attribute `encoder` names, to one number for
    each action, and plays the legal action with the highest; see `agents/from_file.py`.
    """
    game = load(game)
    if not isinstance(spec, str):
        return _checked_game(from_file.agent_of(spec, game, encoder), game)
    name, colon, rest = spec.partition(":")
    table = entries(game)
    entry = table.get(name)
    if entry is None:
        paths = (f"{each}:{found.path}" for each, found in table.items() if found.path)
        raise unknown(f"agent for {game}", name, [*known(game), *paths])
    if entry.needs and not entry.plays(game):
        others = ", ".join(known(game))
        raise InvalidValue(f"the agent {name} cannot play {game}: it needs {entry.needs}; known: {others}")
    path, options = specs.split_path(rest) if entry.path else ("", specs.read_options(rest, spec) if colon else {})
    options = current(options) if name in ("search", "minimax") else options
    if entry.path and not path:
        raise InvalidValue(f"{shorten(spec)!r} names no {entry.path}; write {name}:{entry.path}")
    for option in options:
        if name == "run" and option in search.OPTIONS:
            how = f"search:model={path},{option}={options[option]}"
            raise InvalidValue(f"a run without a search has no {option}; a search with its network: {how}")
        if option not in entry.options:
            raise unknown(f"option of the agent {name}", option, entry.options)
    return entry.make(game, path, options)


def _checked_game(agent: Agent, game: Game) -> Agent:
    """An agent, if it was made for this game, or for a file of the same name whose records are the same."""
    own = getattr(agent, "game", game)
    if not isinstance(own, Game) or own == game:
        return agent
    # in common if compiled code of one reads the records of the other
    one, other = ((each.label, each.settings, each.rules.STATE, each.num_actions) for each in (own, game))
    if one != other:
        differ = ": its records have changed" if str(own) == str(game) else ""  # the file was edited in between
        raise InvalidValue(f"this agent plays {own}, not {game}{differ} ({shorten(name_of(agent))})")
    return agent


def known(game: Game) -> list[str]:
    """The specs to list for a game."""
    return [entry.example for entry in entries(game).values() if entry.example and entry.plays(game)]


def usual(game: Game) -> tuple[str, ...]:
    """The default opponents, as far as a game has them; the stronger one last."""
    return tuple(spec for spec in ("random", "greedy") if spec in known(game))


def load_run(path: str, game: Game | None = None, which: str = "best") -> Any:
    """The agent that a run has learned: checkpoint `best`, `last`, or a step. Its `game` is the run's.

    A notice says what has changed in the code since the checkpoint was made.
    """
    agent = agent_of(load_model(Path(path), game, which))
    agent.spec = f"run:{path}" + (f",checkpoint={which}" if which != "best" else "")
    return agent


PLAYERS = {
    "network": "plyground.agents.network.NetworkAgent",
    "ntuple": "plyground.agents.ntuple.NTupleAgent",
    "sparse": "plyground.agents.sparse.SparseAgent",
    "table": "plyground.agents.tabular.TableAgent",
}
"""the agents that play by a model alone; by all other models a search of one ply plays"""


def agent_of(model: Any) -> Any:
    """The agent that plays by a model alone."""
    if model.kind not in PLAYERS:
        return Minimax(model.game, depth=1, model=model)
    module, _, name = PLAYERS[model.kind].rpartition(".")
    return getattr(importlib.import_module(module), name)(model)
