"""What a person sees while a learner works: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

console = Console(highlight=False)
NUMBERS = ("loss", "policy_loss", "td_error", "value_error", "gradient", "q", "kl", "entropy")
LONGEST_BAR = 24


class Display:
    """Is told a learner's records, one after the other."""

    def __init__(self) -> None:
        self.live = Live(console=console, refresh_per_second=4) if console.is_terminal else None
        self.cycle: Mapping[str, Any] = {}
        self.scores: list[tuple[int, Mapping[str, Any]]] = []
        self.note = ""
        self.seen: tuple[float, int, int] | None = None
        self.speed = ""

    def __enter__(self) -> Display:
        if self.live:
            self.live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            self.live.__exit__(None, None, None)

    def __call__(self, record: Mapping[str, Any]) -> None:
        kind = record["event"]
        if kind == "tick":
            if self.live:
                self._measure(record["learner"])
                self.live.update(self._table(record["learner"]))
            return
        if kind == "note":
            self.note = record["text"]
        elif kind == "cycle":
            self.cycle = record
        elif kind == "evaluation":
            self.scores.append((record["cycle"], record["yardsticks"]))
        if not self.live or (kind == "note" and not self.note.startswith("target network")):
            console.print(line(record), markup=False, soft_wrap=True)  # on a terminal it stays above the table

    def _measure(self, learner: Any) -> None:
        """Plies and updates a second, since the last look."""
        now = time.perf_counter(), learner.plies, learner.updates
        if self.seen and now[0] > self.seen[0]:
            plies, updates = ((now[k] - self.seen[k]) / (now[0] - self.seen[0]) for k in (1, 2))
            self.speed = f"{plies:,.0f} plies/s · {updates:,.0f} updates/s"
        self.seen = now

    def _table(self, learner: Any) -> Group:
        config = learner.config
        place = (
            f"cycle {min(learner.cycle + 1, config.cycles)}/{config.cycles}"
            if config.cycles
            else f"cycle {learner.cycle + 1}"
        )
        time_left = (
            f" · {learner.seconds:.0f} of {config.seconds:.0f} s" if config.seconds else f" · {learner.seconds:.0f} s"
        )
        head = Text(f"{Path(config.game).name} · {place}{time_left} · {self.speed}", style="bold")
        averages = " · ".join(f"{name} {learner.averages[name]:.4f}" for name in NUMBERS if name in learner.averages)
        games = f"{learner.tally.games} games in this cycle, {learner.updates} updates, {learner.memory_words()}"
        table = Table("cycle", *config.yardsticks, box=None, title="points of 100 against", title_justify="left")
        room = (console.width - len(" cycle ")) // max(1, len(config.yardsticks)) - len(" 100%  ")
        for cycle, scores in self.scores[-8:]:
            table.add_row(str(cycle), *(_bar(scores[word], room) for word in config.yardsticks))
        return Group(head, Text(games), Text(averages), table, Text(self.note, style="dim"))


def _bar(score: Mapping[str, float], room: int) -> str:
    """A score as a number and, as far as there is room, as a bar."""
    return f"{score['score']:4.0%} {'█' * round(max(0, min(room, LONGEST_BAR)) * score['score'])}"


def show_report(text: str) -> None:
    """A report in Markdown, laid out for people where there is a terminal."""
    console.print(Markdown(text) if console.is_terminal else Text(text), soft_wrap=not console.is_terminal)


def line(record: Mapping[str, Any]) -> str:
    """A record in one line."""
    if record["event"] == "note":
        return record["text"]
    place = f"cycle {record['cycle']}" + (f"/{record['cycles']}" if record["cycles"] else "")
    if record["event"] == "evaluation":
        scores = [
            f"{word} {s['score']:.1%} [{s['low']:.1%}, {s['high']:.1%}]" for word, s in record["yardsticks"].items()
        ]
        scores += [f"{name} {share:.1%}" for name, share in record["puzzles"].items()]
        best = record["against_best"]
        return f"{place}: against {' · '.join(scores)} · best so far {best['score']:.1%}, best is step {record['best']}"
    ended = " ".join(f"{name} {record[name]:.0%}" for name in ("first_wins", "second_wins", "draws", "step_limit"))
    numbers = " ".join(f"{name} {record[name]:.4f}" for name in NUMBERS if name in record)
    seconds = {name: value for name, value in record["seconds"].items() if name != "total"}
    parts = " ".join(f"{name} {value:.1f}" for name, value in seconds.items())
    experience = (
        f" · quality {record['quality']:.2f} (distinct {record['distinct']:.0%}, "
        f"reward variance {record['reward_variance']:.3f})"
        if "quality" in record
        else ""
    )
    return (
        f"{place}: {record['games']} games ({ended}, {record['mean_length']:.1f} plies) · "
        f"{record['updates']} updates · {numbers}{experience} · "
        f"illegal_moves {record['illegal_moves']} · "
        f"{record['seconds']['total']:.1f} s ({parts})"
    )
