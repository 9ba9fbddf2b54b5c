"""How many moves a second a table learns from, on one core: `python benchmarks/tables.py`.

CPU time of one thread, all of it: choosing, correcting, the rules, and the opponents where there are any.
"""

from __future__ import annotations

import statistics
import time

from plyground.learners.config import Tabular
from plyground.learners.defaults import resolve
from plyground.learners.tabular import TabularLearner

SECONDS, PARTS = 1.0, 5


def moves_per_second(config: Tabular) -> list[float]:
    learner, found = TabularLearner(resolve(config)), list[float]()
    for _ in range(50):
        learner.iterate()
    for _ in range(PARTS):
        begun, before = time.process_time(), learner.state.plies
        while time.process_time() - begun < SECONDS:
            learner.iterate()
        found.append((learner.state.plies - before) / (time.process_time() - begun))
    return found


if __name__ == "__main__":
    for key in ("patterns", "cards"):
        for opponents in (("1 self",), ("1 self", "1 greedy", "1 window")):
            config = Tabular(game="sequence", key=key, opponents=opponents, prior=20.0, epsilon=0.2)
            rates = moves_per_second(config)
            print(
                f"sequence, {key}, {' '.join(opponents)}: {statistics.median(rates):,.0f} learning moves a second "
                f"({min(rates):,.0f} to {max(rates):,.0f})"
            )
