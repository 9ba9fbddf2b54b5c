"""What a person sees of a run: curves, bars and reports."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from plyground.cli import display
from plyground.report import run as run_report


def test_curves_of_several_runs_are_told_apart() -> None:
    """By colour, whatever was measured by style; the key lies below the picture."""
    axes = Figure().add_subplot()
    words = ("random", "greedy")
    run_report._draw(
        axes, [run_report.Curve(False, run, word, [1, 2], [0, 1]) for run in "ab" for word in words], ["a", "b"]
    )
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    assert len({colour for colour, _ in looks}) == len({style for _, style in looks}) == 2
    assert len(set(looks)) == 4
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", *words]
    assert legend.get_window_extent().y1 <= axes.get_window_extent().y0


def test_bars_fit_narrow_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("random", "greedy", "minimax:depth=3")
    settings = SimpleNamespace(game="g", cycles=1, seconds=0, yardsticks=words)
    learner = SimpleNamespace(
        config=settings, cycle=0, seconds=1.0, averages={}, updates=0, tally=SimpleNamespace(games=1)
    )
    learner.memory_words = lambda: ""
    for width in (60, 80, 200):
        shown = io.StringIO()
        monkeypatch.setattr(display, "console", Console(file=shown, width=width))
        view = display.Display()
        view.scores = [(1, {word: {"score": 1.0} for word in words})]
        display.console.print(view._table(learner))
        rows = [line for line in shown.getvalue().splitlines() if "█" in line]
        assert len(rows) == 1, "a row takes one line"
        assert rows[0].count("100%") == 3


def test_a_report_is_laid_out_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    report = "# title\n\n| against | score |\n|---|---|\n| `random` | 99% |\n"
    for terminal in (True, False):
        shown = io.StringIO()
        monkeypatch.setattr(
            display, "console", Console(file=shown, width=80, force_terminal=terminal, color_system=None)
        )
        display.show_report(report)
        assert ("|---|" in shown.getvalue()) == (not terminal)
        assert "random" in shown.getvalue()


def test_runs_of_one_name_are_told_apart() -> None:
    assert run_report.labels_of([Path("a/run"), Path("b/run")]) == ["a/run", "b/run"]
    assert run_report.labels_of([Path("a/one"), Path("b/two")]) == ["one", "two"]
    assert run_report.labels_of([Path("a/run"), Path("a/run")]) == ["run (1)", "run (2)"]
    axes, many = Figure().add_subplot(), [str(k) for k in range(60)]
    run_report._draw(axes, [run_report.Curve(False, run, "random", [1, 2], [0, 1]) for run in many], many)
    assert len(axes.lines) == 60
