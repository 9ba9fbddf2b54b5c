"""How kernels run over rows, and where their arrays are: numpy arrays here, without torch; torch tensors, on a CPU or a
GPU, in `device.py`. A device is chosen by its name."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from plyground.errors import InvalidValue, shorten
from plyground.games.interface import Function
from plyground.kernels.cache import load_kernels
from plyground.kernels.threads import over_parts

Arguments = tuple[Any, ...]


@functools.cache
def get(name: str) -> Numpy:
    """The device of that name; raises InvalidValue if it cannot be used."""
    if name == "numpy":
        return Numpy()
    if name not in ("cpu", "cuda"):
        raise InvalidValue(f"no device {shorten(name)!r}; known: cpu, cuda, numpy")
    from plyground.backend import device  # which imports torch

    return device.Torch() if name == "cpu" else device.Cuda()


class Numpy:
    """Kernels are compiled loops over numpy arrays."""

    name, place = "numpy", ""  # `place`: in the words of a batch
    device: Any = "cpu"  # as numpy's arrays and torch's tensors name theirs
    dense_types: tuple[Any, ...] = (np.float32, np.float16)  # of observations that are written from tokens

    # ---- kernels ----

    def load(self, template: str, functions: Mapping[str, Any], subject: str) -> ModuleType:
        return load_kernels(template, functions, subject)

    def run(self, kernel: Function, rows: int, *arguments: Any) -> None:
        """Run a kernel over all rows, in one thread."""
        if rows:
            kernel(*self.converted(arguments))

    def run_rows(
        self, kernel: Any, rows: int, work: Any, arrays: Arguments, others: Arguments, threads: int = 1
    ) -> None:
        """Run `kernel(*arrays, *others, work)` over all rows, in several threads. Each has its slice of the arrays (and
        of those in NamedTuples), and working memory of its own: [1] record of the type `work`."""
        given = self.converted(others)
        over_parts(lambda *part: kernel(*part, *given, np.zeros(1, work)), rows, threads, *self.converted(arrays))

    def converted(self, value: Any) -> Any:
        """An array, or a tuple of arrays, as kernels read it; anything else as it is."""
        return value

    def view(self, array: Any, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """The memory of a contiguous array as an array of another type."""
        return array.view(dtype).reshape(shape)

    # ---- arrays ----

    def dtype(self, dtype: DTypeLike) -> Any:
        """The type of this device's arrays that holds such numbers."""
        return np.dtype(dtype)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return np.empty(shape, dtype)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Zeros of a type of numbers; of a record type, states."""
        return np.zeros(shape, dtype)

    def room(self, out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """The array to write into: `out`, or a new one. Kernels check no bounds, so this function checks."""
        if out is None:
            return np.empty(shape, dtype)
        if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous or not out.flags.writeable:
            given = f"{out.dtype} of shape {out.shape}"
            raise InvalidValue(f"`out` is a writable, contiguous {np.dtype(dtype)} of shape {shape}, not {given}")
        return out

    def from_numpy(self, array: NDArray[Any]) -> Any:
        """An array on this device; on a CPU the same memory."""
        return array

    def to_numpy(self, array: Any) -> NDArray[Any]:
        """The numbers of this device's array; on a CPU the same memory."""
        return array

    def are_whole(self, numbers: Any) -> bool:
        return numbers.dtype.kind in "iu"

    def integers(self, actions: ArrayLike, n: int) -> Any:
        """`actions` as an array of n integers, of whatever size."""
        given = np.asarray(actions)
        if given.shape != (n,) or not self.are_whole(given):
            raise InvalidValue(f"a step takes {n} whole numbers, not {given.dtype} of shape {given.shape}")
        return given

    def int32(self, given: Any, check: bool) -> Any:
        """Integers as kernels take them; with `check`, -1 in place of one that is too large."""
        chosen = np.ascontiguousarray(given, np.int32)
        return chosen if chosen is given or not check else np.where(chosen == given, chosen, np.int32(-1))

    def check_room(self, needed: int, what: str, advice: str) -> None:
        """The CPU's memory is left to the operating system."""

    def check_rows(self, rows: int, each: int, what: str) -> None:
        """The same of `rows` rows of `each` bytes."""
