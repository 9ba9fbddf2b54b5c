"""A name of a file that is nearly a missing one, of the same kind, is asked about."""

from __future__ import annotations

from pathlib import Path

from plyground.games.near_names import questions


def test_names_are_asked_about_by_kind_and_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "game.py"
    path.write_text("MAX_LEGALS = 3\n\n\ndef plays(state): ...\n\n\ndef max_legal(): ...\n\n\nresets = 1\n")
    missing = {"MAX_LEGAL": False, "play": True, "reset": True}
    assert questions(path, missing, ()) == [
        f"`MAX_LEGALS`: did you mean `MAX_LEGAL`? see {path}, line 1",
        f"`plays`: did you mean `play`? see {path}, line 4",
    ]
    assert questions(path, missing, ("plays", "MAX_LEGALS")) == [], "they have a meaning of their own"
