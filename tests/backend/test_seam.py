"""Only the seam tells devices apart: nothing else in `src` asks where a tensor is, or names a device."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conftest import ROOT

pytestmark = pytest.mark.once

SOURCE = ROOT / "src" / "plyground"
SEAM = ("backend", "kernels", "interop")  # `interop` checks other people's tensors
DEVICES = {"cpu", "cuda"}
PREFIXES = ("Gpu", "Cuda", "OnCpu", "OnGpu")
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] not in SEAM]


def defaults(tree: ast.AST) -> set[int]:
    """The constants that are defaults of a parameter or field `device: str`: the user's choice."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "device":
            found.add(id(node.value))
        if isinstance(node, ast.arguments):
            named = [*node.posonlyargs, *node.args]
            pairs = list(zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True))
            pairs += [(name, value) for name, value in zip(node.kwonlyargs, node.kw_defaults, strict=True) if value]
            found |= {id(value) for name, value in pairs if name.arg == "device"}
    return found


def faults_in(source: str) -> list[str]:
    """What a file outside the seam may not say, with its line."""
    tree, faults = ast.parse(source), list[str]()
    allowed = defaults(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name.startswith(PREFIXES):
            faults.append(f"{node.lineno}: class {node.name}")
        elif isinstance(node, ast.Constant) and node.value in DEVICES and id(node) not in allowed:
            faults.append(f"{node.lineno}: the device {node.value!r}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            if "Tensor" in ast.unparse(node.args[1]):
                faults.append(f"{node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Attribute) and node.attr in ("is_cuda", "is_cpu"):
            faults.append(f"{node.lineno}: {ast.unparse(node)}")
    return faults


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(SOURCE)) for path in FILES])
def test_no_file_outside_the_seam_tells_devices_apart(path: Path) -> None:
    assert faults_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(states, Tensor)",
        "isinstance(states, (int, torch.Tensor))",
        "class GpuReplay: ...",
        "class OnCpu: ...",
        "if device == 'cuda': pass",
        "states.to('cpu')",
        "def f(where='cuda'): ...",
        "states.is_cuda",
    ],
)
def test_a_file_that_does_is_found(line: str) -> None:
    assert faults_in(line)


@pytest.mark.parametrize("line", ["device: str = 'cpu'", "def f(*, device='cpu'): ...", "'on the cpu'", "x = 'auto'"])
def test_the_users_choice_may_be_named(line: str) -> None:
    assert faults_in(line) == []
