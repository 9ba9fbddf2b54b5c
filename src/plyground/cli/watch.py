"""The command `watch`: a game between two agents, or a saved one, turn by turn in the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.text import Text

from plyground.agents.agent import Agent, compile_kernels
from plyground.cli.ctrl_c import interruptible
from plyground.cli.keys import listening
from plyground.cli.terminal import board, console, say
from plyground.cli.words import is_run, run_path
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.play.background import Background
from plyground.play.saved import read_file, write_game
from plyground.play.watching import Watch, by_agents, by_record
from plyground.position import Position
from plyground.runs.directory import no_run

Maker = Callable[[], Agent]
HELP = "space: pause or go on · → step · ← back · + - faster, slower · home, end · q quit"
FASTER = 2.0  # for each + or -
POLL = 0.1  # seconds between two looks at the compiler


class Viewer:
    """What the keys do: pause, step, back, speed."""

    def __init__(self, watch: Watch, speed: float, paused: bool) -> None:
        self.watch, self.speed, self.paused, self.quits = watch, speed, paused, False

    def press(self, key: str) -> None:
        watch = self.watch
        if key in ("q", "\x1b", "\x04"):
            self.quits = True
        elif key == " ":
            self.paused = not self.paused
        elif key in ("right", "n", "\n", "\r"):
            self.paused = True
            watch.forward()
        elif key in ("left", "b"):
            self.paused = True
            watch.back()
        elif key in ("home", "end"):
            self.paused = True
            (watch.to_start if key == "home" else watch.to_end)()
        elif key in ("+", "-"):
            self.speed = min(64.0, max(1 / 64, self.speed * (FASTER if key == "+" else 1 / FASTER)))

    def view(self, compiling: str = "") -> Group:
        """The players, the last turn, the board and the keys."""
        watch, position = self.watch, self.watch.position
        sides, hidden = position.game.rules.SIDES, position.game.rules.hidden
        players = " against ".join(f"{side} {player}" for side, player in zip(sides, watch.players, strict=True))
        state = "paused" if self.paused else f"speed {self.speed:g}"
        last = watch.turn(watch.shown) if watch.shown else "the beginning"
        told = watch.result or (f"compiling {compiling}, once for this machine ..." if compiling else "")
        parts = [Text(players, style="bold"), Text(last)]
        parts += [board(position, None if hidden else 0, watch.before), Text(told, style="bold")]
        return Group(*parts, Text(f"{state} · {HELP}", style="dim"))


def newest_games(run: str) -> Path:
    """The file with the newest games that a run has saved."""
    path = run_path(run)
    if not is_run(path):
        raise no_run(path)
    folder = path / "games"
    files = sorted(folder.glob("*.txt"), key=lambda path: path.stem.zfill(20))
    if not files:
        raise InvalidValue(f"{folder} has no games: a run saves some at each evaluation")
    return files[-1]


def show_file(path: Path, game: Game, number: int, speed: float, step: bool, save: Path | None) -> None:
    """Show a saved game."""
    saved = read_file(path, game, number, openly=True)
    first, second = (name or side for name, side in zip(saved.players, game.rules.SIDES, strict=True))
    background = Background({"agents": lambda: None, "rules": game.compile})
    watch = Watch(saved.start, (first, second), by_record(saved.actions), told=saved.outcome, redraws=saved.redraws)
    _show(watch, background, speed, step, save)


def show_agents(
    start: Position,
    names: tuple[str, str],
    makers: tuple[Maker, Maker],
    seed: int,
    speed: float,
    step: bool,
    save: Path | None,
) -> None:
    """Show a game between two agents, which are made while the first board is shown."""

    def make() -> tuple[Agent, Agent]:
        agents = makers[0](), makers[1]()
        for agent in agents:
            compile_kernels(agent)
        return agents

    background = Background({"agents": make, "rules": start.game.compile})
    choose = by_agents(background.futures["agents"].result, seed)
    _show(Watch(start, names, choose), background, speed, step, save)


def _show(watch: Watch, background: Background, speed: float, step: bool, save: Path | None) -> None:
    """Show a game: with keys in a terminal, else as one line for each turn and the last board."""
    try:
        if console.is_terminal and sys.stdin.isatty():
            with listening() as keys, Live(console=console, auto_refresh=False) as live:
                viewer, due = Viewer(watch, speed, step), time.monotonic() + 1.0 / speed
                while not viewer.quits:  # turn after turn; between them the keys are obeyed
                    waits = watch.needs_turn and not background.done("agents")
                    live.update(viewer.view(background.progress if waits else ""), refresh=True)
                    still = viewer.paused or watch.over
                    key = keys.read(POLL if waits else 3600.0 if still else due - time.monotonic())
                    if key and not (waits and key in ("right", "n", "\n", "\r")):
                        viewer.press(key)
                    elif not key and not waits and not still:
                        watch.forward()
                        due = time.monotonic() + 1.0 / viewer.speed
        else:
            with interruptible():
                background.futures["agents"].result()
                while not watch.over:
                    watch.forward()
                    if watch.shown and not (watch.over and watch.ended):
                        say(watch.turn(watch.shown))
                hidden = watch.position.game.rules.hidden
                console.print(board(watch.position, None if hidden else 0, watch.before))
                say(watch.result)
    except KeyboardInterrupt:
        say("Stopped.")
    finally:
        background.end()
    if save:
        with save.open("x", encoding="utf-8") as file:
            file.write(write_game(watch.line, watch.players, sealed=True))
        say(f"Wrote {save}.")
