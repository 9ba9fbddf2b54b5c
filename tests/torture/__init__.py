"""Proofs that run for as long as they are given: `make torture SEED=1 SECONDS=3600`.

Each module of PROOFS has one function `run(seed, seconds) -> Report`. `make test` calls the same functions for a few
seconds each (tests/torture/test_proofs.py). A proof of SHARED has a list of cases that several processes can divide:
`run(seed, seconds, Share(3, 16))`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

PROOFS = {
    "games": "the rules of each game against its twin, chess positions against python-chess",
    "files": "damaged and malformed files: only declared errors",
    "crashes": "a process that ends at any file-system call leaves a run that loads and continues bit by bit",
    "texts": "mutated texts of every parser: only declared errors, no endless loops, texts that read back",
    "engines": "UCI engines that write anything: only declared errors, nothing left behind",
    "determinism": "every command and learner with 1, 2 and 4 threads and several hash seeds: same bits",
    "store": "damaged files of kept games: the server starts, each costs its game alone",
    "archives": "damaged and foreign archives: one short sentence, nothing left, nothing beside the run",
    "faults": "a fault at any write of kept games, compiled code and trust: the next start works, nothing is lost",
    "kills": "a server that is killed while pages play has on disk all that a page was shown",
    "page": "long games through the page's workers, disturbed: each ends, somebody always thinks",
    "resources": "memory stays flat; no process, thread, file or temporary folder is left behind",
}
"""module in this folder: what it proves"""
SHARED = ("crashes", "determinism")
MOST_FINDINGS = 20  # of one proof; more of them say little more
Case = TypeVar("Case")


@dataclass
class Report:
    """The result of one proof. `counts` has further figures by name, such as kills."""

    name: str
    cases: int
    findings: list[str]
    seconds: float
    counts: Mapping[str, float] = field(default_factory=dict[str, float])


class Deadline:
    """A share of time. The first case is always tried, so that a busy machine proves something too."""

    def __init__(self, seconds: float) -> None:
        self.begun, self.seconds = time.monotonic(), seconds

    @property
    def passed(self) -> float:
        return time.monotonic() - self.begun

    def over(self, share: float = 1.0) -> bool:
        return self.passed >= share * self.seconds


class Share(NamedTuple):
    """One of `parts` parts of a list of cases, counted from 1. All parts together have each case once."""

    part: int
    parts: int

    @classmethod
    def parse(cls, text: str) -> Share:
        """3/16 is the third of 16."""
        part, parts = (int(number) for number in text.split("/"))
        if not 1 <= part <= parts:
            raise ValueError(text)
        return cls(part, parts)

    def of(self, cases: Sequence[Case]) -> Sequence[Case]:
        return cases[self.part - 1 :: self.parts]

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"
