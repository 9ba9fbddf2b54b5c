"""The compiled functions of a game file, each compiled by itself: the one that is at fault is named with its line.

Otherwise the compiler meets them inside of our loops, where the error of one function appears as that of another.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import numba
import numpy as np
from numba import types

from plyground.errors import BrokenGame
from plyground.game import Game
from plyground.kernels.numba_internals import NumbaError, is_compiled, lines_of_failure

RETURNS = {
    "legal": "how many actions it has written",
    "seat": "the seat that acts",
    "evaluate": "a number from -1 to 1",
}
"""functions that return a number, and which"""


def check_compiling(game: Game) -> None:
    """Compile each function of a game file; raise `BrokenGame` for one that fails, or that returns no number where it
    must. The compiler's own errors have the line, and stay as they are."""
    if not game.path or numba.config.DISABLE_JIT:  # pyright: ignore
        return
    for function, arguments in entries(game):
        name, kinds = function.py_func.__name__, tuple(numba.typeof(each) for each in arguments)
        try:
            function.compile(kinds)
        except NumbaError:
            raise
        except Exception as error:  # a field that is not there, for example
            path = str(game.rules.module.__file__)
            lines = [line for file, line in lines_of_failure(error) if file == path]  # at which the compiler was
            where = f"{path}, line {lines[-1]}" if lines else game.rules.place(name)
            raise BrokenGame(
                f"{game}: `{name}` does not compile: {type(error).__name__}: {error}; see {where}"
            ) from error
        returned = function.overloads[kinds].signature.return_type
        if name in RETURNS and not isinstance(returned, types.Number | types.Boolean):
            fault = f"{game}: `{name}` must return {RETURNS[name]}, on every path"
            raise BrokenGame(f"{fault}; see {game.rules.place(name)}")


def entries(game: Game) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Each compiled function that plays, judges or encodes, with arguments of the types that kernels give."""
    state, rng, work = game.blank[0], np.zeros(1, np.uint64), game.work()[0]
    action, seat = np.int32(0), np.int32(0)
    arguments: Mapping[str, tuple[Any, ...]] = {
        "reset": (state, rng),
        "legal": (state, game.scratch(), work),
        "play": (state, action, rng, work),
        "seat": (state,),
        "determinize": (state, seat, rng),
        "evaluate": (state,),
    }
    for name, given in arguments.items():
        function: Any = game.rules.compiled.get(name)
        if is_compiled(function):
            yield function, given[: len(inspect.signature(function.py_func).parameters)]
    for encoder in dict.fromkeys(game.encoders.values()):
        if is_compiled(encoder.write):
            yield encoder.write, (state, seat, np.empty(1, encoder.dtype))
    if game.rules.CELLS is not None and is_compiled(game.rules.CELLS.write):
        yield game.rules.CELLS.write, (state, seat, np.empty(1, np.int16))
