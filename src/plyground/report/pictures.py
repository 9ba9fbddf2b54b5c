"""Pictures: boards and learning curves. Needs matplotlib (the extra `learn`)."""

# matplotlib's own types are incomplete:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")  # files only: there may be no screen
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from plyground.position import Position

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from plyground.arena.ladder import Ladder
    from plyground.games.connect_four.grade import Mistake

BLUE, ORANGE, FRAME, HOLE = "#0072b2", "#e69f00", "#dfe6ee", "#ffffff"  # told apart by nearly every eye


def save_board(path: Path, position: Position) -> None:
    """One board as a picture."""
    figure = Figure(figsize=(4.2, 3.9), layout="tight")
    draw_board(figure.add_subplot(), position)
    figure.savefig(path, dpi=100)


def save_mistakes(path: Path, agent: str, mistakes: Sequence[Mistake]) -> None:
    """The boards on which an agent went wrong."""
    figure = Figure(figsize=(16, 7.6), layout="tight")
    figure.suptitle(f"The worst mistakes of {agent}" if mistakes else f"{agent} made no mistake")
    for number, mistake in enumerate(mistakes, start=1):
        axes = figure.add_subplot(2, 5, number)
        draw_board(axes, mistake.position, {mistake.played: "✗", mistake.best: "✓"})
        side = mistake.position.game.rules.SIDES[mistake.position.to_move]
        axes.set_title(f"{side} moves: ✗ {mistake.words.replace(', ', chr(10) + '✓ ')}", fontsize=10)
    figure.savefig(path, dpi=100)


def save_ladder(path: Path, ladder: Ladder) -> None:
    """Ratings with their 95% intervals, the strongest on top."""
    ratings, names = ladder.ratings(), ladder.agents
    order = [int(index) for index in ratings.elo.argsort()]
    figure = Figure(figsize=(8, 1.2 + 0.4 * len(names)), layout="tight")
    axes = figure.add_subplot()
    axes.errorbar(ratings.elo[order], range(len(names)), xerr=ratings.error[order], fmt="o", color=BLUE, capsize=4)
    axes.set_yticks(range(len(names)), [names[index] for index in order])
    axes.set(xlabel="Elo, the mean of all is 0", title=f"{ladder.game}: {ladder.games} games for each two")
    axes.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=100)


def draw_board(axes: Axes, position: Position, marks: Mapping[str, str] = MappingProxyType({})) -> None:
    """A board of discs as discs, with signs where the discs of some moves would come to lie; any other as its text."""
    axes.set_axis_off()
    drawn = str(position)
    if "●" not in drawn and "○" not in drawn:
        axes.text(0.5, 0.5, drawn, family="monospace", ha="center", va="center", transform=axes.transAxes)
        return
    *rows, names = [line.split() for line in drawn.splitlines()]
    axes.add_patch(Rectangle((-0.6, -0.6), len(names) + 0.2, len(rows) + 0.2, color=FRAME))
    for y, row in enumerate(reversed(rows)):
        for x, cell in enumerate(row):
            colour = {"●": BLUE, "○": ORANGE}.get(cell, HOLE)
            axes.add_patch(Circle((x, y), 0.42, color=colour))
            if cell == "○":  # a ring, so that shape tells the sides apart too
                axes.add_patch(Circle((x, y), 0.22, color=HOLE))
    for x, name in enumerate(names):
        axes.text(x, -0.95, name, ha="center", va="center")
        if name in marks:
            y, colour = sum(row[x] in "●○" for row in rows), (BLUE, ORANGE)[position.to_move]
            axes.text(x, y, marks[name], ha="center", va="center", fontsize=20, color=colour)
    axes.set(xlim=(-0.7, len(names) - 0.3), ylim=(-1.3, len(rows) - 0.3), aspect="equal")
