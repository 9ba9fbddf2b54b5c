"""Sparse networks that play: alpha-beta with a fixed number of nodes."""

from __future__ import annotations

from plyground.models.sparse import Sparse
from plyground.search.timed import TimedMinimax

NODES = 1000


class SparseAgent(TimedMinimax):
    """`minimax:nodes=1000,model=...`"""

    spec = ""  # by which `make` makes it again, where there is one

    def __init__(self, model: Sparse) -> None:
        super().__init__(model.game, nodes=NODES, model=model)
