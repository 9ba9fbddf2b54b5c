"""Any game for OpenSpiel's algorithms, its bots as agents here, and agents as its bots. Needs the extra `openspiel`.

    as_spiel_game(game)              registers the game (`pyspiel.load_game("plyground_connect_four")`) and loads it
    SpielBot(game, "greedy")         an agent as a bot of OpenSpiel
    SpielAgent(game, make_bot)       a bot of OpenSpiel as an agent: in matches, on ladders
    mcts(game, simulations=100)      OpenSpiel's MCTS as an agent; examples/openspiel_mcts.py puts it on a ladder

Players are seats, and the utilities are +1, 0 and -1. A game with chance (a deal, cards to be drawn) begins with one
chance node that draws its seed, one of DEALS; everything after that follows from the seed and the actions. Observation
strings and tensors hold only what a player may know; a bot that plays as an agent gets a state in which the rest is
drawn anew.
"""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false, reportMissingImports=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUntypedBaseClass=false

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import GIVES_UP, Agent, ask
from plyground.agents.registry import make
from plyground.agents.turns import Turns
from plyground.errors import Error, InvalidValue, install
from plyground.game import Game, agent_repr, load
from plyground.games.interface import RUNNING, value_for
from plyground.games.rng import agent_seeds, draw, seeds
from plyground.position import Position

try:
    import pyspiel
except ModuleNotFoundError:
    raise InvalidValue(f"OpenSpiel is not installed; {install('openspiel')}") from None

DEALS = 1000  # outcomes of the chance node with which a game with chance begins
ForeignGame: Any = pyspiel.Game
TERMINAL, CHANCE = int(pyspiel.PlayerId.TERMINAL), int(pyspiel.PlayerId.CHANCE)


# ---- our games for OpenSpiel ----


def as_spiel_game(game: Game | str) -> Any:
    """The game for OpenSpiel, registered under `short_name(game)`."""
    loaded = load(game)
    name = short_name(loaded)
    known = _REGISTERED.get(name)
    if known is not None and known != loaded:
        raise InvalidValue(f"another game is registered in OpenSpiel as {name}: rename the file of one of them")
    if known is None:

        class OneGame(SpielGame):
            """A class and no function: OpenSpiel lets go of it after Python has ended, which frees a function."""

            def __init__(self, params: Any = None) -> None:
                super().__init__(loaded, params)

        pyspiel.register_game(_type_of(loaded), OneGame)
        _REGISTERED[name] = loaded
    return pyspiel.load_game(name)


_REGISTERED: dict[str, Game] = {}


def short_name(game: Game) -> str:
    """`plyground_sequence_seats_4`: the name in OpenSpiel's registry."""
    settings = str(game).removeprefix(game.word)
    return re.sub(r"\W+", "_", f"plyground_{game.label}{settings}")


def _type_of(game: Game) -> Any:
    kind, secrets = pyspiel.GameType, pyspiel.GameType.Information
    return kind(
        short_name=short_name(game),
        long_name=f"{game.label} of Plyground",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=kind.ChanceMode.EXPLICIT_STOCHASTIC if game.rules.CHANCE else kind.ChanceMode.DETERMINISTIC,
        information=secrets.IMPERFECT_INFORMATION if game.rules.hidden else secrets.PERFECT_INFORMATION,
        utility=kind.Utility.ZERO_SUM,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=_seats(game),
        min_num_players=_seats(game),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=bool(game.encoders),
        parameter_specification={},
    )


def _seats(game: Game) -> int:
    return int(game.settings.get("seats", game.rules.SEATS))


@dataclass(frozen=True)
class Moment:
    """A game at one moment. It is never changed, so clones of a state share it."""

    states: NDArray[np.void]  # [1]; [0] before the chance node has drawn the seed
    rngs: NDArray[np.uint64]  # [1] or [0]
    player: int
    """the seat that acts, CHANCE or TERMINAL"""
    seen: tuple[str, ...]
    """what each seat has seen so far, where something is hidden"""

    def __deepcopy__(self, memo: Any) -> Moment:
        return self


