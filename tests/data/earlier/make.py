"""Makes files.tar.xz, small files of every kind, and documented_blocks.md, the code in the documentation: by the code
and the pages of commit 145934d, not by today's.

    git archive 145934d | tar x -C OLD
    pip install --target LIBRARIES tyro==1.0.16
    PYTHONPATH=OLD/src:LIBRARIES python tests/data/earlier/make.py FOLDER

`tests/test_earlier_files.py` opens them with today's code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import plyground as pg
from plyground import specs
from plyground.web.catalogue import YOU, seats_of
from plyground.web.requests import Clock
from plyground.web.store import Store, default_folder
from plyground.web.table import FORMAT, Saved, Table  # pyright: ignore  (of the version that makes the files)

FOLDER = Path(sys.argv[1]).resolve()
CACHE = FOLDER.with_name("cache")
GAMES = ["connect_four", "chess", "paco_sako", "sequence", "sequence:rules=boxed", "sequence:seats=4"]
SHORT = ["--games-per-cycle", "20", "--num-envs", "8", "--eval-games", "4", "--eval-opponents", "random"]
RUNS = {
    "dqn": "connect_four --network 16 --buffer-size 200 --learning-starts 32 --batch-size 16",
    "reinforce": "connect_four --network 16+value --batch-size 16",
    "a2c": "connect_four --network 16+value --batch-size 16 --rollout-length 4",
    "ppo": "connect_four --network 8-8+value --batch-size 16 --rollout-length 6",
    "alphazero": "connect_four --network 8+value --buffer-size 120 --learning-starts 32 --batch-size 16"
    " --simulations 4",
    "tabular": "sequence",
}


def plyground(*words: str, typed: str = "") -> None:
    """A command; `typed`: what a person types."""
    line = [sys.executable, "-m", "plyground", *words]
    subprocess.run(line, cwd=FOLDER, input=typed, text=True, check=True, stdout=subprocess.DEVNULL)


def train(learner: str, *more: str, out: str = "", cycles: int = 2) -> None:
    words = [*RUNS[learner].split(), *SHORT, "--seed", "3", "--cycles", str(cycles), *more]
    threads = [] if learner == "tabular" else ["--threads", "1"]
    plyground("train", learner, *words, *threads, "--out", f"runs/{out or learner}")


def runs() -> None:
    for learner in RUNS:
        train(learner)
    plyground("train", "dqn", "my_game.py", "--network", "8", "--buffer-size", "100", "--learning-starts", "32",
              "--batch-size", "16", *SHORT, "--threads", "1", "--cycles", "1", "--out", "runs/own_game")  # fmt: skip
    plyground("train", "imitation", "connect_four", "--data", "teacher.ndjson", "--network", "16", "--epochs", "1",
              "--validation-split", "0.5", "--seed", "3", "--out", "runs/imitation")  # fmt: skip
    train("dqn", "--seeds", "2", out="seeds", cycles=1)
    train("dqn", "--init", "runs/imitation", "--dueling", out="tuned", cycles=1)
    kill()
    (FOLDER / "runs/own_game/curves.png").unlink()  # pictures are large
    plyground("runs", "pack", "runs/own_game", "packed.tar")
    plyground("runs", "publish", "runs/ppo", "published", "--games", "2")


def kill() -> None:
    """A run killed in the middle of a cycle: its metrics are ahead of its checkpoint."""
    path = FOLDER / "runs" / "killed"
    words = [*RUNS["dqn"].split(), *SHORT, "--threads", "1", "--cycles", "500", "--out", "runs/killed"]
    process = subprocess.Popen([sys.executable, "-m", "plyground", "train", "dqn", *words], cwd=FOLDER)
    metrics = path / "metrics.jsonl"
    while not metrics.exists() or metrics.read_bytes().count(b'"event": "cycle"') < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()


def games() -> None:
    """Of each game one that has ended and one that goes on, saved by a person's commands."""
    for word in GAMES:
        name = word.replace(":", "-").replace("=", "_").replace(",", "-")
        plyground("watch", word, "random", "random", "--seed", "5", "--speed", "100000", "--save", f"games/{name}.txt")
        first = pg.load(word).start(5).names()[0]
        plyground("play", word, "random", "--seed", "5", typed=f"{first}\nsave games/{name}.open.txt\nquit\n")


