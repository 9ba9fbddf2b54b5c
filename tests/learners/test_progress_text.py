"""One line for each cycle, with its evaluation; one for each epoch."""

from __future__ import annotations

from plyground.learners.progress_text import ShortLines

CYCLE = {"event": "cycle", "cycle": 1, "cycles": 2, "games": 1, "seconds": {"total": 3.2}, "illegal_moves": 0}
EVALUATION = {"event": "evaluation", "cycle": 1, "cycles": 2, "eval_opponents": {"random": {"score": 0.8}}}


def lines_of(*events: dict[str, object]) -> list[str]:
    said = list[str]()
    lines = ShortLines(said.append)
    for event in events:
        lines(event)
    lines.end()
    return said


def test_a_cycle_waits_for_its_evaluation() -> None:
    assert lines_of(CYCLE, {"event": "tick"}, EVALUATION) == ["cycle 1/2: 80% against random · 1 game, 3 s"]


def test_a_cycle_without_an_evaluation_is_told_before_the_next_event_or_at_the_end() -> None:
    later = {**CYCLE, "cycle": 2, "illegal_moves": 1}
    assert lines_of(CYCLE, {"event": "note"}, later) == [
        "cycle 1/2: 1 game, 3 s",
        "cycle 2/2: 1 game, 3 s · 1 illegal move",
    ]


def test_an_epoch_is_told_at_once() -> None:
    epoch = {"event": "epoch", "epoch": 1, "epochs": 4, "match@1": 0.25, "seconds": 2.0}
    assert lines_of(epoch) == ["epoch 1/4: as the teacher in 25% of new positions · 2 s"]
