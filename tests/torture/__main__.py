"""Run the proofs, each in a process of its own, and write a report: `python -m torture --seed 1 --seconds 3600`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from torture import PROOFS, SHARED, Report, Share

GRACE = 600.0  # seconds beyond its share after which a proof counts as endless


def run_here(name: str, seed: int, seconds: float, share: Share | None = None) -> Report:
    """Run one proof in this process; an exception is a finding."""
    begun = time.monotonic()
    if importlib.util.find_spec(f"torture.{name}") is None:
        return Report(name, 0, [f"there is no tests/torture/{name}.py"], 0.0)
    try:
        proof = importlib.import_module(f"torture.{name}")
        return proof.run(seed, seconds, share) if share else proof.run(seed, seconds)
    except Exception:
        return Report(name, 0, [traceback.format_exc()], time.monotonic() - begun)


def run_apart(name: str, seed: int, seconds: float, share: Share | None = None) -> Report:
    """Run one proof in a process of its own: one that crashes or never ends is a finding, and the others go on."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        path = Path(folder) / "report.json"
        command = [sys.executable, "-m", "torture", name, "--seed", str(seed), "--seconds", str(seconds), "--here"]
        command += ["--share", str(share)] if share else []
        try:
            code = subprocess.run([*command, "--report", str(path)], timeout=seconds + GRACE, check=False).returncode
            fault = f"the process of this proof ended with code {code} (seed {seed}); below zero: killed by that signal"
        except subprocess.TimeoutExpired:
            fault = f"still running {GRACE:.0f} s after its share of {seconds:.0f} s (seed {seed})"
        if path.exists():
            (found,) = json.loads(path.read_text(encoding="utf-8"))["proofs"]
            return Report(**found)
    return Report(name, 0, [fault], time.monotonic() - begun)


def row(report: Report) -> str:
    extra = "".join(f", {name} {value:,.10g}" for name, value in report.counts.items())
    found = f"{len(report.findings)} findings" if report.findings else "no finding"
    return f"{report.name:12} {report.cases:12,} cases {report.seconds:9.1f} s   {found}{extra}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    proofs = "; ".join(f"{name}: {meaning}" for name, meaning in PROOFS.items())
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"those to run (default: all). {proofs}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="for all proofs together, in equal shares")
    shares = f"3/16: the third of 16 parts of the cases of {' or '.join(SHARED)}, each of them once"
    parser.add_argument("--share", type=Share.parse, help=shares)
    parser.add_argument("--report", type=Path, default=Path("build/torture.json"), help="the JSON file to write")
    parser.add_argument("--here", action="store_true", help="in this process")
    given = parser.parse_args(arguments)
    names = given.proofs or list(PROOFS)
    for name in names:
        if name not in PROOFS:
            parser.error(f"no proof {name!r}; known: {', '.join(PROOFS)}")
        if given.share and name not in SHARED:
            parser.error(f"--share needs a proof with a list of cases, not {name!r}: {', '.join(SHARED)}")
    reports: list[Report] = []
    for name in names:
        prove = run_here if given.here else run_apart
        reports.append(prove(name, given.seed, given.seconds / len(names), given.share))
        if not given.here:
            print(row(reports[-1]), flush=True)
            print("".join(f"  * {finding}\n" for finding in reports[-1].findings), end="", flush=True)
    given.report.parent.mkdir(parents=True, exist_ok=True)
    found = {"seed": given.seed, "seconds": given.seconds, "proofs": [asdict(each) for each in reports]}
    given.report.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 1 if any(each.findings for each in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
