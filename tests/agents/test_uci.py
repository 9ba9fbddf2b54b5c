"""Engines as agents: what goes wrong with one ends one game, and says why."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import TINY
from plyground.agents import uci
from plyground.agents.agent import GIVES_UP
from plyground.agents.registry import make
from plyground.agents.scripted import Random
from plyground.arena.match import play_match
from plyground.games import GAMES
from plyground.games.rng import seeds

FAKE = Path(__file__).with_name("fake_engine.py")
HOPS = TINY[1]  # a stand-in: any game whose actions have names


@pytest.fixture
def hops() -> pg.Game:
    return pg.load(HOPS)


def engine(tmp_path: Path, mood: str) -> str:
    """A program that answers in this mood."""
    path = tmp_path / f"{mood}.py"
    path.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
    path.chmod(0o755)
    return str(path)


def test_an_engine_plays_a_match(hops: pg.Game, tmp_path: Path) -> None:
    agent = make(f"uci:{engine(tmp_path, 'good')},skill=3,nodes=10", hops)
    match = play_match(hops, agent, Random(hops), 6)
    assert match.faults == ()
    assert match.games == 6


@pytest.mark.parametrize(
    ("mood", "why"),
    [
        ("dying", "has died before it said 'bestmove'"),
        ("silent", "has not said 'bestmove' within 1"),
        ("lying", "'a1h8' is not legal in .*; legal: left, right"),
        ("mute", "names no move"),
        ("endless", "writes 65536 bytes without the end of a line"),
        ("chatting", "has not said 'bestmove' within 1"),
    ],
)
def test_a_fault_ends_one_game_and_says_why(hops: pg.Game, tmp_path: Path, mood: str, why: str) -> None:
    agent = uci.Uci(hops, [engine(tmp_path, mood)], {"time": 0.01}, timeout=1.5)
    actions = agent.act(np.repeat(hops.start().states, 4), seeds(0, 4))
    assert actions.tolist() == [1, 1, GIVES_UP, 1]
    assert len(agent.faults) == 1
    with pytest.raises(AssertionError, match=why):
        raise AssertionError(agent.faults[0])


def test_a_late_second_answer_is_not_taken_for_the_next(hops: pg.Game, tmp_path: Path) -> None:
    agent = uci.Uci(hops, [engine(tmp_path, "twice")], {"nodes": 1})
    assert agent.act(np.repeat(hops.start().states, 4), seeds(0, 4)).tolist() == [1, 1, 1, 1]
    assert agent.faults == []


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="there is no /proc to look at processes")
@pytest.mark.parametrize(("mood", "close"), [("parent", "collected"), ("parent", "all"), ("setsid", "all")])
def test_what_an_engine_started_ends_with_it(hops: pg.Game, tmp_path: Path, mood: str, close: str) -> None:
    agent = uci.Uci(hops, [engine(tmp_path, mood)], {"nodes": 1})
    child = int((tmp_path / f"{mood}.child").read_text())
    assert runs(child)
    if close == "all":
        uci.close_all()
    else:
        del agent
    until = time.monotonic() + 5
    while runs(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not runs(child)


@pytest.mark.parametrize("mood", ["endless", "chatting"])
def test_what_is_written_stays_in_bounded_memory(tmp_path: Path, mood: str) -> None:
    threads, flooding = threading.active_count(), uci.Engine([engine(tmp_path, mood)])
    for _ in range(3):
        flooding.tell("go")
    sizes: list[int] = []
    while len(sizes) < 100 and sizes[-50:] != [max(sizes, default=1)] * 50:  # until it no longer grows
        time.sleep(0.02)
        sizes.append(sum(map(len, flooding.lines.queue)))
    assert 1000 < sizes[-1] <= uci.LONGEST_LINE + 1000
    flooding.close()
    assert threading.active_count() == threads


def test_a_game_given_up_is_lost_and_the_match_goes_on(hops: pg.Game, tmp_path: Path) -> None:
    agent = uci.Uci(hops, [engine(tmp_path, "dying")], {"nodes": 1})
    match = play_match(hops, agent, Random(hops), 8, seed=3)
    assert len(match.faults) >= 1
    assert match.losses >= len(match.faults)
    assert match.games == 8
    assert "has died" in match.faults[0]


REFUSED = {
    "uci:": "names no ENGINE; write uci:ENGINE",
    "uci:/no/such/engine": "no engine '/no/such/engine'",
    "uci:ENGINE,elo=1350": "has no option 'UCI_LimitStrength'",
    "uci:ENGINE,skill=99": "Skill Level of this engine is 0 to 20, not 99",
    "uci:ENGINE,strength=3": "no option of the agent uci 'strength'",
    "uci:ENGINE,nodes=many": "nodes of the agent uci is a number, not 'many'",
    "uci:ENGINE,time=-1": "time of the agent uci is a positive number, not '-1'",
    "uci:ENGINE,skill=nan": "skill of the agent uci is a positive number, not 'nan'",
    "uci:ENGINE,skill=inf": "skill of the agent uci is a positive number, not 'inf'",
}


@pytest.mark.parametrize("word", REFUSED)
def test_a_wrong_spec_is_refused(hops: pg.Game, tmp_path: Path, word: str) -> None:
    with pytest.raises(pg.Error, match=REFUSED[word]):
        make(word.replace("ENGINE", engine(tmp_path, "good")), hops)


@pytest.mark.parametrize("mood", ["numberless", "cut"])
def test_a_range_that_is_none_is_a_fault(hops: pg.Game, tmp_path: Path, mood: str) -> None:
    with pytest.raises(uci.EngineFault, match=r"states no range of Skill Level: 'spin default 20 m"):
        make(f"uci:{engine(tmp_path, mood)},skill=3", hops)


def test_a_range_with_thousands_of_digits_is_read(hops: pg.Game, tmp_path: Path) -> None:
    make(f"uci:{engine(tmp_path, 'huge')},skill=3", hops)


def test_what_is_no_engine_is_refused(hops: pg.Game) -> None:
    with pytest.raises(uci.EngineFault, match="has died"):
        uci.Uci(hops, ["true"], timeout=1.0)


def test_arguments_pass_no_shell(hops: pg.Game, tmp_path: Path) -> None:
    agent = uci.Uci(hops, [engine(tmp_path, "good"), "; touch", "$(echo x)"], {"nodes": 1})
    assert agent.act(hops.start().states, seeds(0, 1)).tolist() == [1]


STOCKFISH = uci.find("stockfish")


@pytest.mark.skipif("chess" not in GAMES, reason="the game chess is not here yet")
@pytest.mark.skipif(STOCKFISH is None, reason="Stockfish is not installed")
def test_stockfish_beats_the_random_mover() -> None:
    chess = pg.load("chess")
    agent = make(f"uci:{STOCKFISH},skill=5,nodes=200", chess)
    match = play_match(chess, agent, Random(chess), 4, opening_plies=2)
    assert match.faults == ()
    assert match.score > 0.8
    with pytest.raises(pg.InvalidValue, match="UCI_Elo of this engine is"):
        make(f"uci:{STOCKFISH},elo=100", chess)


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed,seats=4", TINY[0]])
def test_an_engine_is_never_shown_a_game_that_hides_something(word: str, tmp_path: Path) -> None:
    """It would be sent both hands and the deck; the program is not even started."""
    with pytest.raises(pg.InvalidValue, match="hides something: use another agent"):
        make(f"uci:{engine(tmp_path, 'good')}", pg.load(word))
    with pytest.raises(pg.InvalidValue, match="hides something"):
        make(f"uci:{tmp_path / 'absent'}", pg.load(word))
