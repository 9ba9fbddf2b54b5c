"""Scores as text: one Markdown table, and one way to write a score with its interval, for reports, cards and pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

Scores = Mapping[str, Mapping[str, Any]]  # by opponent: score, ends of the 95% interval and, of one match, counts
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Student's t for a two-sided 95% interval, for 1 to 9 degrees of freedom"""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head, *lines = (f"| {' | '.join(map(str, cells))} |" for cells in (header, *rows))
    return "\n".join([head, "|" + "---|" * len(header), *lines])


def in_brackets(one: Mapping[str, Any]) -> str:
    """`62.5% [40.0%, 80.0%]`: a score with its interval, if it has one."""
    return f"{one['score']:.1%}" + ("" if one["low"] is None else f" [{one['low']:.1%}, {one['high']:.1%}]")


def score_cells(one: Mapping[str, Any]) -> tuple[str, str]:
    """The same in two cells of a table."""
    return f"{one['score']:.1%}", "-" if one["low"] is None else f"{one['low']:.1%} to {one['high']:.1%}"


def score_table(
    scores: Scores, trained_against: Container[str] = (), shown: Callable[[str], str] = lambda spec: spec
) -> str:
    """A row for each opponent; games that the limit of plies ended count as draws, and their number is told."""
    rows = list[Sequence[str]]()
    for spec, one in scores.items():
        name = f"`{shown(spec)}`" + (", also in training" if spec in trained_against else "")
        name += ", which sees what is hidden" if one.get("all_seeing") else ""
        draws = f"{one['draws']} ({one['truncated']} truncated)" if one["truncated"] else one["draws"]
        rows.append((name, *score_cells(one), f"{one['wins']}, {draws}, {one['losses']}"))
    games = max((one["games"] for one in scores.values()), default=0)
    return markdown_table(("against", "score", "95% interval", f"wins, draws, losses of {games}"), rows)


# ---- over several seeds ----


def spread(scores: Sequence[float]) -> dict[str, Any]:
    """The mean of several seeds' scores, their range, and Student's 95% interval of the mean over seeds, cut to [0, 1];
    of one seed none."""
    n, mean = len(scores), math.fsum(scores) / len(scores)
    low = high = None
    if n > 1:
        student = T95[n - 2] if n - 1 <= len(T95) else 1.96 + 2.372 / (n - 1) + 2.823 / (n - 1) ** 2  # right to 0.005
        radius = student * math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / (n - 1) / n)
        low, high = max(0.0, mean - radius), min(1.0, mean + radius)
    return {"score": mean, "low": low, "high": high, "lowest": min(scores), "highest": max(scores)}


def spread_table(scores: Mapping[str, Sequence[float]]) -> str:
    """Mean, interval and range for each opponent."""
    found = {spec: spread(each) for spec, each in scores.items()}
    rows = [
        (f"`{spec}`", *score_cells(one), f"{one['lowest']:.1%}", f"{one['highest']:.1%}") for spec, one in found.items()
    ]
    return markdown_table(("against", "mean", "95% interval", "lowest", "highest"), rows)
