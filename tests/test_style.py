"""The source keeps the project's own rules of style, as far as a program can check them."""

from __future__ import annotations

import ast

import pytest

from source import FILES, check_exceptions, name_of, tree

pytestmark = pytest.mark.once
DEVICES = {"Cuda", "CudaGame"}  # each says what is otherwise than with torch on a CPU, and that than with numpy
SCHEMAS = {"web/requests.py", "web/messages.py"}  # of messages, which share fields
COMMANDS = {"games/connect_four/solver/make_book.py", "games/interface.py"}  # beside `cli`: programs of their own


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
    check_exceptions(found, set(), "star-tuples")


def test_our_classes_inherit_from_one_another_at_most_once() -> None:
    """A class may have a parent of ours, but no grandparent; exceptions and schemas aside."""
    parents: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and path.stem != "errors" and name_of(path) not in SCHEMAS:
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                parents[node.name] = [ast.unparse(base).split(".")[-1] for base in bases]

    def depth(name: str) -> int:
        above = [parent for parent in parents.get(name, []) if parent in parents and parent != name]
        return max((1 + depth(parent) for parent in above), default=0)

    found = {name: f"{depth(name)} levels of our own classes above it" for name in parents if depth(name) > 1}
    check_exceptions(found, DEVICES, "deep inheritance")


def test_only_the_command_line_prints() -> None:
    found = {
        name_of(path): f"line {node.lineno} prints"
        for path in FILES
        if name_of(path).split("/")[0] != "cli" and name_of(path) not in COMMANDS
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    check_exceptions(found, set(), "print outside the command line")
