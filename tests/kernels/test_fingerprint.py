"""Fingerprints from source: they change with the meaning of code, and with nothing else."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import numpy as np
import pytest

import plyground as pg
from plyground.errors import BrokenGame
from plyground.games import GAMES
from plyground.kernels import fingerprint
from plyground.kernels.fingerprint import code_fingerprint

HELPER = """
STRIDE = 2

def stride(n):
    return STRIDE * n
"""
SOURCE = '''
import numpy as np
from numba import njit
import {helper} as helper
from {helper} import stride

TABLE = np.array([1, 2, 3], np.uint8)
LIMIT = np.uint64(5)
UNUSED = 1

@njit
def play(state: int, action: int) -> int:
    """Play an action."""
    # a comment
    total = TABLE[action] + stride(state)
    if total > LIMIT:
        raise ValueError("too large")
    return total + helper.STRIDE

def make(factor):
    def scaled(x):
        return factor * x
    return scaled

twice, thrice = make(2), make(3)

class Base:
    def shared(self):
        return 1

class Layer(Base):
    """A layer."""
    size: int
    def forward(self, x):
        return stride(x) + self.shared()
'''


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Callable[..., ModuleType]]:
    """Writes and loads a module of two files, with replacements; each time under another name."""
    made: list[str] = []

    def load(name: str, text: str) -> ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        made.append(name)
        spec.loader.exec_module(module)
        return module

    def both(*replacements: tuple[str, str]) -> ModuleType:
        number, texts = len(made), [HELPER, SOURCE]
        for old, new in replacements:
            assert any(old in text for text in texts)
            texts = [text.replace(old, new) for text in texts]
        load(f"helper_{number}", texts[0])
        return load(f"module_{number}", texts[1].replace("{helper}", f"helper_{number}"))

    yield both
    for name in made:
        del sys.modules[name]
    fingerprint._definitions.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    # a comment\n", ""),
        ('    """Play an action."""\n', ""),
        ("state: int, action: int) -> int", "state, action)"),
        ("TABLE[action] + stride(state)", "(TABLE[action]\n             + stride( state ))"),
        ('"too large"', 'f"too large: {total}"'),
        ("UNUSED = 1", "UNUSED = 2"),
        ("\nSTRIDE = 2", "\n\n\nSTRIDE = 2"),
    ],
)
def test_what_does_not_change_results_does_not_change_the_fingerprint(write, old: str, new: str) -> None:
    assert code_fingerprint(write().play) == code_fingerprint(write((old, new)).play) != ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total > LIMIT", "total >= LIMIT"),
        ("[1, 2, 3]", "[1, 2, 4]"),
        ("np.uint8)", "np.int8)"),
        ("np.uint64(5)", "np.uint64(6)"),
        ("STRIDE * n", "STRIDE + n"),
        ("STRIDE = 2", "STRIDE = 3"),
        ("@njit", "@njit(fastmath=True)"),
    ],
)
def test_what_changes_results_changes_the_fingerprint(write, old: str, new: str) -> None:
    assert code_fingerprint(write().play) != code_fingerprint(write((old, new)).play)


def test_functions_of_one_source_differ_by_their_closures(write) -> None:
    module = write()
    assert code_fingerprint(module.twice) != code_fingerprint(module.thrice)
    assert code_fingerprint(module.twice) == code_fingerprint(write().twice)


@pytest.mark.parametrize(
    ("old", "new"), [("return 1", "return 2"), ("stride(x) +", "stride(x) -"), ("STRIDE = 2", "STRIDE = 3")]
)
def test_a_class_reaches_its_base_and_the_functions_it_calls(write, old: str, new: str) -> None:
    assert code_fingerprint(write().Layer) == code_fingerprint(
        write(("size: int", "size: float"), ('    """A layer."""\n', "")).Layer
    )
    assert code_fingerprint(write().Layer) != code_fingerprint(write((old, new)).Layer)


def test_the_same_code_has_this_fingerprint_under_every_python_and_numpy(write) -> None:
    """The numbers were computed with Python 3.11, numpy 2.4 and numba 0.68; others must give the same."""
    module = write()
    assert code_fingerprint(module.play) == "71687664c881c13d"
    assert code_fingerprint(module.Layer) == "c49069adcc0d1dab"
    layout = np.dtype([("a", np.uint8), ("b", np.float64, (2, 3))], align=True)
    assert code_fingerprint(layout, np.uint64(3), (1, 2.5, "x", None), {"k": True}) == "8532dd90fbcd9670"


def test_code_without_source_has_no_fingerprint() -> None:
    assert code_fingerprint(FunctionType(compile("1", "nowhere", "eval"), {"__name__": "nowhere"})) == ""


def test_a_global_that_cannot_be_followed_is_an_error(write) -> None:
    module = write(
        ("UNUSED = 1", "UNUSED = object.__new__(type('Odd', (), {'__module__': 'odd'}))"), ("> LIMIT", "> UNUSED")
    )
    with pytest.raises(BrokenGame, match="cannot follow the global"):
        code_fingerprint(module.play)


def test_no_path_of_the_machine_enters_a_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library may lie anywhere: the same code has the same fingerprint in every environment."""
    texts: list[str] = []
    monkeypatch.setattr(fingerprint._Walk, "_text", lambda walk, *parts: texts.append(repr(parts)))
    for name in GAMES:
        game = pg.load(name)
        encoder = next(iter(game.encoders.values()))
        fingerprint.code_fingerprint(dict(game.rules.compiled), encoder.write)
    assert texts
    assert [text for text in texts if "site-packages" in text or ".py'" in text] == []
