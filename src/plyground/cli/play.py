"""A game between a person and an agent, typed in the terminal."""

from __future__ import annotations

import math
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import numpy as np

from plyground.agents.agent import GIVES_UP, Agent, Learning, adviser_of, ask, known, make, tell
from plyground.cli.terminal import board, console
from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue, shorten
from plyground.game import Game
from plyground.games.chess import pgn
from plyground.games.interface import RUNNING, Outcome
from plyground.games.rng import seeds
from plyground.position import Position

HINT = "minimax:depth=4"
THIS_GAME, NOT_ENDED = np.zeros(1, np.int64), np.full(1, RUNNING, np.int8)  # for agents that go on learning
FEW = 12  # moves that fit into a sentence
COMMANDS = "moves, hint, undo, resign, new, save FILE, help, quit"
HELP = """  moves      what is legal
  hint       ask for advice
  undo       take back your last turn
  resign     give up this game
  new        begin again
  save FILE  write the game so far
  quit       leave (also Ctrl-C and Ctrl-D)"""


def play(start: Position, agent: Agent, name: str, side: int, seed: int) -> None:
    """Games between a person and an agent, until the person has had enough."""
    prepare(start, agent)
    sitting = Sitting(start, agent, name, side, seed)
    sides = start.game.rules.SIDES
    _say(f"You are {sides[side]}, {name} is {sides[1 - side]}. {sides[start.to_move]} is to move.")
    _say(f"Type {start.game.rules.TYPING}; or: {COMMANDS}.")
    try:
        sitting.run()
    except KeyboardInterrupt:
        if not isinstance(agent, Learning):  # one that learns keeps what it has learned, as at any other end
            _say("Good-bye.")
            sys.exit(130)
    finally:
        sitting.tell_the_end()
    _say("Good-bye.")


def prepare(start: Position, agent: Agent) -> None:
    """Compile all that a game at the prompt needs, before anybody waits for an answer."""
    position, none = start.copy(), (start.states[:0].copy(), seeds(0, 0))
    for each in (agent, make(_counsel(start.game), start.game)):
        each.act(*none)
    board(position, position.seat)
    if not position.over:
        _advice(position)
        position.play(position.legal()[0])


