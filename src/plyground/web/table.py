"""A table: one game in progress between people and agents. It changes by moves and commands; it sends nothing and
thinks about nothing.

The line of actions has a cursor at its end only: a page walks through it by itself, and a move at an earlier ply
removes the later ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Annotated

import msgspec
from msgspec import Meta

from plyground.errors import IllegalAction, InvalidText, InvalidValue, counted, shorten
from plyground.game import Game
from plyground.games.interface import Outcome
from plyground.games.scene import Scene, changed_cells
from plyground.play import typed
from plyground.play.line import WINS, Line
from plyground.play.redraw import DRAWN_ANEW, Redraw, fresh_seed
from plyground.play.saved import write_game
from plyground.position import Position
from plyground.runs.trust import seal, unseal
from plyground.web import messages
from plyground.web.catalogue import RENAMED, YOU, seats_of, title_of
from plyground.web.requests import Action, Clock, Text

FORMAT = 1
FEW = 3  # scenes that are kept
MOST_PLIES = 2_000  # of a line
OUTCOMES = ("running", "draw", "first", "second")
LONGEST_STATUS = 1_000  # characters
REVISIONS = 2**53  # that a page can tell apart; no game reaches them, but a damaged file may hold the last one
YOUR_NAME = "You"  # that of a person whom no text names
Seconds = Annotated[float, Meta(ge=-1e12, le=1e12)]
Sides = Annotated[list[Seconds], Meta(min_length=2, max_length=2)]
Seats = Annotated[list[Text], Meta(min_length=1, max_length=16)]


class Saved(msgspec.Struct, forbid_unknown_fields=True):
    """A table on disk. The types say all that can be said of a file without its game; `check_fits` the rest."""

    format: int
    id: str
    game: Annotated[Text, Meta(min_length=1)]
    settings: dict[str, str]
    players: Seats
    """for each seat `you` or the id of an opponent"""
    names: Seats
    """the same for people"""
    seed: Annotated[int, Meta(ge=0, le=2**62)]
    """of the game's random numbers; in a sealed game 0"""
    text: Text
    """the start; empty: the usual one, or it is sealed"""
    actions: Annotated[list[Action], Meta(max_length=MOST_PLIES)]
    ending: Text = ""
    """why it is over, where the rules do not say so: a resignation, a clock"""
    outcome: Annotated[int, Meta(ge=0, le=max(map(int, Outcome)))] = Outcome.RUNNING
    clock: Clock | None = None
    clocks: Annotated[list[Seconds], Meta(max_length=2)] = []
    clock_history: Annotated[list[Sides], Meta(max_length=MOST_PLIES + 1)] = []
    """the clocks when each ply began, for moves that are taken back"""
    paused: bool = False
    speed: Annotated[float, Meta(ge=0, le=60)] = 0.0
    revision: Annotated[int, Meta(ge=0, lt=REVISIONS)] = 0
    changed: Seconds = 0.0
    status: Text = ""
    over: bool = False
    redraws: Annotated[list[Redraw], Meta(max_length=MOST_PLIES)] = []
    """what was drawn anew where moves were taken back"""
    sealed: str = ""
    """on disk: the `Secrets` of a game that runs"""


