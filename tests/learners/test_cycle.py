"""Cycles: when one ends, and the records of it."""

from __future__ import annotations

from typing import Any

from small_runs import EVERYTHING, learner_of


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
    assert learner.cycle.experience()["plies_stored"] == "48 of 48"
