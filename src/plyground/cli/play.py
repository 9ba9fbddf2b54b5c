"""A game between a person and an agent at the terminal: reads lines, passes them to a `Session`, prints its events."""

from __future__ import annotations

import difflib
import re
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.text import Text

from plyground.agents.agent import Agent, Learning, stoppable
from plyground.agents.search import can_search_trees
from plyground.cli.analyse import Explainer, moves_table
from plyground.cli.ctrl_c import interruptible
from plyground.cli.terminal import about, board, console, say
from plyground.errors import Error, IllegalAction, command, shorten, unknown
from plyground.play import hints, preparation
from plyground.play.background import Background
from plyground.play.session import Event, Session
from plyground.play.thoughts import think
from plyground.play.typed import Ambiguous, as_first_word, candidates, read, turn_text, words_of_moves
from plyground.position import Position

THOUGHTS = 10  # moves in the answer to `think`
BEGINS = 0.5  # seconds after which the compiler is at work, where it is needed
PATIENCE = 4.0  # seconds that a good hint may take; compiled before, it takes less than one
COMMANDS = "moves, hint, think, board, undo, resign, new, save FILE, help, quit"
HELP = """  moves      list the legal moves
  hint       ask for advice
  think      ask what the opponent thinks of each of your moves
  board      draw the board again, with the turns so far; fen, pgn: the position, the game as text
  undo       take back your last turn; undo 3: three turns
  resign     give up this game
  new        begin again
  save FILE  write the game so far; play --load FILE goes on with it
  quit       leave (also Ctrl-C and Ctrl-D)"""

SHORT_QUIT = ("q", ":q")  # not Q, which may be a piece
BOARD = ("board", "show", "history")
WORDS = ("moves", "hint", "think", *BOARD, "fen", "pgn", "undo", "resign", "new", "save", "help", "quit")
NO_MOVE = re.compile(r"[^\W\d_]{3,}(:\w*)?")  # `castle`, `level:3`, where moves have digits


def play(session: Session, make: Callable[[], Agent], explain: bool = False, file: Path | None = None) -> None:
    """Games between a person and an agent, until the person quits; `explain`: with an analysis before each move;
    `file`: where the game comes from, and may be saved again.

    The first board waits for nothing: `make` makes the agent, and everything is compiled, while the person looks at it.
    """
    start, name, sides = session.start, session.name, session.start.game.rules.SIDES
    turn = "The game is over" if session.over else f"{as_first_word(sides[session.position.to_move])} is to move"
    console.print(f"You are {sides[session.side]}, {name} is {sides[1 - session.side]}. {turn}.")
    if session.over:
        undo = "undo to take back your last turn, or " if session.position.over else "undo to play on from here, or "
        ways = ["watch", *(["analyse"] if can_search_trees(start.game) else [])] if file else []
        more = "; to look at it, type quit, then:" if ways else "."
        looks = [command(way, start.game, file) for way in ways]
        say("\n  ".join([f"Type {'' if session.final else undo}new{more}", *looks]))
    else:
        console.print(f"Type {start.game.rules.TYPING}; or: {COMMANDS}.")

    explanations = {"explanations": lambda: _explainer(start)} if explain else {}
    background = Background({**preparation.of_session(start, make), **explanations})
    try:
        run(session, background, file)
    except KeyboardInterrupt:
        if not isinstance(session.agent, Learning):  # an agent that learns saves first, as at any other end
            console.print("Good-bye.")
            sys.exit(130)
    finally:
        background.end()
        session.close()
    console.print("Good-bye.")


def _explainer(start: Position) -> Explainer:
    """The analyses before each move, compiled: the first one compiles what it needs."""
    made = Explainer(start.game)
    if not start.over:
        made.find(start)
    return made


