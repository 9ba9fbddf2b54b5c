"""Tables, agents and pages together, on a real server without a browser."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from conftest import ROOT
from plyground.errors import Error
from plyground.game import Game
from plyground.position import Position
from plyground.web import host, requests, store
from plyground.web.catalogue import Catalogue
from plyground.web.house import House
from plyground.web.learning import Runs
from plyground.web.page import Page
from plyground.web.store import Store
from plyground.web.table import GameTable, opened
from runs_on_disk import new_run
from secrets_of import secrets_of
from served import Served, run_async, serving, wait_until

pytestmark = [pytest.mark.compiled, pytest.mark.once]
OWN_AGENTS = """
import numpy as np

class Failing:
    def act(self, states, rngs):
        if len(states):
            raise ValueError(f"secret {states}")
        return np.zeros(0, np.int32)

class Cheating:
    def act(self, states, rngs):
        return np.full(len(states), 2641, np.int32)
"""
ROW = str(ROOT / "examples" / "three_in_a_row.py")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "own.py").write_text(OWN_AGENTS)
    own = [f"file:{folder}/own.py:{name}" for name in ("Failing", "Cheating")]
    with serving(folder, [ROW], ["greedy", *own]) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "opponent", "settings"),
    [
        ("connect_four", "level:2", {}),
        ("chess", "random", {}),
        ("paco_sako", "random", {}),
        ("sequence", "random", {}),
        ("sequence", "random", {"seats": "4", "rules": "boxed"}),
        ("three_in_a_row", "added:0", {}),
    ],
)
def test_a_game_is_played_by_choices_alone(served: Served, name: str, opponent: str, settings: dict[str, str]) -> None:
    rng = random.Random(1)
    with served.page() as page:
        seats = int(settings.get("seats", 2))
        page.new(name, "you", *[opponent] * (seats - 1), settings=settings)
        for _ in range(40):
            page.until_mine()
            if page.table["over"]:
                break
            page.act(rng.choice(page.position["choices"])["action"])
        assert len(page.table["moves"]) >= 5


def test_two_pages_on_one_game_stay_equal(served: Served) -> None:
    with served.page() as one, served.page() as other:
        name = one.new("connect_four", "you", "random")
        other.ask("open", "position", table=name)
        one.play("4")
        one.until_mine()
        other.wait("position", lambda message: message["revision"] == one.table["revision"])
        assert other.table == one.table
        assert other.position == one.position
        other.play("3")
        one.wait("table", lambda message: len(message["moves"]) >= 3)


def test_an_old_message_changes_nothing(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "you")
        page.play("4")
        refused = page.refusal("play", table=name, revision=0, ply=0, action=2, prune=True)
        assert refused["reason"] == "stale"
        page.wait("position")
        assert [move["name"] for move in page.table["moves"]] == ["4"]


def test_pruning_is_asked_for(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "you", text="4433")
        where: dict[str, Any] = {"table": name, "revision": 0, "ply": 1}
        assert page.refusal("play", **where, action=0)["reason"] == "prune"
        page.send("play", **where, action=0, prune=True)
        page.wait("position")
        assert [move["name"] for move in page.table["moves"]] == ["4", "1"]


def test_a_game_is_kept_when_its_page_is_gone(served: Served) -> None:
    with served.page() as page:
        name = page.new("chess", "you", "random")
        page.play("e4")
        page.until_mine()
        moves = page.table["moves"]
    wait_until(lambda: name not in served.house.tables.live)
    with served.page() as page:
        page.ask("open", "position", table=name)
        assert page.table["moves"] == moves
        assert page.position["choices"]
        assert name in [each["id"] for each in page.last["welcome"]["tables"]]
        page.send("delete", table=name)
        page.wait("deleted")
        assert "no game" in page.refusal("open", table=name)["text"]


@pytest.mark.parametrize(
    ("name", "text", "plies"),
    [
        ("connect_four", "4453", 4),
        ("chess", "1. e4 e5 2. Nf3", 3),
        ("chess", "rnbqkbnr/pppp1ppp/8/4p3/2B1P3/8/PPPP1PPP/RNBQK1NR b KQkq - 1 2", 0),
    ],
)
def test_a_text_is_a_game_or_a_position(served: Served, name: str, text: str, plies: int) -> None:
    with served.page() as page:
        page.new(name, "you", "you", text=text)
        assert len(page.table["moves"]) == plies
        refused = page.refusal("new_game", game=name, players=["you", "you"], text="no such thing")
        assert "neither a game" in refused["text"]


def test_a_text_is_studied_as_the_only_game_that_can_read_it(served: Served) -> None:
    with served.page() as page:
        page.new("connect_four", "you", "you", text="1. e4 e5 2. Nf3 Nc6")
        assert (page.table["game"], len(page.table["moves"])) == ("chess", 4)
        assert page.last["opened"]["read_as"] == "Chess", "and it says so"
        page.new("sequence", "you", "you", text="4453")
        assert (page.table["game"], len(page.table["moves"])) == ("connect_four", 4)
        assert page.refusal("new_game", game="connect_four", players=["you", "random"], text="1. e4")
        refused = page.refusal("new_game", game="paco_sako", players=["you", "you"], text="x y")["text"]
        assert "neither" in refused
        assert refused.endswith("Of another game? Choose that above")


def test_a_text_that_the_chosen_game_reads_is_of_that_game(served: Served) -> None:
    with served.page() as page:
        page.new("paco_sako", "you", "you", text="e4 d5 Nf3")
        assert (page.table["game"], page.last["opened"]["read_as"]) == ("paco_sako", "")
        assert page.position["text"].startswith("rnbqkbnr/ppp1pppp/8/3p4/4P3/5N2/PPPP1PPP/RNBQKB1R b")


def test_a_game_with_hidden_cards_cannot_be_studied(served: Served) -> None:
    with served.page() as page:
        for text in ("", "game: sequence\n\n"):
            refused = page.refusal("new_game", game="sequence", players=["you", "you"], text=text)
            assert "games with hidden cards cannot be studied: plyground play --load FILE" in refused["text"]


def test_the_record_of_a_game_can_be_pasted_again(served: Served) -> None:
    with served.page() as page:
        for game, text in (("chess", "1. d4 d5"), ("connect_four", "4433")):
            name = page.new(game, "you", "you", text=text)
            record = page.ask("record", "recorded", table=name, ply=1)["record"]
            page.new(game, "you", "you", text=record)
            assert len(page.table["moves"]) in (2, 4)


def test_a_hint_is_a_legal_move_with_its_clicks(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "random", text="1212")
        found = page.ask("hint", "hinted", table=name)
        assert found["clicks"] in [each["clicks"] for each in page.position["choices"]]
        assert "would play" in found["text"]


def test_an_analysis_is_live_and_has_the_solvers_scores(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "you", text="213141")  # both could win at once
        first = page.ask("analyse", "analysed", table=name, ply=6)
        assert first["analysis"]["moves"][0]["name"] == "5"
        assert first["value"] == 1.0
        assert first["analysis"]["moves"][0]["exact"] > 0
        threats = [each["clicks"] for each in first["threats"]]
        assert threats == [["column:1"]]
        again = page.ask("analyse", "analysed", table=name, ply=5)  # replaces the former one
        assert again["ply"] == 5
        shown = page.ask("look", "position", table=name, ply=6, line=first["analysis"]["moves"][0]["actions"])
        assert "wins" in shown["scene"]["status"]
        page.send("stop")


def test_a_review_names_the_mistake(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "you", text="4414141")
        page.ask("review", "reviewed", table=name)
        while not page.last["reviewed"]["done"]:
            page.receive()
        found = page.last["reviewed"]
        assert len(found["plies"]) == 7
        assert found["worst"], "somebody has lost a drawn or won game"
        worst = next(each for each in found["plies"] if each["ply"] == found["worst"][0])
        assert worst["mistake"] == "blunder"
        assert worst["best"] != worst["played"]
        assert page.ask("review", "reviewed", table=name)["done"], "kept with the game"
        page.send("undo", table=name, revision=page.table["revision"], ply=6)
        page.wait("position")
        page.play("7")
        other = page.ask("review", "reviewed", table=name)
        assert not other["done"] or other["plies"][-1]["played"] == "7", "another game of the same length"
        page.send("stop")
        page.ask("fork", "opened", table=name, ply=worst["ply"] - 1, players=["you", "you"])
        page.wait("position")
        assert len(page.table["moves"]) == worst["ply"] - 1


def test_a_game_between_agents_is_watched_at_a_speed(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "random", "level:1")
        page.send("pause", table=name, paused=True)
        page.wait("table", lambda message: message["paused"])
        page.send("speed", table=name, seconds=0.0)
        page.send("pause", table=name, paused=False)
        page.wait("table", lambda message: message["over"])
        assert "wins" in page.table["ending"] or "draw" in page.table["ending"]


def test_a_clock_that_runs_out_loses(served: Served) -> None:
    with served.page() as page:
        page.new("connect_four", "you", "random", clock={"seconds": 1.0})
        page.wait("table", lambda message: message["over"])
        assert page.table["outcome"] == "second"
        assert "time" in page.table["ending"]


def test_a_dead_worker_is_replaced(served: Served) -> None:
    with served.page() as page:
        page.new("connect_four", "you", "random")
        page.play("4")
        page.until_mine()
        for lane in served.house.workers.lanes[""].all():
            for slot in lane.slots:
                if slot.process:
                    os.kill(slot.process.process.pid, signal.SIGKILL)
        page.play(page.position["choices"][0]["name"])
        page.until_mine()
        assert len(page.table["moves"]) >= 4


@pytest.mark.parametrize(("agent", "words"), [("added:1", "ValueError"), ("added:2", "not legal")])
def test_an_agent_that_fails_pauses_the_game_and_leaves_it_as_it_was(served: Served, agent: str, words: str) -> None:
    with served.page() as page:
        page.new("sequence", "you", agent)
        page.play(page.position["choices"][0]["name"])
        while "failed" not in page.last:
            page.receive()
        assert words in page.last["failed"]["text"]
        assert "secret" not in page.last["failed"]["text"], "it may quote hidden cards"
        page.wait("table", lambda message: message["paused"])
        assert len(page.table["moves"]) == 1
        page.send("undo", table=page.table["id"], revision=page.table["revision"])
        page.wait("table", lambda message: not message["moves"])


def test_a_kept_game_against_a_run_that_is_gone_can_still_be_seen(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "random")
        page.play("4")
        page.until_mine()
        page.ask("close", "tables", table=name)
        kept = served.house.tables.store.read(name)
        kept.players[1] = "run:gone"
        served.house.tables.store.keep(kept, served.house.tables.store.infos[name].title)
        page.ask("open", "position", table=name)
        assert len(page.table["moves"]) == 2
        page.play("4")
        while "failed" not in page.last:
            page.receive()
        assert "no longer" in page.last["failed"]["text"]


def test_a_damaged_game_is_told_and_deleted_on_the_page(tmp_path: Path) -> None:
    name = "0123456789abcdef"
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / f"{name}.json").write_bytes(b'{"saved":{"format":1,"id":"\xff"')
    with serving(tmp_path) as served, served.page() as page:
        (listed,) = page.last["welcome"]["tables"]
        assert (listed["id"], listed["title"]) == (name, "A game whose file is damaged")
        assert page.refusal("open", table=name)["text"] == f"the file of the game {name} is damaged: delete the game"
        page.send("delete", table=name)
        assert page.wait("tables")["tables"] == []
        assert list((tmp_path / "tables").iterdir()) == []


def test_a_file_whose_values_fit_no_game_costs_that_game_alone(served: Served) -> None:
    with served.page() as page:
        name = page.new("connect_four", "you", "random", clock={"seconds": 60})
        page.ask("close", "tables", table=name)
        games = served.house.tables.store
        for change in ({"players": ["you"] * 3}, {"names": ["You"]}, {"clocks": [1.0]}, {"actions": [9]}):
            kept = games.read(name)
            games.keep(msgspec.structs.replace(kept, **change), games.infos[name].title)
            assert page.refusal("open", table=name)["text"].startswith(
                (f"the file of the game {name} is", "ply 1 is not")
            )
            games.keep(kept, games.infos[name].title)
        page.ask("open", "position", table=name)


def test_a_game_that_is_removed_for_room_is_told(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with served.page() as page:
        page.new("connect_four", "you", "you", text="4453")
        monkeypatch.setattr(store, "MOST", sum(bool(info.game) for info in served.house.tables.store.infos.values()))
        page.send("new_game", game="connect_four", players=["you", "you"])
        while "failed" not in page.last:
            page.receive()
        assert "is removed: it was over or empty" in page.last["failed"]["text"]


def test_what_is_not_on_the_list_is_refused(served: Served) -> None:
    with served.page() as page:
        for game, players in (
            ("no_such", ["you", "random"]),
            ("chess", ["you"]),
            ("chess", ["you", "uci:/bin/sh"]),
            ("chess", ["you", "run:../x"]),
            ("sequence", ["you", "you"]),
        ):
            page.refusal("new_game", game=game, players=players)
        for kind in ("close", "delete", "look", "hint", "review"):
            if kind != "close":
                page.refusal(kind, table="nothing", **({"ply": 0} if kind == "look" else {}))
        for kind in ("stop_run", "resume_run", "run_games"):
            page.refusal(kind, run="../../etc")
        page.refusal("follow", runs=["../x"])


def test_hidden_hands_stay_hidden_in_analyses_and_forks(served: Served) -> None:
    with served.page() as page:
        name = page.new("sequence", "you", "window")
        page.ask("analyse", "analysed", table=name, ply=0)
        assert all(len(each["line"]) == 1 for each in page.last["analysed"]["analysis"]["moves"])
        page.refusal("fork", table=name, ply=0, players=["window", "you"])
        page.refusal("look", table=name, ply=0, line=[page.position["choices"][0]["action"]])
        page.refusal("review", table=name)
        page.play(page.position["choices"][0]["name"])
        page.until_mine()
        page.refusal("analyse", table=name, ply=1)


def test_no_request_gets_at_the_cards_of_an_agent(served: Served) -> None:
    """Illegal lines and moves while the agent is to act: an error that quotes the position would show its hand."""
    with served.page() as page:
        name = page.new("sequence", "window", "you", settings={"rules": "boxed"})
        page.until_mine()
        table = host.TABLES[name]
        for ply in range(len(table.moves) + 1):
            where: dict[str, Any] = {"table": name, "ply": ply}
            for line in ([1], [2_641], [999_999], [1, 2, 3]):
                for kind in ("fork", "look", "analyse"):
                    page.refusal(kind, **where, line=line)
            for change in ({"kind": "play", "action": 999_999}, {"kind": "say", "text": "nonsense"}):
                page.refusal(**change, **where, revision=page.table["revision"], prune=True)
            page.ask("record", "recorded", **where)
        page.ask("hint", "hinted", table=name)
        hands = [str(table.game.rules.view(each.state, 0)).split("hands=")[1][:12] for each in table.line.positions]
        assert all("?" not in hand for hand in hands)
        for text in page.seen:
            assert not [hand for hand in hands if hand in text], text[:300]


@pytest.mark.parametrize("rules", ["course", "boxed"])
@pytest.mark.parametrize("seats", ["2", "4"])
def test_neither_messages_nor_files_tell_what_a_seat_may_not_know(served: Served, rules: str, seats: str) -> None:
    """Moves, hints, looks, records, undo, moves at an earlier ply, copies, and the same after a restart."""
    store, secrets, names = served.house.tables.store, set[str](), list[str]()
    with served.page() as page:
        players = ["you", *["random"] * (int(seats) - 1)]
        names.append(page.new("sequence", *players, settings={"rules": rules, "seats": seats}))
        for number in range(8):
            page.until_mine()
            game = host.TABLES[names[-1]]
            secrets |= secrets_of(game)
            last, where = len(game.moves), {"table": names[-1], "ply": len(game.moves)}
            page.ask("record", "recorded", **where)
            for ply in (0, last):
                page.ask("look", "position", **where | {"ply": ply})
            page.refusal("review", table=names[-1])
            if number == 0:
                page.ask("hint", "hinted", table=names[-1])
            if number == 3:
                page.send("undo", table=names[-1], revision=page.table["revision"])
                page.wait("position", lambda message, last=last: message["ply"] < last)
            if number == 5:
                names.append(page.ask("fork", "opened", **where)["table"])
                page.wait("position", lambda message, name=names[-1]: message["table"] == name)
                other = host.TABLES[names[-1]]
                assert other.position.text != game.position.text, "looking ahead in a copy gains nothing"
                assert other.position_message(last).scene == game.position_message(last).scene
                assert other.position.problems == []
            if number == 6:
                page.act(game.line.positions[0].legal()[0], ply=0, prune=True)
                continue
            page.until_mine()
            page.act(page.position["choices"][0]["action"])
        page.until_mine()
        tables = [host.TABLES[name] for name in names]
        seen = list(page.seen)
        for table in tables:
            secrets |= secrets_of(table)
        store.flush()
        seen += [(store.folder / f"{name}.json").read_text() for name in names]
        assert len(seen) > 60
        assert not [secret for secret in secrets for text in seen if secret in text]
        for table in tables:
            again = GameTable(opened(Store(store.folder).read(table.id)), table.game)
            assert (again.position, again.position.rngs) == (table.position, table.position.rngs)
        page.send("resign", table=names[-1], revision=page.table["revision"])
        page.wait("table", lambda message: message["over"])
        assert (
            "nothing can be taken back"
            in page.refusal("undo", table=names[-1], revision=page.table["revision"])["text"]
        )
        store.flush()
        assert str(tables[-1].saved.seed) in (store.folder / f"{names[-1]}.json").read_text()


def test_a_page_has_a_limited_number_of_games_open(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plyground.web.tables.MOST_OF_A_PAGE", 3)
    with served.page() as page:
        names = [page.new("connect_four", "you", "you") for _ in range(3)]
        assert "close one" in page.refusal("new_game", game="connect_four", players=["you", "you"])["text"]
        page.ask("close", "tables", table=names[0])
        page.new("connect_four", "you", "you")


def test_a_ladder_rates_the_stronger_agent_higher(served: Served) -> None:
    with served.page() as page:
        page.send("ladder", game="connect_four", opponents=["random", "added:0"], games=10)
        found = page.wait("laddered", lambda message: message["done"])
        assert [each["id"] for each in found["rungs"]] == ["added:0", "random"]


class Ending:
    """Stands in for runs and workers: it remembers that it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True


