"""Which devices can be used, what they refuse, and what can be known of a GPU without one."""

from __future__ import annotations

import dis
import os
import subprocess
import sys
import types
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT, TESTS
from plyground.backend import device

pytestmark = pytest.mark.once
GPU_TESTS = [str(TESTS / path) for path in ("backend", "learners/test_gpu.py", "search/test_network_search.py")]


def test_the_kernels_do_the_same_when_numba_simulates_the_gpu() -> None:
    """The tests beside this one and the learners', with numba's simulation in the GPU's place, not compiled. Memory is
    overwritten when it is freed: a kernel's array, which owns none, must not outlive its tensor."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1", "MALLOC_PERTURB_": "165"}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-m", "gpu", *GPU_TESTS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "skipped" not in done.stdout


def test_where_there_is_no_gpu_a_sentence_says_so(connect_four: pg.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    if not device.problem():
        pytest.skip("there is a GPU")
    with pytest.raises(pg.InvalidValue, match=r"no GPU can be used: .*(\[gpu\]|CUDA does not start)"):
        pg.Batch(connect_four, 4, device="cuda")
    name, told = device.choose("auto")
    assert name == "cpu"
    assert told.startswith("device: cpu (")
    assert device.choose("cpu") == ("cpu", "")
    with pytest.raises(pg.InvalidValue, match="no device 'tpu'; known: cpu, cuda, auto"):
        device.choose("tpu")


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "The NVIDIA driver on your system is too old (found version 11040).",
            "CUDA does not start: The NVIDIA driver",
        ),
        ("No CUDA GPUs are available", "CUDA does not start: No CUDA GPUs are available"),
        ("Found no NVIDIA driver on your system. Please check\nmore", "CUDA does not start: Found no NVIDIA driver"),
    ],
)
def test_what_keeps_cuda_from_starting_is_said(said: str, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(device, "SIMULATED", False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "init", fails)
    assert device.problem().startswith(sentence)
    assert "\n" not in device.problem()


def test_what_does_not_fit_is_refused_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "free_memory", lambda: (2_000_000_000, 8_000_000_000))
    device.check_room(1_999_999_999, "this", "that")
    with pytest.raises(pg.InvalidValue, match=r"^this needs 3 GB on the GPU, where 2 of 8 GB are free: that$"):
        device.check_room(3_000_000_000, "this", "that")


def test_a_full_gpu_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "free_memory", lambda: (500_000_000, 8_000_000_000))

    def full(*_: Any, **__: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate ...\nand a page of advice")

    monkeypatch.setattr(torch, "empty", full)
    with pytest.raises(pg.InvalidValue, match=r"^the GPU is full, 0.5 of 8 GB are free; an array of \(4, 1000\) needs"):
        device.Cuda.empty(SimpleNamespace(), (4, 1000), torch.float32)  # type: ignore[arg-type]


def test_records_suit_a_gpu(game: pg.Game) -> None:
    """Aligned, so that a thread may read any field; and what a thread works in fits the memory of a small card."""
    rules = game.rules
    for dtype in (rules.STATE, rules.HEAD, rules.WORK):
        assert dtype.isalignedstruct
        assert dtype.itemsize % dtype.alignment == 0
        assert dtype.alignment in (1, 2, 4, 8)
    assert rules.HEAD.itemsize % rules.STATE.alignment == 0  # heads are copied in the same words: faster
    assert rules.WORK.itemsize * device.BLOCK < 64 << 20
    assert rules.STATE.itemsize + 4 * rules.MAX_LEGAL < 64 << 10


ALLOCATES = {
    "empty",
    "zeros",
    "ones",
    "full",
    "array",
    "arange",
    "append",
    "copy",
    "list",
    "dict",
    "set",
    "sorted",
    "str",
}
BUILDS = {"BUILD_LIST", "BUILD_SET", "BUILD_MAP", "LIST_APPEND", "SET_ADD", "MAP_ADD", "BUILD_STRING", "RAISE_VARARGS"}


def reached(function: Any, seen: dict[int, Any]) -> None:
    """The function behind a compiled one, the functions it calls and the tables it reads, by their ids."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, types.FunctionType) or id(plain) in seen or not plain.__module__.startswith("plyground"):
        return
    seen[id(plain)] = plain
    cells = [cell.cell_contents for cell in plain.__closure__ or ()]
    for value in [plain.__globals__.get(name) for name in plain.__code__.co_names] + cells:
        if isinstance(value, np.ndarray):
            seen[id(value)] = value
        else:
            reached(value, seen)


def compiled_of(game: pg.Game) -> list[Any]:
    return [*game.rules.compiled.values(), *(each.write for each in game.encoders.values())]


def test_tables_fit_a_gpus_constant_memory(game: pg.Game) -> None:
    for function in compiled_of(game):
        seen: dict[int, Any] = {}
        reached(function, seen)
        tables = [value for value in seen.values() if isinstance(value, np.ndarray)]
        assert sum(table.nbytes for table in tables) < 48 << 10, function


def test_rules_and_encoders_neither_allocate_nor_raise(game: pg.Game) -> None:
    seen: dict[int, Any] = {}
    for function in compiled_of(game):
        reached(function, seen)
    functions = [value for value in seen.values() if isinstance(value, types.FunctionType)]
    assert len(functions) >= len(game.rules.compiled)
    for function in functions:
        steps = list(dis.get_instructions(function))
        assert not BUILDS & {step.opname for step in steps}, function
        named = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD")}
        own = {name for name in named if name in function.__globals__}  # `copy` may be a function of the game's
        assert not ALLOCATES & (named - own), function