class SpielGame(ForeignGame):
    """The rules of one game, as OpenSpiel sees them."""

    def __init__(self, game: Game, params: Any = None) -> None:
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions,
            max_chance_outcomes=DEALS if game.rules.CHANCE else 0,
            num_players=_seats(game),
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=game.rules.MAX_PLIES,
        )
        super().__init__(_type_of(game), info, params or {})
        self.game, self.kernels, self.seats = game, game.kernels(), _seats(game)
        nothing = np.zeros(0, game.rules.STATE), np.zeros(0, np.uint64)
        self.first = Moment(*nothing, CHANCE, ("",) * self.seats) if game.rules.CHANCE else self.begin(0)

    def new_initial_state(self) -> SpielState:
        return SpielState(self)

    def state_of(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> SpielState:
        """A state that goes on from a record [1] with a generator [1]; its history is empty."""
        state = SpielState(self)
        state.moment = self.moment(states.copy(), rngs.copy())
        return state

    def begin(self, seed: int) -> Moment:
        start = Position.start(self.game, seed)
        return self.moment(start.states, start.rngs)

    def play(self, before: Moment, action: int) -> Moment:
        states, rngs = before.states.copy(), before.rngs.copy()
        self.kernels.play_all(states, np.array([action], np.int32), rngs, self.game.work())
        return self.moment(states, rngs, before.seen)

    def moment(
        self, states: NDArray[np.void], rngs: NDArray[np.uint64], before: tuple[str, ...] | None = None
    ) -> Moment:
        """A moment after what each seat has seen before."""
        player, seats = TERMINAL, np.empty(1, np.int32)
        if int(states["outcome"][0]) == RUNNING:
            self.kernels.seats_to_act(states, seats)
            player = int(seats[0])
        seen, rules = before or ("",) * self.seats, self.game.rules
        if rules.hidden:
            seen = tuple(f"{each}{rules.view(states[0], seat)}\n" for seat, each in enumerate(seen))
        return Moment(states, rngs, player, seen)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        return Observer(self.game, iig_obs_type, params)


class SpielState(pyspiel.State):
    """One game in progress."""

    def __init__(self, spiel_game: SpielGame) -> None:
        super().__init__(spiel_game)
        self.moment = spiel_game.first

    @property
    def position(self) -> Position:
        return Position(self.get_game().game, self.moment.states, rngs=self.moment.rngs)

    def current_player(self) -> int:
        return self.moment.player

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal()

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(seed, 1.0 / DEALS) for seed in range(DEALS)]

    def _apply_action(self, action: int) -> None:
        game, now = self.get_game(), self.moment
        self.moment = game.begin(action) if now.player == CHANCE else game.play(now, action)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"seed {action}" if player == CHANCE else self.position.name(action)

    def is_terminal(self) -> bool:
        return self.moment.player == TERMINAL

    def returns(self) -> list[float]:
        outcome = int(self.moment.states["outcome"][0]) if self.is_terminal() else RUNNING
        return [value_for(outcome, seat % 2) for seat in range(self.get_game().seats)]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """A state that the player cannot tell from this one, for ISMCTS; the others have seen only its present."""
        spiel_game, now = self.get_game(), self.moment
        if not spiel_game.game.rules.hidden:
            return self.clone()
        states, rngs = now.states.copy(), seeds(int(sampler() * 2**53), 1)
        spiel_game.kernels.determinize_all(states, np.array([player], np.int32), rngs)
        other = spiel_game.state_of(states, rngs)
        kept = enumerate(other.moment.seen)
        other.moment = replace(other.moment, seen=tuple(now.seen[k] if k == player else each for k, each in kept))
        return other

    def __str__(self) -> str:
        return self.position.text if len(self.moment.states) else "before the deal"


