"""The command line, as a person uses it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.checks.passed_files import has_passed


def test_games_are_listed(command) -> None:
    code, out, _ = command("games")
    assert code == 0
    for word in ("connect_four", "planes-v1", "punisher", "minimax:depth=3"):
        assert word in out


def test_a_game_is_explained_with_its_agents_and_their_options(command) -> None:
    code, out, _ = command("games", "connect_four")
    words = " ".join(out.split())
    assert code == 0
    assert "punisher Win, else block, else any column." in words
    assert "minimax:depth=3 alpha-beta search to a fixed depth, for a time, or for a number of nodes (depth: " in words
    assert "run:DIR what a run has learned (checkpoint: " in words
    assert "uci:" not in words, "an engine plays chess only"


def test_perft(command) -> None:
    assert command("perft", "connect_four", "--depth", "7")[:2] == (0, "depth 7: 823536\n")
    code, out, _ = command("perft", "connect_four", "--depth", "3", "--position", "1212127", "--divide")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "1: 49"
    assert lines[1] == "2: 0", "that wins: nothing follows"
    assert lines[-1] == f"Nodes searched: {sum(int(line.split(': ')[1]) for line in lines[:7])}"


def test_match(command) -> None:
    code, out, _ = command("match", "greedy", "random", "--games", "200", "--seed", "4")
    assert code == 0
    assert re.search(r"score of greedy: 9\d\.\d%, 95% interval 9\d\.\d% to \d+\.\d%", out)
    assert "Elo difference: +" in out
    code, out, _ = command("match", "greedy", "random", "--games", "200", "--seed", "4", "--json")
    result = json.loads(out)
    assert result["wins"] + result["draws"] + result["losses"] == 200
    assert result["interval"][0] < result["score"] <= result["interval"][1]


def test_match_of_a_game_in_a_file(command) -> None:
    code, out, _ = command("match", str(ROOT / "examples" / "three_in_a_row.py"), "random", "greedy", "--games", "20")
    assert code == 0
    rows = {line.split("│")[1].strip(): line.split("│")[2].strip() for line in out.splitlines() if line[:1] == "│"}
    assert rows == {"as first": "10", "as second": "10", "in all": "20"}


def test_bench_prints_one_json_object(command) -> None:
    code, out, _ = command("bench", "rules", "connect_four", "--json", "--seconds", "0.05", "--batch", "64")
    assert code == 0
    speed = json.loads(out)
    assert speed["game"] == "connect_four"
    assert speed["batch"] == 64
    assert speed["threads"] >= 1
    assert speed["plies_per_cpu_second"] > 1000
    assert speed["plies_per_second"] > 1000


def test_check_runs_the_laws(command, steady_path: Path) -> None:
    example = ROOT / "examples" / "three_in_a_row.py"
    code, out, _ = command("check", str(example))
    assert code == 0
    assert "keeps all" in out
    assert "A portrait of random play:\n* 200 random games: 7.6 plies on average (5 to 9)" in out
    assert "* greedy against random: " in out
    assert "\n!" not in out, "a warning"
    assert has_passed(example)
    broken = steady_path / "broken.py"
    broken.write_text(Path(TINY[1]).read_text().replace('("left", "right", "rest")', '("left", "left", "rest")'))
    code, out, err = command("check", str(broken))
    assert code == 2
    assert "`action_name` does not tell actions apart" in err
    assert f"; see {broken}, line " in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["perft", "conect_four", "--depth", "3"], "did you mean 'connect_four'"),
        (["perft", "connect_four", "--depth", "-1"], "perft's depth is 0 to 64, not -1"),
        (["perft", "connect_four", "--depth", "0", "--divide"], "divide's depth is at least 1, not 0"),
        (["perft", "connect_four", "--depth", "x"], "x"),
        (["perft", "connect_four"], "--depth"),
        (["perft", "connect_four", "--depth", "2", "--position", "4444444"], "column 4 is full at move 7"),
        (["perft", TINY[0], "--depth", "2"], "without chance"),
        (["match", "random"], "match takes [GAME] A B; not 'random'"),
        (["match", "random", "random", "random"], "a match has two agents; for more: plyground ladder random"),
        (["ladder", "random"], "ladder takes [GAME] A B ...; not 'random'"),
        (["grade"], "grade takes [GAME] AGENT; nothing was given"),
        (["solve", "chess"], "there is no solver for chess"),
        (["check"], "check needs a game"),
        (["check", "connect_four", "--games", "0"], "--games is the number of random games, at least 1, not 0"),
        (["match", "random", "nobody"], "no agent for connect_four 'nobody'"),
        (["match", "random", "random", "--games", "5"], "an even number of games"),
        (["match", "random", "random", "--games", "0"], "at least 2, not 0"),
        (["match", "random", "random", "--opening-plies", "-1"], "not -1"),
        (["match", "random", "random", "--opening-plies", "60"], "has 0 to 42 plies, not 60"),
        (["play", "connect_four", "nobody"], "no agent"),
        (["play", "connect_four", "minmax"], "did you mean 'minimax'?"),
        (["play", "connect_four", "--side", "third"], "third"),
        (["bench", "rules", "--encoder", "plans"], "did you mean 'planes"),
        (["bench", "rules", "--batch", "0"], "at least 1"),
        (["bench", "rules", "--batch", str(10**13)], "more memory than there is"),
        (["match", "random", "random", "--games", str(10**13)], "more memory than there is"),
        (["bench", "everything"], "everything"),
        (["dance"], "no command 'dance'; see plyground --help"),
        (["trian"], "no command 'trian'; did you mean 'train'? see plyground --help"),
        (["uci", "level:3"], "uci takes options only, not 'level:3'; see plyground uci --help"),
        (["export", "onnx"], "export takes onnx RUN FILE: plyground export onnx "),
        (["teach", "imitate"], "no command of plyground teach 'imitate'; known: collect, inspect, convert, verify"),
        (["teach", "inspect"], "teach inspect takes [GAME] FILE; nothing was given; for example: plyground teach insp"),
        (["teach", "convert", "a"], "; not 'a'; for example: plyground teach convert teacher.ndjson teacher.csv"),
        (["games", "chess", "greedy"], "games takes [GAME]; not 'chess greedy'; for example: plyground games"),
        (["perft", "chess", "greedy", "--depth", "1"], "perft takes [GAME]; not 'chess greedy'; for example: "),
        (["bench", "rules", "chess", "a"], "bench rules takes [GAME]; not 'chess a'; for example: plyground bench rul"),
        (["prepare", "chess", "a"], "prepare takes [GAME]; not 'chess a'; for example: plyground prepare"),
        (["check", "chess", "a"], "check takes GAME; not 'chess a'; for example: plyground check my_game.py"),
        (["teach", "verify"], "teach verify takes RUN; nothing was given; for example: plyground teach verify runs/"),
        ([], ""),
    ],
)
def test_bad_input_is_one_clear_error(command, arguments: list[str], message: str) -> None:
    code, _, err = command(*arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert len(err.splitlines()) < 25


def test_help_names_no_default_game_where_a_game_is_needed(command) -> None:
    assert "connect_four)" in command("match", "--help")[1]
    out = command("check", "--help")[1]
    assert "--game" in out
    assert "connect_four" not in out


def test_check_asks_whether_a_name_is_misspelt(command, steady_path: Path) -> None:
    path = steady_path / "misspelt.py"
    path.write_text((ROOT / "examples" / "three_in_a_row.py").read_text() + '\n\nSIDE = ("x", "o")\n')
    code, out, _ = command("check", str(path), "--games", "4")
    assert code == 0
    assert "\n! `SIDE`: did you mean `SIDES`? see " in out


def test_laws_about_what_a_game_leaves_out_get_no_tick(command, steady_path: Path) -> None:
    path, source = steady_path / "bare.py", (ROOT / "examples" / "three_in_a_row.py").read_text()
    path.write_text(source.replace("ENCODERS = ", "NAMELESS = ").replace("def evaluate", "def guess"))
    code, out, _ = command("check", str(path))
    assert code == 0
    assert "- `evaluate` lies in [-1, 1]. (not defined)" in out
    assert "✓ `evaluate`" not in out
    assert "It has no ENCODERS" in out
    assert re.search(
        r"(?s)\nNot defined, all optional: SETTINGS, [^.]*\bevaluate, [^.]*\bENCODERS, [^.]*DATASET\.\n", out
    )
    assert "\n!" not in out, "a warning"
    assert "✓ `evaluate` lies in [-1, 1]." in command("check", "connect_four", "--games", "4")[1]


WRITE_PLANES = ": `write_planes` is not compiled: write @njit above it; see {}, line 53"


def test_a_function_that_is_missing_or_not_compiled_is_named(command, tmp_path: Path) -> None:
    source = (ROOT / "examples" / "three_in_a_row.py").read_text()
    for number, (right, wrong, message) in enumerate(
        (
            ("@njit\ndef legal", "def legal", ": `legal` is not compiled: write @njit above it; see {}, line 25"),
            ("@njit\ndef write_planes", "def write_planes", WRITE_PLANES),
            ("def legal", "def leegal", " does not define legal; `leegal`: did you mean `legal`? see {}, line 26"),
        )
    ):
        path = tmp_path / f"game{number}.py"
        path.write_text(source.replace(right, wrong))
        code, _, err = command("games", str(path))
        assert code == 2
        assert err == f"plyground: the game in {path}{message.format(path)}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grade", "random", "--picture", "/nope/x.png"], "cannot write /nope/x.png: there is no folder /nope"),
        (["ladder", "random", "greedy", "--picture", "x.foo"], "cannot write x.foo: a picture's name ends in"),
        (["ladder", "random", "greedy", "--picture", "x"], "cannot write x: a picture's name ends in"),
        (["ladder", "random", "greedy", "--file", "/nope/l.json"], "cannot write /nope/l.json"),
        (["ladder", "random", "greedy", "--file", "/"], "cannot write /: it is a folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_work(
    command, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr("plyground.game.load", None)  # there is no work without a game
    code, _, err = command(*arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_what_was_written_is_said(command, tmp_path: Path) -> None:
    file, picture = tmp_path / "l.json", tmp_path / "l.png"
    code, _, err = command("ladder", "random", "greedy", "--games", "2", "--file", str(file), "--picture", str(picture))
    assert code == 0
    assert err.splitlines() == [f"wrote {file}", f"wrote {picture}"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_game_that_does_not_compile_is_one_clear_error(command, steady_path: Path) -> None:
    broken = steady_path / "typo.py"
    broken.write_text(Path(TINY[1]).read_text().replace('state["place"] += 1 if', 'state["plaice"] += 1 if'))
    code, _, err = command("match", str(broken), "random", "random", "--games", "2")
    assert code == 2
    assert "Field 'plaice' was not found" in err
    assert "Traceback" not in err
    assert "kernels.py" not in err, "only the game's own lines"
    assert '\n    state["plaice"] += 1 if' in err


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("(LONGEST + 1,), np.float32", "(3,), np.float32", "IndexError"),
        ("MAX_LEGAL = 3", "MAX_LEGAL = 1", "`legal` lists 3 actions, but MAX_LEGAL is 1: it must be at least 3"),
    ],
    ids=["encoder", "legal"],
)
def test_check_finds_what_writes_beyond_its_room(steady_path: Path, right: str, wrong: str, message: str) -> None:
    """In a process of its own, as people run it: bounds are checked there."""
    path = steady_path / "beyond.py"
    source = Path(TINY[1]).read_text().replace("NUM_ACTIONS = MAX_LEGAL = 3", "NUM_ACTIONS = 3\nMAX_LEGAL = 3")
    assert source.count(right) == 1
    path.write_text(source.replace(right, wrong))
    done = subprocess.run([sys.executable, "-m", "plyground", "check", str(path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def _plyground(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own with a cache of its own."""
    environment = os.environ | {"PLYGROUND_CACHE": str(cache)}
    line = [sys.executable, "-m", "plyground", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, env=environment)


