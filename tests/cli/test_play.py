"""A game typed in the terminal: what is shown and what is written. The game itself: tests/play."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core.event import trigger_event
from rich.console import Console

import plyground as pg
from conftest import at_once, finish_compiling
from plyground.agents.agent import Agent
from plyground.agents.registry import make
from plyground.cli import play, terminal
from plyground.cli.analyse import Explainer
from plyground.games.sequence.text import known_hand
from plyground.play import hints
from plyground.play.background import Background

Type = Callable[..., str]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """What a person sees who types these lines."""

    def run(position: pg.Position, *lines: str, against: str = "random", side: int = 0) -> str:
        answers = iter(lines)

        def answer(*_: Any, **__: Any) -> str:
            try:
                return next(answers)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("rich.console.Console.input", answer)
        monkeypatch.setattr(terminal.console, "_width", 3000)
        monkeypatch.setattr(play, "PATIENCE", 600.0)  # for a compiler on a busy machine
        agent = make(against, position.game)
        play.play(pg.Session(position, None, against, side, seed=1), lambda: agent)
        finish_compiling()
        return capsys.readouterr().out

    return run


# ---- showing ----


def test_a_game_is_played_to_its_end(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "9", "", "moves", "hint", "undo", *"1121", *"1234567" * 6)
    assert "'9' is not legal" in shown
    assert "legal: 1, 2, 3, 4, 5, 6, 7" in shown
    assert "the solver would play 4: it wins in 21 moves" in shown
    assert "nothing to take back" in shown
    assert re.search(r"^(You (win|lose) \(four in a row\)[!.]|A draw)", shown, re.MULTILINE)
    assert shown.endswith("Good-bye.\n")


def test_winning_losing_and_leaving(typed: Type) -> None:
    near = pg.load("connect_four").position("121212")
    assert "You win (four in a row)!" in typed(near, "1")
    near = pg.load("connect_four").position("121212")
    assert "You lose (four in a row)." in typed(near, against="greedy", side=1)
    assert typed(pg.load("connect_four").start(), "quit", "4").count("plays") == 0
    assert "greedy plays 4" in typed(pg.load("connect_four").start(), against="greedy", side=1)


def test_undo_shows_the_board_without_the_agents_answer(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "4", "undo", "quit")
    boards = re.findall(r"((?:^[ \[\].●○]{13,15}\n){6})", shown, re.MULTILINE)
    assert len(boards) == 3
    assert boards[0] == boards[2]
    assert "●" in boards[1]
    assert "[○]" in boards[1], "the last stone is marked"


def test_several_turns_are_taken_back_by_their_number(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "4", "4", "undo 2", "undo", "quit")
    assert shown.count("There is nothing to take back.") == 1, "both are back already"


def test_a_board_is_shown_only_where_it_has_changed(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "9", "moves", "hint", "resign", "undo", "resign", "new")
    assert shown.count(" 1 2 3 4 5 6 7\n") == 3, "at the start, after the resignation is taken back, and anew"


def test_the_winning_four_is_marked(typed: Type) -> None:
    shown = typed(pg.load("connect_four").position("121212"), "1")
    assert "[◆]. ." in shown
    assert shown.count("◆") == 4


def test_a_turn_of_paco_sako_is_told_whole_and_sako_is_said(typed: Type) -> None:
    shown = typed(pg.load("paco_sako").start(), "e2e4")
    assert re.search(r"^random plays [A-Z]?[a-h][1-8]>[a-h][1-8]$", shown, re.MULTILINE)
    start = pg.load("paco_sako").position("4k3/8/8/8/8/8/4r3/4K3 w 0 - - -")
    shown = typed(start)
    assert "You are white, random is black. White is to move." in shown
    assert "White: lift · Ŝako: the white king can be reached" in shown
    assert start.scene().status == "White to move, Ŝako: lift"


def test_the_own_move_is_shown_while_the_opponent_is_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game, compiled, lines, shown = pg.load("connect_four"), threading.Event(), iter(["4", "quit"]), list[str]()
    wait = play.wait

    def waits(background: Background, name: str) -> Any:
        shown.append(capsys.readouterr().out)
        compiled.set()
        return wait(background, name)

    def solver() -> Agent:
        assert compiled.wait(10)
        return make("solver", game)

    monkeypatch.setattr(play, "wait", waits)
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(lines))
    play.play(pg.Session(game.start(), None, "solver", side=0, seed=1), solver)
    finish_compiling()
    assert "[●]" in shown[0]
    assert "solver plays" in capsys.readouterr().out


def test_a_simple_opponent_answers_before_it_is_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game, quits, lines = pg.load("chess"), threading.Event(), iter(["e4", "think", "hint", "quit"])
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(lines))

    def level() -> Agent:
        assert quits.wait(10)
        return make("level:3", game)

    session = pg.Session(game.start(), None, "level:3", side=0, seed=1)
    background = Background({"agent": level, "hints": lambda: None})
    play.run(session, background)
    quits.set()
    background.thread.join()
    shown = capsys.readouterr().out
    assert "level:3 plays" in shown
    assert "would play" in shown


def test_help_tells_the_aim_and_where_the_rules_are(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "help")
    assert "The aim: four of your own stones in a line: flat, upright or diagonal. " in shown
    assert "The rules: docs/rules/connect_four.md" in shown
    shown = typed(pg.load("sequence").start(), "help")
    assert "rules=course (course: the variant of the university course COMP90054 (AI Planning for Autonomy)" in shown


def test_think_shows_what_the_opponent_thinks_of_each_move(typed: Type) -> None:
    shown = typed(pg.load("connect_four").position("44"), "think", against="solver")
    assert "What solver, your opponent, thinks of your moves:" in shown
    assert re.search(r"│ 4 +│ \+1.00 │ wins in 20 moves +│", shown)
    shown = typed(pg.load("chess").start(), "think", against="minimax:nodes=2000")
    assert re.search(r"│ (\S+) +│ [+-]0.\d\d │ \1 ", shown), "a move in algebraic notation, its value and its line"
    shown = typed(pg.load("chess").start(), "think", against="level:3")
    assert len(re.findall(r"│ \S+ +│ [+-]0.\d\d │", shown)) == 10, "each with a value"
    shown = typed(pg.load("chess").start(), "think", against="minimax:nodes=100")
    assert "│ -" not in shown, "moves without a value are only counted"
    shown = typed(pg.load("connect_four").position("4"), "think", against="greedy")
    rule = "It plays by a rule, without values: win, else block, else the open column nearest to the centre."
    assert f"{rule} It would play 4.\nValues by the game's evaluation function:\n" in shown
    assert len(re.findall(r"│ \d +│ [+-]0.\d\d │", shown)) == 7
    shown = typed(pg.load("paco_sako").start(), "think", against="greedy")
    assert re.search(r"It would play \w\d>\w\d\.\n", shown), "a whole turn"
    assert re.search(r"│ e2>e4 +│ \+0.\d\d │", shown)
    assert "Each is the best of the turns that begin with the same action; type moves for all." in shown
    assert "Values by window, which scores moves:" in typed(pg.load("sequence").start(), "think", against="greedy")
    assert "random does not tell what it thinks of moves" in typed(pg.load("connect_four").start(), "think")
    assert "random does not tell" not in typed(pg.load("connect_four").position("1212121"), "think")


def test_a_command_with_more_words_says_how_it_is_typed(typed: Type) -> None:
    shown = typed(pg.load("connect_four").start(), "think hard", "hint me", "undo foo")
    for line in ("think alone, not think hard", "hint alone, not hint me"):
        assert f"Type {line}." in shown
    assert "Type undo, or undo 3 for three turns, not undo foo." in shown


def test_analyses_before_moves_are_compiled_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = list[pg.Position]()
    monkeypatch.setattr(Explainer, "find", lambda _, position: searched.append(position))
    start = pg.load("connect_four").start()
    play._explainer(start)
    assert searched == [start]
    play._explainer(pg.load("connect_four").position("1212121"))
    assert searched == [start], "a game that is over is not searched"


def test_who_waits_without_a_terminal_is_told_why(capsys: pytest.CaptureFixture[str]) -> None:
    background = Background({"agent": lambda: time.sleep(0.5) or "made"})
    assert play.wait(background, "agent") == "made"
    assert "compiling, once for this machine" in capsys.readouterr().err


def test_what_a_person_waits_for_is_one_line_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(play, "console", Console(file=shown, force_terminal=True, width=60))
    assert play.wait(Background({"agent": lambda: time.sleep(0.5) or "made"}), "agent") == "made"
    assert "compiling, once for this machine: agent, 1 of 1 (0 s;" in shown.getvalue()
    frames = re.split(r"\r|\n", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.getvalue()))
    assert not [frame for frame in frames if frame.endswith("minute or two)") or frame.startswith("in all")]


@pytest.mark.parametrize(
    ("against", "line"),
    [
        ("level:3", "Compiling in the background, once for this machine; play on."),
        ("level:9", "once for this machine; play on; level:9 can reply and think only then."),
    ],
)
def test_it_is_said_whether_the_opponent_waits_for_the_compiler(
    monkeypatch: pytest.MonkeyPatch, against: str, line: str
) -> None:
    shown, quits = io.StringIO(), threading.Event()
    monkeypatch.setattr(play, "console", Console(file=shown, force_terminal=True, width=200))
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")

    def compiled() -> None:
        with trigger_event("numba:compile"):
            quits.wait()

    background = Background({"agent": compiled})
    play.run(pg.Session(pg.load("sequence").start(), None, against, side=0, seed=1), background)
    quits.set()
    background.thread.join()
    assert line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.getvalue())


def test_who_has_everything_compiled_reads_nothing_about_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, quits = io.StringIO(), threading.Event()
    monkeypatch.setattr(play, "console", Console(file=shown, force_terminal=True, width=200))
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    background = Background({"agent": quits.wait})  # it only reads from the disk
    play.run(pg.Session(pg.load("connect_four").start(), None, "greedy", side=0, seed=1), background)
    quits.set()
    background.thread.join()
    assert "1 2 3 4 5 6 7" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.getvalue())
    assert "ompiling" not in shown.getvalue()


def test_help_says_how_to_type_once_more(typed: Type) -> None:
    words = "the square to lift, then the square to place"
    assert typed(pg.load("paco_sako").start()).count(words) == 1
    for question in ("help", "?", "HELP", "help hint", "Help me"):
        shown = typed(pg.load("paco_sako").start(), question)
        assert shown.count(words) == 2
        assert "save FILE  write the game so far" in shown


def test_chess_is_shown_as_the_player_sits(typed: Type) -> None:
    white = typed(pg.load("chess").position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"), side=0)
    assert "random plays K" in white
    rows = [line for line in white.splitlines() if line[:2].strip().isdigit()][8:]  # after the agent's move
    assert [row[0] for row in rows] == list("87654321")
    assert rows[-1] == "1  ·  ·  ·  ·  ♔  ·  ·  ·"
    assert sum(row.count("[") for row in rows) == 2, "the king's move, from where to where"
    black = typed(pg.load("chess").position("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"), side=1)
    assert black.index("1  ·  ·  ·  ♔") < black.index("8  ·  ·  ·  ♚") < black.index("h  g  f  e")


def test_a_check_is_said() -> None:
    assert "White to move, in check" in pg.load("chess").rules.observe(
        pg.load("chess").position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1").state, 0
    )


def test_a_board_of_cards_has_colours_for_both_sides() -> None:
    position = pg.load("sequence").start(3)
    for _ in range(2):
        position = position.play(next(name for name in position.names() if name.startswith("place")))
    board = terminal.board(position, 0)
    styles = {str(span.style): board.plain[span.start : span.end] for span in board.spans}
    assert styles["bold red"].endswith("●")
    assert styles["bold blue"].endswith("○")
    assert styles["bold yellow"] == "★"


@pytest.mark.parametrize("word", ["sequence", "sequence:rules=boxed,seats=4"])
def test_a_typed_game_of_cards_shows_the_hand_the_last_move_and_no_secret(word: str, typed: Type) -> None:
    start = pg.load(word).start(3)
    hand, text, first = known_hand(start.state, 0, 0), start.text, start.names()[0]
    shown = typed(start, "place 2s a1", first, against="window")
    assert f"red, seat 0 (you) to move: {' '.join(hand)}" in shown
    assert ("face up:" in shown) == (word == "sequence")
    assert "'place 2s a1' is not legal" in shown
    assert "window plays place" in shown
    assert "last: place" in shown
    assert text.split("deck=")[1].split()[0] not in shown
    assert text.split("hands=")[1].split(",")[1] not in shown


@pytest.mark.parametrize("word", ["q", "Q"])
def test_a_letter_that_may_be_a_piece_does_not_quit(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: word)
    assert play._ask("your move") == word


def test_a_queen_without_its_square_does_not_quit(typed: Type) -> None:
    start = pg.load("chess").position("4k3/8/8/8/8/8/P7/Q3K3 w - - 0 1")
    shown = typed(start, "Q", "b1")
    assert re.search(r"^Q: Qb1, .* or Q\S+\?$", shown, re.MULTILINE)
    assert "random plays" in shown, "the answer completes the move"
    shown = typed(start, "Q", "castle", "q", "b1")
    assert "no command or move 'castle'" in shown
    assert "random plays" not in shown, "q quits: it is no answer"
    assert "'Q' is not legal here" in typed(pg.load("chess").start(), "Q")


def test_the_board_and_the_turns_are_shown_again(typed: Type) -> None:
    for word in ("board", "show", "History"):
        shown = typed(pg.load("connect_four").start(), word, "4", word)
        assert shown.count(" 1 2 3 4 5 6 7\n") == 4, "at the start, after the reply, and again"
        assert "no turns yet\n" in shown
        assert re.search(r"^4 [1-7]\n", shown, re.MULTILINE)
    shown = typed(pg.load("chess").start(), "e4", "fen", "pgn")
    assert re.search(r"^(\w+/){7}\w+ w KQkq \S+ \d 2$", shown, re.MULTILINE)
    assert '[White "you"]' in shown
    assert re.search(r"^1\. e4 ", shown, re.MULTILINE)


def test_no_text_tells_hidden_cards(typed: Type) -> None:
    start = pg.load("sequence").start(3)
    shown = typed(start, "fen", "pgn")
    assert "This position has hidden parts: its text is shown when the game is over." in shown
    assert start.text.split("deck=")[1].split()[0] not in shown
    assert start.text in typed(start, "resign", "fen"), "everything is open at the end"


@pytest.mark.parametrize("word", ["castle", "flip", "level:3"])
def test_a_word_that_can_be_no_move_is_answered_with_help(word: str, typed: Type) -> None:
    answer = f"no command or move '{word}'; see `help`\n"
    for game in ("chess", "paco_sako", "connect_four"):
        assert answer in typed(pg.load(game).start(), word)
    assert "no legal move has" in typed(pg.load("sequence").start(3), word), "its moves are words"


def test_a_running_game_is_thrown_away_only_by_who_says_so_twice(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "is not over" not in typed(pg.load("connect_four").start(), "4", "new"), "without a terminal"
    monkeypatch.setattr(terminal.console, "_force_terminal", True)
    for lines, boards in ((["new"], 2), (["4", "new"], 2), (["4", "new", "new"], 3), (["4", "new", "moves", "new"], 2)):
        shown = typed(pg.load("connect_four").start(), *lines)
        assert shown.count(" 1 2 3 4 5 6 7\n") == boards
        assert ("This game is not over: type new again" in shown) == (len(lines) > 1)
    shown = typed(pg.load("connect_four").start(), "4", "resign", "new")
    assert "is not over" not in shown


def test_a_word_that_is_nearly_a_command_is_answered_with_it(typed: Type) -> None:
    shown = typed(pg.load("chess").start(), "load my game.txt", "hepl", "exd5")
    assert "no command or move 'hepl'; did you mean 'help'? see `help`\n" in shown
    assert "'exd5' is not legal" in shown
    assert re.search(r"type quit, then:\n  .*plyground play chess --load 'my game.txt' random\n", shown)
    shown = typed(pg.load("chess").position("7k/P7/8/8/8/8/8/K7 w - - 0 1"), "a8", "q")
    assert "Good-bye" in shown
    assert "a8=Q" in shown, "it completes the promotion"
    shown = typed(pg.load("chess").start(), "q", "e4")
    assert "random plays" not in shown, "it quits"


# ---- files ----


def test_a_saved_game_is_written_again_but_not_by_the_next_game(typed: Type, tmp_path: Path) -> None:
    file = tmp_path / "game.pgn"
    shown = typed(pg.load("chess").start(), "e4", f"save {file}", "resign", f"save {file}", "new", f"save {file}")
    assert shown.count(f"Wrote {file}.") == 2
    assert shown.count(f"{file} exists already: type the same again to write over it, or name another file") == 1
    assert '[Result "0-1"]' in file.read_text()
    assert "exists already" in typed(pg.load("chess").start(), f"save {file}")
    assert "/none/x: No such file or directory\n" in typed(pg.load("chess").start(), f"save {tmp_path}/none/x")
    assert "save needs the name of a file" in typed(pg.load("chess").start(), "save")
    assert [path.name for path in tmp_path.iterdir()] == ["game.pgn"]


@pytest.mark.parametrize(
    ("opponent", "played"),
    [("level:2", "level:2"), ("uci:/no/program", "greedy"), ("file:evil.py:Agent", "greedy"), ("Deep Blue", "greedy")],
)
def test_a_loaded_game_goes_on_against_its_opponent_or_says_that_it_does_not(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opponent: str, played: str
) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    (tmp_path / "game.txt").write_text(f"game: connect_four\n●: {opponent}\n○: you\nposition: \n\n● 4\n", "utf-8")
    code, out, err = command("play", "--load", str(tmp_path / "game.txt"))
    assert code == 0, err
    assert f"You are ○, {played} is ●. ○ is to move." in out
    assert (f"The file names {opponent} as your opponent; here it is greedy" in out) == (played != opponent)


def test_a_loaded_game_that_is_over_is_said_to_be(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: "quit")
    (tmp_path / "game.pgn").write_text("1. f3 e5 2. g4 Qh4# 0-1\n")
    shown = command("play", "chess", str(tmp_path / "game.pgn"))[1]
    assert "greedy is Black. The game is over." in shown
    assert "Type a move" not in shown
    assert "Type undo to take back your last turn, or new; to look at it, type quit, then:\n" in shown
    assert f"  plyground analyse chess {tmp_path / 'game.pgn'}\n" in shown


def test_a_loaded_game_that_was_resigned_is_over_until_that_is_taken_back(
    command, typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "game.txt"
    typed(pg.load("connect_four").start(), "4", "resign", f"save {file}")
    lines = iter(("5", "undo", "5", "quit"))
    monkeypatch.setattr("rich.console.Console.input", lambda *_, **__: next(lines))
    shown = command("play", "--load", str(file))[1]
    assert "random is ○. The game is over.\nType undo to play on from here, or new; " in shown
    assert "The saved game has ended: random wins.\n" in shown
    assert shown.count("The game is over. Type undo, new, save FILE or quit.") == 1
    assert shown.count("random plays") == 1, "after undo the game goes on"


# ---- the process ----


def test_ctrl_c_ends_a_hint_and_not_the_game(typed: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    def searches(_: pg.Position) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(hints, "prepare", lambda start: None)
    monkeypatch.setattr(hints, "hint", searches)
    with at_once():
        shown = typed(pg.load("connect_four").start(), "hint", "4", "quit")
    assert "Stopped: no answer to hint." in shown
    assert "random plays" in shown


FIRST_BOARD = """
import sys, threading
from numba.core import event
from plyground.__main__ import run
from plyground.cli import play

