"""Games that were played, as text: in the game's own format such as PGN, in a plain one, as runs save them, or as a
list of moves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plyground import specs
from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue, command, counted, shorten, unknown
from plyground.game import MOST_SHOWN, Game, load
from plyground.games import GAMES
from plyground.games.interface import Outcome
from plyground.play import typed
from plyground.play.line import Line
from plyground.play.redraw import Redraw
from plyground.position import Position
from plyground.runs.directory import game_of
from plyground.runs.files import read_text
from plyground.runs.trust import seal, unseal

NUMBER = re.compile(r"\b\d+\.+")  # of a move: `1.`, `12...`; without \b a long string of digits takes minutes
TAG = re.compile(r'[\ufeff\s]*\[\w+\s+"')  # `[White "Ada"]`; a position of some game may begin with a bracket too
RUN_HEAD = re.compile(r"# from (?P<text>.*): the learner is (?P<side>.*), (?P<name>.*) (?P<other>\S+)")
REDRAWN = re.compile(r"[0-9]{1,9} [0-9]{1,9} [0-9]{1,15}")
RUN_OUTCOME = re.compile(r"(RUNNING|DRAW|FIRST_WINS|SECOND_WINS)")
MOST_TOLD = 4096  # characters of a game that is told: no path is longer
UNTOLD = "not told before the game is over"


class SavedGame(NamedTuple):
    """A game from a file."""

    start: Position
    actions: list[int]
    players: tuple[str, str]
    """for each side; empty where the file does not tell"""
    outcome: Outcome = Outcome.RUNNING
    """as the file tells it: a game may end before the rules end it, by resignation"""
    place: str = ""
    """which of the games of its file it is, where there are several"""
    redraws: Sequence[Redraw] = ()

    @property
    def line(self) -> Line:
        """Plays the actions again."""
        return Line(self.start, self.actions, self.redraws, self.outcome)


# ---- reading ----


def read_file(path: Path, game: Game | None = None, number: int = 1, openly: bool = False) -> SavedGame:
    """A game in a file; of several games, that of a number. Without a game, the file tells of which game it is.
    `openly`: everything will be shown, so that a game is refused whose hidden cards are not told yet."""
    text, game = read_text(path, "a game"), game or game_of_file(path)
    try:
        games = read_games(text, game, openly)
    except Error as error:
        raise InvalidText(f"{path}: {error}") from None
    if not games:
        raise InvalidText(f"{path} holds no game of {game}")
    if not 1 <= number <= len(games):
        raise InvalidValue(f"{path} has {counted(len(games), 'game')} of {game}: there is no number {number}")
    place = f"game {number} of {len(games)} in {path}" if len(games) > 1 else ""
    return games[number - 1]._replace(place=place)


def game_of_file(path: Path, *line: str) -> Game:
    """The game that a file of saved games is of; `line`: the command, and its option, that read such a file."""
    text = read_text(path, "a game")
    if text.startswith("# from "):
        return game_of(path.resolve().parent.parent)  # the games of a run are in a folder of its directory
    name = _game_told(text) or (_game_with_records() if path.suffix.lower() == ".pgn" else "")
    if not name:
        raise InvalidText(f"{path} holds no saved game that tells of which game it is: name the game before the file")
    word = _word_and_settings(name)[0]
    if word.endswith(".py"):  # code, which only the person who starts it may name
        how = f": {command(line[0], shorten(name, MOST_SHOWN), *line[1:], path)}" if line else ""
        fault = f"{path} is of the game file {shorten(name)!r}"
        raise InvalidValue(f"{fault}: name that file before it, if you trust it{how}")
    if word not in GAMES:
        raise unknown("game", word, GAMES)
    return load(name)


def game_told(text: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of the game that a text says it is of, as `_word_and_settings` writes them; an empty
    name: it is not told."""
    return _word_and_settings(_game_told(text))


def _word_and_settings(told: str) -> tuple[str, dict[str, str]]:
    """The name and the settings of a game that a text tells; a game file without its folders, for it may have moved.
    Nothing is imported."""
    word, settings = specs.split(told) if len(told) <= MOST_TOLD else (told, {})
    return Path(word).name if word.endswith(".py") else word, settings


