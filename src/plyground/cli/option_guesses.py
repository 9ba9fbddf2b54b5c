"""First guesses of options: what people type before they know a command's options, and the options or words here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from plyground.cli.words import NUMBER
from plyground.games import GAMES
from plyground.learners import LEARNERS, SETTINGS_MEANT

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
    **{f"--{each}".replace("_", "-"): f"--{name} {{}}".replace("_", "-") for each, name in SETTINGS_MEANT.items()},
    **dict.fromkeys(("--learner", "--algo", "--algorithm", "--agent"), WORD),
    **dict.fromkeys(("--episodes", "--games", "--num-games", "--num-episodes", "--n-games"), "--cycles {/2000}"),
    **dict.fromkeys(("--steps", "--timesteps", "--total-timesteps", "--total-steps"), "--cycles {/50000}"),
    **dict.fromkeys(("--resume", "--continue"), "resume {}"),
    **dict.fromkeys(
        ("--name", "--output", "--dir", "--save", "--save-dir", "--run-dir", "--logdir", "--run"), "--out {}"
    ),
    **dict.fromkeys(("--config", "--preset"), "--profile {}"),
    **dict.fromkeys(("--n-seeds", "--num-seeds"), "--seeds {}"),
    **dict.fromkeys(("--jobs", "--workers", "--num-workers", "--processes"), "--parallel {}"),
    **dict.fromkeys(("--opponent", "--against", "--vs"), "--opponents 1 {}"),
    "--enable-position-rewards": "--shaping-coef 0.1",  # as in the profiles that follow the document
    "--treat-step-limit-as-draw": NOTHING,  # truncated games are counted apart
    "--load-best": "--init RUN",
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
    "--depth": "--sims {*10000}",  # a tree search has no depth; ten plies are the usual limit of chess
    **dict.fromkeys(("--net", "--network", "--model"), "--agent search:model={}"),
    **dict.fromkeys(("--out", "--output", "--plot"), "--picture {}"),
    "--run": "--agent search:model={}",
    "--load": "--file {}",
}
OF_UCI = {
    **{each: f"--agent {spec}" for each, spec in SETTINGS_OF_AGENTS.items() if each != "--elo"},
    **dict.fromkeys(("--opponent", "--engine", "--player"), "--agent {}"),
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
    "uci": OF_UCI,
    "plot": dict.fromkeys(("--output", "--save", "--file", "--picture"), "--out {}") | RUN_MEANT,
}
"""command: {option that people try: option or word here}"""
OPTIONS_OF_EVALUATE = ("--games", "--checkpoint", "--seed", "--json", "--trust")


def correct_options(name: str, words: Sequence[str], changes: list[str]) -> list[str]:
    """The command line with options by their names here; `changes` says what was changed."""
    meant, right, rest = OPTIONS_MEANT.get(name, {}), [name], list(words)
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        form = meant.get(plain_option(flag)) or meant.get(_misspelt(name, flag, meant))
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


def _misspelt(name: str, flag: str, meant: Mapping[str, str]) -> str:
    """The option that people try which is nearly spelt so, unless it is one of the command, or nearer to one."""
    known = options_of_train() if name == "train" else OPTIONS_OF_EVALUATE if name == "evaluate" else ()
    return nearest_option(flag, [*known, *meant]) if known and flag.startswith("--") else ""


@cache
def options_of_train() -> tuple[str, ...]:
    """The options of all learners; their sources are read for that, so that nothing slow is imported."""
    from plyground.cli import settings

    names = {name for learner in LEARNERS for part in settings.settings_of(learner).values() for name in part}
    names |= {name.replace(",", " ").split()[0] for name in (*settings.OF_TRAIN, *settings.cluster_settings())}
    return tuple(f"--{no}{name.replace('_', '-')}" for name in sorted(names) for no in ("", "no-"))


def nearest_option(word: str, known: Iterable[str]) -> str:
    """The one of the known options that an option is, or is nearly spelt as; empty where there is none."""
    flag = plain_option(word) if word.startswith("--") else ""
    return next(iter(difflib.get_close_matches(flag, known, 1, 0.85)), "") if flag else ""


def plain_option(word: str) -> str:
    """An option without its value, with hyphens: `--max-steps` for `--maxSteps=80` and `--max_steps`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", word.partition("=")[0]).replace("_", "-").lower()
