"""Draw docs/scale.svg: who sends what to whom on a cluster.

.venv/bin/python tools/scale_picture.py
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

PICTURE = Path(__file__).parents[1] / "docs" / "scale.svg"
WIDTH, HEIGHT = 760, 470
COLOURS = {"here": "#dce9f7", "there": "#fbe6cf", "disk": "#e4e4e4"}


class Box(NamedTuple):
    """A process or a folder."""

    x: int
    y: int
    width: int
    height: int
    colour: str
    lines: tuple[str, ...]


class Arrow(NamedTuple):
    """From one point to another, with words above it."""

    x1: int
    y1: int
    x2: int
    y2: int
    words: tuple[str, ...]
    x: int
    y: int


TITLES = ((20, 28, "train alphazero, train ppo"), (20, 290, "match, ladder, grade, teach collect"))
BOXES = (
    Box(
        20, 45, 190, 190, "here", ("learner", "replay buffer or rollouts", "updates, evaluation", "publishes versions")
    ),
    Box(20, 245, 190, 22, "disk", ("run directory: checkpoints, metrics",)),
    Box(550, 45, 190, 50, "there", ("actor on node 1", "network, search, games")),
    Box(550, 107, 190, 50, "there", ("actor on node 1", "network, search, games")),
    Box(550, 193, 190, 50, "there", ("actor on node 2", "on a CPU or its GPU")),
    Box(20, 307, 190, 102, "here", ("the command", "divides by pairs and games", "takes results in order")),
    Box(20, 419, 190, 22, "disk", ("ladder, dataset",)),
    Box(550, 307, 190, 46, "there", ("task on node 1", "makes agents from their specs")),
    Box(550, 363, 190, 46, "there", ("task on node 2", "makes agents from their specs")),
)
ARROWS = (
    Arrow(
        210, 85, 545, 70, ("weights: one version for all, by each node's", "object store; 4 bytes a weight"), 378, 46
    ),
    Arrow(
        550,
        150,
        215,
        150,
        ("blocks: heads of states, sparse policies, values;", "chess 221 bytes a position, PPO 119"),
        378,
        124,
    ),
    Arrow(565, 157, 565, 190, ("streams: unfinished games,", "to whoever goes on with them"), 655, 171),
    Arrow(115, 235, 115, 243, (), 0, 0),
    Arrow(210, 330, 545, 330, ("specs, seed and numbers of pairs or games: 1 KB",), 378, 322),
    Arrow(
        550,
        386,
        215,
        386,
        ("scores of matches: 16 bytes a pair;", "lines of a dataset: 548 bytes a position"),
        378,
        362,
    ),
    Arrow(115, 409, 115, 417, (), 0, 0),
)


def text(x: int, y: int, words: str, extra: str = "") -> str:
    return f'<text x="{x}" y="{y}" {extra}>{escape(words)}</text>'


def drawn() -> str:
    """The picture."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="12">',
        "<title>Who sends what to whom on a cluster</title>",
        '<defs><marker id="head" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
        '<path d="M0,0 L7,3 L0,6 z" fill="#333"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    parts += [text(x, y, words, 'font-size="15" font-weight="bold"') for x, y, words in TITLES]
    for box in BOXES:
        place = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"'
        parts.append(f'<rect {place} rx="6" fill="{COLOURS[box.colour]}" stroke="#555"/>')
        top = box.y + box.height // 2 - 8 * len(box.lines) + 12
        for number, line in enumerate(box.lines):
            weight = 'font-weight="bold" ' if number == 0 and len(box.lines) > 1 else ""
            parts.append(text(box.x + box.width // 2, top + 16 * number, line, f'{weight}text-anchor="middle"'))
    for arrow in ARROWS:
        ends = f'x1="{arrow.x1}" y1="{arrow.y1}" x2="{arrow.x2}" y2="{arrow.y2}"'
        parts.append(f'<line {ends} stroke="#333" stroke-width="1.5" marker-end="url(#head)"/>')
        for number, line in enumerate(arrow.words):
            parts.append(text(arrow.x, arrow.y + 14 * number, line, 'text-anchor="middle" font-size="11"'))
    legend = "blue: where the command was started · orange: anywhere in the cluster · grey: on disk"
    parts += [text(WIDTH // 2, HEIGHT - 10, legend, 'text-anchor="middle" font-size="11"'), "</svg>"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
