"""List what is installed beside Plyground: version, pin and licence; exit 1 where a pin is missing or differs.

.venv/bin/python tools/audit.py        (or: make audit)
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

PINS = Path(__file__).parents[1] / "constraints.txt"
OURS = {"plyground", "pip"}  # pip comes with Python
WITH_TORCH = re.compile(r"nvidia-|cuda-|triton|numba-cuda")  # parts of its GPU build, which fits the machine
COPYLEFT = re.compile(r"\b[AL]?GPL|GNU|General Public", re.IGNORECASE)


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> dict[str, list[str]]:
    """{package: versions} of the lines `name==version`; another Python or system may have another version."""
    pins: dict[str, list[str]] = {}
    for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", text):
        pins.setdefault(canonical(name), []).append(version)
    return pins


def licence_of(package: Distribution) -> str:
    """The licence as the package states it: an expression, else classifiers, else the first line of the field."""
    stated = package.metadata.get_all("License-Expression") or [
        each.rpartition(" :: ")[2] for each in package.metadata.get_all("Classifier") or () if "License ::" in each
    ]
    field = "\n".join(package.metadata.get_all("License") or ()).strip()
    return " and ".join(stated) or (field.splitlines()[0][:60] if field else "not stated")


def problem_of(version: str, pins: Sequence[str]) -> str:
    """What is wrong with a version, or nothing. A local build such as 2.13.0+cpu satisfies the pin 2.13.0."""
    if not pins:
        return "not pinned"
    return "" if version in pins or version.partition("+")[0] in pins else f"pinned to {' or '.join(pins)}"


def audit(packages: Iterable[Distribution], pins: Mapping[str, Sequence[str]]) -> tuple[list[str], list[str]]:
    """(a line for each package, the problems)."""
    lines: list[str] = []
    problems: list[str] = []
    for package in sorted(packages, key=lambda each: canonical(each.name)):
        name = canonical(package.name)
        if name in OURS:
            continue
        licence, wrong = licence_of(package), problem_of(package.version, pins.get(name, ()))
        if WITH_TORCH.match(name):
            wrong = ""
        notes = [wrong] if wrong else []
        notes += ["copyleft: for tests and comparisons only"] if COPYLEFT.search(licence) else []
        lines.append(f"{name:26} {package.version:14} {licence}" + (f"   ({'; '.join(notes)})" if notes else ""))
        problems += [f"{name} {package.version} is {wrong}"] if wrong else []
    return lines, problems


def main() -> int:
    lines, problems = audit(distributions(), read_pins(PINS.read_text(encoding="utf-8")))
    print("\n".join(lines))
    print(f"\n{len(lines)} packages, {len(problems)} problems")
    print("".join(f"  * {each}\n" for each in problems), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
