"""How much code must be read to understand an algorithm: every project function that one iteration calls."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import plyground
from plyground.learners.alphazero import AlphaZero
from plyground.learners.config import resolve
from plyground.learners.dqn import DQN
from resumed import new_learner
from small_runs import ROW, short

HOME = Path(plyground.__file__).parent
ASIDE = ("games", "game.py", "kernels", "backend")  # rules and encoders; kernels; the device seam
MAX_FILES, MAX_LINES = 6, 900
DQN_CONFIG = DQN(game=ROW, network="16", num_envs=8, buffer_size=400, learning_starts=16, batch_size=8, threads=1)
AZ_CONFIG = AlphaZero(
    game=ROW,
    network="16+value",
    num_envs=8,
    simulations=4,
    buffer_size=400,
    learning_starts=16,
    batch_size=8,
    threads=1,
)


def called(learner: Any, iterations: int) -> set[CodeType]:
    """Every function of the project that these iterations call, at module level or in a class."""
    found: set[CodeType] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(HOME)) and "<" not in code.co_name:
            found.add(code)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        for _ in range(iterations):
            learner.iterate()
    finally:
        sys.setprofile(before)
    return found


def lines_by_file(codes: set[CodeType]) -> Counter[str]:
    """How many lines the functions of each file have, from `def` to their end; a line of two functions counts once."""
    lines = {
        (str(Path(code.co_filename).relative_to(HOME)), line)
        for code in codes
        for line in range(code.co_firstlineno, last_line(code) + 1)
    }
    return Counter(file for file, _ in lines)


def last_line(code: CodeType) -> int:
    inner = [last_line(each) for each in code.co_consts if isinstance(each, CodeType)]
    return max([line for *_, line in code.co_lines() if line is not None] + inner)


@pytest.mark.parametrize(
    ("config", "iterations", "own"),
    [
        (DQN_CONFIG, 1, "learners/dqn.py"),
        (short("ppo"), 6, "learners/ppo.py"),
        (AZ_CONFIG, 1, "learners/alphazero.py"),
    ],
    ids=["dqn", "ppo", "alphazero"],
)
def test_an_iteration_is_read_in_few_files(config: Any, iterations: int, own: str) -> None:
    learner = new_learner(resolve(config))
    for _ in range(12 * iterations):  # compile, and fill the replay buffer
        learner.iterate()
    before = learner.state.updates
    counts = lines_by_file(called(learner, iterations))
    assert learner.state.updates > before, "play and updates"
    read = {file: lines for file, lines in counts.items() if Path(file).parts[0] not in ASIDE}
    table = "\n".join(f"{lines:5} {file}{'' if file in read else ' (aside)'}" for file, lines in counts.most_common())
    print(table)
    assert own in read
    assert counts["backend/batch.py"] > 0, f"the seam was called too:\n{table}"
    assert len(read) <= MAX_FILES, f"{len(read)} files\n{table}"
    assert sum(read.values()) <= MAX_LINES, f"{sum(read.values())} lines\n{table}"
