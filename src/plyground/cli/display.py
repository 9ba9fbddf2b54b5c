"""The live display of a training run: words, scores and a board on a terminal, one short line for each cycle elsewhere.

It gets events of plain data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from plyground.cli.terminal import console
from plyground.errors import counted
from plyground.learners.progress_text import ShortLines, cluster_words, place

METRICS = ("loss", "policy_loss", "train_loss", "td_error", "value_error", "gradient", "q", "kl", "entropy")
LONGEST_BAR = 24
ROWS = 8  # evaluations in the table

Event = Mapping[str, Any]


FOR_EXPERTS = ("target network", "next-state masking", "legal next actions")  # how notes begin that -v shows


class Display:
    """Shows the events of `learners/training.py`, a call for each: in plain words, or with all numbers (`verbose`)."""

    verbose = False  # of all displays of this process; `train -v` sets it

    def __init__(self) -> None:
        self.live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        self.scores: list[tuple[int, Mapping[str, Any]]] = []
        self.seen: tuple[float, int, int] | None = None
        self.short = ShortLines(self._print)
        self.note, self.plies, self.updates = "", 0.0, 0.0  # the last two a second

    def __enter__(self) -> Display:
        if self.live:
            self.live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.short.end()
        if self.live:
            self.live.__exit__(None, None, None)

    def __call__(self, event: Event) -> None:
        kind = event["event"]
        if kind not in ("tick", "evaluation"):
            self.short.end()
        if kind == "tick":
            if self.live:
                self._measure(event)
                self.live.update(self._view(event))
            return
        if kind == "evaluation":
            self.scores.append((event["cycle"], event["eval_opponents"]))
        for_experts = kind == "note" and event["text"].startswith(FOR_EXPERTS)
        if kind == "note" and (self.verbose or not for_experts):
            self.note = event["text"]
        in_view = kind in ("cycle", "evaluation") or for_experts
        if kind not in LINES or (self.live and in_view) or (for_experts and not self.verbose):
            return
        if self.verbose:
            self._print(LINES[kind](event))
        elif kind in ("cycle", "evaluation", "epoch"):
            self.short(event)
        else:
            self._print(event["text"])

    def _print(self, line: str) -> None:
        console.print(line, soft_wrap=not console.is_terminal)  # above the live view

    def _measure(self, tick: Event) -> None:
        """Plies and updates per second, since the last tick."""
        now = time.perf_counter(), tick["plies"], tick["updates"]
        if self.seen and now[0] > self.seen[0]:
            self.plies, self.updates = ((now[k] - self.seen[k]) / (now[0] - self.seen[0]) for k in (1, 2))
        self.seen = now

    def _view(self, tick: Event) -> Group:
        """What happens in plain words, the scores, a game that is being played; below, the numbers of experts."""
        cycles, limit, name = tick["cycles"], tick["seconds_limit"], Path(tick["game"]).name
        number = min(tick["cycle"] + 1, cycles) if cycles else tick["cycle"] + 1
        seconds = f"{tick['seconds']:.0f} {f'of {limit:.0f} ' if limit else ''}s"
        head = f"Learning {name}: {seconds}, cycle {number}{f' of {cycles}' if cycles else ''}"
        pace = f" ({self.plies:,.0f} a second)" if self.plies else ""
        done = f"{tick['plies']:,} moves played{pace}, {tick['updates']:,} times learned from them"
        parts: list[Any] = [Text(head, style="bold"), Text(done)]
        parts += [Text(tick["cluster"])] if tick.get("cluster") else []
        if self.verbose:
            speed = f"{self.updates:,.0f} updates/s · {min(1.0, tick['cycle_progress']):.0%} of the cycle"
            parts += [Text(f"{speed} · {tick['buffer']}"), Text(_metrics(tick["metrics"], " · "))]
        if tick["eval_opponents"]:
            opponents: Sequence[str] = tick["eval_opponents"]
            table = Table("cycle", *opponents, box=None, title="points won against", title_justify="left")
            room = min(LONGEST_BAR, max(0, (console.width - len(" cycle ")) // len(opponents) - len(" 100%  ")))
            for cycle, scores in self.scores[-ROWS:]:
                shares = [scores[spec]["score"] for spec in opponents]
                table.add_row(str(cycle), *(f"{share:4.0%} {'█' * round(room * share)}" for share in shares))
            parts.append(table)
        board: str = tick.get("board", "")  # of one of the games that are being played, if there is room for it
        height = len(parts) + min(ROWS, len(self.scores)) + 5 + board.count("\n")
        if board and height <= console.height and max(map(len, board.splitlines())) <= console.width:
            drawn = Text(f"\n{board}")
            for pattern, style in tick["styles"].items():
                drawn.highlight_regex(pattern, style)
            parts += [drawn, Text(tick["players"], style="dim")]
        return Group(*parts, *([Text(self.note, style="dim")] if self.note else []))


def show_report(text: str) -> None:
    """A report in Markdown, laid out for people on a terminal."""
    console.print(Markdown(text) if console.is_terminal else Text(text), soft_wrap=not console.is_terminal)


# ---- events as lines ----


def _metrics(found: Mapping[str, Any], between: str = " ") -> str:
    even = f" (even: {found['even_entropy']:.4f})" if "even_entropy" in found else ""
    words = {name: f"{name} {found[name]:.4f}" for name in METRICS if name in found}
    return between.join(text + even if name == "entropy" else text for name, text in words.items())


def _evaluation(event: Event) -> str:
    found = event["eval_opponents"].items()
    scores = [f"{spec} {one['score']:.1%} [{one['low']:.1%}, {one['high']:.1%}]" for spec, one in found]
    scores += [f"{name} {share:.1%}" for name, share in event["puzzles"].items()]
    best = f"best so far {event['against_best']['score']:.1%}, best is step {event['best']}"
    return f"{place(event)}: against {' · '.join(scores)} · {best}"


def _cycle(event: Event) -> str:
    ended = " ".join(f"{name} {event[name]:.0%}" for name in ("first_wins", "second_wins", "draws", "truncated"))
    parts = " ".join(f"{name} {value:.1f}" for name, value in event["seconds"].items() if name != "total")
    experience = ""
    if "quality" in event:
        spread = f"distinct {event['distinct']:.0%}, reward variance {event['reward_variance']:.3f}"
        experience = f" · quality {event['quality']:.2f} ({spread})"
    return (
        f"{place(event)}: {counted(event['games'], 'game')} ({ended}, {event['mean_length']:.1f} plies) · "
        f"{counted(event['updates'], 'update')} · {_metrics(event)}{experience} · "
        f"illegal_moves {event['illegal_moves']} · "
        f"{event['seconds']['total']:.1f} s ({parts}){' · ' + cluster_words(event) if 'actors' in event else ''}"
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
