"""The live display: events of plain data as a table on a terminal and as lines elsewhere."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from plyground.cli import display
from plyground.learners import progress_text

OPPONENTS = ("random", "greedy", "minimax:depth=3")
TICK: dict[str, Any] = {
    "event": "tick",
    "game": "/home/me/hops.py",
    "step": 7,
    "cycle": 2,
    "cycles": 10,
    "cycle_progress": 0.25,
    "seconds": 12.4,
    "seconds_limit": 60.0,
    "plies": 1000,
    "updates": 50,
    "metrics": {"loss": 0.5, "own": 1.0, "entropy": 0.25},
    "buffer": "replay buffer 4,000",
    "eval_opponents": OPPONENTS,
}
SCORE = {"score": 0.8, "low": 0.7, "high": 0.9}
EVALUATION: dict[str, Any] = {
    "event": "evaluation",
    "cycle": 3,
    "cycles": 10,
    "eval_opponents": dict.fromkeys(OPPONENTS, SCORE),
    "against_best": SCORE,
    "puzzles": {"win_in_1": 0.5},
    "best": 7,
}
ENDINGS = {"first_wins": 0.5, "second_wins": 0.25, "draws": 0.25, "truncated": 0.0, "mean_length": 7.5}
CYCLE: dict[str, Any] = {
    "event": "cycle",
    "cycle": 3,
    "cycles": 0,
    "games": 40,
    **ENDINGS,
    "updates": 50,
    "loss": 0.5,
    "illegal_moves": 0,
    "seconds": {"total": 9.0, "rules": 4.0},
}
MEASURED = {"loss": 1.5, "kl": 0.5, "match@1": 0.25, "value_error": 0.125, "entropy": 1.0, "even_entropy": 2.0}
SIZES = {"examples": 1000, "held_out": 100, "rejected": 2}
EPOCH: dict[str, Any] = {"event": "epoch", "epoch": 1, "epochs": 3, **MEASURED, **SIZES, "seconds": 3.5}


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch):
    """A console of some width; what it shows."""

    def make(terminal: bool, width: int = 80) -> io.StringIO:
        shown = io.StringIO()
        console = Console(file=shown, width=width, force_terminal=terminal, color_system=None, highlight=False)
        monkeypatch.setattr(display, "console", console)
        return shown

    return make


def _shown() -> Console:
    """The console that the display prints to."""
    return vars(display)["console"]


@pytest.fixture
def verbose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display.Display, "verbose", True)


def test_a_tick_is_told_in_plain_words(screen) -> None:
    shown = screen(terminal=True)
    _shown().print(display.Display()._view(TICK))
    lines = [line.rstrip() for line in shown.getvalue().splitlines()]
    assert lines[0] == "Learning hops.py: 12 of 60 s, cycle 3 of 10"
    assert lines[1] == "1,000 moves played, 50 times learned from them"
    assert "loss" not in shown.getvalue()
    shown = screen(terminal=True)
    _shown().print(display.Display()._view({**TICK, "cycles": 0, "seconds_limit": 0.0, "eval_opponents": []}))
    assert shown.getvalue().splitlines()[0].rstrip() == "Learning hops.py: 12 s, cycle 3"
    assert "points won against" not in shown.getvalue()


@pytest.mark.usefixtures("verbose")
def test_experts_get_all_numbers(screen) -> None:
    shown = screen(terminal=True)
    _shown().print(display.Display()._view(TICK))
    assert "0 updates/s · 25% of the cycle · replay buffer 4,000" in shown.getvalue()
    assert "loss 0.5000 · entropy 0.2500" in shown.getvalue()


def test_a_game_is_shown_where_there_is_room(screen) -> None:
    tick = {
        **TICK,
        "board": " . ●\n ○ .",
        "styles": {"●": "bold"},
        "players": "now playing: the learner against greedy",
    }
    shown = screen(terminal=True)
    _shown().print(display.Display()._view(tick))
    assert " . ●\n ○ .\nnow playing: the learner against greedy" in re.sub(r" +$", "", shown.getvalue(), flags=re.M)
    for board in ("\n".join(" . ●" for _ in range(40)), "wide" * 30):
        shown = screen(terminal=True)
        _shown().print(display.Display()._view({**tick, "board": board}))
        assert "now playing" not in shown.getvalue()


def test_speed_is_measured_between_two_ticks(screen, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(terminal=True)
    times = iter([10.0, 12.0])
    monkeypatch.setattr("plyground.cli.display.time.perf_counter", lambda: next(times))
    view = display.Display()
    view._measure(TICK)
    view._measure({**TICK, "plies": 3000, "updates": 60})
    assert (view.plies, view.updates) == (1000.0, 5.0)
    _shown().print(view._view(TICK))
    assert "(1,000 a second)" in shown.getvalue()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_bars_fit_narrow_terminals(screen, width: int) -> None:
    shown = screen(terminal=True, width=width)
    view = display.Display()
    view.scores = [(1, {spec: {"score": 1.0} for spec in OPPONENTS})]
    _shown().print(view._view(TICK))
    rows = [line for line in shown.getvalue().splitlines() if "█" in line]
    assert len(rows) == 1, "a row takes one line"
    assert rows[0].count("100%") == 3


def test_without_a_terminal_there_is_one_short_line_for_each_cycle(screen) -> None:
    shown = screen(terminal=False)
    with display.Display() as view:
        for event in (TICK, {"event": "device", "text": "no GPU"}, CYCLE, EVALUATION, CYCLE, CYCLE, EPOCH):
            view(event)
        view({"event": "note", "text": "target network synchronised at update 200"})
        view({"event": "note", "text": "rolled back"})
    assert shown.getvalue().splitlines() == [
        "no GPU",
        "cycle 3: 80% against random, 80% against greedy, 80% against minimax:depth=3 · 40 games, 9 s",
        "cycle 3: 40 games, 9 s",
        "cycle 3: 40 games, 9 s",
        "epoch 1/3: as the teacher in 25% of new positions · 4 s",
        "rolled back",
    ]


@pytest.mark.usefixtures("verbose")
def test_lines_for_experts_say_all_that_events_hold(screen) -> None:
    shown = screen(terminal=False)
    with display.Display() as view:
        for event in (TICK, {"event": "device", "text": "no GPU"}, CYCLE, EVALUATION, EPOCH, {"event": "illegal"}):
            view(event)
        view({"event": "note", "text": "target network synchronised at update 200"})
    assert shown.getvalue().splitlines() == [
        "no GPU",
        "cycle 3: 40 games (first_wins 50% second_wins 25% draws 25% truncated 0%, 7.5 plies) · 50 updates · "
        "loss 0.5000 · illegal_moves 0 · 9.0 s (rules 4.0)",
        "cycle 3/10: against random 80.0% [70.0%, 90.0%] · greedy 80.0% [70.0%, 90.0%] · "
        "minimax:depth=3 80.0% [70.0%, 90.0%] · win_in_1 50.0% · best so far 80.0%, best is step 7",
        "epoch 1/3: loss 1.5000 kl 0.5000 · match@1 25.0% · value error 0.125 · entropy 1.000 (even: 2.000) · "
        "1,000 examples, 100 held out, 2 rejected · 3.5 s",
        "target network synchronised at update 200",
    ]


def test_on_a_terminal_scores_are_in_the_table_and_notes_above_it(screen) -> None:
    shown = screen(terminal=True, width=100)
    with display.Display() as view:
        for event in (CYCLE, EVALUATION, {"event": "note", "text": "rolled back to step 7"}, TICK):
            view(event)
        view({"event": "note", "text": "target network synchronised at update 200"})
    assert "rolled back to step 7" in shown.getvalue()
    assert "against random" not in shown.getvalue()
    assert "40 games" not in shown.getvalue()
    assert [cycle for cycle, _ in view.scores] == [3]
    assert view.note == "rolled back to step 7", "the other note is for experts"


@pytest.mark.usefixtures("verbose")
def test_on_a_narrow_terminal_lines_break_between_words(screen) -> None:
    shown = screen(terminal=True, width=80)
    with display.Display() as view:
        view(EPOCH)
    lines = re.sub(r"\x1b\[[?\d;]*\w", "", shown.getvalue()).splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    assert " ".join(lines).split() == display._epoch(EPOCH).split(), "no word is broken"


def test_an_entropy_of_values_stands_beside_that_of_an_even_choice() -> None:
    assert display._metrics({"loss": 0.5, "entropy": 1.0, "even_entropy": 2.0}) == (
        "loss 0.5000 entropy 1.0000 (even: 2.0000)"
    )


def test_a_report_is_laid_out_for_a_terminal(screen) -> None:
    report = "# title\n\n| against | score |\n|---|---|\n| `random` | 99% |\n"
    for terminal in (True, False):
        shown = screen(terminal)
        display.show_report(report)
        assert ("|---|" in shown.getvalue()) == (not terminal)
        assert "random" in shown.getvalue()


def test_a_cluster_is_shown_beside_what_was_learned(screen) -> None:
    told, words = {"actors": 2, "positions_per_second": 1234.5, "staleness": 1.5}, "actors: 2, 1,234 positions/s, 1.5"
    for line in (progress_text._cycle, lambda cycle, _: display._cycle(cycle)):
        assert words in line({**CYCLE, **told}, None)
        assert "actors" not in line(CYCLE, None)
    view = display.Display()._view({**TICK, "cluster": "actors: 2 · 1,234 positions a second"})
    assert "actors: 2 · 1,234 positions a second" in [str(part) for part in view.renderables]
