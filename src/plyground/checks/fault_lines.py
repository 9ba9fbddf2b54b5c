"""Where a fault of a game is: by a name that a sentence mentions, by a traceback, or by playing in plain Python."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import ast
import math
import re
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

from plyground.game import Game
from plyground.games.cells import Cells
from plyground.games.interface import FILE_PREFIX, TABLE
from plyground.games.rng import Rng, draw, seeds
from plyground.kernels.numba_internals import NumbaError


def place_of(game: Game, *sentences: str) -> str:
    """`my_game.py, line 12`: where the first name of the contract that the sentences mention is defined."""
    encoder = re.search(r"the encoder (\S+-v\d+)", " ".join(sentences))
    if encoder and encoder[1] in game.encoders:
        write: Any = game.encoder(encoder[1]).write
        code = getattr(write, "py_func", write).__code__
        return f"{code.co_filename}, line {code.co_firstlineno}"
    return game.rules.place(*(name for sentence in sentences for name in re.findall(r"\w+", sentence)))


def source_of_error(game: Game, error: BaseException) -> tuple[str, str]:
    """The function of the contract, in the game's file, that raised an error, and the line; empty where compiled code
    did, which does not tell."""
    path = str(game.rules.module.__file__)
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == path]
    name = next((each.name for each in frames if each.name in TABLE), "")
    return name, f"{path}, line {frames[-1].lineno}" if frames else ""


def place_of_name(path: Path, message: str) -> str:
    """`my_game.py, line 12`: where a file uses the name that a message calls undefined; empty where it calls none so.
    The compiler does not tell."""
    name = re.search(r"name '(\w+)' is not defined", message)
    lines = [
        node.lineno
        for node in (ast.walk(ast.parse(path.read_bytes())) if name else ())
        if name and isinstance(node, ast.Name) and node.id == name[1]
    ]
    return f"{path}, line {min(lines)}" if lines else ""


def fault_of_compiler(error: BaseException, files: Iterable[Path]) -> str:
    """A sentence, and the lines, of a game that does not compile: what numba found, and the lines of the game's file;
    without numba's stages and without our own callers."""
    text = re.sub(r"(?m)^Failed in .*\n", "", str(error)).strip()
    found = re.split(r"\n\s*\n(?!.*>>>)|\nDuring|\nThere are", text)[0]
    quoted = re.findall(r'(?m)^File "(?!.*kernels\.py").*\n(?:.*\S.*\n)*', text)
    lines = "\n".join([found, *dict.fromkeys(quoted)]).splitlines()
    message = "\n".join(line for line in lines if line.strip() not in ("", "^", "<source elided>"))
    place = next(filter(None, (place_of_name(path, message) for path in files)), "")
    return f"the game does not compile: {message}{place and f'; see {place}'}"


def fault_of_file(error: BaseException, game: Path) -> str:
    """Where a game or an agent of a person's own has raised an error, without its words, which may quote hidden cards:
    "`scene` of my_game.py, line 12, fails with KeyError". Empty where no such file is in the traceback."""
    if isinstance(error, NumbaError):
        return fault_of_compiler(error, [game] if game.is_file() else [])
    own = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).startswith(FILE_PREFIX)
    ]
    if not own:
        return ""
    code, line = own[-1]
    return f"`{code.co_name}` of {Path(code.co_filename).name}, line {line}, fails with {type(error).__name__}"


def place_in_python(game: Game, games: int = 20) -> str:
    """The line that raises when random games of a game file are played as plain Python; empty where none does."""
    if not game.path or numba.config.DISABLE_JIT:  # pyright: ignore
        return ""
    numba.config.DISABLE_JIT = 1  # pyright: ignore (`njit` then leaves functions as they are)
    try:
        module = ModuleType("plyground_in_python")  # of its own, which nobody else sees
        exec(compile(Path(game.path).read_bytes(), game.path, "exec"), vars(module))  # noqa: S102 (what is checked)
        for rng in seeds(0, games):
            _play(module, game, np.array([rng]))
    except Exception as error:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == game.path]
        return f"{game.path}, line {frames[-1].lineno} ({type(error).__name__}: {error})" if frames else ""
    finally:
        numba.config.DISABLE_JIT = 0  # pyright: ignore
    return ""


def _play(module: Any, game: Game, rng: Rng) -> None:
    """One random game by the functions of a module."""
    state, actions, work = game.blank.copy()[0], np.zeros(game.rules.MAX_LEGAL, np.int32), game.work()[0]
    extra = [work] if game.rules.defined("WORK") is not None else []
    module.reset(state, rng)
    for _ in range(game.rules.MAX_PLIES):
        count = module.legal(state, actions, *extra)
        if count == 0:
            return
        module.play(state, int(actions[draw(rng, np.array([count]))[0]]), rng, *extra)
        if "evaluate" in game.rules.compiled:
            module.evaluate(state)
        for encoder in getattr(module, "ENCODERS", ()):
            encoder.write(state, int(state["to_move"]), np.zeros(math.prod(encoder.shape), encoder.dtype))
        if isinstance(cells := getattr(module, "CELLS", None), Cells):
            cells.write(state, int(state["to_move"]), np.zeros(cells.count, np.int16))
