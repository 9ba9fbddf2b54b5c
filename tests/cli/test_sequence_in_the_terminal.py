"""A game of Sequence typed in the terminal: what is shown, in colour, and what is not."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.agents.agent import make
from plyground.cli import playing, terminal
from plyground.games.sequence.text import known_hand


def test_a_board_has_colours_for_both_sides() -> None:
    position = pg.load("sequence").start(3)
    for _ in range(2):
        position = position.play(next(name for name in position.names() if name.startswith("place")))
    board = terminal.board(position, 0)
    styles = {str(span.style): board.plain[span.start : span.end] for span in board.spans}
    assert styles["bold red"].endswith("●")
    assert styles["bold blue"].endswith("○")
    assert styles["bold yellow"] == "★"


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed,seats=4"])
def test_a_typed_game_shows_the_hand_the_last_move_and_no_secret(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = pg.load(word)
    start = game.start(3)
    first = start.names()[0]
    answers = iter(["place 2s a1", first, None])
    monkeypatch.setattr(playing, "_ask", lambda _: next(answers))
    monkeypatch.setattr(terminal.console, "_width", 3000)
    playing.play(start, make("window", game), "window", side=0, seed=1)
    shown = capsys.readouterr().out
    assert f"red, seat 0 (you) to move: {' '.join(known_hand(start.state, 0, 0))}" in shown
    assert ("face up:" in shown) == (word == "sequence")
    assert "'place 2s a1' is not legal" in shown
    assert "window plays place" in shown
    assert "last: place" in shown
    assert start.text.split("deck=")[1].split()[0] not in shown
    assert start.text.split("hands=")[1].split(",")[1] not in shown
