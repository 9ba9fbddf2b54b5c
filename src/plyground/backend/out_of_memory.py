"""A GPU that is full, in one sentence. This file imports no torch: what learns without it has no GPU to fill."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager

from plyground.errors import InvalidValue


@contextmanager
def explain_out_of_memory(advice: str) -> Generator[None]:
    """Turn torch's out-of-memory error into an InvalidValue of one sentence with advice."""
    try:
        yield
    except RuntimeError as error:
        torch = sys.modules.get("torch")
        if torch is None or not isinstance(error, torch.OutOfMemoryError):
            raise
        from plyground.backend.device import fullness

        raise InvalidValue(f"{fullness()}; {advice}") from error
