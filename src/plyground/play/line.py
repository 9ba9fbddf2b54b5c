"""`Line`: a game in progress. Sessions, watched games, saved games and the tables of the page stand on it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from plyground.games.interface import Outcome
from plyground.play.redraw import Redraw, redrawn, taken_back
from plyground.play.typed import as_first_word, turn_text
from plyground.position import Position

WINS = (Outcome.FIRST_WINS, Outcome.SECOND_WINS)  # by side


class Line:
    """The actions of a game so far. They are played at its end, and taken back from there."""

    def __init__(
        self,
        start: Position,
        actions: Sequence[int] = (),
        redraws: Sequence[Redraw] = (),
        agreed: Outcome = Outcome.RUNNING,
    ) -> None:
        """Plays the actions. `redraws`: what was drawn anew where later actions were taken back; `agreed`: how the game
        has ended where the rules do not end it, such as by a resignation."""
        self.start, self.redraws, self.agreed = start, list(redraws), agreed
        self.actions = list[int]()  # [P]
        self.positions = [redrawn(start, 0, redraws)]  # [P + 1] before each action, and now
        self.seats = [start.seat]  # [P + 1] that act there
        self.turns = list[int]()  # the plies at which turns begin
        for action in actions:
            self.play(action)

    @property
    def position(self) -> Position:
        return self.positions[-1]

    @property
    def outcome(self) -> Outcome:
        return self.position.outcome or self.agreed

    @property
    def over(self) -> bool:
        return self.outcome != Outcome.RUNNING

    @property
    def final(self) -> bool:
        """Whether the game is over for good: what was hidden is shown then."""
        return self.over and self.start.game.rules.hidden

    def play(self, action: int) -> None:
        after, ply = self.position.play(action), len(self.actions)
        if self.begins_turn(ply):
            self.turns.append(ply)
        self.actions.append(action)
        self.positions.append(redrawn(after, ply + 1, self.redraws))
        self.seats.append(after.seat)

    def cut(self, ply: int, seat: int) -> bool:
        """Go back to a ply, for the person of a seat: what that seat has not seen is drawn anew. An agreed end is taken
        back in any case. Returns whether something was drawn anew at that ply."""
        self.agreed = Outcome.RUNNING
        if ply == len(self.actions):
            return False
        latest = self.position
        del self.actions[ply:], self.positions[ply + 1 :], self.seats[ply + 1 :]
        del self.turns[bisect_left(self.turns, ply) :]
        self.positions[ply], self.redraws[:] = taken_back(self.position, ply, seat, self.redraws, latest)
        return any(each.ply == ply for each in self.redraws)

    # ---- turns ----

    def begins_turn(self, ply: int) -> bool:
        """Whether another seat acts there than before."""
        return ply == 0 or self.seats[ply] != self.seats[ply - 1]

    def turn_before(self, ply: int) -> int:
        """The ply at which the turn began that has led to a ply; 0 for 0."""
        return self.turns[bisect_left(self.turns, ply) - 1] if ply else 0

    def turn_text(self, turn: int) -> str:
        """A turn, by its place in `turns`, as people write it."""
        begin, end = [*self.turns[turn:], len(self.actions)][:2]
        return turn_text(self.positions[begin:end], self.actions[begin:end])

    # ---- the end ----

    def ending(self, players: Sequence[str] = ("", ""), side: int | None = None, why: str = "") -> str:
        """How the game has ended, for the person of a side or, without one, with the players' names. `why`: the reason
        where the rules do not end it."""
        told = self.position.reason or why
        reason = f" ({told})" if told else ""
        if self.outcome == Outcome.DRAW:
            return f"A draw{reason}."
        winner = WINS.index(self.outcome)
        if side is not None:
            return f"You win{reason}!" if winner == side else f"You lose{reason}."
        name = f", {players[winner]}," if players[winner] else ""
        return f"{as_first_word(self.start.game.rules.SIDES[winner])}{name} wins{reason}."
