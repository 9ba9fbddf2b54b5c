"""Agents choose moves; only learners update weights. The table of agents: from a spec to an agent.

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
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from plyground import specs
from plyground.agents import from_file, search, uci
from plyground.agents.turns import Turns, act_in_turns
from plyground.batch import Batch
from plyground.errors import InvalidValue, command, counted, shorten, unknown
from plyground.game import Game, agent_repr, load
from plyground.games.interface import Function
from plyground.games.rng import scatter
from plyground.kernels.threads import available, over_slices
from plyground.models.compiled import handwritten
from plyground.models.files import load_model as model_of_file
from plyground.models.model import kind_of
from plyground.position import Position
from plyground.runs.directory import read_config
from plyground.runs.learned import load_model
from plyground.search.analysis import Analysis, check_running, scored
from plyground.search.minimax import Minimax
from plyground.search.timed import TimedMinimax

GIVES_UP = uci.GIVES_UP  # in place of an action: the agent loses this game, and its last `faults` say why
SEARCHABLE = "a game without chance in which nothing is hidden and that defines `evaluate`"
UNSEEN = np.uint64(0xD1B54A32D192ED03)  # tells the draws of what a seat cannot see from those of its agent
Options = Mapping[str, str]


class Agent(Protocol):
    """Anything that chooses actions in many games at once.

    It may have the attributes `independent`, `stoppable`, `sees_all` and `leaves_circles`, which count as False where
    it has none. The functions of these names say what they mean; `leaves_circles`: an action that leads back to a
    position of the same turn is replaced (`turns.py`). With a method `act_turns`, which returns for each row a list of
    all actions of the turn that it has decided, it is not asked again while they are played.
    """

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[N] a legal action for each running state [N]; there is at least one. What the seat to act cannot see is
        drawn anew in them. Chance comes from `rngs` [N], each row from its own; other generators decide the games'."""
        ...