def test_a_server_that_cannot_write_its_games_ends_its_processes_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, workers, runs = Store(tmp_path), Ending(), Ending()
    house = House(Catalogue(), store, cast(Any, workers), cast(Any, runs))

    def fail() -> None:
        raise Error("the disk is full")

    monkeypatch.setattr(store, "flush", fail)
    with pytest.raises(Error, match="full"):
        run_async(house.close())
    assert (workers.closed, runs.closed) == (True, True)


def test_the_game_of_a_run_is_loaded_in_a_thread_before_its_positions_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading it where requests are answered would keep all pages waiting."""
    games = new_run(tmp_path, "one") / "games"
    games.mkdir(exist_ok=True)
    (games / "7.txt").write_text("# from 44: the learner is ●, random ○\n4 4 3 RUNNING\n")
    catalogue, events = Catalogue(runs=tmp_path), list[str]()
    house = House(catalogue, Store(tmp_path / "tables"), cast(Any, Ending()), Runs(tmp_path, catalogue))
    load, read = house.tables.ready, Game.position

    async def ready(name: str, settings: dict[str, str]) -> Game:
        events.append("loaded")
        return await load(name, settings)

    def position(game: Game, *arguments: Any) -> Position:
        events.append("read")
        return read(game, *arguments)

    async def ask(request: Any) -> list[str]:
        events.clear()
        page = Page()
        await house.handle(page, request)
        assert all("refused" not in (page.waiting.get_nowait() or "") for _ in range(page.waiting.qsize()))
        return events[:2]

    monkeypatch.setattr(house.tables, "ready", ready)
    monkeypatch.setattr(Game, "position", position)
    for request in (requests.WatchPolicy(run="one", text="44"), requests.OpenRunGame(run="one", file="7", number=1)):
        assert run_async(ask(request)) == ["loaded", "read"]
