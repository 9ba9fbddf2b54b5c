"""The devices of torch: which can be used, their memory, and how kernels run on them. Outside `backend/` no file tells
devices apart by name.

Torch owns all memory; numba's kernels read and write it in place. With NUMBA_ENABLE_CUDASIM=1 numba simulates the GPU,
slowly, in the CPU's memory: for tests.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import ctypes
import functools
import importlib.util
import math
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor, nn

from plyground.backend.out_of_memory import explain_out_of_memory
from plyground.backend.runner import Arguments, Numpy
from plyground.errors import InvalidValue, install, shorten
from plyground.games.bits import popcount
from plyground.kernels.cache import load_kernels
from plyground.kernels.numba_internals import allow_small_batches, compiled_for, use_on_gpu, written_in_place

SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # pyright: ignore
TORCH_CUDA = torch.device("cpu" if SIMULATED else "cuda")  # the device of tensors
BLOCK = 2 if SIMULATED else 64  # threads of a block; more are slower where a thread needs many registers
LARGEST_BLOCK = 4 if SIMULATED else 512
MOST_THREADS = 4 if SIMULATED else 1 << 20  # with more rows than that, a thread takes several
MOST_WORK = 0.2  # of the free memory: working memory of threads
INSTALL = install("gpu")
Net = TypeVar("Net", bound=nn.Module)
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
TORCH_TYPES: dict[Any, torch.dtype] = {  # by numpy's type of a number, or of an array
    **{value: key for key, value in NUMPY_TYPES.items()},
    **{np.dtype(value): key for key, value in NUMPY_TYPES.items()},
}


# ---- which devices can be used ----


def problem() -> str:
    """Why no GPU can be used, in one sentence; empty if one can."""
    if SIMULATED:
        return ""
    if torch.version.cuda is None:
        return (
            f"this PyTorch ({torch.__version__}) was built without CUDA; put one with CUDA in its place, then {INSTALL}"
        )
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:  # no driver, an old driver, no GPU: torch's message says which
        return f"CUDA does not start: {shorten(str(error).strip().splitlines()[0], 200)}"
    if importlib.util.find_spec("numba_cuda") is None:
        return f"the rules cannot be compiled for the GPU without numba-cuda; {INSTALL}"
    return _numba_problem()


@functools.cache
def _numba_problem() -> str:
    try:
        from numba import cuda

        allow_small_batches()
        count_bits_by_instruction()
        probe = torch.zeros(1, dtype=torch.int32, device=TORCH_CUDA)
        counting: Any = cuda.jit(_count_up)
        counting[1, 1](_device_array(probe, (1,), np.int32))  # compile, link, run: outdated parts fail here
        if int(probe.item()) != 1:
            return "numba-cuda's kernels do nothing here"
    except Exception as error:  # numba-cuda's, the linker's or the driver's
        return f"numba-cuda does not start: {shorten(' '.join(str(error).split()), 200)}"
    return ""


def _count_up(numbers: Any) -> None:
    numbers[0] += 1


def count_bits_by_instruction() -> None:
    """Compile `popcount` to the GPU's own instruction: unlike the CPU's compiler, CUDA's does not recognise the shifts.
    Where this has no effect, the shifts are compiled and give the same result."""
    from numba import cuda

    use_on_gpu(popcount, cuda.jit(device=True)(lambda x: np.int64(cuda.popc(x))))  # pyright: ignore


def require() -> None:
    """Raise InvalidValue if no GPU can be used."""
    reason = problem()
    if reason:
        raise InvalidValue(f"no GPU can be used: {reason}")


def is_gpu(name: str) -> bool:
    """Whether a device's name is that of a GPU."""
    return name == "cuda"


def on_gpu(network: nn.Module) -> bool:
    """Whether a network's weights are on a GPU."""
    return next(network.parameters()).is_cuda


def choose(spec: str) -> tuple[str, str]:
    """The device that `cpu`, `cuda` or `auto` means here, and the message about the choice; empty for `cpu`."""
    if spec not in ("cpu", "cuda", "auto"):
        raise InvalidValue(f"no device {shorten(spec)!r}; known: cpu, cuda, auto")
    if spec == "cpu":
        return "cpu", ""
    if spec == "cuda":
        require()
    reason = problem()
    return ("cpu", f"device: cpu ({reason})") if reason else ("cuda", f"device: cuda ({name()})")


def name() -> str:
    return "simulated" if SIMULATED else torch.cuda.get_device_name()


def free_memory() -> tuple[int, int]:
    """Free bytes of the GPU (including those that torch has reserved and does not use), and all its bytes."""
    if SIMULATED:
        return 1 << 32, 1 << 32
    free, total = torch.cuda.mem_get_info()
    return free + torch.cuda.memory_reserved() - torch.cuda.memory_allocated(), total


