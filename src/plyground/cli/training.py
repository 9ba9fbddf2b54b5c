"""The command `train`; imported when it is called, because torch is slow to import."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import arg

from plyground.cli import seeds as several
from plyground.cli.display import Display
from plyground.cli.grammar import NO_WORDS, Words, hint, shown_as
from plyground.cli.resume import resume_run
from plyground.cli.running import HERE, Verbose, begun, check_cluster, run_to_end
from plyground.cli.terminal import say
from plyground.cli.words import is_game, option
from plyground.cluster.config import ClusterConfig
from plyground.errors import InvalidValue, command, shorten
from plyground.game import load
from plyground.games.typed_names import game_name, unknown_game
from plyground.learners import LEARNERS, find_learner
from plyground.learners.defaults import resolve
from plyground.learners.launch import new_run, next_free, versions
from plyground.runs import directory
from plyground.runs.directory import Run, steps_of
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS
from plyground.runs.records import Config, fit
from plyground.runs.settings import build, profile
from plyground.runs.tensorboard import summary_writer

LIVE = "write the metrics for TensorBoard too, while the run goes on"


def make_train(arguments: Sequence[str]) -> Callable[..., None]:
    """The command `train`, with the options of the learner and the defaults of the profile that the arguments name."""
    chosen = option(arguments, "--profile")
    table = read_profile(chosen) if chosen else {}
    made_with = table.pop("versions", {})
    elsewhere = build(ClusterConfig, table.pop("cluster", {}), f"the profile {chosen}")
    name = _learner_name(arguments, chosen or "", table.pop("learner", ""))
    entry = find_learner(name)
    defaults: Any = build(entry.config, table, f"the profile {chosen}") if table else tyro.MISSING_NONPROP

    def train(
        words: Annotated[Words, shown_as("LEARNER [GAME]")] = NO_WORDS,
        *,
        config: Annotated[Any, arg(name="")] = defaults,
        cluster: Annotated[ClusterConfig, arg(name="")] = elsewhere,
        profile: Annotated[str, hint("PROFILE", "none")] = "",
        out: Annotated[Path | None, hint("PATH", "a new directory in runs/")] = None,
        seeds: int = 1,
        parallel: int = 1,
        tensorboard: bool = False,
        verbose: Verbose = False,
        trust: bool = False,
    ) -> None:
        Display.verbose = verbose
        several.check_counts(seeds, parallel)
        check_cluster(cluster, parallel)
        _check_profile(profile, trust, cluster=option(arguments, "--on") is None)
        if tensorboard:
            summary_writer()  # before anything is made
        if made_with:
            _say_other_versions(chosen or "", made_with)
        others = words[1:] if name in words[:1] else words
        config = _with_game(config, others, entry.config.game, table.get("game"), profile)
        full = resolve(_with_end(config, entry.learner.limits, arguments), say)
        _say_end_without_limit(full, entry.learner.limits, arguments)
        path = out or next_free(RUNS, f"{load(full.game).label}-{name}")
        if seeds == 1:
            _train_new(name, full, path, tensorboard, cluster=cluster)
            return

        def train_one(seed: int, run: Path) -> bool:
            if steps_of(run):
                return resume_run(run, tensorboard=tensorboard, alone=False)
            return _train_new(name, replace(full, seed=seed), run, tensorboard, alone=False, cluster=cluster)

        several.train_seeds(path, full, several.Counts(seeds, parallel), train_one, arguments)

    train.__annotations__["config"] = Annotated[entry.config, arg(name="")]
    train.__doc__ = "Train an agent with a learner on a game."  # `settings.train_help` explains the options
    return train


def _learner_name(arguments: Sequence[str], chosen: str, of_profile: str) -> str:
    """The learner: the first word after `train`, or the profile's."""
    first, second = [*arguments[1:3], "", ""][:2]
    if is_game(first) and (second in LEARNERS or not of_profile):
        game, learner = first, second if second in LEARNERS else next(iter(LEARNERS))
        others = [word for word in arguments[2:] if word != learner]
        raise InvalidValue(f"the learner comes first: {command('train', learner, game, *others)}")
    named = "" if not first or first.startswith("-") or is_game(first) else first
    if named:
        find_learner(named)
    if named and of_profile and named != of_profile:
        raise InvalidValue(f"the profile {chosen} is for {of_profile}: {command('train', '--profile', chosen)}")
    asks_for_help = "--help" in arguments or "-h" in arguments
    if not named and not of_profile and not asks_for_help:
        how = f"{command('train', 'dqn', 'connect_four')}, or {command('train', '--profile', 'connect_four_demo')}"
        raise InvalidValue(f"train needs a learner first ({', '.join(LEARNERS)}) or a profile: {how}")
    return named or of_profile or next(iter(LEARNERS))


