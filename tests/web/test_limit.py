"""What a process was at when it did not end in time, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from plyground import game
from plyground.errors import InvalidValue
from plyground.web import limit
from plyground.web.limit import culprit, load_file

pytestmark = pytest.mark.once
PATH = Path("/somewhere/mine.py")
POSITION = Path(game.__file__).with_name("position.py")


def frame(path: Path, line: int, name: str) -> str:
    return f'  File "{path}", line {line} in {name}\n'


def test_the_innermost_line_of_the_file_is_named() -> None:
    words = frame(PATH, 12, "helper") + frame(PATH, 40, "scene") + frame(POSITION, 1, "scene")
    assert culprit(words, PATH) == "`helper` of mine.py, line 12,"
    assert culprit(frame(PATH, 3, "<module>"), PATH) == "importing mine.py, line 3,"


@pytest.mark.parametrize(("kernel", "name"), [("play_all", "play"), ("reset_all", "reset"), ("legal_lists", "legal")])
def test_a_compiled_rule_is_known_by_the_kernel_that_was_called(kernel: str, name: str) -> None:
    lines = POSITION.read_text().splitlines()
    line = next(k for k, text in enumerate(lines, start=1) if f".{kernel}(" in text)
    assert culprit(frame(POSITION, line, "play"), PATH) == f"`{name}` of mine.py"
    assert culprit(frame(POSITION, 1, "play"), PATH) == "what mine.py computes"


def test_a_game_file_whose_import_does_not_end_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "LOADING", 0.5)
    path = tmp_path / "mine.py"
    path.write_text("import time\nend = time.monotonic() + 3\nwhile time.monotonic() < end:\n    pass\n")
    with pytest.raises(InvalidValue, match=r"importing mine\.py, line [34], did not end within 0\.5 s"):
        load_file(str(path))