def check_room(needed: int, what: str, advice: str) -> None:
    """Raise InvalidValue if the GPU has fewer free bytes than `needed`."""
    free, total = free_memory()
    if needed > free:
        sizes = f"{needed / 1e9:.3g} GB on the GPU, where {free / 1e9:.3g} of {total / 1e9:.3g} GB are free"
        raise InvalidValue(f"{what} needs {sizes}: {advice}")


def fullness() -> str:
    free, total = free_memory()
    return f"the GPU is full, {free / 1e9:.3g} of {total / 1e9:.3g} GB are free"


# ---- convolutions ----


def mixed_precision(x: Tensor) -> torch.autocast:
    """A context in which convolutions of x compute in bfloat16 on a GPU, in float32 on the CPU."""
    return torch.autocast("cuda", torch.bfloat16, enabled=x.is_cuda)


def convolution_layout(x: Tensor) -> Tensor:
    """[B, channels, rows, columns] as convolutions are fastest: on a GPU with the channels of a cell side by side."""
    return x.contiguous(memory_format=torch.channels_last) if x.is_cuda else x


def convolution_relu(layer: nn.Conv2d, x: Tensor, residual: Tensor | None = None) -> Tensor:
    """relu(residual + layer(x)). With the bfloat16 weights of an inference copy on a GPU it is one fused kernel."""
    if layer.weight.dtype == torch.bfloat16 and x.is_cuda:
        weight, bias, padding = layer.weight, layer.bias, cast(tuple[int, ...], layer.padding)
        if residual is None:
            return torch.cudnn_convolution_relu(x, weight, bias, layer.stride, padding, layer.dilation, layer.groups)
        return torch.cudnn_convolution_add_relu(
            x, weight, residual, 1.0, bias, layer.stride, padding, layer.dilation, layer.groups
        )
    return torch.relu(layer(x) if residual is None else residual + layer(x))


def for_inference(network: Net) -> Net:
    """A GPU's network with bfloat16 weights in the layout that its convolutions are fastest with."""
    return network.bfloat16().to(memory_format=torch.channels_last)  # pyright: ignore[reportCallIssue]


def adam(network: nn.Module, learning_rate: float, weight_decay: float = 0.0) -> torch.optim.Adam:
    """Adam as one fused kernel; on a GPU with its steps and learning rate there, so that graphs can be captured. Weight
    decay is decoupled, and spares biases and normalisation."""
    there = on_gpu(network)
    rate = torch.tensor(learning_rate, device="cuda") if there else learning_rate
    if not weight_decay:
        return torch.optim.Adam(network.parameters(), rate, fused=True, capturable=there)
    decayed, others = ([each for each in network.parameters() if (each.dim() > 1) is many] for many in (True, False))
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, rate, fused=True, capturable=there)


# ---- running kernels ----


