"""The options of the UCI engine, and the Elo of the difficulty levels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from plyground.errors import InvalidValue, shorten, unknown

STRONGEST_LEVEL = 10
ELO = {3: 250, 4: 550, 5: 800, 6: 1100, 7: 1400, 8: 1575, 9: 1850}
"""level: strength on the scale of Stockfish's UCI_Elo; measured from level 5 on, extrapolated below (docs/uci.md)"""
MOST_HASH, MOST_LINES, MOST_SIMULATIONS, LONGEST_OVERHEAD = 4096, 64, 10_000_000, 5000


@dataclass(frozen=True)
class Option:
    """An option as the protocol describes it."""

    name: str
    kind: str
    """spin (a whole number), check (true or false) or string"""
    default: int | bool | str
    low: int = 0
    high: int = 0

    def read(self, text: str) -> int | bool | str:
        """The value that a text means."""
        if self.kind == "string":
            return "" if text == "<empty>" else text
        if self.kind == "check":
            if text not in ("true", "false"):
                raise InvalidValue(f"the option {self.name} is true or false, not {shorten(text)!r}")
            return text == "true"
        digits = text.isascii() and text.isdecimal() and len(text) < 12
        if not digits or not self.low <= int(text) <= self.high:
            raise InvalidValue(f"the option {self.name} is {self.low} to {self.high}, not {shorten(text)!r}")
        return int(text)


def describe(option: Option) -> str:
    """The line by which an engine tells a GUI about an option."""
    default = (
        str(option.default).lower() if option.kind == "check" else "<empty>" if option.default == "" else option.default
    )
    limits = f" min {option.low} max {option.high}" if option.kind == "spin" else ""
    return f"option name {option.name} type {option.kind} default {default}{limits}"


def _option(name: str, kind: str, default: int | bool | str, low: int = 0, high: int = 0) -> Any:
    return field(default=default, metadata={"option": Option(name, kind, default, low, high)})


@dataclass(frozen=True)
class Settings:
    """The present value of each option."""

    hash: int = _option("Hash", "spin", 64, 1, MOST_HASH)
    threads: int = _option("Threads", "spin", 1, 1, max(1, os.cpu_count() or 1))
    lines: int = _option("MultiPV", "spin", 1, 1, MOST_LINES)
    ponder: bool = _option("Ponder", "check", False)
    overhead_ms: int = _option("Move Overhead", "spin", 100, 0, LONGEST_OVERHEAD)
    level: int = _option("Level", "spin", STRONGEST_LEVEL, 1, STRONGEST_LEVEL)
    limited: bool = _option("UCI_LimitStrength", "check", False)
    elo: int = _option("UCI_Elo", "spin", ELO[5], min(ELO.values()), max(ELO.values()))
    network: str = _option("Network", "string", "")
    simulations: int = _option("Simulations", "spin", 0, 0, MOST_SIMULATIONS)

    @property
    def overhead(self) -> float:
        """Seconds that may be lost between the GUI's clock and the engine's."""
        return self.overhead_ms / 1000

    def set(self, words: Sequence[str]) -> Settings:
        """The settings after `setoption name NAME value VALUE`; the case of a name does not matter."""
        text = " ".join(words)
        name, _, value = text.removeprefix("name ").partition(" value ")
        for each, option in zip(fields(self), OPTIONS, strict=True):
            if option.name.lower() == name.strip().removesuffix(" value").lower():
                return replace(self, **{each.name: option.read(value.strip())})
        raise unknown("option", name, [option.name for option in OPTIONS])

    def chosen(self, agent: str, analysis: bool = False) -> tuple[str, int, int, int]:
        """What the player depends on: the agent's spec, megabytes, threads and simulations. A limit of strength comes
        before a level, a level before a network, a network before `agent`; an analysis has full strength."""
        spec = agent
        if self.limited and not analysis:
            spec = f"elo:{self.elo}"
        elif self.level < STRONGEST_LEVEL and not analysis:
            spec = f"level:{self.level}"
        elif self.network:
            spec = f"search:model={self.network},time=1"  # a time: no limit by simulations
        return spec, self.hash, self.threads, self.simulations


OPTIONS: tuple[Option, ...] = tuple(each.metadata["option"] for each in fields(Settings))
