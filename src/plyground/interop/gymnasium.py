"""Any game as Gymnasium environments. Needs the extra `gymnasium`.

    GameEnv("chess", opponent="greedy")            one game; an agent of ours is the opponent, a part of the environment
    GameVectorEnv("chess", num_envs=4096)          many games at once over `Batch`; the caller plays both sides
    GameVectorEnv("chess", 4096, opponent="greedy")                               ... or one side in each game

Observations are those of an encoder; `info["action_mask"]` says which actions are legal, and `GameEnv.action_masks()`
is what Stable-Baselines3-contrib's `MaskablePPO` asks for. The reward at the end of a game is +1, 0 or -1. Importing
this file registers the built-in games (`plyground/chess-v1`), and `plyground/game-v1` with `game="my_game.py"`;
`gymnasium.make("plyground.interop.gymnasium:plyground/chess-v1")` imports it too.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import copy
import os
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plyground.agents.agent import GIVES_UP, Agent, ask, tell
from plyground.agents.registry import make
from plyground.agents.turns import Turns
from plyground.batch import Batch, Step, check_sizes
from plyground.errors import Error, IllegalAction, InvalidValue, install
from plyground.game import Game, load
from plyground.games import GAMES
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.rng import draw, seeds
from plyground.kernels.threads import available
from plyground.position import Position

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    raise InvalidValue(f"Gymnasium is not installed; {install('gymnasium')}") from None

from plyground.interop.spaces import RENDER_MODES, VERSION, EncodedGame, check_action, render

GameName = str | os.PathLike[str] | Game
Side = Literal["first", "second", "both"]
Rows = NDArray[np.intp]
MOST_BEGINNINGS = 100  # games in a row that may be over before the caller acts
SIDES: dict[str, tuple[int, ...]] = {"first": (0,), "second": (1,), "both": (0, 1)}


# ---- the games behind both environments ----


class BothSides(Batch):
    """A batch in which the caller plays both sides: a reward is for the side that acted."""

    def reset(self, seed: int | None = None) -> None:
        if seed is not None:
            self.rngs[:] = seeds(seed, len(self))
        super().reset()

    def final_seats(self, rows: Rows) -> NDArray[np.int32] | None:
        """Who sees the final states of some rows; None: the seat that would act."""


class AgainstAgent:
    """Games in which the caller plays one side and an agent the other: its replies are part of a step."""

    def __init__(self, game: Game, n: int, opponent: str | Agent, side: Side, max_plies: int | None) -> None:
        check_sizes(n, max_plies, None)
        if side not in SIDES:
            raise InvalidValue(f"side is one of {', '.join(SIDES)}, not {side!r}")
        self.game, self.max_plies, self.choices = game, max_plies or game.rules.MAX_PLIES, SIDES[side]
        self.opponent = make(opponent, game)
        self.states = np.zeros(n, game.rules.STATE)  # [N] those that the next actions are for
        self.next_states = np.zeros(n, game.rules.HEAD)  # [N] where the last actions led; of a game that ended the end
        self.sides, self.plies = np.zeros(n, np.int8), np.zeros(n, np.int32)  # [N] the caller's sides; plies played
        self._next_sides = self.sides.copy()  # [N] the sides in `next_states`
        self._seed(0)
        self.turns = Turns()  # those that the opponent is in, by row
        self._kernels, self._work, self._all = game.kernels(), game.work(), np.arange(n)
        self._words = self._in_words(self.states)  # [N, W] the same memory, faster to index

    def __deepcopy__(self, memo: Any) -> AgainstAgent:
        """A copy of the games against the same agent."""
        other = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(other, name, value.copy())
        other.turns = dict(self.turns)
        other._words = self._in_words(other.states)
        return other

    def reset(self, seed: int | None = None) -> None:
        if seed is not None:
            self._seed(seed)
        self.begin(self._all)

    def _seed(self, seed: int) -> None:
        n = len(self.states)
        self.rngs, self.agent_rngs = seeds(seed, n), self.game.agent_rngs(seed, n)  # [N] each
        self.side_rngs = seeds(seed + 2, n)  # [N]

    def begin(self, rows: Rows) -> None:
        """New games in these rows, up to the caller's first turn."""
        for _ in range(MOST_BEGINNINGS):
            if not len(rows):
                return
            states, rngs, choice = self._taken(rows), self.rngs[rows], self.side_rngs[rows]  # copies
            self._kernels.reset_all(states, self.game.blank, rngs)
            picked = draw(choice, np.full(len(rows), len(self.choices)))
            self._put(rows, states, rngs)
            self.side_rngs[rows] = choice
            self.sides[rows], self.plies[rows] = np.array(self.choices)[picked], 0
            self._reply(rows)
            rows = rows[self._over(rows)]  # the agent ended the game alone: begin another
        why = f"{MOST_BEGINNINGS} games of {self.game} in a row were over before the caller's first turn"
        raise InvalidValue(f"{why}: the agent {self.opponent} gives up, or max_plies is too small")

    def step(self, actions: NDArray[Any]) -> Step:
        """The caller's actions, the agent's replies, and new games where one has ended."""
        step = self.play(actions)
        ended = np.flatnonzero(step.terminated | step.truncated)
        self.next_states[:], self._next_sides = self.game.heads(self.states), self.sides.copy()
        self.begin(ended)
        return step

    def play(self, actions: NDArray[Any]) -> Step:
        """The same without new games."""
        chosen = np.ascontiguousarray(actions, np.int32)
        self._check(self.states, chosen)
        self._kernels.play_all(self.states, chosen, self.rngs, self._work)
        self.plies += 1
        self._reply(self._all)
        outcome = self.states["outcome"].astype(np.int32)
        won, terminated = outcome == FIRST_WINS + self.sides, outcome != RUNNING
        rewards = np.where(won, 1.0, np.where(outcome <= DRAW, 0.0, -1.0)).astype(np.float32)
        tell(self.opponent, self._all[terminated], self.states["outcome"][terminated])
        return Step(rewards, terminated, ~terminated & (self.plies >= self.max_plies))

    def final_seats(self, rows: Rows) -> NDArray[np.int32] | None:
        return self._next_sides[rows].astype(np.int32)  # a side's first seat has its number

    def _over(self, rows: Rows) -> NDArray[np.bool_]:
        return (self.states["outcome"][rows] != RUNNING) | (self.plies[rows] >= self.max_plies)

    def _reply(self, rows: Rows) -> None:
        """Let the agent play in these rows until the caller is to act."""
        while True:
            rows = rows[~self._over(rows) & (self.states["to_move"][rows] != self.sides[rows])]
            if not len(rows):
                return
            states, own = self._taken(rows), self.agent_rngs[rows]  # copies
            actions = np.ascontiguousarray(ask(self.opponent, self.game, states, own, rows, self.turns), np.int32)
            self.agent_rngs[rows] = own
            given_up = actions == GIVES_UP
            if given_up.any():
                lost = rows[given_up]
                self.states["outcome"][lost] = FIRST_WINS + 1 - self.states["to_move"][lost]
                rows, states, actions = rows[~given_up], states[~given_up], actions[~given_up]
            self._check(states, actions, f"the agent {self.opponent} chose an illegal action: ")
            rngs = self.rngs[rows]
            self._kernels.play_all(states, actions, rngs, self._work)
            self._put(rows, states, rngs)
            self.plies[rows] += 1

    def _in_words(self, states: NDArray[np.void]) -> NDArray[Any]:
        """[N, W] the same memory."""
        return self.game.arrays.words(states, self.game.rules.STATE.alignment)

    def _taken(self, rows: Rows) -> NDArray[np.void]:
        """[R] copies of the states of some rows."""
        return self._words[rows].view(self.game.rules.STATE).reshape(-1)

    def _put(self, rows: Rows, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> None:
        self._words[rows], self.rngs[rows] = self._in_words(states), rngs

    def _check(self, states: NDArray[np.void], actions: NDArray[np.int32], whose: str = "") -> None:
        bad = self.game.first_illegal(states, actions)
        if bad >= 0:
            refusal = Position(self.game, states[bad : bad + 1]).refusal(int(actions[bad]))
            raise Error(f"{whose}{refusal}") if whose else IllegalAction(f"row {bad}: {refusal}")


# ---- one game ----


class GameEnv(gymnasium.Env[NDArray[Any], np.int64]):
    """One game after another against an agent. An illegal action loses the game."""

    metadata = {"render_modes": RENDER_MODES, "render_fps": 2}  # noqa: RUF012 (Gymnasium's name)

    def __init__(
        self,
        game: GameName,
        opponent: str | Agent = "random",
        *,
        side: Side = "both",
        encoder: str = "",
        max_plies: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """The caller plays `side`; with `both`, each game's side is drawn."""
        self.game = load(game)
        self.encoded, self.render_mode = EncodedGame(self.game, encoder), render_mode
        self._games = AgainstAgent(self.game, 1, opponent, side, max_plies)
        self.observation_space = self.encoded.observation_space()
        self.action_space = self.encoded.action_space()
        self._seeded, self._running = False, False

    @property
    def position(self) -> Position:
        """The present position, a copy."""
        return Position(self.game, self._games.states, rngs=self._games.rngs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin a new game; `options` are not used."""
        super().reset(seed=seed)
        new = seed is not None or not self._seeded
        self._games.reset(int(self.np_random.integers(2**62)) if new else None)
        self._seeded = self._running = True
        return self._seen()

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Play an action, and the opponent's replies."""
        if not self._running:
            raise InvalidValue(f"no game of {self.game} is running: call reset()")
        check_action(action, self.encoded)
        if not self.encoded.legal_mask(self._games.states)[0, action]:
            self._running = False
            observation, info = self._seen()
            return observation, -1.0, True, False, info
        step = self._games.play(self.encoded.actions(self._games.states, np.array([action])))
        terminated, truncated = bool(step.terminated[0]), bool(step.truncated[0])
        self._running = not (terminated or truncated)
        observation, info = self._seen()
        return observation, float(step.rewards[0]), terminated, truncated, info

    def _seen(self) -> tuple[NDArray[Any], dict[str, Any]]:
        """The caller's observation; at the end that of its side's first seat."""
        states = self._games.states
        seats = self.encoded.seats_to_act(states) if self._running else self._games.sides.astype(np.int32)
        mask = self.encoded.legal_mask(states)[0]
        info = {"action_mask": mask if self._running else np.zeros_like(mask), "side": int(self._games.sides[0])}
        return self.encoded.observe(states, seats)[0], info

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] which actions are legal, by the name that `MaskablePPO` looks for."""
        return self.encoded.legal_mask(self._games.states)[0].view(np.bool_)

    def render(self) -> Any:
        """The position as the caller sees it: a text (`ansi`) or an array of pixels (`rgb_array`)."""
        return render(self.position, self.render_mode, None if self._running else int(self._games.sides[0]))


# ---- many games ----


class GameVectorEnv(VectorEnv[NDArray[Any], NDArray[Any], NDArray[Any]]):
    """Many games at once. A new game begins in the step in which one ends (`AutoresetMode.SAME_STEP`).

    Without an opponent the caller plays both sides: an observation is for the seat to act, `info["to_move"]` [N] is its
    side, and a reward is for the side that acted. With one, the caller plays `side` (`both`: drawn for each game).
    `info["action_mask"]` [N, A] belongs to the observations; where a game ended, `info["_final_obs"]` [N] is true and
    `info["final_obs"]` has the last observation. An illegal action is an error that names the row.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}  # noqa: RUF012 (Gymnasium's name)

    def __init__(
        self,
        game: GameName,
        num_envs: int = 1,
        opponent: str | Agent | None = None,
        *,
        side: Side = "both",
        encoder: str = "",
        max_plies: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.game = load(game)
        self.encoded, self.num_envs, self.threads = EncodedGame(self.game, encoder), num_envs, threads or available()
        self._games: BothSides | AgainstAgent
        if opponent is None:
            self._games = BothSides(self.game, num_envs, max_plies=max_plies, threads=threads)
        else:
            self._games = AgainstAgent(self.game, num_envs, opponent, side, max_plies)
        self.single_observation_space = self.encoded.observation_space()
        self.single_action_space = self.encoded.action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._seeded = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin a new game in every row; `options` are not used."""
        super().reset(seed=seed)
        new = seed is not None or not self._seeded
        self._games.reset(int(self.np_random.integers(2**62)) if new else None)
        self._seeded = True
        return self.encoded.observe(self._games.states, threads=self.threads), self._info()

    def step(self, actions: ArrayLike) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play one action [N] in every row."""
        games = self._games
        step = games.step(self.encoded.actions(games.states, self.game.arrays.on.integers(actions, self.num_envs)))
        info, ended = self._info(), step.terminated | step.truncated
        rows = np.flatnonzero(ended)
        if len(rows):
            last = self.encoded.observe(games.next_states[rows], games.final_seats(rows))
            info["final_obs"], info["_final_obs"] = np.full(self.num_envs, None, object), ended
            for row, seen in zip(rows.tolist(), last, strict=True):
                info["final_obs"][row] = seen
        observations = self.encoded.observe(games.states, threads=self.threads)
        return observations, step.rewards, step.terminated, step.truncated, info

    def _info(self) -> dict[str, Any]:
        states = self._games.states
        return {"action_mask": self.encoded.legal_mask(states, self.threads), "to_move": states["to_move"].copy()}


for _name in (*GAMES, "game"):
    if (_identifier := f"plyground/{_name}-v{VERSION}") not in gymnasium.registry:
        gymnasium.register(
            _identifier,
            f"{__name__}:GameEnv",
            vector_entry_point=f"{__name__}:GameVectorEnv",
            kwargs={"game": _name} if _name in GAMES else {},
        )