@runtime_checkable
class Learning(Agent, Protocol):
    """An agent that learns from its own games: it is told which game each state belongs to, and how games end."""

    def act_in(
        self, games: NDArray[np.int64], states: NDArray[np.void], rngs: NDArray[np.uint64]
    ) -> NDArray[np.int32]: ...

    def ended(self, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None: ...


@runtime_checkable
class OnDevice(Agent, Protocol):
    """An agent that also acts on the device of the games that a learner plays, where tensors hold them."""

    def to(self, device: str) -> OnDevice:
        """The same agent there."""
        ...

    def act_on(self, batch: Batch, turn: Any, rngs: Any, generator: Any, actions: Any) -> None:
        """Fill in actions [N] where `turn` [N] is set. Chance comes from `rngs` [N], or from torch's `generator`. On a
        GPU it acts in all rows, because counting the rows would synchronise."""
        ...


def ask(
    agent: Agent,
    game: Game,
    states: NDArray[np.void],
    rngs: NDArray[np.uint64],
    games: NDArray[np.int64] | None = None,
    turns: Turns | None = None,
) -> NDArray[np.int32]:
    """[R] an agent's actions in running states [R], if there are any. Whoever asks an agent asks it here.

    `games` [R] are the numbers of the games, for agents that learn from them; `turns` are the unfinished turns of these
    games (without `games`, of rows), which whoever plays them keeps from one call to the next.
    """
    if not len(states):
        return np.empty(0, np.int32)
    seen = states_for(agent, game, states, rngs)
    if not getattr(agent, "leaves_circles", False) or states.dtype != game.rules.STATE:  # heads cannot be played on
        return _act(agent, seen, rngs, games)

    def choose(rows: NDArray[np.int32]) -> NDArray[np.int32] | list[list[int]]:
        mine, own = seen[rows], rngs[rows]  # copies
        whole: Any = getattr(agent, "act_turns", None)
        found = whole(mine, own) if whole else _act(agent, mine, own, None if games is None else games[rows])
        rngs[rows] = own
        return found

    numbers = range(len(states)) if games is None else games.tolist()
    return act_in_turns(game, seen, numbers, {} if turns is None else turns, name_of(agent), choose)


def _act(
    agent: Agent, states: NDArray[np.void], rngs: NDArray[np.uint64], games: NDArray[np.int64] | None
) -> NDArray[np.int32]:
    """[R] what an agent answers, if it is an action for each state."""
    if games is not None and isinstance(agent, Learning):
        return _checked_actions(agent, agent.act_in(games, states, rngs), len(states))
    return _checked_actions(agent, agent.act(states, rngs), len(states))


def states_for(agent: Any, game: Game, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.void]:
    """[N] the states that an agent gets: what the seats to act cannot see is drawn anew, unless it `sees_all`. The
    draws follow from its generators [N], which stay as they are: nothing hidden changes what it chooses."""
    if not game.rules.hidden or sees_all(agent):
        return states
    return game.redrawn(states, scatter(rngs ^ UNSEEN))


def sees_all(agent: Any) -> bool:
    """Whether an agent asks for the states themselves, hidden cards included. What it reaches in a game with hidden
    information is then no measure of strength, so every result says so."""
    return bool(getattr(agent, "sees_all", False))


def all_seeing(game: Game, *agents: Any) -> tuple[str, ...]:
    """The names of the agents that see what their seats cannot know, in a game where something is hidden."""
    return tuple(dict.fromkeys(name_of(agent) for agent in agents if game.rules.hidden and sees_all(agent)))


def told_to_see(names: Sequence[str]) -> str:
    """`Peek of peek.py sees what is hidden`; nothing without names."""
    return f"{' and '.join(names)} {'sees' if len(names) == 1 else 'see'} what is hidden" if names else ""


def compile_kernels(agent: Any) -> None:
    """Compile what an agent needs before somebody waits for it. Only our own have a method for that."""
    if hasattr(agent, "compile_kernels"):
        agent.compile_kernels()
        if getattr(agent, "leaves_circles", False):  # `ask` plays its actions, to see whether the turn goes on
            game: Game = agent.game
            nothing = game.blank[:0].copy(), np.zeros(0, np.int32), np.zeros(0, np.uint64)
            game.kernels().play_all(*nothing, game.work())


def _checked_actions(agent: Agent, found: Any, count: int) -> NDArray[np.int32]:
    """What `act` has returned, if that is a whole number for each of `count` states: an agent may be anybody's."""
    actions = np.asarray(found)
    if actions.shape != (count,) or (count and actions.dtype.kind not in "iu"):
        what = "nothing" if found is None else f"{shorten(repr(found))}, {actions.dtype} of shape {actions.shape}"
        wanted = f"a whole number for each state, here {counted(count, 'action')}"
        raise InvalidValue(f"the agent {name_of(agent)} returns {what} from `act`, not {wanted}")
    return actions.astype(np.int32, copy=False)


def name_of(agent: Agent) -> str:
    """An agent in words: its spec, as it says itself, or its class and the file of that."""
    if spec := spec_of(agent):
        return spec
    kind = type(agent)
    if kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__:
        return str(agent)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return f"{kind.__name__} of {Path(file).name}" if file else kind.__name__


def spec_of(agent: Agent) -> str:
    """The spec that makes the same agent again: that of a run, or of a pretrained network; empty for all others."""
    spec = getattr(agent, "spec", "")  # of anybody's agent: it may mean something else
    return spec if isinstance(spec, str) else ""


def independent(agent: Agent) -> bool:
    """Whether an agent's action in a game depends on that game alone. Those with a network round its outputs otherwise
    in a batch of another size; of an agent that does not say so itself it is not known."""
    return bool(getattr(agent, "independent", False))


def stoppable(agent: Agent) -> bool:
    """Whether Ctrl-C (KeyboardInterrupt) ends an agent's search of a single position, so that it plays the best move so
    far. From `act` of several positions KeyboardInterrupt is raised: it was meant for the match."""
    return bool(getattr(agent, "stoppable", False))


def why_it_gives_up(agent: Agent) -> str:
    """The reason of an agent that has answered GIVES_UP: the last of its `faults`."""
    return getattr(agent, "faults", ["it gives no reason"])[-1]


def tell(agent: Agent, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None:
    """Tell an agent that learns how games ended; RUNNING: the game is abandoned."""
    if isinstance(agent, Learning):
        agent.ended(games, outcomes)


# ---- agents without search or network ----


class Random:
    """Plays each legal action with the same probability."""

    independent = True

    def __init__(self, game: Game) -> None:
        self.game = game

    __repr__ = agent_repr

    def __str__(self) -> str:
        return "random"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)
        self.game.kernels().random_actions(states, rngs, actions, self.game.work(), self.game.scratch())
        return actions

    def to(self, device: str) -> Random:
        return self

    def act_on(self, batch: Batch, turn: Any, rngs: Any, generator: Any, actions: Any) -> None:
        from plyground.backend.device import is_gpu  # the games are torch's: it is there

        if is_gpu(batch.on.name):
            actions.copy_(batch.random_actions().where(turn, actions))
        else:
            batch.ask(self.act, rngs, turn, actions)

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))


class ScriptedAgent:
    """Plays by a compiled function `(state, rng) -> action`, or `(state, rng, work) -> action`, of a game."""

    independent = True

    def __init__(self, game: Game, name: str, choose: Function) -> None:
        self.game, self.name, self.function = game, name, choose
        self.kernels = game.kernels_with("choose", {"choose": choose}, name)

    __repr__ = agent_repr

    def __str__(self) -> str:
        return self.name

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        actions = np.empty(len(states), np.int32)

        def run(rows: slice) -> None:
            self.kernels.choose_all(states[rows], rngs[rows], actions[rows], self.game.work())

        over_slices(run, len(states), available())
        return actions

    def to(self, device: str) -> ScriptedAgent:
        return self

    def act_on(self, batch: Batch, turn: Any, rngs: Any, generator: Any, actions: Any) -> None:
        batch.on.choose(self.function, self.name, batch.states, turn, rngs, actions)

    def compile_kernels(self) -> None:
        self.act(self.game.blank[:0].copy(), np.zeros(0, np.uint64))

    def analyse(self, position: Position, rngs: NDArray[np.uint64]) -> Analysis:
        """The score of each move, where the game has a scorer of the same name; otherwise the move that it plays."""
        from plyground.agents.teacher import Scorer  # which imports this file

        check_running(position)
        begun, scorer = time.perf_counter(), self.game.rules.SCORERS.get(self.name)
        if scorer is None:
            chosen = int(self.act(position.states.copy(), rngs)[0])
            return scored(position, {}, time.perf_counter() - begun, {chosen: 1.0})
        (actions,), (scores,) = Scorer(self.game, self.name, scorer, 1).scores(position.states)
        found = {int(action): float(score) for action, score in zip(actions, scores, strict=True) if action >= 0}
        return scored(position, found, time.perf_counter() - begun)


