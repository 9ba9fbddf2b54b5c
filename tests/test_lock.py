"""constraints.txt: every file that `make` installs is verified by a hash, but torch and GPU parts."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import tomllib

import pytest

from conftest import ROOT

pytestmark = pytest.mark.once
LOCK = runpy.run_path(str(ROOT / "tools" / "lock.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEXT = (ROOT / "constraints.txt").read_text(encoding="utf-8")
LINES = [line for line in TEXT.splitlines() if not line.startswith("#")]


def rule(extra: str) -> list[str]:
    """The commands by which `make` installs an extra."""
    make = shutil.which("make")
    assert make
    command = [make, "--dry-run", "--always-make", f".venv/.{extra}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def hashed(extra: str) -> list[str]:
    """The requirements with hashes that `make` gives to pip for an extra."""
    (select,) = [line for line in rule(extra) if line.startswith("sed ")]
    command = ["/bin/sh", "-c", select.partition(" > ")[0]]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def test_every_pin_but_that_of_torch_has_extras_and_hashes() -> None:
    pin = r"[\w.-]+==[^ ]+( ; [^#]+)?"
    for line in LINES:
        hashes = "" if line.startswith("torch==") else r"( --hash=sha256:[0-9a-f]{64})+"
        assert re.fullmatch(rf"{pin} #( [a-z]+)+ :{hashes}", line), line[:200]
    assert "://" not in TEXT


def test_every_package_that_pyproject_names_is_locked_for_its_extra() -> None:
    """If this fails, run python tools/lock.py."""
    for extra in PROJECT["project"]["optional-dependencies"]:
        locked = {line.partition("==")[0] for line in LINES if f" {extra} " in line}
        missing = {name for name in LOCK["direct"](PROJECT, extra) - locked if not LOCK["WITH_TORCH"].match(name)}
        assert not missing, f"python tools/lock.py adds {missing} to [{extra}]"


def test_make_installs_nothing_without_a_hash_but_torch() -> None:
    for extra in ("learn", "lint", "web"):
        pip = [line for line in rule(extra) if "pip install" in line]
        assert len(pip) == 4
        assert all("--no-deps --require-hashes" in line for line in pip[:2])
        assert pip[2].endswith("--constraint constraints.txt torch; fi")
        assert "--no-index" in pip[3]
        assert all("--no-build-isolation" in line for line in pip)  # otherwise pip fetches setuptools without a hash


def test_make_selects_the_pins_of_an_extra_with_their_hashes() -> None:
    web = hashed("web")
    assert all("--hash=sha256:" in line and "#" not in line for line in web)
    names = {line.partition("==")[0] for line in web}
    assert {"starlette", "anyio", "numpy", "setuptools"} <= names
    assert not {"torch", "ray", "sympy"} & names
    learn = {line.partition("==")[0] for line in hashed("learn")}
    assert "sympy" in learn
    assert "torch" not in learn


def test_a_lock_names_the_extras_that_need_a_package() -> None:
    project = {
        "build-system": {"requires": ["setuptools>=77"]},
        "project": {
            "name": "ours",
            "dependencies": ["Base_Package>=1"],
            "optional-dependencies": {"a": ["torch>=2"], "b": ["ours[a,c]"], "c": ["other[x]>=1.5"]},
        },
    }
    compiled = """\
base-package==1.0 \\
    --hash=sha256:22 \\
    --hash=sha256:11
    # via ours (pyproject.toml)
nvidia-part==13.0 ; sys_platform == 'linux' \\
    --hash=sha256:33
    # via torch
other==1.5 ; python_version < '3.12' \\
    --hash=sha256:44
    # via ours (pyproject.toml)
setuptools==80.0 \\
    --hash=sha256:55
    # via torch, -
small==0.1 \\
    --hash=sha256:66
    # via other, torch
torch==2.13.0 \\
    --hash=sha256:77
    # via ours (pyproject.toml)
"""
    assert LOCK["lock"](compiled, project).removeprefix(LOCK["HEAD"]).splitlines() == [
        "base-package==1.0 # a b c : --hash=sha256:11 --hash=sha256:22",
        "other==1.5 ; python_version < '3.12' # b c : --hash=sha256:44",
        "setuptools==80.0 # a b c : --hash=sha256:55",
        "small==0.1 # a b c : --hash=sha256:66",
        "torch==2.13.0 # a b :",
    ]
