"""`plyground export`: a run's network for other runtimes; imported when it is called, for torch is slow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from plyground.cli.grammar import RunPath
from plyground.cli.terminal import say
from plyground.runs.directory import trust_run


def export(
    what: Positional[Literal["onnx"]],
    run: Positional[RunPath],
    file: Positional[Annotated[Path, arg(metavar="FILE")]],
    checkpoint: str = "best",
    int8: bool = False,
    trust: bool = False,
) -> None:
    """Export a run's network, after comparing it with torch on 1,000 positions.

    Args:
        what: the format
        file: the file to write, such as network.onnx
        checkpoint: best, last, or a step
        int8: weights and activations of 8 bits: a quarter of the size, a little weaker
        trust: trust its game file, programs and positions, although it was not trained here; remembered
    """
    from plyground.interop.onnx import export as export_onnx

    if trust:
        trust_run(run)
    found = export_onnx(run, file, checkpoint, int8)
    same = f"the same action as torch in {found.agreement:.1%} of {found.positions:,} positions"
    say(f"{file}: {found.size:,} bytes; {same}, scores differ by at most {found.difference:.2g}")
