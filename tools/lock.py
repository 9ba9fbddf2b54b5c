"""Write constraints.txt again: a pin for each package, the extras that need it, and the hashes of all its files.

python tools/lock.py                              (needs uv; versions stay where pyproject.toml admits them)
python tools/lock.py --upgrade-package numpy      (arguments go to `uv pip compile`; --upgrade: all packages)
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from audit import PINS, WITH_TORCH, canonical

PROJECT = PINS.with_name("pyproject.toml")
HEAD = """\
# Written by tools/lock.py. The versions that the set-up commands install and CI tests, those of dependencies'
# dependencies included: pip reads the pins. After each `#` are the extras that need the package and the hashes of all
# its files, which the Makefile gives to pip. torch has no hashes: see docs/decisions.md.
"""
PIN = re.compile(r"(?m)^([\w.-]+)==.*(?:\n .*)+")
"""a package in uv's output: a pin, perhaps with a marker, then indented lines: hashes, and `# via` its dependents"""


def name_of(requirement: str) -> str:
    """The package of `name[extra]>=1.0`."""
    return canonical(re.split(r"[^\w.-]", requirement, maxsplit=1)[0])


def direct(project: dict[str, Any], extra: str) -> set[str]:
    """Packages that Plyground with this extra names itself, and those that build it."""
    table = project["project"]
    found: set[str] = set()
    for each in project["build-system"]["requires"] + table["dependencies"] + table["optional-dependencies"][extra]:
        ours = re.fullmatch(rf"{table['name']}\[(.*)\]", each)  # other extras of Plyground
        if ours is None:
            found.add(name_of(each))
        else:
            found = found.union(*(direct(project, other) for other in ours[1].split(",")))
    return found


def closure(names: set[str], dependents: dict[str, set[str]]) -> set[str]:
    """These packages and all that they depend on."""
    more = {name for name, by in dependents.items() if by & names} - names
    return closure(names | more, dependents) if more else names


def lock(compiled: str, project: dict[str, Any]) -> str:
    """The text of constraints.txt from that of `uv pip compile`, without GPU parts, which fit the machine."""
    dependents: dict[str, set[str]] = {}
    for found in PIN.finditer(compiled):
        by = re.findall(r"[\w.-]+", found[0].partition("# via")[2])
        dependents.setdefault(canonical(found[1]), set()).update(map(canonical, by))
    extras = sorted(project["project"]["optional-dependencies"])
    needed = {extra: closure(direct(project, extra), dependents) for extra in extras}
    text = HEAD
    for found in PIN.finditer(compiled):
        name = canonical(found[1])
        pin = found[0].splitlines()[0].removesuffix("\\").strip()
        by = [extra for extra in extras if name in needed[extra]]
        hashes = [] if name == "torch" else sorted(re.findall(r"--hash=\S+", found[0]))
        if not WITH_TORCH.match(name):
            text += " ".join([pin, "#", *by, ":", *hashes]) + "\n"
    return text


def main() -> None:
    uv = shutil.which("uv")
    if uv is None:
        sys.exit("tools/lock.py needs uv, and there is none on the PATH: pipx install uv")
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    command = [uv, "pip", "compile", "--universal", "--all-extras", "--generate-hashes", "--annotation-style", "line"]
    with tempfile.TemporaryDirectory() as folder:
        out = shutil.copy(PINS, folder)  # uv keeps the versions that it finds there
        command += ["--quiet", "--no-header", "--output-file", out, *sys.argv[1:], str(PROJECT), "-"]
        build = "\n".join(project["build-system"]["requires"])
        subprocess.run(command, input=build, text=True, check=True)  # noqa: S603 (words of the person who runs it)
        PINS.write_text(lock(Path(out).read_text(encoding="utf-8"), project), encoding="utf-8")


if __name__ == "__main__":
    main()
