"""Commands on a cluster: `--on ray`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plyground.cli.ctrl_c import interruptible, say_stopped

if TYPE_CHECKING:
    from plyground.cluster.connect import Cluster


@contextmanager
def cluster_at(on: str, kept: str = "nothing was kept", quiet: bool = False) -> Generator[Cluster | None]:
    """The cluster of `--on`, or none. Ctrl-C ends the tasks, and the cluster if it is ours."""
    if not on:
        yield None
        return
    from plyground.cluster.connect import connect

    try:
        with interruptible(signal.SIGTERM), connect(on) as cluster:
            if not quiet:
                size = f"{cluster.nodes} nodes" if cluster.nodes > 1 else "1 node"
                print(f"cluster at {cluster.address}: {size}, {cluster.resource('CPU')} CPUs", file=sys.stderr)
            yield cluster
    except KeyboardInterrupt:
        say_stopped(kept)
        sys.exit(130)
