"""Every command that a page tells to type runs to its end: with less time, fewer games and no GPU."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from conftest import ROOT, run
from plyground.backend.device import problem
from plyground.models.files import load_model
from test_readme import MODEL, OWN, PAGES, blocks_of, files_of, pieces_of_a_game

pytestmark = pytest.mark.slow
ELSEWHERE = {
    "serve": "runs until it is stopped: tests/web starts it",
    "uci": "ends the process that it runs in: cli/test_uci starts it",
    "train --profile chess_dqn_original": "four commands in one, minutes: cli/test_pipeline runs it with small numbers",
}
LIMITS = {  # command: its options and what is given for them, in place of what the page says
    "train": {"--seconds": "1", "--eval-games": "2"},
    "train imitation": {"--epochs": "1"},
    "match": {"--games": "2"},
    "ladder": {"--games": "2"},
    "evaluate": {"--games": "2"},
    "grade": {"--games": "2", "--positions": "20"},
    "teach collect": {"--games": "4"},
    "bench": {"--seconds": "0.1"},
    "resume": {"--seconds": "2"},
}
GIVEN = {"--time": "0.2", "--sims": "20", "--depth": "2"}  # where the page gives one
MIDDLEGAME = "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 8"
PGN = '[Event "a"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n'
UNFINISHED = '[Event "a"]\n[Result "*"]\n\n1. f3 e5 *\n'
RUNS = (
    "train dqn connect_four --network 16 --buffer-size 5000 --learning-starts 100 --out runs/connect_four-dqn-1",
    "train alphazero connect_four --network 16+value --simulations 4 --out runs/connect_four-alphazero-1",
    "train tabular sequence --out runs/sequence-tabular-1",
    "train ppo connect_four --network 16+value --seeds 2 --out runs/other",
    "teach collect chess --games 4 --out data/teacher.ndjson",
    "train imitation chess --data data/teacher.ndjson --out runs/chess-imitation-1",
    "train imitation chess --data data/teacher.ndjson --encoder flat839 --network 512-256-128 --outputs 4096"
    " --no-dueling --out runs/imitation_qnet",
    "train --profile chess_dqn_imitation --init runs/chess-imitation-1 --out runs/chess-dqn-1",
)


def commands_of(page: Path) -> list[str]:
    lines = [
        line.partition(" #")[0].strip()
        for block in blocks_of(page.read_text(encoding="utf-8"), "sh")
        for line in block.splitlines()
    ]
    return [line.removeprefix("plyground ") for line in lines if line.startswith("plyground ")]


def shorter(line: str) -> list[str]:
    """The words of a command that takes little time."""
    words = ["runs/connect_four-dqn-1" if word == "RUN" else word for word in shlex.split(line)]
    words = [MIDDLEGAME if word == "FEN" else word for word in words]
    name = " ".join(words[:2]) if " ".join(words[:2]) in LIMITS else words[0]
    limits = dict(LIMITS.get(name, {})) if "--help" not in words else {}
    for place, word in enumerate(words[:-1]):
        value = limits.pop(word, GIVEN.get(word))
        if value is not None:
            words[place + 1] = value
    return [*words, *(word for option in limits.items() for word in option)]


def missing(words: list[str]) -> str:
    """Why a command cannot run on this machine."""
    line = " ".join(words)
    if re.search(r"_gpu\b|--device cuda", line) and problem():
        return "no GPU"
    actors = re.search(r"--actors (\d+)", line)
    if actors and int(actors[1]) > len(os.sched_getaffinity(0)):
        return "too few CPUs"
    if "onnx" in line and importlib.util.find_spec("onnxruntime") is None:
        return "ONNX is not installed"
    if "openspiel" in line and importlib.util.find_spec("pyspiel") is None:
        return "OpenSpiel is not installed"
    return "Stockfish is not installed" if "stockfish" in line and shutil.which("stockfish") is None else ""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("workshop")
    files = {
        "my_game.py": "\n\n".join(pieces_of_a_game()),
        "game.pgn": PGN,
        "games.pgn": PGN * 2,
        **files_of(OWN.read_text(encoding="utf-8")),
        **files_of(MODEL.read_text(encoding="utf-8")),
    }
    files["game.txt"] = UNFINISHED
    files["mine.toml"] = 'learner = "dqn"\ngame = "connect_four"\nnetwork = "16"\n'
    for name, text in files.items():
        (folder / name).write_text(text)
    load_model(str(folder / "linear_model.py"), "connect_four").save()
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(
    page: Path, workshop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(workshop)
    for line in () if Path("runs").exists() else RUNS:  # the first page makes the runs that others name
        assert run(capsys, monkeypatch, *shorter(line))[0] == 0, line
    failures: list[str] = []
    for line in commands_of(page):
        if any(line == each or line.split()[0] == each for each in ELSEWHERE) or missing(shorter(line)):
            continue
        if line.startswith("teach collect"):
            shutil.rmtree("data")  # a dataset is gone on with only by the settings that it was begun with
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))  # a person who leaves at once
        code, out, err = run(capsys, monkeypatch, *shorter(line))
        failures += [f"{line}\n{out[-500:]}\n{err[-500:]}"] if code else []
    assert not failures, "\n".join(failures)
