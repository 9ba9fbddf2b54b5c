"""Whether there is a GPU to use, and how a kernel gets to it: torch owns the memory, numba's kernels work in it.

With NUMBA_ENABLE_CUDASIM=1 numba plays the GPU itself, slowly, in the memory of the CPU: for tests.
"""

# numba-cuda has no types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import functools
import importlib.util
import math
from collections.abc import Generator
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import DTypeLike
from torch import Tensor

from plyground.errors import InvalidValue, install, shorten
from plyground.games.bits import popcount

SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # pyright: ignore
CUDA = torch.device("cpu" if SIMULATED else "cuda")  # where tensors lie
BLOCK = 2 if SIMULATED else 64  # threads of a block; more are slower where a thread needs many registers
MOST_THREADS = 4 if SIMULATED else 1 << 20  # more rows than that: a thread takes several
INSTALL = install("gpu")
NUMPY_TYPES = {
    torch.uint8: np.uint8,
    torch.int8: np.int8,
    torch.bool: np.bool_,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
    torch.uint16: np.uint16,
    torch.uint32: np.uint32,
    torch.uint64: np.uint64,
    torch.float32: np.float32,
    torch.float64: np.float64,
}
TORCH_TYPES: dict[np.dtype[Any], torch.dtype] = {np.dtype(value): key for key, value in NUMPY_TYPES.items()}


# ---- what is there ----


def problem() -> str:
    """Why no GPU can be used, in one sentence; empty where one can."""
    if SIMULATED:
        return ""
    if torch.version.cuda is None:
        return (
            f"this PyTorch ({torch.__version__}) was built without CUDA; put one with CUDA in its place, then {INSTALL}"
        )
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:  # no driver, too old a driver, no GPU: torch says which
        return f"CUDA does not start: {shorten(str(error).strip().splitlines()[0], 200)}"
    if importlib.util.find_spec("numba_cuda") is None:
        return f"the rules cannot be compiled for the GPU without numba-cuda; {INSTALL}"
    return _numba_problem()


@functools.cache
def _numba_problem() -> str:
    try:
        from numba import cuda
        from numba.cuda.core import config  # pyright: ignore[reportMissingImports]

        config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # small batches are allowed
        count_bits_by_instruction()
        probe = torch.zeros(1, dtype=torch.int32, device=CUDA)
        counting: Any = cuda.jit(_count_up)
        counting[1, 1](array(probe))  # compiled, linked and run: what is too old says so now
        if int(probe.item()) != 1:
            return "numba-cuda's kernels do nothing here"
    except Exception as error:  # its own errors, the linker's, the driver's: whatever keeps it from starting
        return f"numba-cuda does not start: {shorten(' '.join(str(error).split()), 200)}"
    return ""


def _count_up(numbers: Any) -> None:
    numbers[0] += 1


def count_bits_by_instruction() -> None:
    """Let `popcount` be the GPU's own instruction: unlike the CPU's, its compiler does not see that in our shifts.

    numba-cuda keeps the device's form of a function beside it, under this name. Should it look elsewhere one day, the
    shifts do as well.
    """
    from numba import cuda

    popcount._CUDATypingContext__dispatcher = cuda.jit(device=True)(lambda x: np.int64(cuda.popc(x)))  # pyright: ignore


def require() -> None:
    """Refuse where there is no GPU to use."""
    reason = problem()
    if reason:
        raise InvalidValue(f"no GPU can be used: {reason}")


def choose(word: str) -> tuple[str, str]:
    """The device that `cpu`, `cuda` or `auto` means here, and what a person is told about the choice, if anything."""
    if word not in ("cpu", "cuda", "auto"):
        raise InvalidValue(f"no device {shorten(word)!r}; known: cpu, cuda, auto")
    if word == "cpu":
        return "cpu", ""
    if word == "cuda":
        require()
    reason = problem()
    return ("cpu", f"device: cpu ({reason})") if reason else ("cuda", f"device: cuda ({name()})")


def name() -> str:
    return "simulated" if SIMULATED else torch.cuda.get_device_name()


