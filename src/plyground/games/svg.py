"""Scenes as SVG texts, for notebooks: a position is shown as a picture there (`Position._repr_svg_`)."""

from __future__ import annotations

import textwrap
from html import escape

from plyground.errors import shorten
from plyground.games.scene import Item, Scene, Zone, listed_click

CELL, EDGE, LINE = 44, 26, 22  # pixels of a cell, of the margin, of a line of words
LETTER, ROW, WRAP, MOST = 8.5, 18, 36, 400  # pixels of a fixed-width character; characters of a line, of all actions
FRAME, EMPTY, INK, RED, MARK = "#c3d1e3", "#ffffff", "#222222", "#c0392b", "#e0a800"
COLOURS = {"last": "#f3e3a8", "check": "#e58d85"}  # of marks; any other is MARK
GREY = "#7a8594"  # belongs to nobody
SIDES = ("#1f5fbf", "#e0721b")
PIECES = {"pawn": "♙♟", "knight": "♘♞", "bishop": "♗♝", "rook": "♖♜", "queen": "♕♛", "king": "♔♚"}
SUITS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}


def to_svg(scene: Scene) -> str:
    """The zones below each other, and the status."""
    longest = max((len(line) for zone in scene.zones for line in _lines(zone)), default=0)
    width = 2 * EDGE + max(CELL * max(6, *(zone.columns for zone in scene.zones)), round(LETTER * longest))
    parts, top = list[str](), 4
    for zone in scene.zones:
        drawn, top = _zone(zone, top)
        parts += drawn
    parts.append(_text(width / 2, top + LINE / 2, scene.status, 14))
    size = f'width="{width}" height="{top + LINE}" viewBox="0 0 {width} {top + LINE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" role="img">'
    paper = f'<rect width="{width}" height="{top + LINE}" fill="{EMPTY}"/>'  # also where the page is dark
    return "\n".join([head, f"<title>{escape(scene.status)}</title>", paper, *parts, "</svg>"])


def _zone(zone: Zone, top: int) -> tuple[list[str], int]:
    """Its elements, and where the next one begins."""
    parts, height, lines = list[str](), CELL * zone.rows, _lines(zone)
    discs = zone.rows > 1 and all(item.kind == "disc" for cell in zone.cells for item in cell.items)
    if zone.name not in ("board", "picture"):
        parts.append(_text(EDGE, top + LINE / 2, zone.name, 11, anchor="start"))
        top += LINE
    if lines:
        fixed = '<text font-family="monospace" xml:space="preserve"'  # of one width, with all spaces
        texts = [_text(EDGE, top + ROW * (k + 0.5), line, 14, anchor="start") for k, line in enumerate(lines)]
        return parts + [each.replace("<text", fixed) for each in texts], top + ROW * len(lines) + 6
    for place, cell in enumerate(zone.cells):
        row, column = divmod(place, zone.columns)
        x, y = EDGE + CELL * (column + 0.5), top + CELL * (row + 0.5)  # its middle
        shade = FRAME if discs or (row + column) % 2 else EMPTY
        marks = [COLOURS.get(mark, MARK) for mark in cell.marks if mark != "last" or len(cell.marks) == 1]
        parts.append(_square(x, y, CELL, marks[0] if marks else shade))
        if discs:
            parts.append(_circle(x, y, 0.42 * CELL, EMPTY))
        for number, item in enumerate(cell.items):
            parts += _item(x, y, item, number, len(cell.items))
        if cell.marks and any(item.kind.startswith("card") for item in cell.items):  # a card covers the cell's colour
            parts.append(f'{_square(x, y, CELL - 4, "none")[:-2]} style="stroke:{MARK};stroke-width:4"/>')
    parts += [_text(EDGE / 2, top + CELL * (y + 0.5), name, 11) for y, name in enumerate(zone.row_labels)]
    below = top + height + LINE / 2
    parts += [_text(EDGE + CELL * (x + 0.5), below, name, 11) for x, name in enumerate(zone.column_labels)]
    return parts, top + height + (LINE if zone.column_labels else 6)


def _lines(zone: Zone) -> list[str]:
    """The lines of a zone of words, such as a picture of characters or a list of actions; none: it is a grid."""
    kinds = [item.kind for cell in zone.cells for item in cell.items]
    if len(zone.cells) == 1 and kinds[:1] and kinds[0].startswith("text:"):
        return kinds[0].removeprefix("text:").splitlines()
    if zone.cells and all(cell.click.startswith(listed_click("")) for cell in zone.cells):
        return textwrap.wrap(shorten(", ".join(kinds), MOST), WRAP)
    return []


def _item(x: float, y: float, item: Item, number: int, count: int) -> list[str]:
    """One of the `count` items of a cell: a disc, a chip, a piece, a card, a text, or its kind's name in a circle."""
    kind, _, what = item.kind.partition(":")
    colour = GREY if item.side is None else SIDES[item.side]
    if kind in ("disc", "chip"):
        size, below = (0.42 * CELL, y) if kind == "disc" else (0.27 * CELL, y + 0.12 * CELL)
        ring = [_circle(x, below, size / 2, EMPTY)] if item.side else []  # shape tells the sides apart too
        return [_circle(x, below, size, colour), *ring]
    if kind in PIECES:
        place = x if count == 1 else x + CELL * (0.44 * number - 0.22)
        return [_text(place, y, PIECES[kind][item.side or 0], 34 if count == 1 else 22)]
    if kind == "card" and what == "back":
        return [_square(x, y, CELL - 4, FRAME), _text(x, y, "?", 16)]
    if kind == "card":
        face, red = f"{what[0].upper().replace('T', '10')}{SUITS[what[1]]}", what[1] in "hd"
        height, size = (y, 16) if count == 1 else (y - 0.28 * CELL, 12)
        return [_square(x, y, CELL - 2, EMPTY), _text(x, height, face, size, RED if red else INK)]
    if kind == "text":
        return [_text(x - CELL / 2, y, what, 12, anchor="start")]
    return [_circle(x, y, 0.42 * CELL, colour), _text(x, y, item.kind, 9, EMPTY)]


def _square(x: float, y: float, size: float, colour: str) -> str:
    corner = f'x="{x - size / 2:g}" y="{y - size / 2:g}"'
    return f'<rect {corner} width="{size:g}" height="{size:g}" fill="{colour}" stroke="{FRAME}"/>'


def _circle(x: float, y: float, radius: float, colour: str) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{colour}"/>'


def _text(x: float, y: float, words: str, size: int, colour: str = INK, anchor: str = "middle") -> str:
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" dominant-baseline="central"'
    return f'<text {place} font-size="{size}" fill="{colour}">{escape(words)}</text>'
