"""Help: the page of all commands, and the examples that stand first in the help of each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

MEANING = "Teach machines to play board games; watch, measure and play them."
PAGE = {
    "Play and understand": ("play", "watch", "serve", "analyse", "solve", "uci"),
    "Measure": ("match", "ladder", "grade", "bench", "perft"),
    "Learn": ("train", "profiles", "resume", "evaluate", "report", "plot", "runs", "table", "teach", "export"),
    "Games and this installation": ("games", "check", "prepare", "doctor"),
}
COMMANDS = [name for names in PAGE.values() for name in names]
TEACH = ("collect", "inspect", "convert", "verify")  # the commands of `teach`
FILES = {
    "people": ("play", "watch", "serve", "analyse", "solve", "uci", "games", "prepare", "doctor"),
    "measures": ("match", "ladder", "grade", "bench", "perft", "check"),
    "training": ("train", "resume"),
    "settings": ("profiles",),
    "runs": ("evaluate", "report", "plot", "runs", "table", "export"),
    "teach": TEACH,
}
"""the files in cli/, and the commands that are functions in them"""
EXAMPLES = """
play connect_four                                 # against greedy
play chess level:3 --side black                   # of ten difficulty levels
play connect_four run:runs/connect_four-ppo-1     # against what a run has learned
play --load game.txt level:5                      # go on with a saved game
watch connect_four greedy minimax:depth=3         # space pauses, arrows step
watch chess level:8 level:3 --speed 2             # turns a second
watch game.pgn                                    # also what save FILE wrote, and games/ of a run
serve --open
serve --game my_game.py
analyse connect_four --moves 4453
analyse game.pgn                                  # also what save FILE wrote
analyse chess --agent search:model=trained
solve 4453
solve connect_four 4453 --json
uci
uci --agent level:3
match connect_four greedy minimax:depth=3
match chess run:runs/chess-dqn-1 random --games 400
match connect_four trained greedy --sprt 0 50     # until it is clear
match chess level:5 level:6 --on ray              # on a cluster; also ladder, grade, train
ladder chess random greedy minimax:depth=2
ladder connect_four random greedy trained --file ladder.json
grade greedy
grade run:runs/connect_four-ppo-1
bench rules connect_four
bench rules my_game.py --seconds 5
perft chess --depth 5
perft chess --depth 3 --divide
train ppo connect_four --seconds 120
train dqn my_game.py --seconds 300 --seeds 3      # mean and spread over three seeds
train --profile connect_four_demo                 # plyground profiles lists them
train imitation chess --data teacher.ndjson        # after teach collect
train ppo --help                                  # the options of one learner
profiles
profiles connect_four_demo
resume runs/connect_four-ppo-1
resume runs/connect_four-ppo-1 --seconds 240     # train it longer
evaluate runs/connect_four-ppo-1
evaluate runs/connect_four-ppo-1 greedy minimax:depth=3 --games 400
evaluate runs/connect_four-dqn-1 greedy           # of several seeds: mean and interval
report runs/connect_four-ppo-1
plot runs/connect_four-ppo-1
plot runs/connect_four-ppo-1 runs/connect_four-dqn-1 --out both.png
runs
runs diff runs/connect_four-ppo-1 runs/connect_four-ppo-2
runs pack runs/connect_four-ppo-1 ppo.tar
table runs/sequence-tabular-1 --top 20
teach collect --games 500 --out teacher.ndjson
teach collect --games 20000 --on ray
teach inspect teacher.ndjson
teach convert teacher.ndjson teacher.csv
teach verify runs/chess-imitation-1
export onnx runs/connect_four-dqn-1 network.onnx --int8
games
games connect_four
check my_game.py
prepare
prepare chess
doctor
""".strip().splitlines()


def function_of(command: str) -> Callable[..., None]:
    """The function of a command; its docstring is the help."""
    file = next(file for file, names in FILES.items() if command in names)
    return getattr(importlib.import_module(f"plyground.cli.{file}"), command)


def meaning(command: str) -> str:
    """A command in one sentence."""
    if command == "teach":
        return "Collect a dataset of a teacher, and look at it and at what was learned from it."
    return (function_of(command).__doc__ or "").partition("\n")[0]


def page() -> str:
    """The help of the whole program: first what most people type, then all commands."""
    first = [examples_of(name)[0] for name in ("play", "train", "evaluate", "match")]
    lines, width = [MEANING, "", listed(first)], max(map(len, COMMANDS))
    for title, names in PAGE.items():
        lines += [f"{title}:", *(f"  {name:{width}}  {meaning(name)}" for name in names), ""]
    return "\n".join([*lines, "plyground COMMAND --help explains a command; --version says which Plyground this is."])


def examples_of(command: str) -> list[str]:
    return [line for line in EXAMPLES if line.split()[0] == command]


def listed(examples: Sequence[str]) -> str:
    """Examples as they stand in a help text, before an empty line; of none, nothing."""
    title = "Examples:" if len(examples) > 1 else "Example:"
    return "\n".join([title, *(f"  plyground {each}" for each in examples), ""]) if examples else ""
