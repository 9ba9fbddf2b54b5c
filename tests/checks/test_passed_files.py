"""A game file is remembered by its content."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyground.checks import passed_files
from plyground.checks.passed_files import has_passed, remember

pytestmark = pytest.mark.once


def test_a_file_has_passed_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLYGROUND_CACHE", str(tmp_path / "cache"))
    path, same = tmp_path / "game.py", tmp_path / "copy.py"
    path.write_text("MAX_LEGAL = 3\n")
    same.write_text("MAX_LEGAL = 3\n")
    assert not has_passed(path)
    remember(path)
    assert has_passed(path)
    assert has_passed(same)
    path.write_text("MAX_LEGAL = 4\n")
    assert not has_passed(path)


def test_where_nothing_can_be_written_nothing_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    monkeypatch.setattr(passed_files, "cache_folder", lambda: tmp_path / "cache")
    remember(Path(__file__))
    assert not has_passed(Path(__file__))
