"""The commands `train` and `resume`; imported when one of them is called, because torch is slow to import."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import arg

from plyground.backend.device import explain_out_of_memory
from plyground.cli import seeds as several
from plyground.cli.ctrl_c import stop_on_signal
from plyground.cli.display import Display, show_report
from plyground.cli.grammar import NO_WORDS, Words, hint, shown_as
from plyground.cli.guesses import game_name, is_game, one_run, option
from plyground.cli.terminal import say
from plyground.errors import InvalidValue, command, unknown
from plyground.game import load
from plyground.games import GAMES
from plyground.learners import LEARNERS, find_learner, training
from plyground.learners.config import resolve
from plyground.learners.evaluation import Event
from plyground.learners.launch import SMALLER, begin, new_run, next_free, versions
from plyground.learners.saving import changed_limits
from plyground.learners.training import Learner
from plyground.report.run import write_report
from plyground.runs import directory, fingerprints
from plyground.runs.directory import Run, find_checkpoint, steps_of
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, runs_of
from plyground.runs.settings import build, profile, to_toml
from plyground.runs.tensorboard import record_events, summary_writer
from plyground.runs.trust import check_programs

NOT_SETTINGS = ("learner", "versions")  # in config.toml, beside the settings
TRUST = "use the game file and the programs that it names, although it was not trained here; remembered"
LIVE = "write the metrics for TensorBoard too, while the run goes on"
Verbose = Annotated[bool, arg(aliases=("-v",))]


# ---- train ----


def make_train(arguments: Sequence[str]) -> Callable[..., None]:
    """The command `train`, with the options of the learner and the defaults of the profile that the arguments name."""
    chosen = option(arguments, "--profile")
    table = read_profile(chosen) if chosen else {}
    made_with = table.pop("versions", {})
    name = _learner_name(arguments, chosen or "", table.pop("learner", ""))
    entry = find_learner(name)
    defaults: Any = build(entry.config, table, f"the profile {chosen}") if table else tyro.MISSING_NONPROP

    def train(
        words: Annotated[Words, shown_as("LEARNER [GAME]")] = NO_WORDS,
        *,
        config: Annotated[Any, arg(name="")] = defaults,
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
        _check_profile(profile, trust)
        if tensorboard:
            summary_writer()  # before anything is made
        if made_with:
            _say_other_versions(chosen or "", made_with)
        others = words[1:] if name in words[:1] else words
        config = _with_game(config, others, entry.config.game, table.get("game"), profile)
        full = resolve(_with_end(config, entry.learner.limits, arguments), say)
        path = out or next_free(RUNS, f"{load(full.game).label}-{name}")
        if seeds == 1:
            _train_new(name, full, path, tensorboard)
            return

        def train_one(seed: int, run: Path) -> bool:
            if steps_of(run):
                return resume_run(run, tensorboard=tensorboard, alone=False)
            return _train_new(name, replace(full, seed=seed), run, tensorboard, alone=False)

        several.train_seeds(path, full, several.Counts(seeds, parallel), train_one, arguments)

    train.__annotations__["config"] = Annotated[entry.config, arg(name="")]
    train.__doc__ = "Train an agent with a learner on a game."  # `settings.train_help` explains the options
    return train


def _learner_name(arguments: Sequence[str], chosen: str, of_profile: str) -> str:
    """The learner: the first word after `train`, or the profile's."""
    first, second = [*arguments[1:3], "", ""][:2]
    if is_game(first) and (second in LEARNERS or not of_profile):
        game, learner = first, second if second in LEARNERS else next(iter(LEARNERS))
        raise InvalidValue(f"the learner comes first: {command('train', learner, game)}")
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
    return directory.read_config(Path(name)) if is_file(Path(name) / "config.toml") else profile(name)


def run_of(name: str) -> Path:
    """The run that a profile names, if it is one: by its folder, or by its config.toml."""
    place = Path(name)
    return place.parent if place.name == "config.toml" else place