def free_memory() -> tuple[int, int]:
    """Bytes that are free on the GPU (what torch holds and does not use included), and all it has."""
    if SIMULATED:
        return 1 << 32, 1 << 32
    free, total = torch.cuda.mem_get_info()
    return free + torch.cuda.memory_reserved() - torch.cuda.memory_allocated(), total


def check_room(needed: int, what: str, advice: str) -> None:
    """Refuse what does not fit, before anything is begun."""
    free, total = free_memory()
    if needed > free:
        sizes = f"{needed / 1e9:.3g} GB on the GPU, where {free / 1e9:.3g} of {total / 1e9:.3g} GB are free"
        raise InvalidValue(f"{what} needs {sizes}: {advice}")


# ---- kernels ----


def launch(kernel: Any, rows: int, *arguments: Any, threads: int = MOST_THREADS) -> None:
    """Run a kernel over rows: on as many threads, up to `threads`."""
    blocks = -(-min(rows, threads) // BLOCK)
    launch_blocks(kernel, blocks, BLOCK, 0, *arguments)


def launch_blocks(kernel: Any, blocks: int, threads: int, shared: int, *arguments: Any) -> None:
    """Run a kernel on blocks of threads that share some bytes of memory, in torch's current stream."""
    if not blocks:
        return
    try:
        kernel[blocks, threads, _wrapped_stream(stream()), shared](*arguments)
    except Exception as error:  # threads need memory of their own, which the driver takes at a launch
        if "OUT_OF_MEMORY" not in str(error):
            raise
        raise InvalidValue(f"{_fullness()}; a kernel found no room for its threads: use fewer rows at once") from error


def stream() -> int:
    """The stream that torch works in now."""
    return 0 if SIMULATED else torch.cuda.current_stream().cuda_stream


@functools.lru_cache(64)
def _wrapped_stream(pointer: int) -> Any:
    from numba import cuda

    return cuda.external_stream(pointer) if pointer else 0


def array(tensor: Tensor) -> Any:
    """A tensor as kernels read it: the same memory."""
    return _array(tensor, tuple(tensor.shape), NUMPY_TYPES[tensor.dtype])


def records(tensor: Tensor, dtype: np.dtype[np.void]) -> Any:
    """[N] records that lie in a tensor [N, bytes]."""
    return _array(tensor, (len(tensor),), dtype)


def words(tensor: Tensor, alignment: int) -> Any:
    """[N, bytes / alignment] the same as whole numbers of that many bytes."""
    assert tensor.shape[1] % alignment == 0
    return _array(tensor, (len(tensor), tensor.shape[1] // alignment), np.dtype(f"u{alignment}"))


def words_in(tensor: Tensor) -> Any:
    """The whole words of eight bytes in a tensor."""
    return _array(tensor, (tensor.nbytes // 8,), np.uint64)


def _array(tensor: Tensor, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    assert tensor.is_contiguous()
    if SIMULATED:
        from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray

        memory = tensor.numpy().reshape(-1).view(np.uint8)[: math.prod(shape) * np.dtype(dtype).itemsize]
        return FakeCUDAArray(memory.view(dtype).reshape(shape))
    return _wrapped_array(tensor.data_ptr(), shape, np.dtype(dtype))


@functools.lru_cache(4096)  # wrapping costs more than many a kernel, and the allocator hands out the same places again
def _wrapped_array(pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    from numba import cuda

    described = {"shape": shape, "strides": None, "typestr": dtype, "data": (pointer, False), "version": 3}
    return cuda.from_cuda_array_interface(described, sync=False)


def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """New memory on the GPU, not yet filled."""
    size = math.prod(shape) * dtype.itemsize / 1e9
    with said_when_full(f"an array of {shape} needs {size:.3g} GB: use fewer rows at once"):
        return torch.empty(shape, dtype=dtype, device=CUDA)


@contextlib.contextmanager
def said_when_full(advice: str) -> Generator[None]:
    """Torch's page about a GPU without room, as one sentence."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise InvalidValue(f"{_fullness()}; {advice}") from error


def _fullness() -> str:
    free, total = free_memory()
    return f"the GPU is full, {free / 1e9:.3g} of {total / 1e9:.3g} GB are free"
