"""The names of games as people type them: Connect4, paco-sako, tic-tac-toe."""

from __future__ import annotations

import os
import re

from plyground import specs
from plyground.errors import InvalidValue, UnknownName, command, shown, unknown
from plyground.games import GAMES

SPELLINGS = {
    **{name.replace("_", ""): name for name in GAMES},
    **dict.fromkeys(("connect4", "c4", "4inarow", "fourinarow", "viergewinnt"), "connect_four"),
    **dict.fromkeys(("paco", "pacoŝako"), "paco_sako"),
}
"""a game without spaces, hyphens, underscores and capitals: its name here"""
THREE_IN_A_ROW = ("tictactoe", "noughtsandcrosses", "threeinarow", "ttt")
OTHERS = ("go", "checkers", "draughts", "othello", "reversi", "hex", "gomoku", "shogi", "backgammon", "poker", "bridge")


def game_name(given: str | os.PathLike[str]) -> str:
    """The name here of a game that is written in another way: Connect4, tic-tac-toe; other words stay as they are."""
    word = os.fspath(given) if isinstance(given, str | os.PathLike) else None  # pyright: ignore
    if not isinstance(word, str):
        raise InvalidValue(f"a game is its name, the path of its .py file, or what `load` returns, not {shown(given)}")
    name, colon, settings = word.partition(":")
    plain = re.sub(r"[\s_-]", "", name.lower())
    if plain in THREE_IN_A_ROW:
        how = command("play", "examples/three_in_a_row.py")
        raise InvalidValue(f"{word} is the example of a game of your own, in Plyground's folder: {how}")
    if plain in OTHERS:
        raise unknown_game(word, " (docs/adding_a_game.md)")
    return f"{SPELLINGS.get(plain, name)}{colon}{settings}"


def unknown_game(word: str, more: str = "") -> UnknownName:
    """The error for a word that names no game; `clobber` is answered with a file clobber.py that is there."""
    file = f"{word.partition(':')[0]}.py"
    there = [file] if specs.exists(file) else []
    return unknown("game", word, (*GAMES, *there, f"a path to a game's .py file{more}"))
