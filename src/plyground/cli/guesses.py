"""First guesses: what people type before they know the commands, and the line that they mean.

Names of games and runs are understood in other spellings. A line that means another one is answered with that line,
because options and words of somebody who guesses may mean more than we see. Nothing here imports tyro, numpy or torch.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from plyground.errors import InvalidValue, command, unknown
from plyground.games import GAMES
from plyground.learners import LEARNERS
from plyground.runs.files import is_file
from plyground.runs.groups import RUNS, seed_runs
from plyground.runs.settings import profile, profiles
from plyground.specs import join, split

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
OF_AGENTS = {"minimax": "depth", "search": "sims"}  # agents with settings, and the one that a bare number means
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
    **dict.fromkeys(("--steps", "--timesteps", "--total-timesteps", "--total-steps"), "--cycles {/50000}"),
    **dict.fromkeys(("--resume", "--continue"), "resume {}"),
    **dict.fromkeys(
        ("--name", "--output", "--dir", "--save", "--save-dir", "--run-dir", "--logdir", "--run"), "--out {}"
    ),
    **dict.fromkeys(("--config", "--preset"), "--profile {}"),
    **dict.fromkeys(("--envs", "--n-envs", "--concurrency", "--max-concurrent-games"), "--num-envs {}"),
    **dict.fromkeys(("--n-seeds", "--num-seeds"), "--seeds {}"),
    **dict.fromkeys(("--jobs", "--workers", "--num-workers", "--processes"), "--parallel {}"),
    **dict.fromkeys(("--net", "--model", "--arch", "--hidden", "--layers", "--hidden-layers"), "--network {}"),
    **dict.fromkeys(("--opponent", "--against", "--vs"), "--opponents 1 {}"),
    **dict.fromkeys(("--eval-episodes", "--num-eval-games"), "--eval-games {}"),
    "--eval": "--eval-opponents {}",
    "--discount": "--gamma {}",
    "--buffer": "--buffer-size {}",
    "--memory": "--buffer-size {}",
    "--epsilon-start": "--exploration-initial-eps {}",
    "--epsilon-end": "--exploration-final-eps {}",
    **dict.fromkeys(("--max-steps", "--max-steps-per-game"), "--max-plies {}"),
    **dict.fromkeys(("--target-update", "--target-update-frequency"), "--target-update-interval {}"),
    **dict.fromkeys(("--warmup", "--warm-up"), "--learning-starts {}"),
    "--enable-position-rewards": "--shaping-coef 0.1",  # as in the profiles that follow the document
    "--step-limit-penalty": "--truncation-penalty {}",
    "--treat-step-limit-as-draw": NOTHING,  # truncated games are counted apart
    "--load": "--init {}",
    "--load-best": "--init RUN",
    "--batch": "--batch-size {}",
    "--lr": "--learning-rate {}",
    "--smooth": "--label-smoothing {}",
    "--val-split": "--validation-split {}",
}
SIDES = {
    **dict.fromkeys(("--color", "--colour", "--as", "--play-as"), "--side {}"),
    **dict.fromkeys(("--first", "--white"), "--side first"),
    **dict.fromkeys(("--second", "--black"), "--side second"),
}
FILES: Meant = dict.fromkeys(("--pgn", "--input", "--replay"), "--file {}")
LOADS: Meant = dict.fromkeys(("--file", "--pgn", "--resume", "--continue", "--game-file"), "--load {}")
POSITIONS: Meant = dict.fromkeys(("--fen", "--start", "--board"), "--position {}")
OF_WATCH = {
    "--fps": "--speed {}",
    **dict.fromkeys(("--delay", "--sleep", "--pause"), "--speed {1/}"),
    **dict.fromkeys(("--load", "--file", "--pgn", "--replay"), WORD),
}
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
    "ladder": AGENTS | SETTINGS_OF_AGENTS | GAME_MEANT | GAMES_TO_PLAY,
    "grade": AGENTS | SETTINGS_OF_AGENTS | GAME_MEANT | RUN_MEANT | {"--number": "--positions {}"},
    "evaluate": AGENTS | SETTINGS_OF_AGENTS | GAMES_TO_PLAY | RUN_MEANT | {"--load-best": "--checkpoint best"},
    "teach": {"--topk": "--top-k {}", "--tau": "--temperature {}", "--max-steps": "--max-plies {}"},
    "plot": dict.fromkeys(("--output", "--save", "--file", "--picture"), "--out {}") | RUN_MEANT,
}
"""command: {option that people try: option or word here}"""
OPTIONS_OF_EVALUATE = ("--games", "--checkpoint", "--seed", "--json", "--trust")

# ---- the documents that Plyground follows (docs/documents) ----

DOCUMENTS = {
    "--train-advanced": "train",
    "--train-imitation": "train imitation chess",
    "--eval-baseline": "evaluate",
    "--collect": "teach collect",
}
"""a command of a document: the command here"""
PROFILES_MEANT = {name: f"chess_{name}" for name in ("dqn_debug_masking", "dqn_imitation_bootstrap")}
OF_STAGES = ("--seed", "--out", "--tensorboard", "--verbose", "-v")  # the options of a profile with stages
CHESS_NETWORK = {"--encoder": "flat839", "--outputs": "4096", "--network": "512-256-128"}
LAYERS = {
    "use-perspective": "absolute",  # if it is off
    "with-must-lift": "lift",
    "with-must-promote": "promote",
    "with-must-place": "promote",  # the document's example means the layer of promotions
}
"""an option of the Paco Ŝako document: its part of an encoder's name"""
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
SIZES = re.compile(r"[\[(]*\d+([,x ]+\d+)*[,\])]*")  # of hidden layers: `512,256,128`, or each a word
WITH_VALUE = ("reinforce", "a2c", "ppo", "alphazero")  # learners whose networks have a value head

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
    changes: list[str] = []
    name, *words = _from_document(arguments, changes)
    name = SAME_COMMAND.get(name, name)
    if name == "help":
        return [*words, "--help"]
    _check_first_word(name, words)
    if name in {*COMMANDS_MEANT, "compare"} and name not in commands:
        right = (COMMANDS_MEANT.get(name) or _meant_comparison(words)).format(name).split()
        raise InvalidValue(f"no command {name!r} here; you may mean: {command(*right, *words)}")
    if name not in commands and not name.startswith("-"):
        raise unknown("command", name, commands)
    together = _with_settings(_with_whole_names(_with_hyphens([name, *words], changes), changes), changes)
    together = _with_layers(together, changes) if name == "train" else together
    together = _with_settings_of_agents(together, changes) if name in WITH_AGENTS else together
    right = _correct_words(name, _correct_options(name, together[1:], changes), changes)
    right = _correct_evaluation(right, changes) if right[0] == "evaluate" else right
    right = _with_second_agent(right, changes) if right[0] == "match" else right
    right = _correct_values(right, changes) if right[0] == "train" else right
    late = _late_learner(right) if right[0] == "train" else 0
    if late:
        changes.append("the learner comes first")
        right.insert(1, right.pop(late))
    if changes:
        raise InvalidValue(f"{'; '.join(changes)}: {command(*_in_order(right))}")
    return [name, *words]


