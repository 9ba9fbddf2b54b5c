"""Runs the code of a page: of one of today, and of one that an earlier version had."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

SHORTER = {r"\bseconds=\d+(?![\d.])": "seconds=0.2", r"\bgames=\d{2,}": "games=20", r"\bpositions=\d+": "positions=30"}
"""what the pages take more time for, and what the tests do"""


def blocks_of(text: str, language: str) -> list[str]:
    """The blocks of code without a title."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def plain_blocks_of(text: str) -> list[str]:
    """The blocks of Python without a title and without a prompt: those of the guide are a game's file."""
    return [block for block in blocks_of(text, "python") if not block.startswith(">>>")]


def files_of(text: str) -> dict[str, str]:
    """{file name: text} of the blocks whose title is a file."""
    return dict(re.findall(r'^```python title="([\w.]+)"\n(.*?)^```', text, re.MULTILINE | re.DOTALL))


def shorter(code: str) -> str:
    """The same with less training and fewer games."""
    for long, short in SHORTER.items():
        code = re.sub(long, short, code)
    return code


def run_page(name: str, text: str, folder: Path) -> tuple[int, dict[str, Any]]:
    """Write the files of a page into a folder, and run its blocks, which may tell what they print. Returns the number
    of examples with a prompt, and what the other blocks have defined."""
    for file, content in files_of(text).items():
        (folder / file).write_text(content)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names: dict[str, Any] = {"__name__": "page"}  # of the blocks without a prompt
    for number, block in enumerate(blocks_of(text, "python")):
        test = parser.get_doctest(block, {}, f"{name}[{number}]", name, 0)
        if test.examples:
            runner.run(test)
        elif name != "adding_a_game.md":  # whose blocks are a game
            exec(compile(shorter(block), f"{name}[{number}]", "exec"), names)  # noqa: S102 (our own page)
    assert runner.summarize(verbose=False).failed == 0
    return runner.tries, names