def run(session: Session, background: Background, file: Path | None = None) -> None:
    """Read lines and print events until the person quits."""
    _show(session, session.begin(), background)
    events, own, told, within = list[Event](), {file}, not console.is_terminal, BEGINS  # own: files of this game
    asked = False  # whether to throw the game away
    while True:
        while session.agent_to_move:
            agent = ready(session, background)
            if agent is None:
                _show(session, events, background)
                events, agent = [], wait(background, "agent")
            session.agent = agent
            thinks = Text(f"{session.name} thinks ...")
            with (
                interruptible() if stoppable(agent) else nullcontext(),  # Ctrl-C: the best move so far is played
                console.status(thinks) if console.is_terminal else nullcontext(),
            ):
                events = events + session.reply()
        _show(session, events, background)
        if not told and background.compiles(within):
            waits = "" if ready(session, background) else f"; {session.name} can reply and think only then"
            console.print(f"Compiling in the background, once for this machine; play on{waits}.")
            told = True
        within = 0.0
        typed = _ask(session.prompt)
        if typed is None:
            return
        is_move = session.completed(typed) or (not session.over and candidates(session.position, typed))
        if typed in SHORT_QUIT and not is_move:  # a queen is one, or the rest of one
            return
        running = bool(session.turns) and not session.over
        asked = typed.lower() == "new" and running and console.is_terminal and not asked
        events = []
        if asked:
            console.print("This game is not over: type new again to begin another, or save FILE first.")
            continue
        try:
            with interruptible():
                events = [] if _answered(typed, session, background) else session.submit(typed)
        except KeyboardInterrupt:  # it ends a hint or an analysis, not the game
            if typed not in ("hint", "think"):
                raise
            console.print(f"Stopped: no answer to {typed}.")
        for event in events:
            if event.kind == "began":
                own = set[Path | None]()
            elif event.kind == "saved":
                say(_saved(event, own))  # a path is not broken


def _answered(typed: str, session: Session, background: Background) -> bool:
    """Answer what a session cannot: `help`, `think`, `board`, a hint while better ones are being compiled, and words
    that are no command here. Returns whether that was all."""
    position, low = session.position, typed.lower()
    word, _, rest = low.partition(" ")
    is_move = not session.over and bool(candidates(position, typed))
    near = len(typed) > 3 and low not in WORDS and difflib.get_close_matches(low, WORDS, 1, 0.75)
    if word == "help" and rest and not is_move:  # `help hint`
        low = typed = "help"
    if low in BOARD:
        console.print(board(position, session.seat, session.before))
        turns = session.written
        say((", " if any(" " in turn for turn in turns) else " ").join(turns) or "no turns yet")
    elif low == "pgn":
        say(session.record().rstrip())
    elif low == "fen" and session.start.game.rules.hidden and not session.over:
        console.print("This position has hidden parts: its text is shown when the game is over.")
    elif low == "fen":
        say(position.text)
    elif word == "load":
        how = command("play", session.start.game, "--load", typed.partition(" ")[2].strip() or "FILE", session.name)
        say(f"To go on with a saved game, type quit, then:\n  {how}")
    elif word == "undo" and rest.strip().isdecimal():
        return False
    elif word in ("think", "quit") and rest and not is_move:
        say(f"Type {word} alone, not {typed}.")
    elif typed == "help":
        game = session.start.game
        settings = [f"{name}={game.settings[name]} ({each.meaning})" for name, each in game.rules.SETTINGS.items()]
        console.print("\n".join([about(game), *settings, f"Type {game.rules.TYPING}.", HELP]))
    elif (near and not session.unclear and not is_move) or _is_no_move(typed, session):
        say(str(unknown("command or move", typed, WORDS, "`help`")))
    elif typed == "think":
        if not session.over:
            session.agent = ready(session, background) or wait(background, "agent")
            _think(session)
    elif typed == "hint" and not session.over:
        early = None if background.done("hints", PATIENCE) else hints.early_hint(position)
        if early is None:
            wait(background, "hints")
            return False
        console.print(early.text)
    else:
        return False
    return True


