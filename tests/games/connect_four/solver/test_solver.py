"""The perfect player: known answers, other people's test sets, another solver, and a naive twin."""

from __future__ import annotations

import json
import lzma
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from naive.connect_four import Board
from naive.solver import move_score
from plyground.agents.registry import make
from plyground.arena.match import openings
from plyground.errors import InvalidValue
from plyground.games.connect_four import text
from plyground.games.connect_four.solver.book import Book, shipped
from plyground.games.connect_four.solver.solver import NO_MOVE, OutOfTime, Solver, in_words, perfect
from plyground.games.rng import below, draw, seeds

pytestmark = pytest.mark.compiled
SETS = ("Test_L3_R1", "Test_L2_R1", "Test_L1_R1")


@pytest.fixture(scope="module")
def searching() -> Solver:
    """The solver without a book."""
    return Solver(threads=1)


def states_of(game: pg.Game, texts: list[str]) -> np.ndarray:
    return np.concatenate([game.position(text).states for text in texts])


# ---- known answers ----

KNOWN = {
    "": [-2, -1, 0, 1, 0, -1, -2],
    "4": [-4, -2, -2, -1, -2, -2, -4],
    "44444": [-1, -1, -1, -1, -1, -1, -1],
}


@pytest.mark.parametrize("columns", KNOWN)
def test_known_move_scores(connect_four: pg.Game, columns: str) -> None:
    assert perfect().move_scores(connect_four.position(columns).states)[0].tolist() == KNOWN[columns]


def test_known_scores(connect_four: pg.Game) -> None:
    states = states_of(connect_four, ["startpos", "4455", "44455554221", "44444"])
    assert perfect().scores(states).tolist() == [1, 18, -15, -1]


def test_finished_games_have_a_score_and_no_moves(connect_four: pg.Game) -> None:
    states = states_of(connect_four, ["1212121", "12233434464"])
    assert perfect().scores(states).tolist() == [4 - 22, 6 - 22]
    assert (perfect().move_scores(states) == NO_MOVE).all()
    assert not perfect().best_moves(states).any()


def test_words(connect_four: pg.Game) -> None:
    position = connect_four.position("445566")
    scores = perfect().move_scores(position.states)[0]
    assert [in_words(int(score), position) for score in scores][2] == "wins in 1 move"
    lost = connect_four.position("44556")  # three in a row, both ends open
    assert {in_words(int(score), lost) for score in perfect().move_scores(lost.states)[0]} == {"loses in 1 move"}
    assert in_words(0, position) == "draws"


def test_a_full_column_has_no_score(connect_four: pg.Game) -> None:
    scores = perfect().move_scores(connect_four.position("444444").states)[0]
    assert scores[3] == NO_MOVE
    assert (np.delete(scores, 3) != NO_MOVE).all()


# ---- twins and oracles ----


def test_late_positions_agree_with_the_naive_twin(connect_four: pg.Game, searching: Solver) -> None:
    rng = np.random.default_rng(3)
    compared = 0
    while compared < 30:
        board, text = Board(), ""
        while board.outcome == "RUNNING" and board.moves < 35:
            column = int(rng.choice(board.legal()))
            board.play(column)
            text += str(column + 1)
        if board.outcome == "RUNNING":
            scores = searching.move_scores(connect_four.position(text).states)[0]
            expected = [move_score(board, c) if c in board.legal() else NO_MOVE for c in range(7)]
            assert scores.tolist() == expected, text
            compared += 1


def test_500_random_positions_agree_with_bitbully(connect_four: pg.Game) -> None:
    bitbully = pytest.importorskip("bitbully", reason="bitbully, another solver, is not installed")
    oracle = bitbully.bitbully_core.BitBullyCore()
    ours, compared = Solver(shipped()), 0
    for ply in range(15, 40):
        states = random_positions(connect_four, 20, ply)
        scores = ours.move_scores(states).astype(int)
        for row in range(len(states)):
            columns = text.columns(states[row]) or ""
            board = bitbully.bitbully_core.BoardCore()
            assert all(board.play(int(column) - 1) for column in columns)
            theirs = oracle.scoreMoves(board)
            expected = [score if score > -1000 else NO_MOVE for score in theirs]
            assert scores[row].tolist() == expected, columns
            compared += 1
    assert compared == 500


def random_positions(game: pg.Game, n: int, ply: int) -> np.ndarray:
    """[n] random positions of a ply, out of many games: late ones are rare."""
    batch, found = pg.Batch(game, 4096, seed=ply), np.zeros(0, game.rules.STATE)
    while len(found) < n:
        found = np.concatenate([found, batch.states[batch.states["ply"] == ply]])
        batch.step(batch.random_actions())
    return found[:n]


def load(foreign_data: Path, name: str) -> tuple[list[str], list[int]]:
    rows = [line.split() for line in (foreign_data / "connect_four" / name).read_text().splitlines()]
    return [row[0] for row in rows], [int(row[1]) for row in rows]


