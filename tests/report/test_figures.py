"""Figures: what cannot be written is said before the work, and in one sentence."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from matplotlib import image
from matplotlib.figure import Figure

import plyground as pg
from plyground.report import figures
from plyground.runs import files
from plyground.runs.metrics import Series


def test_a_figure_has_its_size_in_the_file(tmp_path: Path) -> None:
    figure = figures.new_figure(4, 3, "a title")
    axes = figure.add_subplot()
    axes.plot([1, 2], [3, 4], label="one")
    figures.label(axes, legend=True, xlabel="x", title="t")
    figures.save_figure(tmp_path / "x.png", figure)
    assert image.imread(tmp_path / "x.png").shape[:2] == (300, 400)
    assert (axes.get_xlabel(), axes.get_title()) == ("x", "t")
    assert axes.get_legend() is not None


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/nope/x.png", "cannot write /nope/x.png: there is no folder /nope"),
        ("x.foo", "cannot write x.foo: a picture's name ends in .eps"),
        ("x", "cannot write x: a picture's name ends in"),
        ("/", "cannot write /: it is a folder"),
    ],
)
def test_a_target_is_checked_before_the_work(target: str, message: str) -> None:
    with pytest.raises(pg.InvalidValue) as error:
        figures.check_picture(Path(target))
    assert message in str(error.value)


def test_a_target_that_fails_later_is_one_sentence(tmp_path: Path) -> None:
    for target, what in ((tmp_path / "no" / "x.png", "write"), (tmp_path / "x.foo", "draw")):
        with pytest.raises(pg.InvalidValue, match=f"cannot {what} {target}: "):
            figures.save_figure(target, figures.new_figure(1, 1))


def test_a_full_disk_leaves_the_picture_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes, shared: bool = False) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    figures.save_figure(tmp_path / "x.png", figures.new_figure(1, 1))
    before = (tmp_path / "x.png").read_bytes()
    monkeypatch.setattr(files, "write_synced", full)
    with pytest.raises(pg.InvalidValue, match=r"cannot write .*x\.png: No space left on device"):
        figures.save_figure(tmp_path / "x.png", figures.new_figure(2, 2))
    assert (tmp_path / "x.png").read_bytes() == before


def test_curves_of_several_runs_differ_by_colour_and_their_opponents_by_style() -> None:
    axes = Figure().add_subplot()
    specs = ("random", "greedy")
    curves = [Series(True, run, spec, [1, 2], [0, 1]) for run in "ab" for spec in specs]
    figures.draw_curves(axes, curves, ["a", "b"])
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    assert len({colour for colour, _ in looks}) == len({style for _, style in looks}) == 2
    assert len(set(looks)) == 4
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", *specs]
    assert legend.get_window_extent().y1 <= axes.get_window_extent().y0


def test_more_runs_than_colours_are_all_drawn() -> None:
    axes, many = Figure().add_subplot(), [str(k) for k in range(60)]
    figures.draw_curves(axes, [Series(True, run, "random", [1, 2], [0, 1]) for run in many], many)
    assert len(axes.lines) == 60


def test_all_pictures_are_made_by_the_helper() -> None:
    """Fonts, sizes and errors are the same everywhere."""
    for path in Path(figures.__file__).parents[1].rglob("*.py"):
        text = path.read_text()
        if path != Path(figures.__file__):
            assert "matplotlib.use" not in text, path
            assert ".savefig" not in text, path
