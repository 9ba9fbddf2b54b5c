"""Games are read from files and from lists of moves."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from conftest import TESTS, TINY
from plyground.errors import InvalidText, InvalidValue
from plyground.play.line import Line
from plyground.play.saved import SavedGame, read_file, read_games, read_moves, write_game
from plyground.play.session import Session
from short_run import ROW

HOPS, DICE = TINY[1], str(TESTS / "tiny_games" / "dice_race.py")

PGN = """[Event "a"]
[Result "1-0"]

1. e4 {a comment} e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "b"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e4 *
"""


@pytest.fixture(scope="module")
def four() -> pg.Game:
    return pg.load("connect_four")


def test_a_column_string_is_a_move_for_each_character(four: pg.Game) -> None:
    assert read_moves(four.start(), "4453") == [3, 3, 4, 2]
    assert read_moves(four.start(), "4 4 5 3") == [3, 3, 4, 2]
    assert read_moves(four.start(), "4") == [3]


def test_a_name_of_two_characters_is_one_move_where_others_have_one(tmp_path: Path) -> None:
    path = tmp_path / "counted.py"
    path.write_text(Path(HOPS).read_text(encoding="utf-8").replace('"left", "right"', '"1", "10"'), encoding="utf-8")
    start = pg.load(path).start()
    assert start.names()[:2] == ["1", "10"]
    assert read_moves(start, "10") == [start.action("10")]
    assert read_moves(start, "11") == [start.action("1")] * 2


def test_chess_moves_may_have_their_numbers() -> None:
    start = pg.load("chess").start()
    actions = read_moves(start, "1. e4 e5 2. Nf3")
    assert start.name(actions[0]) == "e2e4"
    assert len(actions) == 3


def test_an_illegal_move_is_named_with_its_ply(four: pg.Game) -> None:
    with pytest.raises(InvalidText, match=r"ply 3: '9' is not legal in .*; legal: 1, 2"):
        read_moves(four.start(), "449")
    with pytest.raises(InvalidText, match="there are no moves"):
        read_moves(four.start(), "  ")


@pytest.mark.parametrize(
    "moves", ["e4 d5 Nf3", "1. e4 d5 2. N>f3", "e2>e4 d7>d5 Ng1>f3", "e2 e4 d7 d5 g1 f3", "Le2 Pe4 Ld7 Pd5 Lg1 Pf3"]
)
def test_a_list_of_moves_may_have_turns_as_they_are_typed(moves: str) -> None:
    start = pg.load("paco_sako").start()
    position = start
    for name in ("Le2", "Pe4", "Ld7", "Pd5", "Lg1", "Pf3"):
        position = position.play(name)
    assert SavedGame(start, read_moves(start, moves), ("", "")).line.positions[-1] == position
    assert len(read_moves(start, "e4")) == 2, "one turn is not a string with a character for each"


def test_a_refused_turn_is_answered_with_the_legal_turns_as_people_write_them() -> None:
    start = pg.load("paco_sako").start()
    with pytest.raises(InvalidText, match=r"move 2: 'e9' is not legal in '.* b .*'; legal: a7>a5, .*, Ng8>f6"):
        read_moves(start, "e4 e9")
    with pytest.raises(InvalidText, match=r"move 1: 'e9' is not legal in .*; legal: .*e2>e4"):
        read_moves(start, "e9")
    with pytest.raises(InvalidText, match=r"move 1: N: Nb1>a3, .* or Ng1>h3\?$"):
        read_moves(start, "N")


@pytest.mark.parametrize("begin", ["startpos", "4453"])
def test_a_saved_game_is_read_back(four: pg.Game, tmp_path: Path, begin: str) -> None:
    session = Session(four.position(begin), pg.agent("greedy", four), "greedy", side=0, seed=0)
    while not session.over and len(session.line.actions) < 8:
        events = session.reply() if session.agent_to_move else session.submit(session.position.names()[0])
        assert events
    path = tmp_path / "game.txt"
    path.write_text(session.record(), encoding="utf-8")
    assert read_file(path, four)[:3] == (session.start, session.line.actions, ("you", "greedy"))
    assert read_file(path) == read_file(path, four), "the file tells which game it is"


@pytest.mark.parametrize(
    ("word", "side", "result"),
    [("chess", 0, '[Result "0-1"]'), ("paco_sako", 1, "white wins"), ("sequence", 0, "wins")],
)
def test_a_resigned_game_is_read_with_its_result(tmp_path: Path, word: str, side: int, result: str) -> None:
    game = pg.load(word)
    session = Session(game.start(3), pg.agent("random", game), "random", side, seed=0)
    session.resign()
    path = tmp_path / "game.txt"
    path.write_text(session.record(), encoding="utf-8")
    assert result in path.read_text(encoding="utf-8")
    assert read_file(path).outcome == session.outcome != pg.Outcome.RUNNING
    session.undo()
    path.write_text(session.record(), encoding="utf-8")
    assert (read_file(path).outcome == pg.Outcome.RUNNING) == (not game.rules.hidden)


def test_a_pgn_is_read_by_the_number_of_the_game(tmp_path: Path) -> None:
    path, chess = tmp_path / "games.pgn", pg.load("chess")
    path.write_text(PGN, encoding="utf-8")
    start, actions, *_ = read_file(path, chess)
    assert (start, len(actions)) == (chess.start(), 7)
    start, actions, *_ = read_file(path, chess, 2)
    assert start.text.startswith("4k3")
    assert start.name(actions[0]) == "e2e4"
    with pytest.raises(InvalidValue, match="has 2 games of chess: there is no number 3"):
        read_file(path, chess, 3)


def test_a_saved_game_does_not_name_the_code_that_is_run(tmp_path: Path) -> None:
    code, path = tmp_path / "mine.py", tmp_path / "game.txt"
    code.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    path.write_text(f"game: {code}\n\nx 1\n", encoding="utf-8")
    with pytest.raises(InvalidValue, match="name that file before it, if you trust it"):
        read_file(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("settings", ["", ":length=5"])
def test_no_game_file_is_run_but_the_one_that_the_person_names(
    four: pg.Game, tmp_path: Path, command, settings: str
) -> None:
    evil, saved = tmp_path / "evil.py", tmp_path / "saved.txt"
    evil.write_text("from pathlib import Path\nPath(__file__).with_name('executed').touch()\n")
    saved.write_text(f"game: {evil}{settings}\nred: you\nyellow: greedy\nposition: startpos\n\n4\n")
    for named in (four, pg.load(ROW)):
        with pytest.raises(InvalidText, match=r"saved\.txt: it is a game of .*evil\.py.*, not of "):
            read_file(saved, named)
    with pytest.raises(InvalidValue, match="name that file before it, if you trust it"):
        read_file(saved)
    one, file = "connect_four", str(saved)
    for words in (
        ["watch", one, file],
        ["watch", file],
        ["analyse", file, "--game", one],
        ["play", one, "--load", file],
    ):
        assert command(*words)[0] == 2
    for words in (["play", "--load", file], ["watch", file], ["analyse", file]):
        _, _, err = command(*words)
        line = shlex.join([words[0], f"{evil}{settings}", *words[1:]])
        assert err.strip().endswith(f"if you trust it: plyground {line}")
    assert not (tmp_path / "executed").exists()


def test_a_game_file_may_have_moved_since_a_game_was_saved(tmp_path: Path) -> None:
    """The person names it; the saved name is only compared."""
    saved, copy = tmp_path / "saved.txt", tmp_path / "copies" / "hops.py"
    game = pg.load(f"{HOPS}:length=5")
    text = write_game(Line(game.start(), game.start().legal()[:1]), ("a", "b"))
    saved.write_text(text)
    copy.parent.mkdir()
    copy.write_text(Path(HOPS).read_text())
    moved = pg.load(f"{copy}:length=5")
    assert read_file(saved, moved).actions == game.start().legal()[:1]
    for other in (pg.load(copy), pg.load(ROW)):
        with pytest.raises(InvalidText, match=r"it is a game of .*hops\.py:length=5, not of"):
            read_file(saved, other)


def test_a_pgn_may_be_in_latin_1_and_have_no_tags(tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    for encoding in ("latin-1", "utf-8", "utf-8-sig"):
        path.write_text('[White "Müller"]\n[Black "?"]\n\n1. e4 e5 *\n', encoding=encoding)
        assert read_file(path).players == ("Müller", "")
    path.write_text("1. e4 e5 2. Nf3", encoding="utf-8")
    assert len(read_file(path).actions) == 3


@pytest.mark.parametrize(
    "told", ["", "none", "connect_four:rules=boxed", "sequence:seats=99", "x" * 10**6, "x.py:", ","]
)
def test_a_game_that_is_none_is_one_short_sentence(four: pg.Game, told: str) -> None:
    for game in (four, pg.load(ROW), pg.load("chess")):
        with pytest.raises(pg.Error) as found:
            read_games(f"game: {told}\n\n4\n", game)
        assert len(str(found.value)) < 500


def test_files_that_hold_no_game_are_explained(four: pg.Game, tmp_path: Path) -> None:
    for name in ("none", "x" * 5000):
        with pytest.raises(InvalidValue, match="cannot read a game from") as caught:
            read_file(tmp_path / name, four)
        assert len(str(caught.value)) < 1200
    path = tmp_path / "game.txt"
    path.write_text("game: paco_sako\nposition: x\n\nwhite e2\n", encoding="utf-8")
    with pytest.raises(InvalidText, match="it is a game of paco_sako, not of connect_four"):
        read_file(path, four)
    path.write_text(f"game: connect_four\ngenerator: {'9' * 5000}\n\n4\n", encoding="utf-8")
    with pytest.raises(InvalidText, match="the generator of a game is a number of 64 bits, not '9"):
        read_file(path, four)
    empty = tmp_path / "empty.pgn"
    empty.touch()
    for game in (None, pg.load("chess")):
        with pytest.raises(InvalidText, match=r"empty\.pgn holds no game of chess$"):
            read_file(empty, game)
    path.write_text("hello", encoding="utf-8")
    with pytest.raises(InvalidText, match=r"game\.txt: ply 1: 'h' is not legal"):
        read_file(path, four)


def test_a_game_of_cards_is_played_on_though_its_cards_are_not_told(tmp_path: Path) -> None:
    game = pg.load("sequence:rules=boxed")
    session = Session(game.start(5), pg.agent("random", game), "random", side=0, seed=0)
    session.play(session.position.legal()[0])
    path = tmp_path / "game.txt"
    path.write_text(session.record(), encoding="utf-8")
    assert "position: not told before the game is over\nsealed: " in path.read_text(encoding="utf-8")
    found = read_file(path)
    assert found.line.positions[-1] == session.position
    assert found.line.positions[-1].rngs == session.position.rngs, "cards to come are the same"
    with pytest.raises(InvalidText, match="its cards are not told before the game is over"):
        read_file(path, openly=True)
    path.write_text(session.record() + "blue place qh g8 take 9s\n", encoding="utf-8")
    with pytest.raises(InvalidText, match=r"ply 2: 'place qh g8 take 9s' is not legal there$"):
        read_file(path)
    path.write_text(session.record().replace("sealed: ", "sealed: x"), encoding="utf-8")
    with pytest.raises(InvalidText, match="sealed in it cannot be read: the line has changed"):
        read_file(path)


CARDS = "sequence:rules=boxed"


class First:
    """Plays the first legal action."""

    def __init__(self, game: pg.Game) -> None:
        self.game = game

    def act(self, states: np.ndarray, rngs: np.ndarray) -> np.ndarray:
        return np.array([pg.Position(self.game, states[k : k + 1]).legal()[0] for k in range(len(states))], np.int32)


def taken_back_twice(spec: str) -> Session:
    """A game in which turns were taken back at two plies."""
    game = pg.load(spec)
    session = Session(game.start(5), First(game), "random", side=0, seed=0)
    for command in ("play", "undo", "play", "play", "undo", "play"):
        session.undo() if command == "undo" else session.play(session.position.legal()[0])
        while session.agent_to_move:
            session.reply()
    assert [each.ply for each in session.line.redraws] == [0, 2]
    return session


@pytest.mark.parametrize("spec", [CARDS, DICE])
def test_a_game_in_which_moves_were_taken_back_is_played_on_with_the_same_cards_to_come(
    tmp_path: Path, spec: str
) -> None:
    session, path = taken_back_twice(spec), tmp_path / "game.txt"
    path.write_text(session.record(), encoding="utf-8")
    found = read_file(path, session.start.game)
    assert (found.line.positions, found.redraws) == (session.line.positions, session.line.redraws)
    assert found.line.positions[-1].rngs == session.position.rngs
    again = Session(found.start, None, "random", 0, 9)
    again.replay(found.actions, found.outcome, found.redraws)
    assert (again.line.positions, again.turns, again.record()) == (
        session.line.positions,
        session.turns,
        session.record(),
    )
    for secret in (session.start.rngs[0], *(each.seed for each in session.line.redraws)):
        assert str(secret) not in path.read_text(encoding="utf-8")


def test_a_game_that_is_over_tells_everything_to_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session, path = taken_back_twice(CARDS), tmp_path / "game.txt"
    running, ended = session.record(), "".join(session.record() for _ in [session.resign()])
    monkeypatch.setattr("plyground.runs.trust._key", lambda: b"another user's")
    path.write_text(ended, encoding="utf-8")
    assert "sealed" not in ended
    assert read_file(path, openly=True).line.positions == session.line.positions
    path.write_text(running, encoding="utf-8")
    with pytest.raises(
        InvalidText, match=r"game\.txt: what is sealed in it cannot be read: .* another user has sealed it$"
    ):
        read_file(path)


def test_an_end_that_is_written_into_a_file_does_not_show_its_cards(tmp_path: Path) -> None:
    session, path = taken_back_twice(CARDS), tmp_path / "game.txt"
    path.write_text(session.record().replace("result: not finished", "result: red wins"), encoding="utf-8")
    assert read_file(path).outcome == pg.Outcome.RUNNING
    with pytest.raises(InvalidText, match="not told before the game is over"):
        read_file(path, openly=True)


@pytest.mark.parametrize("told", ["x", "1 2", "1 2 3,", "0 9 1", "0 -1 1", "7 0 1", f"{'1' * 30} 0 1", "0 0 1 1"])
def test_what_is_no_redraw_is_one_sentence(tmp_path: Path, told: str) -> None:
    session, path = taken_back_twice(CARDS), tmp_path / "game.txt"
    session.resign()
    path.write_text(re.sub(r"redrawn: .*", f"redrawn: {told}", session.record()), encoding="utf-8")
    with pytest.raises(pg.Error) as found:
        read_file(path)
    assert len(str(found.value)) < 300


def test_a_format_of_its_own_does_not_tell_the_cards_of_a_game_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    session = taken_back_twice(CARDS)
    monkeypatch.setitem(vars(session.start.game.rules), "write_record", lambda start, *rest: start.text)
    assert session.start.text not in session.record()


def test_paco_sako_is_written_by_turns_and_read_back(tmp_path: Path, paco_sako: pg.Game) -> None:
    session = Session(paco_sako.start(), pg.agent("random", paco_sako), "random", side=0, seed=0)
    path = tmp_path / "game.txt"
    path.write_text(session.record(), encoding="utf-8")
    assert read_file(path).actions == [], "also before the first move"
    for turn in ("e2e4", "Ng1f3"):
        session.submit(turn)
        while session.agent_to_move:
            session.reply()
    path.write_text(session.record(), encoding="utf-8")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (lines[6], lines[8]) == ("white e2>e4", "white Ng1>f3")
    assert read_file(path).actions == session.line.actions
    path.write_text("game: paco_sako\n\nwhite Le2\nwhite Pe4\n", encoding="utf-8")
    assert read_file(path).actions == session.line.actions[:2], "an action on each line, as before"


def test_games_that_a_run_has_saved_are_read(tmp_path: Path, four: pg.Game) -> None:
    path = tmp_path / "run" / "games" / "12.txt"
    path.parent.mkdir(parents=True)
    path.write_text(
        "# from ......./......./......./......./......./...x...: the learner is ○, minimax:depth=3 ●\n4 4 3 RUNNING\n",
        encoding="utf-8",
    )
    found = read_file(path, four)
    assert (found.start, found.actions) == (four.position("4"), [3, 3, 2])
    assert found.players == ("minimax:depth=3", "the learner")
    with pytest.raises(InvalidValue, match="is no run directory: it has no config"):
        read_file(path)
    (tmp_path / "run" / "config.toml").write_text('learner = "dqn"\ngame = "connect_four"\n')
    assert read_file(path) == found


def test_a_file_that_does_not_tell_its_game_needs_it(tmp_path: Path) -> None:
    path = tmp_path / "moves.txt"
    path.write_text("4453", encoding="utf-8")
    with pytest.raises(InvalidText, match=r"holds no saved game that tells of .*: name the game before the file"):
        read_file(path)
    path.write_text(PGN, encoding="utf-8")
    assert str(read_file(path).start.game) == "chess"
