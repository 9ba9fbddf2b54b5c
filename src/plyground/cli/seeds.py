"""Several seeds of one experiment: `train --seeds 5` trains them in turn, or some side by side, into one folder.

The same command with the same `--out` goes on where it stopped; seeds that are finished are not repeated.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plyground.cli.ctrl_c import stop_on_signal
from plyground.cli.display import show_report
from plyground.cli.terminal import console, say, say_command
from plyground.errors import InvalidValue, command
from plyground.report.run import write_seeds_report
from plyground.report.seeds import NOT_COMPARED
from plyground.runs.directory import read_config, steps_of
from plyground.runs.files import is_file
from plyground.runs.groups import seed_path, seed_runs
from plyground.runs.settings import differences, to_toml

MOST = 1000  # seeds
REPORT = "report.md"  # a run has one when it is finished
POLL_INTERVAL = 0.1  # seconds


def check_counts(seeds: int, parallel: int) -> None:
    for name, value in (("seeds", seeds), ("parallel", parallel)):
        if not 1 <= value <= MOST:
            raise InvalidValue(f"{name} is from 1 to {MOST}, not {value}")
    if parallel > seeds:
        raise InvalidValue(f"--parallel {parallel} is about several seeds, at most all of them: not of --seeds {seeds}")


def train_seeds(
    folder: Path, config: Any, count: int, parallel: int, train: Callable[[int, Path], bool], line: Sequence[str]
) -> None:
    """Train several seeds into one folder, from the config's own seed on; then report their mean and spread.

    `train` trains or continues a seed in its directory; `line` is the command without seeds and directory, for
    `parallel` processes at a time.
    """
    if is_file(folder / "config.toml"):
        raise InvalidValue(f"{folder} is one run: the runs of several seeds need another --out")
    seeds = range(config.seed, config.seed + count)
    wanted = tomllib.loads(to_toml(asdict(config)))  # as config.toml holds them
    for path in (seed_path(folder, seed) for seed in seeds):
        there = read_config(path) if steps_of(path) else wanted
        names = [name for name in wanted if name not in NOT_COMPARED]
        compared = [{name: each[name] for name in names if name in each} for each in (there, wanted)]
        if found := differences(*compared):
            raise InvalidValue(f"{path} was begun with other settings ({'; '.join(found)}): choose another --out")
    finished, in_turn = True, parallel == 1
    for place, seed in enumerate(seeds if in_turn else (), 1):
        path, which = seed_path(folder, seed), f"── seed {seed} ({place} of {count})"
        if is_finished(path):
            say(f"{which} is finished: {path}")
            continue
        say(f"{which}: {path}")
        finished = train(seed, path)
        if not finished:
            break
    if finished and (in_turn or side_by_side(folder, seeds, parallel, line)):
        show_seeds(folder)
        return
    others = [] if in_turn else ["--parallel", parallel]
    again = command(*line, "--seed", config.seed, "--seeds", count, *others, "--out", folder)
    say_command("Not all seeds are finished. Continue with:", again)


def is_finished(run: Path) -> bool:
    return is_file(run / REPORT)


def side_by_side(folder: Path, seeds: Sequence[int], parallel: int, line: Sequence[str]) -> bool:
    """Each in a process of its own, so many at a time; its lines begin with the seed. Ctrl-C stops and saves all."""
    waiting = [seed for seed in seeds if not is_finished(seed_path(folder, seed))]
    running: list[subprocess.Popen[str]] = []

    def begin(seed: int) -> subprocess.Popen[str]:
        """Start or continue one seed; a thread prints its lines."""
        path = seed_path(folder, seed)
        words = ["resume", str(path)] if steps_of(path) else [*line, "--seed", str(seed), "--out", str(path)]
        process = subprocess.Popen(  # noqa: S603 (this program, with the words of its own command line)
            [sys.executable, "-m", "plyground", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # Ctrl-C reaches it through us, once
        )

        def show() -> None:
            for each in process.stdout or ():
                console.print(f"seed {seed}: {each.rstrip()}", soft_wrap=True)

        threading.Thread(target=show, daemon=True).start()
        return process

    def stop_all() -> None:
        for process in running:
            process.send_signal(signal.SIGINT)

    with stop_on_signal() as stop:
        told = False
        try:
            while (waiting and not stop) or running:
                while waiting and len(running) < parallel and not stop:
                    running.append(begin(waiting.pop(0)))
                if stop and not told:
                    told = True
                    stop_all()
                time.sleep(POLL_INTERVAL)
                running[:] = [process for process in running if process.poll() is None]
        except KeyboardInterrupt:  # a second Ctrl-C: they end at once, too
            stop_all()
            raise
    return all(is_finished(seed_path(folder, seed)) for seed in seeds)


def show_seeds(folder: Path) -> None:
    """The report of all seeds, and where to find more."""
    runs = seed_runs(folder)
    show_report(write_seeds_report(folder, runs))
    say(f"The curves as a picture: {folder / 'curves.png'}")
    say_command("Measure it in more games:", command("evaluate", folder))
    say_command("Play against one of them:", command("play", read_config(runs[0])["game"], f"run:{runs[0]}"))