def page() -> None:
    """Games that the page has kept: of each game and each kind of opponent one that goes on, one of chess that was
    given up, and one that is studied."""
    store = Store(default_folder())
    chosen = [(word, "level:3") for word in GAMES]
    chosen += [("chess", each) for each in ("random", "greedy", "minimax:depth=3", "search:sims=1000", "trained")]
    chosen += [("connect_four", "search:net=trained,sims=200"), ("chess", YOU)]
    for number, (word, opponent) in enumerate(chosen):
        game = pg.load(word)
        others = [opponent] * (seats_of(game) - 1)
        names = ["You", *(each if each != YOU else "Ada" for each in others)]
        settings = {key: specs.text(value) for key, value in game.settings.items()}
        text = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2" if opponent == YOU else ""
        clocks = {"clock": Clock(300.0, 2.0), "clocks": [300.0, 300.0]} if opponent == "greedy" else {}
        saved = Saved(FORMAT, f"{number:016x}", game.word, settings, [YOU, *others], names, 7, text, [], **clocks)
        table = Table(saved, game)
        while len(table.moves) < 9 and not table.over:
            table._act(table.position.legal()[-1])
        if opponent == "random":
            table.resign()
        store.keep(saved, table.info())
    store.flush()


def blocks() -> None:
    """The blocks of Python of the README and the guides, and the cells of the notebooks, each page under its name."""
    old, parts = Path(pg.__file__).parents[2], list[str]()
    for page in (old / "README.md", *sorted((old / "docs").rglob("*.md")), *sorted((old / "docs").rglob("*.ipynb"))):
        text = page.read_text("utf-8")
        if page.suffix == ".ipynb":
            cells = ("".join(each["source"]) for each in json.loads(text)["cells"] if each["cell_type"] == "code")
            blocks = (re.sub(r"\A(?:%%writefile (\S+))?\n?", _fence, cell) for cell in cells)
            text = "".join(f"{block}\n```\n" for block in blocks)
        found = re.findall(r"^```python.*?^```\n", text, re.MULTILINE | re.DOTALL)
        parts += [f"# {page.relative_to(old).as_posix()}\n\n", *found, "\n"] if found else []
    Path(__file__).with_name("documented_blocks.md").write_text("".join(parts), "utf-8")


def _fence(found: re.Match[str]) -> str:
    return f'```python title="{found[1]}"\n' if found[1] else "```python\n"


def main() -> None:
    blocks()
    if FOLDER.exists():
        shutil.rmtree(FOLDER)
    for name in ("games", "private"):
        (FOLDER / name).mkdir(parents=True)
    os.environ["PLYGROUND_CACHE"] = str(CACHE)
    old = Path(pg.__file__).parents[2]
    shutil.copy(old / "examples" / "three_in_a_row.py", FOLDER / "my_game.py")
    (FOLDER / "book.txt").write_text("44\n# a comment\n1. 4 3\n")
    (FOLDER / "book.pgn").write_text('[Event "?"]\n\n1. e4 e5 (1... c5) 2. Nf3 {good} *\n\n1. d4 d5 1/2-1/2\n')
    games()
    page()
    collect = ["teach", "collect", "--seed", "3", "--depth", "1", "--games"]
    plyground(*collect, "8", "connect_four", "--out", "teacher.ndjson")
    plyground(*collect, "2", "chess", "--max-plies", "12", "--out", "chess.ndjson.gz")
    plyground("teach", "convert", "connect_four", "teacher.ndjson", "teacher.csv")
    plyground("ladder", "connect_four", "random", "greedy", "--games", "4", "--file", "ladder.json")
    runs()
    shutil.copy(FOLDER / "runs" / "dqn" / "config.toml", FOLDER / "my.toml")
    for name in ("secret", "trusted", "tables"):
        (shutil.copy if name == "secret" else shutil.copytree)(CACHE / name, FOLDER / "private" / name)
    with tarfile.open(Path(__file__).with_name("files.tar.xz"), "w:xz") as archive:
        archive.add(
            FOLDER, "", filter=lambda entry: None if entry.name.endswith(("curves.png", "board.png")) else entry
        )


if __name__ == "__main__":
    main()
