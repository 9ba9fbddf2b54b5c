"""The agent `search`: its options, its defaults, and what it refuses."""

from __future__ import annotations

import signal
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY, at_once
from plyground.agents import registry
from plyground.agents.agent import Learning, ask, compile_kernels, stoppable
from plyground.agents.registry import current, find_model, make
from plyground.agents.search import (
    ReusingSearchAgent,
    SearchAgent,
    default_leaf,
    make_search,
    read_config,
)
from plyground.checks import laws
from plyground.cli.ctrl_c import interruptible
from plyground.game import module_of_file
from plyground.games.rng import seeds
from plyground.models.compiled import CompiledModel, handwritten
from plyground.search.determinized_search import DeterminizedSearch
from plyground.search.network_search import NetworkSearch, NetworkSearches
from plyground.search.tree_search import TreeSearch

pytestmark = pytest.mark.compiled


def test_defaults_depend_on_the_game_and_on_the_network(connect_four: pg.Game) -> None:
    config = read_config(connect_four, {}, network=False)
    assert (config.simulations, config.seconds, config.selection, config.leaf) == (1000, 0.0, "puct", "punisher")
    config = read_config(connect_four, {"time": "0.5"}, network=True)
    assert (config.simulations, config.seconds, config.selection, config.leaf) == (0, 0.5, "gumbel", "network")
    assert default_leaf(pg.load("chess")) == "evaluate"
    assert not config.noise, "no noise in evaluation"


def test_play_searches_as_the_run_has_learned(connect_four: pg.Game) -> None:
    agent = make_search(
        connect_four, {"sims": "16"}, find_model(connect_four, "trained"), {"value_scale": 0.7, "considered": 5}
    )
    assert (agent.config.value_scale, agent.config.considered, agent.config.noise) == (0.7, 5, False)


