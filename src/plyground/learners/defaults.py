"""The defaults of a config that depend on game and machine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from plyground.agents.registry import make, usual
from plyground.batch import Batch
from plyground.errors import Error, InvalidValue, command
from plyground.game import Game, load
from plyground.learners.evaluation import GAMES_PER_CYCLE
from plyground.runs.directory import read_config
from plyground.runs.groups import RUNS
from plyground.tables import Table

DEFAULT_CYCLES, CYCLES_OF_TIMED_RUN = 10, 20
MOST_OPENING_PLIES, RANDOM_GAMES = 60, 64
LATEST = "latest"  # as `init`
Notify = Callable[[str], None]
C = TypeVar("C")


def resolve(config: C, notify: Notify = lambda text: None) -> C:
    """The config with the defaults that depend on game and machine filled in, as config.toml states them.

    `notify` is told which device was chosen and why.
    """
    given = cast(Any, config)
    game, names = load(given.game), asdict(given)
    found: dict[str, Any] = {"game": game.full}
    if "eval_opponents" in names:
        found["eval_opponents"] = given.eval_opponents or usual(game)
        for spec in found["eval_opponents"]:
            make(spec, game)  # an unknown spec is an error now, not after the first cycle
    if names.get("cycles", 1) == 0 and not given.seconds:
        found["cycles"] = DEFAULT_CYCLES
    if not names.get("games_per_cycle", 1):
        found |= _resolve_cycle(given)
    if names.get("opening_plies", 0) < 0:
        found["opening_plies"] = 0 if given.openings else usual_length(game, MOST_OPENING_PLIES)
    if "opponents" in names:
        from plyground.learners.selfplay import make_opponents  # these need torch, as learners with networks do

        found["opponents"] = given.opponents or _sparring_partners(game)
        make_opponents(found["opponents"], game)
    if "key" in names:
        found["key"] = str(Table(game, given.key).key)
    if "network" in names:
        found |= _resolve_network(given, game, notify)
    return replace(given, **found)


def _resolve_cycle(config: Any) -> dict[str, Any]:
    """The length of a cycle: by time where a clock ends the run, else by games."""
    if config.seconds_per_cycle or config.seconds:
        return {"seconds_per_cycle": config.seconds_per_cycle or config.seconds / CYCLES_OF_TIMED_RUN}
    return {"games_per_cycle": GAMES_PER_CYCLE}


def _sparring_partners(game: Game) -> tuple[str, ...]:
    """The network itself and, where the game has it, a scripted agent that punishes mistakes from the first game on."""
    return ("0.7 self", "0.3 greedy") if "greedy" in usual(game) else ("1 self",)


def usual_length(game: Game, most: int) -> int:
    """The plies after which half of some random games have ended; at most `most`."""
    batch, running = Batch(game, RANDOM_GAMES, seed=0), np.ones(RANDOM_GAMES, bool)
    for ply in range(1, most):
        step = batch.step(batch.random_actions())
        running &= ~(step.terminated | step.truncated)
        if 2 * running.sum() <= RANDOM_GAMES:
            return ply
    return most


def _resolve_network(config: Any, game: Game, notify: Notify) -> dict[str, Any]:
    from plyground.backend import device as devices
    from plyground.backend.view import View
    from plyground.networks import make_network, suitable

    device, message = devices.choose(config.device)
    if message:
        notify(message)
    view = View(game, config.encoder, config.outputs)
    spec = config.network or suitable(view.shape, view.outputs)
    make_network(spec, view.shape, view.outputs, parts=view.parts)  # an unknown one is an error now
    found = {"encoder": str(view.encoder), "network": spec, "outputs": view.outputs}
    if config.init == LATEST:
        run = newest_imitation({"game": game.full, "dueling": getattr(config, "dueling", False), **found})
        notify(f"begins with {run}, the newest imitation run of this network")
        found["init"] = str(run)
    return {**found, "device": device, "threads": config.threads or 1}


def newest_imitation(settings: dict[str, Any]) -> Path:
    """The newest imitation run with these settings, in `runs` or as a stage of a run there."""
    found = list[Path]()
    for best in (*RUNS.glob("*/best.json"), *RUNS.glob("*/imitation/best.json")):
        with suppress(Error):  # a run whose config cannot be read does not fit
            config = read_config(best.parent)
            if config.get("learner") == "imitation" and settings.items() <= {**config}.items():
                found.append(best.parent)
    if found:
        return max(found, key=lambda run: (run / "config.toml").stat().st_mtime)
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    how = command("train", "imitation", "--data", "FILE")
    raise InvalidValue(f"no imitation run in {RUNS} has {words}: make one with `{how}`, or name a run with --init")
