"""One way to make, check and save figures, for every picture of the project. Needs matplotlib (the extra `learn`)."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # files only: there may be no screen
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from plyground.errors import InvalidValue, plain_os_errors
from plyground.runs.files import check_writable, write_whole
from plyground.runs.metrics import Series

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#e69f00", "#009e73", "#999999"
COLOURS = (BLUE, ORANGE, GREEN, "#cc79a7", "#56b4e9", "#d55e00")
"""colours of Okabe and Ito, which people with any kind of colour vision can tell apart"""
STYLES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
DPI, SMALL = 100, 8  # dots per inch; font size of legends and ticks
MOST_MARKED = 40  # points of a curve that has a mark at each of them


def new_figure(width: float, height: float, title: str = "", layout: Any = "tight") -> Figure:
    """A figure of a size in inches. It belongs to no window, so nothing has to be closed."""
    figure = Figure(figsize=(width, height), layout=layout)
    if title:
        figure.suptitle(title)
    return figure


def label(axes: Axes, grid: str = "both", legend: bool = False, **texts: Any) -> None:
    """A light grid, the texts of the axes (`xlabel`, `title`, ...), and a legend in small type."""
    axes.grid(axis=grid, alpha=0.3)  # pyright: ignore[reportArgumentType]
    axes.set(**texts)
    if legend:
        axes.legend(fontsize=SMALL)


def draw_curves(axes: Axes, curves: Sequence[Series], runs: Sequence[str]) -> None:
    """Curves with a legend below them. Several runs differ by colour and their curves by line style; the curves of one
    run differ by colour."""
    names = list(dict.fromkeys(curve.name for curve in curves))
    colours = dict(zip(runs if len(runs) > 1 else names, itertools.cycle(COLOURS), strict=False))
    styles = dict(zip(names, itertools.cycle(STYLES), strict=False)) if len(runs) > 1 else {}
    for curve in curves:
        colour, style = colours[curve.run if len(runs) > 1 else curve.name], styles.get(curve.name, "-")
        marker = "o" if len(curve.seconds) <= MOST_MARKED else ""
        axes.plot(curve.seconds, curve.values, ls=style, marker=marker, ms=3, color=colour)
        if curve.band:
            axes.fill_between(curve.seconds, *curve.band, color=colour, alpha=0.12)
    label(axes)
    key = [Line2D([], [], color=colour, label=name) for name, colour in colours.items()]
    key += [Line2D([], [], color="black", ls=style, label=name) for name, style in styles.items()]
    if curves:
        below = 0.5, -0.14
        axes.legend(handles=key, fontsize=SMALL, loc="upper center", bbox_to_anchor=below, ncols=3, frameon=False)


def check_picture(target: Path) -> None:
    """Raise an error before the work if its picture cannot be written."""
    check_writable(target)
    known = Figure().canvas.get_supported_filetypes()
    if target.suffix.removeprefix(".").lower() not in known:
        raise InvalidValue(f"cannot write {target}: a picture's name ends in {', '.join(f'.{each}' for each in known)}")


def save_figure(target: Path, figure: Figure, shared: bool = True) -> None:
    """Write a figure; a full disk leaves what was there before. One that is not `shared`, as those in a run, can be
    read by its owner alone."""
    content = io.BytesIO()
    try:
        figure.savefig(content, dpi=DPI, format=target.suffix.removeprefix("."))
    except ValueError as error:  # a suffix that is no picture's, or numbers that cannot be drawn
        raise InvalidValue(f"cannot draw {target}: {error}") from None
    with plain_os_errors(f"write {target}"):
        write_whole(target, content.getvalue(), shared)
