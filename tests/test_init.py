"""The package: its public names, its notices, and that nothing below the command line prints."""

from __future__ import annotations

import ast
import logging
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import plyground as pg

HOME = Path(pg.__file__).parent
PROGRAMS = [HOME / "games" / "connect_four" / "solver" / "make_book.py"]  # has a command line of its own
FILES = sorted(path for path in HOME.rglob("*.py") if path.relative_to(HOME).parts[0] not in ("cli", "__main__.py"))


def test_every_public_name_is_there() -> None:
    assert sorted(pg.__all__) == sorted(set(pg.__all__))
    for name in pg.__all__:
        assert getattr(pg, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Bathc'"):
        _ = pg.Bathc


def is_program(node: ast.stmt) -> bool:
    """Whether this is `if __name__ == "__main__"`: a program may print."""
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


@pytest.mark.parametrize(
    "path", [each for each in FILES if each not in PROGRAMS], ids=lambda path: str(path.relative_to(HOME))
)
def test_nothing_below_the_command_line_prints(path: Path) -> None:
    parts = [part for part in ast.parse(path.read_text()).body if not is_program(part)]
    for node in (each for part in parts for each in ast.walk(part)):
        called = node.func if isinstance(node, ast.Call) else None
        assert not (isinstance(called, ast.Name) and called.id in ("print", "input")), f"line {called.lineno}"
        if isinstance(node, ast.ImportFrom | ast.Import):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            assert not [name for name in names if name.split(".")[0] in ("rich", "argparse")], f"line {node.lineno}"


def test_notices_go_to_standard_error_once(capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("plyground").info("compiling %s", "hops")
    assert capsys.readouterr().err == "plyground: compiling hops\n"


def test_notices_can_be_silenced_and_are_not_doubled(tmp_path: Path) -> None:
    code = f"""
import logging, sys
import plyground
logging.basicConfig(level=logging.DEBUG)
logging.getLogger("plyground").setLevel(sys.argv[1])
plyground.load({str(Path(__file__).parent / "tiny_games" / "hops.py")!r}).start()
"""
    for level, count in (("INFO", 1), ("WARNING", 0)):
        done = subprocess.run(
            [sys.executable, "-c", code, level],
            capture_output=True,
            text=True,
            check=True,
            env={"PLYGROUND_CACHE": str(tmp_path / level), "PYTHONPATH": str(HOME.parent)},
        )
        assert done.stderr.count("compiling") == count, done.stderr


def test_python_suggests_the_right_name_for_a_wrong_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import plyground; plyground.loads"], capture_output=True, text=True, check=False
    )
    assert done.stderr.endswith("module 'plyground' has no attribute 'loads'. Did you mean: 'load'?\n")


def test_a_call_that_lacks_something_is_refused_under_its_public_name() -> None:
    with pytest.raises(TypeError, match=r"^match\(\) missing 1 required positional argument: 'second'"):
        pg.match("connect_four", "greedy")  # pyright: ignore
    with pytest.raises(TypeError, match=r"^agent\(\) missing 1 required positional argument: 'game'"):
        pg.agent("minimax:depth=3")  # pyright: ignore
    for name in ("agent", "match"):
        assert pickle.loads(pickle.dumps(getattr(pg, name))) is getattr(pg, name)  # noqa: S301 (our own)


def test_docstrings_call_what_people_can_call() -> None:
    for name, inner in pg._NAMES_THERE.items():
        assert f"{inner}(" not in (getattr(pg, name).__doc__ or ""), name
        assert f"pg.{name}(" in (getattr(pg, name).__doc__ or ""), name
