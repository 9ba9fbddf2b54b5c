"""`Session`: a game in progress between a person and an agent.

A front end (terminal, page) passes in what the person did and shows the events it gets back. A session prints nothing,
reads no input and writes no file; events are plain data, and `position` is the current position. Its loop:

    session = Session(start, agent, "greedy", side=0, seed=0)
    while session.agent_to_move:
        show(session.reply())
    show(session.submit("e2e4"))        # a move, or a command such as `undo`; then the agent again
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import GIVES_UP, Agent, ask, tell, why_it_gives_up
from plyground.agents.registry import make
from plyground.agents.turns import Turns
from plyground.errors import Error, IllegalAction, InvalidValue, shorten
from plyground.games.interface import Outcome
from plyground.games.rng import agent_seeds
from plyground.play import hints, typed
from plyground.play.line import WINS, Line
from plyground.play.redraw import DRAWN_ANEW, Redraw, fresh_seed
from plyground.play.saved import write_game
from plyground.position import Position

COMMANDS, AFTER_THE_END = ("moves", "hint", "undo", "resign", "new", "save"), ("undo", "new", "save")
FINAL = "The game is over, and what was hidden is shown: nothing can be taken back. Type new for another game."
YES = ("y", "yes")  # to a question with one answer
THIS_GAME = np.zeros(1, np.int64)  # for agents that learn while they play


@dataclass(frozen=True)
class Event:
    """Something that has happened, as plain data."""

    kind: Literal["began", "played", "taken_back", "ended", "message", "refused", "saved"]
    """a new game; one action; actions (or a resignation) taken back; the end; an answer, such as a hint; an input that
    changed nothing; a record that the front end may write to a file"""
    text: str = ""
    """the sentence for the person (ended, message, refused), the action in the game's notation (played), the record
    (saved)"""
    name: str = ""
    """who played: `you` or the agent's name; or the name of the file"""
    action: int = -1
    """the action that was played"""
    plies: int = 0
    """the number of actions that were taken back; 0: only a resignation"""
    outcome: Outcome = Outcome.RUNNING
    """how the game has ended"""


def reply_of(agent: Agent, name: str, position: Position, rngs: NDArray[np.uint64], turns: Turns) -> int:
    """The next action of an agent in a game of its own; an error where it gives up."""
    action = int(ask(agent, position.game, position.states.copy(), rngs, THIS_GAME, turns)[0])
    if action == GIVES_UP:
        raise Error(f"{name} gives up: {why_it_gives_up(agent)}")
    return action


