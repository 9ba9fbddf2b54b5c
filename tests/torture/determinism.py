"""Every command and learner with 1, 2 and 4 threads, several hash seeds and a busy machine: the same output and files.

Each variant is a process of its own, `python -m torture.determinism CASES SEED THREADS`, that prints a digest for each
case. The rules split any batch of MIN_ROWS rows among threads there, instead of 8,192. Gradients are sums whose order
depends on torch's own number of threads: that is a setting of a run (`threads`), and so part of the case here.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from torture import MOST_FINDINGS, Deadline, Report, Share

ROOT = Path(__file__).parents[2]
ROW = str(ROOT / "examples" / "three_in_a_row.py")
VARIANTS = ((1, "0", 2), (2, "1", 0), (4, "2", 4), (1, "3", 0))  # threads, PYTHONHASHSEED, busy loops beside it
MIN_ROWS = 4
TIMES = re.compile(r'"ts": "[^"]*"|"seconds": [-+.e\d]+|\bin [\d,]+ s\b|^Time by part: .*$', re.MULTILINE)
"""in datasets, analyses and reports"""
WRITTEN = ("*.ndjson", "report.md", "verify.md")
GROUP = 6  # cases of one process, which takes seconds to start
SHORT = 60.0  # seconds below which only QUICK is compared, in two variants
HELD_OUT = 0.5  # of the games that imitation learns from: of a tenth of so few, there would often be none
QUICK = ("match connect_four", "match sequence", "train tabular 1", "begin dqn")

TRAIN = f"train tabular {ROW} --cycles 2 --games-per-cycle 60 --num-envs 16 --eval-games 8 --seed SEED --out FOLDER/run"
TRAIN_DEFAULT = (
    "train dqn connect_four --cycles 1 --games-per-cycle 300 --num-envs 64 --learning-starts 512 --eval-games 4 "
    "--seed SEED --out FOLDER/run"
)
TRAIN_DQN = (
    f"train dqn {ROW} --network 16 --cycles 1 --games-per-cycle 60 --num-envs 16 --buffer-size 400 --batch-size 16 "
    "--learning-starts 32 --eval-games 8 --seed SEED --out FOLDER/run"
)
COLLECT = (
    "teach collect --game connect_four --games 16 --seed SEED --teacher minimax --depth 1 --out FOLDER/lines.ndjson"
)
IMITATE = (
    "train imitation connect_four --data FOLDER/lines.ndjson --network 16 --epochs 1 "
    f"--validation-split {HELD_OUT} --out FOLDER/run"
)
COMMANDS = {
    "perft connect_four": "perft connect_four --depth 6 --divide",
    "perft chess": "perft chess --depth 3 --divide",
    "perft paco_sako": "perft paco_sako --depth 3",
    "match connect_four": "match connect_four minimax:depth=3 punisher --games 40 --seed SEED --json",
    "match chess": "match chess greedy random --games 8 --seed SEED --json",
    "match paco_sako": "match paco_sako greedy random --games 8 --seed SEED --json",
    "match sequence": "match sequence window greedy --games 20 --seed SEED --json",
    "match boxed": "match sequence:rules=boxed,seats=4 greedy random --games 12 --seed SEED --json",
    "match trained": "match connect_four trained greedy --games 40 --seed SEED --json",
    "match chess trained": "match chess trained random --games 4 --seed SEED --json",
    "sprt": "match connect_four greedy random --sprt 0 50 --games 200 --seed SEED --json",
    "ladder": f"ladder {ROW} random greedy minimax:depth=2 --games 20 --seed SEED --json",
    "solve": "solve 4453 --json",
    "grade": "grade greedy --positions 40 --games 2 --seed SEED --json",
    "check": f"check {ROW} --seed SEED",
    "games": "games",
    "collect": "teach collect --game connect_four --games 6 --seed SEED --teacher minimax --out FOLDER/lines.ndjson",
    "match search": "match connect_four search:sims=40 greedy --games 8 --seed SEED --json",
    "match search trained": "match connect_four search:model=trained,sims=8 greedy --games 4 --seed SEED --json",
    "match search sequence": "match sequence search:sims=12 greedy --games 4 --seed SEED --json",
    "match levels": "match connect_four level:3 level:7 --games 8 --seed SEED --json",
    "match levels chess": "match chess level:2 level:5 --games 4 --seed SEED --json",
    "match nodes": "match chess minimax:nodes=2000 random --games 8 --seed SEED --json",
    "match nodes paco_sako": "match paco_sako minimax:nodes=500 random --games 4 --seed SEED --json",
    "analyse position": "analyse chess --sims 60 --seed SEED --json",
    "analyse game": "analyse chess --moves 'e4 e5 Qh5 Nc6' --sims 30 --seed SEED --json",
    "evaluate": f"{TRAIN} ; evaluate FOLDER/run random greedy --games 20 --seed SEED --json",
    "table": f"{TRAIN} ; table FOLDER/run --top 5 --json",
    "report": f"{TRAIN} ; report FOLDER/run --games 20",
    "resume": f"{TRAIN} ; resume FOLDER/run --cycles 3",
    "begin dqn": TRAIN_DEFAULT,
    "resume dqn": f"{TRAIN_DQN} ; resume FOLDER/run --cycles 2",
    "verify": f"{COLLECT} ; {IMITATE} ; teach verify FOLDER/run --games 2 --depth 1",
}
SETTINGS: dict[str, Any] = {
    "game": ROW, "cycles": 2, "games_per_cycle": 60, "num_envs": 16, "eval_games": 8, "eval_opponents": ("random",),
}  # fmt: skip
LEARNERS: dict[str, dict[str, Any]] = {
    "dqn": {"network": "32", "buffer_size": 2000, "learning_starts": 64, "batch_size": 64},
    "reinforce": {"network": "32+value", "rollout_length": 9},
    "a2c": {"network": "32+value", "rollout_length": 4},
    "ppo": {"network": "32+value", "rollout_length": 6, "batch_size": 32},
    "alphazero": {
        "network": "32+value",
        "simulations": 4,
        "buffer_size": 2000,
        "learning_starts": 64,
        "batch_size": 64,
    },
    "tabular": {"epsilon": 0.3},
    "imitation": {
        "game": "connect_four",
        "epochs": 1,
        "batch_size": 64,
        "network": "b1c8",
        "validation_split": HELD_OUT,
    },
}
CASES = (*COMMANDS, *(f"train {name} {threads}" for name in LEARNERS for threads in (1, 2)))


# ---- one variant ----


def main() -> None:
    """Print the digest of each case as JSON; argv: cases as JSON, seed, threads."""
    cases, seed, threads = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    os.sched_getaffinity = lambda _: set(range(threads))  # whatever this machine has
    from plyground.kernels import threads as rule_threads

    rule_threads.CHUNK = MIN_ROWS
    found: dict[str, str] = {}
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            work = _learned if case.startswith("train ") else _printed
            found[case] = hashlib.sha256(work(case, seed, Path(folder))).hexdigest()
    print(json.dumps(found))


def _printed(case: str, seed: str, folder: Path) -> bytes:
    """What the last of a case's commands prints, and what all of them write; times aside."""
    from resumed import contents

    printed = ""
    for line in COMMANDS[case].split(" ; "):
        words = [word.replace("FOLDER", str(folder)).replace("SEED", seed) for word in shlex.split(line)]
        printed = _output(words)
    learned = case.startswith(("begin", "resume"))
    if learned or case == "collect":  # they print how long they took
        printed = ""
    files = [path.read_text(encoding="utf-8") for name in WRITTEN for path in sorted(folder.rglob(name))]
    runs = [repr(sorted(contents(folder / "run").items()))] if learned else []
    assert files or printed or runs, f"{case} leaves nothing"
    texts = [TIMES.sub("", text.replace(str(folder), "")) for text in (printed, *files, *runs)]
    return "\0".join(texts).encode()


