"""Help: the page of all commands, and the examples that stand first in the help of each. It imports nothing slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MEANING = "Teach machines to play board games; watch, measure and play them."


class Help(NamedTuple):
    """A command in one sentence, and what people type."""

    meaning: str
    examples: tuple[str, ...]


PLAY = {
    "play": Help(
        "Play against an agent in the terminal.",
        (
            "play connect_four                                 # against greedy",
            "play chess level:3 --side black                   # of ten difficulty levels",
            "play connect_four run:runs/connect_four-ppo-1     # against what a run has learned",
            "play --load game.txt level:5                      # go on with a saved game",
        ),
    ),
    "watch": Help(
        "Watch two agents play, or a saved game.",
        (
            "watch connect_four greedy minimax:depth=3         # space pauses, arrows step",
            "watch chess level:8 level:3 --speed 2             # turns a second",
            "watch game.pgn                                    # also what save FILE wrote, and games/ of a run",
        ),
    ),
    "serve": Help("Play, watch, understand and learn in a browser.", ("serve --open", "serve --game my_game.py")),
    "analyse": Help(
        "Say what a tree search thinks of a position or of each move of a game.",
        (
            "analyse connect_four --moves 4453",
            "analyse game.pgn                                  # also what save FILE wrote",
            "analyse chess --agent search:model=trained",
        ),
    ),
    "solve": Help("Show the value of each move with perfect play.", ("solve 4453", "solve connect_four 4453 --json")),
    "uci": Help("Be a chess engine for any GUI.", ("uci", "uci --agent level:3")),
}
MEASURE = {
    "match": Help(
        "Play a match between two agents.",
        (
            "match connect_four greedy minimax:depth=3",
            "match chess run:runs/chess-dqn-1 random --games 400",
            "match connect_four trained greedy --sprt 0 50     # until it is clear",
            "match chess level:5 level:6 --on ray              # on a cluster; also ladder, grade, train",
        ),
    ),
    "ladder": Help(
        "Let every agent play every other, and rate them.",
        ("ladder chess random greedy minimax:depth=2", "ladder connect_four random greedy trained --file ladder.json"),
    ),
    "grade": Help("Grade an agent with the perfect player.", ("grade greedy", "grade run:runs/connect_four-ppo-1")),
    "bench": Help(
        "Measure the speed of the rules.", ("bench rules connect_four", "bench rules my_game.py --seconds 5")
    ),
    "perft": Help(
        "Count move sequences, the usual test of rules.", ("perft chess --depth 5", "perft chess --depth 3 --divide")
    ),
}
LEARN = {
    "train": Help(
        "Train an agent.",
        (
            "train ppo connect_four --seconds 120",
            "train dqn my_game.py --seconds 300 --seeds 3      # mean and spread over three seeds",
            "train --profile connect_four_demo                 # plyground profiles lists them",
            "train ppo --help                                  # the options of one learner",
        ),
    ),
    "profiles": Help("List the profiles of train, or show one.", ("profiles", "profiles connect_four_demo")),
    "resume": Help(
        "Continue a run exactly where it stopped.",
        ("resume runs/connect_four-ppo-1", "resume runs/connect_four-ppo-1 --seconds 240     # train it longer"),
    ),
    "evaluate": Help(
        "Evaluate a run in paired matches.",
        (
            "evaluate runs/connect_four-ppo-1",
            "evaluate runs/connect_four-ppo-1 greedy minimax:depth=3 --games 400",
            "evaluate runs/connect_four-dqn-1 greedy           # of several seeds: mean and interval",
        ),
    ),
    "report": Help("Write a run's report again, and print it.", ("report runs/connect_four-ppo-1",)),
    "plot": Help(
        "Draw learning curves.",
        ("plot runs/connect_four-ppo-1", "plot runs/connect_four-ppo-1 runs/connect_four-dqn-1 --out both.png"),
    ),
    "runs": Help(
        "List the runs; pack, publish, inspect or compare them.",
        (
            "runs",
            "runs diff runs/connect_four-ppo-1 runs/connect_four-ppo-2",
            "runs pack runs/connect_four-ppo-1 ppo.tar",
        ),
    ),
    "table": Help("Print the entries of a run's table in words.", ("table runs/sequence-tabular-1 --top 20",)),
    "teach": Help(
        "Datasets of a teacher, and what was learned from them.",
        (
            "teach collect --games 500 --out teacher.ndjson",
            "teach collect --games 20000 --on ray",
            "teach inspect teacher.ndjson",
            "teach convert teacher.ndjson teacher.csv",
            "train imitation chess --data teacher.ndjson",
            "teach verify runs/chess-imitation-1",
        ),
    ),
    "export": Help("Export a run's network.", ("export onnx runs/connect_four-dqn-1 network.onnx --int8",)),
}
ABOUT = {
    "games": Help("List the games, or explain one.", ("games", "games connect_four")),
    "check": Help("Check that a game of your own keeps the contract.", ("check my_game.py",)),
    "prepare": Help("Compile games once, so that nobody waits later.", ("prepare", "prepare chess")),
    "doctor": Help("Say what is installed and what is missing.", ("doctor",)),
}
PAGE = {"Play and understand": PLAY, "Measure": MEASURE, "Learn": LEARN, "Games and this installation": ABOUT}
HELP = {name: each for part in PAGE.values() for name, each in part.items()}
WIDTH = max(map(len, HELP))


def page(width: int = WIDTH) -> str:
    """The help of the whole program: first what most people type, then all commands."""
    first = [HELP[name].examples[0] for name in ("play", "train", "evaluate", "match")]
    lines = [MEANING, "", *examples_of(first), ""]
    for title, commands in PAGE.items():
        lines += [f"{title}:", *(f"  {name:{width}}  {each.meaning}" for name, each in commands.items()), ""]
    return "\n".join([*lines, "plyground COMMAND --help explains a command; --version says which Plyground this is."])


def examples(name: str) -> str:
    """The examples of a command, as they stand before its options."""
    return "\n".join([*examples_of(HELP[name].examples), ""]) if name in HELP else ""


def examples_of(lines: Sequence[str]) -> list[str]:
    return ["Examples:" if len(lines) > 1 else "Example:", *(f"  plyground {line}" for line in lines)]
