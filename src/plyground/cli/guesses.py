"""First guesses: what people type before they know the commands, and the line that they mean.

Names of games and runs are understood in other spellings. A line that means another one is answered with that line,
because options and words of somebody who guesses may mean more than we see. Nothing here imports tyro, numpy or torch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from plyground.cli.document_guesses import PROFILES_MEANT, correct_values, from_document, with_layers
from plyground.cli.option_guesses import NOTHING, correct_options
from plyground.cli.setting_guesses import with_settings_of_agents, with_settings_of_game
from plyground.cli.words import (
    ASSIGNED,
    agents_in,
    game_of_run,
    is_game,
    is_option_value,
    is_run,
    option,
    places_of_words,
    run_path,
)
from plyground.errors import InvalidValue, command, unknown
from plyground.games.typed_names import SPELLINGS, game_name
from plyground.learners import LEARNERS
from plyground.runs.files import is_file
from plyground.runs.settings import profiles

# ---- commands ----

SAME_COMMAND = {"analyze": "analyse", "eval": "evaluate"}
COMMANDS_MEANT = {
    **dict.fromkeys(("learn", "training", "fit"), "train"),
    **dict.fromkeys(("continue", "restart"), "resume"),
    **dict.fromkeys(("tournament", "league", "elo", "rate"), "ladder"),
    **dict.fromkeys(("versus", "vs", "fight", "battle", "duel", "arena"), "match"),
    **dict.fromkeys(("web", "server", "gui", "browser"), "serve"),
    **dict.fromkeys(("benchmark", "speed"), "bench rules"),
    **dict.fromkeys(("curves", "graph", "chart", "draw"), "plot"),
    **dict.fromkeys(("score", "test", "validate"), "evaluate"),
    **dict.fromkeys(("diff",), "runs diff"),
    **dict.fromkeys(("inspect", "pack", "unpack", "publish", "tensorboard"), "runs {}"),
    **dict.fromkeys(("collect", "convert", "verify"), "teach {}"),
    **dict.fromkeys(("list", "ls", "agents", "opponents", "levels"), "games"),
    **dict.fromkeys(("engine",), "uci"),
    **dict.fromkeys(("onnx",), "export onnx"),
}
"""what people call a command: the command here; {} is the word itself"""


def correct(arguments: Sequence[str], commands: Sequence[str]) -> list[str]:
    """The command line in our spelling; one that means another line is an error that names it."""
    if not arguments:
        return []
    changes: list[str] = []
    name, *words = from_document(arguments, changes)
    name = SAME_COMMAND.get(name, name)
    if name == "help":
        return [*words, "--help"]
    _check_first_word(name, words)
    if name in {*COMMANDS_MEANT, "compare"} and name not in commands:
        right = (COMMANDS_MEANT.get(name) or _meant_comparison(words)).format(name).split()
        raise InvalidValue(f"no command {name!r} here; you may mean: {command(*right, *words)}")
    if name not in commands and is_game(name):
        raise InvalidValue(f"{name} is a game; to play it: {command('play', game_name(name), *words)}")
    if name not in commands and not name.startswith("-"):
        raise unknown("command", name, commands)
    together = with_settings_of_game(_with_whole_names(_with_hyphens([name, *words], changes), changes), changes)
    together = with_layers(together, changes) if name == "train" else together
    together = with_settings_of_agents(together, changes) if name in WITH_AGENTS else together
    right = _correct_words(name, correct_options(name, together[1:], changes), changes)
    right = _correct_evaluation(right, changes) if right[0] == "evaluate" else right
    right = _with_second_agent(right, changes) if right[0] == "match" else right
    if right[0] == "train":
        right = _with_first_seed(_with_learner_first(correct_values(right, changes), changes), changes)
    if changes:
        raise InvalidValue(f"{'; '.join(changes)}: {command(*_in_order(right))}")
    return [name, *words]


def _meant_comparison(words: Sequence[str]) -> str:
    """The command that compares what is named: runs, two agents, or more of them."""
    others = [word for word in words if not word.startswith("-") and not is_game(word)]
    if others and all(is_run(run_path(word)) for word in others):
        return "runs diff"
    return "match" if len(others) < 3 else "ladder"


def _check_first_word(name: str, words: Sequence[str]) -> None:
    """Raise InvalidValue with the right line where the first word belongs to another command, or to none."""
    if name == "train" and words[:1] == ["resume"]:
        raise InvalidValue(f"resume is a command of its own: {command(*words)}")
    if [name, *words[:1]] == ["teach", "imitate"]:
        raise InvalidValue(f"imitation is a learner: {command('train', 'imitation', *words[1:])}")
    if name == "runs" and words[:1] in (["list"], ["ls"]):
        raise InvalidValue(f"runs alone lists them: {command('runs', *words[1:])}")
    if name == "bench" and words[:1] != ["rules"] and not {"-h", "--help"} & {*words}:
        raise InvalidValue(f"bench measures the rules: {command('bench', 'rules', *words)}")
    if name == "perft" and option(words, "--depth") is None and not {"-h", "--help"} & {*words}:
        depths = [word for word in words if word.isdigit()]
        others = [word for word in words if word not in depths[:1]]
        raise InvalidValue(f"perft needs a depth: {command('perft', *others, '--depth', *(depths[:1] or ['4']))}")
    if name != "uci":  # which takes options only
        return
    line = ["uci", *words]
    typed = [line[place] for place in places_of_words(line)]
    agents = [word for word in typed if not is_game(word)]
    if typed:
        options = [*(["--agent", agents[0]] if agents else []), *(word for word in words if word not in typed)]
        raise InvalidValue(f"uci plays chess, and --agent names who plays: {command('uci', *options)}")


# ---- words ----

LEARNERS_MEANT = {
    **dict.fromkeys(("q", "q-learning", "qlearning", "q_learning", "table", "td"), "tabular"),
    "sarsa": "tabular --method sarsa",
    **dict.fromkeys(("ddqn", "double_dqn", "double-dqn"), "dqn --double-dqn"),
    **dict.fromkeys(("az", "alpha_zero", "alpha-zero", "mcts", "muzero"), "alphazero"),
    **dict.fromkeys(("pg", "vpg", "policy_gradient", "policy-gradient"), "reinforce"),
    **dict.fromkeys(("a3c", "ac", "actor_critic", "actor-critic"), "a2c"),
    **dict.fromkeys(("bc", "supervised", "imitate", "behavioral_cloning"), "imitation"),
}
"""what people call a learner: the words here"""
AGENTS_MEANT = {
    "stockfish": "uci:stockfish",
    **dict.fromkeys(("mcts", "alphazero"), "search"),
    **dict.fromkeys(("alphabeta", "alpha-beta", "alpha_beta", "negamax"), "minimax:depth=3"),
    **dict.fromkeys(("perfect", "solve"), "solver"),
    **dict.fromkeys(("network", "pretrained", "best", "ai"), "trained"),
    **dict.fromkeys(("easy", "beginner"), "level:2"),
    "medium": "level:5",
    **dict.fromkeys(("hard", "expert"), "level:8"),
    **dict.fromkeys(("vs", "versus"), NOTHING),
}
"""what people call an agent: the spec here"""
WITH_AGENTS = ("play", "watch", "match", "ladder", "grade", "evaluate")
SIDES_TYPED = ("first", "second", "white", "black")  # also without --side before them


def _correct_words(name: str, line: Sequence[str], changes: list[str]) -> list[str]:
    """The command line with learners, agents, sides and numbers by their names here."""
    right: list[str] = []
    for place, word in enumerate(line):
        before = line[place - 1] if place else ""
        found = "" if is_option_value(line, place) else _as_option(word) or _meant(name, before, word.lower())
        found = found or (_meant_file(line[:place], word) if name in WITH_AGENTS else "")
        two = f"{right.pop()} " if right and found.startswith(f"{right[-1]}:") else ""  # `minimax 4`, `level 3`
        if found and found != word:
            changes.append(f"{two}{word} is {found} here" if found != NOTHING else f"{word} is left out here")
        right += [] if found == NOTHING else found.split() or [word]
    return right


def _as_option(word: str) -> str:
    """`--seconds 5` for `seconds=5`; empty for other words."""
    key, _, value = word.partition("=") if ASSIGNED.fullmatch(word) and not is_file(Path(word)) else ("", "", "")
    return f"--{key.replace('_', '-')} {value}" if key else ""


def _meant_file(before: Sequence[str], word: str) -> str:
    """The agent that a .py file behind a game, or one that is no game, means; empty for other words."""
    if not word.endswith(".py") or not is_game(word):
        return ""
    agents, games = agents_in(word), [each for each in before[1:] if is_game(each) and not agents_in(each)]
    if not (agents or games or before[0] == "evaluate"):
        return ""
    return f"file:{word}:{next(iter(agents or []), 'NAME')}"


def _meant(name: str, before: str, word: str) -> str:
    """The words here for one word of a command line; empty where it is right, or not known."""
    is_number = word.isdigit()
    if name == before == "train":
        return _meant_learner(word)
    if name == "resume" and is_number and before != "resume":
        return f"--seconds {word}"
    if name == "play" and word in SIDES_TYPED:
        return f"--side {word}"
    if name == "analyse":
        return _meant_search(word) if before else ""
    if name not in WITH_AGENTS or before == "" or is_run(run_path(word)):
        return ""
    if is_number and before == "minimax":
        return f"minimax:depth={word}"
    if joined := re.fullmatch(r"(level|minimax)[_-]?(\d+)", word):  # level3
        return f"{joined[1]}:{'' if joined[1] == 'level' else 'depth='}{joined[2]}"
    if is_number and name == "play":
        return f"level:{word}"
    if is_number and name in ("match", "evaluate", "ladder"):
        return f"--games {word}"
    return AGENTS_MEANT.get(word, "")


def _meant_search(word: str) -> str:
    """The search that an agent or a run means after `analyse`."""
    run, spec = run_path(word), AGENTS_MEANT.get(word, word)
    if is_run(run):
        return f"{game_of_run(run)} --agent search:model={run}"
    if spec == "trained":
        return "--agent search:model=trained"
    return f"--agent {spec}" if spec.partition(":")[0] == "search" else ""


def _meant_learner(word: str) -> str:
    """The words here for the first word after `train`."""
    if word in LEARNERS:
        return word
    if is_run(run_path(word)):
        return f"resume {word}"
    return LEARNERS_MEANT.get(word, "") or (f"--profile {word}" if word in (*profiles(), *PROFILES_MEANT) else "")


# ---- whole lines ----


def _with_hyphens(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with two hyphens before long options: `--level`, not `-level`."""
    long = [re.fullmatch(r"-(?!v+$)[a-z][a-z][a-z-]*(=.*)?", word) is not None for word in line]
    changes += [f"long options have two hyphens, -{word}" for word, is_long in zip(line, long, strict=True) if is_long]
    return [f"-{word}" if is_long else word for word, is_long in zip(line, long, strict=True)]