# ---- the table ----


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
        return TimedMinimax(game, _number("minimax", "time", options["time"]), model=model)
    if "nodes" in options:
        return TimedMinimax(game, nodes=_at_least_one("minimax", "nodes", options["nodes"]), model=model)
    numbers = {name: _whole_number("minimax", name, value) for name, value in options.items() if name != "model"}
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
    learn, which = options.get("learn", "false"), options.get("checkpoint", "")
    if learn not in ("true", "false"):
        raise InvalidValue(f"learn of the agent run is true or false, not {shorten(learn)!r}")
    if learn == "false":
        return load_run(path, game, which or "best")
    if kind_of(read_config(Path(path))) != "table":
        how = command("resume", path)
        raise InvalidValue(f"{path} cannot learn while it plays: only tables do; use {how}")
    if which not in ("", "last"):
        raise InvalidValue(f"an agent that goes on learning begins with the run's last checkpoint, not with {which!r}")
    from plyground.agents.tabular import LearningAgent

    return LearningAgent(path, game)


def _own_agents(game: Game) -> dict[str, Entry]:
    """The rows of the agents that a game defines: scripted ones, and classes."""

    def entry(name: str, value: Any, made: Callable[[Game], Agent]) -> Entry:
        def make(game: Game, path: str, options: Options) -> Agent:
            return made(game)

        make.__doc__ = (value.__doc__ or f"the game's own {name}").strip().splitlines()[0]
        return Entry(make, name)

    scripts = {
        name: entry(name, function, functools.partial(ScriptedAgent, name=name, choose=function))
        for name, function in game.rules.POLICIES.items()
    }
    return scripts | {name: entry(name, kind, kind) for name, kind in game.rules.AGENTS.items()}


def can_search(game: Game) -> bool:
    """Whether minimax can play it."""
    return "evaluate" in game.rules.compiled and not game.rules.hidden and not game.rules.CHANCE


def _pretrained(game: Game) -> Path:
    """The run directory of the game's pretrained network, if there is one."""
    return Path(__file__).parents[1] / "trained" / str(game)


def has_network(game: Game) -> bool:
    """Whether the pretrained network can play: there is one for this game with its settings, and torch is installed."""
    return _pretrained(game).is_dir() and importlib.util.find_spec("torch") is not None


def _stockfish_plays(game: Game) -> bool:
    return game.rules.UCI and uci.find("stockfish") is not None


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
    "uci": Entry(uci.make_engine, "uci:stockfish,elo=1350", _stockfish_plays, "", uci.OPTIONS, "ENGINE"),
    "run": Entry(_run, options=RUN_OPTIONS, path="DIR"),
    "file": Entry(from_file.make_agent, options=from_file.OPTIONS, path="PATH.py:NAME"),
}


def entries(game: Game) -> dict[str, Entry]:
    """The table for one game, with the agents that it defines itself."""
    own = _own_agents(game)
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
    if isinstance(own, Game) and own != game and _records(own) != _records(game):
        differ = ": its records have changed" if str(own) == str(game) else ""  # the file was edited in between
        raise InvalidValue(f"this agent plays {own}, not {game}{differ} ({shorten(name_of(agent))})")
    return agent


def _records(game: Game) -> tuple[Any, ...]:
    """What two games have in common if compiled code of one reads the records of the other."""
    return game.label, game.settings, game.rules.STATE, game.num_actions


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
    "table": "plyground.agents.tabular.TableAgent",
}
"""the agents that play by a model alone; by all other models a search of one ply plays"""


def agent_of(model: Any) -> Any:
    """The agent that plays by a model alone."""
    if model.kind not in PLAYERS:
        return Minimax(model.game, depth=1, model=model)
    module, _, name = PLAYERS[model.kind].rpartition(".")
    return getattr(importlib.import_module(module), name)(model)


def _whole_number(agent: str, option: str, value: str) -> int:
    try:
        return specs.whole_number(value)
    except ValueError:
        raise InvalidValue(f"{option} of the agent {agent} is a whole number, not {shorten(value)!r}") from None


def _at_least_one(agent: str, option: str, value: str) -> int:
    number = _whole_number(agent, option, value)
    if number < 1:
        raise InvalidValue(f"{option} of the agent {agent} is a whole number of at least 1, not {number}")
    return number


def _number(agent: str, option: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidValue(f"{option} of the agent {agent} is a number, not {shorten(value)!r}") from None
