"""Whether a function of a game takes the arguments that the contract passes to it."""

from __future__ import annotations

import ast
import inspect
from typing import Any


def misfit(name: str, function: Any, arguments: str, work: bool = False) -> list[str]:
    """The fault of a function that cannot be called with arguments such as `(state, action, rng)`; where it may take
    `work` too, its last parameter has that name."""
    try:
        taken = inspect.signature(getattr(function, "py_func", function)).parameters
    except (TypeError, ValueError):  # not written in Python
        return []
    (call,) = (node for node in ast.walk(ast.parse(f"f{arguments}")) if isinstance(node, ast.Call))
    given = len(call.args) + (work and [*taken][-1:] == ["work"])
    try:
        inspect.Signature([*taken.values()]).bind(*range(given))
    except TypeError:
        shown = ", ".join(str(each.replace(annotation=inspect.Parameter.empty)) for each in taken.values())
        return [f"`{name}` takes {arguments}, not ({shown})"]
    return []
