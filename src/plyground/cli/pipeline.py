"""Profiles with stages: collect, imitation, a learner that fine-tunes, and verify, one after another in one folder.

Such a profile has a table for each stage. Every stage can be interrupted: the same command with the same `--out` goes
on where it stopped, and stages that are finished are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from plyground.agents.search import TREE_GAMES, can_search_trees
from plyground.cli import resume, teach, training
from plyground.cli.display import Display
from plyground.cli.grammar import hint
from plyground.cli.running import Verbose
from plyground.cli.terminal import say, say_command
from plyground.cli.words import is_game, option
from plyground.errors import InvalidValue, command
from plyground.game import load
from plyground.games.typed_names import game_name
from plyground.learners import LEARNERS
from plyground.learners.launch import next_free
from plyground.runs.directory import steps_of
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS
from plyground.runs.settings import build
from plyground.runs.tensorboard import summary_writer
from plyground.teaching.collect import Collect

COLLECT, IMITATION, VERIFY = "collect", "imitation", "verify"
DATASET, REPORT = "teacher.ndjson", "report.md"  # a run has a report when it is finished


@dataclass(frozen=True)
class Verify:
    """The settings of the last stage; the teacher is that of the first."""

    games: int = 100


def make_train(arguments: Sequence[str]) -> Callable[..., None]:
    """The command `train`: of one learner or, where the profile has stages, of all of them."""
    name = option(arguments, "--profile")
    table = training.read_profile(name) if name else {}
    if name and COLLECT in table:
        if is_file(training.run_of(name) / "config.toml"):
            raise InvalidValue(f"{name} is no run, which has one learner; a profile with stages has another file name")
        check_stages(name, table)
        if arguments[1:2] and not arguments[1].startswith("-"):
            how = command("train", "--profile", name)
            raise InvalidValue(f"the profile {name} names its learners and its game itself: {how}")
        return _make_pipeline(name, table)
    _check_searchable(arguments)
    return training.make_train(arguments)


def _check_searchable(arguments: Sequence[str]) -> None:
    """Refuse a game that alphazero cannot search before anything is compiled for it."""
    games = [load(game_name(word)) for word in arguments[2:] if arguments[1] == "alphazero" and is_game(word)]
    if games and not can_search_trees(games[0]):
        how = command("train", "ppo", *arguments[2:])
        raise InvalidValue(f"alphazero is for {TREE_GAMES}; {games[0]} is not one. Another learner: {how}")


def check_stages(name: str, table: Mapping[str, Any]) -> None:
    """Refuse a profile whose stages are not collect, imitation, perhaps a learner that continues, and verify."""
    stages, tuned = list(table), [stage for stage in table if stage not in (COLLECT, IMITATION, VERIFY)]
    if stages != [COLLECT, IMITATION, *tuned, VERIFY] or len(tuned) > 1 or not set(tuned) <= set(LEARNERS):
        right = f"[{COLLECT}], [{IMITATION}], [dqn] (or another learner, or none), [{VERIFY}]"
        raise InvalidValue(f"the stages of the profile {name} are {right} in this order, not {', '.join(stages)}")
    odd = [stage for stage, settings in table.items() if not isinstance(settings, dict)]
    if odd:
        raise InvalidValue(f"{odd[0]} of the profile {name} is a table of settings, not {table[odd[0]]!r}")


def _make_pipeline(name: str, table: Mapping[str, Any]) -> Callable[..., None]:
    def train(
        *,
        profile: Annotated[str, hint("PROFILE", "none")] = name,
        out: Annotated[Path | None, hint("PATH", "a new folder in runs/")] = None,
        seed: int = 0,
        tensorboard: bool = False,
        verbose: Verbose = False,
    ) -> None:
        Display.verbose = verbose
        if tensorboard:
            summary_writer()  # before anything is made
        folder = out or next_free(RUNS, Path(name).stem)
        for stage in table:
            say(f"── {stage}: {folder / _place(stage)}")
            if not _run_stage(stage, table, folder, seed, f"[{stage}] of the profile {name}", tensorboard):
                again = command("train", "--profile", profile, "--out", folder, *(["--seed", seed] if seed else []))
                say_command("The stages before are finished. Continue with:", again)
                return

    train.__doc__ = f"""Train in stages: {", ".join(table)}. The settings are those of the profile {name}.

    Args:
        profile: a profile with stages, or a .toml file of that form
        out: the folder of all stages; stages that are finished there are not repeated
        seed: of all stages
        tensorboard: {training.LIVE}
        verbose: show all numbers; otherwise plain words
    """
    return train


def _place(stage: str) -> str:
    """The file or folder that a stage makes."""
    return {COLLECT: DATASET, VERIFY: f"{IMITATION}/verify.md"}.get(stage, stage)


def _run_stage(
    stage: str, table: Mapping[str, Any], folder: Path, seed: int, where: str, tensorboard: bool = False
) -> bool:
    """Run a stage to its end, or continue it; returns whether it is finished."""
    collect = build(Collect, {**table[COLLECT], "seed": seed}, where)
    if stage == COLLECT:
        return teach.collect_into(folder / DATASET, collect)
    if stage == VERIFY:
        settings = build(Verify, table[VERIFY], where)
        tuned = next((folder / each for each in table if each not in (COLLECT, IMITATION, VERIFY)), None)
        teach.verify(folder / IMITATION, tuned, None, settings.games, collect.depth, collect.quiescence)
        return True
    run = folder / stage
    if (run / REPORT).exists():
        return True
    if steps_of(run):
        return resume.resume_run(run, tensorboard=tensorboard)
    begun = {"data": [str(folder / DATASET)]} if stage == IMITATION else {"init": str(folder / IMITATION)}
    settings = {**table[stage], **begun, "game": collect.game, "seed": seed}
    return training.train_run(stage, settings, run, where, tensorboard)
