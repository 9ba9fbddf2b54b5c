"""A table for people: its entries in words, and pictures of how it has learned. Every number comes from the run."""

# matplotlib's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib

matplotlib.use("Agg")  # files only: there may be no screen
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.kernels.table import ANY_STATE, NOTHING
from plyground.runs import files
from plyground.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#e69f00", "#009e73", "#999999"  # told apart by nearly every eye
ENOUGH = 10  # visits from which on a value tells something


# ---- entries in words ----


def in_words(table: Table, entry: int) -> tuple[str, str]:
    """A state and an action; what is left open is said."""
    key = tuple(int(word) for word in table.entries.keys[entry])
    state, action = table.key.read(key) if key[-1] and key[0] != int(ANY_STATE) else table.key.read(_filled(key))
    if key[-1] == NOTHING:
        return state, "(whatever is played)"
    return ("(anywhere)" if key[0] == int(ANY_STATE) else state), action


def _filled(key: tuple[int, ...]) -> tuple[int, ...]:
    """A key that can be read, with something in the part that says nothing."""
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
    arrays, plain = table.arrays(), np.flatnonzero(table.plain())
    return rows(table, plain[np.argsort(-arrays["visits"][plain].astype(np.int64), kind="stable")][:top].tolist())


def most_valuable(table: Table, top: int) -> list[dict[str, Any]]:
    """Of those visited often enough."""
    arrays = table.arrays()
    known = np.flatnonzero(table.plain() & (arrays["visits"] >= ENOUGH))
    return rows(table, known[np.argsort(-arrays["values"][known], kind="stable")][:top].tolist())


def best_advantages(table: Table, top: int) -> list[dict[str, Any]]:
    """Actions that do better than others wherever they are played; empty where the table makes no guesses."""
    arrays = table.arrays()
    anywhere = (arrays["keys"][:, :-1] == ANY_STATE).all(axis=1) & (arrays["visits"] >= ENOUGH)
    known = np.flatnonzero(anywhere)
    return rows(table, known[np.argsort(-arrays["values"][known], kind="stable")][:top].tolist())


def summary(table: Table) -> dict[str, Any]:
    visits = table.arrays()["visits"]
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
    """Six pictures of one run, from its metrics: cycles' records, and evaluations' as (seconds, {word: score})."""
    figure = Figure(figsize=(15, 8.4), layout="tight")
    figure.suptitle(name)
    axes: NDArray[Any] = figure.subplots(2, 3)
    times = [cycle["seconds"]["total"] for cycle in cycles]
    _draw_scores(axes[0, 0], scores)
    _draw_errors(axes[0, 1], times, cycles)
    _draw_growth(axes[0, 2], times, cycles)
    _draw_visits(axes[1, 0], cycles[-1]["visits"])
    _draw_values(axes[1, 1], cycles)
    _draw_squares(axes[1, 2], figure, cycles[-1]["squares"])
    save_figure(target, figure)


def check_picture(target: Path) -> None:
    """Say before the work that its picture could not be written."""
    files.check_writable(target)
    known = Figure().canvas.get_supported_filetypes()
    if target.suffix.removeprefix(".").lower() not in known:
        raise InvalidValue(f"cannot write {target}: a picture's name ends in {', '.join(f'.{each}' for each in known)}")


def save_figure(target: Path, figure: Figure) -> None:
    try:
        figure.savefig(target, dpi=100)
    except OSError as error:
        raise InvalidValue(f"cannot write {target}: {error.strerror or error}") from None
    except ValueError as error:  # an ending that is no picture's
        raise InvalidValue(f"cannot write {target}: {error}") from None


def _draw_scores(axes: Axes, scores: Sequence[Any]) -> None:
    words = list(scores[-1][1]) if scores else []
    for word, colour in zip(words, (BLUE, ORANGE, GREEN, GREY) * 3, strict=False):
        times = [time for time, _ in scores]
        points = [found[word] for _, found in scores]
        axes.plot(times, [point["score"] for point in points], marker="o", ms=3, color=colour, label=word)
        low, high = ([point[end] for point in points] for end in ("low", "high"))
        axes.fill_between(times, low, high, color=colour, alpha=0.15)
    axes.set(xlabel="seconds", ylabel="score", ylim=(0, 1.02), title="Wins and half the draws against a fixed pool")
    axes.grid(alpha=0.3)
    if words:
        axes.legend(fontsize=8)


def _draw_errors(axes: Axes, times: Sequence[float], cycles: Sequence[Mapping[str, Any]]) -> None:
    axes.plot(times, [cycle["td_error"] for cycle in cycles], marker="o", ms=3, color=BLUE, label="TD error")
    axes.plot(times, [cycle["q"] for cycle in cycles], marker="o", ms=3, color=ORANGE, label="mean target")
    axes.set(xlabel="seconds", title="How far values are from their targets")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def _draw_growth(axes: Axes, times: Sequence[float], cycles: Sequence[Mapping[str, Any]]) -> None:
    axes.plot(times, [cycle["entries"] for cycle in cycles], marker="o", ms=3, color=BLUE)
    last = cycles[-1]
    title = f"The table grows: {last['entries']:,} entries, {last['table_bytes'] / 2**20:.0f} MB"
    axes.set(xlabel="seconds", ylabel="entries", title=title, ylim=(0, None))
    axes.grid(alpha=0.3)


def _draw_visits(axes: Axes, visits: Sequence[int]) -> None:
    used = max((k for k, count in enumerate(visits) if count), default=0) + 1
    axes.bar(range(used), visits[:used], color=BLUE)
    axes.set_xticks(range(used), [f"{2**k:,}" for k in range(used)], rotation=45, fontsize=8)
    axes.set(xlabel="visits of an entry, from ... on", ylabel="entries", title="How often entries were visited")
    axes.set_yscale("log")
    axes.grid(axis="y", alpha=0.3)


def _draw_values(axes: Axes, cycles: Sequence[Mapping[str, Any]]) -> None:
    for cycle, colour, label in ((cycles[0], GREY, "first cycle"), (cycles[-1], BLUE, "last cycle")):
        edges, counts = np.array(cycle["values"]["edges"]), np.array(cycle["values"]["counts"])
        axes.stairs(counts / max(1, counts.sum()), edges, color=colour, fill=colour == GREY, label=label)
    axes.set(xlabel="value", ylabel="share of entries", title="Values")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def _draw_squares(axes: Axes, figure: Figure, squares: Sequence[Sequence[int]]) -> None:
    counts = np.array(squares, float)
    shown = axes.imshow(counts / max(1.0, counts.sum()), cmap="viridis")
    figure.colorbar(shown, ax=axes, format="{x:.1%}", shrink=0.8)
    height, width = counts.shape
    if height > 1:
        axes.set_xticks(range(width), [chr(ord("a") + k) for k in range(width)])
        axes.set_yticks(range(height), [str(k + 1) for k in range(height)])
        axes.set_title("Where it plays: share of its moves, last cycle")
    else:
        axes.set_aspect("auto")
        axes.set_yticks([])
        axes.set(xlabel="action", title="What it plays: share of its moves, last cycle")