class Session:
    """One game after another between a person and an agent."""

    def __init__(self, start: Position, agent: Agent | str | None, name: str, side: int, seed: int) -> None:
        """The agent is needed when it replies: with None, a front end is still making it."""
        self.agent: Agent | None = make(agent, start.game) if isinstance(agent, str) else agent
        self.name, self.side, self.seed = name, side, seed
        self.rngs = agent_seeds(seed, 1)
        self.unfinished = Turns()  # the turn that the agent is in
        self._begin(start)

    def _begin(self, start: Position) -> None:
        self.line = Line(start)
        self.unclear = ""  # an ambiguous input, to be completed by the next

    @property
    def start(self) -> Position:
        return self.line.start

    @property
    def position(self) -> Position:
        return self.line.position

    @property
    def positions(self) -> list[Position]:
        """Before each action, and now."""
        return self.line.positions

    @property
    def actions(self) -> list[int]:
        """Of both sides."""
        return self.line.actions

    @property
    def before(self) -> Position | None:
        """The position at which the last turn began; None before the first action."""
        line = self.line
        return line.positions[line.turns[-1]] if line.turns else None

    @property
    def turns(self) -> list[int]:
        """The plies at which turns of the person began."""
        return [ply for ply in self.line.turns if self.line.positions[ply].to_move == self.side]

    @property
    def written(self) -> list[str]:
        """The turns so far, as people write them."""
        return [self.line.turn_text(turn) for turn in range(len(self.line.turns))]

    @property
    def outcome(self) -> Outcome:
        return self.line.outcome

    @property
    def over(self) -> bool:
        return self.line.over

    @property
    def final(self) -> bool:
        """Whether the game is over for good: what was hidden is shown then."""
        return self.line.final

    @property
    def agent_to_move(self) -> bool:
        return not self.over and self.position.to_move != self.side

    @property
    def seat(self) -> int | None:
        """The seat whose view the person may see; None: the game is over and everything is open."""
        if self.over:
            return None if self.final else self.side
        return self.side if self.agent_to_move else self.position.seat

    @property
    def prompt(self) -> str:
        """What the person is asked for."""
        return self._ways_on if self.over else self.start.game.rules.prompt(self.position.state)

    @property
    def _ways_on(self) -> str:
        """What a person may type when the game is over."""
        return "new, save FILE or quit" if self.final else "undo, new, save FILE or quit"

    def begin(self) -> list[Event]:
        """The events of a game that has just begun; it may begin at a position that is over, or be a finished one."""
        if not self.over or self.position.over:
            return [Event("began"), *self._end()]
        told = "The saved game has ended in a draw."  # not by the rules
        if self.outcome != Outcome.DRAW:
            winner = "you win" if self.outcome == WINS[self.side] else f"{self.name} wins"
            told = f"The saved game has ended: {winner}."
        return [Event("began"), self._ended(told)]

    def replay(
        self, actions: Sequence[int], outcome: Outcome = Outcome.RUNNING, redraws: Sequence[Redraw] = ()
    ) -> None:
        """Go on with a saved game: play its actions, of both sides; `outcome`: its end where the rules do not end it,
        such as a resignation."""
        self.line = Line(self.start, actions, redraws, outcome)

    # ---- moves ----

    def submit(self, text: str) -> list[Event]:
        """Carry out a typed line: a command of COMMANDS, or moves."""
        word, _, rest = (text := text.strip()).partition(" ")
        name, rest = word.lower(), rest.strip()
        times = rest if name == "undo" and rest.isdecimal() else ""
        is_move = bool(rest) and not self.over and bool(typed.candidates(self.position, text))
        if name in COMMANDS and rest and not times and name != "save" and not is_move:
            more = f"{name}, or {name} 3 for three turns" if name == "undo" else f"{name} alone"
            return [Event("refused", f"Type {more}, not {shorten(text)}.")]
        is_command = name in COMMANDS and (not rest or bool(times) or name == "save")
        if self.over and not (is_command and name in AFTER_THE_END):
            return [Event("refused", f"The game is over. Type {self._ways_on}.")]
        if times:
            return self.undo(int(times[:9]))
        if is_command:
            return self.save(rest) if name == "save" else getattr(self, name)()
        # Moves, or those that complete an ambiguous input: `e8`, then `Q` is `e8=Q`; `Nd: Nd4?`, then `y` is `Nd4`.
        if self.unclear and text.casefold() in YES:
            only = typed.asked(self.position, self.unclear)
            text = only[0] if len(only) == 1 else text
        text = typed.without_number(self.position, text)
        whole, self.unclear = self.completed(text) or text, ""
        try:
            return self.play(*typed.read(self.position, whole))
        except IllegalAction as error:
            self.unclear = whole if isinstance(error, typed.Ambiguous) else ""
            return [Event("refused", str(error))]

    def completed(self, text: str) -> str:
        """An ambiguous input together with the answer to it; empty where both together mean nothing."""
        joined = [f"{self.unclear}{between}{text}" for between in (" ", "", "=") if self.unclear]
        found = (typed.candidates, typed.completions, typed.short_turns)
        return next((each for read in found for each in joined if read(self.position, each)), "")

    def play(self, *actions: int) -> list[Event]:
        """Play actions of the person."""
        return [event for action in actions for event in self._act("you", action)]

    def reply(self) -> list[Event]:
        """Let the agent act once. An agent that fails loses the game; the game itself is kept."""
        if self.agent is None:
            raise InvalidValue(f"{self.name} cannot reply before `agent` is set")
        try:
            action = reply_of(self.agent, self.name, self.position, self.rngs, self.unfinished)
        except Error as error:
            self.line.agreed = WINS[self.side]
            return [self._ended(f"{error}. You win.")]
        return self._act(self.name, action)

    def _act(self, player: str, action: int) -> list[Event]:
        played = Event("played", self.position.notation(action), player, action)
        self.line.play(action)
        return [played, *self._end()]

    def _end(self) -> list[Event]:
        """The end of the game, where the rules say so."""
        if not self.position.over:
            return []
        self._tell(self.position.outcome)
        return [self._ended(self.line.ending(side=self.side))]

    def _ended(self, text: str) -> Event:
        return Event("ended", text, outcome=self.outcome)

    def _tell(self, outcome: Outcome) -> None:
        """Tell an agent that learns how the game has ended."""
        if self.agent is not None:
            tell(self.agent, THIS_GAME, np.array([outcome], np.int8))

    def close(self) -> None:
        """Nobody plays on: an agent that learns keeps what it has learned."""
        if not self.over:
            self._tell(Outcome.RUNNING)

    # ---- commands ----

    def undo(self, turns: int = 1) -> list[Event]:
        """Go back to the beginning of the person's unfinished turn or, between turns, of the last one, or of an earlier
        one; a resignation counts as a turn. What the person has not seen is drawn anew."""
        if self.final:
            return [Event("refused", FINAL)]
        line, own = self.line, self.turns
        resigned = line.over and not self.position.over
        turns = min(turns - resigned, len(own))
        if turns < 0 or (turns == 0 and not resigned):
            return [Event("refused", "There is nothing to take back.")]
        self._tell(Outcome.RUNNING)  # what it has learned from is no longer part of the game
        plies = len(line.actions) - own[-turns] if turns else 0
        if plies:
            self.unclear = ""
        ply = len(line.actions) - plies
        drawn = line.cut(ply, line.seats[ply])
        return [Event("taken_back", plies=plies), *([Event("message", f"{DRAWN_ANEW}.")] if drawn else [])]

    def resign(self) -> list[Event]:
        self.line.agreed = WINS[1 - self.side]
        self._tell(self.outcome)
        return [self._ended(f"You resign: {self.name} wins.")]

    def new(self) -> list[Event]:
        """Begin again at the same position; a dealt game is dealt anew, from a seed that no record tells."""
        self.close()
        game, dealt = self.start.game, self.start == self.start.game.start(self.seed)
        self.seed = fresh_seed()
        self._begin(game.start(self.seed) if dealt else self.start)
        return self.begin()

    def moves(self) -> list[Event]:
        if self.start.game.rules.turn_text is None:
            return [Event("message", "legal: " + "\n".join(typed.grouped(typed.words_of_moves(self.position))))]
        turns = typed.legal_turns(self.position)
        meaning = " (...: the turn goes on)" if any(turn.endswith("...") for turn in turns) else ""
        return [Event("message", f"legal: {', '.join(turns)}{meaning}")]

    def hint(self) -> list[Event]:
        """The game's own advice, and the best turn that the solver or an agent finds."""
        return [Event("message", hints.hint(self.position).text)]

    def save(self, name: str = "") -> list[Event]:
        if not name:
            return [Event("refused", "save needs the name of a file: save game.txt")]
        return [Event("saved", self.record(), name)]

    def record(self) -> str:
        """The game in its own file format (PGN for chess) or, where it has none, one line for each action."""
        players = ("you", self.name) if self.side == 0 else (self.name, "you")
        return write_game(self.line, players, self.over or not self.start.game.rules.hidden, sealed=True)
