"""Evaluation: scores with intervals, the best version, and games in notation that can be replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import plyground as pg
from plyground.agents.agent import Agent
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.learners.evaluation import (
    OPENINGS_SEED,
    SelfPlayCycle,
    evaluate,
    evaluate_in_matches,
    notation,
    summary,
)
from plyground.learners.state import TrainingState
from small_runs import EVERYTHING, ROW, learner_of


@dataclass
class Versions:
    """The present and the best version, as agents."""

    now: Agent
    best: Agent
    kept: list[Agent] = field(default_factory=list[Any])

    @property
    def identity(self) -> dict[str, str]:
        return {}

    def agent(self) -> Agent:
        return self.now

    def best_agent(self) -> Agent:
        return self.best

    def keep_best(self) -> None:
        self.kept.append(self.now)


CONFIG: Any = SimpleNamespace(eval_opponents=("random",), eval_games=20, max_plies=0)


def test_a_stronger_version_becomes_the_best_and_a_weaker_one_does_not() -> None:
    game = pg.load(ROW)
    strong, weak = make("minimax:depth=9", game), make("random", game)
    state = TrainingState(step=40, best={"step": 10})
    versions = Versions(strong, weak)
    found = evaluate_in_matches(game, CONFIG, state, cast(Any, versions))
    assert versions.kept == [strong]
    assert (state.best["step"], state.best["previous"], found["best"]) == (40, 10, 40)
    assert state.best["eval_opponents"] == found["eval_opponents"]
    assert found["against_best"]["score"] > 0.6
    state.step, versions = 50, Versions(weak, strong)
    found = evaluate_in_matches(game, CONFIG, state, cast(Any, versions))
    assert versions.kept == []
    assert (state.best["step"], found["best"]) == (40, 40)


def test_an_equal_version_becomes_the_best() -> None:
    game = pg.load(ROW)
    perfect = make("minimax:depth=9", game)
    versions = Versions(perfect, perfect)
    assert evaluate_in_matches(game, CONFIG, TrainingState(), cast(Any, versions))["against_best"]["score"] == 0.5
    assert versions.kept == [perfect]


def test_every_evaluation_plays_the_same_openings(connect_four: pg.Game) -> None:
    agent = make("greedy", connect_four)
    once, again = (evaluate(connect_four, agent, ["random", "greedy"], 20, None) for _ in range(2))
    assert once == again
    assert once.keys() == {"random", "greedy"}
    match = play_match(connect_four, agent, make("random", connect_four), 20, OPENINGS_SEED)
    assert once["random"] == summary(match)
    assert 0.25 < once["greedy"]["score"] < 0.75


def test_a_summary_counts_every_game_and_gives_an_interval(connect_four: pg.Game) -> None:
    match = play_match(connect_four, make("greedy", connect_four), make("random", connect_four), 20, 1, max_plies=10)
    found = summary(match)
    assert found["games"] == found["wins"] + found["draws"] + found["losses"] == 20
    assert 0 < found["truncated"] <= found["draws"]
    assert found["low"] <= found["score"] <= found["high"]


def test_games_in_notation_can_be_replayed(connect_four: pg.Game) -> None:
    agent, opponent = make("greedy", connect_four), make("random", connect_four)
    lines = notation(connect_four, agent, opponent, "random", 4, seed=5, max_plies=None).splitlines()
    assert len(lines) == 8
    for k, (heading, moves) in enumerate(zip(lines[::2], lines[1::2], strict=True)):
        sides = connect_four.rules.SIDES
        assert heading.endswith(f": the learner is {sides[k % 2]}, random {sides[1 - k % 2]}")
        position = connect_four.position(heading.removeprefix("# from ").partition(":")[0])
        names, _, ending = moves.partition(" FIRST_WINS") if "FIRST_WINS" in moves else moves.partition(" SECOND_WINS")
        for name in names.split():
            position = position.play(name)
        assert position.over
        assert ending == " (four in a row)"


def test_a_game_in_notation_stops_at_the_limit_of_plies(connect_four: pg.Game) -> None:
    agent = make("random", connect_four)
    _, moves = notation(connect_four, agent, agent, "random", 1, seed=5, max_plies=3).splitlines()
    assert len(moves.split()) == 4
    assert moves.endswith("RUNNING")


def played(**changes: Any) -> Any:
    """A learner at the end of its first cycle."""
    learner = learner_of("a2c", **changes)
    while learner.cycle.progress() < 1:
        learner.state.track_metrics(learner.iterate(), learner.config)
        learner.state.step += 1
    learner.state.cycle += 1
    return learner


def test_a_cycle_ends_with_its_games() -> None:
    learner = played(games_per_cycle=20)
    assert 20 <= learner.cycle.results.games < 20 + learner.config.num_envs
    (cycle, evaluation) = learner.cycle.end()
    assert learner.cycle.progress() == 0, "the next one begins"
    assert (cycle["event"], evaluation["event"]) == ("cycle", "evaluation")
    for event in (cycle, evaluation):
        assert (event["step"], event["cycle"], event["cycles"]) == (learner.state.step, 1, 3)
    assert cycle["games"] >= 20
    assert cycle["plies"] == learner.state.plies == 8 * learner.state.step
    assert cycle["learning_rate"] == learner.model.learning_rate
    assert cycle["plies_looked_at"] == 6 * 8, "all rows of the rollout"
    assert {"policy_loss", "seconds", "distinct", "quality", "reasons"} <= cycle.keys()


def test_an_evaluation_comes_only_when_it_is_due() -> None:
    learner = played(games_per_cycle=10, checkpoint_interval=2)
    assert [event["event"] for event in learner.cycle.end()] == ["cycle"]
    learner.state.cycle = 2
    assert [event["event"] for event in learner.cycle.end()] == ["cycle", "evaluation"]


def test_a_snapshot_is_kept_only_where_snapshots_play() -> None:
    for opponents, count in ((("1 self",), 0), (EVERYTHING["opponents"], 1)):
        learner = played(games_per_cycle=10, snapshot_interval=1, opponents=opponents)
        learner.cycle.end()
        assert len(learner.model.snapshots.networks) == count


def test_a_summary_says_how_full_the_buffer_is() -> None:
    learner = played(games_per_cycle=10)
    assert learner.cycle.summary() == "replay buffer 48"


def test_a_cycle_of_seconds_ends_with_the_runs_clock() -> None:
    def progress(games: int, seconds: float, state: TrainingState, played: int) -> float:
        config, results = (
            SimpleNamespace(games_per_cycle=games, seconds_per_cycle=seconds),
            SimpleNamespace(games=played),
        )
        return SelfPlayCycle(config, state, cast(Any, None), cast(Any, results), dict, str).progress()

    assert progress(0, 4.0, TrainingState(cycle=2, seconds=11.0), 0) == 0.75
    assert progress(50, 4.0, TrainingState(), 20) == 0.4