class Secrets(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of `Saved` from which hidden cards, or the dice to come, follow."""

    seed: int
    text: str
    redraws: list[Redraw]


def sealed(saved: Saved, game: Game) -> Saved:
    """A game as it is kept: what its player may not know yet can be read by this user's Plyground alone."""
    if not game.uncertain or saved.over:
        return saved
    secrets = msgspec.json.encode(Secrets(saved.seed, saved.text, saved.redraws)).decode()
    return msgspec.structs.replace(saved, seed=0, text="", redraws=[], sealed=seal(secrets))


def opened(saved: Saved) -> Saved:
    """A kept game with what was sealed in it. It runs: an end would show its cards. Opponents have today's ids."""
    saved.players = [RENAMED.get(player, player) for player in saved.players]
    if not saved.sealed:
        return saved
    try:
        secrets = msgspec.json.decode(unseal(saved.sealed), type=Secrets)
    except (InvalidText, msgspec.DecodeError):
        why = "another user of this or another machine has kept it, or its file has changed"
        raise InvalidValue(f"the hidden cards or dice of the game {saved.id} cannot be read: {why}") from None
    known = msgspec.structs.asdict(secrets)
    return msgspec.structs.replace(saved, **known, sealed="", outcome=Outcome.RUNNING, ending="")


def check_fits(saved: Saved, game: Game) -> None:
    """Refuse a table that no game of this kind can have."""
    seats = seats_of(game)
    wrong = {
        "players": len(saved.players) != seats,
        "names": len(saved.names) != seats,
        "clocks": len(saved.clocks) == 1,
        "clocks of earlier plies": len(saved.clock_history) > len(saved.actions) + 1,
        "redraws": not all(
            0 <= each.ply <= len(saved.actions) and 0 <= each.seat < seats and 0 <= each.seed < 2**63
            for each in saved.redraws
        ),
    }
    if found := [what for what, holds in wrong.items() if holds]:
        raise InvalidValue(f"the file of the game {saved.id} is damaged ({found[0]}): delete the game")


class Pruning(IllegalAction):
    """A move that would remove later plies, of which the person has not been asked."""


class GameTable:
    """One game in progress."""

    def __init__(self, saved: Saved, game: Game) -> None:
        """Plays the actions again; an error says that the rules have changed since."""
        check_fits(saved, game)
        self.saved, self.game = saved, game
        start = game.position(saved.text, saved.seed) if saved.text else game.start(saved.seed)
        self.line = Line(start, (), saved.redraws, Outcome(saved.outcome))
        self.moves: list[messages.Move] = []  # the actions as a page is sent them
        self.event = ""
        self._scenes: dict[tuple[int, int], Scene] = {}  # (ply, seat): the newest few
        self.clock_since: float | None = None  # when the clock of the side to move has begun to run
        for action in saved.actions:
            if action not in self.position.legal():  # the error of `Position` would name the cards of whoever acts
                raise InvalidValue(f"ply {len(self.moves) + 1} is not legal: the rules of {game} have changed since")
            self._append(action)
        self._note_status()

    # ---- what there is ----

    @property
    def id(self) -> str:
        return self.saved.id

    @property
    def position(self) -> Position:
        return self.line.position

    @property
    def seat(self) -> int:
        """The seat that acts, or would."""
        return self.line.seats[-1]

    @property
    def over(self) -> bool:
        return self.line.over

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [seat for seat, player in enumerate(self.saved.players) if player == YOU]

    @property
    def agent_to_move(self) -> str:
        """The id of the agent that is to act; empty: a person, or nobody."""
        player = self.saved.players[self.seat]
        return "" if self.over or player == YOU else player

    @property
    def title(self) -> str:
        game, sides = title_of(self.saved.game), self._sides()
        if len(self.people) == len(self.saved.players):
            told = ["?" if name == YOUR_NAME else name for name, _ in sides]  # by the text that is studied
            return f"{game}: a study" if set(told) == {"?"} else f"{game}: {' against '.join(told)}, a study"
        names = [name if player != YOU else "you" for name, player in sides]
        names.sort(key=lambda name: name != "you")
        return f"{game}: {' against '.join(names)}"

    def _sides(self) -> list[tuple[str, str]]:
        """(name, id) of a player for each side: a person, if there is one."""
        pairs = list(zip(self.saved.names, self.saved.players, strict=True))
        return [min(pairs[side::2], key=lambda pair: pair[1] != YOU) for side in (0, 1)]

    @property
    def ending(self) -> str:
        """A sentence at the end; empty while the game runs."""
        if not self.over or self.saved.ending:
            return self.saved.ending
        names = ["" if player == YOU else name for name, player in self._sides()]
        sides = {seat % 2 for seat in self.people}
        return self.line.ending(names, sides.pop() if len(sides) == 1 else None)

    # ---- changes ----

    def play(self, ply: int, action: int, prune: bool = False) -> None:
        """A person plays an action at a ply."""
        self._play(ply, lambda position: [position.action(action)], prune)

    def say(self, ply: int, text: str, prune: bool = False) -> None:
        """A person types a move, or all actions of a turn."""
        self._play(ply, lambda position: _read_typed(position, text.strip()), prune)

    def _play(self, ply: int, meant: Callable[[Position], list[int]], prune: bool) -> None:
        position = self._at(ply)
        self._check_not_final()
        seat = self.line.seats[ply]
        if self.saved.players[seat] != YOU:
            raise IllegalAction(f"{self.saved.names[seat]} is to move at ply {ply}, not you")
        if self.line.agreed and ply == len(self.moves):
            raise IllegalAction(f"the game is over: {self.saved.ending} Take that back first")
        actions = meant(position)
        self._cut(ply, prune)
        for action in actions:
            self._act(action)
        self._changed(f"You play {' '.join(move.name for move in self.moves[-len(actions) :])}")

    def reply(self, action: int) -> None:
        """An agent acts."""
        name = self.saved.names[self.seat]
        if action not in self.position.legal():  # an error of `Position.action` would name its cards
            raise IllegalAction(f"it has chosen the action {action}, which is not legal")
        self._act(action)
        self._changed(f"{name} plays {self.moves[-1].name}")

    def undo(self, ply: int | None = None) -> None:
        """Go back to the beginning of a person's unfinished or last turn, or to a ply; or take back a resignation."""
        self._check_not_final()
        plies = len(self.moves)
        if ply is None and self.line.agreed:
            self.line.cut(plies, self.seat)
            self._restore_clocks(plies)
            self._changed("The game goes on")
            return
        own = [begin for begin in self.line.turns if self.line.seats[begin] in self.people]
        to = max(own, default=plies) if ply is None else ply
        if to >= plies:
            raise IllegalAction("there is nothing to take back")
        anew = f". {DRAWN_ANEW}" if self._cut(to, True) else ""
        self._changed(f"{plies - to} {'move' if plies - to == 1 else 'moves'} taken back{anew}")

    def _check_not_final(self) -> None:
        if self.line.final:
            raise IllegalAction("the game is over, and what was hidden may be seen: nothing can be taken back")

    def resign(self) -> None:
        """The person gives the game up; of two people, the one who is to move."""
        people = self.people
        if self.over or not people:
            raise IllegalAction("there is nothing to resign: the game is over or nobody plays it")
        seat = self.seat if self.seat in people else people[0]
        self.end(WINS[1 - seat % 2], "You resign.")

    def end(self, outcome: Outcome, ending: str) -> None:
        """End the game for a reason other than its rules."""
        self.line.agreed, self.saved.ending = Outcome(outcome), ending
        self._changed(ending)

    def pause(self, paused: bool) -> None:
        self.saved.paused = paused
        self._changed("Paused" if paused else "The game goes on")

    def set_speed(self, seconds: float) -> None:
        """How long an agent's action is shown in a game without people."""
        self.saved.speed = seconds

    def _at(self, ply: int) -> Position:
        if ply > len(self.moves):
            raise InvalidValue(f"the game has {counted(len(self.moves), 'ply')}: there is no ply {ply}")
        return self.line.positions[ply]

    def _cut(self, ply: int, prune: bool) -> bool:
        """Remove the plies from here on. Returns whether something was drawn anew."""
        count, line = len(self.moves) - ply, self.line
        if not count:
            return False
        if not prune:
            raise Pruning(f"this removes {count} later {'move' if count == 1 else 'moves'}")
        same_turn = not line.agreed and set(line.seats[ply:]) == {self.seat}
        drawn = line.cut(ply, self.view(ply))
        del self.moves[ply:]
        self._scenes.clear()
        if same_turn:  # whoever puts a piece down again has used the time
            del self.saved.clock_history[ply + 1 :]
        else:
            self._restore_clocks(ply)
        return drawn

    def _act(self, action: int) -> None:
        """An action that is played now: at the end of a turn the clock of its side gains."""
        self._note_clocks()
        side = self.seat % 2
        self._append(action)
        if self.saved.clocks and self.position.to_move != side and self.saved.clock:
            self.saved.clocks[side] += self.saved.clock.increment

    def _append(self, action: int) -> None:
        if len(self.moves) >= MOST_PLIES:
            raise IllegalAction(f"a game has at most {MOST_PLIES} plies")
        position, seat = self.position, self.seat
        self.line.play(action)
        self.moves.append(messages.Move(typed.part(position, action), seat % 2, seat, len(self.line.turns)))

    def _changed(self, event: str) -> None:
        self.event, saved, line = event, self.saved, self.line
        saved.revision = (saved.revision + 1) % REVISIONS
        saved.changed = time.time()
        saved.actions, saved.redraws, saved.outcome = line.actions, line.redraws, int(line.agreed)
        if not line.agreed:
            saved.ending = ""
        self._note_status()

    def _note_status(self) -> None:
        """What the list of games says of this one, also while it is on disk alone."""
        self.saved.over = self.over
        self.saved.status = shorten(self.ending or self.scene(len(self.moves)).status, LONGEST_STATUS)

    # ---- the clock ----

    def run_clock(self, now: float, runs: bool) -> None:
        """Count the time since the last call for the side that was to move, and let the clock run on or stand."""
        if not self.saved.clocks:
            return
        if self.clock_since is not None:
            self.saved.clocks[self.clock_side] -= now - self.clock_since
        self.clock_side = self.position.to_move
        self.clock_since = now if runs and not self.over else None
        self._note_clocks()

    def _note_clocks(self) -> None:
        """Remember the clocks at the beginning of this ply."""
        if self.saved.clocks:
            missing = len(self.moves) + 1 - len(self.saved.clock_history)
            self.saved.clock_history.extend(list(self.saved.clocks) for _ in range(missing))

    def _restore_clocks(self, ply: int) -> None:
        """Set the clocks back to the beginning of a ply; the time since then does not count."""
        if self.saved.clocks:
            self._note_clocks()
            self.saved.clocks = list(self.saved.clock_history[ply])
            del self.saved.clock_history[ply + 1 :]
            self.clock_since = None

    def time_left(self, now: float) -> list[float]:
        """Seconds left for each side, now."""
        left = list(self.saved.clocks)
        if left and self.clock_since is not None:
            left[self.clock_side] -= now - self.clock_since
        return [max(0.0, each) for each in left]

    # ---- what a page is sent ----

    def view(self, ply: int) -> int:
        """The seat whose view a page may see at a ply: always the person's own, where there is one person."""
        people = self.people
        if len(people) > 1 and self.game.rules.scene is None and self.line.seats[ply] in people:
            return self.line.seats[ply]  # two people at one page: a list of actions is for the one who acts
        return people[0] if people else 0

    def scene(self, ply: int) -> Scene:
        """The position at a ply as a page may see it."""
        key = (ply, self.view(ply))
        if key not in self._scenes:
            if len(self._scenes) >= FEW:
                self._scenes.clear()
            self._scenes[key] = self.line.positions[ply].scene(key[1])
        return self._scenes[key]

    def message(self) -> messages.Table:
        saved, seat = self.saved, self.seat
        players = [
            messages.Player(name, player, number % 2)
            for number, (name, player) in enumerate(zip(saved.names, saved.players, strict=True))
        ]
        return messages.Table(
            id=saved.id,
            revision=saved.revision,
            game=saved.game,
            spec=str(self.game) if not self.game.path else saved.game,
            title=self.title,
            sides=list(self.game.rules.SIDES),
            players=players,
            view=self.view(len(self.moves)),
            moves=self.moves,
            over=self.over,
            outcome=OUTCOMES[self.line.outcome],
            ending=self.ending,
            to_move=-1 if self.over else seat % 2,
            yours=not self.over and saved.players[seat] == YOU,
            paused=saved.paused,
            speed=saved.speed,
            clocks=self.time_left(time.monotonic()),
            clock_runs=self.clock_since is not None,
            event=self.event,
        )

    def along(self, ply: int, line: Sequence[int]) -> list[Position]:
        """The position at a ply and those after each action of a line from there. Where hands are hidden there is none:
        even its error would name the cards of the seat that acts. The dice on a line are not those to come."""
        if line and self.game.rules.hidden:
            raise InvalidValue("hands are hidden: a line of moves would need the others' cards")
        at = self._at(ply)
        return Line(at.redrawn(0, fresh_seed()) if line and self.game.uncertain else at, line).positions

    def position_message(self, ply: int, line: Sequence[int] = (), request: int = 0) -> messages.Position:
        """The position at a ply, or after a line from there, as the page's seat sees it."""
        later, rules = self.along(ply, line), self.game.rules
        position, seat = later[-1], self.view(ply)
        actor = position.seat
        acts = not line and self.saved.players[actor] == YOU
        ended = self.line.agreed and ply == len(self.moves)
        paths = position.paths() if acts and not ended and not self.line.final else {}
        legal = list(paths)
        names = [rules.notation(position.state, action, legal) for action in legal]
        scene = position.scene(seat) if line else self.scene(ply)
        before = later[-2].scene(seat) if line else self.scene(self.line.turn_before(ply))
        return messages.Position(
            table=self.id,
            revision=self.saved.revision,
            ply=ply,
            line=list(line),
            scene=scene,
            choices=list(map(messages.Choice, legal, names, paths.values())),
            begun=self._begun(ply) if legal else None,
            last=changed_cells(before, scene) if ply or line else [],
            actor=-1 if position.over or ended else actor,
            text=rules.view(position.state, seat),
            prompt=rules.prompt(position.state) if acts and not position.over else "",
            request=request,
        )

    def _begun(self, ply: int) -> messages.Begun | None:
        """The last action of an unfinished turn, if it may be taken back as if it had not been played."""
        if self.line.begins_turn(ply) or self.game.rules.hidden:
            return None
        before = self.line.positions[ply - 1]
        if (before.rngs != self.line.positions[ply].rngs).any():
            return None
        paths = before.paths()
        others = sorted({path[0] for path in paths.values()})
        return messages.Begun(ply - 1, paths[self.line.actions[ply - 1]], others)

    def record(self) -> str:
        """The game in its own file format, or as a list of moves; hidden cards are told when it is over."""
        (first, _), (second, _) = self._sides()
        return write_game(self.line, (first, second), self.over or not self.game.rules.hidden)


def _read_typed(position: Position, text: str) -> list[int]:
    """The actions that a text means. The error names the legal moves that are closest to it: a page has no command that
    lists them."""
    try:
        return typed.read(position, text)
    except typed.Ambiguous:
        raise
    except IllegalAction:
        given, legal = shorten(text), typed.legal_turns(position)
        closest = sorted(legal, key=lambda turn: -SequenceMatcher(None, turn, given).ratio())[: typed.FEW]
        more = f" and {len(legal) - len(closest)} more" if len(legal) > len(closest) else ""
        raise IllegalAction(f"{given!r} is not legal here; legal: {', '.join(closest)}{more}") from None
