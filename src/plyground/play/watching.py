"""A game that somebody watches: it goes on turn by turn, and back. A front end shows it; nothing is printed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plyground.agents.agent import GIVES_UP, Agent
from plyground.agents.turns import Turns
from plyground.errors import Error
from plyground.games.interface import Outcome
from plyground.games.rng import agent_seeds
from plyground.play.line import Line
from plyground.play.redraw import Redraw
from plyground.play.session import reply_of
from plyground.position import Position

Choose = Callable[[Position], int]
"""the next action; GIVES_UP: the game ends here"""


class Watch:
    """The turns of a game so far, and the one that is shown. Turns that were never shown are asked for."""

    def __init__(
        self,
        start: Position,
        players: tuple[str, str],
        choose: Choose,
        most: int = 0,
        told: Outcome = Outcome.RUNNING,
        redraws: Sequence[Redraw] = (),
    ) -> None:
        """`told`: how the game has ended where the rules do not end it, as its record tells, and the redraws in it."""
        self.line = Line(start, redraws=redraws, agreed=told)
        self.players, self.choose, self.most = players, choose, most or start.game.rules.MAX_PLIES
        self.shown = 0  # number of turns
        self.ended = ""  # why the game ends, where the rules do not say it

    @property
    def ply(self) -> int:
        """The number of actions in the shown turns."""
        return [*self.line.turns, len(self.line.actions)][self.shown]

    @property
    def position(self) -> Position:
        return self.line.positions[self.ply]

    @property
    def before(self) -> Position | None:
        """Where the turn began that led to the position."""
        return self.line.positions[self.line.turns[self.shown - 1]] if self.shown else None

    @property
    def needs_turn(self) -> bool:
        """Whether the next turn has still to be asked for."""
        return self.shown == len(self.line.turns) and not self.over

    @property
    def over(self) -> bool:
        """Whether the shown position is the last one."""
        return self.shown == len(self.line.turns) and (self.position.over or bool(self.ended))

    def forward(self) -> None:
        """Show the next turn, unless there is none."""
        line, seat, asks = self.line, self.line.seats[-1], self.needs_turn
        while asks and not line.position.over and not self.ended and line.seats[-1] == seat:
            try:
                action = self.choose(line.position)
            except Error as error:
                self.ended = f"{self.players[line.position.to_move]} fails: {error}"
                break
            if action == GIVES_UP:
                self.ended = "the record ends here"
            elif len(line.actions) >= self.most:
                self.ended = f"stopped after {self.most} plies"
            else:
                line.play(action)
        self.shown = min(self.shown + 1, len(self.line.turns))

    def back(self) -> None:
        self.shown = max(0, self.shown - 1)

    def to_start(self) -> None:
        self.shown = 0

    def to_end(self) -> None:
        """Show the last turn that was played so far."""
        self.shown = len(self.line.turns)

    def turn(self, number: int) -> str:
        """A turn with its number, as people write it: `1. white e2>e4`, `1... e5`."""
        before, rules = self.line.positions[self.line.turns[number - 1]], self.position.game.rules
        counted = f"{number}. {rules.SIDES[before.to_move]}"
        label = rules.move_number(before.state) if rules.move_number else counted
        return f"{label} {self.line.turn_text(number - 1)}"

    @property
    def result(self) -> str:
        """How the game has ended; empty before."""
        if not self.over:
            return ""
        return self.line.ending(self.players, why=self.ended) if self.line.over else f"{self.ended}."


def by_agents(agents: Callable[[], tuple[Agent, Agent]], seed: int) -> Choose:
    """Two agents choose the actions, each those of its side; the function returns them when they are ready."""
    rngs, turns = agent_seeds(seed, 1), Turns()

    def choose(position: Position) -> int:
        return reply_of(agents()[position.to_move], "it", position, rngs, turns)

    return choose


def by_record(actions: Sequence[int]) -> Choose:
    """The actions of a saved game."""
    left = iter(actions)
    return lambda position: next(left, GIVES_UP)