def _from_document(arguments: Sequence[str], changes: list[str]) -> list[str]:
    """The line with the command here for one of a document, which is an option there; it may be misspelt."""
    near = [_nearest(word, DOCUMENTS) for word in arguments]
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
        named = [word for word in words if OF_TRAIN.get(_plain(word), _plain(word)).startswith("--network")]
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


def _plain(word: str) -> str:
    """An option without its value, with hyphens: `--max-steps` for `--maxSteps=80` and `--max_steps`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", word.partition("=")[0]).replace("_", "-").lower()


def _nearest(word: str, known: Iterable[str]) -> str:
    """The one of the known options that an option is, or is nearly spelt as; empty where there is none."""
    flag = _plain(word) if word.startswith("--") else ""
    return next(iter(difflib.get_close_matches(flag, known, 1, 0.85)), "") if flag else ""


def _with_layers(line: Sequence[str], changes: list[str]) -> list[str]:
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


def _correct_values(line: Sequence[str], changes: list[str]) -> list[str]:
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
    named = option(line, "--profile") or ""
    learner = str(profile(named).get("learner", "")) if named in profiles() else line[1]
    head = "+value" if learner in WITH_VALUE and "+" not in spec else ""
    return [*line[:first], f"{spec}{head}", *line[last:]]


def _game_of(line: Sequence[str]) -> str:
    """The game that a line of `train` names, by itself or through its profile."""
    named = option(line, "--profile") or ""
    words = [word for word in line if is_game(word)]
    return game_name(words[0]) if words else str(profile(named).get("game", "")) if named in profiles() else ""


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
    typed = [
        word for place, word in enumerate(line) if place and not word.startswith("-") and not _of_option(line, place)
    ]
    agents = [word for word in typed if not is_game(word)]
    if typed:
        options = [*(["--agent", agents[0]] if agents else []), *(word for word in words if word not in typed)]
        raise InvalidValue(f"uci plays chess, and --agent names who plays: {command('uci', *options)}")


def _with_hyphens(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with two hyphens before long options: `--level`, not `-level`."""
    long = [re.fullmatch(r"-(?!v+$)[a-z][a-z][a-z-]*(=.*)?", word) is not None for word in line]
    changes += [f"long options have two hyphens, -{word}" for word, is_long in zip(line, long, strict=True) if is_long]
    return [f"-{word}" if is_long else word for word, is_long in zip(line, long, strict=True)]


