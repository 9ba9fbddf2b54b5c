"""The commands `train` and `resume`. What needs torch is imported when they run.

`train` trains one learner, perhaps with several seeds, or the stages of a profile: collect, imitation, a learner that
fine-tunes, and verify, one after another in one folder. Every stage can be interrupted: the same command with the same
`--out` goes on where it stopped, and stages that are finished are not repeated.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

from plyground.cli.ctrl_c import SAVED, interruptible
from plyground.cli.parser import Settings, Shown, Table, Verbose, Words, typed
from plyground.cli.settings import all_groups, cluster_groups, train_help
from plyground.cli.words import is_game, one_run
from plyground.cluster.config import LEARNERS as ON_CLUSTERS
from plyground.cluster.config import ClusterConfig, from_table
from plyground.errors import InvalidValue, command, shorten, unknown
from plyground.games.typed_names import game_name, unknown_game
from plyground.learners import LEARNERS, find_learner
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, runs_of
from plyground.runs.records import Config, fit
from plyground.runs.settings import build, read_toml
from plyground.runs.settings import profile as read_profile

COLLECT, IMITATION, VERIFY = "collect", "imitation", "verify"  # stages; between the last two there may be a learner
DATASET, REPORT = "teacher.ndjson", "report.md"  # a run has a report when it is finished
LIVE = "write the metrics for TensorBoard too, while the run goes on"
Live = Annotated[bool, Shown(meaning=LIVE)]


def train(
    words: Annotated[Words, Shown("LEARNER [GAME]")] = (),
    profile: Annotated[str, Shown("PROFILE", "none")] = "",
    out: Annotated[Path | None, Shown("PATH", "a new one in runs/")] = None,
    seeds: int = 1,
    parallel: int = 1,
    tensorboard: Live = False,
    verbose: Verbose = False,
    trust: bool = False,
    help: Annotated[bool, Shown(short="-h")] = False,  # noqa: A002 (the option's name)
    *,
    config: Annotated[Table, Settings(all_groups)],
    cluster: Annotated[Table, Settings(cluster_groups)],
) -> None:
    """Train an agent with a learner on a game.

    Args:
        words: see below, and `plyground games`; a profile names both
        profile: settings to begin with: one of `plyground profiles`, a .toml file, or a run, to repeat it
        out: the run's directory, or that of seed-0, seed-1, ... of several seeds
        seeds: train this many seeds, from --seed on, one after another
        parallel: how many seeds are trained at a time, each by a process with one thread
        trust: use the game file, programs and cluster that a profile names which is a run of somebody else; remembered
        help: show this help; behind a learner or a profile with all its settings
    """
    table = profile_of(profile) if profile else {}
    if help:
        named = next((word for word in words if word in LEARNERS), "" if COLLECT in table else table.get("learner", ""))
        print(train_help(named, profile, table))
        return
    if COLLECT in table:
        check_stages(profile, table)
        others = [f"--{name.replace('_', '-')}" for name in (*config, *cluster) if name != "seed"]
        others += ["--seeds"] * (seeds != 1) + ["--parallel"] * (parallel != 1) + ["--trust"] * trust
        if words:
            how = command("train", "--profile", profile)
            raise InvalidValue(f"the profile {profile} names its learners and its game itself: {how}")
        if others:
            own = ("--profile", "--out", "--seed", "--tensorboard", "--verbose")
            raise unknown("option of a profile with stages", others[0], own)
        train_in_stages(profile, table, out, config.get("seed", 0), tensorboard, verbose)
        return
    name, settings, place = planned(words, profile, table, config, cluster)

    from plyground.agents.search import TREE_GAMES, can_search_trees
    from plyground.cli import running
    from plyground.cli import seeds as several
    from plyground.cli.display import Display
    from plyground.cli.terminal import say
    from plyground.game import load
    from plyground.learners.defaults import resolve
    from plyground.learners.launch import next_free, versions
    from plyground.runs import directory
    from plyground.runs.tensorboard import summary_writer

    limits = LEARNERS[name].learner.limits
    with interruptible(signal.SIGTERM, kept=SAVED):  # all is imported that does not bear an exception
        Display.verbose = verbose or table.get("verbose", False)
        several.check_counts(seeds, parallel)
        running.check_cluster(place, parallel)
        if run := run_of(profile):  # perhaps somebody else's: it names files and programs
            if trust:
                directory.trust_run(run)
            directory.check_trusted(run, "on" not in cluster)
        if tensorboard:
            summary_writer()  # before anything is made
        if name == "alphazero" and not can_search_trees(load(settings.game)):
            how = command("train", "ppo", settings.game)
            raise InvalidValue(f"alphazero is for {TREE_GAMES}; {settings.game} is not one. Another learner: {how}")
        now, made_with = versions(), table.get("versions", {})
        others = [f"{each} {old} (now {now.get(each)})" for each, old in made_with.items() if old != now.get(each)]
        if others:
            say(f"{profile} was made with {', '.join(others)}: numbers may differ.")
        full = resolve(with_end(settings, limits, config), say)
        endless = [f"--{limit} 0" for limit in limits if config.get(limit, 1) == 0]
        ends = " or ".join(f"{value:g} {limit}" for limit in limits if (value := getattr(full, limit)))
        if endless:
            say(f"{' and '.join(endless)}: no such limit; this run ends after {ends}, or by Ctrl-C, which saves.")
        path = out or next_free(RUNS, f"{load(full.game).label}-{name}")
        if seeds == 1:
            running.train_new(name, full, path, tensorboard, cluster=place)
            return

        def train_one(seed: int, there: Path) -> bool:
            if directory.steps_of(there):
                return running.resume_run(there, tensorboard=tensorboard, alone=False)
            one = replace(full, seed=seed)
            return running.train_new(name, one, there, tensorboard, alone=False, cluster=place)

        own = {"profile": profile, "tensorboard": tensorboard, "verbose": verbose, "trust": trust}
        given = {each: value for each, value in {**config, **cluster}.items() if each != "seed"}
        again = ["train", *typed(words, {each: value for each, value in own.items() if value} | given)]
        several.train_seeds(path, full, seeds, parallel, train_one, again)


def planned(
    words: Sequence[str], profile: str, table: Table, config: Table, cluster: Table
) -> tuple[str, Any, ClusterConfig]:
    """The learner, its settings and the cluster that a line names: by its words, by what it gives of the settings, and
    by the `table` of its profile."""
    of_profile, of_game, where = table.get("learner", ""), table.get("game"), f"the profile {profile}"
    learners, games = [word for word in words if word in LEARNERS], [game_name(word) for word in words if is_game(word)]
    odd = [word for word in words if word not in LEARNERS and not is_game(word)]
    if odd and not learners and not of_profile:
        find_learner(odd[0])
    if odd:
        raise unknown_game(odd[0])
    if len(learners) > 1 or len(games) > 1:
        what, named = ("games", games) if len(games) > 1 else ("learners", learners)
        raise InvalidValue(f"train takes LEARNER [GAME]; two {what} are named: {' '.join(named)}")
    if not learners and not of_profile:
        how = command("train", "dqn", *(games or ["connect_four"]))
        how += f", or {command('train', '--profile', 'connect_four_demo')}"
        raise InvalidValue(f"train needs a learner ({', '.join(LEARNERS)}) or a profile: {how}")
    if learners and of_profile and learners[0] != of_profile:
        raise InvalidValue(f"{where} is for {of_profile}: {command('train', '--profile', profile)}")
    name = learners[0] if learners else of_profile
    entry = find_learner(name)
    known = {each: {field.name for field in fields(LEARNERS[each].config)} for each in LEARNERS}
    for each in ON_CLUSTERS:
        known[each] |= {field.name for field in fields(ClusterConfig)}
    for setting in (*config, *cluster):
        if setting not in known[name]:
            owners = ", ".join(each for each in LEARNERS if setting in known[each])
            flag, how = f"--{setting.replace('_', '-')}", command("train", name, "--help")
            raise InvalidValue(f"{flag} is an option of {owners}, not of {name}: see {how}")
    game = game_name(config.get("game") or of_game or entry.config.game)
    if games and "game" in config and games[0] != game:
        raise InvalidValue(f"two games are named: {games[0]} and --game {game}")
    game = games[0] if games else game
    if of_game and game != game_name(of_game):
        raise InvalidValue(f"{where} is for {of_game}, not for {game}")
    own = {each: value for each, value in table.items() if each not in ("learner", "versions", "cluster", "verbose")}
    place = replace(from_table(table, where), **cluster)
    return name, build(entry.config, {**own, **config, "game": game}, where), place


def run_of(profile: str) -> Path | None:
    """The run that a profile is, if it is one: by its folder, or by its config.toml."""
    run = Path(profile).parent if Path(profile).name == "config.toml" else Path(profile)
    return run if profile and is_file(run / "config.toml") else None


def profile_of(name: str) -> dict[str, Any]:
    """The settings of a profile, of a .toml file, or of a run; or a table for each stage."""
    table = read_toml(Path(name) / "config.toml") if is_file(Path(name) / "config.toml") else read_profile(name)
    table = fit(table, Config, f"the profile {shorten(name)}")
    if COLLECT in table and run_of(name):
        raise InvalidValue(f"{name} is no run, which has one learner; a profile with stages has another file name")
    return table


def with_end(config: Any, limits: Sequence[str], given: Table) -> Any:
    """The config with the end that is given: `--seconds` alone leaves the cycles unlimited, or vice versa."""
    named = [limit for limit in limits if given.get(limit)]
    return replace(config, **{limit: 0 for limit in limits if limit not in named}) if named else config


# ---- stages ----


def check_stages(name: str, table: Mapping[str, Any]) -> None:
    """Refuse a profile whose stages are not collect, imitation, perhaps a learner that continues, and verify."""
    stages, tuned = list(table), [stage for stage in table if stage not in (COLLECT, IMITATION, VERIFY)]
    if stages != [COLLECT, IMITATION, *tuned, VERIFY] or len(tuned) > 1 or not set(tuned) <= set(LEARNERS):
        right = f"[{COLLECT}], [{IMITATION}], [dqn] (or another learner, or none), [{VERIFY}]"
        raise InvalidValue(f"the stages of the profile {name} are {right} in this order, not {', '.join(stages)}")
    odd = [stage for stage, settings in table.items() if not isinstance(settings, dict)]
    if odd:
        raise InvalidValue(f"{odd[0]} of the profile {name} is a table of settings, not {table[odd[0]]!r}")
    if set(table[VERIFY]) > {"games"}:
        raise unknown(f"setting of [{VERIFY}] of the profile {name}", next(iter(table[VERIFY])), ("games",))


def train_in_stages(
    name: str, table: Mapping[str, Any], out: Path | None, seed: int, tensorboard: bool, verbose: bool
) -> None:
    """Each stage to its end, or further where it was begun; the settings of the last are those of the first."""
    from plyground.cli import running, teach
    from plyground.cli.display import Display
    from plyground.cli.terminal import say, say_command
    from plyground.learners.defaults import resolve
    from plyground.learners.launch import next_free
    from plyground.runs.directory import steps_of
    from plyground.runs.tensorboard import summary_writer
    from plyground.teaching.config import Collect

    Display.verbose = verbose
    if tensorboard:
        summary_writer()  # before anything is made
    with interruptible(signal.SIGTERM, kept=SAVED):
        folder = out or next_free(RUNS, Path(name).stem)
        tuned = next((stage for stage in table if stage not in (COLLECT, IMITATION, VERIFY)), "")
        for stage, settings in table.items():
            where = f"[{stage}] of the profile {name}"
            made = {COLLECT: DATASET, VERIFY: f"{IMITATION}/verify.md"}.get(stage, stage)
            say(f"── {stage}: {folder / made}")
            collect, run, finished = build(Collect, {**table[COLLECT], "seed": seed}, where), folder / stage, True
            if stage == COLLECT:
                finished = teach.collect_into(folder / DATASET, collect)
            elif stage == VERIFY:
                data, games = folder / tuned if tuned else None, settings.get("games", 100)
                teach.verify((str(folder / IMITATION),), data, None, games, collect.depth, collect.quiescence)
            elif (run / REPORT).exists():
                pass
            elif steps_of(run):
                finished = running.resume_run(run, tensorboard=tensorboard)
            else:
                begun = {"init": str(folder / IMITATION)}
                begun = {"data": [str(folder / DATASET)]} if stage == IMITATION else begun
                own = {**settings, **begun, "game": collect.game, "seed": seed}
                config = resolve(build(find_learner(stage).config, own, where), say)
                finished = running.train_new(stage, config, run, tensorboard)
            if not finished:
                again = command("train", "--profile", name, "--out", folder, *(["--seed", seed] if seed else []))
                say_command("The stages before are finished. Continue with:", again)
                return


# ---- resume ----


def resume(
    words: Annotated[Words, Shown("RUN")] = (),
    cycles: Annotated[int | None, Shown("INT", "as it was")] = None,
    seconds: Annotated[float | None, Shown("FLOAT", "as it was")] = None,
    epochs: Annotated[int | None, Shown("INT", "as it was")] = None,
    on: Annotated[str | None, Shown("TEXT", "as it was")] = None,
    actors: Annotated[int | None, Shown("INT", "as it was")] = None,
    force: bool = False,
    tensorboard: Live = False,
    verbose: Verbose = False,
    mine: bool = False,
    trust: bool = False,
) -> None:
    """Continue a run exactly where it stopped; a finished one needs a later end.

    Of several seeds each is continued in turn. Schedules (learning rate, exploration) follow the share of the run that
    is done: with a later end they rise again.

    Args:
        words: a run's directory, or the folder of several seeds
        cycles: a later end, counted from the beginning of the run
        seconds: the same in seconds of play and updates
        epochs: the same for an imitation run
        on: the cluster that plays from now on: ray, ray://HOST:PORT, an address file; '' for this machine alone
        actors: processes that play there
        force: resume although the rules, the encoder or the network code have changed since the checkpoint was made
        mine: it is your own, from another machine: use its positions, and the game file, programs and cluster that it
            names; remembered
        trust: the same for a run whose author you trust
    """
    run, given = one_run("resume", words), {"cycles": cycles, "seconds": seconds, "epochs": epochs}

    from plyground.cli import seeds as several
    from plyground.cli.display import Display
    from plyground.cli.running import resume_run
    from plyground.runs.directory import trust_run
    from plyground.runs.tensorboard import summary_writer

    with interruptible(signal.SIGTERM, kept=SAVED):
        Display.verbose = verbose
        limits = {name: value for name, value in given.items() if value is not None}
        if tensorboard:
            summary_writer()  # before anything is changed
        seeds = runs_of(run)
        for path in seeds if mine or trust else ():
            trust_run(path)
        where = {name: value for name, value in (("on", on), ("actors", actors)) if value is not None}
        if seeds == [run]:
            resume_run(run, limits, force, tensorboard, cluster=where)
            return
        unfinished = [path for path in seeds if limits or not several.is_finished(path)]
        if all(resume_run(path, limits, force, tensorboard, alone=False, cluster=where) for path in unfinished):
            several.show_seeds(run)
