"""The events of a run as short lines in plain words: one for each cycle, with its evaluation, or for each epoch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from plyground.errors import counted

Event = Mapping[str, Any]


class ShortLines:
    """Says a line for each cycle or epoch; a cycle waits for its evaluation, which comes right after it, if at all."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.cycle: Event | None = None  # the one that waits

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "tick":
            return
        waited, self.cycle = self.cycle, event if kind == "cycle" else None
        if waited or kind == "evaluation":
            self.say(_cycle(waited, event if kind == "evaluation" else None))
        if kind == "epoch":
            self.say(_epoch(event))

    def end(self) -> None:
        """Say the cycle that waits: no evaluation will come."""
        self({"event": "end"})


def place(event: Event) -> str:
    """`cycle 3/10`."""
    return f"cycle {event['cycle']}" + (f"/{event['cycles']}" if event["cycles"] else "")


def _cycle(cycle: Event | None, evaluation: Event | None) -> str:
    """`cycle 3/10: 80% against random, 62% against greedy · 40 games, 9 s`."""
    parts: list[str] = []
    if evaluation:
        scores = (f"{one['score']:.0%} against {spec}" for spec, one in evaluation["eval_opponents"].items())
        parts.append(", ".join(scores))
    if cycle:
        if "hand_loss" in cycle:
            parts.append(f"loss {cycle['loss']:.5f} on held-out games, {cycle['hand_loss']:.5f} by `evaluate`")
        learned = "position" if "positions" in cycle else "game"
        parts.append(f"{counted(cycle[f'{learned}s'], learned)}, {cycle['seconds']['total']:.0f} s")
        parts += [cluster_words(cycle)] if "actors" in cycle else []
        parts += [counted(cycle["illegal_moves"], "illegal move")] * bool(cycle["illegal_moves"])
    return f"{place(cycle or evaluation or {})}: {' · '.join(part for part in parts if part)}"


def _epoch(event: Event) -> str:
    agrees = f"as the teacher in {event['match@1']:.0%} of new positions" if "match@1" in event else "learned"
    return f"epoch {event['epoch']}/{event['epochs']}: {agrees} · {event['seconds']:.0f} s"


def cluster_words(cycle: Event) -> str:
    """`actors: 2, 1,200 positions/s, 1.5 versions old`, of a run on a cluster."""
    pace, stale = cycle["positions_per_second"], cycle["staleness"]
    return f"actors: {cycle['actors']}, {pace:,.0f} positions/s, {stale:.1f} versions old"
