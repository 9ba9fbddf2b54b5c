"""The settings of learners for people: which belong to which learner, their sentences and defaults; and the profiles.

They are read from the source of the configs: importing a learner imports torch, which takes seconds.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import re
import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from plyground.cli.words import option
from plyground.cluster.config import LEARNERS as ON_CLUSTERS
from plyground.errors import InvalidValue, UnknownName, command, shorten
from plyground.learners import LEARNERS
from plyground.runs.files import is_file
from plyground.runs.settings import PROFILES, profile, profiles, read_toml

CONFIGS = "plyground.learners.config"
SHARED = {"RunConfig": CONFIGS, "NetworkConfig": CONFIGS, "PolicyConfig": CONFIGS}
"""configs that several learners inherit from, and their modules"""
OF_TRAIN = {
    "profile PROFILE": "settings to begin with: one of `plyground profiles`, a .toml file, or a run, to repeat it",
    "out PATH": "the run's directory, or that of seed-0, seed-1, ... of several seeds (default: a new one in runs/)",
    "seeds INT": "train this many seeds, from --seed on, one after another (default: 1)",
    "parallel INT": "how many seeds are trained at a time, each by a process with one thread (default: 1)",
    "tensorboard": "write the metrics for TensorBoard too, while the run goes on",
    "verbose, -v": "show all numbers, such as losses and the seconds of each part; otherwise plain words",
    "trust": "use the game file, programs and cluster that a profile names which is a run of somebody else; remembered",
}
"""the options of `train` beside the settings, with their sentences"""
KINDS: dict[type, str] = {int: "INT", float: "FLOAT", str: "TEXT"}
FLAG_WIDTH, NARROWEST, WIDEST = 30, 60, 120  # characters


@dataclass(frozen=True)
class Setting:
    """One setting of a config class."""

    name: str
    default: Any
    choices: tuple[str, ...]
    sentence: str

    def option(self, value: Any) -> str:
        """How it is written on the command line, where `value` is its default."""
        flag = self.name.replace("_", "-")
        if isinstance(value, bool):
            return f"--no-{flag}" if value else f"--{flag}"
        kind = "|".join(self.choices) or KINDS.get(type(value), "TEXT ...")  # pyright: ignore
        return f"--{flag} {kind}"


# ---- the source of configs ----


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _own_settings(module: str, name: str) -> list[Setting]:
    """The settings that a class states itself, each followed by its sentence."""
    body, found = _classes(module)[name].body, list[Setting]()
    for node, following in zip(body, [*body[1:], None], strict=True):
        told = following.value if isinstance(following, ast.Expr) else None
        if isinstance(node, ast.AnnAssign) and node.value and isinstance(told, ast.Constant):
            sentence = " ".join(str(told.value).split())
            choices = re.findall(r"'([^']+)'", ast.unparse(node.annotation)) if "Literal" in ast.unparse(node) else []
            found.append(Setting(ast.unparse(node.target), _value(node.value), tuple(choices), sentence))
    return found


def _value(node: ast.expr) -> Any:
    """A default: a literal, or that of another config, such as `NetworkConfig.device`."""
    if isinstance(node, ast.Attribute):
        base = ast.unparse(node.value)
        return next(each.default for each in _own_settings(SHARED[base], base) if each.name == node.attr)
    return ast.literal_eval(node)


def settings_of(learner: str) -> dict[str, dict[str, Setting]]:
    """{whose: {name: setting}} of a learner, the most general first. A setting has the default that the learner gives
    it, and stands where it is introduced."""
    entry = LEARNERS[learner]
    parts = [(_whose(base), _own_settings(SHARED[base], base)) for base in reversed(_bases(learner))]
    parts.append((f"of {learner}", _own_settings(CONFIGS, entry.config_name)))
    newest = {each.name: each for _, part in parts for each in part}
    found: dict[str, dict[str, Setting]] = {}
    seen: set[str] = set()
    for whose, part in parts:
        found[whose] = {each.name: newest[each.name] for each in part if each.name not in seen}
        seen |= found[whose].keys()
    return found


def cluster_settings() -> dict[str, Setting]:
    """The settings of a run on a cluster."""
    return {each.name: each for each in _own_settings("plyground.cluster.config", "ClusterConfig")}


def _bases(learner: str) -> list[str]:
    """The shared configs that a learner's own inherits from."""
    node = _classes(CONFIGS)[LEARNERS[learner].config_name]
    return [base.id for base in node.bases if isinstance(base, ast.Name) and base.id in SHARED]


def _whose(base: str) -> str:
    return f"of {', '.join(name for name in LEARNERS if base in _bases(name))}"


# ---- the help of train ----


def learner_of(words: Sequence[str], chosen: str) -> str:
    """The learner that a command line names, or that its profile names; empty where there is none."""
    named = [word for word in words if word in LEARNERS]
    return named[0] if named else str(_profile(chosen).get("learner", "")) if chosen else ""


