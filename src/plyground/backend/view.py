"""`View`: what a network sees of a game, and which of its outputs stands for which action."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from plyground.backend.clock import timed
from plyground.backend.games import on_device
from plyground.errors import InvalidValue
from plyground.game import Game


class View:
    """An encoder and a mapping between actions and the outputs of a network, on one device.

    A network may have fewer outputs than there are actions; it never plays the others. An encoder that turns the board
    for a seat turns the actions too. States are rows of bytes on the view's device; `rows` makes them of records.
    """

    def __init__(self, game: Game, encoder: str, outputs: int = 0, device: str = "cpu") -> None:
        self.game, self.encoder, self.device_name = game, game.encoder(encoder), device
        self.on = on_device(game, device)
        self.device = self.on.device
        self.outputs = outputs or game.num_actions
        if not 1 <= self.outputs <= game.num_actions:
            raise InvalidValue(f"a network for {game} has 1 to {game.num_actions} outputs, not {outputs}")
        self.observed = self.encoder.dense or str(self.encoder)
        self.shape = game.encoder(self.observed).shape
        self.parts = self.encoder.parts() if self.encoder.parts else None  # [A, 3]: see `Encoder`
        slots = game.slots(str(self.encoder))  # [SEATS, A] the output for each action
        self.turned = bool((slots != np.arange(game.num_actions)).any())
        self._slots = torch.from_numpy(slots).to(self.device)
        self._actions = torch.from_numpy(np.argsort(slots, axis=1).astype(np.int32)).to(self.device)

    @property
    def action_outputs(self) -> Tensor:
        """[SEATS, A] int32 the output that stands for an action, as each seat sees the board."""
        return self._slots

    def rows(self, records: NDArray[np.void]) -> Tensor:
        """[N, bytes] records on the view's device: on the CPU the same memory, on a GPU a copy of their heads."""
        if self.device_name == "cpu" and records.flags.c_contiguous and records.flags.writeable:
            return torch.from_numpy(records.view(np.uint8).reshape(len(records), records.dtype.itemsize))
        return self.on.from_records(self.game.heads(records))

    @timed("encoding")
    def observe(self, states: Tensor) -> Tensor:
        """[N, *shape] float32 observations; of an index encoder, the dense ones that its tokens stand for."""
        return self.on.encode(self.observed, states, dtype=torch.float32)

    def legal(self, states: Tensor) -> Tensor:
        """[N, outputs] bool which outputs stand for legal actions."""
        if self.turned:
            return self.on.legal_outputs(states, self._slots, self.outputs)
        return self.on.legal_mask(states)[:, : self.outputs]

    def output_of(self, states: Tensor, actions: Tensor) -> Tensor:
        """[N] int64 the outputs that stand for actions [N]; `outputs` or more where the network has none."""
        return (self._slots[self.on.seats(states), actions] if self.turned else actions).long()

    def action_of(self, states: Tensor, outputs: Tensor) -> Tensor:
        """[N] int32 the actions that outputs [N] stand for."""
        return (self._actions[self.on.seats(states), outputs] if self.turned else outputs).int()
