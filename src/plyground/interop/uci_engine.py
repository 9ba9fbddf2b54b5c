"""A UCI engine: agents in chess GUIs. It reads lines and writes lines; `cli/uci.py` connects it with the terminal.

One thread reads commands; each `go` thinks in a thread of its own, so that `isready` and `stop` are answered at once.
The game is loaded beside the first commands: `uciok` does not wait for the compiler. Words that are unknown are
ignored, as the protocol demands; what cannot be done is said by `info string`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import plyground
from plyground.errors import Error, InvalidValue, install
from plyground.interop.uci_go import Budget, Go, budget, read_go
from plyground.interop.uci_options import OPTIONS, Settings, describe

if TYPE_CHECKING:  # numba is imported when the game is loaded
    from plyground.game import Game
    from plyground.interop.uci_thinkers import Thinker
    from plyground.position import Position

GAME, DEFAULT_AGENT = "chess", "minimax:time=1"
NEWS = 1.0  # seconds after which the number of nodes is reported again
Write = Callable[[str], None]


class UciEngine:
    """Answers the commands of a GUI; `run` returns after `quit` or at the end of the lines."""

    def __init__(self, write: Write, agent: str = "") -> None:
        """`write` gets each line; `agent` is the spec of the agent that plays unless options name another."""
        self.settings, self.agent, self._write, self._lock = Settings(), agent or DEFAULT_AGENT, write, threading.Lock()
        self._thinking: Thinking | None = None
        self._played = Played()
        self._thinkers: dict[tuple[object, ...], Thinker] = {}  # the last one, by what it depends on
        self._loading = threading.Thread(target=self._load, daemon=True)
        self._fault: Exception | None = None
        self.closed = False  # the GUI has closed our output
        self._commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self._identify,
            "isready": self._ready,
            "ucinewgame": self._begin_game,
            "position": self._set_position,
            "setoption": self._set_option,
            "go": self._go,
            "stop": lambda words: self._end_search(),
            "ponderhit": self._ponder_hit,
        }

    def run(self, lines: Iterable[str]) -> None:
        """Answer each line, until `quit` or the end."""
        self._loading.start()
        for line in lines:
            words = line.split()
            while words and words[0] not in self._commands and words[0] != "quit":
                words.pop(0)
            if words[:1] == ["quit"] or self.closed:
                break
            try:
                if words:
                    self._commands[words[0]](words[1:])
            except Exception as error:  # a GUI's game goes on
                if error is self._fault:
                    raise
                self.say(error)
        self._end_search()

    @property
    def loading(self) -> bool:
        """Whether something is still being compiled."""
        return self._loading.is_alive()

    def say(self, error: Exception) -> None:
        """Tell the GUI what went wrong."""
        text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError):
            text = f"this needs {error.name}, which is not installed; {install('learn')}"
        self.tell(f"info string {' '.join(text.split())}")

    def tell(self, line: str) -> None:
        """Write a line, whole; nothing once the GUI is gone."""
        with self._lock:
            if self.closed:
                return
            try:
                self._write(line)
            except (OSError, ValueError):  # a broken pipe; a closed file
                self.closed = True

    # ---- commands ----

    def _identify(self, words: list[str]) -> None:
        self.tell(f"id name Plyground {plyground.__version__}")
        self.tell("id author the Plyground authors")
        for option in OPTIONS:
            self.tell(describe(option))
        self.tell("uciok")

    def _ready(self, words: list[str]) -> None:
        if self._thinking is None:  # a search that runs has loaded everything
            self._thinker(self.settings)
        self.tell("readyok")

    def _begin_game(self, words: list[str]) -> None:
        self._end_search()
        for thinker in self._thinkers.values():
            thinker.forget()

    def _set_option(self, words: list[str]) -> None:
        self._end_search()
        settings = self.settings.set(words)
        self._thinker(settings)  # an option that cannot be is refused here
        self.settings = settings

    def _set_position(self, words: list[str]) -> None:
        moves = words[words.index("moves") + 1 :] if "moves" in words else []
        start = words[: words.index("moves")] if "moves" in words else words
        if start[:1] == ["fen"]:
            self._played.set(self._loaded(), " ".join(start[1:7]), moves)
        elif start[:1] == ["startpos"]:
            self._played.set(self._loaded(), "startpos", moves)
        else:
            raise InvalidValue(f"position takes startpos or fen, not {' '.join(words)!r}")

    def _go(self, words: list[str]) -> None:
        self._end_search()
        go, position = read_go(words), self._played.current(self._loaded())
        thinker = self._thinker(self.settings, analysis=go.infinite)
        self._thinking = Thinking(self, thinker, position, go)
        self._thinking.thread.start()

    def _ponder_hit(self, words: list[str]) -> None:
        if self._thinking:
            self._thinking.ponder_hit()

    def _end_search(self) -> None:
        if self._thinking:
            self._thinking.stop()
            self._thinking.thread.join()
            self._thinking = None

    # ---- loading ----

    def _load(self) -> None:
        """Import the compiler, load the game and compile what plays: beside the first commands."""
        try:
            from plyground.game import load

            self._game = load(GAME)
            chosen, start = self.settings.chosen(self.agent), self._played.current(self._game)
            self._thinkers = {chosen: self._make(chosen)}
            start.play(start.legal()[0])  # compiles what replies need
        except Exception as error:
            self._fault = error

    def _loaded(self) -> Game:
        self._loading.join()
        if self._fault:
            raise self._fault
        return self._game

    def _thinker(self, settings: Settings, analysis: bool = False) -> Thinker:
        """The one that the options name; an analysis has full strength."""
        self._loaded()
        chosen = settings.chosen(self.agent, analysis)
        if chosen not in self._thinkers:
            self._thinkers = {chosen: self._make(chosen)}
        return self._thinkers[chosen]

    def _make(self, chosen: tuple[str, int, int, int]) -> Thinker:
        from plyground.interop.uci_thinkers import make_thinker

        spec, megabytes, threads, simulations = chosen
        return make_thinker(spec, self._game, megabytes, threads, simulations)


class Played:
    """The position that the GUI has set. Of a longer list of moves only the new ones are played."""

    def __init__(self) -> None:
        self.start, self.moves, self.positions = "startpos", list[str](), list["Position"]()

    def current(self, game: Game) -> Position:
        if not self.positions:
            self.positions = [game.position(self.start)]
        return self.positions[-1]

    def set(self, game: Game, start: str, moves: Sequence[str]) -> None:
        if start != self.start or not self.positions:
            self.positions = [game.position(start, strict=False)]  # raises before anything has changed
            self.start, self.moves = start, []
        same = 0
        while same < min(len(moves), len(self.moves)) and moves[same] == self.moves[same]:
            same += 1
        self.moves, self.positions = self.moves[:same], self.positions[: same + 1]
        for move in moves[same:]:
            self.positions.append(reopened(self.positions[-1]).play(move))
            self.moves.append(move)


def reopened(position: Position) -> Position:
    """The same position, running, if it is drawn by a rule that nobody has claimed: a GUI may play on."""
    if not position.over or position.reason in ("checkmate", "stalemate"):
        return position
    placed, side, rights, passed, _, number = position.text.split()
    again = position.game.position(f"{placed} {side} {rights} {passed} 0 {number}", strict=False)
    again.states["outcome"] = again.states["ending"] = 0  # too little material is a draw from the beginning
    return again


class Thinking:
    """The search of one `go`, in a thread that ends with `bestmove`."""

    def __init__(self, engine: UciEngine, thinker: Thinker, position: Position, go: Go) -> None:
        self.engine, self.thinker, self.position, self.go = engine, thinker, reopened(position), go
        self.begun = time.perf_counter()
        self.stopped, self.released = threading.Event(), threading.Event()  # released: the GUI waits for a move
        self.budget: Budget | None = None
        self.reported = self.begun
        if not (go.ponder or go.infinite):
            self._start_clock()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def stop(self) -> None:
        self.stopped.set()
        self.released.set()

    def ponder_hit(self) -> None:
        """The opponent has played the expected move: the clock runs from now on."""
        if self.go.ponder and not self.go.infinite:
            self._start_clock()

    def _start_clock(self) -> None:
        self.clock_begun = time.perf_counter()
        self.budget = budget(self.go, self.position.to_move, self.engine.settings.overhead)
        self.released.set()

    def _over(self) -> bool:
        """Whether the search ends now. (It is asked every few milliseconds.)"""
        now = time.perf_counter()
        if now - self.reported > NEWS:
            self.reported = now
            self.engine.tell(f"info {self._effort(self.thinker.nodes)}")
        if self.stopped.is_set() or self.engine.closed:
            return True
        most = self.budget and (self.budget.hard if self.thinker.iterates else self.budget.share)
        return most is not None and now - self.clock_begun > most

    def _run(self) -> None:
        try:
            best = self._search()
        except Exception as error:  # the GUI waits for a move, whatever has happened
            self.engine.say(error)
            best = self.position.names()[:1]
        if not self.engine.closed:  # else nobody waits for the move
            self.released.wait()
        self.engine.tell(f"bestmove {' ponder '.join(best[:2]) or '(none)'}")

    def _search(self) -> list[str]:
        """The best line."""
        from plyground.interop.uci_thinkers import Request, score

        legal, settings, go = self.position.legal(), self.engine.settings, self.go
        if not legal:
            checked = self.position.reason == "checkmate"
            self.engine.tell(f"info depth 0 score {'mate' if checked else 'cp'} 0")
            return []
        names = {self.position.name(action): action for action in legal}
        asked = [names[move] for move in go.searchmoves if move in names] or legal
        seconds = self.budget.hard if self.budget else 0.0
        depth = go.depth or 2 * go.mate
        request = Request(asked, self._over, settings.lines, depth, go.nodes, seconds)
        best = list[str]()
        with closing(self.thinker.think(self.position, request)) as answers:  # its threads end here
            for found in answers:
                self.reported, best, effort = time.perf_counter(), found.moves[0].line, self._effort(found.nodes)
                for number, move in enumerate(found.moves, 1):
                    told = f"depth {found.depth} multipv {number}{score(move)} {effort}"
                    self.engine.tell(f"info {told} pv {' '.join(move.line)}")
                if self.stopped.is_set():
                    break
                # no iteration begins that the clock would hardly let end, or for a single move
                if self.budget and (len(asked) == 1 or time.perf_counter() - self.clock_begun > self.budget.soft):
                    break
        return best

    def _effort(self, nodes: int) -> str:
        seconds = max(time.perf_counter() - self.begun, 1e-6)
        return f"nodes {nodes} nps {int(nodes / seconds)} time {int(1000 * seconds)}"
