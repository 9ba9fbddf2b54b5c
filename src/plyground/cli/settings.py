"""The settings of learners for people: which belong to which learner, in the help of `train`; and the profiles."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from plyground.cli.parser import Groups, Parser, Setting, Shown, Table, Words, columns, settings_of, written
from plyground.cluster.config import LEARNERS as ON_CLUSTERS
from plyground.cluster.config import ClusterConfig
from plyground.errors import command
from plyground.learners import LEARNERS
from plyground.runs.settings import PROFILES, profile
from plyground.runs.settings import profiles as names_of_profiles

# ---- the help of train ----


def groups_of(learner: str, given: Table | None = None) -> dict[str, list[Setting]]:
    """{heading: settings} of a learner, the most general first. A setting stands where it is introduced, and has the
    default that the learner gives it, or what is `given`."""
    config, found, seen = LEARNERS[learner].config, dict[str, list[Setting]](), set[str]()
    newest = {
        each.name: each._replace(default=(given or {}).get(each.name, each.default)) for each in settings_of(config)
    }
    for kind in reversed(config.__mro__[:-1]):
        own = [newest[each.name] for each in settings_of(kind, own=True) if each.name not in seen]
        seen |= {each.name for each in own}
        sharing = ", ".join(name for name, entry in LEARNERS.items() if issubclass(entry.config, kind))
        found[f"Options of {sharing}"] = own
    return found


def all_groups() -> Groups:
    """Those of all learners together."""
    return {heading: part for learner in LEARNERS for heading, part in groups_of(learner).items()}


def cluster_groups() -> Groups:
    return {"Options on a cluster": settings_of(ClusterConfig)}


def train_help(learner: str, chosen: str = "", given: Table | None = None) -> str:
    """The options of `train`: those of a learner with their defaults, which the profile `chosen` may give; without a
    learner, whose each is."""
    from plyground.cli.training import train

    known = ["", "Learners:", *(f"  {name:10} {entry.meaning}" for name, entry in LEARNERS.items())]
    if learner:
        as_chosen = f", as {chosen} sets them" if chosen else ""
        groups = {f"{heading}{as_chosen}": part for heading, part in groups_of(learner, given).items()}
        on_cluster: Groups = cluster_groups() if learner in ON_CLUSTERS else {}
        return Parser("train", train, {"config": groups, "cluster": on_cluster}).format_help() + "\n".join(known)
    (shared, settings), *others = all_groups().items()
    lines = [Parser("train", train, {"config": {shared: settings}, "cluster": {}}).format_help()[:-1], *known]
    others.append((f"Options of {' and '.join(ON_CLUSTERS)} on a cluster", settings_of(ClusterConfig)))
    for heading, part in others:
        names = ", ".join(f"--{each.name.replace('_', '-')}" for each in part)
        wrapped = textwrap.wrap(names, columns() - 2, break_on_hyphens=False)
        lines += ["", f"{heading}:", *(f"  {line}" for line in wrapped)] if part else []
    return "\n".join([*lines, "", f"Their meanings and defaults: {command('train', 'ppo', '--help')}"])


# ---- profiles ----


def profiles(words: Annotated[Words, Shown("[PROFILE]")] = ()) -> None:
    """List the profiles of `train` with their durations, or show the settings of one.

    Args:
        words: the profile to show
    """
    from plyground.cli.terminal import say, say_command, show_rows

    if words:
        say("\n".join(show_profile(words[0])))
        return
    show_rows(("profile", "learner", "game", "takes"), profile_rows())
    say_command("Train with one:", command("train", "--profile", "connect_four_demo"))
    say_command("Its settings beside the defaults:", command("profiles", "connect_four_demo"))


def comment_of(name: str) -> tuple[str, str]:
    """What a profile says of itself: how long it takes, which is its first clause, and the rest."""
    lines = (PROFILES / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    text = " ".join(line.removeprefix("# ") for line in lines if line.startswith("#"))
    duration, _, rest = re.sub(r"^([^.:;,]*)[.:;,] ?", r"\1\n", text).partition("\n")
    return duration, rest[:1].upper() + rest[1:]


def profile_rows() -> list[tuple[str, str, str, str]]:
    """Name, learner, game and duration of every profile."""
    rows: list[tuple[str, str, str, str]] = []
    for name in names_of_profiles():
        table = profile(name)
        stages = [each for each in table if isinstance(table[each], dict)]
        game = table["collect"]["game"] if stages else table["game"]
        rows.append((name, " + ".join(stages) or table["learner"], Path(game).name, comment_of(name)[0]))
    return rows


def show_profile(name: str) -> Sequence[str]:
    """A profile as lines: what it says of itself, and each setting beside the learner's default."""
    table, (duration, rest) = profile(name), comment_of(name)
    lines = [f"{duration}. {rest}".strip(), ""]
    if "learner" not in table:
        for stage, values in table.items():
            lines += [f"[{stage}]", *(f"  {setting:28} {written(value)}" for setting, value in values.items())]
        return [*lines, "", f"Train with it: {command('train', '--profile', name)}"]
    known = {each.name: each.default for each in settings_of(LEARNERS[table["learner"]].config)}
    for setting, value in table.items():
        if setting in known and known[setting] != (tuple(value) if isinstance(value, list) else value):  # pyright: ignore
            lines.append(f"  {setting:28} {written(value):40} (without it: {written(known[setting])})".rstrip())
        else:
            lines.append(f"  {setting:28} {written(value)}")
    return [*lines, "", f"Train with it: {command('train', '--profile', name)}"]
