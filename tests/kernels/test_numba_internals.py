"""What numba does not document and Plyground uses is as it was: a test for each name, with what depends on it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba import njit, types
from numba.core import event, ir
from numba.core.caching import IndexDataCacheFile, NullCache
from numba.core.errors import NumbaError, NumbaExperimentalFeatureWarning, NumbaWarning
from numba.core.registry import CPUDispatcher

from conftest import JIT, ROOT
from plyground.kernels import numba_internals
from plyground.kernels.numba_internals import (
    CheckedFile,
    cache_file,
    check_cache,
    compile_events,
    compile_with,
    count_references,
    is_compiled,
    lines_of_failure,
    operations,
    options_of,
    use_on_gpu,
    without_lock,
    without_own_cache,
)

pytestmark = [pytest.mark.compiled, pytest.mark.once, pytest.mark.skipif(not JIT, reason="the compiler is off")]
compiled: Any = njit  # its types do not know these options
VERSION = f"numba {numba.__version__}"


def double(x: Any) -> Any:
    return x + x


def halves(rows: Any) -> None:
    for i in range(len(rows)):
        rows[i][0] = 1


def room(x: int) -> float:
    return np.zeros(x).sum()


def code_of(function: Any, *arguments: Any) -> str:
    function(*arguments)
    return "".join(function.inspect_llvm().values())


def test_nrt_switches_reference_counts_off() -> None:
    rows, inside = (np.zeros((2, 3)),), compiled(halves)

    def unpack(rows: Any) -> None:
        inside(rows[0])

    assert "NRT_incref" in code_of(compiled(unpack), rows), f"{VERSION} no longer counts: is `uncounted.py` needed?"
    assert "NRT_incref" not in code_of(compile_with(unpack, counted=False), rows), f"{VERSION} ignores `_nrt`"


def test_nrt_is_inherited_by_what_is_compiled_for_a_loop_but_not_by_what_counts() -> None:
    inherits, counts = compiled(room), compiled(room)
    count_references(counts)
    counts_only = compile_with(lambda x: counts(x), counted=False)
    with pytest.raises(NumbaError):
        compile_with(lambda x: inherits(x), counted=False)(3)
    assert counts_only(3) == 0.0, f"{VERSION} ignores the option `_nrt` of a called function"


def test_a_part_has_no_way_in_and_refuses_python() -> None:
    part = compile_with(double, called_by_python=False)
    assert type(part).__mro__[1] is CPUDispatcher, f"{VERSION}: `njit` makes another class than CPUDispatcher"
    with pytest.raises(TypeError, match="double is a part of kernels"):
        part(1)
    assert compiled(lambda x: part(x))(4) == 8


def test_targetoptions_are_what_njit_was_told() -> None:
    function = compiled(double, inline="always")
    assert options_of(function)["inline"] == "always", (
        f"{VERSION} keeps options elsewhere: fingerprints would miss them"
    )
    without_lock(function)
    assert function.targetoptions["nogil"] is True
    assert "PyEval_SaveThread" in code_of(function, 3), f"{VERSION} ignores `nogil` once a function is made"
    assert options_of(double) == {}


def test_dispatchers_are_compiled_functions() -> None:
    assert is_compiled(njit(double))
    assert not is_compiled(double)
    assert not is_compiled(np.add)


def test_events_tell_of_compilations() -> None:
    assert hasattr(event, "install_listener")
    told: list[str] = []
    function = compiled(double)
    with compile_events(lambda: told.append("begin"), lambda: told.append("end")):
        function(1)
        assert (told[0], told[-1], len(told) % 2) == ("begin", "end", 0), f"{VERSION} no longer says `numba:compile`"
        before = len(told)
        function(2)
    function(1.5)
    assert len(told) == before, "of compiled code, or outside of the block"


def test_errors_carry_the_lines_at_which_the_compiler_was() -> None:
    state = np.zeros(1, [("ply", np.int32)])[0]

    def writes(state: Any) -> None:
        state["plies"] = 1

    line = writes.__code__.co_firstlineno + 1
    with pytest.raises(Exception) as raised:  # noqa: PT011 (numba's, or what its passes raise)
        compiled(writes).compile((numba.typeof(state),))
    assert (__file__, line) in lines_of_failure(raised.value), f"{VERSION}: no `loc` in the frames of its passes"
    assert isinstance(ir.Loc(__file__, 1).line, int)


def test_the_typed_program_has_operations_with_lines_and_types() -> None:
    function = compiled(room)
    function(3)
    line = room.__code__.co_firstlineno + 1
    made = [found for found in operations(function) if isinstance(found[2], types.Array)]
    assert made, f"{VERSION} keeps the typed program elsewhere: `check` would find no allocations"
    assert {(found[0], found[1]) for found in made} == {(line, "call")}


def test_the_errors_and_warnings_that_we_name_exist() -> None:
    assert issubclass(numba_internals.NumbaError, Exception)
    assert issubclass(NumbaExperimentalFeatureWarning, NumbaWarning)


def cached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (folder / "doubles_in_a_file.py").write_text(
        "from numba import njit\n\n@njit(cache=True)\ndef f(x):\n    return x + x\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "doubles_in_a_file", raising=False)
    return __import__("doubles_in_a_file")


def test_the_cache_file_is_ours_after_check_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = cached(tmp_path, monkeypatch)
    assert isinstance(cache_file(module.f), IndexDataCacheFile), f"{VERSION} keeps `_cache._cache_file` elsewhere"
    check_cache(module)
    assert isinstance(cache_file(module.f), CheckedFile)
    called: list[str] = []
    for name in OVERRIDDEN:
        monkeypatch.setattr(CheckedFile, name, recorded(getattr(CheckedFile, name), called))
    assert module.f(2) == 4
    assert called, f"{VERSION} writes its cache without us"
    again = cached(tmp_path, monkeypatch)
    check_cache(again)
    assert again.f(2) == 4
    assert set(called) == set(OVERRIDDEN), f"{VERSION} no longer calls all of {OVERRIDDEN}: files would go unchecked"


OVERRIDDEN = ("save", "_data_name", "_load_index", "_load_data", "_open_for_write")


def recorded(method: Callable[..., Any], called: list[str]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        called.append(method.__name__)
        return method(*arguments)

    return call


@pytest.mark.parametrize("name", [*OVERRIDDEN, "_data_path"])
def test_the_cache_file_has_the_methods_that_we_override(name: str) -> None:
    assert hasattr(IndexDataCacheFile, name), f"{VERSION} has no IndexDataCacheFile.{name}: see CheckedFile"


def test_a_function_can_be_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = cached(tmp_path, monkeypatch)
    without_own_cache(module.f)
    assert isinstance(module.f._cache, NullCache)
    assert module.f(2) == 4
    assert not list(tmp_path.rglob("*.nb*")), f"{VERSION} does not ask `_cache`: it would execute strangers' files"


def test_a_function_can_have_a_form_for_gpus() -> None:
    function, form = cast(Any, njit(double)), object()
    use_on_gpu(function, form)
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    from numba.cuda.target import CUDATypingContext

    resolved: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CUDATypingContext.__mro__[1], "resolve_value_type", lambda _, value: resolved.append(value))
        CUDATypingContext.resolve_value_type(cast(Any, CUDATypingContext.__new__(CUDATypingContext)), function)
    assert resolved == [form], "numba-cuda keeps the device form elsewhere: `popcount` is slow on GPUs"


def test_what_the_device_uses_of_numba_cuda_exists() -> None:
    pytest.importorskip("numba_cuda", reason="needs numba-cuda")
    from numba import cuda
    from numba.cuda.core import config  # pyright: ignore[reportMissingImports]
    from numba.cuda.dispatcher import _Kernel

    numba_internals.allow_small_batches()
    assert config.CUDA_LOW_OCCUPANCY_WARNINGS == 0
    kernel: Any = cuda.jit(double)
    for name in ("typeof_pyval", "overloads"):
        assert hasattr(kernel, name), f"numba-cuda's kernels have no `{name}`: see `compiled_for`"
    assert hasattr(_Kernel, "launch"), "numba-cuda launches in another way: see `backend/device.py`"


def test_a_simulated_kernel_can_write_in_place() -> None:
    array = np.zeros(3)
    numba_internals.written_in_place(array)[1] = 2.0
    assert array[1] == 2.0, f"{VERSION}: FakeCUDAArray copies"


def test_nothing_else_uses_numbas_insides() -> None:
    marks = ("numba.core", "numba.cuda.", "_nrt", "CPUDispatcher", "__dispatcher", "_cache_file", "targetoptions")
    for path in (ROOT / "src").rglob("*.py"):
        if path.name != "numba_internals.py":
            text = path.read_text()
            assert not [mark for mark in marks if mark in text], path


def test_machine_code_of_other_processes_for_other_records_is_told_apart(tmp_path: Path) -> None:
    """By its name: numba's own numbers are the same in each process (plyground.kernels.numba_internals)."""
    (tmp_path / "counts.py").write_text(
        "import sys\n"
        "import numpy as np\n"
        "from numba import njit\n"
        "import plyground.kernels.numba_internals\n"
        "@njit\n"
        "def part(row, depth):\n"  # which calls itself, so that it is not inlined
        "    return part(row, depth - 1) if depth > 0 else len(row['numbers'])\n"
        "@njit(cache=True)\n"
        "def count(rows, depth):\n"
        "    return part(rows[0], depth)\n"
        "for size in map(int, sys.argv[1:]):\n"
        "    print(count(np.zeros(1, np.dtype([('numbers', np.int8, (size,))], align=True)), 2))\n"
    )

    def counted(*sizes: str) -> list[str]:
        command = [sys.executable, str(tmp_path / "counts.py"), *sizes]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert [counted("3"), counted("5"), counted("3", "5")] == [["3"], ["5"], ["3", "5"]], f"{VERSION}: see above"