class Recorder(event.RecordingListener):
    def notify(self, found):
        if threading.current_thread() is threading.main_thread():
            super().notify(found)

recorder = Recorder()
event.register("numba:compile", recorder)
ask = play._ask
def asked(*prompt):
    print("compiled before the prompt:", len(recorder.buffer), flush=True)
    return ask(*prompt)
play._ask = asked
sys.argv = ["plyground", "play", *sys.argv[1:]]
run()
"""


@pytest.mark.parametrize("words", [["chess", "minimax:depth=2"], ["paco_sako", "random"], ["sequence", "greedy"]])
def test_the_first_board_waits_for_no_compiler_nor_does_leaving(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_BOARD, *words],
        input="moves\nquit\n",
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PLYGROUND_CACHE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "compiled before the prompt: 0" in done.stdout
    assert "legal: " in done.stdout
    assert done.stdout.endswith("Good-bye.\n")


def test_ctrl_c_says_good_bye() -> None:
    command = [sys.executable, "-u", "-m", "plyground", "play"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        shown = ""
        while not shown.endswith("> "):
            shown += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("Good-bye.\n")
        assert process.wait(timeout=5) == 130


SEARCHED = """
import sys
from plyground.__main__ import run
from plyground.search.tree_search import TreeSearch

simulate = TreeSearch._simulate
def told(*arguments, **settings):
    print("searching", flush=True)
    simulate(*arguments, **settings)
TreeSearch._simulate = told
sys.argv = ["plyground", "play", "connect_four", *sys.argv[1:]]
run()
"""


@pytest.mark.parametrize("spec", ["search:sims=8000000,leaf=random", "search:time=100,leaf=random,reuse=true"])
def test_ctrl_c_during_a_search_plays_the_best_move_so_far(spec: str) -> None:
    command = [sys.executable, "-u", "-c", SEARCHED, spec]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("4\n")
        process.stdin.flush()
        while (line := process.stdout.readline()) and not line.endswith("searching\n"):
            pass
        time.sleep(0.3)  # it searches for seconds
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate("quit\n", timeout=60)
        assert process.returncode == 0
    assert f"{spec} plays" in out
    assert out.endswith("Good-bye.\n")


def test_a_terminal_without_our_signs_shows_letters() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    for arguments, wanted in ((["solve", "4453"], " . . o x x . ."), (["play", "chess"], "1  R  N  B  Q  K  B  N  R")):
        command = [sys.executable, "-m", "plyground", *arguments]
        done = subprocess.run(command, input="", capture_output=True, text=True, env=env)
        assert done.returncode == 0, done.stderr
        assert wanted in done.stdout