@pytest.mark.parametrize("name", SETS)
def test_a_sample_of_the_shared_sets(connect_four: pg.Game, foreign_data: Path, name: str, searching: Solver) -> None:
    texts, scores = load(foreign_data, name)
    assert searching.scores(states_of(connect_four, texts[::10])).tolist() == scores[::10]


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_all_of_the_shared_sets_move_by_move(connect_four: pg.Game, foreign_data: Path, name: str) -> None:
    solver, (texts, scores) = Solver(), load(foreign_data, name)
    states = states_of(connect_four, texts)
    assert solver.scores(states).tolist() == scores
    rows = (foreign_data / "connect_four" / f"{name}.moves.txt").read_text().splitlines()
    expected = [[NO_MOVE if s == "43" else -int(s) for s in row.split()[1].split(",")] for row in rows]
    assert perfect().move_scores(states).tolist() == expected  # a bad early move needs the book


def eight_plies(foreign_data: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[67557] x's stones, o's and the scores of all quiet positions of eight plies."""
    with lzma.open(foreign_data / "connect_four" / "scores_8ply.txt.xz", "rt") as file:
        rows = [line.split() for line in file]
    cells = np.array([list(row[0]) for row in rows])  # [N, 42]
    bits = np.array([1 << (7 * (cell // 6) + cell % 6) for cell in range(42)], np.uint64)
    x, o = ((cells == stone).astype(np.uint64) @ bits for stone in "xo")
    return x, o, np.array([int(row[2]) for row in rows])


def test_a_sample_of_the_eight_ply_scores(foreign_data: Path) -> None:
    x, o, scores = eight_plies(foreign_data)
    assert len(x) == 67557
    assert perfect().solve(x[::20], o[::20]).tolist() == scores[::20].tolist()


@pytest.mark.slow
def test_all_eight_ply_scores_and_some_without_the_book(foreign_data: Path) -> None:
    x, o, scores = eight_plies(foreign_data)
    assert (perfect().solve(x, o) == scores).all()
    assert (Solver().solve(x[::1500], o[::1500]) == scores[::1500]).all()


def test_a_wrong_book_is_noticed(connect_four: pg.Game) -> None:
    """The test above can fail: the solver does read the book it is given."""
    book = shipped()
    liar = Solver(Book(book.ply, book.keys, (book.scores // 2).astype(np.int8)))
    assert liar.move_scores(connect_four.position("").states)[0].tolist() != KNOWN[""]


# ---- time and threads ----


def test_a_time_limit_is_kept(connect_four: pg.Game) -> None:
    begun = time.monotonic()
    with pytest.raises(OutOfTime, match=r"0.2 s were not enough: 1 of 1"):
        Solver(threads=1).scores(connect_four.start().states, seconds=0.2)
    assert time.monotonic() - begun < 5


def test_threads_change_nothing(connect_four: pg.Game) -> None:
    states = openings(connect_four, 60, 4, 16)[0]
    one, three = Solver(threads=1), Solver(threads=3)
    assert (one.move_scores(states) == three.move_scores(states)).all()
    assert one.nodes > 0


def test_best_moves_are_those_with_the_best_score(connect_four: pg.Game) -> None:
    states = openings(connect_four, 60, 5, 18)[0]
    scores = perfect().move_scores(states).astype(int)
    scores[scores == NO_MOVE] = -NO_MOVE
    assert (perfect().best_moves(states) == (scores == scores.max(axis=1, keepdims=True))).all()


def test_other_games_are_refused() -> None:
    with pytest.raises(InvalidValue, match="Connect Four alone"):
        perfect().scores(np.zeros(1, [("to_move", np.int8)]))


# ---- the agent ----


def test_the_agent_plays_any_best_move(connect_four: pg.Game) -> None:
    agent = make("solver", connect_four)
    states = np.repeat(connect_four.position("44444").states, 200)  # all seven are equally good
    rngs = seeds(1, 200)
    played = agent.act(states, rngs.copy())
    assert set(played.tolist()) == set(range(7))
    assert (agent.act(states, rngs.copy()) == played).all()


def test_the_agent_wins_soon_and_loses_late(connect_four: pg.Game) -> None:
    agent = make("solver", connect_four)
    won, lost = connect_four.position("445566"), connect_four.position("4")
    assert int(agent.act(won.states, seeds(0, 1))[0]) in (2, 6)
    assert int(agent.act(lost.states, seeds(0, 1))[0]) == 3


def test_draw_is_below_without_the_compiler() -> None:
    rngs, twins = seeds(5, 50), seeds(5, 50)
    sizes = np.arange(1, 51)
    drawn = draw(rngs, sizes)
    assert drawn.tolist() == [int(below(twins[k : k + 1], int(sizes[k]))) for k in range(50)]
    assert (rngs == twins).all()


# ---- the command ----


def test_solve_prints_one_object(command: Any) -> None:
    code, out, _ = command("solve", "444444", "--json")
    assert code == 0
    answer = json.loads(out)
    assert sorted(answer["scores"]) == ["1", "2", "3", "5", "6", "7"], "column 4 is full"
    assert answer["score"] == max(answer["scores"].values())
    assert answer["best"] == [name for name, score in answer["scores"].items() if score == answer["score"]]
    assert "loses in 18 moves" in command("solve", "4453")[1]


def test_solve_refuses_what_it_cannot_solve(command: Any) -> None:
    for arguments in (["solve", "1212121"], ["solve", "x"], ["solve", "4", "--seconds", "-1"]):
        code, _, err = command(*arguments)
        assert code == 2
        assert err.startswith("plyground: ")
