"""What an agent is, and how agents are asked. Agents choose moves; only learners update weights."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from plyground.agents.turns import Turns, act_in_turns
from plyground.batch import Batch
from plyground.errors import InvalidValue, counted, shorten
from plyground.game import Game
from plyground.games.rng import scatter

GIVES_UP = -1  # in place of an action: the agent loses this game, and its last `faults` say why
UNSEEN = np.uint64(0xD1B54A32D192ED03)  # tells the draws of what a seat cannot see from those of its agent


class Agent(Protocol):
    """Anything that chooses actions in many games at once.

    It may have the attributes `independent`, `stoppable`, `sees_all` and `leaves_circles`, which count as False where
    it has none. The functions of these names say what they mean; `leaves_circles`: an action that leads back to a
    position of the same turn is replaced (`turns.py`). With a method `act_turns`, which returns for each row a list of
    all actions of the turn that it has decided, it is not asked again while they are played.
    """

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[N] a legal action for each running state [N]; there is at least one. What the seat to act cannot see is
        drawn anew in them. Chance comes from `rngs` [N], each row from its own; other generators decide the games'."""
        ...


@runtime_checkable
class Learning(Agent, Protocol):
    """An agent that learns from its own games: it is told which game each state belongs to, and how games end."""

    def act_in(
        self, games: NDArray[np.int64], states: NDArray[np.void], rngs: NDArray[np.uint64]
    ) -> NDArray[np.int32]: ...

    def ended(self, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None: ...


@runtime_checkable
class OnDevice(Agent, Protocol):
    """An agent that also acts on the device of the games that a learner plays, where tensors hold them."""

    def to(self, device: str) -> OnDevice:
        """The same agent there."""
        ...

    def act_on(self, batch: Batch, turn: Any, rngs: Any, generator: Any, actions: Any) -> None:
        """Fill in actions [N] where `turn` [N] is set. Chance comes from `rngs` [N], or from torch's `generator`. On a
        GPU it acts in all rows, because counting the rows would synchronise."""
        ...


def ask(
    agent: Agent,
    game: Game,
    states: NDArray[np.void],
    rngs: NDArray[np.uint64],
    games: NDArray[np.int64] | None = None,
    turns: Turns | None = None,
) -> NDArray[np.int32]:
    """[R] an agent's actions in running states [R], if there are any. Whoever asks an agent asks it here.

    `games` [R] are the numbers of the games, for agents that learn from them; `turns` are the unfinished turns of these
    games (without `games`, of rows), which whoever plays them keeps from one call to the next.
    """
    if not len(states):
        return np.empty(0, np.int32)
    seen = states_for(agent, game, states, rngs)
    if not getattr(agent, "leaves_circles", False) or states.dtype != game.rules.STATE:  # heads cannot be played on
        return _act(agent, seen, rngs, games)

    def choose(rows: NDArray[np.int32]) -> NDArray[np.int32] | list[list[int]]:
        mine, own = seen[rows], rngs[rows]  # copies
        whole: Any = getattr(agent, "act_turns", None)
        found = whole(mine, own) if whole else _act(agent, mine, own, None if games is None else games[rows])
        rngs[rows] = own
        return found

    numbers = range(len(states)) if games is None else games.tolist()
    return act_in_turns(game, seen, numbers, {} if turns is None else turns, name_of(agent), choose)


def _act(
    agent: Agent, states: NDArray[np.void], rngs: NDArray[np.uint64], games: NDArray[np.int64] | None
) -> NDArray[np.int32]:
    """[R] what an agent answers, if it is a whole number for each state: an agent may be anybody's."""
    found: Any = None
    if games is not None and isinstance(agent, Learning):
        found = agent.act_in(games, states, rngs)
    else:
        found = agent.act(states, rngs)
    actions: NDArray[Any] = np.asarray(found)
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        what = "nothing" if found is None else f"{shorten(repr(found))}, {actions.dtype} of shape {actions.shape}"
        wanted = f"a whole number for each state, here {counted(len(states), 'action')}"
        raise InvalidValue(f"the agent {name_of(agent)} returns {what} from `act`, not {wanted}")
    return actions.astype(np.int32, copy=False)


def states_for(agent: Any, game: Game, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.void]:
    """[N] the states that an agent gets: what the seats to act cannot see is drawn anew, unless it `sees_all`. The
    draws follow from its generators [N], which stay as they are: nothing hidden changes what it chooses."""
    if not game.rules.hidden or sees_all(agent):
        return states
    return game.redrawn(states, scatter(rngs ^ UNSEEN))


def sees_all(agent: Any) -> bool:
    """Whether an agent asks for the states themselves, hidden cards included. What it reaches in a game with hidden
    information is then no measure of strength, so every result says so."""
    return bool(getattr(agent, "sees_all", False))


def all_seeing(game: Game, *agents: Any) -> tuple[str, ...]:
    """The names of the agents that see what their seats cannot know, in a game where something is hidden."""
    return tuple(dict.fromkeys(name_of(agent) for agent in agents if game.rules.hidden and sees_all(agent)))


def told_to_see(names: Sequence[str]) -> str:
    """`Peek of peek.py sees what is hidden`; nothing without names."""
    return f"{' and '.join(names)} {'sees' if len(names) == 1 else 'see'} what is hidden" if names else ""


def compile_kernels(agent: Any) -> None:
    """Compile what an agent needs before somebody waits for it. Only our own have a method for that."""
    if hasattr(agent, "compile_kernels"):
        agent.compile_kernels()
        if getattr(agent, "leaves_circles", False):  # `ask` plays its actions, to see whether the turn goes on
            game: Game = agent.game
            nothing = game.blank[:0].copy(), np.zeros(0, np.int32), np.zeros(0, np.uint64)
            game.kernels().play_all(*nothing, game.work())


def name_of(agent: Agent) -> str:
    """An agent in words: its spec, as it says itself, or its class and the file of that."""
    if spec := spec_of(agent):
        return spec
    kind = type(agent)
    if kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__:
        return str(agent)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return f"{kind.__name__} of {Path(file).name}" if file else kind.__name__


def spec_of(agent: Agent) -> str:
    """The spec that makes the same agent again: that of a run, or of a pretrained network; empty for all others."""
    spec = getattr(agent, "spec", "")  # of anybody's agent: it may mean something else
    return spec if isinstance(spec, str) else ""


def independent(agent: Agent) -> bool:
    """Whether an agent's action in a game depends on that game alone. Those with a network round its outputs otherwise
    in a batch of another size; of an agent that does not say so itself it is not known."""
    return bool(getattr(agent, "independent", False))


def stoppable(agent: Agent) -> bool:
    """Whether Ctrl-C (KeyboardInterrupt) ends an agent's search of a single position, so that it plays the best move so
    far. From `act` of several positions KeyboardInterrupt is raised: it was meant for the match."""
    return bool(getattr(agent, "stoppable", False))


def why_it_gives_up(agent: Agent) -> str:
    """The reason of an agent that has answered GIVES_UP: the last of its `faults`."""
    return getattr(agent, "faults", ["it gives no reason"])[-1]


def tell(agent: Agent, games: NDArray[np.int64], outcomes: NDArray[np.int8]) -> None:
    """Tell an agent that learns how games ended; RUNNING: the game is abandoned."""
    if isinstance(agent, Learning):
        agent.ended(games, outcomes)
