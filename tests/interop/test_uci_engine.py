"""The UCI engine, step by step as engine testers go: start, options, positions, limits, stop, mates, tiny times."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import chess
import pytest

from gui import Gui
from plyground.errors import Error

pytestmark = pytest.mark.compiled
MATE_IN_2 = "position fen 7r/2N3k1/8/p1b2Qpp/P2pp2R/6P1/1P1PPPB1/R1B1K3 w Q - 0 20"
BACK_RANK = "position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"
CHECKMATE = "position fen R5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"
STALEMATE = "position fen k7/8/1Q6/8/8/8/8/7K b - - 0 1"
INFO = re.compile(
    r"info depth (\d+) multipv (\d+) score (cp|mate) (-?\d+) nodes (\d+) nps \d+ time \d+"
    r" pv( [a-h][1-8][a-h][1-8][nbrq]?)+"
)


@pytest.fixture(scope="module")
def one() -> Iterator[Gui]:
    """One engine for all tests: loading it takes a second."""
    gui = Gui()
    gui.ask("isready", word="readyok")
    yield gui
    gui.close()


@pytest.fixture
def gui(one: Gui) -> Gui:
    one.send("stop", "setoption name MultiPV value 1", "setoption name Level value 10", "ucinewgame")
    one.send("setoption name UCI_LimitStrength value false", "setoption name Network value", "position startpos")
    one.ask("isready", word="readyok")  # all of it is done
    return one


def infos(lines: list[str]) -> list[tuple[int, int, str, int, list[str]]]:
    """Depth, number of the line, kind of score, score and moves of each line of information."""
    found = [match for line in lines if (match := INFO.fullmatch(line))]
    assert found
    return [(int(m[1]), int(m[2]), m[3], int(m[4]), m[0].partition(" pv ")[2].split()) for m in found]


# ---- start ----


def test_it_says_who_it_is_and_what_can_be_set(gui: Gui) -> None:
    lines = gui.ask("uci", word="uciok")
    assert lines[0].startswith("id name Plyground")
    assert lines[1].startswith("id author")
    names = {line.split(" type ")[0].removeprefix("option name ") for line in lines[2:-1]}
    assert {"Level", "Simulations", "MultiPV", "Threads", "Network", "UCI_LimitStrength", "UCI_Elo"} <= names


def test_unknown_words_are_ignored(gui: Gui) -> None:
    assert gui.ask("", "   ", "xyzzy", "joho isready", word="readyok") == ["readyok"]
    assert gui.ask("debug on", "register later", "\x00\xff", "isready now please", word="readyok") == ["readyok"]


def test_orders_in_an_unusual_order_do_no_harm(gui: Gui) -> None:
    assert gui.ask("stop", "ponderhit", "stop", "isready", word="readyok") == ["readyok"]


def test_a_bad_agent_ends_it_with_an_error_that_says_so() -> None:
    gui = Gui("grandmaster")
    gui.send("uci")
    gui.wait_for("uciok")
    gui.send("isready")
    gui.thread.join(60)
    assert isinstance(gui.fault, Error)
    assert "no agent for chess 'grandmaster'" in str(gui.fault)


# ---- positions ----


def test_moves_are_played_from_the_start_and_from_a_fen(gui: Gui) -> None:
    assert gui.best("position startpos moves f2f3 e7e5 g2g4", "go depth 2") == "d8h4"
    fen = "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq g3 0 2"
    assert gui.best(f"position fen {fen}", "go depth 2") == "d8h4"
    assert gui.best(f"position fen {fen} moves a7a6 a2a3", "go depth 2") == "d8h4"


def test_a_fen_without_counters_is_read(gui: Gui) -> None:
    assert gui.best("position fen 6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -", "go depth 2") == "a1a8"


def test_castling_en_passant_and_promotion_are_understood_and_played(gui: Gui) -> None:
    moves = "e2e4 a7a6 e4e5 d7d5 e5d6 a6a5 g1f3 a5a4 f1c4 a4a3 e1g1 a3b2 d6c7 b2a1n c7b8q"
    assert chess.Move.from_uci(gui.best(f"position startpos moves {moves}", "go depth 3"))
    assert gui.best("position fen 7k/P7/8/8/8/8/8/K7 w - - 0 1", "go depth 3") == "a7a8q"
    assert (
        gui.best("position fen 8/5P1k/8/8/8/6R1/8/K7 w - - 0 1", "go searchmoves f7f8n f7f8b nodes 500")[:4] == "f7f8"
    )


def test_a_position_that_cannot_be_is_refused_and_the_last_one_stays(gui: Gui) -> None:
    gui.send(BACK_RANK)
    for bad in ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "position fen rubbish", "position nowhere", "position"):
        assert "info string" in gui.ask(bad, "isready", word="readyok")[0]
    assert gui.best("go depth 2") == "a1a8"


def test_moves_after_an_illegal_one_are_left_out(gui: Gui) -> None:
    lines = gui.ask("position startpos moves f2f3 e7e5 g2g4 e2e4 a7a6", "go depth 2")
    assert lines[0].startswith("info string 'e2e4' is not legal")
    assert lines[-1].split()[1] == "d8h4"


def test_a_game_that_is_over_has_no_best_move(gui: Gui) -> None:
    assert gui.ask(CHECKMATE, "go depth 3") == ["info depth 0 score mate 0", "bestmove (none)"]
    assert gui.ask(STALEMATE, "go movetime 50") == ["info depth 0 score cp 0", "bestmove (none)"]


@pytest.mark.parametrize(
    "position",
    [
        "position startpos moves" + 2 * " g1f3 g8f6 f3g1 f6g8",  # a third occurrence
        "position startpos moves" + 5 * " g1f3 g8f6 f3g1 f6g8" + " g1f3",
        "position fen 8/8/4k3/8/8/4K3/4R3/8 w - - 100 80",  # 50 moves
        "position fen 8/8/4k3/8/8/4K3/4R3/8 w - - 149 105 moves e2e1 e6d6 e1e2",
        "position fen 8/8/4k3/8/8/4K3/8/8 w - - 0 1",  # bare kings
    ],
)
def test_a_draw_that_nobody_claims_is_played_on(gui: Gui, position: str) -> None:
    board = chess.Board() if "startpos" in position else chess.Board(position[13:].partition(" moves ")[0])
    for move in position.partition(" moves ")[2].split():
        board.push_uci(move)
    assert chess.Move.from_uci(gui.best(position, "go nodes 300")) in board.legal_moves


def test_a_third_occurrence_counts_as_a_draw_where_the_moves_are_known(gui: Gui) -> None:
    """Black is a rook ahead; one of its moves leads to a position that has stood twice."""
    moves = "h1g1 a2b2 g1h1 b2a2 h1g1 a2b2 g1h1"
    start = f"position fen 6k1/5p1p/6p1/8/8/8/r7/7K w - - 0 1 moves {moves}"
    ((_, _, kind, value, _),) = infos(gui.ask(start, "go searchmoves b2a2 depth 1"))
    assert (kind, value) == ("cp", 0)


# ---- limits ----


def test_depth_ends_a_search_and_each_depth_is_told(gui: Gui) -> None:
    assert [depth for depth, *_ in infos(gui.ask("go depth 5"))] == [1, 2, 3, 4, 5]


def test_nodes_end_a_search_exactly(gui: Gui) -> None:
    last = [line for line in gui.ask("go nodes 3000") if line.startswith("info depth")][-1]
    assert " nodes 3000 " in last


@pytest.mark.parametrize("go", ["movetime 100", "wtime 4000 btime 4000", "wtime 1000 btime 50 winc 60 binc 0"])
def test_times_end_a_search(gui: Gui, go: str) -> None:
    gui.ask("isready", word="readyok")
    begun = time.monotonic()
    gui.ask(f"go {go}")
    assert time.monotonic() - begun < 1.5  # 0.1 to 0.5 on an idle machine


@pytest.mark.parametrize(
    "go",
    [
        "movetime 1",
        "wtime 1 btime 1",
        "wtime 0 btime 0",
        "wtime -5 btime -5",
        "wtime 20 btime 20 movestogo 1",
        "nodes 1",
    ],
)
def test_tiny_times_still_give_a_legal_move(gui: Gui, go: str) -> None:
    for position in ("position startpos", MATE_IN_2):
        board = chess.Board(position[13:]) if "fen" in position else chess.Board()
        assert chess.Move.from_uci(gui.best(position, f"go {go}")) in board.legal_moves


def test_only_the_moves_that_are_asked_for_are_searched(gui: Gui) -> None:
    lines = gui.ask(BACK_RANK, "go searchmoves h2h3 h2h4 depth 4")
    assert {moves[0] for *_, moves in infos(lines)} <= {"h2h3", "h2h4"}
    assert gui.best(BACK_RANK, "go searchmoves e2e5 nowhere depth 2") == "a1a8"  # none of them can be played


def test_an_only_move_is_played_at_once(gui: Gui) -> None:
    gui.ask("isready", word="readyok")
    begun = time.monotonic()
    assert gui.best("position fen k7/8/8/8/8/8/1q6/K7 w - - 0 1", "go wtime 600000 btime 600000") == "a1b2"
    assert time.monotonic() - begun < 5  # 0.005 on an idle machine; a minute is on the clock


# ---- stop, infinite, ponder ----


def test_an_infinite_search_says_nothing_until_it_is_stopped(gui: Gui) -> None:
    gui.ask(BACK_RANK, "go infinite", word="info")  # the mate is proven at once
    time.sleep(0.1)
    gui.send("isready")
    assert gui.wait_for("readyok")[-1] == "readyok"
    gui.send("stop")
    assert gui.wait_for("bestmove")[-1].startswith("bestmove a1a8")


def test_isready_and_stop_are_answered_during_a_search(gui: Gui) -> None:
    gui.ask("go infinite", word="info")
    for order, word in (("isready", "readyok"), ("stop", "bestmove")):
        begun = time.monotonic()
        gui.send(order)
        gui.wait_for(word)
        assert time.monotonic() - begun < 0.5  # 0.002 on an idle machine


def test_a_second_go_ends_the_first_search(gui: Gui) -> None:
    gui.ask("go infinite", word="info")
    gui.send("go depth 1")
    assert gui.wait_for("bestmove")
    assert gui.wait_for("bestmove")


def test_pondering_ends_with_the_clock_after_a_hit(gui: Gui) -> None:
    gui.ask("go ponder movetime 80", word="info")
    time.sleep(0.2)
    gui.send("isready")
    assert not [line for line in gui.wait_for("readyok") if line.startswith("bestmove")]
    gui.send("ponderhit")
    assert " ponder " in gui.wait_for("bestmove")[-1]


def test_pondering_that_misses_is_stopped(gui: Gui) -> None:
    gui.ask("go ponder wtime 1000 btime 1000", word="info")
    gui.send("stop")
    assert gui.wait_for("bestmove")


def test_a_finished_search_that_ponders_waits_for_the_hit(gui: Gui) -> None:
    gui.ask(BACK_RANK, "go ponder wtime 1000 btime 1000", word="info")
    gui.send("isready")
    assert not [line for line in gui.wait_for("readyok") if line.startswith("bestmove")]
    gui.send("ponderhit")
    assert gui.wait_for("bestmove")[-1].startswith("bestmove a1a8")


# ---- what it finds ----


def test_mates_are_found_and_told(gui: Gui) -> None:
    lines = infos(gui.ask(MATE_IN_2, "go depth 8"))
    assert lines[-1][2:4] == ("mate", 2)
    after = f"{MATE_IN_2} moves {' '.join(lines[-1][4][:1])}"
    assert infos(gui.ask(after, "go depth 8"))[-1][2:4] == ("mate", -1)
    assert infos(gui.ask(MATE_IN_2, "go mate 2"))[-1][2:4] == ("mate", 2)


def test_every_line_that_it_tells_can_be_played(gui: Gui) -> None:
    fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
    for *_, moves in infos(gui.ask(f"position fen {fen}", "go depth 7")):
        board = chess.Board(fen)
        for move in moves:
            board.push_uci(move)


def test_several_lines_are_numbered_the_best_first(gui: Gui) -> None:
    lines = infos(gui.ask("setoption name MultiPV value 3", "go depth 4"))[-3:]
    assert [number for _, number, *_ in lines] == [1, 2, 3]
    assert len({moves[0] for *_, moves in lines}) == 3
    assert [value for *_, value, _ in lines] == sorted((value for *_, value, _ in lines), reverse=True)
    assert [number for _, number, *_ in infos(gui.ask(STALEMATE.replace(" b ", " w "), "go depth 2"))].count(3)


# ---- options ----


def test_a_level_plays_and_an_analysis_has_full_strength(gui: Gui) -> None:
    lines = gui.ask("setoption name Level value 2", "go movetime 5000")
    assert [line.split(" nodes ")[0] for line in lines[:-1]] == ["info depth 1 multipv 1"]
    gui.ask(MATE_IN_2, "go infinite", word="info")
    time.sleep(0.2)
    gui.send("stop")
    assert infos(gui.wait_for("bestmove"))[-1][2:4] == ("mate", 2)


def test_elo_limits_the_strength(gui: Gui) -> None:
    gui.send("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1200")
    assert chess.Move.from_uci(gui.best("go wtime 1000 btime 1000")) in chess.Board().legal_moves


def test_threads_and_memory_are_set(gui: Gui) -> None:
    gui.send("setoption name Threads value 2", "setoption name Hash value 1")
    assert infos(gui.ask(MATE_IN_2, "go depth 8"))[-1][2:4] == ("mate", 2)
    gui.send("setoption name Threads value 1", "setoption name Hash value 64")


@pytest.mark.parametrize("option", ["Network value no/such/run", "MultiPV value 1000", "Contempt value 3", "Level"])
def test_an_option_that_cannot_be_is_refused_and_the_engine_plays_on(gui: Gui, option: str) -> None:
    lines = gui.ask(f"setoption name {option}", "go depth 2")
    assert lines[0].startswith("info string")
    assert infos(lines)


def test_a_network_plays_by_tree_search(gui: Gui) -> None:
    pytest.importorskip("torch")
    gui.send("setoption name Network value trained", "setoption name Simulations value 40")
    lines = gui.ask("setoption name MultiPV value 2", "go movetime 5000")
    assert " nodes 40 " in lines[-2]
    assert {number for _, number, *_ in infos(lines)} == {1, 2}
    gui.send("setoption name Simulations value 0")


def test_without_the_extra_a_network_is_refused_with_the_remedy(gui: Gui, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(gui.engine, "_make", missing)
    lines = gui.ask("setoption name Network value trained", "go depth 1")
    assert lines[0].startswith(
        "info string this needs torch, which is not installed; in Plyground's folder: pip install"
    )
    assert infos(lines)


def test_another_agent_plays() -> None:
    gui = Gui("random")
    assert gui.ask("go infinite", "stop")[-1].startswith("bestmove ")
    assert chess.Move.from_uci(gui.best("go movetime 10")) in chess.Board().legal_moves
    gui.close()


# ---- ends ----


def test_a_long_game_is_followed_quickly(gui: Gui) -> None:
    """300 plies, one `position` each: only the new move is played."""
    shuffled = 75 * ["g1f3", "g8f6", "f3g1", "f6g8"]
    gui.ask("isready", word="readyok")
    begun = time.monotonic()
    for plies in range(1, len(shuffled) + 1):
        gui.send(f"position startpos moves {' '.join(shuffled[:plies])}")
    gui.ask("isready", word="readyok")
    assert time.monotonic() - begun < 5.0  # 0.2 on an idle machine


def test_the_end_of_the_lines_ends_a_search() -> None:
    gui = Gui("minimax:time=1")
    gui.ask("go infinite", word="info")
    gui.close()


def test_quit_ends_it_during_a_search() -> None:
    gui = Gui("minimax:time=1")
    gui.ask("go infinite", word="info")
    gui.send("quit")
    gui.thread.join(5)
    assert not gui.thread.is_alive()


def test_a_gui_that_closes_the_pipe_ends_the_search() -> None:
    gui = Gui("minimax:time=1")
    gui.ask("go infinite", word="info")

    def broken(line: str) -> None:
        raise BrokenPipeError

    gui.engine._write = broken  # pyright: ignore
    thinking = gui.engine._thinking  # pyright: ignore
    assert thinking
    thinking.thread.join(10)  # by itself, at the next line that it wants to write
    assert not thinking.thread.is_alive()
    gui.send("isready")
    gui.thread.join(5)
    assert not gui.thread.is_alive()
    assert gui.fault is None
