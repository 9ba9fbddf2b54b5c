"""The source keeps the project's own rules of style, as far as a program can check them."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from source import FILES, HOME, check_exceptions, functions, name_of, tree

pytestmark = pytest.mark.once
MOST_LINES = 60  # of a function, its docstring aside
MOST_PARAMETERS = 10
MOST_MODULES = 8  # in src/plyground itself, beside __init__ and __main__

OLD_WORDS = re.compile(
    r"yardsticks?|concurrency|discount|warm_up|target_soft|entropy_bonus|Sitting|Gpu[A-Z]\w*|OnGpu"
    r"|CLEARLY|max_steps|wishes_to_stop|judge|memory_learner|target_update|Came"
)
"""identifiers of the old vocabulary; docs/glossary.md has the terms that replaced them"""

COMMANDS = {"games/connect_four/solver/make_book.py", "games/interface.py"}  # beside `cli`: programs of their own

NOT_YET: dict[str, set[str]] = {
    "lines": set(),
    "stars": set(),
    "parameters": set(),
    "depth": set(),
    "print": set(),
    "words": set(),
}
"""rule → files (or names) that still break it; an entry that is no longer needed fails too"""


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A function's lines, without decorators and docstring."""
    last = function.end_lineno or function.lineno
    first = function.body[0]
    doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return last - function.lineno + 1 - ((first.end_lineno or 0) - first.lineno + 1 if doc else 0)


def test_no_function_is_longer_than_a_screen() -> None:
    found = {
        f"{name_of(path)}:{function.name}": f"{lines_of(function)} lines, at most {MOST_LINES}"
        for path in FILES
        for function in functions(path)
        if lines_of(function) > MOST_LINES
    }
    check_exceptions(found, NOT_YET["lines"], "functions that are too long")


def test_no_call_hides_its_arguments_in_star_tuples() -> None:
    """`f(*(a, b), *(c, d))` hides which argument is which: name them, or pass a NamedTuple."""
    found = {
        name_of(path): f"line {node.lineno} has *(...) in a call"
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        for argument in node.args
        if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Tuple | ast.List)
    }
    check_exceptions(found, NOT_YET["stars"], "star-tuples")


def test_no_function_has_too_many_parameters() -> None:
    found: dict[str, str] = {}
    for path in FILES:
        for function in functions(path):
            given = function.args
            count = len([each for each in given.posonlyargs + given.args if each.arg not in ("self", "cls")])
            if count > MOST_PARAMETERS:
                found[f"{name_of(path)}:{function.name}"] = f"{count} parameters, at most {MOST_PARAMETERS}"
    check_exceptions(found, NOT_YET["parameters"], "functions with too many positional parameters")


def test_the_top_folder_has_few_modules() -> None:
    modules = sorted(path.stem for path in HOME.glob("*.py") if not path.stem.startswith("__"))
    assert len(modules) <= MOST_MODULES, modules


def test_our_classes_inherit_from_one_another_at_most_once() -> None:
    """A class may have a parent of ours, but no grandparent; exceptions aside."""
    parents: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and path.stem != "errors":
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                parents[node.name] = [ast.unparse(base).split(".")[-1] for base in bases]

    def depth(name: str) -> int:
        above = [parent for parent in parents.get(name, []) if parent in parents and parent != name]
        return max((1 + depth(parent) for parent in above), default=0)

    found = {name: f"{depth(name)} levels of our own classes above it" for name in parents if depth(name) > 1}
    check_exceptions(found, NOT_YET["depth"], "deep inheritance")


def test_only_the_command_line_prints() -> None:
    found = {
        name_of(path): f"line {node.lineno} prints"
        for path in FILES
        if name_of(path).split("/")[0] != "cli" and name_of(path) not in COMMANDS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    check_exceptions(found, NOT_YET["print"], "print outside the command line")


def identifiers(node: ast.AST) -> list[str]:
    """The names that a node of the syntax tree defines or uses."""
    names = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname")]
    if isinstance(node, ast.ImportFrom):
        names += (node.module or "").split(".")
    return [part for name in names if isinstance(name, str) for part in name.split(".")]


def test_identifiers_are_the_words_of_the_field() -> None:
    found: dict[str, str] = {}
    for path in FILES:
        used = Counter(name for node in ast.walk(tree(path)) for name in identifiers(node))
        old = sorted(name for name in {*used, path.stem} if OLD_WORDS.fullmatch(name) or name == "chance" == path.stem)
        if old:
            found[name_of(path)] = ", ".join(old)
    check_exceptions(found, NOT_YET["words"], "words of the old vocabulary")