def _output(words: Sequence[str]) -> str:
    """What a command prints to stdout."""
    from plyground.cli import app

    out, said, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["plyground", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            app.main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{words} end with code {end.code}: {said.getvalue()[-500:]}") from None
    finally:
        sys.argv = before
    return out.getvalue()


def _learned(case: str, seed: str, folder: Path) -> bytes:
    """The last checkpoint and the metrics of a small run."""
    from plyground.learners import LEARNERS as KINDS
    from plyground.learners.training import train
    from plyground.teaching.collect import collect
    from plyground.teaching.config import Collect
    from resumed import begin, contents, silent

    _, name, threads = case.split()
    kind = KINDS[name].config
    settings = SETTINGS | {"seed": int(seed), "threads": int(threads)} | LEARNERS[name]
    if name == "imitation":
        settings["data"] = (str(folder / "lines.ndjson"),)
        source = Collect(game="connect_four", games=16, teacher="minimax", seed=int(seed))
        collect(source, folder / "lines.ndjson", lambda *_: None)
    known = {field.name for field in fields(kind)}
    config = kind(**{key: value for key, value in settings.items() if key in known})
    learner, run = begin(folder / "run", config)
    with run:
        train(learner, run, silent)
    found = contents(folder / "run")
    state = json.loads(found.pop("state"))
    state["config"].pop("data", None)  # in a folder of its own
    return repr([sorted(found.items()), json.dumps(state, sort_keys=True).replace(str(folder), "")]).encode()


# ---- the proof ----


def run(seed: int, seconds: float, share: Share | None = None) -> Report:
    """Compare the variants on groups of cases, in an order that the seed determines, until the time is over.

    With a share, each case of it once.
    """
    deadline, compared, findings = Deadline(seconds), 0, list[str]()
    rng, cases, number = random.Random(seed), list[str](), -1
    while compared == 0 or (not deadline.over() and len(findings) < MOST_FINDINGS):
        if not cases:
            if share and number >= 0:
                break
            cases = list(QUICK) if seconds < SHORT else rng.sample(CASES, len(CASES))
            cases = list(share.of(cases)) if share else cases
            number = rng.randrange(1000)
        group, cases = cases[:GROUP], cases[GROUP:]
        first: dict[str, str] = {}
        for threads, hash_seed, busy in VARIANTS[:2] if seconds < SHORT else VARIANTS:
            found = variant(group, number, threads, hash_seed, busy)
            if isinstance(found, str):
                findings.append(found)
                break
            first = first or found
            compared += len(group)
            findings += [
                f"{case!r} (seed {number}) differs with {threads} threads, PYTHONHASHSEED={hash_seed}, "
                f"{busy} busy loops"
                for case in group
                if found[case] != first[case]
            ]
    return Report("determinism", compared, findings[:MOST_FINDINGS], deadline.passed)


@contextlib.contextmanager
def busy_machine(loops: int) -> Generator[None]:
    """So many processes that take all the time they get: nothing may depend on how long anything takes."""
    with contextlib.ExitStack() as stack:
        for _ in range(loops):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(loop.kill)
        yield


def variant(cases: Sequence[str], seed: int, threads: int, hash_seed: str, busy: int) -> dict[str, str] | str:
    """{case: digest}, or what went wrong."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    environment["OMP_NUM_THREADS"] = str(threads)  # torch in agents
    line = [sys.executable, "-m", "torture.determinism", json.dumps(cases), str(seed), str(threads)]
    with busy_machine(busy):
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{cases} (seed {seed}, {threads} threads) end with code {done.returncode}: {done.stderr[-1500:]}"
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
