"""Agents that play by search: tree search without a network, or with one; over determinizations where something is
hidden or left to chance."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, shorten
from plyground.game import Game, agent_repr
from plyground.position import Position
from plyground.search.analysis import Analysis, Analyst, Growing, GrowingTree, analyse, last_analysis
from plyground.search.determinized_search import DeterminizedSearch, Prior, Searcher
from plyground.search.tree_arrays import Result
from plyground.search.tree_config import LEAVES, SELECTIONS, SearchConfig
from plyground.search.tree_search import TreeSearch
from plyground.specs import read_flag, read_number, read_whole

SIMULATIONS, THOROUGH = 1000, 10_000  # for a move; for an analysis
ROLLOUTS = 8  # games that it plays from a leaf
OPTIONS = {
    "sims": f"simulations for a move ({SIMULATIONS}, unless time is given)",
    "time": "seconds for a move",
    "model": "what evaluates leaves: trained (the pretrained network), DIR (a run's network), PATH.py, evaluate",
    "leaf": "without a model: evaluate, random, or a scripted agent that plays on (default: by game)",
    "rollouts": "games played from a leaf (8 by a scripted agent, else 1)",
    "plies": "of that play, then evaluate decides (0: to the end)",
    "select": "puct or gumbel (gumbel with a network, else puct)",
    "c": "exploration of puct (2)",
    "lookahead": "true: find wins at once when a node is expanded (true)",
    "reuse": "true: keep the tree between the moves of a game (false)",
    "device": "cuda: the network and the trees are on a GPU, for matches of many games (cpu)",
}
NUMBERS = {"sims": read_whole, "time": read_number, "rollouts": read_whole, "plies": read_whole, "c": read_number}
TREE_OPTIONS = ("rollouts", "select", "c", "lookahead", "reuse", "device")
AS_LEARNED = ("considered", "value_scale")  # of the search by which AlphaZero learned: play uses the same
JUDGED = {"prior_temperature": 0.15}  # of a learned model that has no policy
IMITATED = {"value_scale": 0.5}  # a policy that no search has improved yet: values count more beside it
TREE_GAMES = "games without chance in which nothing is hidden"


def can_search_trees(game: Game) -> bool:
    """Whether tree search can play a game; otherwise a search goes over determinizations."""
    return not game.rules.hidden and not game.rules.CHANCE


class SearchAgent:
    """Plays what a search chooses: a tree search, without a network or with one that evaluates leaves; or one over
    determinizations in games with hidden information or chance, where a network's policy may name the candidates."""

    leaves_circles = True
    stoppable = True

    def __init__(
        self,
        game: Game,
        config: SearchConfig,
        threads: int | None = None,
        prior: Prior | None = None,
        model: Any = None,
    ) -> None:
        """`model`: what evaluates the leaves of trees, a network or a compiled one."""
        self.game, self.config, self.prior, self.model = game, config, prior, model
        self.independent = model is None or model.compiled  # a network evaluates all positions together
        self.searcher: Any
        if model is not None and not model.compiled:
            from plyground.search.network_search import NetworkSearches

            self.searcher = NetworkSearches(model, config)
        elif can_search_trees(game):
            self.searcher = TreeSearch(game, config, threads, model)
        else:
            self.searcher = DeterminizedSearch(game, config, threads, prior)

    __repr__ = agent_repr

    def __str__(self) -> str:
        return f"search:{describe(self.config)}{self.model.option if self.model and self.independent else ''}"

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        return self.search(states, rngs).chosen

    def compile_kernels(self) -> None:
        self.searcher.compile()

    def search(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> Result:
        """What the search finds in running states [N]."""
        check_running(self.game, states)
        return self.searcher.search(states, rngs)

    def growing(self, config: SearchConfig | None = None) -> Growing:
        """The same search of one position, or one with other limits, step by step, for an analysis."""
        if not self.independent:
            return self.searcher.growing(config or self.config)
        if can_search_trees(self.game):
            return GrowingTree(self.game, config or self.config, self.model)
        return Searcher(self.game, config or self.config, self.prior)

    def analyse(self, position: Position, rngs: NDArray[np.uint64]) -> Analysis:
        """Each move's prior, visits, value and line after a search with the agent's limits."""
        return last_analysis(self.analyst(), position, rngs)

    def analyst(self) -> Analyst:
        """The same while it is searched; the memory of the tree is kept from one position to the next."""
        return partial(analyse, self.growing())


class ReusingSearchAgent(SearchAgent):
    """The same, with a tree for each game that is kept between its moves."""

    def act_in(self, games: NDArray[np.int64], states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        check_running(self.game, states)
        return self.searcher.search_in(games, states, rngs).chosen

    def ended(self, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None:
        self.searcher.forget(games)


def check_running(game: Game, states: NDArray[np.void]) -> None:
    """Raise InvalidValue if a game is over: nothing is left to search."""
    over = np.flatnonzero(states["outcome"])
    if len(over):
        text = shorten(game.rules.view(states[over[0]], 0))
        raise InvalidValue(f"a search needs a running game; row {over[0]} is over: {text!r}")


def describe(config: SearchConfig) -> str:
    """The limits of a search as a spec's options."""
    sims, seconds = config.simulations, config.seconds
    return ",".join([f"sims={sims}"] * (sims > 0) + [f"time={seconds:g}"] * (seconds > 0))


def check_options(game: Game, options: Mapping[str, str]) -> None:
    """Raise InvalidValue if an option is for trees, which the game cannot have."""
    for name in TREE_OPTIONS:
        if name in options and not can_search_trees(game):
            raise InvalidValue(f"{name} of the agent search is for {TREE_GAMES}; {game} is not one: leave it out")


def read_config(game: Game, options: Mapping[str, str], network: bool) -> SearchConfig:
    """The settings that an agent spec's options mean; defaults depend on the game."""
    numbers = {name: read("search", name, options[name]) for name, read in NUMBERS.items() if name in options}
    for name in ("leaf", "rollouts", "plies"):
        if "model" in options and name in options and can_search_trees(game):
            raise InvalidValue(f"{name} of the agent search is for searches without a model")
    if "time" in numbers and not 0.0 < numbers["time"] < math.inf:
        raise InvalidValue(f"time of the agent search is a number of seconds above 0, not {shorten(options['time'])}")
    reuse = read_flag("search", "reuse", options.get("reuse", "false"))
    lookahead = read_flag("search", "lookahead", options.get("lookahead", "true"))
    if options.get("select", "puct") not in SELECTIONS:
        raise InvalidValue(
            f"select of the agent search is {' or '.join(SELECTIONS)}, not {shorten(options['select'])!r}"
        )
    if "sims" in numbers and numbers["sims"] < 1:
        raise InvalidValue(f"sims of the agent search is a whole number of at least 1, not {options['sims']}")
    default = "evaluate" if "model" in options and can_search_trees(game) else default_leaf(game)
    leaf = "network" if network else options.get("leaf", default)
    return SearchConfig(
        simulations=int(numbers.get("sims", 0 if "time" in numbers else SIMULATIONS)),
        seconds=float(numbers.get("time", 0.0)),
        leaf=leaf,
        rollouts=int(numbers.get("rollouts", 1 if leaf in LEAVES else ROLLOUTS)),
        selection=options.get("select", "gumbel" if network else "puct"),
        lookahead=lookahead,
        reuse=reuse,
        rollout_plies=int(numbers.get("plies", 0)),
        exploration=float(numbers.get("c", SearchConfig.exploration)),
    )


def default_leaf(game: Game) -> str:
    """What evaluates leaves without a network: a quick scripted agent that plays on, `evaluate`, or random play."""
    if game.rules.ROLLOUT:
        return game.rules.ROLLOUT
    return "evaluate" if "evaluate" in game.rules.compiled and can_search_trees(game) else "random"


def thorough(game: Game) -> int:
    """Simulations of an analysis without a network: a third of a second where `evaluate` judges leaves at once, less
    for each action of a turn that has several."""
    if default_leaf(game) != "evaluate":
        return THOROUGH
    return (40 if game.rules.turn_text is None else 10) * THOROUGH


def as_learned(run: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a search that suit the network of a run, by the run's config."""
    own = {name: run[name] for name in AS_LEARNED if name in run}
    return {**IMITATED, **own} if run.get("learner") == "imitation" else own


def make_search(game: Game, options: Mapping[str, str], model: Any = None, how: Mapping[str, Any] | None = None) -> Any:
    """The agent of a spec's options. `model` evaluates leaves, if there is one: a compiled one, or a network with the
    settings `as_learned` of its run, `how`."""
    network: Any = None if model is None or model.compiled else model
    config = read_config(game, options, network is not None and can_search_trees(game))
    if network is not None:
        if network.kind == "table":
            raise InvalidValue(f"a search needs a run with a network; {options.get('model')} has a table")
        if "device" in options:
            from plyground.backend.device import choose

            network = network.to(choose(options["device"])[0])
        if not can_search_trees(game):
            return SearchAgent(game, config, prior=prior_of(network))
        model, config = network, dataclasses.replace(config, **(how or {}))
    elif model is not None and not can_search_trees(game):
        raise InvalidValue(f"a compiled model evaluates leaves in {TREE_GAMES}; {game} is not one")
    elif model is not None and model.option:
        config = dataclasses.replace(config, **JUDGED)
    return (ReusingSearchAgent if config.reuse else SearchAgent)(game, config, model=model)


def prior_of(network: Any) -> Prior:
    """The policy of a network, for searches that consider its likeliest actions."""
    import torch

    from plyground.networks import log_probabilities

    view = network.view

    def prior(states: NDArray[np.void]) -> NDArray[np.float64]:
        rows = view.rows(states.copy())
        with torch.no_grad():
            log_probs = log_probabilities(network.network(view.observe(rows)), view.legal(rows))[0].cpu().numpy()
        outputs = view.action_outputs[int(view.on.seats(rows)[0])].cpu().numpy()  # [A]
        known = np.append(log_probs, -np.inf)  # an action that the network has no output for
        return known[np.minimum(outputs, view.outputs)].astype(np.float64)

    return prior