class Observer:
    """Observations of a state: the game's first encoder, and the text that a player may see.

    With perfect recall the text is what the player has seen in all positions of the game so far.
    """

    def __init__(self, game: Game, kind: Any, params: Any) -> None:
        if params:
            raise InvalidValue(f"observations of {game} take no parameters, not {params}")
        self.game, self.recall = game, kind is not None and kind.perfect_recall
        encoder = game.encoder() if game.encoders and not self.recall else None
        self.name, shape = (str(encoder), encoder.shape) if encoder else ("", (0,))
        self.tensor = np.zeros(math.prod(shape), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)} if encoder else {}

    def set_from(self, state: SpielState, player: int) -> None:
        if not self.dict:
            return
        states = state.moment.states
        self.dict["observation"][:] = self.game.encode(self.name, states, player)[0] if len(states) else 0

    def string_from(self, state: SpielState, player: int) -> str:
        if not self.recall:
            states = state.moment.states
            return self.game.rules.view(states[0], player) if len(states) else ""
        if not self.game.rules.hidden:
            return " ".join(map(str, state.history()))
        return state.moment.seen[player]


# ---- bots and agents ----


class SpielBot(pyspiel.Bot):
    """An agent as a bot of OpenSpiel. `seed` determines what it draws."""

    def __init__(self, game: Game, agent: str | Agent, seed: int = 0) -> None:
        super().__init__()
        self.game, self.agent = game, make(agent, game)
        self.rngs, self.turns = agent_seeds(seed, 1), Turns()

    def step(self, state: SpielState) -> int:
        action = int(ask(self.agent, self.game, state.moment.states.copy(), self.rngs, turns=self.turns)[0])
        if action == GIVES_UP:
            raise Error(f"the agent {self.agent} gives up in {state.position.view!r}")
        return action

    def restart(self) -> None: ...

    def restart_at(self, state: SpielState) -> None: ...

    def inform_action(self, state: SpielState, player: int, action: int) -> None: ...


class SpielAgent:
    """A bot of OpenSpiel as an agent. `make_bot(game, seed)` makes a bot for a move, in `game` as OpenSpiel sees it."""

    def __init__(self, game: Game, make_bot: Callable[[Any, int], Any], name: str = "openspiel") -> None:
        self.game, self.make_bot, self.name = game, make_bot, name
        self.spiel_game = as_spiel_game(game)

    __repr__ = agent_repr

    def __str__(self) -> str:
        return self.name

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """[N] an action for each state, one after the other: a bot sees one game."""
        actions, acting, limits = np.empty(len(states), np.int32), np.empty(len(states), np.int32), np.full(1, 2**31)
        self.game.kernels().seats_to_act(states, acting)
        for row in range(len(states)):
            one, rng = states[row : row + 1].copy(), rngs[row : row + 1]
            seed = int(draw(rng, limits)[0])  # advances the row's own generator
            drawn = seeds(seed, 1)
            if self.game.rules.hidden:  # what the seat cannot see is drawn anew
                self.game.kernels().determinize_all(one, acting[row : row + 1], drawn)
            actions[row] = self.make_bot(self.spiel_game, seed).step(self.spiel_game.state_of(one, drawn))
        return actions


def mcts(game: Game, simulations: int = 100, exploration: float = 2.0, rollouts: int = 1) -> SpielAgent:
    """OpenSpiel's Monte Carlo tree search with random rollouts."""
    from open_spiel.python.algorithms.mcts import MCTSBot, RandomRolloutEvaluator

    def make_bot(spiel_game: Any, seed: int) -> Any:
        numbers = np.random.RandomState(seed)
        evaluator = RandomRolloutEvaluator(rollouts, numbers)
        return MCTSBot(spiel_game, exploration, simulations, evaluator, random_state=numbers)

    return SpielAgent(game, make_bot, f"openspiel-mcts:sims={simulations}")
