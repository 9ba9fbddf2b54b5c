"""`Position`: one game, for people. It checks its arguments and explains errors; `Batch` is the fast interface."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import IllegalAction, InvalidValue, is_whole, shorten, shown
from plyground.game import Game, load
from plyground.games.interface import Outcome
from plyground.games.rng import agent_seeds, seeds
from plyground.games.scene import Scene, listed, listed_click, mark_last, status

SQUARES = re.compile(r"([a-h][1-8]){2}[nbrq]?")  # a move as UCI writes it


class Position:
    """A game's state as a value: `play` returns another position and leaves this one as it is."""

    def __init__(
        self,
        game: Game | str | os.PathLike[str] | ModuleType,
        states: NDArray[np.void],
        seed: int | None = None,
        rngs: NDArray[np.uint64] | None = None,
    ) -> None:
        """Copies `states` [1] and, where given in place of a seed, the generator `rngs` [1]. Without either, chance is
        that of no game: an agent that plays on in thought does not foresee its dice."""
        self.game = load(game)
        self.states = states.copy()  # [1]
        drawn = agent_seeds(0, 1) if seed is None else seeds(seed, 1)
        self.rngs = drawn if rngs is None else rngs.copy()  # [1]
        self.before: NDArray[np.void] | None = None  # [1] where the last turn began, for pictures
        self.turns: dict[int, Any] = {}  # the unfinished turn, as agents that were asked have left it (agents/turns.py)

    @classmethod
    def start(cls, game: Game | str | os.PathLike[str] | ModuleType, seed: int = 0) -> Position:
        """A fresh game."""
        game = load(game)
        position = cls(game, game.blank, seed)
        game.kernels().reset_all(position.states, game.blank, position.rngs)
        return position

    @property
    def state(self) -> np.void:
        """The record itself."""
        return self.states[0]

    @property
    def to_move(self) -> int:
        """The side that acts: 0 or 1."""
        return int(self.state["to_move"])

    @property
    def seat(self) -> int:
        """The seat that acts; it belongs to the side to move."""
        seats = np.empty(1, np.int32)
        self.game.kernels().seats_to_act(self.states, seats)
        return int(seats[0])

    @property
    def outcome(self) -> Outcome:
        return Outcome(int(self.state["outcome"]))

    @property
    def over(self) -> bool:
        return self.outcome != Outcome.RUNNING

    @property
    def reason(self) -> str:
        """How the game ended; empty while it runs."""
        return self.game.rules.reason(self.state)

    @property
    def text(self) -> str:
        """The position in one line, which `game.position` reads back."""
        return self.game.rules.text(self.state)

    @property
    def problems(self) -> list[str]:
        """The reasons why no game reaches this position; empty where one does."""
        return self.game.rules.problems(self.state)

    @property
    def view(self) -> str:
        """The text as the seat that acts may see it; the same where nothing is hidden."""
        return self.game.rules.view(self.state, self.seat)

    def __str__(self) -> str:
        """The drawn board."""
        return self.game.rules.draw(self.state)

    def __repr__(self) -> str:
        return f"<{self.game} {self.text}>"

    def __eq__(self, other: object) -> bool:
        """Equal heads; repetition counters (UNCOUNTED) are not compared."""
        return isinstance(other, Position) and self.game == other.game and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((self.game, self._compared()))

    def _compared(self) -> tuple[bytes, ...]:
        rules = self.game.rules
        return tuple(self.states[name].tobytes() for name in rules.HEAD.names or () if name not in rules.UNCOUNTED)

    def legal(self) -> list[int]:
        """The legal actions, ascending; none when the game is over."""
        actions = np.empty((1, self.game.rules.MAX_LEGAL), np.int32)
        counts = np.empty(1, np.int32)
        self.game.kernels().legal_lists(self.states, actions, counts, self.game.work())
        return [int(action) for action in actions[0, : counts[0]]]

    def names(self) -> list[str]:
        """The legal actions' names, in the order of `legal()`."""
        return [self.name(action) for action in self.legal()]

    def name(self, action: int) -> str:
        """The name of an action in this position."""
        self._check_action(action)
        return self.game.rules.action_name(self.state, action)

    def notation(self, action: int) -> str:
        """A legal action as people write it: `Nf3`, `e8=Q#`."""
        self._check_action(action)
        rules, written = self.game.rules, self.game.rules.notation(self.state, action, self.legal())
        return written if rules.sign is None else written + rules.sign(self.play(action).state)

    def _check_action(self, action: int) -> None:
        if not is_whole(action, 0, self.game.num_actions - 1):
            raise InvalidValue(f"{self.game} has actions 0 to {self.game.num_actions - 1}, not {shown(action)}")

    def action(self, move: int | str) -> int:
        """The legal action of that number or name, or `IllegalAction` with those that are legal."""
        legal = self.legal()
        if not isinstance(move, str | int | np.integer) or isinstance(move, bool):  # pyright: ignore
            raise IllegalAction(f"a move is an action's number or its name, not {shorten(repr(move))}")
        if isinstance(move, str):
            found = [action for action in legal if self.name(action) == move.strip()]
            found = found[:1] or self.game.rules.read_action(self.state, move.strip(), legal)
        else:
            found = [action for action in legal if action == move]
        if not found:
            raise IllegalAction(self.refusal(move))
        if len(found) > 1:
            names = ", ".join(map(self._writer(move), found))
            raise IllegalAction(f"{shorten(repr(move))} is ambiguous in {self.view!r}; it may mean: {names}")
        return found[0]

    def refusal(self, move: int | str) -> str:
        """Why a move is refused, and the legal moves."""
        legal = self.legal()
        if self.over:
            return f"the game is over ({self.outcome}): {shorten(repr(move))} cannot be played in {self.view!r}"
        names = shorten(", ".join(map(self._writer(move), legal)), 400)
        numbers = "" if isinstance(move, str) else f" (numbers {shorten(', '.join(map(str, legal)), 400)})"
        return f"{shorten(repr(move))} is not legal in {self.view!r}; legal: {names}{numbers}"

    def _writer(self, move: int | str) -> Callable[[int], str]:
        """What writes actions as a person did who typed a move: by their names, or as people write them."""
        return self.notation if isinstance(move, str) and not SQUARES.fullmatch(move.strip()) else self.name

    def play(self, move: int | str) -> Position:
        """The position after an action, given by number or name."""
        action, after = np.array([self.action(move)], np.int32), Position(self.game, self.states, rngs=self.rngs)
        self.game.kernels().play_all(after.states, action, after.rngs, self.game.work())
        goes_on = self.before is not None and self.before["to_move"] == self.states["to_move"]
        after.before = self.before if goes_on else self.states
        after.turns = self.turns
        return after

    def after_turn(self, line: Sequence[int]) -> Position:
        """The position after a line of actions, or where its first turn ends."""
        here = self
        for action in line:
            if here.to_move == self.to_move and not here.over:
                here = here.play(action)
        return here

    def redrawn(self, seat: int, seed: int) -> Position:
        """The same position as a seat sees it, with all that it cannot know drawn anew: what is hidden from it, and the
        chance to come."""
        if not is_whole(seat, 0, self.game.rules.SEATS - 1):
            raise InvalidValue(f"{self.game} has seats 0 to {self.game.rules.SEATS - 1}, not {shown(seat)}")
        after = Position(self.game, self.states, seed)
        if self.game.rules.hidden:
            self.game.kernels().determinize_all(after.states, np.array([seat], np.int32), after.rngs)
        after.before = self.before
        return after

    def ask(self, agent: Any, seed: int = 0) -> int:
        """The action that an agent (or the agent of a spec) chooses here; `seed` determines its random numbers."""
        from plyground.agents.agent import ask
        from plyground.agents.registry import make

        agent = make(agent, self.game)
        if self.over:
            raise InvalidValue(f"the game is over ({self.outcome}): no agent has a move in {shorten(self.view)!r}")
        turns = dict(self.turns)
        action = int(ask(agent, self.game, self.states.copy(), agent_seeds(seed, 1), turns=turns)[0])
        self.turns = turns  # the next positions get it: a turn that is planned is searched once
        return action

    def seen_by(self, agent: Any, seed: int = 0) -> tuple[Position, NDArray[np.uint64]]:
        """The position as an agent (or what analyses for it) gets it, and its generator [1] of that seed: the game's
        own stays here, and what the seat to act cannot see is drawn anew."""
        from plyground.agents.agent import states_for

        rngs = agent_seeds(seed, 1)
        return Position(self.game, states_for(agent, self.game, self.states, rngs)), rngs

    def in_thought(self) -> Position:
        """The position to play on in thought: dice to come, and what is hidden from the seat to act, are drawn anew."""
        return self.seen_by(None)[0]

    def evaluate(self) -> float:
        """The game's own evaluation, from -1 (the side to move loses) to 1 (it wins)."""
        if "evaluate" not in self.game.rules.compiled:
            raise InvalidValue(f"{self.game} has no `evaluate`: add it, as docs/adding_a_game.md says")
        values = np.empty(1, np.float32)
        self.game.kernels("evaluate").evaluate_all(self.states, values)
        return float(values[0])

    def analyse(self, agent: Any, seed: int = 0) -> Any:
        """What an agent thinks of each move, as an `Analysis` (search/analysis.py): the policy of a network; visits,
        values and lines of a search; the exact values of a solver. The best move comes first."""
        from plyground.agents.registry import make

        if hasattr(agent, "act") or not hasattr(agent, "analyse"):  # what only analyses need not be an agent
            agent = make(agent, self.game)
        if not hasattr(agent, "analyse"):
            raise InvalidValue(
                f"{agent} does not tell what it thinks of moves; ask a search, minimax, a network or a solver"
            )
        seen, rngs = self.seen_by(agent, seed)
        found = agent.analyse(seen, rngs)
        return found.written_by(seen.written) if hasattr(found, "written_by") else found  # an agent of one's own

    def written(self, line: Sequence[str]) -> list[str]:
        """A line of actions' names turn by turn, as people write it: `["Nf3", "e5"]`, `["e2>e4", "e7>e5"]`. A last turn
        that is not complete is left out, unless it is the first."""
        here, write, turns, steps = self, self.game.rules.turn_text, list[str](), list[tuple[np.void, int]]()
        for name in line:
            action = here.action(name)
            if write is None:
                turns.append(here.notation(action))
                here = here.play(action) if len(turns) < len(line) else here
                continue
            steps.append((here.state, action))
            before, here = here, here.play(action)
            if here.over or here.to_move != before.to_move:
                turns.append(write(steps).lstrip(">"))
                steps = []
        return turns or [f"{write(steps).lstrip('>')} ..."] if write else turns

    def perft(self, depth: int) -> int:
        """How many sequences of `depth` actions can be played from here."""
        return int(self.game.perft(self.states, depth)[0])

    def divide(self, depth: int) -> dict[str, int]:
        """`perft` of the position after each legal action, by the action's name."""
        if not is_whole(depth, 1):
            raise InvalidValue(f"divide's depth is at least 1, not {shown(depth)}")
        legal, total = self.legal(), self.perft(1)  # perft checks the game
        if depth == 1 or not total:
            return {self.name(action): 1 for action in legal}
        children = np.repeat(self.game.searched(self.states), len(legal))
        rngs = np.repeat(self.rngs, len(legal))
        self.game.kernels().play_heads(children, np.array(legal, np.int32), rngs, self.game.work())
        counts = self.game.perft(children, depth - 1)
        return {self.name(action): int(count) for action, count in zip(legal, counts, strict=True)}

    def scene(self, seat: int | None = None) -> Scene:
        """The position as plain data, as a seat may see it; without one, as the seat that acts does."""
        rules, acting = self.game.rules, self.seat
        seat = acting if seat is None else seat
        if rules.scene is not None:
            return rules.scene(self.state, seat)
        line = status(self.state, rules.SIDES, self.reason)
        return listed(rules.observe(self.state, seat), self.names() if seat == acting else [], line)

    def _repr_svg_(self) -> str:
        """The picture that a notebook shows; the last turn is marked."""
        from plyground.games.svg import to_svg

        scene, seat = self.scene(), self.seat
        return to_svg(scene if self.before is None else mark_last(Position(self.game, self.before).scene(seat), scene))

    def clicks(self, move: int | str) -> list[str]:
        """The clicks on cells of the scene by which a person plays a legal action."""
        return self._path(self.action(move))

    def paths(self) -> dict[int, list[str]]:
        """The clicks for every legal action."""
        return {action: self._path(action) for action in self.legal()}

    def _path(self, action: int) -> list[str]:
        clicks = self.game.rules.clicks
        return [listed_click(self.name(action))] if clicks is None else clicks(self.state, action)

    def encode(self, encoder: str, seat: int | None = None) -> NDArray[Any]:
        """The network input for this position, for the seat to act or for `seat`."""
        return self.game.encode(encoder, self.states, seat)[0]