def _with_whole_names(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with a game that was typed in two words in one: `paco sako`, `connect 4`."""
    for place in places_of_words(line[:-1]):
        both = " ".join(line[place : place + 2]).lower()
        name = SPELLINGS.get(both.replace(" ", ""), "")
        if name:
            changes.append(f"{both} is {name} here")
            return [*line[:place], name, *line[place + 2 :]]
    return list(line)


def _correct_evaluation(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of `evaluate` without a game, which a run knows; or a match, if a game and agents are named."""
    words = [line[place] for place in places_of_words(line)]
    games = [word for word in words if is_game(word)]
    others = [word for word in words if word not in games]
    if not games or not others:
        return list(line)
    if is_run(run_path(others[0])):
        changes.append("a run knows its game")
        return [word for word in line if word not in games]
    if "/" in others[0]:
        return list(line)  # a run that is not there
    changes.append(f"evaluate begins with a run, and {others[0]} is none")
    both = [*others, *(["random"] if len(others) == 1 else [])]
    return ["match" if len(both) == 2 else "ladder", *games, *both, *(word for word in line[1:] if word not in words)]


def _with_second_agent(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of a match with a second agent, if there is only one."""
    agents = [place for place in places_of_words(line) if not is_game(line[place])]
    if len(agents) != 1 or "--help" in line:
        return list(line)
    changes.append("a match has two agents")
    behind = agents[0] + 1
    return [*line[:behind], "greedy" if line[agents[0]] == "random" else "random", *line[behind:]]


def _with_learner_first(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of `train` with a learner that is named behind options before them."""
    late = next((k for k in places_of_words(line) if line[k] in LEARNERS and line[1].startswith("--")), 0)
    if not late:
        return list(line)
    changes.append("the learner comes first")
    return [line[0], line[late], *line[1:late], *line[late + 1 :]]


def _with_first_seed(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of `train` with the first seed and their number, where seeds are listed: `--seeds 3,4`."""
    listed = option(line, "--seeds") or ""
    if not re.fullmatch(r"\d+(,\d+)+", listed):
        return list(line)
    seeds = listed.split(",")
    changes.append("--seeds is how many, each the next after --seed")
    rest = [word for word in line if word not in ("--seeds", listed, f"--seeds={listed}")]
    return [*rest, "--seed", min(seeds, key=int), "--seeds", str(len(seeds))]


def _in_order(line: Sequence[str]) -> list[str]:
    """The line with its game first, or of `train` second; a game that --game names becomes a word."""
    name, *words = [game_name(word) if is_game(word) else word for word in line if word != "--game"]
    learners, games = ([word for word in words if is_one(word)][:1] for is_one in (LEARNERS.__contains__, is_game))
    first = [*(learners if name == "train" else []), *games]
    words = [word for word in words if word not in first]
    if "resume" in words:  # `train RUN`
        return words
    return [name, *first, *words]
