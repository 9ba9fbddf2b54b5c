"""A ladder plays what is missing, and no more."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

import pytest

import plyground as pg
from conftest import ROOT, TINY
from plyground.agents.registry import known
from plyground.arena.ladder import climb, read


def test_adding_an_agent_plays_only_what_is_missing(connect_four: pg.Game, tmp_path: Path) -> None:
    path, told = tmp_path / "ladder.json", list[str]()
    first = climb(connect_four, ["random", "greedy"], 20, 0, path)
    again = climb(connect_four, ["punisher"], 20, 0, path, lambda done, of, title: told.append(title))
    assert told == ["random against punisher", "greedy against punisher"]
    assert again.results[0] == first.results[0]
    assert read(path) == again
    assert climb(connect_four, ["random"], 20, 0, path) == again
    whole = climb(connect_four, ["random", "greedy", "punisher"], 20, 0)
    assert set(whole.results) == set(again.results)


def test_stronger_agents_stand_higher(connect_four: pg.Game) -> None:
    ladder = climb(connect_four, ["random", "solver", "greedy"], 10, 1)
    ratings = dict(zip(ladder.agents, ladder.ratings().elo, strict=True))
    assert ratings["solver"] > ratings["greedy"] > ratings["random"]


def test_a_game_with_chance_and_hidden_cards_has_ladders_too() -> None:
    duel = pg.load(TINY[0])
    assert climb(duel, known(duel)[:2], 20, 0).results[0].games == 20


def test_what_does_not_fit_is_refused(connect_four: pg.Game, tmp_path: Path) -> None:
    path = tmp_path / "ladder.json"
    climb(connect_four, ["random", "greedy"], 4, 0, path)
    with pytest.raises(pg.InvalidValue, match="is a ladder with games 4, not 6"):
        climb(connect_four, ["punisher"], 6, 0, path)
    with pytest.raises(pg.InvalidValue, match="at least two different agents, not random"):
        climb(connect_four, ["random", "random"], 4, 0)


RESULT = {"a": "random", "b": "greedy", "wins": 1, "draws": 0, "losses": 3}
LADDER = {"game": "connect_four", "games": 4, "seed": 0, "results": [RESULT]}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({}, "has no game"),
        ([LADDER], "is a table"),
        (LADDER | {"results": {"a": 1}}, "results of the file is a list"),
        (LADDER | {"results": [3]}, "results of the file is a table"),
        (LADDER | {"games": "4"}, "games of the file is of type int"),
        (LADDER | {"results": [RESULT | {"wins": "1"}]}, "wins of results of the file is of type int"),
        (LADDER | {"results": [RESULT | {"wins": -7}]}, "is no result of a match"),
        (LADDER | {"results": [RESULT | {"wins": 10**5000}]}, "cannot be read"),
    ],
)
def test_a_file_that_is_no_ladder_is_one_error(tmp_path: Path, wrong: object, why: str) -> None:
    path = tmp_path / "ladder.json"
    sys.set_int_max_str_digits(0)
    try:
        path.write_text(json.dumps(wrong))
    finally:
        sys.set_int_max_str_digits(4300)
    with pytest.raises(pg.Error, match=why):
        read(path)


def test_a_full_disk_is_one_error(connect_four: pg.Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes, shared: bool = False) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("plyground.arena.ladder.write_whole", full)
    with pytest.raises(pg.InvalidValue, match=r"cannot write .*ladder\.json: No space left on device"):
        climb(connect_four, ["random", "greedy"], 2, 0, tmp_path / "ladder.json")


def test_the_command_prints_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    from plyground.cli import app

    words = ["plyground", "ladder", "--game", "connect_four", "random", "greedy", "--games", "6"]
    monkeypatch.setattr("sys.argv", [*words, "--picture", str(tmp_path / "ladder.png"), "--json"])
    app.main()
    answer = json.loads(capsys.readouterr().out)
    assert [row["agent"] for row in answer["ratings"]] == ["greedy", "random"]
    assert (tmp_path / "ladder.png").stat().st_size > 5000


def test_a_ladder_of_names_is_printed_best_first() -> None:
    ladder = pg.ladder(TINY[1], ["random", "greedy"], games=20)
    first, second = str(ladder).splitlines()
    assert [line.split()[2] for line in (first, second)] == ["greedy", "random"]
    assert float(first.split()[0]) > float(second.split()[0])
    assert first.split()[1] == f"±{ladder.ratings().error[1]:.0f}"
    shown = ", ".join(" ".join(line.split()) for line in (first, second))
    assert repr(ladder) == f"<ladder of {ladder.game}, 20 games for each two: {shown}>"


def test_the_file_may_be_named_by_a_text(tmp_path: Path) -> None:
    path = tmp_path / "ladder.json"
    ladder = pg.ladder("connect_four", ["random", "greedy"], games=2, path=str(path))
    assert read(path) == ladder


def test_agents_of_a_ladder_are_named_one_by_one_or_in_a_list() -> None:
    ladder = pg.ladder("connect_four", "random", "greedy", games=2)
    assert ladder == pg.ladder("connect_four", ["random", "greedy"], games=2)
    with pytest.raises(pg.InvalidValue, match=r"agents or their specs, not 4: ladder\(game, 'random', 'greedy', games"):
        pg.ladder("connect_four", ["random", "greedy"], 4)  # pyright: ignore


def test_agents_climb_as_specs_do(connect_four: pg.Game, tmp_path: Path) -> None:
    spec = f"run:{ROOT / 'src' / 'plyground' / 'trained' / 'connect_four'}"
    greedy, learned = pg.agent("greedy", connect_four), pg.agent(spec, connect_four)
    by_specs = pg.ladder(connect_four, "random", "greedy", spec, games=2)
    assert by_specs == pg.ladder(connect_four, ["random", greedy, learned], games=2)
    assert by_specs.agents == ["random", "greedy", spec]
    kept = pg.ladder(connect_four, learned, "random", games=2, path=tmp_path / "ladder.json")
    assert kept == pg.ladder(connect_four, spec, "random", games=2, path=tmp_path / "ladder.json")


def test_agents_that_a_ladder_cannot_name_are_refused(connect_four: pg.Game, tmp_path: Path) -> None:
    greedy = pg.agent("greedy", connect_four)
    with pytest.raises(pg.InvalidValue, match=r"a ladder in a file names agents by specs, .*; the agent greedy is"):
        pg.ladder(connect_four, greedy, "random", path=tmp_path / "ladder.json")
    with pytest.raises(pg.InvalidValue, match="two agents of this ladder are called greedy"):
        pg.ladder(connect_four, "greedy", greedy)
    with pytest.raises(pg.InvalidValue, match="a ladder takes agents or their specs, not None"):
        pg.ladder(connect_four, None)  # pyright: ignore
    with pytest.raises(pg.InvalidValue, match="this agent plays connect_four, not "):
        pg.ladder(TINY[1], greedy, "random")
