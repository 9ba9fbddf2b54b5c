"""A game between a person and an agent at the terminal: reads lines, passes them to a `Session`, prints its events."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plyground.agents.agent import Agent, Learning
from plyground.cli.analyse import Explainer
from plyground.cli.terminal import board, console
from plyground.play import preparation
from plyground.play.background import Background
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


def play(start: Position, make: Callable[[], Agent], name: str, side: int, seed: int, explain: bool = False) -> None:
    """Games between a person and an agent, until the person quits; `explain`: with an analysis before each move.

    The first board waits for nothing: `make` makes the agent, and everything is compiled, while the person looks at it.
    """
    session = Session(start, None, name, side, seed)
    sides, typing = start.game.rules.SIDES, start.game.rules.TYPING
    _say(f"You are {sides[side]}, {name} is {sides[1 - side]}. {sides[start.to_move]} is to move.")
    _say(f"Type {typing}; or: {COMMANDS}.")
    explainer = {"explanations": lambda: Explainer(start.game)} if explain else {}
    background = Background({**preparation.of_session(start, make), **explainer})
    try:
        run(session, background)
    except KeyboardInterrupt:
        if not isinstance(session.agent, Learning):  # an agent that learns saves first, as at any other end
            _say("Good-bye.")
            sys.exit(130)
    finally:
        background.end()
        session.close()
    _say("Good-bye.")


def run(session: Session, background: Background) -> None:
    """Read lines and print events until the person quits."""
    _show(session, session.begin(), background)
    events, written = list[Event](), Path()  # the file that this game was saved to
    while True:
        while session.agent_to_move:
            session.agent = session.agent or wait(background, "agent")
            events += session.reply()
        _show(session, events, background)
        typed = _ask(session.prompt, background.progress)
        if typed is None:
            return
        if typed == "help":
            _say(f"Type {session.start.game.rules.TYPING}.\n{HELP}")
        if typed == "hint":
            wait(background, "hints")
        events = [] if typed == "help" else session.submit(typed)
        for event in events:
            if event.kind == "began":
                written = Path()
            elif event.kind == "saved":
                written = _write(event, written)


def wait(background: Background, name: str) -> Any:
    """The result of a step, with a line that says what a person waits for."""
    if not background.done(name) and console.is_terminal:
        begun = time.perf_counter()
        with console.status("") as status:
            while not background.done(name):
                waited = time.perf_counter() - begun
                status.update(f"compiling, once for this machine: {background.progress} ({waited:.0f} s)")
                time.sleep(0.1)
    return background.futures[name].result()


def _show(session: Session, events: list[Event], background: Background) -> None:
    """What the agent plays, the board where it has changed, with an analysis if asked for, and the answers."""
    for event in events:
        if event.kind == "played" and event.name != "you":
            _say(f"{event.name} plays {event.text}")
        elif event.kind in ("message", "refused"):
            _say(event.text)
    if any(event.kind in ("began", "played", "taken_back") for event in events):
        console.print(board(session.position, session.seat, session.actions[-1] if session.actions else -1))
        if "explanations" in background.steps and not session.over and not session.agent_to_move:
            wait(background, "explanations").show(session.position)
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


def _ask(prompt: str, compiling: str = "") -> str | None:
    """The next line that is not empty; None to quit. Ctrl-C is heard here even where a command has replaced it."""
    prompt += f" (compiling: {compiling})" if compiling and console.is_terminal else ""
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
