"""Chess has no agents of its own: alpha-beta by `evaluate_fine` is the strongest."""

from __future__ import annotations

STRONGEST = "minimax:time=0.5"
