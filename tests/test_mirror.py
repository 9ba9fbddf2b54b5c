"""Tests mirror the source: `src/plyground/a/b.py` is tested in `tests/a/test_b.py`."""

from __future__ import annotations

import pytest

from source import FILES, TESTS, check_exceptions, name_of

pytestmark = pytest.mark.once
GPU = "compiled in kernels/test_ptx and compared with the CPU in backend/"
ELSEWHERE = {
    "search/arrays.py": "data types alone; test_minimax and test_alpha_beta use them",
    "kernels/arrays.py": "data types alone; the tests of the kernels that take them use them",
    "kernels/cuda_advantages.py": GPU,
    "kernels/cuda_choose.py": GPU,
    "kernels/cuda_encode.py": GPU,
    "kernels/cuda_evaluate.py": GPU,
    "kernels/cuda_expand.py": GPU,
    "kernels/cuda_mask.py": GPU,
    "kernels/cuda_replay.py": GPU,
    "kernels/cuda_rules.py": GPU,
    "kernels/slots.py": "stubs, which every kernel replaces; kernels/test_cache fills them",
}
"""modules without a test file of their own, and the reason"""

NOT_YET: set[str] = {
    "agents/simple.py",
    "agents/tabular.py",
    "checks/laws.py",
    "checks/speed.py",
    "cli/reports.py",
    "cli/terminal.py",
    "games/bits.py",
    "games/chess/board.py",
    "games/chess/evaluate.py",
    "games/chess/moves.py",
    "games/connect_four/agents.py",
    "games/connect_four/perfect.py",
    "games/connect_four/positions.py",
    "games/connect_four/solver/arrays.py",
    "games/connect_four/solver/book.py",
    "games/connect_four/solver/kernels.py",
    "games/connect_four/solver/make_book.py",
    "games/encoder.py",
    "games/interface.py",
    "games/paco_sako/analysis.py",
    "games/paco_sako/board.py",
    "games/paco_sako/encoders.py",
    "games/paco_sako/kernels.py",
    "games/paco_sako/search.py",
    "games/sequence/cards.py",
    "games/sequence/text.py",
    "games/table_key.py",
    "kernels/table.py",
    "kernels/tabular.py",
    "learners/a2c.py",
    "learners/arrays.py",
    "learners/clock.py",
    "learners/evaluation.py",
    "learners/experience.py",
    "learners/learner.py",
    "learners/loop.py",
    "learners/memory_learner.py",
    "learners/network_learner.py",
    "learners/on_the_gpu.py",
    "learners/ppo.py",
    "learners/reinforce.py",
    "learners/selfplay.py",
    "position.py",
    "report/pictures.py",
    "report/run.py",
    "report/table.py",
    "runs/files.py",
    "runs/slim.py",
    "runs/tensorboard.py",
    "search/alpha_beta.py",
    "specs.py",
    "teaching/dataset.py",
    "teaching/examples.py",
    "teaching/inspect.py",
    "teaching/losses.py",
    "teaching/verify.py",
}
"""modules whose test file is still to be written; an entry that is no longer needed fails too"""


def test_every_module_has_a_test_file() -> None:
    missing: dict[str, str] = {}
    for path in FILES:
        name = name_of(path)
        test = TESTS / name.replace(path.name, f"test_{path.name}")
        if not path.stem.startswith("__") and name not in ELSEWHERE and not test.exists():
            missing[name] = f"has no {test.relative_to(TESTS.parent)}"
    check_exceptions(missing, NOT_YET, "modules without a test file")


def test_reasons_are_given_only_where_a_test_file_is_missing() -> None:
    names = {name_of(path) for path in FILES}
    for name in ELSEWHERE:
        folder, _, file = name.rpartition("/")
        assert name in names, f"{name} is gone"
        assert not (TESTS / folder / f"test_{file}").exists(), f"{name} has a test file after all"


def test_every_test_file_has_a_module() -> None:
    """A test file of a folder that `src` has too is named after a module, or listed here with what it is about."""
    stems = {name_of(path).removesuffix(".py") for path in FILES}
    rooms = {name.split("/")[0] for name in stems if "/" in name}
    strays = {
        test.relative_to(TESTS).as_posix(): "has no module of its name"
        for test in TESTS.rglob("test_*.py")
        if test.relative_to(TESTS).parts[0] in rooms
        and test.relative_to(TESTS).as_posix().replace("/test_", "/").removesuffix(".py") not in stems
    }
    check_exceptions(strays, ABOUT_MORE, "test files without a module")


ABOUT_MORE: set[str] = {
    "arena/test_bradley_terry.py",
    "backend/test_seam.py",
    "cli/test_sequence_in_the_terminal.py",
    "cli/test_table_commands.py",
    "games/chess/test_agents.py",
    "games/sequence/test_hidden.py",
    "games/test_laws.py",
    "games/test_perft.py",
    "games/test_playthroughs.py",
    "kernels/test_ptx.py",
    "learners/test_every_learner.py",
    "learners/test_threads.py",
}
"""test files that are about several modules, or about behaviour"""