def _game_told(text: str) -> str:
    """The game that a text says it is of; a text with tags is of the game that has such a format. Empty: it is not
    told."""
    if text.startswith("game: "):
        return text.partition("\n")[0].removeprefix("game: ")
    return _game_with_records() if TAG.match(text) else ""


def _game_with_records() -> str:
    """The game that has a file format of its own: chess, with PGN."""
    return next((name for name in GAMES if load(name).rules.read_records is not None), "")


def read_games(text: str, game: Game, openly: bool = False) -> list[SavedGame]:
    """The games of a text: as a run saves them, in the game's own file format, as `write_game` writes it, or as a list
    of moves."""
    if text.startswith("# from "):
        lines = text.splitlines()
        return [read_run_game(game, head, moves) for head, moves in zip(lines[::2], lines[1::2], strict=False)]
    told = _game_told(text)
    if told and _word_and_settings(told)[0] != _word_and_settings(game.word)[0]:
        raise InvalidText(f"it is a game of {shorten(told, 300)}, not of {game}")
    if text.startswith("game: "):
        return [_read_record(text, game, openly)]
    if game.rules.read_records is not None:
        return [SavedGame(*each) for each in game.rules.read_records(text, game)]
    return [SavedGame(game.start(), read_moves(game.start(), text), ("", ""))]


def read_moves(start: Position, text: str) -> list[int]:
    """The actions of moves with spaces between them (`1. e4 e5`), or of a string with a character for each (`4453`)."""
    words = NUMBER.sub(" ", text).split()
    if not words:
        raise InvalidText(f"there are no moves in {shorten(text)!r}")
    if len(words) == 1 and words[0] not in start.names() and any(len(name) == 1 for name in start.names()):
        words = list(words[0])
    return _played(start, words).actions


def _played(start: Position, names: list[str], redraws: Sequence[Redraw] = ()) -> Line:
    """The line of names, each of an action or of a whole turn, also as a person types it: `e4`, `Nf3`."""
    line = Line(start, redraws=redraws)
    for number, name in enumerate(names, start=1):
        try:
            turn = _turn(line.position, name)
        except IllegalAction as error:
            hides = start.game.rules.hidden  # the error would tell what the other side may do
            why = f"{shorten(name)!r} is not legal there" if hides else error
            unit = "ply" if start.game.rules.turn_text is None else "move"
            raise InvalidText(f"{unit} {number}: {why}") from None
        for action in turn:
            line.play(action)
    return line


def _turn(position: Position, name: str) -> list[int]:
    """The actions that a name means. Where a turn has several, an error lists the legal turns as people write them."""
    try:
        return [position.action(name)]
    except IllegalAction as error:
        refusal = error
    try:
        return typed.read(position, name, played=True)
    except typed.Ambiguous:
        raise
    except IllegalAction:
        if position.game.rules.turn_text is None or position.over:
            raise refusal from None
        reason, turns = str(refusal).partition("; legal: ")[0], ", ".join(typed.legal_turns(position))
        raise IllegalAction(f"{reason}; legal: {shorten(turns, 400)}") from None


def _read_record(text: str, game: Game, openly: bool) -> SavedGame:
    """A game as `write_game` writes it: a head of `key: value`, an empty line, and a line for each action or turn."""
    head, _, body = text.partition("\n\n")
    fields = {key: value for key, _, value in (line.partition(": ") for line in head.splitlines())}
    if _word_and_settings(fields["game"]) != _word_and_settings(str(game)):
        raise InvalidText(f"it is a game of {shorten(fields['game'], 300)}, not of {game}")
    untold = fields.get("position") == UNTOLD
    if untold and "sealed" not in fields:
        raise InvalidText(f"its position was {UNTOLD}: it cannot be played on")
    opened = unseal(fields["sealed"]) if "sealed" in fields else ""
    fields |= dict(line.split(": ", 1) for line in opened.splitlines() if ": " in line)
    start, generator = game.position(fields.get("position", "startpos")), fields.get("generator", "")
    if generator:
        if not (generator.isascii() and generator.isdecimal() and len(generator) <= 20 and int(generator) < 2**64):
            raise InvalidText(f"the generator of a game is a number of 64 bits, not {shorten(generator)!r}")
        start = Position(game, start.states, rngs=np.array([int(generator)], np.uint64))
    told, sides = fields.get("redrawn", ""), game.rules.SIDES
    parts = told.split(", ") if told else []
    if not all(REDRAWN.fullmatch(part) for part in parts):
        raise InvalidText(f"`redrawn` tells PLY SEAT SEED, each a number, with commas between, not {shorten(told)!r}")
    redraws = [Redraw(*map(int, part.split())) for part in parts]
    lines = [line for line in body.splitlines() if line.strip()]
    names = [
        next((line.removeprefix(f"{side} ") for side in sides if line.startswith(f"{side} ")), line) for line in lines
    ]
    result = "" if untold else fields.get("result", "")  # an end would show its cards; its reason is behind it
    outcome = next((each for each in Outcome if result.startswith(_results(game)[each])), Outcome.RUNNING)
    line = _played(start, names, redraws)
    if any(each.ply > len(line.actions) for each in redraws):
        raise InvalidText(f"it has {counted(len(line.actions), 'ply')}, and something was drawn anew after that")
    if openly and untold and not line.over:
        raise InvalidText(f"its cards are {UNTOLD}: go on with it by plyground play --load FILE")
    first, second = (re.search(rf"^{re.escape(side)}: (.*)$", head, re.MULTILINE) for side in sides)
    players = first[1] if first else "", second[1] if second else ""
    return SavedGame(start, line.actions, players, outcome, redraws=redraws)


