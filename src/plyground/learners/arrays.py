"""The few things in which arrays on the CPU and tensors on the GPU differ for a learner. What it draws and stores there
stays there; all else it says in operators that both understand."""

# torch's own types are incomplete:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from plyground.backend.device import CUDA, TORCH_TYPES, array, launch
from plyground.backend.games import on_gpu
from plyground.errors import InvalidValue
from plyground.game import Game
from plyground.kernels.cache import load_kernels


class OnCpu:
    """numpy's arrays; states are records. Chance comes from the learner's own generator."""

    def __init__(self, game: Game, rng: np.random.Generator, device: torch.device | str = "cpu") -> None:
        self.game, self.rng, self.device = game, rng, device  # where the network is

    def tensor(self, values: Any) -> Tensor:
        """For the network."""
        return torch.from_numpy(values).to(self.device)

    def array(self, tensor: Tensor) -> Any:
        """From the network."""
        return tensor.cpu().numpy()

    def numpy(self, values: Any) -> Any:
        """For people and for the disk."""
        return values

    def single(self, values: Any) -> Any:
        """In single precision."""
        return values.astype(np.float32)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.zeros(shape, dtype)

    def from_numpy(self, values: Any) -> Any:
        return values

    def stored(self, values: Any, like: Any) -> Any:
        """What `numpy` gave, back from the disk, where records are bytes."""
        return np.ascontiguousarray(values).view(like.dtype) if like.dtype.names else values

    def whole(self, numbers: list[Any]) -> list[int]:
        return [int(number) for number in numbers]

    def any(self, flags: Any) -> bool:
        return bool(flags.any())

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        return np.where(condition, one, other)

    def linspace(self, first: float, last: float, n: int) -> Any:
        return np.linspace(first, last, n)

    # ---- chance ----

    def random(self, n: int) -> Any:
        """[N] in 0 to 1."""
        return self.rng.random(n)

    def single_random(self, n: int) -> Any:
        """The same in single precision."""
        return self.rng.random(n, np.float32)

    def gumbel(self, shape: tuple[int, ...]) -> Any:
        return self.rng.gumbel(size=shape)

    def integers(self, below: int, n: int) -> Any:
        """[N] int32 in 0 to `below` - 1."""
        return self.rng.integers(0, below, n, np.int32)

    def permutation(self, n: int) -> Any:
        return self.rng.permutation(n)

    # ---- states ----

    def heads(self, states: Any) -> Any:
        return self.game.heads(states)

    def field(self, states: Any, name: str) -> Any:
        return states[name]

    def records(self, states: Any, wanted: Any) -> Any:
        """Some of the states, as records."""
        return states[wanted]

    def transform(self, states: Any, symmetries: Any) -> None:
        """Make each state [N] one of its images."""
        self.game.kernels().transform_all(states, symmetries)

    def run(self, template: str, name: str, subject: str, rows: int, *arguments: Any) -> None:
        """A kernel that belongs to no game, over so many rows."""
        getattr(load_kernels(template, {}, subject), name)(*arguments)

    def places(self, flags: Any) -> Any:
        """Where flags of any shape are set, counted through."""
        return np.flatnonzero(flags)

    def evaluate(self, states: Any) -> Any:
        """[N] the game's own judgement of states, for the side to move."""
        values = np.empty(len(states), np.float32)
        self.judge("evaluate").evaluate_all(states, values)
        return values

    def judge(self, template: str) -> Any:
        if "evaluate" not in self.game.rules.compiled:
            raise InvalidValue(f"shaping needs a game that defines `evaluate`; {self.game} does not")
        return self.game.kernels(template)


class OnGpu(OnCpu):
    """torch's tensors on the GPU; states are rows of bytes. Chance comes from a generator there, which the learner's
    own seeds anew for each draw, so that nothing of it needs to be saved."""

    def __init__(self, game: Game, rng: np.random.Generator, device: torch.device | str = "cuda") -> None:
        super().__init__(game, rng, device)
        self.gpu = on_gpu(game)
        self.generator = torch.Generator(CUDA)

    def tensor(self, values: Any) -> Tensor:
        return values

    def array(self, tensor: Tensor) -> Any:
        return tensor

    def numpy(self, values: Tensor) -> Any:
        return values.cpu().numpy()

    def single(self, values: Any) -> Any:
        return values.float()

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        record = np.dtype(dtype)
        if record.names:
            return torch.zeros((*shape, record.itemsize), dtype=torch.uint8, device=CUDA)
        return torch.zeros(shape, dtype=TORCH_TYPES[record], device=CUDA)

    def from_numpy(self, values: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(CUDA)

    def stored(self, values: Any, like: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(values)).reshape(-1, *like.shape[1:])  # goes over when it is used

    def whole(self, numbers: list[Any]) -> list[int]:
        return torch.stack(numbers).tolist()

    def any(self, flags: Any) -> bool:
        return True  # to ask would mean to wait

    def where(self, condition: Any, one: Any, other: Any) -> Any:
        return torch.where(condition, _double(one), _double(other))

    def linspace(self, first: float, last: float, n: int) -> Any:
        return torch.linspace(first, last, n, dtype=torch.float64, device=CUDA)

    def random(self, n: int) -> Any:
        return torch.rand(n, generator=self._seeded(), device=CUDA)

    def gumbel(self, shape: tuple[int, ...]) -> Any:
        waited = torch.empty(shape, device=CUDA).exponential_(generator=self._seeded())
        return -torch.log(waited)

    def single_random(self, n: int) -> Any:
        return self.random(n)

    def permutation(self, n: int) -> Any:
        return torch.randperm(n, generator=self._seeded(), device=CUDA)

    def integers(self, below: int, n: int) -> Any:
        return torch.randint(below, (n,), generator=self._seeded(), device=CUDA, dtype=torch.int32)

    def _seeded(self) -> torch.Generator:
        return self.generator.manual_seed(int(self.rng.integers(1 << 62)))

    def heads(self, states: Any) -> Any:
        return self.gpu.heads(states)

    def field(self, states: Any, name: str) -> Any:
        return self.gpu.field(states, name)

    def records(self, states: Any, wanted: Any) -> Any:
        return self.gpu.to_cpu(states[wanted])

    def transform(self, states: Any, symmetries: Any) -> None:
        launch(self.gpu.kernels.transform_all, len(states), self.gpu.records(states), array(symmetries))

    def run(self, template: str, name: str, subject: str, rows: int, *arguments: Any) -> None:
        kernel = getattr(load_kernels(f"cuda_{template}", {}, subject), name)
        launch(kernel, rows, *(array(each) if isinstance(each, Tensor) else each for each in arguments))

    def places(self, flags: Any) -> Any:
        return flags.flatten().nonzero()[:, 0]

    def evaluate(self, states: Any) -> Any:
        values = torch.empty(len(states), device=CUDA)
        kernel = self.judge("cuda_evaluate").evaluate_all
        launch(kernel, len(states), self.gpu.records(states), array(values))
        return values


def _double(value: Any) -> Any:
    """A float as numpy takes it."""
    return torch.full((), value, dtype=torch.float64, device=CUDA) if isinstance(value, float) else value
