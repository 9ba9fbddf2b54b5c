"""A run as a folder that model hubs expect, with a model card: `plyground runs publish RUN DIR`.

    model.safetensors  the network or table of the best checkpoint
    config.json        what it is: game, encoder, network; checksum, and fingerprints of the code
    config.toml        every setting of its training
    README.md          the model card: use, training, results with intervals, limits
    board.png          a position that it has played; curves.png where the run has metrics
    GAME.py            the game's file, where it is not a built-in game

`run:DIR` plays it. Paths in its settings lose their folders: they would tell about the machine, and lead nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors.numpy

from plyground import __version__
from plyground.errors import InvalidValue, plain_os_errors
from plyground.game import Game
from plyground.report.figures import new_figure, save_figure
from plyground.report.pictures import draw_board
from plyground.report.run import GAMES, graded, has_curves, measure_best, puzzles_solved, save_curves, totals
from plyground.report.scores import Scores, score_table
from plyground.runs.directory import (
    FORMAT,
    PUBLISHED,
    WEIGHTS,
    check_trusted,
    find_checkpoint,
    read_config,
    trust_run,
)
from plyground.runs.files import checksum, write_whole
from plyground.runs.metrics import read_metrics
from plyground.runs.settings import to_toml

PICTURED_PLIES = 16
FOLDERS = re.compile(r"(?<![^\s:=])(?:[A-Za-z]:)?[\\/](?:[^\\/:,]+[\\/])+")  # of an absolute path


def publish(run: Path, folder: Path, licence: str = "mit", games: int = GAMES) -> list[str]:
    """Write a run's best checkpoint to a new folder, measured anew in `games` games; returns the files' names."""
    if not re.fullmatch(r"[\w.+-]+", licence):
        raise InvalidValue(f"a licence is a short name such as mit or cc-by-4.0, not {licence!r}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidValue(f"{folder} exists already: choose another folder")
    check_trusted(run)  # it names its opponents; what is published is trusted below
    checkpoint, config, metrics = find_checkpoint(run, "best"), read_config(run), read_metrics(run)
    agent, scores = measure_best(run, games)
    game = agent.game
    weights = safetensors.numpy.save(checkpoint.tensors(agent.model.kind))
    manifest = {  # of the only checkpoint
        "library_name": "plyground",
        "plyground": __version__,
        "step": checkpoint.step,
        "format": FORMAT,
        "number": 0,
        "identity": {name: without_folders(value) for name, value in checkpoint.identity.items()},
        "fingerprints": dict(checkpoint.fingerprints),
        "files": {WEIGHTS: {"size": len(weights), "sha256": checksum(weights)}},
    }
    contents = {
        WEIGHTS: weights,
        PUBLISHED: json.dumps(manifest, indent=1).encode() + b"\n",
        "config.toml": to_toml({name: without_folders(value) for name, value in config.items()}).encode(),
        **({Path(game.path).name: Path(game.path).read_bytes()} if game.path else {}),
    }
    with plain_os_errors(f"write {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            write_whole(folder / name, content, shared=True)
        position = game.start()  # of a game against itself
        for _ in range(PICTURED_PLIES):
            after = position.play(position.ask(agent))
            if after.over:
                break
            position = after
        figure = new_figure(5, 5.4)
        draw_board(figure.add_subplot(), position)
        save_figure(folder / "board.png", figure)
        pictures = ["board.png"]
        if has_curves(metrics):
            save_curves(folder / "curves.png", [run])
            pictures.append("curves.png")
        trained = totals(metrics) if metrics.lines else ""
        card = model_card(folder.name, agent, config, trained, scores, licence, pictures)
        write_whole(folder / "README.md", card.encode(), shared=True)
    trust_run(folder)  # whoever publishes a game's file has named it
    return sorted([*contents, *pictures, "README.md"])


def without_folders(value: Any) -> Any:
    """A setting in which absolute paths are only names: `run:/home/me/runs/a` becomes `run:a`."""
    if isinstance(value, list | tuple):
        return [without_folders(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    return FOLDERS.sub("", value) if isinstance(value, str) else value


# ---- the model card ----


def model_card(
    name: str, agent: Any, config: Mapping[str, Any], trained: str, scores: Scores, licence: str, pictures: list[str]
) -> str:
    """The model card: a YAML head for hubs, then how to use it, how it was trained, results and limits."""
    game: Game = agent.game
    shown = f"`{without_folders(game.full)}`"  # the game as the folder names it: a file without its path
    place = f"FOLDER/{without_folders(game.full)}" if game.path else str(game)
    trust = ["Its game is a file of this folder, which is code: `plyground evaluate FOLDER --trust` allows it, once."]
    code = [
        "import plyground as pg",
        f'game = pg.load("{place}")',
        'agent = pg.agent("run:FOLDER", game)',
        "print(pg.match(game, agent, pg.agent('random', game), games=100).score)",
    ]
    strongest = min(scores, key=lambda spec: scores[spec]["score"])
    lost = f"Of the opponents above it scores least against `{without_folders(strongest)}`."
    limits = [
        f"It plays {shown} with exactly these settings, and nothing else.",
        f"{lost} Nothing is known about others. The intervals are of the games' chance; one training run was measured.",
        "It plays the action that it values most, without search: the same game again where nothing is drawn.",
    ]
    paragraphs = [
        _head(name, game, config.get("learner", "unknown"), scores, licence),
        f"# {name}: {game.label} by {config.get('learner', 'an unknown learner')}",
        f"{agent.model.words}. It plays {shown} with Plyground, which has the rules.",
        *(f"![{picture.partition('.')[0]}]({picture})" for picture in pictures),
        "## Use",
        "Where FOLDER is this folder:",
        "```python\n" + "\n".join(code) + "\n```",
        *trust[: bool(game.path)],
        "## Training",
        _training(config, trained),
        "## Results",
        score_table(scores, shown=without_folders),
        "Pairs of games from random openings, each played from both sides; a draw counts half.",
        *puzzles_solved(agent),
        *graded(agent),
        "## Limits",
        "\n".join(f"* {limit}" for limit in limits),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _head(name: str, game: Game, learner: str, scores: Scores, licence: str) -> str:
    """YAML; its strings and mappings are written as JSON, which YAML contains."""
    metrics = [
        {"type": "score", "name": f"score against {spec}, {one['games']} games", "value": round(one["score"], 4)}
        for spec, one in ((without_folders(each), scores[each]) for each in scores)
    ]
    task = {"type": "reinforcement-learning", "name": "reinforcement-learning"}
    dataset = {"type": game.label, "name": without_folders(game.full)}
    index = [{"name": name, "results": [{"task": task, "dataset": dataset, "metrics": metrics}]}]
    lines = {
        "library_name": "plyground",
        "license": licence,
        "pipeline_tag": "reinforcement-learning",
        "tags": ["board-games", "reinforcement-learning", game.label, learner],
        "model-index": index,
    }
    return "\n".join(["---", *(f"{key}: {json.dumps(value)}" for key, value in lines.items()), "---"])


def _training(config: Mapping[str, Any], trained: str) -> str:
    """What is known of its training; a run that was packed without metrics knows less."""
    versions = ", ".join(f"{name} {version}" for name, version in config.get("versions", {}).items())
    opponents = ", ".join(f"`{without_folders(each)}`" for each in config.get("opponents", []))
    facts = [
        trained,
        f"At most {config['seconds']:.0f} s." if config.get("seconds") else "",
        f"Seed {config['seed']}." if "seed" in config else "",
        f"Opponents in training, with their shares: {opponents}." if opponents else "",
        f"Made with {versions}." if versions else "",
        "All settings are in config.toml.",
    ]
    return " ".join(fact for fact in facts if fact)