def read_profile(name: str) -> dict[str, Any]:
    """The settings of a profile, of a .toml file, or of a run."""
    if is_file(Path(name) / "config.toml"):
        return directory.read_config(Path(name))
    return fit(profile(name), Config, f"the profile {shorten(name)}")


def run_of(name: str) -> Path:
    """The run that a profile names, if it is one: by its folder, or by its config.toml."""
    place = Path(name)
    return place.parent if place.name == "config.toml" else place


def _check_profile(name: str, trusted: bool, cluster: bool) -> None:
    """Refuse a profile that is a run of somebody else and names a game file, programs or the `cluster` that would play,
    unless it is trusted."""
    run = run_of(name)
    if name and is_file(run / "config.toml"):
        if trusted:
            directory.trust_run(run)
        directory.check_trusted(run, cluster)


def _say_other_versions(name: str, made_with: Mapping[str, str]) -> None:
    now = versions()
    others = [f"{each} {old} (now {now.get(each)})" for each, old in made_with.items() if old != now.get(each)]
    if others:
        say(f"{name} was made with {', '.join(others)}: numbers may differ.")


def _with_game(config: Any, words: Sequence[str], default: str, of_profile: str | None, profile: str) -> Any:
    """The config with the game that was given as a word."""
    odd = [word for word in words if not is_game(word)]
    games, config = [game_name(word) for word in words if is_game(word)], replace(config, game=game_name(config.game))
    if odd:
        raise unknown_game(odd[0])
    if len(games) > 1:
        raise InvalidValue(f"train takes LEARNER [GAME]; two games are named: {' '.join(games)}")
    if games and config.game not in (games[0], of_profile or default):
        raise InvalidValue(f"two games are named: {games[0]} and --game {config.game}")
    config = replace(config, game=games[0]) if games else config
    if of_profile and config.game != of_profile:
        raise InvalidValue(f"the profile {profile} is for {of_profile}, not for {config.game}")
    return config


def _with_end(config: Any, limits: Sequence[str], arguments: Sequence[str]) -> Any:
    """The config with the end that the arguments name: `--seconds` alone leaves the cycles unlimited, or vice versa."""
    named = [name for name in limits if float(option(arguments, f"--{name}") or 0)]
    return replace(config, **{name: 0 for name in limits if name not in named}) if named else config


def _say_end_without_limit(config: Any, limits: Sequence[str], arguments: Sequence[str]) -> None:
    """Say what ends a run to which a limit of 0 was given, which is none."""
    none = [f"--{name} 0" for name in limits if float(option(arguments, f"--{name}") or 1) == 0]
    ends = [f"{value:g} {name}" for name in limits if (value := getattr(config, name))]
    if none:
        say(f"{' and '.join(none)}: no such limit; this run ends after {' or '.join(ends)}, or by Ctrl-C, which saves.")


@contextmanager
def _new_run(path: Path, learner: str, config: Any, cluster: ClusterConfig) -> Generator[Run]:
    """A new run directory; says so if one was begun there before."""
    unborn = directory.is_unborn(path)
    tables = {"cluster": asdict(cluster.stated())} if cluster.on else {}
    with new_run(path, learner, config, **tables) as run:
        if unborn:
            say(f"{path} was begun before, but stopped before its first checkpoint: begun anew.")
        yield run


def train_run(name: str, settings: Mapping[str, Any], path: Path, where: str, tensorboard: bool = False) -> bool:
    """Train a learner with settings from a table into a new directory; returns whether it finished."""
    return _train_new(name, resolve(build(find_learner(name).config, settings, where), say), path, tensorboard)


def _train_new(
    name: str, config: Any, path: Path, tensorboard: bool, alone: bool = True, cluster: ClusterConfig = HERE
) -> bool:
    """Train a learner into a new directory; returns whether it finished."""
    with _new_run(path, name, config, cluster) as run, begun(name, config, path, cluster) as learner:
        return run_to_end(learner, run, tensorboard, alone)
