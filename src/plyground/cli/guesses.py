"""First guesses: what people type before they know the commands, and the line that they mean.

Names of games and runs are understood in other spellings. A line that means another one is answered with that line,
because options and words of somebody who guesses may mean more than we see. Nothing here imports tyro, numpy or torch.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plyground.errors import InvalidValue, command, unknown
from plyground.games import GAMES
from plyground.learners import LEARNERS
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, seed_runs
from plyground.runs.settings import profiles
from plyground.specs import split

# ---- games and runs ----

NUMBER = re.compile(r"-?\d+(\.\d+)?")
GAME_FILE = re.compile(r"(?!\w\w+:).*\.py(:.*)?")  # but `uci:engine.py` is an agent
ASSIGNED = re.compile(r"[a-z][a-z_-]+=[^=\s]+")  # `seconds=5`
SAVED_GAME = re.compile(r"(?!\w\w+:).*\.(pgn|txt)")
SPELLINGS = {
    **{name.replace("_", ""): name for name in GAMES},
    **dict.fromkeys(("connect4", "c4", "4inarow", "fourinarow", "viergewinnt"), "connect_four"),
    **dict.fromkeys(("paco", "pacoŝako"), "paco_sako"),
}
"""a game without spaces, hyphens, underscores and capitals: its name here"""
SETTINGS_OF_GAMES = {
    **dict.fromkeys(("rules", "seats", "compat_scores"), "sequence"),
    **dict.fromkeys(("repetitions", "castling"), "paco_sako"),
    "draws": "chess",
}
"""a setting: the game that has it"""
THREE_IN_A_ROW = ("tictactoe", "noughtsandcrosses", "threeinarow", "ttt")


OTHERS = ("go", "checkers", "draughts", "othello", "reversi", "hex", "gomoku", "shogi", "backgammon", "poker", "bridge")


def game_name(word: str) -> str:
    """The name here of a game that is written in another way: Connect4, tic-tac-toe; other words stay as they are."""
    name, colon, settings = word.partition(":")
    plain = re.sub(r"[\s_-]", "", name.lower())
    if plain in THREE_IN_A_ROW:
        how = command("play", "examples/three_in_a_row.py")
        raise InvalidValue(f"{word} is the example of a game of your own, in Plyground's folder: {how}")
    if plain in OTHERS:
        raise unknown("game", word, (*GAMES, "a path to a game's .py file (docs/adding_a_game.md)"))
    return f"{SPELLINGS.get(plain, name)}{colon}{settings}"


def is_game(word: str) -> bool:
    """Whether a word names a game: one of ours, or a .py file; with or without settings."""
    return game_name(word).partition(":")[0] in GAMES or GAME_FILE.fullmatch(word) is not None


def is_saved_game(word: str) -> bool:
    """Whether a word names the file of a saved game, not a game, a run or an agent."""
    named = SAVED_GAME.fullmatch(word) is not None or is_file(Path(word))
    return named and not is_game(word) and not is_run(run_path(word))


def game_files(arguments: Sequence[str]) -> list[Path]:
    """The game files that a command line names, by themselves or through runs."""
    found: list[Path] = []
    for word in arguments:
        with contextlib.suppress(OSError, ValueError, InvalidValue):  # whoever uses the word says what is wrong with it
            spec = game_of_run(run_path(word)) or word.removeprefix("--game=")
            path = Path(split(spec)[0])
            found += [path] if GAME_FILE.fullmatch(spec) and path.is_file() else []
    return found


def game_of_run(run: Path) -> str:
    """The game that a run has learned, as its config.toml names it; empty where there is none."""
    config = next((each / "config.toml" for each in (run, *seed_runs(run)) if is_file(each / "config.toml")), None)
    named = re.search(r'(?m)^game = "(.+)"$', config.read_text(encoding="utf-8")) if config else None
    return named[1] if named else ""


def run_path(word: str) -> Path:
    """The directory of a run: runs/x, run:runs/x, a file or checkpoint in it, or x, if that is in runs/ only."""
    path = Path(word.removeprefix("run:").partition(",")[0])
    inside = [each for each in path.parents if path.suffix in (".toml", ".jsonl") or "checkpoints" in path.parts[-2:]]
    places = [path, *inside[:2], RUNS / path]
    return next((place for place in places if place.parts and is_run(place)), path)


def is_run(path: Path) -> bool:
    """Whether this is the directory of a run, or of several seeds."""
    return is_file(path / "config.toml") or bool(seed_runs(path))


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
    **dict.fromkeys(("list", "ls"), "games"),
    **dict.fromkeys(("engine",), "uci"),
    **dict.fromkeys(("onnx",), "export onnx"),
}
"""what people call a command: the command here; {} is the word itself"""

# ---- options ----

Meant = dict[str, str]  # what people type: the words here
WORD, NOTHING = "{}", "-"  # a value that is a word of its own; a word that is left out
SETTINGS_OF_AGENTS = {
    "--depth": "minimax:depth={}",
    "--level": "level:{}",
    "--difficulty": "level:{}",
    "--sims": "search:sims={}",
    "--simulations": "search:sims={}",
    "--elo": "uci:stockfish,elo={}",
}
AGENTS: Meant = dict.fromkeys(
    ("--against", "--opponent", "--opponents", "--vs", "--versus", "--agent", "--agents", "--player", "--enemy"), WORD
)
BOTH: Meant = dict.fromkeys(
    ("--a", "--b", "--p1", "--p2", "--player1", "--player2", "--first", "--second", "--white", "--black"), WORD
)
GAMES_TO_PLAY: Meant = dict.fromkeys(
    ("--episodes", "--n", "-n", "--num-games", "--n-games", "--rounds", "--matches"), "--games {}"
)
GAME_MEANT: Meant = dict.fromkeys(("--env", "--environment", "--rules"), "--game {}")
RUN_MEANT: Meant = dict.fromkeys(("--run", "--path", "--model"), WORD)
TIME = {
    "--time": "--seconds {}",
    "--minutes": "--seconds {*60}",
    "--hours": "--seconds {*3600}",
    "--duration": "--seconds {}",
    "--timeout": "--seconds {}",
    "--budget": "--seconds {}",
}
DEVICES: Meant = dict.fromkeys(("--gpu", "--cuda", "--use-cuda"), "--device cuda") | {"--cpu": "--device cpu"}
OF_TRAIN = {
    **dict.fromkeys(("--learner", "--algo", "--algorithm", "--agent"), WORD),
    **dict.fromkeys(("--episodes", "--games", "--num-games", "--num-episodes", "--n-games"), "--cycles {/2000}"),
    **dict.fromkeys(("--iterations", "--iters", "--generations"), "--cycles {}"),
    **dict.fromkeys(("--resume", "--continue"), "resume {}"),
    **dict.fromkeys(
        ("--name", "--output", "--dir", "--save", "--save-dir", "--run-dir", "--logdir", "--run"), "--out {}"
    ),
    **dict.fromkeys(("--config", "--preset"), "--profile {}"),
    **dict.fromkeys(("--envs", "--n-envs", "--concurrency"), "--num-envs {}"),
    **dict.fromkeys(("--n-seeds", "--num-seeds"), "--seeds {}"),
    **dict.fromkeys(("--jobs", "--workers", "--num-workers", "--processes"), "--parallel {}"),
    **dict.fromkeys(("--net", "--model", "--arch", "--hidden", "--layers"), "--network {}"),
    **dict.fromkeys(("--opponent", "--against", "--vs"), "--opponents 1 {}"),
    **dict.fromkeys(("--eval-episodes", "--num-eval-games"), "--eval-games {}"),
    "--eval": "--eval-opponents {}",
    "--discount": "--gamma {}",
    "--buffer": "--buffer-size {}",
    "--memory": "--buffer-size {}",
    "--epsilon-start": "--exploration-initial-eps {}",
    "--epsilon-end": "--exploration-final-eps {}",
    "--max-steps": "--max-plies {}",
    "--target-update": "--target-update-interval {}",
    "--load": "--init {}",
    "--batch": "--batch-size {}",
    "--lr": "--learning-rate {}",
    "--smooth": "--label-smoothing {}",
    "--val-split": "--validation-split {}",
    "--with-must-lift": "--encoder tensor_lift",
    "--with-must-promote": "--encoder tensor_promote",
    "--with-must-place": "--encoder tensor_promote",  # the document's example means the layer of promotions
}
SIDES = {
    **dict.fromkeys(("--color", "--colour", "--as", "--play-as"), "--side {}"),
    **dict.fromkeys(("--first", "--white"), "--side first"),
    **dict.fromkeys(("--second", "--black"), "--side second"),
}
FILES: Meant = dict.fromkeys(("--pgn", "--input", "--replay"), "--file {}")
LOADS: Meant = dict.fromkeys(("--file", "--pgn", "--resume", "--continue", "--game-file"), "--load {}")
POSITIONS: Meant = dict.fromkeys(("--fen", "--start", "--board"), "--position {}")
OF_WATCH = {"--fps": "--speed {}", **dict.fromkeys(("--load", "--file", "--pgn", "--replay"), WORD)}
OF_ANALYSE = {
    **dict.fromkeys(("--seconds", "--budget", "--timeout", "--movetime"), "--time {}"),
    **dict.fromkeys(("--simulations", "--nodes", "--visits", "--playouts"), "--sims {}"),
    **dict.fromkeys(("--net", "--network", "--model"), "--agent search:net={}"),
    **dict.fromkeys(("--out", "--output", "--plot"), "--picture {}"),
    "--run": "--agent search:run={}",
    "--load": "--file {}",
}
OPTIONS_MEANT: Mapping[str, Mapping[str, str]] = {
    "train": OF_TRAIN | TIME | DEVICES | GAME_MEANT,
    "resume": RUN_MEANT | TIME | {"--iterations": "--cycles {}"},
    "play": AGENTS | SETTINGS_OF_AGENTS | GAME_MEANT | RUN_MEANT | SIDES | LOADS | POSITIONS,
    "analyse": OF_ANALYSE | GAME_MEANT | FILES | POSITIONS,
    "watch": AGENTS | BOTH | SETTINGS_OF_AGENTS | GAME_MEANT | RUN_MEANT | POSITIONS | OF_WATCH,
    "match": AGENTS | BOTH | SETTINGS_OF_AGENTS | GAME_MEANT | GAMES_TO_PLAY | RUN_MEANT,
    "ladder": AGENTS | GAME_MEANT | GAMES_TO_PLAY,
    "grade": AGENTS | SETTINGS_OF_AGENTS | GAME_MEANT | RUN_MEANT | {"--number": "--positions {}"},
    "evaluate": AGENTS | SETTINGS_OF_AGENTS | GAMES_TO_PLAY | RUN_MEANT | {"--load-best": "--checkpoint best"},
    "teach": {"--topk": "--top-k {}", "--tau": "--temperature {}", "--max-steps": "--max-plies {}"},
    "plot": dict.fromkeys(("--output", "--save", "--file", "--picture"), "--out {}") | RUN_MEANT,
}
"""command: {option that people try: option or word here}"""
DOCUMENTS = {
    "--train-advanced": "train --profile chess_dqn_original",
    "--train-imitation": "train imitation chess --data FILE",
    "--eval-baseline": "evaluate RUN random greedy",
    "--collect": "teach collect chess",
}
"""a command of the documents that Plyground follows (docs/documents): the command here"""

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
    "vs": NOTHING,
    "versus": NOTHING,
    **dict.fromkeys(("hard", "expert"), "level:8"),
}
"""what people call an agent: the spec here"""
WITH_AGENTS = ("play", "watch", "match", "ladder", "grade", "evaluate")
SIDES_TYPED = ("first", "second", "white", "black")  # also without --side before them


def correct(arguments: Sequence[str], commands: Sequence[str]) -> list[str]:
    """The command line in our spelling; one that means another line is an error that names it."""
    if not arguments:
        return []
    name, *words = arguments
    if name in DOCUMENTS or any(word in DOCUMENTS for word in words):
        found = next(word for word in arguments if word in DOCUMENTS)
        right = command(*DOCUMENTS[found].split())
        raise InvalidValue(f"{found} is a command of another program; here it is: {right} (docs/documents)")
    name = SAME_COMMAND.get(name, name)
    if name == "help":
        return [*words, "--help"]
    _check_first_word(name, words)
    if name in {*COMMANDS_MEANT, "compare"} and name not in commands:
        right = (COMMANDS_MEANT.get(name) or _meant_comparison(words)).format(name).split()
        raise InvalidValue(f"no command {name!r} here; you may mean: {command(*right, *words)}")
    if name not in commands and not name.startswith("-"):
        raise unknown("command", name, commands)
    changes: list[str] = []
    together = _with_settings(_with_whole_names([name, *words], changes), changes)
    right = _correct_words(name, _correct_options(name, together[1:], changes), changes)
    right = _with_second_agent(right, changes) if right[0] == "match" else right
    late = _late_learner(right) if right[0] == "train" else 0
    if late:
        changes.append("the learner comes first")
        right.insert(1, right.pop(late))
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
    if name != "uci":  # which takes options only
        return
    line = ["uci", *words]
    typed = [
        word for place, word in enumerate(line) if place and not word.startswith("-") and not _of_option(line, place)
    ]
    agents = [word for word in typed if not is_game(word)]
    if typed:
        options = [*(["--agent", agents[0]] if agents else []), *(word for word in words if word not in typed)]
        raise InvalidValue(f"uci plays chess, and --agent names who plays: {command('uci', *options)}")


def _with_whole_names(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with a game that was typed in two words in one: `paco sako`, `connect 4`."""
    for place in range(1, len(line) - 1):
        both = " ".join(line[place : place + 2]).lower()
        name = SPELLINGS.get(both.replace(" ", ""), "")
        if name and not both.startswith("-") and not _of_option(line, place):
            changes.append(f"{both} is {name} here")
            return [*line[:place], name, *line[place + 2 :]]
    return list(line)


