"""The live display of a training run: a table on a terminal, plain lines elsewhere. It gets events of plain data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from plyground.cli.terminal import console

METRICS = ("loss", "policy_loss", "train_loss", "td_error", "value_error", "gradient", "q", "kl", "entropy")
LONGEST_BAR = 24
ROWS = 8  # evaluations in the table

Event = Mapping[str, Any]


class Display:
    """Shows the events of `learners/training.py`, one call for each."""

    def __init__(self) -> None:
        self.live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        self.scores: list[tuple[int, Mapping[str, Any]]] = []
        self.seen: tuple[float, int, int] | None = None
        self.note = self.speed = ""

    def __enter__(self) -> Display:
        if self.live:
            self.live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.__exit__(None, None, None)

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind == "tick":
            if self.live:
                self._measure(event)
                self.live.update(self._table(event))
            return
        if kind == "evaluation":
            self.scores.append((event["cycle"], event["eval_opponents"]))
        if kind == "note":
            self.note = event["text"]
        in_table = kind in ("cycle", "evaluation") or (kind == "note" and self.note.startswith("target network"))
        if kind in LINES and not (self.live and in_table):
            console.print(LINES[kind](event), soft_wrap=not console.is_terminal)  # above the table

    def _measure(self, tick: Event) -> None:
        """Plies and updates per second, since the last tick."""
        now = time.perf_counter(), tick["plies"], tick["updates"]
        if self.seen and now[0] > self.seen[0]:
            plies, updates = ((now[k] - self.seen[k]) / (now[0] - self.seen[0]) for k in (1, 2))
            self.speed = f"{plies:,.0f} plies/s · {updates:,.0f} updates/s"
        self.seen = now

    def _table(self, tick: Event) -> Group:
        cycles, limit = tick["cycles"], tick["seconds_limit"]
        number = min(tick["cycle"] + 1, cycles) if cycles else tick["cycle"] + 1
        place = f"cycle {number}{f'/{cycles}' if cycles else ''}, {min(1.0, tick['cycle_progress']):.0%}"
        seconds = f"{tick['seconds']:.0f} {f'of {limit:.0f} ' if limit else ''}s"
        head = Text(f"{Path(tick['game']).name} · {place} · {seconds} · {self.speed}", style="bold")
        counts = Text(f"{tick['updates']:,} updates, {tick['buffer']}")
        parts, opponents = [head, counts, Text(_metrics(tick["metrics"], " · "))], tick["eval_opponents"]
        if not opponents:
            return Group(*parts, Text(self.note, style="dim"))
        table = Table("cycle", *opponents, box=None, title="score against", title_justify="left")
        room = (console.width - len(" cycle ")) // len(opponents) - len(" 100%  ")
        for cycle, scores in self.scores[-ROWS:]:
            table.add_row(str(cycle), *(_bar(scores[spec], room) for spec in opponents))
        return Group(*parts, table, Text(self.note, style="dim"))


def _bar(score: Mapping[str, float], room: int) -> str:
    """A score as a number and, as far as there is room, as a bar."""
    return f"{score['score']:4.0%} {'█' * round(max(0, min(room, LONGEST_BAR)) * score['score'])}"


def show_report(text: str) -> None:
    """A report in Markdown, laid out for people on a terminal."""
    console.print(Markdown(text) if console.is_terminal else Text(text), soft_wrap=not console.is_terminal)


# ---- events as lines ----


def _metrics(found: Mapping[str, Any], between: str = " ") -> str:
    even = f" (even: {found['even_entropy']:.4f})" if "even_entropy" in found else ""
    words = {name: f"{name} {found[name]:.4f}" for name in METRICS if name in found}
    return between.join(text + even if name == "entropy" else text for name, text in words.items())


def _place(event: Event) -> str:
    return f"cycle {event['cycle']}" + (f"/{event['cycles']}" if event["cycles"] else "")


def _evaluation(event: Event) -> str:
    found = event["eval_opponents"].items()
    scores = [f"{spec} {one['score']:.1%} [{one['low']:.1%}, {one['high']:.1%}]" for spec, one in found]
    scores += [f"{name} {share:.1%}" for name, share in event["puzzles"].items()]
    best = f"best so far {event['against_best']['score']:.1%}, best is step {event['best']}"
    return f"{_place(event)}: against {' · '.join(scores)} · {best}"


def _cycle(event: Event) -> str:
    ended = " ".join(f"{name} {event[name]:.0%}" for name in ("first_wins", "second_wins", "draws", "truncated"))
    parts = " ".join(f"{name} {value:.1f}" for name, value in event["seconds"].items() if name != "total")
    experience = ""
    if "quality" in event:
        spread = f"distinct {event['distinct']:.0%}, reward variance {event['reward_variance']:.3f}"
        experience = f" · quality {event['quality']:.2f} ({spread})"
    return (
        f"{_place(event)}: {event['games']} games ({ended}, {event['mean_length']:.1f} plies) · "
        f"{event['updates']} updates · {_metrics(event)}{experience} · illegal_moves {event['illegal_moves']} · "
        f"{event['seconds']['total']:.1f} s ({parts})"
    )


def _epoch(event: Event) -> str:
    numbers = " ".join(f"{name} {event[name]:.4f}" for name in ("train_loss", "loss", "kl") if name in event)
    matched = " ".join(f"{name} {value:.1%}" for name, value in event.items() if name.startswith("match@"))
    return (
        f"epoch {event['epoch']}/{event['epochs']}: {numbers} · {matched} · value error {event['value_error']:.3f} · "
        f"entropy {event['entropy']:.3f} (even: {event['even_entropy']:.3f}) · "
        f"{event['examples']:,} examples, {event['held_out']:,} held out, {event['rejected']} rejected · "
        f"{event['seconds']:.1f} s"
    )


def _text(event: Event) -> str:
    return event["text"]


LINES = {"note": _text, "device": _text, "cycle": _cycle, "evaluation": _evaluation, "epoch": _epoch}