def read_run_game(game: Game, head: str, line: str) -> SavedGame:
    """A game as a run saves it, in two lines: where it began and who played, and the moves."""
    words = RUN_HEAD.fullmatch(head)
    if words is None:
        raise InvalidText(f"this is not the first line of a run's game: {shorten(head)!r}")
    start, first = game.position(words["text"]), words["side"] == game.rules.SIDES[0]
    players = ("the learner", words["name"]) if first else (words["name"], "the learner")
    actions, rest, position = list[int](), RUN_OUTCOME.split(line)[0].split(), start
    while rest:  # a name may have several words
        names = {name: action for action, name in zip(position.legal(), position.names(), strict=True)}
        name = next((n for k in range(len(rest), 0, -1) if (n := " ".join(rest[:k])) in names), None)
        if name is None:
            raise InvalidText(f"ply {len(actions) + 1}: {shorten(rest[0])!r} is not legal in {position.view!r}")
        actions.append(names[name])
        position, rest = position.play(names[name]), rest[len(name.split()) :]
    return SavedGame(start, actions, players)


# ---- writing ----


def write_game(line: Line, players: tuple[str, str], shown: bool = True, sealed: bool = False) -> str:
    """A game in its own file format (PGN for chess) or, where it has none, one line for each turn.

    Where something is hidden and the game not over (`shown` is False), the cards are left out; while the game runs,
    also the generator and the redraws, from which the cards and dice to come follow. `sealed`: they are there, but only
    this user's Plyground can read them, to play the game on.
    """
    start, game, sides = line.start, line.start.game, line.start.game.rules.SIDES
    if game.rules.write_record and not (game.uncertain and (line.redraws or not line.over)):
        return game.rules.write_record(start, line.actions, players, line.outcome)
    reason = f" ({line.position.reason})" if line.position.over and line.position.reason else ""
    head = [f"game: {game}", *(f"{side}: {player}" for side, player in zip(sides, players, strict=True))]
    begins = [f"position: {start.text if shown else UNTOLD}"]
    drawn = [f"generator: {start.rngs[0]}"] if game.uncertain else []
    drawn += [f"redrawn: {', '.join(' '.join(map(str, each)) for each in line.redraws)}"] if line.redraws else []
    if line.over:
        begins += drawn
    elif sealed and game.uncertain:
        secret = "\n".join([f"position: {start.text}", *drawn])
        begins.append(f"sealed: {seal(secret)}")
    if game.rules.turn_text is None:
        before = zip(line.positions, line.actions, strict=False)  # the last position is after all of them
        lines = [f"{sides[position.to_move]} {position.name(action)}" for position, action in before]
    else:
        lines = [f"{sides[line.positions[ply].to_move]} {line.turn_text(k)}" for k, ply in enumerate(line.turns)]
    return "\n".join([*head, *begins, f"result: {_results(game)[line.outcome]}{reason}", "", *lines, ""])


def _results(game: Game) -> tuple[str, ...]:
    """The words for each outcome."""
    return ("not finished", "a draw", *(f"{side} wins" for side in game.rules.SIDES))
