"""A game between a person and an agent at the terminal: reads lines, passes them to a `Session`, prints its events."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from plyground.agents.agent import Agent, Learning
from plyground.cli.analyse import Explainer
from plyground.cli.terminal import board, console
from plyground.play.session import Event, Session
from plyground.position import Position

COMMANDS = "moves, hint, undo, resign, new, save FILE, help, quit"
HELP = """  moves      list the legal moves
  hint       ask for advice
  undo       take back your last turn
  resign     give up this game
  new        begin again
  save FILE  write the game so far
  quit       leave (also Ctrl-C and Ctrl-D)"""


def play(start: Position, agent: Agent, name: str, side: int, seed: int, explain: bool = False) -> None:
    """Games between a person and an agent, until the person quits; `explain`: with an analysis before each move."""
    explainer = Explainer(start.game) if explain else None
    session = Session(start, agent, name, side, seed)
    session.prepare()
    board(start, start.seat)
    sides, typing = start.game.rules.SIDES, start.game.rules.TYPING
    _say(f"You are {sides[side]}, {name} is {sides[1 - side]}. {sides[start.to_move]} is to move.")
    _say(f"Type {typing}; or: {COMMANDS}.")
    try:
        run(session, explainer)
    except KeyboardInterrupt:
        if not isinstance(agent, Learning):  # an agent that learns saves first, as at any other end
            _say("Good-bye.")
            sys.exit(130)
    finally:
        session.close()
    _say("Good-bye.")


def run(session: Session, explainer: Explainer | None = None) -> None:
    """Read lines and print events until the person quits."""
    events = session.begin()
    written = Path()  # the file that this game was saved to
    while True:
        while session.agent_to_move:
            events += session.reply()
        _show(session, events, explainer)
        typed = _ask(session.prompt)
        if typed is None:
            return
        if typed == "help":
            _say(f"Type {session.start.game.rules.TYPING}.\n{HELP}")
        events = [] if typed == "help" else session.submit(typed)
        for event in events:
            if event.kind == "began":
                written = Path()
            elif event.kind == "saved":
                written = _write(event, written)


def _show(session: Session, events: list[Event], explainer: Explainer | None) -> None:
    """What the agent plays, the board where it has changed, with an analysis if asked for, and the answers."""
    for event in events:
        if event.kind == "played" and event.name != "you":
            _say(f"{event.name} plays {event.text}")
        elif event.kind in ("message", "refused"):
            _say(event.text)
    if any(event.kind in ("began", "played", "taken_back") for event in events):
        console.print(board(session.position, session.seat, session.actions[-1] if session.actions else -1))
        if explainer and not session.over:
            explainer.show(session.position)
    for event in events:
        if event.kind == "ended":
            _say(event.text)


def _write(event: Event, written: Path) -> Path:
    """Write a game to a new file, or over its own earlier record; returns the file that now holds it."""
    path = Path(event.name)
    try:
        with path.open("w" if path == written else "x", encoding="utf-8") as file:
            file.write(event.text)
    except FileExistsError:
        _say(f"{path} exists already: name another file")
    except (OSError, ValueError) as error:
        _say(f"cannot write {path}: {error}")
    else:
        _say(f"Wrote {path}.")
        return path
    return written


def _say(text: str) -> None:
    console.print(text)


def _ask(prompt: str) -> str | None:
    """The next line that is not empty; None to quit. Ctrl-C is heard here even where a command has replaced it."""
    before, woken = signal.signal(signal.SIGINT, signal.default_int_handler), signal.set_wakeup_fd(-1)
    try:
        typed = ""
        while not typed:
            typed = console.input(f"{prompt}> ", markup=False, emoji=False).strip()
    except EOFError:
        console.print()
        return None
    except KeyboardInterrupt:
        console.print()
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(woken)
    if typed.lower() in ("?", "help"):
        return "help"
    return None if typed.lower() in ("quit", "exit") else typed