def train_help(learner: str, chosen: str = "") -> str:
    """The options of `train`; those of a learner with their sentences and the defaults, which a profile may set."""
    given = _profile(chosen) if chosen else {}
    lines = [
        "usage: plyground train LEARNER [GAME] [OPTIONS]",
        "   or: plyground train --profile PROFILE [OPTIONS]",
        "",
    ]
    lines += ["Learners:", *(f"  {name:10} {entry.meaning}" for name, entry in LEARNERS.items()), ""]
    lines += ["Options of every learner:", *_rows((f"--{flag}", told) for flag, told in OF_TRAIN.items())]
    if learner:
        for whose, part in settings_of(learner).items():
            lines += ["", f"Options {whose}{f', as {chosen} sets them' if chosen else ''}:", *_explained(part, given)]
        if learner in ON_CLUSTERS:
            lines += ["", "Options on a cluster:", *_explained(cluster_settings(), {})]
        return "\n".join(lines)
    shared = _whose("RunConfig")
    lines += ["", f"Options {shared}:", *_explained(settings_of("tabular")[shared], {})]
    for whose, names in _names_by_owner().items():
        lines += ["", f"Options {whose}:", *_wrapped(", ".join(names))]
    names = ", ".join(f"--{name.replace('_', '-')}" for name in cluster_settings())
    lines += ["", f"Options of {' and '.join(ON_CLUSTERS)} on a cluster:", *_wrapped(names)]
    return "\n".join([*lines, "", f"Their meanings and defaults: {command('train', 'ppo', '--help')}"])


def _wrapped(text: str) -> list[str]:
    return [f"  {line}" for line in textwrap.wrap(text, _width() - 2, break_on_hyphens=False)]


def check_options(words: Sequence[str]) -> None:
    """Refuse an option of `train` that the learner does not have; say whose it is, or which one is near."""
    learner = learner_of(words, option(words, "--profile") or "")
    if learner not in LEARNERS:
        return
    others = {flag.replace(",", " ").split()[0] for flag in OF_TRAIN}
    known = {name: _flags(name) for name in LEARNERS}
    for word in words:
        name = word.partition("=")[0].removeprefix("--").replace("_", "-")
        if not word.startswith("--") or name in others | known[learner] | {"help"}:
            continue
        owners, how = [each for each in LEARNERS if name in known[each]], command("train", learner, "--help")
        if owners:
            raise InvalidValue(f"--{name} is an option of {', '.join(owners)}, not of {learner}: see {how}")
        near = difflib.get_close_matches(name, [*others, *known[learner]], n=1)
        hint = f"did you mean --{near[0]}?" if near else f"see {how}"
        raise UnknownName(f"{learner} has no option --{shorten(name)}; {hint}")


def _flags(learner: str) -> set[str]:
    """The names of a learner's options; a switch also with no- before it."""
    found = {each.name.replace("_", "-") for part in settings_of(learner).values() for each in part.values()}
    found |= {name.replace("_", "-") for name in cluster_settings()} if learner in ON_CLUSTERS else set()
    return found | {f"no-{name}" for name in found}


def _names_by_owner() -> dict[str, list[str]]:
    """{whose: [option]} but for those of every run."""
    found: dict[str, list[str]] = {}
    for learner in LEARNERS:
        for whose, part in settings_of(learner).items():
            if whose != _whose("RunConfig"):
                found[whose] = [f"--{name.replace('_', '-')}" for name in part]
    return {whose: names for whose, names in found.items() if names}


def _explained(part: Mapping[str, Setting], given: Mapping[str, Any]) -> list[str]:
    rows: list[tuple[str, str]] = []
    for name, each in part.items():
        value = given.get(name, each.default)
        rows.append((each.option(each.default), f"{each.sentence} (default: {_shown(value)})"))
    return _rows(rows)


def _rows(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Options at the left, sentences at the right, as wide as the terminal."""
    found: list[str] = []
    for flag, told in rows:
        first = f"  {flag:{FLAG_WIDTH}}"
        lines = textwrap.wrap(told, _width() - FLAG_WIDTH - 3, break_on_hyphens=False)
        head = [f"{first} {lines[0]}"] if len(flag) <= FLAG_WIDTH else [first, " " * (FLAG_WIDTH + 3) + lines[0]]
        found += [*head, *(" " * (FLAG_WIDTH + 3) + line for line in lines[1:])]
    return found


def _width() -> int:
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size().columns))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"  # pyright: ignore
    return "empty" if value == "" else str(value)


def _profile(name: str) -> dict[str, Any]:
    """The settings of a profile, a .toml file or a run."""
    run = Path(name) / "config.toml"
    return read_toml(run) if is_file(run) else profile(name)


# ---- profiles ----


def comment_of(name: str) -> tuple[str, str]:
    """What a profile says of itself: how long it takes, which is its first clause, and the rest."""
    lines = (PROFILES / f"{name}.toml").read_text(encoding="utf-8").splitlines()
    text = " ".join(line.removeprefix("# ") for line in lines if line.startswith("#"))
    duration, _, rest = re.sub(r"^([^.:;,]*)[.:;,] ?", r"\1\n", text).partition("\n")
    return duration, rest[:1].upper() + rest[1:]


def profile_rows() -> list[tuple[str, str, str, str]]:
    """Name, learner, game and duration of every profile."""
    rows: list[tuple[str, str, str, str]] = []
    for name in profiles():
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
            lines += [f"[{stage}]", *(f"  {setting:28} {_shown(value)}" for setting, value in values.items())]
        return [*lines, "", f"Train with it: {command('train', '--profile', name)}"]
    known = {setting: each for part in settings_of(table["learner"]).values() for setting, each in part.items()}
    for setting, value in table.items():
        if setting in known and known[setting].default != _like(known[setting].default, value):
            lines.append(f"  {setting:28} {_shown(value):40} (without it: {_shown(known[setting].default)})".rstrip())
        else:
            lines.append(f"  {setting:28} {_shown(value)}")
    return [*lines, "", f"Train with it: {command('train', '--profile', name)}"]


def _like(default: Any, value: Any) -> Any:
    return tuple(value) if isinstance(default, tuple) else value
