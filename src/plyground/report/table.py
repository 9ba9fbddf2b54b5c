"""A table of values for people: its entries in words, and pictures of how they were learned."""

# matplotlib's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plyground.kernels.table import ANY_STATE, NOTHING
from plyground.report.figures import BLUE, COLOURS, GREY, ORANGE, SMALL, label, new_figure, save_figure
from plyground.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENOUGH = 10  # visits from which on a value is shown among the most valuable


# ---- entries in words ----


def in_words(table: Table, entry: int) -> tuple[str, str]:
    """The state and the action of an entry; a part that the key leaves open is named as such."""
    key = tuple(int(word) for word in table.entries.keys[entry])
    state, action = table.key.read(key) if key[-1] and key[0] != int(ANY_STATE) else table.key.read(_filled(key))
    if key[-1] == NOTHING:
        return state, "(whatever is played)"
    return ("(anywhere)" if key[0] == int(ANY_STATE) else state), action


def _filled(key: tuple[int, ...]) -> tuple[int, ...]:
    """A key that can be read, with a value in the part that is left open."""
    return (*(0 if word == int(ANY_STATE) else word for word in key[:-1]), key[-1] or 1)


def rows(table: Table, chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Entries with their numbers and words."""
    found: list[dict[str, Any]] = []
    for entry in chosen:
        state, action = in_words(table, entry)
        numbers = {"visits": int(table.entries.visits[entry]), "value": float(table.entries.values[entry])}
        found.append({**numbers, "state": state, "action": action})
    return found


def most_visited(table: Table, top: int) -> list[dict[str, Any]]:
    arrays, plain = table.state(), np.flatnonzero(table.plain())
    return rows(table, plain[np.argsort(-arrays["visits"][plain].astype(np.int64), kind="stable")][:top].tolist())


def most_valuable(table: Table, top: int) -> list[dict[str, Any]]:
    """The entries of the highest value among those with at least ENOUGH visits."""
    arrays = table.state()
    known = np.flatnonzero(table.plain() & (arrays["visits"] >= ENOUGH))
    return rows(table, known[np.argsort(-arrays["values"][known], kind="stable")][:top].tolist())


def best_advantages(table: Table, top: int) -> list[dict[str, Any]]:
    """The actions of the highest value in any state; empty where the table keeps no such entries."""
    arrays = table.state()
    anywhere = (arrays["keys"][:, :-1] == ANY_STATE).all(axis=1) & (arrays["visits"] >= ENOUGH)
    known = np.flatnonzero(anywhere)
    return rows(table, known[np.argsort(-arrays["values"][known], kind="stable")][:top].tolist())


def summary(table: Table) -> dict[str, Any]:
    visits = table.state()["visits"]
    return {
        "key": str(table.key),
        "entries": len(table),
        "of_a_state_and_an_action": int(table.plain().sum()),
        "bytes": table.bytes,
        "visits": int(visits.sum(dtype=np.int64)),
        "visited_once": float((visits == 1).mean()) if len(visits) else 0.0,
    }


# ---- pictures ----


def save_pictures(target: Path, name: str, cycles: Sequence[Mapping[str, Any]], scores: Sequence[Any]) -> None:
    """Six pictures of one run from its metrics: the records of cycles, and evaluations as (seconds, {spec: score})."""
    figure = new_figure(15, 8.4, name)
    axes: NDArray[Any] = figure.subplots(2, 3)
    times = [cycle["seconds"]["total"] for cycle in cycles]
    _draw_scores(axes[0, 0], scores)
    _draw_errors(axes[0, 1], times, cycles)
    _draw_growth(axes[0, 2], times, cycles)
    _draw_visits(axes[1, 0], cycles[-1]["visits"])
    _draw_values(axes[1, 1], cycles)
    _draw_squares(axes[1, 2], figure, cycles[-1]["squares"])
    save_figure(target, figure)


def _draw_scores(axes: Axes, scores: Sequence[Any]) -> None:
    opponents = list(scores[-1][1]) if scores else []
    for spec, colour in zip(opponents, COLOURS * 3, strict=False):
        times = [time for time, _ in scores]
        points = [found[spec] for _, found in scores]
        axes.plot(times, [point["score"] for point in points], marker="o", ms=3, color=colour, label=spec)
        low, high = ([point[end] for point in points] for end in ("low", "high"))
        axes.fill_between(times, low, high, color=colour, alpha=0.15)
    title = "Wins and half the draws against fixed opponents"
    label(axes, legend=bool(opponents), xlabel="seconds", ylabel="score", ylim=(0, 1.02), title=title)


def _draw_errors(axes: Axes, times: Sequence[float], cycles: Sequence[Mapping[str, Any]]) -> None:
    axes.plot(times, [cycle["td_error"] for cycle in cycles], marker="o", ms=3, color=BLUE, label="TD error")
    axes.plot(times, [cycle["q"] for cycle in cycles], marker="o", ms=3, color=ORANGE, label="mean target")
    label(axes, legend=True, xlabel="seconds", title="TD error and mean target")


def _draw_growth(axes: Axes, times: Sequence[float], cycles: Sequence[Mapping[str, Any]]) -> None:
    axes.plot(times, [cycle["entries"] for cycle in cycles], marker="o", ms=3, color=BLUE)
    last = cycles[-1]
    title = f"Size of the table: {last['entries']:,} entries, {last['table_bytes'] / 2**20:.0f} MB"
    label(axes, xlabel="seconds", ylabel="entries", title=title, ylim=(0, None))


def _draw_visits(axes: Axes, visits: Sequence[int]) -> None:
    used = max((k for k, count in enumerate(visits) if count), default=0) + 1
    axes.bar(range(used), visits[:used], color=BLUE)
    axes.set_xticks(range(used), [f"{2**k:,}" for k in range(used)], rotation=45, fontsize=SMALL)
    title = "How often entries were visited"
    label(axes, grid="y", xlabel="visits of an entry, at least", ylabel="entries", title=title, yscale="log")


def _draw_values(axes: Axes, cycles: Sequence[Mapping[str, Any]]) -> None:
    for cycle, colour, name in ((cycles[0], GREY, "first cycle"), (cycles[-1], BLUE, "last cycle")):
        edges, counts = np.array(cycle["values"]["edges"]), np.array(cycle["values"]["counts"])
        axes.stairs(counts / max(1, counts.sum()), edges, color=colour, fill=colour == GREY, label=name)
    label(axes, legend=True, xlabel="value", ylabel="share of entries", title="Values")


def _draw_squares(axes: Axes, figure: Figure, squares: Sequence[Sequence[int]]) -> None:
    counts = np.array(squares, float)
    shown = axes.imshow(counts / max(1.0, counts.sum()), cmap="viridis")
    figure.colorbar(shown, ax=axes, format="{x:.1%}", shrink=0.8)
    height, width = counts.shape
    if height > 1:
        axes.set_xticks(range(width), [chr(ord("a") + k) for k in range(width)])
        axes.set_yticks(range(height), [str(k + 1) for k in range(height)])
        axes.set_title("Squares of its moves: shares in the last cycle")
    else:
        axes.set_aspect("auto")
        axes.set_yticks([])
        axes.set(xlabel="action", title="Its moves: shares in the last cycle")