def test_a_game_that_has_not_passed_check_ends_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "beyond.py"
    path.write_text(Path(TINY[1]).read_text().replace('state["seen"][situation(state)] = 1', 'state["seen"][999] = 1'))
    done = _plyground(tmp_path / "cache", "perft", str(path), "--depth", "1")
    assert done.returncode == 2
    assert f"{path} is new or has changed: bounds are checked" in done.stderr
    assert f"the game {path} fails with IndexError: index is out of bounds" in done.stderr
    assert f"check {path} says what is wrong with it" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C otherwise")
def test_ctrl_c_stops_check_in_an_endless_compiled_loop(tmp_path: Path) -> None:
    path = tmp_path / "endless.py"
    edit = 'while state["outcome"] == RUNNING:\n        state["place"] = 1\n    state["repeats"] = 1'
    path.write_text(Path(TINY[1]).read_text().replace('state["repeats"] = 1', edit, 1))
    environment = os.environ | {"PLYGROUND_CACHE": str(tmp_path / "cache")}
    line = [sys.executable, "-m", "plyground", "check", str(path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            until = time.monotonic() + 60
            while not list(tmp_path.glob("cache/*/__pycache__/*reset_all*.nbi")) and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(0.3)  # it is compiled, and runs
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "plyground: stopped; nothing was kept" in errors


def test_an_agent_that_fails_shows_its_own_lines_alone(command, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Boom:\n    def act(self, states, rngs):\n        return 1 / 0\n")
    code, _, err = command("match", f"file:{tmp_path}/mine.py:Boom", "random", "--games", "2")
    assert code == 2
    first, second, *rest = err.strip().splitlines()
    assert first == f"plyground: the agent in {tmp_path}/mine.py fails with ZeroDivisionError: division by zero"
    assert second == f'  File "{tmp_path}/mine.py", line 3, in act'
    assert rest[0].strip() == "return 1 / 0"
    assert "argparse" not in err


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "plyground", "perft", "connect_four", "--depth", "2", "--divide"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        errors = process.stderr.read()
        assert process.wait() == 0
    assert "Exception" not in errors


@pytest.mark.parametrize(
    "arguments",
    [
        ["perft", "connect_four", "--depth", "20"],
        ["match", "minimax:depth=14", "random", "--opening-plies", "0"],
        ["ladder", "minimax:depth=4", "minimax:depth=5", "--games", "100000"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_ctrl_c_ends_compiled_code_too_and_says_what_is_kept(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "plyground", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        begun = time.monotonic()
        while _worked(process.pid) < 3 and time.monotonic() - begun < 90:  # imports take half a second of CPU time
            time.sleep(0.1)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
    assert "plyground: stopped; " in errors
    assert "Traceback" not in errors


def _worked(pid: int) -> float:
    """The CPU-seconds that a process has used: on a busy machine seconds say little."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _fresh(code: str) -> str:
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_help_waits_for_no_compiler() -> None:
    code = """
import sys
sys.argv = ["plyground", "--help"]
from plyground.cli import app
try:
    app.main()
except SystemExit:
    pass
print(sorted({"numba", "torch", "numpy", "matplotlib", "rich", "asyncio"} & set(sys.modules)))
"""
    assert _fresh(code).splitlines()[-1] == "[]"


def test_commands_do_not_import_torch() -> None:
    code = """
import sys
sys.argv = ["plyground", "match", "random", "greedy", "--games", "10"]
from plyground.cli import app
app.main()
print("torch" in sys.modules, "matplotlib" in sys.modules)
"""
    assert _fresh(code).splitlines()[-1] == "False False"


def test_mistakes_are_told_with_positions_that_can_be_read(command) -> None:
    code, out, _ = command("grade", "random", "--positions", "40", "--games", "0")
    found = re.findall(r"^position: (\S+)$", out, re.MULTILINE)
    assert code == 0
    assert len(found) == out.count("mistake ") > 3
    assert json.loads(command("solve", found[0], "--json")[1])["position"] == found[0]


def test_mistakes_are_marked_in_the_picture() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from plyground.report.pictures import draw_board

    axes = Figure().add_subplot()
    draw_board(axes, pg.load("connect_four").position("4453"), {"4": "✗", "1": "✓"})
    signs = {text.get_text(): text.get_position() for text in axes.texts}
    assert (signs["✗"], signs["✓"]) == ((3, 2), (0, 0)), "where the discs would come to lie"


def test_the_version_is_told(command) -> None:
    for words in ("--version", "-V", "version"):
        assert command(words)[:2] == (0, f"plyground {pg.__version__}\n")


@pytest.mark.parametrize("words", ["runs unpack {here} {long}", "train tabular connect_four --out {long}"])
def test_a_name_that_no_file_can_have_is_one_sentence(words: str, command) -> None:
    code, _, err = command(*words.format(here=__file__, long=5000 * "a").split())
    assert code == 2
    assert err.splitlines()[-1].startswith("plyground: no file can have the name 'aaa")  # a first use compiles
