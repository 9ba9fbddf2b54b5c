"""Any game as a PettingZoo environment (AEC): `env("chess")`, `env("my_game.py")`. Needs the extra `pettingzoo`.

An agent is a seat, `player_0`, `player_1`, ...; whose turn it is follows the rules, which need not alternate. An
observation holds what its seat may know, `{"observation": ..., "action_mask": ...}`; the mask is also in `infos` and is
all zeros for a seat that is not to act. Rewards come at the end: +1 for each seat of the side that won, -1 for the
others. Importing this file registers the built-in games, so that `pettingzoo.make("aec", "plyground/chess-v1")` works,
and `plyground/game-v1` for the others: `pettingzoo.make("aec", "plyground/game-v1", game="my_game.py")`.
"""

# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.batch import check_sizes
from plyground.errors import InvalidValue, install
from plyground.game import Game, load
from plyground.games import GAMES
from plyground.games.interface import FIRST_WINS, RUNNING, value_for
from plyground.games.rng import seeds
from plyground.position import Position

try:
    import pettingzoo
    from gymnasium import spaces
    from pettingzoo.utils.env_logger import EnvLogger
except ModuleNotFoundError:
    raise InvalidValue(f"PettingZoo is not installed; {install('pettingzoo')}") from None

from plyground.interop.spaces import RENDER_MODES, VERSION, EncodedGame, check_action, render

Observation = dict[str, NDArray[Any]]


class GameEnv(pettingzoo.AECEnv[str, Observation, int]):
    """One game after another. An illegal action loses the game, as with PettingZoo's `TerminateIllegalWrapper`.

    PettingZoo's wrappers are not needed: what they check is checked here, at less than half the time for a ply.
    """

    def __init__(
        self,
        game: str | os.PathLike[str] | Game,
        *,
        encoder: str = "",
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """`encoder` makes the observations (the game's first, unless named); `max_plies` truncates longer games."""
        super().__init__()
        check_sizes(1, max_plies, None)
        self.game = load(game)
        self.encoded = EncodedGame(self.game, encoder)
        self.max_plies, self.render_mode = max_plies or self.game.rules.MAX_PLIES, render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(self.encoded.seats)]
        self.metadata = {
            "render_modes": RENDER_MODES,
            "name": f"{self.game.label}_v{VERSION}",
            "is_parallelizable": False,
        }
        self.action_spaces: dict[str, Any] = {agent: self.encoded.action_space() for agent in self.possible_agents}
        self.observation_spaces: dict[str, Any] = {agent: self._space() for agent in self.possible_agents}
        self._states = np.zeros(1, self.game.rules.STATE)  # [1] the present game
        self._rngs = seeds(int(np.random.SeedSequence().generate_state(1, np.uint64)[0]), 1)
        self._work, self._action = self.game.work(), np.zeros(1, np.int32)
        self.reset()

    def _space(self) -> spaces.Dict:
        return spaces.Dict({"observation": self.encoded.observation_space(), "action_mask": self.encoded.mask_space()})

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    @property
    def position(self) -> Position:
        """The present position, a copy."""
        return Position(self.game, self._states, rngs=self._rngs)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a new game; `options` are not used."""
        if seed is not None:
            self._rngs = seeds(seed, 1)
        self.encoded.kernels.reset_all(self._states, self.game.blank, self._rngs)
        self.plies = 0
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._select()

    def _select(self) -> None:
        """The seat that acts, and the masks of all seats."""
        self._seats = self.encoded.seats_to_act(self._states)  # [1]
        self.agent_selection = self.possible_agents[self._seats[0]]
        self._mask = self.encoded.legal_mask(self._states)[0]  # [A], never given away: it guards compiled code
        self.infos = {agent: {"action_mask": self._mask_of(agent)} for agent in self.agents}

    def observe(self, agent: str) -> Observation:
        """What a seat may know, and its legal actions if it is to act."""
        seats = np.array([self.possible_agents.index(agent)], np.int32)  # [1]
        return {"observation": self.encoded.observe(self._states, seats)[0], "action_mask": self._mask_of(agent)}

    def _mask_of(self, agent: str) -> NDArray[np.int8]:
        """[A] a new array: nothing is legal for a seat that waits."""
        return self._mask.copy() if agent == self.agent_selection else np.zeros_like(self._mask)

    def step(self, action: int | None) -> None:
        """Play the action of the agent whose turn it is; None for one that is done."""
        agent = self.agent_selection
        if not self.agents:
            raise InvalidValue(f"the game of {self.game} is over for all agents: call reset()")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # pyright: ignore[reportArgumentType]
            return
        number = check_action(action, self.encoded)
        self._cumulative_rewards[agent] = 0.0
        if self._mask[number]:
            self._action[0] = self.encoded.action(int(self._seats[0]), number)
            self.encoded.kernels.play_all(self._states, self._action, self._rngs, self._work)
            self.plies += 1
            outcome = int(self._states["outcome"][0])
            if outcome != RUNNING or self.plies >= self.max_plies:
                self._finish(outcome)
            self._select()
        else:
            EnvLogger.warn_on_illegal_move()
            loser = self.possible_agents.index(agent) % 2
            self._finish(FIRST_WINS + 1 - loser)
        self._accumulate_rewards()

    def _finish(self, outcome: int) -> None:
        self.rewards = {agent: value_for(outcome, seat % 2) for seat, agent in enumerate(self.possible_agents)}
        over = outcome != RUNNING
        self.terminations, self.truncations = dict.fromkeys(self.agents, over), dict.fromkeys(self.agents, not over)

    def render(self) -> Any:
        """The position as the seat that acts sees it: a text (`ansi`) or an array of pixels (`rgb_array`)."""
        return render(self.position, self.render_mode)

    def close(self) -> None:
        """There is nothing to close."""


env = GameEnv  # PettingZoo's name for the environment of a module


for _name in (*GAMES, "game"):
    if (_identifier := f"plyground/{_name}-v{VERSION}") not in pettingzoo.aec_registry:
        _given = {"game": _name} if _name in GAMES else {}
        pettingzoo.register("aec", _identifier, f"{__name__}:env", kwargs=_given)
