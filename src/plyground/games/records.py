"""Record types without padding: every byte of a record belongs to a field.

numpy copies records field by field, so the bytes between fields of a copy are whatever the memory held before. States
are compared, hashed and saved as bytes. Therefore the gaps of a game's record types become fields of their own, which
nobody writes: they begin as zeros, and every copy carries them along.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Dtype = np.dtype[Any]
PADDING = "padding_at_"
"""begins the names of the fields that stand for gaps; the rest is their offset"""


def without_padding(dtype: Dtype) -> Dtype:
    """The same record type, size and offsets with a field of bytes for every gap, in nested records too."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((without_padding(base), shape))
    if dtype.fields is None:
        return dtype
    places = {name: (without_padding(field[0]), field[1]) for name, field in dtype.fields.items()}
    spans = sorted((offset, offset + kind.itemsize) for kind, offset in places.values())
    end = 0
    for start, stop in [*spans, (dtype.itemsize, dtype.itemsize)]:
        if start > end:
            places[f"{PADDING}{end}"] = np.dtype((np.uint8, (start - end,))), end
        end = max(end, stop)
    names = sorted(places, key=lambda name: places[name][1])
    layout: Any = {
        "names": names,
        "formats": [places[name][0] for name in names],
        "offsets": [places[name][1] for name in names],
        "itemsize": dtype.itemsize,
    }
    return np.dtype(layout, align=dtype.isalignedstruct)


def state_type(state: Dtype, head: Dtype) -> Dtype:
    """STATE without padding, beginning with all bytes of HEAD. The other fields follow where HEAD ends: numpy may have
    put the first of them into the bytes that round HEAD's size up."""
    head = without_padding(head)
    leading = [(name, field[0]) for name, field in (head.fields or {}).items()]
    rest = [(name, field[0]) for name, field in (state.fields or {}).items() if name not in (head.fields or {})]
    return without_padding(np.dtype([*leading, *rest], align=True)) if rest else head


def meaning(dtype: Dtype) -> list[str]:
    """The names of the fields that a game has declared itself."""
    return [name for name in dtype.names or () if not name.startswith(PADDING)]
