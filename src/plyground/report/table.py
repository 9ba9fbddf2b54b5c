"""A table of values for people: its entries in words, and pictures of how they were learned."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue
from plyground.kernels.table import ANY_STATE, NOTHING
from plyground.report.figures import BLUE, GREY, SMALL, draw_curves, label, new_figure, save_figure
from plyground.runs.files import DamagedFile
from plyground.runs.metrics import Series
from plyground.tables import Table

DRAWN = ("td_error", "q", "entries")  # metrics in the pictures
PICTURED = {"entries", "table_bytes", "visits", "values", "squares"}  # what a cycle's record must have for them
NO_KEY = (ValueError, KeyError, IndexError, StopIteration, OverflowError, TypeError, AttributeError)
"""what a game's own text raises for a record that no game leads to"""
ENOUGH = 10  # visits from which on a value is shown among the most valuable


# ---- entries in words ----


def in_words(table: Table, entry: int) -> tuple[str, str]:
    """The state and the action of an entry; a part that the key leaves open is named as such."""
    *words, last = (int(word) for word in table.entries.keys[entry])
    anywhere = words[0] == int(ANY_STATE)
    key = (*([0] * len(words) if anywhere else words), last or 1)  # open parts get a value
    try:
        state, action = table.key.read(key)
    except NO_KEY as error:
        raise DamagedFile(f"entry {entry} of the table is of no state of {table.game}: {error!r}") from None
    if last == NOTHING:
        return state, "(whatever is played)"
    return ("(anywhere)" if anywhere else state), action


def ranked(table: Table, top: int) -> dict[str, list[dict[str, Any]]]:
    """The `top` entries to show, by title: numbers and words. Not every table has advantages in any state."""
    arrays, plain = table.state(), table.plain()
    enough, anywhere = arrays["visits"] >= ENOUGH, (arrays["keys"][:, :-1] == ANY_STATE).all(axis=1)
    parts = {
        "most visited": (plain, arrays["visits"].astype(np.int64)),
        f"most valuable, of those visited {ENOUGH} times or more": (plain & enough, arrays["values"]),
        "best in any state": (anywhere & enough, arrays["values"]),
    }
    found: dict[str, list[dict[str, Any]]] = {title: [] for title in parts}
    for title, (chosen, numbers) in parts.items():
        known = np.flatnonzero(chosen)
        for entry in known[np.argsort(-numbers[known], kind="stable")][:top].tolist():
            state, action = in_words(table, entry)
            row = {"visits": int(arrays["visits"][entry]), "value": float(arrays["values"][entry])}
            found[title].append({**row, "state": state, "action": action})
    return found


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


def save_pictures(
    target: Path, name: str, curves: Sequence[Series], cycles: Sequence[Mapping[str, Any]], shared: bool
) -> None:
    """Six pictures of one run: its curves (scores and DRAWN), and what the records of its cycles say of the table.

    What was not measured, such as the TD error of a run without any update, is not drawn.
    """
    figure, last = new_figure(15, 8.4, name, layout="constrained"), cycles[-1]
    _check_shapes(cycles)
    axes: NDArray[Any] = figure.subplots(2, 3)
    size = f"{last['entries']:,} entries, {last['table_bytes'] / 2**20:.0f} MB"
    panels = (
        ("Wins and half the draws against fixed opponents", (0, 1.02), [each for each in curves if each.is_score]),
        ("TD error and mean target", (None, None), [each for each in curves if each.name in ("td_error", "q")]),
        (f"Size of the table: {size}", (0, None), [each for each in curves if each.name == "entries"]),
    )
    for place, (title, limits, drawn) in zip(axes[0], panels, strict=True):
        draw_curves(place, drawn, [name])
        place.set(xlabel="seconds", title=title, ylim=limits)
    visits = last["visits"]
    used = max((k for k, count in enumerate(visits) if count), default=0) + 1
    axes[1, 0].bar(range(used), visits[:used], color=BLUE)
    axes[1, 0].set_xticks(range(used), [f"{2**k:,}" for k in range(used)], rotation=45, fontsize=SMALL)
    text, scale = "How often entries were visited", "log" if any(visits) else "linear"
    label(axes[1, 0], grid="y", xlabel="visits of an entry, at least", ylabel="entries", title=text, yscale=scale)
    for cycle, colour, text in ((cycles[0], GREY, "first cycle"), (last, BLUE, "last cycle")):
        edges, counts = np.array(cycle["values"]["edges"]), np.array(cycle["values"]["counts"])
        axes[1, 1].stairs(counts / max(1, counts.sum()), edges, color=colour, fill=colour == GREY, label=text)
    label(axes[1, 1], legend=True, xlabel="value", ylabel="share of entries", title="Values")
    counts = np.array(last["squares"], float)
    (height, width), board = counts.shape, axes[1, 2]
    shares = board.imshow(counts / max(1.0, counts.sum()), cmap="viridis")
    figure.colorbar(shares, ax=board, format="{x:.1%}", shrink=0.8)
    if height > 1:
        board.set_xticks(range(width), [chr(ord("a") + k) for k in range(width)])
        board.set_yticks(range(height), [str(k + 1) for k in range(height)])
        board.set_title("Squares of its moves: shares in the last cycle")
    else:
        board.set_aspect("auto")
        board.set_yticks([])
        board.set(xlabel="action", title="Its moves: shares in the last cycle")
    save_figure(target, figure, shared)


def _check_shapes(cycles: Sequence[Mapping[str, Any]]) -> None:
    """Refuse histograms and boards that metrics.jsonl may hold but no picture shows."""
    for cycle in cycles:
        widths = {len(row) for row in cycle["squares"]}
        if len(widths) != 1 or 0 in widths:
            raise InvalidValue(f"the squares of cycle {cycle['cycle']} are no board: rows of {sorted(widths)} numbers")
        if len(cycle["values"]["edges"]) != len(cycle["values"]["counts"]) + 1:
            raise InvalidValue(f"the values of cycle {cycle['cycle']} are no histogram: edges and counts do not fit")
        if max(map(len, (cycle["visits"], cycle["values"]["edges"], cycle["squares"], cycle["squares"][0]))) > 1000:
            raise InvalidValue(f"cycle {cycle['cycle']} has more numbers than a picture shows")
