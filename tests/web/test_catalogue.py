"""The lists of games and opponents."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT
from plyground.errors import Error, UnknownName
from plyground.games import GAMES
from plyground.web.catalogue import Catalogue, seats_of, title_of

ROW = str(ROOT / "examples" / "three_in_a_row.py")


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    return Catalogue([ROW], ["minimax:depth=2"], tmp_path_factory.mktemp("runs"))


def test_a_game_from_a_file_is_on_the_list(catalogue: Catalogue) -> None:
    assert [info.id for info in catalogue.infos()] == [*GAMES, "three_in_a_row"]
    assert catalogue.load("three_in_a_row").path == ROW


def test_every_game_has_ten_levels_and_its_own_agents(catalogue: Catalogue) -> None:
    for info in catalogue.infos():
        ids = [each.id for each in info.opponents]
        assert [f"level:{number}" for number in range(1, 11)] == ids[:10]
        assert len(set(ids)) == len(ids)
        assert {"random", info.default_opponent} <= set(ids)
    chess = catalogue.info("chess")
    assert {each.group for each in chess.opponents} >= {"levels", "scripted", "search", "networks", "added"}


def test_an_id_stands_for_the_spec_that_the_server_has_made(catalogue: Catalogue) -> None:
    game = catalogue.load("chess")
    assert catalogue.choice("chess", game, "added:0").spec() == "minimax:depth=2"
    for not_listed in ("file:/etc/passwd:x", "uci:/bin/sh", "run:../../x", "minimax:depth=40", "added:1", ""):
        with pytest.raises(UnknownName):
            catalogue.choice("chess", game, not_listed)


def test_games_and_settings_that_are_not_listed_are_refused(catalogue: Catalogue) -> None:
    for name, settings in (("/tmp/x.py", {}), ("chess", {"name": "x"}), ("sequence", {"seats": "4,rules=boxed"})):  # noqa: S108
        with pytest.raises(Error):
            catalogue.load(name, settings)


def test_a_text_names_a_game_of_the_list_and_never_a_file(catalogue: Catalogue) -> None:
    assert catalogue.told('[Event "Club"]\n\n1. e4 *') == ("chess", {})
    assert catalogue.told("game: sequence:seats=4\n") == ("sequence", {"seats": "4"})
    assert catalogue.told("game: elsewhere/three_in_a_row.py\n") == ("three_in_a_row", {})
    for text in ("", "4453", "1. e4 e5", "[x o x]", "game: \n", "game: other.py\n", "game: /etc/passwd\n"):
        assert catalogue.told(text) is None


def test_a_setting_changes_the_seats(catalogue: Catalogue) -> None:
    assert seats_of(catalogue.load("sequence")) == 2
    assert seats_of(catalogue.load("sequence", {"seats": "4"})) == 4
    assert catalogue.info("sequence").settings[1].choices == ["2", "4"]


def test_a_pretrained_network_is_offered_for_the_settings_that_it_knows(catalogue: Catalogue) -> None:
    assert "trained" in catalogue.opponents("paco_sako", catalogue.load("paco_sako"))
    assert "trained" not in catalogue.opponents("paco_sako", catalogue.load("paco_sako", {"castling": "clean"}))


def test_a_damaged_run_hides_no_other_opponent(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.toml").write_text("game = [")
    (tmp_path / "broken" / "checkpoints" / "5").mkdir(parents=True)
    found = Catalogue(runs=tmp_path)
    assert "random" in found.opponents("chess", found.load("chess"))


def test_an_agent_that_plays_no_game_is_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="no agent"):
        Catalogue(added=["no_such_agent"], runs=tmp_path)


def test_games_have_names_for_people() -> None:
    assert [title_of(name) for name in ("connect_four", "paco_sako")] == ["Connect Four", "Paco Ŝako"]


def test_games_say_how_they_are_learned_or_why_not(steady_path: Path) -> None:
    blind = steady_path / "blind.py"
    coded = steady_path / "coded.py"
    coded.write_text(Path(ROW).read_text().replace("CELLS = ", "OTHERS = "))
    blind.write_text(coded.read_text().replace("ENCODERS = ", "NOTHING = "))
    found = {info.id: info.learning for info in Catalogue([ROW, str(coded), str(blind)], [], steady_path).infos()}
    assert found["chess"] == "plyground train td chess"
    assert found["three_in_a_row"] == f"plyground train td {ROW}"
    assert found["coded"] == f"plyground train dqn {coded}"
    assert found["blind"] == "nothing can learn it: its file defines neither CELLS nor ENCODERS (docs/adding_a_game.md)"
