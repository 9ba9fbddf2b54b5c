"""The boards of the documentation as SVG files in docs/pictures, drawn from scenes: `python tools/pictures.py`.

A test compares the files with what is drawn here, so that they show the games as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import plyground as pg
from plyground.games.scene import Scene, Zone
from plyground.games.svg import to_svg

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
CASTLING = "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 8"
SEQUENCE = (  # the second side has d5 e6 f7 g8 h9
    "#b_rrrbb_#/____bbb__r/__r__br___/_rrbrrb___/__bO_rr___/_rr_Orbrb_/__brbObbr_/_rrrr_O___/_b_b_rrO__/#_______b# "
    "turn=0 hands=kd+2d+ks+kd+7d+as+,9h+7d+5c+as+7h+3d+ display=adtc4hqcac deck=kc9c4sqdtdjh6s9s2c5d4c7h3d4dqs7c9s9d3h"
    "4d3cqh6c9d8h5h8c8dth3s8dahac discards=2h6h4hkh8h7stcqhjh9hkcjcqcqs8sth3cad6sjd3h5dtsjs3sqd6c9c2s5std2h4s8s5h6h5s"
    "2sks5c6d2c8c7s4c7cjd6djsah2dkhtsjc sequences=0,1 last=place-ts-j2-take-as,place-jc-h9-take-3d"
)


@dataclass(frozen=True)
class Picture:
    """A position, by a text and moves from there; `click` marks the cells that may be clicked next."""

    game: str
    text: str = "startpos"
    moves: tuple[str, ...] = ()
    click: str | None = None

    def scene(self) -> Scene:
        position = pg.load(self.game).position(self.text)
        for move in self.moves:
            position = position.play(move)
        scene = position.scene(0)
        if self.click is None:
            return scene
        so_far = [self.click] if self.click else []
        paths = [path for path in position.paths().values() if path[: len(so_far)] == so_far]
        return marked(scene, {path[len(so_far)] for path in paths})


def marked(scene: Scene, clicks: set[str]) -> Scene:
    """The scene with a mark on these cells."""

    def mark(zone: Zone) -> Zone:
        cells = tuple(replace(cell, marks=("legal",)) if cell.click in clicks else cell for cell in zone.cells)
        return replace(zone, cells=cells)

    return replace(scene, zones=tuple(map(mark, scene.zones)))


THREE = str(ROOT / "examples" / "three_in_a_row.py")
PICTURES = {
    "connect_four": Picture("connect_four", "44455433"),
    "connect_four_win": Picture("connect_four", "12234334464"),
    "chess": Picture("chess"),
    "chess_castling": Picture(
        "chess", "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 8", (), "e1"
    ),
    "chess_en_passant": Picture("chess", "startpos", ("e2e4", "a7a6", "e4e5", "d7d5"), "e5"),
    "chess_promotion": Picture("chess", "3n4/4P1k1/8/8/8/8/8/4K3 w - - 0 1", click="e7"),
    "chess_mate": Picture("chess", "startpos", ("f2f3", "e7e5", "g2g4", "d8h4")),
    "paco_sako_union": Picture("paco_sako", "startpos", ("Le2", "Pe4", "Ld7", "Pd5", "Le4", "Pd5")),
    "paco_sako_chain": Picture("paco_sako", "startpos", ("Le2", "Pe4", "Ld7", "Pd5", "Le4", "Pd5", "Ld8", "Pd5"), ""),
    "sequence": Picture("sequence"),
    "sequence_line": Picture("sequence", SEQUENCE),
    "three_in_a_row": Picture(THREE, "xoo.x.o.x"),
}


def drawn() -> dict[str, str]:
    """{file name: SVG} of every picture."""
    return {f"{name}.svg": to_svg(picture.scene()) + "\n" for name, picture in PICTURES.items()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, svg in drawn().items():
        (FOLDER / name).write_text(svg, encoding="utf-8")
    print(f"{len(PICTURES)} pictures in {FOLDER}")


if __name__ == "__main__":
    main()
