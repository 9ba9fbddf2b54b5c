"""The commands `train` and `resume`; imported when one of them is called, because torch is slow to import."""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional, arg

from plyground.backend.device import explain_out_of_memory
from plyground.cli.display import Display, show_report
from plyground.cli.grammar import NO_WORDS, Words, hint, is_game, shown_as
from plyground.cli.terminal import say
from plyground.errors import InvalidValue, command
from plyground.game import load
from plyground.learners import LEARNERS, find_learner, training
from plyground.learners.config import resolve
from plyground.learners.evaluation import Event
from plyground.learners.launch import SMALLER, begin, new_run, next_free, versions
from plyground.learners.training import Learner
from plyground.report.run import write_report
from plyground.runs import directory, fingerprints
from plyground.runs.directory import Run
from plyground.runs.files import is_file
from plyground.runs.settings import build, profile, profiles, to_toml
from plyground.runs.tensorboard import record_events, summary_writer
from plyground.runs.trust import check_programs

NOT_SETTINGS = ("learner", "versions")  # in config.toml, beside the settings
TRUST = "use the game file and the programs that it names, although it was not trained here; remembered"
LIVE = "write the metrics for TensorBoard too, while the run goes on"
RunPath = Annotated[Path, arg(metavar="RUN", help="a run's directory")]


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
        words: Annotated[Words, shown_as("LEARNER [GAME]", f"the learner: {', '.join(LEARNERS)}")] = NO_WORDS,
        *,
        config: Annotated[Any, arg(name="")] = defaults,
        profile: Annotated[str, hint("PROFILE", "none")] = "",
        out: Annotated[Path | None, hint("PATH", "a new directory in runs/")] = None,
        tensorboard: bool = False,
        trust: bool = False,
    ) -> None:
        _check_profile(profile, trust)
        if tensorboard:
            summary_writer()  # before anything is made
        if made_with:
            _say_other_versions(chosen or "", made_with)
        others = words[1:] if name in words[:1] else words
        config = _with_game(config, others, entry.config.game, table.get("game"), profile)
        full = resolve(_with_end(config, entry.learner.limits, arguments), say)
        path = out or next_free(Path("runs"), f"{load(full.game).label}-{name}")
        with _new_run(path, name, full) as run:
            _train(begin(entry.learner, full, path), run, tensorboard)

    train.__annotations__["config"] = Annotated[entry.config, arg(name="")]
    train.__doc__ = f"""Train an agent with a learner on a game. The options below are those of {name}.

    Args:
        profile: settings to begin with: {", ".join(profiles())}; a .toml file; or a run, to repeat it
        out: the run's directory
        tensorboard: {LIVE}
        trust: {TRUST}, where the profile is a run
    """
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
    games = [word for word in words if is_game(word)]
    odd = [word for word in words if word not in games]
    if odd or len(games) > 1:
        raise InvalidValue(f"train takes LEARNER [GAME]; {' '.join(odd or games)!r} is neither")
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


def option(arguments: Sequence[str], option: str) -> str | None:
    """The value of an option, before the arguments are read in full."""
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        if argument.startswith(f"{option}="):
            return argument.removeprefix(f"{option}=")
        if argument == option:
            return following
    return None


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
    entry = find_learner(name)
    full = resolve(build(entry.config, settings, where), say)
    with _new_run(path, name, full) as run:
        return _train(begin(entry.learner, full, path), run, tensorboard)


def _train(learner: Learner, run: Run, tensorboard: bool = False) -> bool:
    """Train to the end or until a signal; then print a report. Returns whether it finished."""
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
    if (run.path / "curves.png").exists():
        say(f"The curves as a picture: {run.path / 'curves.png'}")
    ended = next(iter(_reached(learner)), learner.limits[0])
    longer = command("resume", run.path, f"--{ended}", 2 * getattr(learner.config, ended))
    say(f"This run is finished. To train it longer: {longer}")
    if (run.path / directory.HELD_OUT).exists():
        say(f"Compare it with its teacher: {command('teach', 'verify', run.path)}")
    say(f"Play against it: {command('play', directory.game_of(run.path), f'run:{run.path}')}")
    return True


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


@contextmanager
def stop_on_signal() -> Generator[list[int]]:
    """A list that receives the first Ctrl-C or SIGTERM; the second one raises KeyboardInterrupt."""
    found: list[int] = []

    def note(number: int, _: Any) -> None:
        if found:
            raise KeyboardInterrupt
        found.append(number)

    old = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield found
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


# ---- resume ----


def resume(
    run: Positional[RunPath],
    cycles: int | None = None,
    seconds: float | None = None,
    epochs: int | None = None,
    force: bool = False,
    tensorboard: bool = False,
    trust: bool = False,
) -> None:
    """Continue a run exactly where it stopped; a finished one needs a later end.

    Schedules (learning rate, exploration) follow the share of the run that is done: with a later end they rise again.

    Args:
        cycles: a later end, counted from the beginning of the run
        seconds: the same in seconds of play and updates
        epochs: the same for an imitation run
        force: resume although the rules, the encoder or the network code have changed since the checkpoint was made
        tensorboard: write the metrics for TensorBoard too, while the run goes on
        trust: use its positions, and the game file and programs that it names, if it was not trained here; remembered
    """
    if trust:
        directory.trust_run(run)
    given = {"cycles": cycles, "seconds": seconds, "epochs": epochs}
    if tensorboard:
        summary_writer()
    resume_run(run, {name: value for name, value in given.items() if value is not None}, force, tensorboard)


def resume_run(
    run: Path, limits: Mapping[str, float] | None = None, force: bool = False, tensorboard: bool = False
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
        return _train(learner, held, tensorboard)


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
    """A fresh learner with a run's settings."""
    entry = find_learner(str(directory.read_config(run).get("learner")))
    return begin(entry.learner, build(entry.config, settings_of(run, limits or {}), f"{run}/config.toml"), run)