def test_a_learned_model_gives_priors_and_a_handwritten_one_none(connect_four: pg.Game) -> None:
    learned = CompiledModel(connect_four, module_of_file(str(ROOT / "examples" / "linear_model.py"), "model file"))
    learned.spec = "linear_model.py"
    agents = [make_search(connect_four, {"model": "named"}, each) for each in (learned, handwritten(connect_four))]
    assert [agent.config.prior_temperature for agent in agents] == [0.15, 0.0]
    assert [agent.config.selection for agent in agents] == ["puct", "puct"]


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("search:sims=0", "sims of the agent search is a whole number of at least 1, not 0"),
        ("search:sims=many", "sims of the agent search is a whole number, not 'many'"),
        ("search:time=-1", "time of the agent search is a number of seconds above 0, not -1"),
        ("search:time=nan", "time of the agent search is a number of seconds above 0, not nan"),
        ("search:reuse=maybe", "reuse of the agent search is true or false, not 'maybe'"),
        ("search:lookahead=2", "lookahead of the agent search is true or false, not '2'"),
        ("search:select=best", "select of the agent search is puct or gumbel, not 'best'"),
        ("search:leaf=oracle", "no evaluator of leaves for connect_four 'oracle'"),
        ("search:net=other", "net of the agent search is trained, not 'other'; model=DIR names a run"),
        ("search:net=trained,run=x", "a search has one model, not net=trained and run=x"),
        ("search:model=trained,leaf=random", "leaf of the agent search is for searches without a model"),
        ("search:sims=100000000", "need .* GB, where .* GB are free"),
        ("search:simulations=5", "no option of the agent search 'simulations'"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(spec: str, sentence: str, connect_four: pg.Game) -> None:
    with pytest.raises(pg.Error, match=sentence) as error:
        make(spec, connect_four)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("older", ["net=trained", "run={run}"])
def test_older_names_of_a_model_are_read_and_never_written(older: str, connect_four: pg.Game) -> None:
    run = registry._pretrained(connect_four)  # pyright: ignore[reportPrivateUsage]
    agent, today = (make(f"search:{each},sims=4".format(run=run), connect_four) for each in (older, "model=trained"))
    assert repr(agent) == repr(today)
    start = connect_four.start()
    assert start.ask(agent) == start.ask(today)
    assert current({"net": "trained", "sims": "4"}) == {"model": "trained", "sims": "4"}
    assert current({"run": "DIR"}) == current({"model": "DIR"})


def test_a_network_of_another_game_is_refused(connect_four: pg.Game) -> None:
    run = registry._pretrained(pg.load("chess"))  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(pg.Error, match="chess"):
        make(f"search:model={run},sims=10", connect_four)
    with pytest.raises(pg.InvalidValue, match="has no pretrained network"):
        make("search:model=trained", pg.load(TINY[1]))


def test_games_with_hidden_hands_are_searched_over_determinizations() -> None:
    agent = make("search:time=0.2", pg.load("sequence"))
    assert isinstance(agent, SearchAgent)
    assert isinstance(agent.searcher, DeterminizedSearch)
    assert (str(agent), agent.config.leaf) == ("search:time=0.2", "window")
    with pytest.raises(pg.InvalidValue, match="select of the agent search is for games without chance"):
        make("search:select=puct", pg.load("sequence"))


def test_a_finished_game_is_refused(connect_four: pg.Game) -> None:
    over = connect_four.position("1212121")
    with pytest.raises(pg.InvalidValue, match="a search needs a running game; row 0 is over"):
        make("search:sims=10", connect_four).act(over.states, np.zeros(1, np.uint64))


def test_a_search_with_a_network_wins_against_random(connect_four: pg.Game) -> None:
    agent: Any = make("search:model=trained,sims=12", connect_four)
    assert isinstance(agent.searcher, NetworkSearches)
    assert str(agent) == "search:sims=12"
    match = pg.match(connect_four, agent, make("random", connect_four), games=2, seed=0)
    assert match.score == 1.0


def test_a_search_that_reuses_its_tree_follows_each_game(connect_four: pg.Game) -> None:
    agent = make("search:sims=100,reuse=true,leaf=random", connect_four)
    assert isinstance(agent, ReusingSearchAgent)
    assert isinstance(agent.searcher, TreeSearch)
    assert isinstance(agent, Learning), "it is told which game a state belongs to"
    match = pg.match(connect_four, agent, make("random", connect_four), games=10, seed=0)
    assert match.score > 0.8
    assert not agent.searcher.kept, "trees of finished games are freed"


def test_a_search_with_a_network_that_reuses_its_trees_follows_each_game(connect_four: pg.Game) -> None:
    agent = make("search:model=trained,sims=60,reuse=true", connect_four)
    assert isinstance(agent, ReusingSearchAgent)
    assert isinstance(agent, Learning), "it is told which game a state belongs to"
    position, games, rngs = connect_four.start(), np.array([4]), np.zeros(1, np.uint64)
    agent.act_in(games, position.states, rngs)
    (search,) = agent.searcher.kept.values()
    again = position.play(int(search.result.chosen[0])).play(3)
    agent.act_in(games, again.states, rngs)
    assert search.trees.nodes[0, 0]["visits"] > 61, "visits of the first search are kept"
    match = pg.match(connect_four, agent, make("random", connect_four), games=4, seed=0)
    assert match.score > 0.8


def test_every_action_is_legal(connect_four: pg.Game) -> None:
    sample = laws.sample(connect_four, 20, most=200)
    actions = make("search:sims=40,leaf=random", connect_four).act(sample.states.copy(), seeds(2, len(sample.states)))
    assert connect_four.legal_mask(sample.states)[np.arange(len(actions)), actions].all()


def test_names_say_the_limit(connect_four: pg.Game) -> None:
    agent = make("search:time=0.01,leaf=random", connect_four)
    assert isinstance(agent, SearchAgent)
    assert str(agent) == "search:time=0.01"
    assert pg.match(connect_four, agent, make("random", connect_four), games=2, seed=0).score == 1.0


@pytest.mark.parametrize(
    ("word", "spec", "clock"),
    [
        ("connect_four", "search:time=60", "plyground.search.tree_search.time"),
        ("connect_four", "search:model=trained,time=60", "plyground.search.network_search.time"),
        (TINY[0], "search:time=60", "plyground.search.determinized_search.time"),
    ],
)
def test_ctrl_c_plays_the_best_move_so_far_but_ends_a_match(
    word: str, spec: str, clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interruption comes when the search looks at the clock for the twentieth time."""
    game, looks = pg.load(word), [0]
    agent: Any = make(spec, game)
    states = game.start(1).states
    agent.searcher.threads = 1  # another thread would go on for a minute
    compile_kernels(agent)

    def perf_counter() -> float:
        looks[0] += 1
        if looks[0] % 20 == 0:
            raise KeyboardInterrupt
        return time.perf_counter()

    monkeypatch.setattr(clock, SimpleNamespace(perf_counter=perf_counter))
    assert agent.act(states, seeds(0, 1))[0] >= 0
    with pytest.raises(KeyboardInterrupt):
        agent.act(np.repeat(states, 2), seeds(0, 2))


class Signals:
    """Sends Ctrl-C when a search comes back from compiled simulations for the third time."""

    def __init__(self, agent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls, searcher = 0, getattr(agent, "thinker", agent).searcher
        if isinstance(searcher, NetworkSearches):
            monkeypatch.setattr(NetworkSearch, "advance", self.sending(NetworkSearch.advance))
            return
        searcher.threads = 1
        if isinstance(searcher, DeterminizedSearch):
            searcher = searcher._own.searcher  # pyright: ignore[reportPrivateUsage]
        self.kernels, searcher.kernels = searcher.kernels, self

    def __getattr__(self, name: str) -> Any:
        kernel = getattr(self.kernels, name)
        return self.sending(kernel) if name in ("simulate_all", "play_determinizations") else kernel

    def sending(self, function: Any) -> Any:
        def run(*arguments: Any) -> None:
            self.calls += 1
            function(*arguments)
            if self.calls == 3:
                signal.raise_signal(signal.SIGINT)

        return run


@pytest.mark.parametrize(
    ("word", "spec"),
    [
        ("connect_four", "search:sims=5000,leaf=random"),
        ("connect_four", "search:sims=5000,leaf=random,reuse=true"),
        ("connect_four", "search:time=60,leaf=random,reuse=true"),
        ("connect_four", "search:model=trained,sims=500,reuse=true"),
        ("connect_four", "level:9"),
        (TINY[0], "search:sims=9000000"),
    ],
)
def test_ctrl_c_ends_a_search_by_simulations_and_one_with_reuse_too(
    word: str, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, games = pg.load(word), np.arange(2)
    agent, states = make(spec, game), game.start(1).states
    compile_kernels(agent)
    assert stoppable(agent)
    signals = Signals(agent, monkeypatch)
    with at_once(), interruptible():
        chosen = ask(agent, game, states, seeds(0, 1), games[:1])
        assert chosen[0] in pg.Position(game, states).legal()
        assert signals.calls == 3, "nothing was searched after the signal"
        signals.calls = 0
        with pytest.raises(KeyboardInterrupt):  # it was meant for the match
            ask(agent, game, np.repeat(states, 2), seeds(0, 2), games)


def test_an_agent_that_does_not_search_cannot_be_stopped(connect_four: pg.Game) -> None:
    assert not any(stoppable(make(spec, connect_four)) for spec in ("random", "greedy", "level:1", "solver"))