def _with_settings(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with settings of its game behind the game's name: `sequence:seats=4`, not `sequence --seats 4`."""
    right, rest, found = list[str](), list(line), dict[str, str]()
    while rest:
        word = rest.pop(0)
        key, equals, value = word.removeprefix("--").replace("-", "_", 1).partition("=")
        if key not in SETTINGS_OF_GAMES or (word == key and not equals):
            right.append(word)
            continue
        found[key] = value if equals or not rest else rest.pop(0)
    place = next((k for k, word in enumerate(right) if found and is_game(word)), -1)
    game, colon, settings = game_name(right[place]).partition(":")
    if place < 0 or any(SETTINGS_OF_GAMES[key] != game for key in found):
        return list(line)
    named = ",".join([*([settings] if colon else []), *(f"{key}={value}" for key, value in found.items())])
    changes.append(f"settings are a part of the game's name, {game}:{named}")
    return [*right[:place], f"{game}:{named}", *right[place + 1 :]]


def _with_second_agent(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of a match with a second agent, if there is only one."""
    agents = [
        place
        for place, word in enumerate(line)
        if place and not word.startswith("-") and not _of_option(line, place) and not is_game(word)
    ]
    if len(agents) != 1 or "--help" in line:
        return list(line)
    changes.append("a match has two agents")
    behind = agents[0] + 1
    return [*line[:behind], "greedy" if line[agents[0]] == "random" else "random", *line[behind:]]


def _correct_options(name: str, words: Sequence[str], changes: list[str]) -> list[str]:
    """The command line with options by their names here; `changes` says what was changed."""
    meant, right, rest = OPTIONS_MEANT.get(name, {}), [name], list(words)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        form = meant.get(flag.replace("_", "-"))
        number = value or next(iter(rest), "")
        if flag == "--game" and number.isdigit():
            changes.append("games have names, not numbers (plyground games)")
            right += ["--game", next(iter(GAMES))]
            rest = rest if equals else rest[1:]
            continue
        if form is None:
            right.append(f"{flag}{equals}{value}")
            continue
        if "{" in form and not equals and rest and not rest[0].startswith("--"):
            value = rest.pop(0)
        filled = _fill(form, value)
        changes.append(f"no {flag} is needed" if form == WORD else f"{flag} is {' '.join(filled)} here")
        if right[-1] == "minimax" and filled[0].startswith("minimax:"):
            right.pop()
        right += filled
    if name == "train" and "resume" in right:  # --resume RUN
        return right[right.index("resume") :][:2]
    return right


def _fill(form: str, value: str) -> list[str]:
    """The words of a form with its value: `--seconds {*60}` with 2 is --seconds 120."""
    scaled = re.search(r"\{([*/])(\d+)\}", form)
    if scaled and re.fullmatch(r"\d{1,18}(\.\d*)?", value):
        factor = float(scaled[2])
        value = f"{float(value) * factor:g}" if scaled[1] == "*" else f"{max(1, round(float(value) / factor))}"
    flag, _, rest = re.sub(r"\{.*\}", value or "VALUE", form).partition(" ")
    return [flag, rest] if rest else [flag]


def _correct_words(name: str, line: Sequence[str], changes: list[str]) -> list[str]:
    """The command line with learners, agents, sides and numbers by their names here."""
    right: list[str] = []
    for place, word in enumerate(line):
        before = line[place - 1] if place else ""
        found = "" if _of_option(line, place) else _as_option(word) or _meant(name, before, word.lower())
        if found and found != word:
            changes.append(f"{word} is {found} here" if found != NOTHING else f"{word} is left out here")
        if right and found.startswith(f"{right[-1]}:"):  # `minimax 4`, `level 3`
            right.pop()
        right += [] if found == NOTHING else found.split() or [word]
    return right


def _as_option(word: str) -> str:
    """`--seconds 5` for `seconds=5`; empty for other words."""
    key, _, value = word.partition("=") if ASSIGNED.fullmatch(word) and not is_file(Path(word)) else ("", "", "")
    return f"--{key.replace('_', '-')} {value}" if key else ""


def _of_option(line: Sequence[str], place: int) -> bool:
    """Whether a word is the value of an option, or a further number of one: `--sprt 0 20`."""
    first = place - 1
    while first > 0 and NUMBER.fullmatch(line[first]) and NUMBER.fullmatch(line[place]):
        first -= 1
    return place > 0 and line[first].startswith("--")


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
    if is_number and name == "play":
        return f"level:{word}"
    if is_number and name in ("match", "evaluate", "ladder"):
        return f"--games {word}"
    return AGENTS_MEANT.get(word, "")


def _meant_search(word: str) -> str:
    """The search that an agent or a run means after `analyse`."""
    run, spec = run_path(word), AGENTS_MEANT.get(word, word)
    if is_run(run):
        return f"{game_of_run(run)} --agent search:run={run}"
    if spec == "trained":
        return "--agent search:net=trained"
    return f"--agent {spec}" if spec.partition(":")[0] == "search" else ""


def _meant_learner(word: str) -> str:
    """The words here for the first word after `train`."""
    if word in LEARNERS:
        return word
    if is_run(run_path(word)):
        return f"resume {word}"
    return LEARNERS_MEANT.get(word, "") or (f"--profile {word}" if word in profiles() else "")


def _late_learner(line: Sequence[str]) -> int:
    """The place of a learner that is named behind options; 0 where none is."""
    behind = len(line) > 1 and line[1].startswith("--")
    places = (k for k, word in enumerate(line) if behind and word in LEARNERS and not _of_option(line, k))
    return next(places, 0)


def _in_order(line: Sequence[str]) -> list[str]:
    """The line with its game first, or of `train` second; a game that --game names becomes a word."""
    name, *words = [game_name(word) if is_game(word) else word for word in line if word != "--game"]
    learners, games = ([word for word in words if is_one(word)][:1] for is_one in (LEARNERS.__contains__, is_game))
    first = [*(learners if name == "train" else []), *games]
    words = [word for word in words if word not in first]
    if "resume" in words:  # `train RUN`
        return words
    return [name, *first, *words]


def newest_run() -> Path:
    """The run that was worked on last, as an example in a message."""
    found = [path.parent for path in RUNS.glob("*/config.toml")]
    return max(found, key=lambda path: path.stat().st_mtime, default=RUNS / "NAME")


def one_run(name: str, words: Sequence[str]) -> Path:
    """The run of a command that takes one."""
    runs = [word for word in words if not is_game(word)]
    if len(words) == 1 and runs:
        return run_path(words[0])
    if len(runs) == 1:
        raise InvalidValue(f"a run knows its game: {command(name, *runs)}")
    typed = f"not {' '.join(words)!r}" if words else "nothing was given"
    raise InvalidValue(f"{name} takes RUN; {typed}; for example: {command(name, newest_run())}")


def option(arguments: Sequence[str], option: str) -> str | None:
    """The value of an option, before the arguments are read in full."""
    for argument, following in zip(arguments, [*arguments[1:], None], strict=False):
        if argument.startswith(f"{option}="):
            return argument.removeprefix(f"{option}=")
        if argument == option:
            return following
    return None
