"""Runs for the page: list, curves, saved games, processes."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from plyground.errors import Error, InvalidText
from plyground.report.run import records_of
from plyground.web import thinking
from plyground.web.catalogue import Catalogue
from plyground.web.learning import Runs, later_end
from plyground.web.messages import Curves
from plyground.web.page import Page
from served import run_async, serving, wait_until

pytestmark = [pytest.mark.compiled, pytest.mark.once]
SCORE = {"score": 0.75, "low": 0.7, "high": 0.8}
GAMES = """# from ......./......./......./......./......./.......: the learner is ●, random ○
4 4 3 3 2 2 1 FIRST_WINS (four in a row)
# from 44: the learner is ○, greedy ●
1 2 RUNNING
"""


def cycle(number: int, plies: int, seconds: float, **more: Any) -> dict[str, Any]:
    head = {"event": "cycle", "step": number, "cycle": number, "plies": plies, "updates": 1, "illegal_moves": 0}
    return {**head, "seconds": {"total": seconds}, **more}


def evaluation(number: int) -> dict[str, Any]:
    against = {"random": SCORE, "greedy": {**SCORE, "score": 0.25}}
    return {"event": "evaluation", "step": number, "cycle": number, "eval_opponents": against, "against_best": SCORE}


def write(run: Path, *records: dict[str, Any]) -> None:
    with (run / "metrics.jsonl").open("a") as file:
        file.writelines(json.dumps(each) + "\n" for each in records)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    run = tmp_path / "one"
    (run / "checkpoints" / "7").mkdir(parents=True)
    (run / "games").mkdir()
    (run / "config.toml").write_text('learner = "dqn"\ngame = "connect_four"\nseconds = 120.0\n')
    (run / "games" / "7.txt").write_text(GAMES)
    write(run, cycle(1, 1000, 2.0, loss=0.5), evaluation(1), cycle(2, 4000, 5.0, loss=None))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "config.toml").write_text("game = [")
    return Runs(tmp_path, Catalogue(runs=tmp_path))


def test_runs_are_listed_and_a_damaged_one_says_why(runs: Runs) -> None:
    found = {info.id: info for info in runs.infos()}
    one = found["one"]
    assert (one.game, one.learner, one.cycles, one.seconds) == ("connect_four", "dqn", 2, 5.0)
    assert one.scores == {"random": 0.75, "greedy": 0.25}
    assert one.opponent == "run:one"
    assert found["damaged"].message


def test_the_scores_of_a_run_are_those_that_the_terminal_lists(runs: Runs) -> None:
    def listed() -> dict[str, float]:
        record = next(each for each in records_of(runs.folder) if each["run"] == "one")
        return {name: score["score"] for name, score in record["scores"].items()}

    assert runs.info("one").scores == listed()
    best = {"step": 1, "eval_opponents": {"random": {**SCORE, "score": 0.95}}}
    (runs.folder / "one" / "best.json").write_text(json.dumps(best))
    assert runs.info("one").scores == listed() == {"random": 0.95}


@pytest.mark.parametrize(
    ("limits", "words", "options"),
    [
        ({"seconds": 120.0}, "Resume", []),
        ({"seconds": 5.0}, "Train 2 more minutes", ["--seconds", "125"]),
        ({"cycles": 2, "seconds": 0.0}, "Train 2 more cycles", ["--cycles", "4"]),
        ({"cycles": 3, "seconds": 60.0}, "Resume", []),
        ({"learner": "imitation", "epochs": 1}, "Train 1 more epoch", ["--epochs", "3"]),
        ({"learner": "ppo", "epochs": 1, "seconds": 5.0}, "Train 2 more minutes", ["--seconds", "125"]),
    ],
)
def test_a_button_says_for_how_long_a_finished_run_is_trained_on(
    limits: dict[str, Any], words: str, options: list[str]
) -> None:
    assert later_end(limits, 2, 5.0) == (words, options)


def test_metrics_are_points_with_numbers_and_scores(runs: Runs) -> None:
    page = Page()
    page.runs = {"one": 0}
    runs.send_curves(page)
    first, scored, last = json.loads(page.waiting.get_nowait() or "")["curves"][0]["points"]
    assert first["numbers"] == {"loss": 0.5, "plies_per_second": 500.0}
    assert [score["opponent"] for score in scored["scores"]] == ["random", "greedy", "best"]
    assert (scored["seconds"], scored["plies"]) == (2.0, 1000)
    assert last["numbers"] == {"plies_per_second": 1000.0}


def test_a_page_is_sent_what_is_new_and_all_of_a_run_that_was_rewound(runs: Runs) -> None:
    async def follow() -> list[list[tuple[int, int]]]:
        page, found = Page(), list[list[tuple[int, int]]]()
        page.runs = {"one": 0}

        def send() -> None:
            runs.send_curves(page)
            texts = [page.waiting.get_nowait() or "" for _ in range(page.waiting.qsize())]
            curves = [each for text in texts for each in json.loads(text)["curves"]]
            found.append([(each["start"], len(each["points"])) for each in curves])

        send()
        send()
        write(runs.folder / "one", cycle(3, 5000, 6.0))
        send()
        file = runs.folder / "one" / "metrics.jsonl"
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:1]))
        send()
        return found

    assert run_async(follow()) == [[(0, 3)], [], [(3, 1)], [(0, 1)]]
    assert Curves.__struct_config__.tag == "curves"


def test_a_run_of_a_game_that_the_server_does_not_know_says_how_to_add_it(runs: Runs) -> None:
    config = runs.folder / "one" / "config.toml"
    config.write_text('learner = "dqn"\ngame = "/games/mine.py"\n')
    info = runs.info("one")
    assert (info.game, info.opponent) == ("", "")
    assert info.message.endswith("nobody can play it here: plyground serve --game /games/mine.py")


def test_a_damaged_line_is_left_out_of_the_curves(runs: Runs) -> None:
    write(runs.folder / "one", {"event": "cycle", "broken": 1}, cycle(3, 5000, 6.0, **{"match@1": "high"}))
    page = Page()
    page.runs = {"one": 0}
    runs.send_curves(page)
    assert [point["seconds"] for point in json.loads(page.waiting.get_nowait() or "")["curves"][0]["points"]] == [
        2.0, 2.0, 5.0, 6.0,
    ]  # fmt: skip


def test_the_epochs_of_a_run_are_those_that_the_terminal_lists(runs: Runs) -> None:
    """The network is measured before the first epoch too, which is none: two of three are done, so that it goes on."""
    run = runs.folder / "one"
    (run / "config.toml").write_text('learner = "imitation"\ngame = "connect_four"\nepochs = 3\n')
    (run / "metrics.jsonl").unlink()
    measured = {"event": "epoch", "examples": 9, "kl": 0.5, "loss": 0.5, "match@1": 0.5, "updates": 7}
    write(run, *({**measured, "step": 10 * k, "epoch": k, "seconds": float(k)} for k in range(3)))
    runs.ended["one"] = time.time() + 1.0
    listed = next(each for each in records_of(runs.folder) if each["run"] == "one")
    info = runs.info("one")
    assert (info.cycles, info.resume) == (listed["done"], "Resume") == (2, "Resume")


def test_saved_games_are_listed_and_read(runs: Runs) -> None:
    listed = runs.games("one")
    assert [(each.file, each.number) for each in listed] == [("7", 1), ("7", 2)]
    assert "random" in listed[0].title
    name, head, moves = runs.game("one", "7", 1)
    game = runs.game_of("one")
    read = thinking.read_kept(game, head, moves)
    assert (name, read.players, read.actions) == ("connect_four", ["the learner", "random"], [3, 3, 2, 2, 1, 1, 0])
    assert game.position(read.text) == game.start()
    assert thinking.read_kept(game, *runs.game("one", "7", 2)[1:]).players == ["greedy", "the learner"]
    for file, number in (("7", 3), ("8", 1), ("../config", 1)):
        with pytest.raises(Error):
            runs.game("one", file, number)
    (runs.folder / "one" / "games" / "8.txt").write_text(GAMES.replace("4 4 3", "4 9 3"))
    with pytest.raises(InvalidText, match="ply 2"):
        thinking.read_kept(game, *runs.game("one", "8", 1)[1:])


def test_only_runs_of_the_list_are_read(runs: Runs) -> None:
    for name in ("..", "../x", "/etc", "damaged/..", "two"):
        with pytest.raises(Error, match="no run"):
            runs.check([name])


class Endless:
    """Stands in for a process."""

    stderr = None

    def __init__(self) -> None:
        self.signals, self.end = list[int](), asyncio.Event()

    def send_signal(self, number: int) -> None:
        self.signals.append(number)

    async def wait(self) -> int:
        await self.end.wait()
        return 0


def test_a_run_is_stopping_at_once_and_can_be_resumed_as_soon_as_its_process_has_ended(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[Endless]()

    async def start(*command: str, **settings: Any) -> Endless:
        started.append(Endless())
        return started[-1]

    def state() -> tuple[bool, bool, str]:
        info = runs.info("one")
        return info.alive, info.stopping, info.resume

    async def ask() -> list[tuple[bool, bool, str]]:
        runs.ended["one"] = time.time() + 1.0  # its metrics were written just now, by nobody
        found = [state()]
        await runs.resume("one")
        found.append(state())
        runs.stop("one")
        found.append(state())
        started[0].end.set()
        await asyncio.gather(*runs.watchers)
        return [*found, state()]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    stopped, learning = (False, False, "Resume"), (True, False, "")
    assert run_async(ask()) == [stopped, learning, (True, True, ""), stopped]
    assert started[0].signals == [signal.SIGINT]


def test_of_several_pages_that_start_a_run_at_once_one_succeeds(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    started = list[Endless]()

    async def start(*command: str, **settings: Any) -> Endless:
        await asyncio.sleep(0.01)
        started.append(Endless())
        return started[-1]

    async def ask() -> list[BaseException | None]:
        asked = [*(runs.start_demo() for _ in range(5)), runs.resume("one")]
        return await asyncio.gather(*asked, return_exceptions=True)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    refused = [str(each) for each in run_async(ask()) if each is not None]
    assert len(started) == 1
    assert len(refused) == 5
    assert all("is being trained" in each for each in refused), refused


@pytest.mark.slow
def test_the_demo_learns_is_watched_stopped_and_resumed(tmp_path: Path) -> None:
    with serving(tmp_path) as served, served.page() as page:
        page.send("start_demo")
        found = page.wait("runs", lambda message: message["runs"])["runs"][0]
        assert found["started_here"]
        name = found["id"]
        assert "is being trained" in page.refusal("start_demo")["text"]
        page.send("follow", runs=[name])
        page.send("watch_policy", run=name, text="4453")
        page.wait("curves", lambda message: any(curve["points"] for curve in message["curves"]))
        policy = page.wait("policy")
        assert sum(move["prior"] for move in policy["analysis"]["moves"]) == pytest.approx(1.0)
        page.new("connect_four", "you", f"run:{name}")
        page.play("4")
        page.until_mine()
        page.send("stop_run", run=name)
        page.wait("runs", lambda message: not message["runs"][0]["started_here"])
        wait_until(lambda: not served.house.runs.info(name).alive)
        page.send("resume_run", run=name)
        page.wait("runs", lambda message: message["runs"][0]["started_here"])
        process = served.house.runs.processes[name]
    assert process.returncode is not None, "a stopped server leaves no process behind"