def _with_settings_of_agents(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line with settings behind the names of agents: `minimax:depth=3`, not `minimax depth=3`, `minimax --depth 3`,
    `--depth 3 minimax` or `minimax:3`."""
    right, rest = [line[0]], list(line[1:])
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        form = SETTINGS_OF_AGENTS.get(_plain(flag) if flag.startswith("--") else f"--{flag}" if equals else "", "")
        agent, _, key = form.removesuffix("={}").partition(":")
        bare = re.fullmatch(r"(minimax|search):(\d+)", word)
        if key and agent in OF_AGENTS:
            value = value if equals or not rest else rest.pop(0)
            _set(right, rest, agent, key, value or "VALUE")
        elif agent == "level" and not flag.startswith("--"):
            right.append(f"level:{value}")
        elif ASSIGNED.fullmatch(word) and right[-1].partition(":")[0] in OF_AGENTS:
            _set(right, [], right[-1].partition(":")[0], flag, value)
        elif bare:
            right.append(f"{bare[1]}:{OF_AGENTS[bare[1]]}={bare[2]}")
        else:
            right.append(word)
            continue
        if not changes:
            changes.append("settings are a part of an agent's name")
    return right


def _set(before: list[str], after: list[str], agent: str, key: str, value: str) -> None:
    """Give a setting to the last such agent before an option, to the first one after it, or to a new one."""
    places = [(words, k) for words in (before[::-1], after) for k, word in enumerate(words) if _is_agent(word, agent)]
    if not places:
        before.append(join(agent, {key: value}))
        return
    words, place = places[0]
    spec = join(agent, {**split(words[place])[1], key: value})
    if words is after:
        after[place] = spec
    else:
        before[len(before) - 1 - place] = spec


def _is_agent(word: str, agent: str) -> bool:
    return word == agent or (
        word.startswith(f"{agent}:") and all("=" in each for each in word.split(":", 1)[1].split(","))
    )


def _correct_evaluation(line: Sequence[str], changes: list[str]) -> list[str]:
    """The line of `evaluate` without a game, which a run knows; or a match, if a game and agents are named."""
    words = [word for k, word in enumerate(line) if k and not word.startswith("-") and not _of_option(line, k)]
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
        form = meant.get(_plain(flag)) or meant.get(_misspelt(name, flag, meant))
        number = value or next(iter(rest), "")
        if flag == "--game" and number.isdigit():
            changes.append("games have names, not numbers (plyground games)")
            right += ["--game", next(iter(GAMES))]
            rest = rest if equals else rest[1:]
            continue
        if form is None:
            right.append(f"{flag}{equals}{value}")
            continue
        takes, follows = "{" in form, rest[0] if rest and not equals else "--"
        if (takes and not follows.startswith("--")) or (not takes and follows in ("true", "false")):
            value = rest.pop(0)
        if form == NOTHING or (not takes and value == "false"):
            changes.append(f"{flag} is left out here")
            continue
        filled = _fill(form, value)
        said = filled[0] if form.endswith(" {}") else " ".join(filled)  # the value stands in the line
        changes.append(f"no {flag} is needed" if form == WORD else f"{flag} is {said} here")
        right += filled
    if name == "train" and "resume" in right:  # --resume RUN
        return right[right.index("resume") :][:2]
    return right


def _misspelt(name: str, flag: str, meant: Mapping[str, str]) -> str:
    """The option that people try which is nearly spelt so, unless it is one of the command, or nearer to one."""
    known = _options_of_train() if name == "train" else OPTIONS_OF_EVALUATE if name == "evaluate" else ()
    return _nearest(flag, [*known, *meant]) if known and flag.startswith("--") else ""


@cache
def _options_of_train() -> tuple[str, ...]:
    """The options of all learners; their sources are read for that, so that nothing slow is imported."""
    from plyground.cli import settings

    names = {name for learner in LEARNERS for part in settings.settings_of(learner).values() for name in part}
    names |= {name.replace(",", " ").split()[0] for name in (*settings.OF_TRAIN, *settings.cluster_settings())}
    return tuple(f"--{no}{name.replace('_', '-')}" for name in sorted(names) for no in ("", "no-"))


def _fill(form: str, value: str) -> list[str]:
    """The words of a form with its value: `--seconds {*60}` with 2 is --seconds 120."""
    if form.endswith("{1/}") and NUMBER.fullmatch(value) and float(value) > 0:
        value = f"{1 / float(value):g}"
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
    return LEARNERS_MEANT.get(word, "") or (f"--profile {word}" if word in (*profiles(), *PROFILES_MEANT) else "")


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


def newest_run(game: str = "") -> Path:
    """The run that was worked on last, of a game or of any, as an example in a message."""
    found = [path.parent for path in RUNS.glob("*/config.toml") if game in ("", game_of_run(path.parent))]
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
