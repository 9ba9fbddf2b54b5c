"""The words of the documents that Plyground follows (docs/documents), and the words here: commands that are options
there, layers of encoders, names of profiles, sizes of networks, and files in place of runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from plyground.cli.option_guesses import OF_TRAIN, nearest_option, plain_option
from plyground.cli.words import is_game, is_run, newest_run, option, run_path
from plyground.games.typed_names import game_name
from plyground.learners import LEARNERS
from plyground.runs.groups import RUNS
from plyground.runs.settings import profile, profiles

# ---- commands ----

DOCUMENTS = {
    "--train-advanced": "train",
    "--train-imitation": "train imitation chess",
    "--eval-baseline": "evaluate",
    "--collect": "teach collect",
}
"""a command of a document: the command here"""
OF_STAGES = ("--seed", "--out", "--tensorboard", "--verbose", "-v")  # the options of a profile with stages
CHESS_NETWORK = {"--encoder": "flat839", "--outputs": "4096", "--network": "512-256-128"}


def from_document(arguments: Sequence[str], changes: list[str]) -> list[str]:
    """The line with the command here for one of a document, which is an option there; it may be misspelt."""
    near = [nearest_option(word, DOCUMENTS) for word in arguments]
    place, found = next(((place, each) for place, each in enumerate(near) if each), (0, ""))
    if not found:
        return list(arguments)
    changes.append(f"{arguments[place]} is {DOCUMENTS[found]} here (docs/documents)")
    right, words = DOCUMENTS[found].split(), [*arguments[:place], *arguments[place + 1 :]]
    while words and words[0] in right:  # `train --train-advanced`
        words.pop(0)
    if found == "--train-advanced" and not any(word in LEARNERS or is_game(word) for word in words):
        right += _meant_training(words)
    elif found == "--train-imitation":
        right += [] if option(words, "--data") else ["--data", "data/teacher.ndjson"]
        named = [word for word in words if OF_TRAIN.get(plain_option(word), plain_option(word)).startswith("--network")]
        words += [word for pair in CHESS_NETWORK.items() for word in pair if not (named and "--network" in pair)]
    elif found == "--eval-baseline":
        runs = [word for word in words if is_run(run_path(word))]
        right += [*(runs or [str(newest_run("chess"))]), "random", "greedy"]
        words = [word for word in words if word not in right]
    return [*right, *words]


def _meant_training(words: Sequence[str]) -> list[str]:
    """What `--train-advanced` trains: what its profile says, goes on with a network, or is everything by default."""
    if option(words, "--profile"):
        return []
    if option(words, "--load"):
        return ["--profile", "chess_dqn_imitation_bootstrap"]
    alone = all(word.partition("=")[0] in OF_STAGES for word in words if word.startswith("-"))
    return ["--profile", "chess_dqn_original"] if alone else ["dqn", "chess"]


# ---- layers ----

LAYERS = {
    "use-perspective": "absolute",  # if it is off
    "with-must-lift": "lift",
    "with-must-promote": "promote",
    "with-must-place": "promote",  # the document's example means the layer of promotions
}
"""an option of the Paco Ŝako document: its part of an encoder's name"""
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def with_layers(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with the one encoder that the options of the Paco Ŝako document name together."""
    right, rest, found = list[str](), list(line), dict[str, bool]()
    while rest:
        word = rest.pop(0)
        key, equals, value = word.lower().removeprefix("--").replace("_", "-").partition("=")
        name = key.removeprefix("no-")
        if name not in LAYERS or not (word.startswith("--") or equals or word.isupper()):
            right.append(word)
            continue
        value = rest.pop(0) if not equals and rest and rest[0].lower() in (*YES, *NO) else value
        wanted = (value.lower() not in NO) != key.startswith("no-")
        found[LAYERS[name]] = wanted != (LAYERS[name] == "absolute")
    if not found:
        return list(line)
    named, given = option(right, "--profile") or "", option(right, "--encoder") or ""
    form = "index" if "index" in f"{named} {given}" else "tensor"
    encoder = "_".join([form, *(part for part in ("absolute", "lift", "promote") if found.get(part))])
    changes.append(f"layers are a part of the encoder's name, {encoder}")
    rest = [word for word in right[1:] if word not in ("--encoder", given, f"--encoder={given}") and not is_game(word)]
    learners = [word for word in rest if word in LEARNERS]
    if not learners and not named:
        return ["train", "--profile", f"paco_sako_{form}_original", *rest, "--encoder", encoder]
    return ["train", *rest, *(["paco_sako"] if learners else []), "--encoder", encoder]


# ---- profiles, runs and networks ----

PROFILES_MEANT = {name: f"chess_{name}" for name in ("dqn_debug_masking", "dqn_imitation_bootstrap")}
SIZES = re.compile(r"[\[(]*\d+([,x ]+\d+)*[,\])]*")  # of hidden layers: `512,256,128`, or each a word
WITH_VALUE = ("reinforce", "a2c", "ppo", "alphazero")  # learners whose networks have a value head


def correct_values(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of `train` with profiles, runs and networks as they are written here."""
    apart = ("--profile=", "--network=")
    right = [part for word in line for part in (word.split("=", 1) if word.startswith(apart) else [word])]
    sizes = option(right, "--network") or ""
    if SIZES.fullmatch(sizes) and not sizes.isdigit():
        changes.append("hidden sizes are written with hyphens")
    for place, word in enumerate(right[1:], 1):
        before = right[place - 1]
        if before == "--profile" and word in PROFILES_MEANT:
            changes.append(f"{word} is {PROFILES_MEANT[word]} here")
            right[place] = PROFILES_MEANT[word]
        elif before == "--init" and word == "RUN":
            right[place] = str(newest_run(_game_of(right)))
        elif before == "--truncation-penalty":
            right[place] = word.removeprefix("-")  # it is subtracted
        elif before in ("--init", "--out") and word.endswith(".json") and changes:
            right[place] = str(RUNS / Path(word).stem)
            changes.append(f"a run is a folder, {right[place]}, not a file")
            if before == "--init":  # the network that the document's imitation makes
                right += [each for pair in CHESS_NETWORK.items() if pair[0] not in right for each in pair]
                right += ["--dueling"] if "dqn" in right else []
    return _with_sizes(right) if changes and "--network" in right else right


def _with_sizes(line: Sequence[str]) -> list[str]:
    """The line with a network's hidden sizes as `512-256-128`; with a value head for learners that need one."""
    first = line.index("--network") + 1
    last = next((k for k in range(first, len(line)) if not SIZES.fullmatch(line[k])), len(line))
    sizes = re.findall(r"\d+", " ".join(line[first:last]))
    spec, last = ("-".join(sizes), last) if sizes else (line[first], first + 1)
    head = "+value" if (_of_profile(line, "learner") or line[1]) in WITH_VALUE and "+" not in spec else ""
    return [*line[:first], f"{spec}{head}", *line[last:]]


def _game_of(line: Sequence[str]) -> str:
    """The game that a line of `train` names, by itself or through its profile."""
    words = [game_name(word) for word in line if is_game(word)]
    return words[0] if words else _of_profile(line, "game")


def _of_profile(line: Sequence[str], setting: str) -> str:
    """A setting of the profile that a line of `train` names; empty where it names none."""
    named = option(line, "--profile") or ""
    return str(profile(named).get(setting, "")) if named in profiles() else ""