def _is_no_move(typed: str, session: Session) -> bool:
    """Whether a word is no command, and no move is such a word."""
    if session.over or typed.lower() in WORDS or not NO_MOVE.fullmatch(typed):
        return False
    if session.completed(typed) or any(name.isalpha() for words in words_of_moves(session.position) for name in words):
        return False
    try:
        read(session.position, typed)
    except IllegalAction as error:
        return not isinstance(error, Ambiguous)
    return False


def ready(session: Session, background: Background) -> Agent | None:
    """The agent; while it is still being compiled, a simple one as plain Python, and None in place of others."""
    if background.done("agent"):
        return background.futures["agent"].result()
    return session.agent or preparation.quick_agent(session.start.game, session.name)


def _think(session: Session) -> None:
    """What the opponent thinks of each move of the person."""
    position = session.position
    try:
        found = think(position, session.agent)
    except Error as error:
        console.print(f"{error}")
        return
    console.print(f"What {session.name}, your opponent, thinks of your moves:")
    if found.rule:
        console.print(found.rule)
    if found.values_of:
        console.print(f"Values by {found.values_of}:")
    if found.values_of or not found.rule:
        console.print(moves_table(found.analysis, position, THOUGHTS))
        if position.game.rules.turn_text is not None:
            console.print("Each is the best of the turns that begin with the same action; type moves for all.")


def wait(background: Background, name: str) -> Any:
    """The result of a step, with a line that says what a person waits for."""
    if not background.done(name) and not console.is_terminal:
        print("compiling, once for this machine: in all a minute or two", file=sys.stderr, flush=True)
    elif not background.done(name):
        begun = time.perf_counter()
        with interruptible(), console.status("") as status:
            while not background.done(name):
                waited = time.perf_counter() - begun
                step = f"{background.progress} ({waited:.0f} s; in all a minute or two)"
                line = f"compiling, once for this machine: {step}"
                status.update(shorten(line, console.width - len("⠦ ")))  # a line that wraps is not erased
                time.sleep(0.1)
    return background.futures[name].result()


def _show(session: Session, events: list[Event], background: Background) -> None:
    """What the agent plays, the board where it has changed, with an analysis if asked for, and the answers."""
    played = sum(event.kind == "played" and event.name != "you" for event in events)
    if played:
        turn = turn_text(session.line.positions[-played - 1 : -1], session.line.actions[-played:])
        console.print(f"{session.name} plays {turn}")
    for event in events:
        if event.kind in ("message", "refused"):
            console.print(event.text)
    if any(event.kind in ("began", "played", "taken_back") for event in events):
        console.print(board(session.position, session.seat, session.before))
        if "explanations" in background.steps and not session.over and not session.agent_to_move:
            explainer = wait(background, "explanations")
            with console.status("searching ...") if console.is_terminal else nullcontext():
                explainer.show(session.position)
    for event in events:
        if event.kind == "ended":
            console.print(event.text)


def _saved(event: Event, own: set[Path | None]) -> str:
    """Write a game; returns what to tell the person. A file of its `own` is written again, another's only if the person
    says so twice."""
    path = Path(event.name)
    try:
        with path.open("w" if path in own else "x", encoding="utf-8") as file:
            file.write(event.text)
    except FileExistsError:
        own.add(path)
        return f"{path} exists already: type the same again to write over it, or name another file"
    except (OSError, ValueError) as error:
        return f"cannot write {path}: {getattr(error, 'strerror', '') or error}"
    own.add(path)
    return f"Wrote {path}."


def _ask(prompt: str) -> str | None:
    """The next line that is not empty; None to quit. Ctrl-C is heard here even where a command has replaced it."""
    try:
        typed = ""
        with interruptible():
            while not typed:
                typed = console.input(f"{prompt}> ", markup=False, emoji=False).strip()
    except EOFError:
        console.print()
        return None
    except KeyboardInterrupt:
        console.print()
        raise
    if typed.lower() in ("?", "help"):
        return "help"
    if typed.lower() in ("hint", "think"):
        return typed.lower()
    return None if typed.lower() in ("quit", "exit") else typed
