"""Games that were played, as text: in the game's own format such as PGN, in a plain one, or as a list of moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue, shorten
from plyground.game import Game
from plyground.games.interface import Outcome
from plyground.position import Position

NUMBER = re.compile(r"\b\d+\.+")  # of a move: `1.`, `12...`; without \b a long string of digits takes minutes


def read_file(path: Path, game: Game, number: int = 1) -> tuple[Position, list[int]]:
    """The first position and the actions of a game in a file; of several games, that of a number."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidValue(f"cannot read a game from {str(path)!r}: {error}") from None
    try:
        games = read_games(text, game)
    except Error as error:
        raise InvalidText(f"{path}: {error}") from None
    if not 1 <= number <= len(games):
        raise InvalidValue(f"{path} has {len(games)} games of {game}: there is no number {number}")
    return games[number - 1]


def read_games(text: str, game: Game) -> list[tuple[Position, list[int]]]:
    """The games of a text: in the game's own file format, as `write_game` writes it, or as a list of moves."""
    if game.rules.read_records is not None:
        return game.rules.read_records(text, game)
    if text.startswith("game: "):
        return [_read_record(text, game)]
    return [(game.start(), read_moves(game.start(), text))]


def read_moves(start: Position, text: str) -> list[int]:
    """The actions of moves with spaces between them (`1. e4 e5`), or of a string with a character for each (`4453`)."""
    words = NUMBER.sub(" ", text).split()
    if not words:
        raise InvalidText(f"there are no moves in {shorten(text)!r}")
    if len(words) == 1 and len(words[0]) > 1:
        try:
            start.action(words[0])
        except IllegalAction:
            words = list(words[0])
    return _played(start, words)


def _played(start: Position, names: list[str]) -> list[int]:
    position, actions = start, list[int]()
    for ply, name in enumerate(names, start=1):
        try:
            actions.append(position.action(name))
        except IllegalAction as error:
            raise InvalidText(f"ply {ply}: {error}") from None
        position = position.play(actions[-1])
    return actions


def _read_record(text: str, game: Game) -> tuple[Position, list[int]]:
    """A game as `write_game` writes it: a head of `key: value`, an empty line, and a line for each action."""
    head, _, body = text.partition("\n\n")
    fields = {key: value for key, _, value in (line.partition(": ") for line in head.splitlines())}
    if fields["game"] != str(game):
        raise InvalidText(f"it is a game of {fields['game']}, not of {game}")
    start, sides = game.position(fields.get("position", "startpos")), game.rules.SIDES
    lines = [line for line in body.splitlines() if line.strip()]
    names = [
        next((line.removeprefix(f"{side} ") for side in sides if line.startswith(f"{side} ")), line) for line in lines
    ]
    return start, _played(start, names)


def write_game(start: Position, actions: Sequence[int], players: tuple[str, str], outcome: Outcome, shown: bool) -> str:
    """A game in its own file format (PGN for chess) or, where it has none, one line for each action.

    Where something is hidden and the game not over (`shown` is False), the cards are left out, and the seed, from which
    they follow.
    """
    game, sides = start.game, start.game.rules.SIDES
    if game.rules.write_record:
        return game.rules.write_record(start, actions, players, outcome)
    lines, position = list[str](), start
    for action in actions:
        lines.append(f"{sides[position.to_move]} {position.name(action)}")
        position = position.play(action)
    results = ("not finished", "a draw", *(f"{side} wins" for side in sides))
    reason = f" ({position.reason})" if position.over and position.reason else ""
    head = [f"game: {game}", *(f"{side}: {player}" for side, player in zip(sides, players, strict=True))]
    head.append(f"position: {start.text}" if shown else "position: not told before the game is over")
    return "\n".join([*head, f"result: {results[outcome]}{reason}", "", *lines, ""])