def _check_profile(name: str, trusted: bool) -> None:
    """Refuse a profile that is a run of somebody else and names a game file or programs, unless it is trusted."""
    run = run_of(name)
    if name and is_file(run / "config.toml"):
        if trusted:
            directory.trust_run(run)
        directory.check_trusted(run)


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
        raise unknown("game", odd[0], (*GAMES, "a path to a game's .py file"))
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


@contextmanager
def _new_run(path: Path, learner: str, config: Any) -> Generator[Run]:
    """A new run directory; says so if one was begun there before."""
    unborn = directory.is_unborn(path)
    with new_run(path, learner, config) as run:
        if unborn:
            say(f"{path} was begun before, but stopped before its first checkpoint: begun anew.")
        yield run


def train_run(name: str, settings: Mapping[str, Any], path: Path, where: str, tensorboard: bool = False) -> bool:
    """Train a learner with settings from a table into a new directory; returns whether it finished."""
    return _train_new(name, resolve(build(find_learner(name).config, settings, where), say), path, tensorboard)


def _train_new(name: str, config: Any, path: Path, tensorboard: bool, alone: bool = True) -> bool:
    """Train a learner into a new directory; returns whether it finished."""
    with _new_run(path, name, config) as run:
        return _train(begin(find_learner(name).learner, config, path), run, tensorboard, alone)


def _train(learner: Learner, run: Run, tensorboard: bool = False, alone: bool = True) -> bool:
    """Train to the end or until a signal; then print a report and, if it is not one of several seeds, how to go on.
    Returns whether it finished."""
    with (
        _live_events(run, tensorboard) as show,
        stop_on_signal() as stop,
        Display() as display,
        explain_out_of_memory(SMALLER),
    ):

        def emit(event: Event) -> None:
            display(event)
            show(event)

        finished = training.train(learner, run, emit, lambda: bool(stop))
    if not finished:
        say(f"Stopped and saved at step {learner.state.step}. Continue with: {command('resume', run.path)}")
        return False
    show_report(write_report(run.path))
    if alone:
        _say_what_next(learner, run)
    return True


def _say_what_next(learner: Learner, run: Run) -> None:
    if (run.path / "curves.png").exists():
        say(f"The curves as a picture: {run.path / 'curves.png'}")
    ended = next(iter(_reached(learner)), learner.limits[0])
    longer = command("resume", run.path, f"--{ended}", 2 * getattr(learner.config, ended))
    say(f"This run is finished. To train it longer: {longer}")
    if (run.path / directory.HELD_OUT).exists():
        say(f"Compare it with its teacher: {command('teach', 'verify', run.path)}")
    say(f"Play against it: {command('play', directory.game_of(run.path), f'run:{run.path}')}")


@contextmanager
def _live_events(run: Run, wanted: bool) -> Generator[Callable[[Event], None]]:
    """Writes events for TensorBoard, if that is wanted."""
    if not wanted:
        yield lambda event: None
        return
    with record_events(run.path) as events:
        say(f"Watch it with: tensorboard --logdir {events.folder}")
        yield events.show


def _done(learner: Learner) -> dict[str, float]:
    """How far a learner is, by the names of its limits."""
    return {name: learner.state.seconds if name == "seconds" else learner.state.cycle for name in learner.limits}


def _reached(learner: Learner) -> list[str]:
    """The limits that a learner has reached."""
    return [name for name, done in _done(learner).items() if 0 < getattr(learner.config, name) <= done]


# ---- resume ----


