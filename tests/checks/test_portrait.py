"""The portrait of random play, and the faults that it shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.checks.portrait import portray

pytestmark = pytest.mark.once
ROW = ROOT / "examples" / "three_in_a_row.py"
Edit = Callable[[str, str], pg.Game]


@pytest.fixture
def edited(tmp_path: Path) -> Edit:
    """Three in a row with one text in place of another."""

    def edit(old: str, new: str) -> pg.Game:
        source = ROW.read_text()
        assert old in source, "the test's edit no longer fits the game"
        (tmp_path / "edited.py").write_text(source.replace(old, new))
        return pg.load(tmp_path / "edited.py")

    return edit


@pytest.mark.compiled
def test_the_portrait_of_connect_four(connect_four: pg.Game) -> None:
    portrait = portray(connect_four, games=400, seed=1)
    assert abs(portrait.plies.mean() - 21.3) < 1.5
    assert (portrait.plies.min() >= 7, portrait.plies.max() <= 42, portrait.legal.max()) == (True, True, 7)
    assert portrait.outcomes.sum() == 400
    assert abs(portrait.outcomes[2] / 400 - 0.556) < 0.08
    assert (portrait.passes, portrait.warnings) == (1.0, ())
    assert portrait.greedy is not None
    assert portrait.greedy.score > 0.8
    assert [sentence.split()[0] for sentence in portrait.sentences()] == ["400", "the", "the", "greedy"]


@pytest.mark.compiled
def test_turns_of_several_plies_are_counted() -> None:
    portrait = portray(pg.load(TINY[1]), games=100)
    assert 0.6 < portrait.passes < 0.95
    assert portrait.warnings == ()


@pytest.mark.interpreted
def test_a_wrong_sign_of_evaluate_shows(edited: Edit) -> None:
    """The middle cell is good for whoever has it."""
    right = '    lead = 0.0 + (state["cells"][4] == 1) - (state["cells"][4] == 2)\n    return 0.5 * '
    game = edited("    return 0.0\n", right + '(-lead if state["to_move"] == 0 else lead)\n')
    (warning,) = portray(game, games=100).warnings
    line = next(
        number for number, text in enumerate(Path(game.path).read_text().splitlines(), 1) if "def evaluate" in text
    )
    assert (
        "the sign of `evaluate` seems wrong: in random games it is high where the side to move goes on to lose"
        in warning
    )
    assert f"edited.py, line {line}" in warning
    (warning,) = portray(edited("    return 0.0\n", right + "lead\n"), games=100).warnings
    assert "it is high where the second side is to move and goes on to lose" in warning
    assert (
        portray(edited("    return 0.0\n", right + '(lead if state["to_move"] == 0 else -lead)\n'), games=100).warnings
        == ()
    )


@pytest.mark.interpreted
def test_an_encoder_that_turns_the_board_but_not_the_actions_shows(edited: Edit) -> None:
    turned = 'out[cell] = state["cells"][8 - cell if seat else cell] == 1 + seat'
    (warning,) = portray(edited('out[cell] = state["cells"][cell] == 1 + seat', turned), games=60).warnings
    assert "planes-v1 seems to turn the board for one seat, but not the actions" in warning
    assert "edited.py, line" in warning


@pytest.mark.compiled
def test_encoders_that_turn_both_or_neither_are_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    chess = pg.load("chess")
    assert portray(chess, games=40).warnings == ()
    both = np.stack([np.arange(chess.num_actions)] * 2)  # [SEATS, A] as if actions were not turned
    monkeypatch.setattr(chess, "slots", lambda encoder: both)
    assert [warning.split()[2] for warning in portray(chess, games=40).warnings] == ["planes-v1"]


@pytest.mark.interpreted
def test_a_turn_that_never_passes_shows(edited: Edit) -> None:
    found = portray(edited('    state["to_move"] = 1 - side\n', "    pass\n"), games=60).warnings
    assert "the turn never passes to the other side" in found[0]
    assert any("the first side wins every random game" in each for each in found)
