"""What the adapters to Gymnasium and PettingZoo share: spaces, masks, actions and pictures of any game.

An encoder that turns the board for a seat turns the actions too. So the actions of an environment are numbered as its
encoder shows them: the number that a network with this encoder gives an action, for each seat.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.errors import InvalidValue, install
from plyground.game import Game
from plyground.position import Position

try:
    from gymnasium import spaces
except ModuleNotFoundError:
    raise InvalidValue(f"Gymnasium is not installed; {install('gymnasium')}") from None

VERSION = 1  # of the environments' identifiers: it grows when observations or actions change
RENDER_MODES = ["ansi", "rgb_array"]
PICTURE = 6.0, 6.6  # inches; the status line lies below the board


class EncodedGame:
    """A game as one of its encoders shows it, as numpy arrays."""

    def __init__(self, game: Game, encoder: str = "") -> None:
        self.game, self.encoder = game, game.encoder(encoder)
        self.name = str(self.encoder)
        self.kernels, self._encode_for = game.kernels(), game.encode_kernels(self.encoder).encode_for
        self.seats = int(game.settings.get("seats", game.rules.SEATS))
        slots = game.slots(self.name)  # [SEATS, A] the number of each action
        self._slots = slots if (slots != np.arange(game.num_actions)).any() else None
        self._actions = np.argsort(slots, axis=1).astype(np.int32)  # [SEATS, A] the action of each number

    def __deepcopy__(self, memo: Any) -> EncodedGame:
        """Itself: it never changes. So a planner can copy an environment."""
        return self

    def observation_space(self) -> spaces.Box:
        """Of one observation, with the bounds that the encoder states, or those of its number type."""
        dtype: Any = self.encoder.dtype
        low, high = self.encoder.bounds
        if np.issubdtype(dtype, np.integer):
            low, high = max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max)
        shape = self.encoder.shape
        return spaces.Box(np.full(shape, low, dtype), np.full(shape, high, dtype), dtype=dtype)

    def action_space(self) -> spaces.Discrete:
        return spaces.Discrete(self.game.num_actions)

    def mask_space(self) -> spaces.Box:
        return spaces.Box(0, 1, (self.game.num_actions,), np.int8)

    def observe(
        self, states: NDArray[np.void], seats: NDArray[np.int32] | None = None, threads: int = 1
    ) -> NDArray[Any]:
        """[N, *shape] what the seat to act in each of `states` [N], or that of `seats` [N], sees."""
        if seats is None:
            return self.game.encode(self.name, states, threads=threads)
        seen = np.empty((len(states), *self.encoder.shape), self.encoder.dtype)
        self._encode_for(states, seats, seen.reshape(len(states), -1))
        return seen

    def legal_mask(self, states: NDArray[np.void], threads: int = 1) -> NDArray[np.int8]:
        """[N, A] 1 where the action of that number is legal; int8, as `Discrete.sample` takes it."""
        if self._slots is None:
            return self.game.legal_mask(states, threads=threads).view(np.int8)
        masks = np.zeros((len(states), self.game.num_actions), np.bool_)
        self.kernels.mask_outputs(states, masks, self._slots, self.game.work())
        return masks.view(np.int8)

    def actions(self, states: NDArray[np.void], numbers: NDArray[Any]) -> NDArray[Any]:
        """[N] the game's own actions of these numbers [N]; numbers outside of the action space are left as they are."""
        if self._slots is None:
            return numbers
        inside = (numbers >= 0) & (numbers < self.game.num_actions)
        found = self._actions[self.seats_to_act(states), np.where(inside, numbers, 0)]
        return np.where(inside, found, numbers)

    def action(self, seat: int, number: int) -> int:
        """The game's own action of a number that lies in the action space, for a seat."""
        return int(self._actions[seat, number])

    def numbers(self, states: NDArray[np.void], actions: NDArray[Any]) -> NDArray[Any]:
        """[N] the numbers of the game's own actions [N]."""
        return actions if self._slots is None else self._slots[self.seats_to_act(states), actions]

    def seats_to_act(self, states: NDArray[np.void]) -> NDArray[np.int32]:
        """[N] the seat that acts in each of `states` [N]."""
        seats = np.empty(len(states), np.int32)
        self.kernels.seats_to_act(states, seats)
        return seats


def check_action(action: Any, encoded: EncodedGame) -> int:
    """The number of an action; refuses what is none. Whether it is legal is another question."""
    count = encoded.game.num_actions
    if not isinstance(action, int | np.integer) or isinstance(action, bool) or not 0 <= action < count:
        raise InvalidValue(f"an action of {encoded.game} is a whole number of 0 to {count - 1}, not {action!r}")
    return int(action)  # pyright: ignore[reportUnknownArgumentType]


def render(position: Position, mode: str | None, seat: int | None = None) -> str | NDArray[np.uint8]:
    """A position as a seat sees it, by default the one that acts: the text of `ansi`, or [height, width, 3] of
    `rgb_array`."""
    seat = position.seat if seat is None else seat
    if mode == "ansi":
        return position.game.rules.observe(position.state, seat)
    if mode != "rgb_array":
        raise InvalidValue(f"render_mode is one of {', '.join(RENDER_MODES)}, not {mode!r}")
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from plyground.report.figures import new_figure
        from plyground.report.pictures import draw_scene
    except ModuleNotFoundError as error:
        raise InvalidValue(f"pictures need {error.name}, which is not installed; {install('learn')}") from None
    figure = new_figure(*PICTURE)
    draw_scene(figure.add_subplot(), position.scene(seat))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.array(canvas.buffer_rgba())[..., :3]