def resume(
    words: Annotated[Words, shown_as("RUN")] = NO_WORDS,
    cycles: Annotated[int | None, hint("INT", "as it was")] = None,
    seconds: Annotated[float | None, hint("FLOAT", "as it was")] = None,
    epochs: Annotated[int | None, hint("INT", "as it was")] = None,
    force: bool = False,
    tensorboard: bool = False,
    verbose: Verbose = False,
    trust: bool = False,
) -> None:
    """Continue a run exactly where it stopped; a finished one needs a later end. Of several seeds, each in turn.

    Schedules (learning rate, exploration) follow the share of the run that is done: with a later end they rise again.

    Args:
        words: a run's directory, or the folder of several seeds
        cycles: a later end, counted from the beginning of the run
        seconds: the same in seconds of play and updates
        epochs: the same for an imitation run
        force: resume although the rules, the encoder or the network code have changed since the checkpoint was made
        tensorboard: write the metrics for TensorBoard too, while the run goes on
        verbose: show all numbers; otherwise plain words
        trust: use its positions, and the game file and programs that it names, if it was not trained here; remembered
    """
    Display.verbose = verbose
    run, given = one_run("resume", words), {"cycles": cycles, "seconds": seconds, "epochs": epochs}
    limits = {name: value for name, value in given.items() if value is not None}
    if tensorboard:
        summary_writer()
    seeds = runs_of(run)
    for path in seeds if trust else ():
        directory.trust_run(path)
    if seeds == [run]:
        resume_run(run, limits, force, tensorboard)
        return
    unfinished = [path for path in seeds if limits or not several.is_finished(path)]
    if all(resume_run(path, limits, force, tensorboard, alone=False) for path in unfinished):
        several.show_seeds(run)


def resume_run(
    run: Path,
    limits: Mapping[str, float] | None = None,
    force: bool = False,
    tensorboard: bool = False,
    alone: bool = True,
) -> bool:
    """Continue a run, to a later end if one is given; returns whether it finished."""
    limits = limits or {}
    with directory.open_run(run) as held:
        checkpoint = directory.newest_whole(run)
        if not force:
            checkpoint.check_unchanged(held.fingerprints)
        fingerprints.warn(checkpoint.notice(held.fingerprints))
        try:
            learner = learner_of(run, limits)
            training.load(learner, held)
            _check_limits(run, learner, limits)
        except BaseException:
            (run / directory.EXAMPLES).unlink(missing_ok=True)  # which the learner may have packed
            raise
        set_limits(held, limits)
        held.rewind(checkpoint)
        return _train(learner, held, tensorboard, alone)


def _check_limits(run: Path, learner: Learner, limits: Mapping[str, float]) -> None:
    """Refuse an end that is reached already."""
    done = _done(learner)
    for name, value in limits.items():
        if value <= done[name]:
            raise InvalidValue(f"{run} has done {done[name]:g} {name}: its end is later, not {value:g}")
    if limits:
        learner.state.stopped_early = False
    for name in _reached(learner) if limits else ():
        raise InvalidValue(f"{run} was ended by its {name}, and still is: give --{name} a later end")


def set_limits(run: Run, limits: Mapping[str, float]) -> None:
    """Write a later end into a run's config."""
    if limits:
        run.write("config.toml", to_toml({**directory.read_config(run.path), **limits}))


def settings_of(run: Path, limits: Mapping[str, float]) -> dict[str, Any]:
    """A run's settings, with another end."""
    table = directory.read_config(run)
    check_programs(run, table)
    ends = find_learner(str(table.get("learner"))).learner.limits
    for name in limits:
        if name not in ends:
            raise InvalidValue(f"the end of {run} is set by {' or '.join(ends)}, not by {name}")
    own = {name: value for name, value in table.items() if name not in NOT_SETTINGS}
    return {**own, **limits, "game": directory.game_of(run).full}


def learner_of(run: Path, limits: Mapping[str, float] | None = None) -> Any:
    """A fresh learner with a run's settings. Edited ones are refused before it is made: it could need any memory."""
    entry = find_learner(str(directory.read_config(run).get("learner")))
    config = build(entry.config, settings_of(run, limits or {}), f"{run}/config.toml")
    changed_limits(config, entry.learner.limits, find_checkpoint(run, "last"))
    return begin(entry.learner, config, run)
