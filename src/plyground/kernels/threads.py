"""Several threads over slices of a batch: Python's own, because compiled kernels release the interpreter's lock."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

CHUNK = 8192  # rows that are worth the 50 µs of waking a thread (measured on Connect Four, the cheapest game)


def available() -> int:
    """The cores this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _most[0])


_most = [2**31]


def limit(cores: int) -> None:
    """Use at most so many cores: the others of this machine have work of their own."""
    _most[0] = max(1, cores)


def over_slices(work: Callable[[slice], None], rows: int, threads: int, chunk: int = 0) -> None:
    """Call `work` on slices that cover `rows`, one for each thread that finds at least `chunk` rows (0: CHUNK)."""
    parts = max(1, min(threads, rows // (chunk or CHUNK)))
    if parts == 1:
        work(slice(0, rows))
        return
    edges = [rows * part // parts for part in range(parts + 1)]
    slices = [slice(start, stop) for start, stop in itertools.pairwise(edges)]
    waiting = [_pool(parts - 1).submit(work, part) for part in slices[1:]]
    work(slices[0])  # in the calling thread
    for future in waiting:
        future.result()


def over_parts(work: Callable[..., None], rows: int, threads: int, *arrays: Any) -> None:
    """Call `work(*arrays)` in several threads, each with a slice of every array, or of every array in a NamedTuple."""
    if threads == 1 or rows < 2 * CHUNK:
        work(*arrays)
    else:
        over_slices(lambda part: work(*(_part(each, part) for each in arrays)), rows, threads)


def _part(arrays: Any, part: slice) -> Any:
    return arrays._make(each[part] for each in arrays) if hasattr(arrays, "_fields") else arrays[part]


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="plyground")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked child has the pool, but not its threads
