"""Game files of strangers on the page: whatever they do costs their own game alone."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from served import Client, Served, serving, wait_until

pytestmark = [pytest.mark.compiled, pytest.mark.once]
EXAMPLE = Path(__file__).parents[2] / "examples" / "three_in_a_row.py"
FULL = "    cells[action] = 1 + side\n"
EARLY, LAST = "    marks = text(state)\n", 'state["cells"][8]'
FAULTS = {
    "compiled": (FULL, f"    k = 0\n    while action == 8 and cells[0] == 0:\n        k += 1\n{FULL}"),
    "naming": ('    return "abc"[', f'    while {LAST}:\n        pass\n    return "abc"['),
    "clicking": ("    return [action_name(state, action)]", f"    while {LAST}:\n        pass\n    return []"),
    "drawing": (EARLY, f"{EARLY}    while {LAST}:\n        pass\n"),
    "writing": ('    return "".join(', f'    while {LAST}:\n        pass\n    return "".join('),
    "raising": (EARLY, f"{EARLY}    if {LAST}:\n        raise KeyError(marks)\n"),
    "greedy": (EARLY, f"{EARLY}    if {LAST}:\n        np.zeros(2 * 10**11)\n"),
    "wordy": ('    return "".join(', f'    if {LAST}:\n        return 60_000_000 * "x"\n    return "".join('),
    "resetting": ("rng: Rng) -> None: ...", 'rng: Rng) -> None:\n    while state["outcome"] == 0:\n        rng[0] = 7'),
    "misspelt": (FULL, "    cells[acton] = 1 + side\n"),
    "late": ("LINES = ", 'import sys\nwhile "worker" in sys.argv[0]:\n    pass\nLINES = '),
}
"""name: what of the example is replaced, and by what; of most, only the ninth cell is at fault"""


QUICK = ("raising", "greedy", "wordy")  # those that end


def write(folder: Path, name: str) -> str:
    text = EXAMPLE.read_text()
    old, new = FAULTS[name]
    assert old in text
    path = folder / f"{name}.py"
    path.write_text(text.replace(old, new, 1))
    return str(path)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("own")
    with serving(folder, games=[write(folder, name) for name in FAULTS]) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("compiled", "`play` of compiled.py did not end within"),
        ("naming", "`action_name` of naming.py, line"),
        ("clicking", "`clicks` of clicking.py, line"),
        ("drawing", "`scene` of drawing.py, line"),
        ("writing", "`text` of writing.py, line"),
        ("raising", "`scene` of raising.py, line"),
        ("greedy", "MemoryError"),
        ("wordy", "MB"),
    ],
)
def test_a_fault_costs_its_own_move_alone(served: Served, name: str, words: str) -> None:
    with served.page() as page, served.page() as other:
        beside = page.new(name, "you", "you")
        page.play("a1")
        other.new("connect_four", "you", "you")
        table = page.new(name, "you", "you")
        lane = served.house.workers.of(str(served.house.catalogue.load(name).full)).tables
        wait_until(lambda: lane.running.qsize() >= 2)  # a second process stands ready; under load, a third
        number = page.send("play", table=table, revision=page.table["revision"], ply=0, action=8)
        for _ in range(5):  # another page, and the same one at another table
            other.act(other.position["choices"][0]["action"])
            looked = page.send("look", table=beside, ply=0)
            while (message := page.receive()).get("request") != looked:
                assert name in QUICK or message.get("request") != number, "others wait"
        refused = refusal(page, number)
        assert words in refused["text"], refused
        assert "...." not in refused["text"], "it quotes the state"
        page.ask("look", "position", table=table, ply=0)
        page.act(0)
        assert len(page.table["moves"]) == 1


def refusal(page: Client, number: int) -> Any:
    while True:
        for message in map(json.loads, page.seen):
            if message["type"] == "refused" and message["request"] == number:
                return message
        page.receive()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("resetting", "`reset` of resetting.py did not end within 10 s"),
        ("misspelt", "name 'acton' is not defined"),
        ("late", "importing late.py, line"),
    ],
)
def test_a_game_that_cannot_begin_says_why(served: Served, name: str, words: str) -> None:
    with served.page() as page:
        text = page.refusal("new_game", game=name, players=["you", "you"])["text"]
        assert words in text
        assert f"{name}.py" in text
        page.new("connect_four", "you", "you")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C otherwise")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_server_whose_game_hangs_ends_at_once_and_keeps_all_games(number: signal.Signals, tmp_path: Path) -> None:
    options = ["--game", write(tmp_path, "compiled"), "--tables", str(tmp_path / "tables"), "--runs", str(tmp_path)]
    line = [sys.executable, "-m", "plyground", "serve", *options]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    variables = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables) as process:
        try:
            assert process.stdout is not None
            host = re.search(r"http://([^/]+)/(\S*)", process.stdout.readline())
            assert host
            with connect(f"ws://{host[1]}/socket{host[2]}", origin=f"http://{host[1]}") as socket:  # pyright: ignore
                page = Client(socket)
                table = page.new("compiled", "you", "you")
                page.play("a1")
                page.send("play", table=table, revision=page.table["revision"], ply=0, action=8, prune=True)
                time.sleep(1.5)
                begun = time.monotonic()
                process.send_signal(number)
                process.wait(30)
                assert time.monotonic() - begun < 3.0
        finally:
            process.kill()
    assert json.loads((tmp_path / "tables" / f"{table}.json").read_text())["saved"]["actions"] == [0]
    wait_until(lambda: not list(temporary.glob("plyground-*")), 10.0)  # its processes end by themselves
