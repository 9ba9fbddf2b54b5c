"""The training loop: events, checkpoints, rollbacks, and that it emits plain data only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from plyground.errors import Error, IllegalAction
from plyground.learners import saving, training
from plyground.learners.state import Diverged
from plyground.learners.training import progress, roll_back, save, train
from plyground.runs.directory import newest_whole, steps_of
from resumed import after_steps, begin, resume, silent
from runs_on_disk import read_records
from small_runs import short

CONFIG = short("a2c", games_per_cycle=20)


def test_events_are_plain_data_and_the_same_as_in_the_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "TICK_INTERVAL", 0.0)
    events: list[dict[str, Any]] = []
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        assert train(learner, run, events.append)
    ticks = [event for event in events if event["event"] == "tick"]
    others = [event for event in events if event["event"] != "tick"]
    assert json.loads(json.dumps(others)) == read_records(run.path)
    assert len(ticks) == learner.state.step
    last = json.loads(json.dumps(ticks[-1]))
    assert (last["step"], last["cycle"], last["cycles"]) == (learner.state.step, 3, 3)
    assert last["eval_opponents"] == ["random"]
    assert last["metrics"] == learner.state.averages
    steps = [tick["step"] for tick in ticks]
    assert steps == sorted(steps)
    boards = {tick["board"] for tick in ticks}
    assert len(boards) > 3, "a game that is being played"
    assert all("a b c" in board for board in boards)
    assert last["players"].startswith("now playing: the learner (")
    assert " against itself (" in last["players"]


def test_notes_are_emitted_once(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    learner.state.notes.append("a message for people")
    with run:
        train(learner, run, silent, after_steps(learner, 5))
    assert [each["text"] for each in read_records(run.path) if each["event"] == "note"] == ["a message for people"]
    assert learner.state.notes == []


def test_progress_is_the_further_of_cycles_and_seconds(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("a2c", games_per_cycle=20, cycles=4, seconds=10.0))
    run.close()
    learner.state.cycle, learner.cycle.results.counts["games"] = 1, 10
    assert progress(learner) == pytest.approx(1.5 / 4)
    learner.state.seconds = 9.0
    assert progress(learner) == pytest.approx(0.9)
    learner.state.seconds = 99.0
    assert progress(learner) == 1.0


def test_a_timed_run_ends_with_a_cycle_an_evaluation_and_a_checkpoint(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("a2c", cycles=0, seconds=0.2, games_per_cycle=10**9))
    with run:
        assert train(learner, run, silent)
    assert [each["event"] for each in read_records(run.path)] == ["cycle", "evaluation"]
    assert steps_of(run.path)[-1] == learner.state.step
    assert 0.2 <= learner.state.seconds < 5


def test_a_stopped_run_is_saved_and_says_that_it_has_not_finished(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        assert not train(learner, run, silent, after_steps(learner, 7))
    assert steps_of(run.path) == [0, 7]
    assert json.loads((run.path / "best.json").read_text())["step"] == 0


def test_checkpoints_are_pruned(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", short("a2c", games_per_cycle=8, cycles=6, keep_last=2, keep_every=3))
    saved: list[int] = []
    with run:
        train(learner, run, lambda event: saved.append(event["step"]) if event["event"] == "cycle" else None)
    kept, best = steps_of(run.path), json.loads((run.path / "best.json").read_text())["step"]
    assert set(saved[-2:]) <= set(kept)
    assert best in kept
    assert 0 in kept, "the first of every three"
    assert len(kept) < len(saved) + 1


def test_a_changed_end_is_a_note(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        save(learner, run)
        longer, other = begin(tmp_path / "other", short("a2c", games_per_cycle=20, cycles=9))
        other.close()
        training.load(longer, run)
    assert longer.state.notes == ["the end of the run has changed: cycles: 9 instead of 3"]


# ---- divergence ----


def test_a_rollback_returns_to_the_last_checkpoint_with_half_the_rate_and_other_numbers(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        train(learner, run, silent, after_steps(learner, 12))
        weights = {name: value.clone() for name, value in learner.model.network.state_dict().items()}
        generator = learner.rollout.rng.get_state()
        for _ in range(12):
            learner.iterate()
            learner.state.step += 1
        for number in (1, 2):
            roll_back(learner, run, Diverged("loss is nan"))
            assert learner.state.rollbacks == number
            assert learner.state.step == 12
            for name, value in learner.model.network.state_dict().items():
                assert torch.equal(value, weights[name]), name
            assert not torch.equal(learner.rollout.rng.get_state(), generator), "not the same path again"
            generator = learner.rollout.rng.get_state()
        learner.model.schedule_learning_rate(learner.state)
        assert learner.model.learning_rate == pytest.approx(CONFIG.learning_rate / 4)
        assert learner.state.notes[-1] == ("loss is nan: rolled back to step 12, learning rate halved (2 of 5)")


def test_too_many_rollbacks_are_an_error(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        save(learner, run)
        learner.state.rollbacks = 5
        with pytest.raises(Error, match="loss is nan, after 5 rollbacks: try a smaller learning_rate or max_grad_norm"):
            roll_back(learner, run, Diverged("loss is nan"))


def test_rollbacks_survive_a_resume(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        train(learner, run, silent, after_steps(learner, 6))
        roll_back(learner, run, Diverged("loss is nan"))
        train(learner, run, silent, after_steps(learner, 6))
    again, run = resume(run.path, learner.config)
    run.close()
    assert again.state.rollbacks == 1


def test_an_illegal_action_ends_the_run_and_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)

    def illegal() -> Any:
        raise IllegalAction("row 3: 4 is not legal")

    monkeypatch.setattr(learner, "iterate", illegal)
    with run, pytest.raises(IllegalAction, match="row 3: 4 is not legal"):
        train(learner, run, silent)
    assert read_records(run.path)[-1] == {"event": "illegal", "step": 0, "illegal_moves": 1}


def test_a_loaded_run_is_not_begun_again(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", CONFIG)
    with run:
        train(learner, run, silent, after_steps(learner, 1))
        checkpoint = newest_whole(run.path)
        saving.load(learner, checkpoint)
        train(learner, run, silent, after_steps(learner, 3))
    assert steps_of(run.path) == [0, 1, 4]