class Sitting:
    """The game on the table: where it began, what was played, and who sits there."""

    def __init__(self, start: Position, agent: Agent, name: str, side: int, seed: int) -> None:
        self.agent, self.name, self.side, self.seed = agent, name, side, seed
        self.rngs = seeds(seed, 1)
        self.begin(start)

    def begin(self, start: Position) -> None:
        self.start, self.position = start, start.copy()
        self.actions, self.turns = list[int](), list[int]()  # turns: the person's, how many actions came before each
        self.outcome = Outcome.RUNNING  # what the agent was told
        self.begun, self.asked, self.shown = False, "", False  # begun: the person's turn
        self.written = Path()  # the file that this game was saved to

    def run(self) -> None:
        """Let both play, until the person leaves."""
        while True:
            while self.position.to_move != self.side and not self.over:
                try:
                    self.answer()
                except Error as error:  # an engine that is gone: the game is not
                    _say(str(error))
                    self.outcome = (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[self.side]
            if not self.shown:
                self.show()
            typed = _ask(
                "new, undo, save FILE or quit" if self.over else self.position.game.rules.prompt(self.position.state)
            )
            if typed is None:
                return
            try:
                self.obey(typed)
            except Error as error:
                _say(str(error))

    @property
    def over(self) -> bool:
        return self.position.over or self.outcome != Outcome.RUNNING  # the person may have resigned

    def answer(self) -> None:
        """Let the agent act once."""
        move = int(ask(self.agent, THIS_GAME, self.position.states.copy(), self.rngs)[0])
        if move == GIVES_UP:
            raise Error(f"{self.name} gives up: {getattr(self.agent, 'faults', ['it does not say why'])[-1]}")
        _say(f"{self.name} plays {spoken(self.position, move)}")
        self.act(move)
        self.begun = False

    def act(self, move: int) -> None:
        self.position.play(move)
        self.actions.append(move)
        self.shown = False

    def show(self) -> None:
        """The board as the person may see it and, at the end, who has won."""
        seat = self.position.seat if not self.over else None if self.position.game.rules.hidden else self.side
        console.print(board(self.position, seat, self.actions[-1] if self.actions else -1))
        self.shown = True
        if self.position.over:
            self.tell_the_end()
            _say(_ending(self.position, self.side))

    def tell_the_end(self) -> None:
        """Tell an agent that learns how the game has ended, or that nobody plays it on."""
        if self.outcome == Outcome.RUNNING:
            self.outcome = self.position.outcome
            tell(self.agent, THIS_GAME, np.array([self.outcome], np.int8))

    def obey(self, typed: str) -> None:
        """Do what was typed: a word from COMMANDS, or moves."""
        word, _, rest = typed.partition(" ")
        commands: dict[str, Callable[[], None]] = {
            "moves": lambda: _say("legal: " + "\n".join(grouped(_words(self.position)))),
            "hint": lambda: _say(hint(self.position)),
            "undo": self.undo,
            "resign": self.resign,
            "new": self.anew,
            "save": lambda: self.save(rest.strip()),
            "help": lambda: _say(f"Type {self.position.game.rules.TYPING}.\n{HELP}"),
        }
        is_command = word.lower() in commands and (not rest or word.lower() == "save")
        if self.over and not (is_command and word.lower() in ("undo", "new", "save", "help")):
            raise InvalidValue("The game is over. Type undo, new, save FILE or quit.")
        if is_command:
            commands[word.lower()]()
        else:
            self.move(typed)

    def move(self, typed: str) -> None:
        """Play what was typed, or what was asked about before and is now completed."""
        joined = [f"{self.asked}{between}{typed}" for between in (" ", "", "=") if self.asked]  # `e8`, then `Q`: e8=Q
        whole, self.asked = next((each for each in joined if meant(self.position, each)), typed), ""
        try:
            moves = read(self.position, whole)
        except Unclear:
            self.asked = whole
            raise
        if not self.begun:
            self.turns.append(len(self.actions))
        self.begun = True
        for move in moves:
            self.act(move)

    def undo(self) -> None:
        """Go back to before the person's unfinished turn or, between turns, before the last one."""
        if self.outcome != Outcome.RUNNING and not self.position.over:  # a resignation
            tell(self.agent, THIS_GAME, NOT_ENDED)
            self.outcome, self.shown = Outcome.RUNNING, False
            return
        if not self.turns:
            raise InvalidValue("There is nothing to take back.")
        tell(self.agent, THIS_GAME, NOT_ENDED)  # what followed is no longer what followed
        del self.actions[self.turns.pop() :]
        self.position, self.outcome = self.start.copy(), Outcome.RUNNING
        for action in self.actions:
            self.position.play(action)
        self.begun, self.asked, self.shown = False, "", False

    def resign(self) -> None:
        self.outcome = (Outcome.SECOND_WINS, Outcome.FIRST_WINS)[self.side]
        tell(self.agent, THIS_GAME, np.array([self.outcome], np.int8))
        _say(f"You resign: {self.name} wins.")

    def anew(self) -> None:
        """Begin again where this game began; where it began with a deal, with another one."""
        self.tell_the_end()
        game, dealt = self.start.game, self.start == self.start.game.start(self.seed)
        self.seed += 1
        self.begin(game.start(self.seed) if dealt else self.start)

    def save(self, name: str) -> None:
        """Write the game so far into a new file."""
        if not name:
            raise InvalidValue("save needs the name of a file: save game.txt")
        path, text = Path(name), self.record()
        try:
            with path.open("w" if path == self.written else "x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise InvalidValue(f"{path} is there already: name another file") from None
        except (OSError, ValueError) as error:
            raise InvalidValue(f"cannot write {path}: {error}") from None
        self.written = path
        _say(f"Wrote {path}.")

    def record(self) -> str:
        """The game as PGN or, where that is not its notation, one line for each action."""
        game, outcome = self.start.game, self.outcome if self.outcome != Outcome.RUNNING else self.position.outcome
        players = ["you", self.name] if self.side == 0 else [self.name, "you"]
        if game.word == "chess":
            tags = {"Date": f"{date.today():%Y.%m.%d}", "White": players[0], "Black": players[1]}
            return pgn.write(pgn.Record(self.start, self.actions, tags, pgn.RESULTS[outcome]))
        sides = game.rules.SIDES
        results = ("not finished", "a draw", *(f"{side} wins" for side in sides))
        begun = f"position: {self.start.text}"
        if game.rules.CHANCE:  # no secret is told
            dealt = self.start == game.start(self.seed)
            begun = f"seed: {self.seed}" if dealt else "position: given, with cards that are not told"
        how = f" ({self.position.reason})" if self.position.over and self.position.reason else ""
        head = [f"game: {game}", *(f"{side}: {player}" for side, player in zip(sides, players, strict=True)), begun]
        lines, position = [*head, f"result: {results[outcome]}{how}", ""], self.start.copy()
        for action in self.actions:
            lines.append(f"{sides[position.to_move]} {position.name(action)}")
            position.play(action)
        return "\n".join([*lines, ""])


# ---- what was typed ----


class Unclear(IllegalAction):
    """What was typed may mean several moves; the message asks which."""


def read(position: Position, typed: str) -> list[int]:
    """The actions that a person means: one by its name or a part of it, or those of a whole turn."""
    found = meant(position, typed)
    if len(found) > 1:
        raise Unclear(question(typed, [spoken(position, action) for action in found]))
    moves = found or _in_turn(position, typed.split()) or _in_turn(position, _turn(position, typed))
    if not moves:
        names = _words(position)
        what = f"legal: {', '.join(map(' '.join, names))}" if len(names) <= FEW else "`moves` lists what is"
        raise IllegalAction(f"{shorten(repr(typed))} is not legal here; {what}")
    return moves


def meant(position: Position, typed: str) -> list[int]:
    """The legal actions that a text may mean: by their names, as the game reads it, or by what fits a name best."""
    legal, rules = position.legal(), position.game.rules
    unlike = {
        action: min(
            _unlike(typed, name) for name in (position.name(action), rules.notation(position.state, action, legal))
        )
        for action in legal
    }
    least = min(unlike.values(), default=math.inf)
    read: list[int] = rules.read_action(position.state, typed, legal) if least else []
    return read or [action for action in legal if unlike[action] == least < math.inf]


def _unlike(typed: str, name: str) -> float:
    """How far a text is from a name: 0 where it is the name, infinite where it is no part of it."""
    low, words = typed.casefold(), name.casefold().split()
    if name.casefold() == low:
        return 0 if name == typed else 0.5
    if low and Counter(low.split()) <= Counter(words):
        return 1 + words.index(low.split()[0])  # `qs` is rather the card to play than the one to take
    return 1000 if len(low) > 1 and name.casefold().startswith(low) else math.inf


def _turn(position: Position, typed: str) -> list[str]:
    """A turn of several actions, as the game writes it."""
    read_turn = position.game.rules.typed_turn
    try:
        return read_turn(typed, position.to_move) if read_turn else []
    except InvalidText:
        return []


def _in_turn(start: Position, parts: Sequence[str]) -> list[int]:
    """The actions that the parts mean one after the other, all of one side; none unless each is clear."""
    position, actions = start.copy(), list[int]()
    for part in parts:
        found = meant(position, part) if position.to_move == start.to_move else []
        if len(found) != 1:
            return []
        actions += found
        position.play(found[0])
    return actions


def question(typed: str, names: Sequence[str]) -> str:
    """`qs j3: take 6s, qd or 4h?`: the next word of the names that a text may mean."""
    common, rows = list[str](), [name.split() for name in names]
    while all(rows) and len({row[0] for row in rows}) == 1:
        common.append(rows[0][0])
        rows = [row[1:] for row in rows]
    said = [word.casefold() in typed.casefold().split() for word in common]
    lead = common[len(said) - said[::-1].index(True) :] if any(said) else []
    *most, last = dict.fromkeys(row[0] if row else "nothing more" for row in rows)
    return f"{shorten(typed)}: {' '.join([*lead, shorten(', '.join(most), 400)])} or {last}?"


# ---- what is said ----


def spoken(position: Position, action: int) -> str:
    """An action as people write it."""
    return position.game.rules.notation(position.state, action, position.legal())


def _words(position: Position) -> list[list[str]]:
    legal = position.legal()
    return [position.game.rules.notation(position.state, action, legal).split() for action in legal]


def grouped(names: list[list[str]]) -> list[str]:
    """Names in few lines: `place qs j3, b4 take 6s, qd, 4h` are six."""
    columns = [list(dict.fromkeys(column)) for column in zip(*names, strict=False)]
    same_length = len({len(name) for name in names}) == 1
    if same_length and math.prod(map(len, columns)) == len(names):
        return [" ".join(map(", ".join, columns))]
    heads = dict.fromkeys(name[0] if name else "" for name in names)
    rests = ((head, [name[1:] for name in names if name[:1] == [head]]) for head in heads if head)
    return [f"{head} {line}".strip() for head, rest in rests for line in grouped(rest)]


def hint(position: Position) -> str:
    """The game's own advice, and what a sensible agent would do."""
    word = _counsel(position.game)
    move = position.ask(make(word, position.game))
    return ". ".join([*_advice(position), f"{word} would play {spoken(position, move)}"])


def _advice(position: Position) -> list[str]:
    advise = adviser_of(position.game)
    return [advice] if advise is not None and (advice := advise(position)) else []


def _counsel(game: Game) -> str:
    """Who is asked for a hint."""
    names = [word.partition(":")[0] for word in known(game)]
    return next((word for word in (HINT, "greedy") if word.partition(":")[0] in names), "random")


def _ending(position: Position, side: int) -> str:
    how = f" ({position.reason})" if position.reason else ""
    if position.outcome == Outcome.DRAW:
        return f"A draw{how}."
    won = position.outcome == (Outcome.FIRST_WINS, Outcome.SECOND_WINS)[side]
    return f"You win{how}!" if won else f"You lose{how}."


def _say(text: str) -> None:
    console.print(text, markup=False)


def _ask(prompt: str) -> str | None:
    """What the person typed, without spaces around it; None to stop. Here even a Ctrl-C that ends all else is heard."""
    before, woken = signal.signal(signal.SIGINT, signal.default_int_handler), signal.set_wakeup_fd(-1)
    try:
        typed = ""
        while not typed:
            typed = console.input(f"{prompt}> ").strip()
    except EOFError:
        console.print()
        return None
    except KeyboardInterrupt:
        console.print()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(woken)
    if typed == "?":
        return "help"
    return None if typed.lower() in ("quit", "exit") else typed