class Torch(Numpy):
    """Torch tensors on the CPU: they share their memory with the numpy arrays that the loops read."""

    name, place = "cpu", " on cpu"
    device = torch.device("cpu")
    dense_types = torch.float32, torch.float16, torch.bfloat16

    def converted(self, value: Any) -> Any:
        """A tensor, or a tuple of tensors, as kernels read it; anything else as it is."""
        if isinstance(value, Tensor):
            return self._array(value)
        if hasattr(value, "_fields"):
            return value._make(map(self.converted, value))
        return tuple(map(self.converted, cast(Arguments, value))) if isinstance(value, tuple) else value

    def _array(self, tensor: Tensor) -> Any:
        return tensor.numpy()

    def view(self, array: Tensor, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """The memory at the beginning of a tensor as an array of another type."""
        assert array.is_contiguous()
        return np.frombuffer(array.numpy(), dtype, math.prod(shape)).reshape(shape)

    # ---- tensors ----

    def dtype(self, dtype: DTypeLike) -> torch.dtype:
        return TORCH_TYPES[dtype]

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Tensor:
        return torch.empty(shape, dtype=torch_type(dtype))

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Tensor:
        """Zeros of a type of numbers; for a record type [*shape, bytes] uint8."""
        record = isinstance(dtype, np.dtype) and dtype.names
        return self.empty((*shape, dtype.itemsize) if record else shape, np.uint8 if record else dtype).zero_()

    def room(self, out: Tensor | None, shape: tuple[int, ...], dtype: Any) -> Tensor:
        """The tensor to write into: `out`, or a new one. Kernels check no bounds, so this function checks."""
        wanted = torch_type(dtype)
        if out is None:
            return self.empty(shape, wanted)
        fits = tuple(out.shape) == shape and out.dtype == wanted and out.is_contiguous()
        if not fits or out.device.type != self.device.type:
            given = f"{out.dtype} of shape {tuple(out.shape)} on {out.device}"
            raise InvalidValue(f"`out` is a contiguous {wanted} of shape {shape} on {self.name}, not {given}")
        return out

    def from_numpy(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device)

    def to_numpy(self, array: Tensor) -> NDArray[Any]:
        return array.cpu().numpy()

    def are_whole(self, numbers: Tensor | NDArray[Any]) -> bool:
        if isinstance(numbers, Tensor):
            return not numbers.dtype.is_floating_point and numbers.dtype != torch.bool
        return super().are_whole(numbers)

    def integers(self, actions: Any, n: int) -> Tensor:
        if not isinstance(actions, Tensor):
            given = super().integers(actions, n)
            native = given.dtype.newbyteorder("=")  # torch knows only this machine's
            return torch.from_numpy(np.ascontiguousarray(given, native))
        if tuple(actions.shape) != (n,) or not self.are_whole(actions):
            raise InvalidValue(f"a step takes {n} whole numbers, not {actions.dtype} of shape {tuple(actions.shape)}")
        return actions

    def int32(self, given: Tensor, check: bool) -> Tensor:
        chosen = given.to(self.device, torch.int32).contiguous()
        if check and given.element_size() > 4:
            return torch.where(chosen == given.to(self.device, torch.int64), chosen, -1)
        return chosen


def torch_type(dtype: Any) -> torch.dtype:
    """A type of numbers, numpy's or torch's, as torch has it."""
    return dtype if isinstance(dtype, torch.dtype) else TORCH_TYPES[dtype]


class Cuda(Torch):
    """Kernels run on the GPU, in torch's current stream."""

    name, place = "cuda", " on cuda"
    device = TORCH_CUDA

    def __init__(self) -> None:
        require()
        self._work: dict[tuple[np.dtype[np.void], int], Tensor] = {}  # by record type and stream; torch owns it
        self._kernels: dict[tuple[Any, ...], Any] = {}  # compiled, by kernel and types of arguments

    def load(self, template: str, functions: Mapping[str, Any], subject: str) -> ModuleType:
        return load_kernels(template, functions, subject, "cuda")

    def run(self, kernel: Any, rows: int, *arguments: Any) -> None:
        """Run a kernel over all rows, one thread for each (up to MOST_THREADS)."""
        self.run_blocks(kernel, -(-min(rows, MOST_THREADS) // BLOCK), BLOCK, 0, *arguments)

    def run_rows(
        self, kernel: Any, rows: int, work: Any, arrays: Arguments, others: Arguments, threads: int = 1
    ) -> None:
        """The same with working memory: `kernel(*arrays, *others, work)`, one record of the type `work` a thread."""
        self.run_threads(kernel, rows, work, BLOCK, *arrays, *others)

    def run_threads(self, kernel: Any, rows: int, work: Any, block: int, *arguments: Any) -> None:
        """The same with `block` threads in each block."""
        most = min(rows, _most_threads(work))
        memory = self._working_memory(work, most)
        self.run_blocks(kernel, -(-most // block), block, 0, *arguments, memory)

    def run_blocks(self, kernel: Any, blocks: int, threads: int, shared: int, *arguments: Any) -> None:
        """Run a kernel on blocks of threads that share some bytes of memory."""
        if not blocks:
            return
        converted = [_simulated(self.converted(argument)) for argument in arguments]
        how = _configured(kernel, blocks, threads, stream(), shared)
        try:
            self._launch(kernel, how, converted)
        except Exception as error:  # the driver allocates the threads' local memory at a launch
            if "OUT_OF_MEMORY" not in str(error):
                raise
            advice = "a kernel found no memory for its threads: use fewer rows at once"
            raise InvalidValue(f"{fullness()}; {advice}") from error

    def _launch(self, kernel: Any, how: Any, arguments: list[Any]) -> None:
        """Launch a kernel; from the second time on, what numba compiled for arguments of these types."""
        key = kernel, *map(_type_of, arguments)
        compiled = self._kernels.get(key)
        if compiled is not None:
            compiled.launch(arguments, how.griddim, how.blockdim, how.stream, how.sharedmem)
            return
        how(*arguments)
        if not SIMULATED:
            self._kernels[key] = compiled_for(kernel, arguments)

    def _working_memory(self, dtype: np.dtype[np.void], threads: int) -> Any:
        """[threads] records for the kernels of one stream, which run one after the other."""
        most, key = -(-threads // LARGEST_BLOCK) * LARGEST_BLOCK, (dtype, stream())
        work = self._work.get(key)
        if work is None or len(work) < most:
            work = self._work[key] = self.zeros((most,), dtype)
        return self.view(work, (len(work),), dtype)

    def _array(self, tensor: Tensor) -> Any:
        return self.view(tensor, tuple(tensor.shape), NUMPY_TYPES[tensor.dtype])

    def view(self, array: Tensor, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        return _device_array(array, shape, dtype)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Tensor:
        kind = torch_type(dtype)
        size = math.prod(shape) * kind.itemsize / 1e9
        with explain_out_of_memory(f"an array of {shape} needs {size:.3g} GB: use fewer rows at once"):
            return torch.empty(shape, dtype=kind, device=TORCH_CUDA)

    def check_room(self, needed: int, what: str, advice: str) -> None:
        check_room(needed, what, advice)

    def check_rows(self, rows: int, each: int, what: str) -> None:
        check_room(rows * each, what, f"at most {free_memory()[0] // each} games fit")


@functools.cache
def _most_threads(work: np.dtype[np.void]) -> int:
    """Threads whose working memory takes at most MOST_WORK of the free memory."""
    fitting = int(free_memory()[0] * MOST_WORK) // work.itemsize
    return min(MOST_THREADS, max(LARGEST_BLOCK, fitting // LARGEST_BLOCK * LARGEST_BLOCK))


def stream() -> int:
    """Torch's current stream, as a pointer. `torch.cuda.current_stream` takes as long as a launch."""
    if SIMULATED:
        return 0
    return torch._C._cuda_getCurrentRawStream(torch._C._cuda_getDevice())  # pyright: ignore[reportPrivateUsage]


def record_event() -> Any:
    """An event in torch's current stream, to be timed."""
    event = torch.cuda.Event(enable_timing=True)
    event.record(_torch_stream(stream()))
    return event


@functools.lru_cache(64)
def _torch_stream(pointer: int) -> torch.cuda.Stream:
    """The stream of that pointer, which is the current one."""
    return torch.cuda.current_stream()


@functools.lru_cache(0 if SIMULATED else 4096)  # a simulated kernel holds only its last configuration
def _configured(kernel: Any, blocks: int, threads: int, pointer: int, shared: int) -> Any:
    """A kernel with its launch configuration."""
    return kernel[blocks, threads, _wrapped_stream(pointer), shared]


@functools.lru_cache(64)
def _wrapped_stream(pointer: int) -> Any:
    from numba import cuda

    return cuda.external_stream(pointer) if pointer else 0


def _type_of(value: Any) -> Any:
    """What the compiled code of a kernel depends on: arrays are contiguous, so that type and dimensions suffice."""
    if isinstance(value, tuple):
        return type(value), *map(_type_of, value)  # pyright: ignore[reportUnknownArgumentType]
    return (value.dtype, value.ndim) if hasattr(value, "dtype") else type(value)


def _simulated(value: Any) -> Any:
    """In the simulation: an array that the kernel writes in place, not in a copy."""
    return written_in_place(value) if SIMULATED and isinstance(value, np.ndarray) else value


def _device_array(tensor: Tensor, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    assert tensor.is_contiguous()
    if SIMULATED:  # as on a GPU, the array does not keep the tensor's memory alive
        memory = (ctypes.c_uint8 * (math.prod(shape) * np.dtype(dtype).itemsize)).from_address(tensor.data_ptr())
        return np.frombuffer(memory, dtype).reshape(shape)  # pyright: ignore  (its stubs know no ctypes)
    return _wrapped_array(tensor.data_ptr(), shape, np.dtype(dtype))


@functools.lru_cache(4096)  # wrapping takes longer than many kernels, and torch's allocator reuses addresses
def _wrapped_array(pointer: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    from numba import cuda

    described = {"shape": shape, "strides": None, "typestr": dtype, "data": (pointer, False), "version": 3}
    return cuda.from_cuda_array_interface(described, sync=False)


# ---- some of the rows ----


def fill_selected(where: Tensor, out: Tensor, compute: Callable[[Tensor | slice], Tensor]) -> None:
    """Write `compute(rows)` into the rows of `out` [N] where `where` [N] is set; see `selected_rows`.

    `compute` is not called on the CPU if no row is set. On a GPU it answers for all rows.
    """
    rows = selected_rows(where)
    if isinstance(rows, slice):
        out.copy_(torch.where(where, compute(rows), out))
    elif len(rows):
        out[rows] = compute(rows)


def selected_rows(where: Tensor) -> Tensor | slice:
    """The indices where `where` [N] is set; on a GPU all rows, `slice(None)`, because counting would synchronise."""
    return slice(None) if where.device.type == "cuda" else where.nonzero()[:, 0]
