"""Commands with `--on`: the same output as without, and one sentence where there is no such cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from plyground.cluster import connect
from plyground.kernels import threads
from pretended_ray import pretend

pytestmark = pytest.mark.compiled


@pytest.fixture(autouse=True)
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Two nodes at the address `ray`, in this process; the addresses that were asked for."""
    asked: list[str] = []

    @contextmanager
    def pretended(where: str) -> Generator[Any]:
        asked.append(where)
        yield pretend(2)

    monkeypatch.setattr(connect, "connect", pretended)
    yield asked
    threads.limit(2**31)


@pytest.mark.parametrize(
    "words",
    [
        ["match", "greedy", "minimax:depth=2", "--games", "12", "--json"],
        ["match", "greedy", "minimax:depth=2", "--games", "12"],
        ["match", "minimax:depth=2", "greedy", "--sprt", "0", "300", "--games", "200"],
        ["ladder", "greedy", "random", "punisher", "--games", "10", "--json"],
        ["grade", "greedy", "--positions", "30", "--games", "4", "--json"],
    ],
    ids=" ".join,
)
def test_a_command_on_a_cluster_prints_the_same(command: Any, pretended: list[str], words: list[str]) -> None:
    code, here, _ = command(*words)
    assert (code, pretended) == (0, [])
    code, there, said = command(*words, "--on", "ray")
    assert (code, there, pretended) == (0, here, ["ray"])
    assert ("cluster at nowhere: 2 nodes, 2 CPUs" in said) == ("--json" not in words)


def test_a_collection_on_a_cluster_has_the_same_lines(command: Any, pretended: list[str], tmp_path: Path) -> None:
    words, texts = ["teach", "collect", "connect_four", "--games", "20", "--opening-plies", "4"], list[list[str]]()
    for name, on in (("here", []), ("there", ["--on", "ray"])):
        file = tmp_path / f"{name}.ndjson"
        code, out, _ = command(*words, "--out", str(file), *on)
        assert code == 0
        assert "positions of 20 games" in out
        texts.append([line.partition('"ts"')[0] for line in file.read_text().splitlines()])
    assert texts[0] == texts[1]
    assert pretended == ["ray"]


def test_games_are_played_in_pairs_there_too(command: Any) -> None:
    code, _, said = command("match", "greedy", "random", "--on", "ray", "--games", "3")
    assert (code, said.splitlines()[-1]) == (
        2,
        "plyground: a match is played in pairs: an even number of games, at least 2, not 3",
    )


def test_ctrl_c_says_what_was_kept(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("plyground.cluster.tasks.work", stopped)
    code, _, said = command("match", "greedy", "random", "--on", "ray")
    assert code == 130
    assert "plyground: stopped; nothing was kept" in said


def test_an_address_that_is_none_is_one_sentence(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    code, out, said = command("match", "greedy", "random", "--on", "nowhere")
    assert (code, out) == (2, "")
    assert said.startswith("plyground: a cluster is ray, ray:nodes=2, ray://host:port, host:port or a file")
    assert len(said.splitlines()) == 1
