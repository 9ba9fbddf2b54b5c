"""Pictures of positions (drawn from scenes), ladders and analysed games. Needs matplotlib (the extra `learn`)."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from numpy.typing import NDArray

from plyground.arena.grade import Mistake
from plyground.arena.ladder import Ladder
from plyground.games.scene import Item, Scene, Zone
from plyground.games.svg import PIECES, SUITS
from plyground.models.ntuple import NTuple
from plyground.models.ntuple_explained import Learned, scene_of
from plyground.position import Position
from plyground.report.analysis import GameAnalysis
from plyground.report.figures import BLUE, GREEN, GREY, ORANGE, label, new_figure, save_figure

FRAME, HOLE = "#dfe6ee", "#ffffff"
LEAST_WIDTH = 6  # columns that a picture has room for
INK, MARK = "#222222", "#c0392b"
MISTAKES = {"inaccuracy": (GREEN, "^"), "mistake": (ORANGE, "s"), "blunder": (MARK, "X")}  # colour and marker
NAMED = 8  # mistakes whose moves are written beside them: the worst


def save_mistakes(path: Path, agent: str, mistakes: Sequence[Mistake]) -> None:
    """The boards on which an agent went wrong."""
    figure = new_figure(16, 7.6, f"The worst mistakes of {agent}" if mistakes else f"{agent} made no mistake")
    for number, mistake in enumerate(mistakes, start=1):
        axes = figure.add_subplot(2, 5, number)
        draw_board(axes, mistake.position, {mistake.played: "✗", mistake.best: "✓"})
        side = mistake.position.game.rules.SIDES[mistake.position.to_move]
        axes.set_title(f"{side} moves: ✗ {mistake.words.replace(', ', chr(10) + '✓ ')}", fontsize=10)
    save_figure(path, figure)


def save_ladder(path: Path, ladder: Ladder) -> None:
    """Ratings with their 95% intervals, the strongest on top."""
    ratings, names = ladder.ratings(), ladder.agents
    order = [int(index) for index in ratings.elo.argsort()]
    figure = new_figure(8, 1.2 + 0.4 * len(names))
    axes = figure.add_subplot()
    axes.errorbar(ratings.elo[order], range(len(names)), xerr=ratings.error[order], fmt="o", color=BLUE, capsize=4)
    axes.set_yticks(range(len(names)), [ladder.described(names[index]) for index in order])
    title = f"{ladder.game}: {ladder.games} games for each two"
    label(axes, grid="x", xlabel="Elo, the mean of all is 0", title=title)
    save_figure(path, figure)


def save_values(path: Path, analysis: GameAnalysis) -> None:
    """The value after each ply of a game for the first side, with its mistakes."""
    plies, last = analysis.plies, max(2, len(analysis.plies))
    figure = new_figure(max(7.0, 2.0 + 0.14 * last), 4.2)
    axes = figure.add_subplot()
    axes.axhline(0.0, color=GREY, linewidth=1)
    axes.plot([each.ply for each in plies], [each.value for each in plies], color=BLUE, marker=".", label="search")
    exact = [(each.ply, each.exact) for each in plies if each.exact is not None]
    if exact:
        axes.step([ply for ply, _ in exact], [value for _, value in exact], where="mid", color=GREY, label="solver")
    for name, (colour, marker) in MISTAKES.items():
        of_kind = [each for each in plies if each.mistake == name]
        if of_kind:
            places, values = [each.ply for each in of_kind], [each.value for each in of_kind]
            axes.scatter(places, values, color=colour, marker=marker, s=50, zorder=3, label=name)
    for each in analysis.worst()[:NAMED]:
        axes.annotate(each.played, (each.ply, each.value), (0, 7), textcoords="offset points", ha="center", fontsize=8)
    axes.set(xlim=(0.5, last + 0.5), ylim=(-1.15, 1.15))
    label(axes, legend=True, xlabel="ply", ylabel="value for the first side", title=analysis.game)
    save_figure(path, figure)


def save_patterns(path: Path, model: NTuple, learned: Sequence[Learned]) -> None:
    """What an n-tuple network has learned: a row of boards for each of its tables. Cells of a pattern have a ring, or
    are drawn; all others may hold anything."""
    shown = [each for each in learned if each.boards]
    columns, board = max((len(each.boards) for each in shown), default=1), model.game.start().scene(0).zones[0]
    width = 0.37 * max(LEAST_WIDTH, board.columns)
    figure = new_figure(width * columns, (width + 0.7) * max(1, len(shown)), "" if shown else "No pattern stands out")
    parts: NDArray[Any] = figure.subfigures(max(1, len(shown)), 1, squeeze=False)[:, 0]
    for each, part in zip(shown, parts, strict=False):
        part.suptitle(each.title)
        for number, pattern in enumerate(each.boards, start=1):
            axes, scene = part.add_subplot(1, columns, number), scene_of(model, pattern)
            draw_scene(axes, scene, discs=holds_discs(board))
    save_figure(path, figure)


def draw_board(axes: Axes, position: Position, signs: Mapping[str, str] = MappingProxyType({})) -> None:
    """A position as the seat that acts sees it, with signs where the items of some moves would come to lie."""
    scene = position.scene()
    before = {cell.name: cell.items for cell in scene.cells()}
    places: dict[str, str] = {}
    for move, sign in signs.items():
        after = position.play(move).scene(position.seat).cells()
        places |= {cell.name: sign for cell in after if len(cell.items) > len(before.get(cell.name, cell.items))}
    draw_scene(axes, scene, places)


def holds_discs(zone: Zone) -> bool:
    """Whether a zone is a frame with a hole for each cell."""
    return zone.rows > 1 and all(item.kind == "disc" for cell in zone.cells for item in cell.items)


def draw_scene(
    axes: Axes, scene: Scene, signs: Mapping[str, str] = MappingProxyType({}), discs: bool | None = None
) -> None:
    """A scene's zones below each other, the lower left cell of the first at (0, 0); signs by the cells' names; `discs`:
    whether they are frames for discs, otherwise by what they hold."""
    axes.set_axis_off()
    top = scene.zones[0].rows - 1  # the first zone's rows end at 0
    width = max(LEAST_WIDTH, *(zone.columns for zone in scene.zones))
    for zone in scene.zones:
        _draw_zone(axes, zone, top, signs, holds_discs(zone) if discs is None else discs)
        top -= zone.rows + 1
    axes.set(xlim=(-1.1, width - 0.3), ylim=(top - 0.2, scene.zones[0].rows - 0.3), aspect="equal")
    axes.text(width / 2 - 0.5, top + 0.2, scene.status, ha="center", va="center", fontsize=9)


def _draw_zone(axes: Axes, zone: Zone, top: float, signs: Mapping[str, str], discs: bool) -> None:
    if discs:
        axes.add_patch(Rectangle((-0.6, -0.6), zone.columns + 0.2, zone.rows + 0.2, color=FRAME))
    for place, cell in enumerate(zone.cells):
        y, x = divmod(place, zone.columns)
        if discs:
            axes.add_patch(Circle((x, top - y), 0.42, color=HOLE))
        elif zone.name == "board":
            axes.add_patch(Rectangle((x - 0.5, top - y - 0.5), 1, 1, color=(HOLE, FRAME)[(x + y) % 2]))
        for number, item in enumerate(cell.items):
            _draw_item(axes, x, top - y, item, number, len(cell.items))
        if cell.marks:
            axes.add_patch(Circle((x, top - y), 0.46, fill=False, color=MARK, linewidth=2))
        if cell.name in signs:
            axes.text(x, top - y, signs[cell.name], ha="center", va="center", fontsize=20, color=MARK)
    for x, name in enumerate(zone.column_labels):
        axes.text(x, top - zone.rows + 0.05, name, ha="center", va="center")
    for y, name in enumerate(zone.row_labels or ([zone.name] if zone.rows == 1 else [])):
        axes.text(-0.7, top - y, name, ha="right" if zone.rows == 1 else "center", va="center", fontsize=9)


def _draw_item(axes: Axes, x: float, y: float, item: Item, number: int, count: int) -> None:
    """One of the `count` items of a cell: a disc, a chip, a piece, a card, a text, or its kind's name in a circle."""
    kind, _, what = item.kind.partition(":")
    if kind in ("disc", "chip"):
        size, below = (0.42, y) if kind == "disc" else (0.27, y - 0.12)
        axes.add_patch(Circle((x, below), size, color=(BLUE, ORANGE)[item.side or 0]))
        if item.side:  # a ring, so that shape tells the sides apart too
            axes.add_patch(Circle((x, below), size / 2, color=HOLE))
    elif kind in PIECES:
        place = x if count == 1 else x - 0.22 + 0.44 * number
        figure = PIECES[kind][item.side or 0]
        axes.text(place, y - 0.04, figure, ha="center", va="center", fontsize=22 if count == 1 else 13)
    elif kind == "card":
        back = what == "back"
        face = "?" if back else f"{what[0].upper().replace('T', '10')}{SUITS[what[1]]}"
        colour = MARK if what[-1] in "hd" and not back else INK
        axes.add_patch(Rectangle((x - 0.48, y - 0.48), 0.96, 0.96, facecolor=FRAME if back else HOLE, edgecolor=FRAME))
        height, size = (y, 9) if count == 1 else (y + 0.3, 7)
        axes.text(x, height, face, ha="center", va="center", fontsize=size, color=colour)
    elif kind == "text":
        axes.text(x, y, what, family="monospace", ha="left", va="center", fontsize=8)
    else:
        axes.add_patch(
            Circle((x, y), 0.42, facecolor=HOLE, edgecolor=GREY if item.side is None else (BLUE, ORANGE)[item.side])
        )
        axes.text(x, y, item.kind, ha="center", va="center", fontsize=6 if len(item.kind) > 1 else 9)
