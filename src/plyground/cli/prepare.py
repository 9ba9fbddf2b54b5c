"""The command `prepare`: a progress bar while games are compiled, and a line for each game."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence

from plyground.cli.terminal import progress, say
from plyground.errors import Error
from plyground.game import Game
from plyground.play import preparation


def prepare_games(games: Sequence[Game]) -> None:
    """Compile everything of each game; what cannot be compiled here, such as an agent without torch, is named."""
    begun = time.perf_counter()
    if sys.stderr.isatty():
        logging.getLogger("plyground").setLevel(logging.WARNING)  # the bar tells what compiles
    for game in games:
        started, missing = time.perf_counter(), list[str]()
        steps = preparation.of_game(game)
        with progress(len(steps), f"{game}") as advance:
            for number, (name, step) in enumerate(steps.items()):
                advance(number, title=f"{game}: {name}")
                try:
                    step()
                except (Error, ModuleNotFoundError) as error:
                    missing.append(f"{name} ({error})")
        without = f"; without {', '.join(missing)}" if missing else ""
        say(f"{game}: {len(steps)} parts in {time.perf_counter() - started:.1f} s{without}")
    if len(games) > 1:
        say(f"All games are compiled, in {time.perf_counter() - begun:.0f} s. They start at once from now on.")
