"""A position is a value: playing makes another one, equal ones are interchangeable, errors change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import TINY


def test_playing_leaves_the_position_as_it_was(game: pg.Game) -> None:
    start = game.start(seed=4)
    bytes_before, rng_before = start.states.tobytes(), start.rngs.copy()
    after = [start.play(action) for action in start.legal()]
    assert all(position != start for position in after)
    assert start.states.tobytes() == bytes_before
    assert np.array_equal(start.rngs, rng_before)
    assert start.play(start.legal()[0]) == after[0]


def test_a_position_keeps_its_own_copy_of_the_states(connect_four: pg.Game) -> None:
    states = connect_four.position("44").states.copy()
    position = pg.Position(connect_four, states)
    states["ply"] = 9
    assert position == connect_four.position("44")


@pytest.mark.parametrize("name", ["connect_four", "Connect4"])
def test_the_game_of_a_position_may_be_its_name(connect_four: pg.Game, name: str) -> None:
    there = connect_four.position("44")
    assert pg.Position(name, there.states) == there
    assert pg.Position(name, there.states).names() == there.names()
    assert pg.Position.start(name) == connect_four.start()
    with pytest.raises(pg.UnknownName, match="no game 'nothing'"):
        pg.Position("nothing", there.states)


def test_equal_positions_are_one_member_of_a_set(connect_four: pg.Game) -> None:
    positions = {connect_four.position(moves) for moves in ("4453", "5344", "44")}
    assert len(positions) == 2
    assert connect_four.position("44") != "44"
    chess = pg.load("chess")
    there_and_back = chess.start()
    for move in ("Nf3", "Nf6", "Ng1", "Ng8"):
        there_and_back = there_and_back.play(move)
    other_clocks = chess.position(there_and_back.text)
    assert there_and_back == other_clocks  # it has occurred twice, the one that was read once
    assert hash(there_and_back) == hash(other_clocks)
    assert there_and_back.state["repetitions"] != other_clocks.state["repetitions"]


def test_a_position_plays_by_number_and_by_name(connect_four: pg.Game) -> None:
    position = connect_four.start().play(3).play("4").play(" 5 ")
    assert position == connect_four.position("445")
    assert position.to_move == 1
    assert str(position.outcome) == f"{position.outcome}" == "RUNNING"
    assert position.legal() == [0, 1, 2, 3, 4, 5, 6]
    assert position.names() == list("1234567")
    assert position.reason == ""


@pytest.mark.parametrize("move", ["8", "", "d4", 7, -1, "4 4", np.int64(9), "x" * 10_000])
def test_an_illegal_move_says_what_is_legal(connect_four: pg.Game, move: int | str) -> None:
    position = connect_four.position("444444")
    with pytest.raises(pg.IllegalAction, match="legal: 1, 2, 3, 5, 6, 7") as caught:
        position.play(move)
    assert len(str(caught.value)) < 400
    assert position == connect_four.position("444444")


def test_nothing_can_be_played_when_the_game_is_over(connect_four: pg.Game) -> None:
    with pytest.raises(pg.IllegalAction, match=r"the game is over \(FIRST_WINS\)"):
        connect_four.position("1212121").play("3")


def test_a_game_of_chance_repeats_with_its_seed() -> None:
    duel = pg.load(TINY[0])
    assert duel.start(seed=3) == duel.start(seed=3)
    assert len({duel.start(seed).text for seed in range(20)}) > 10
    one, other = duel.start(seed=3), duel.start(seed=3)
    while not one.over:
        move = one.names()[0]
        one = one.play(move)
        other = other.play(move)
        assert one == other


@pytest.mark.parametrize("move", [True, 2.0, None, [1]])
def test_what_is_neither_number_nor_name_is_refused(connect_four: pg.Game, move: object) -> None:
    with pytest.raises(pg.IllegalAction, match="a move is an action's number or its name"):
        connect_four.start().play(move)  # type: ignore[arg-type]
    assert connect_four.start().play(np.int32(3)).text.endswith("...x...")  # type: ignore[arg-type]


def test_a_refusal_does_not_tell_what_is_hidden() -> None:
    position = pg.load(TINY[0]).start(seed=1)
    with pytest.raises(pg.IllegalAction) as caught:
        position.play("card9")
    assert position.text not in str(caught.value)
    assert "legal: card" in str(caught.value)


def test_an_agent_is_asked_by_its_spec(connect_four: pg.Game) -> None:
    p = connect_four.position("4453")
    assert p.ask("greedy") == p.ask(pg.agent("greedy", "connect_four")) == p.ask(pg.agent("greedy", connect_four))


def test_an_agent_has_no_move_when_the_game_is_over(connect_four: pg.Game) -> None:
    for spec in ("greedy", "random"):
        with pytest.raises(pg.InvalidValue, match=r"^the game is over \(FIRST_WINS\): no agent has a move in "):
            connect_four.position("1212121").ask(spec)


def test_what_is_no_agent_of_this_game_is_not_asked(connect_four: pg.Game) -> None:
    other = pg.load(TINY[1]).start()
    for ask in (other.ask, other.analyse):
        with pytest.raises(pg.InvalidValue, match=r"^this agent plays connect_four, not "):
            ask(pg.agent("greedy", connect_four))
        with pytest.raises(pg.InvalidValue, match=r"^an agent is a spec such as .*, not None$"):
            ask(None)


@pytest.mark.parametrize("action", ["4", 99, -1, None, True])
def test_only_actions_have_names(connect_four: pg.Game, action: Any) -> None:
    for write in (connect_four.start().name, connect_four.start().notation):
        with pytest.raises(pg.InvalidValue, match=rf"^connect_four has actions 0 to 6, not {action!r}$"):
            write(action)


def test_a_depth_is_a_number(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match="perft's depth is 0 to 64, not '3'"):
        connect_four.start().perft("3")  # pyright: ignore
    with pytest.raises(pg.InvalidValue, match="divide's depth is at least 1, not '3'"):
        connect_four.start().divide("3")  # pyright: ignore


def test_an_evaluation_is_for_the_side_to_move(connect_four: pg.Game) -> None:
    p = connect_four.position("4152")  # the first side has the centre
    assert p.evaluate() > 0 > p.play("7").evaluate()
    with pytest.raises(pg.InvalidValue, match="sequence has no `evaluate`"):
        pg.load("sequence").start().evaluate()


# ---- what agents think ----


@pytest.mark.compiled
@pytest.mark.parametrize("spec", ["solver", "minimax:depth=3", "minimax:nodes=500", "search:sims=50", "level:1"])
def test_agents_tell_what_they_think_of_each_move(connect_four: pg.Game, spec: str) -> None:
    position = connect_four.position("121212")
    found = position.analyse(spec)
    assert sorted(move.action for move in found.moves) == position.legal()
    assert (found.moves[0].name, found.moves[0].value) == ("1", 1.0), "it wins at once"
    assert sum(move.prior for move in found.moves) == pytest.approx(1.0)
    assert all(move.value is None or -1.0 <= move.value <= 1.0 for move in found.moves)


@pytest.mark.compiled
def test_proven_results_have_their_distance(connect_four: pg.Game) -> None:
    position = connect_four.position("112233")
    best = position.analyse("minimax:depth=3").moves[0]
    assert (best.name, best.proven, best.plies, best.distance) == ("4", "win", 1, 1)
    best = position.analyse("minimax:nodes=500").moves[0]
    assert (best.name, best.proven, best.plies, best.distance) == ("4", "win", None, 1)
    best = position.analyse("search:sims=50").moves[0]
    assert (best.name, best.proven, best.plies, best.distance) == ("4", "win", 1, 1)
    best = position.analyse("solver").moves[0]
    assert (best.name, best.words) == ("4", "wins in 1 move")


@pytest.mark.compiled
@pytest.mark.parametrize("spec", ["search:sims=20000", "minimax:nodes=20000"])
def test_distances_count_the_moves_of_the_side_that_wins(spec: str) -> None:
    """As in "mate in 2", whoever finds it; a whole turn of Paco Ŝako is one move."""
    chess = pg.load("chess")
    best = chess.position("7k/R7/8/8/8/8/8/1R4K1 w - - 0 1").analyse(spec).moves[0]
    assert (best.name, best.proven, best.distance) == ("b1b8", "win", 1)
    best = chess.position("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1").analyse(spec).moves[0]
    assert (best.proven, best.distance) == ("win", 2)
    lost = chess.position("7k/R7/8/8/8/8/8/1R4K1 b - - 0 1").analyse(spec).moves[0]
    assert (lost.proven, lost.distance) == ("loss", 1)
    union = pg.load("paco_sako").position("4k3/8/8/8/8/8/4R3/4K3 w 0 - - -").analyse(spec).moves[0]
    assert (union.proven, union.distance) == ("win", 1)


@pytest.mark.compiled
def test_a_scripted_agent_tells_its_move_or_its_scores(connect_four: pg.Game) -> None:
    moves = connect_four.position("4").analyse("greedy").moves
    assert (moves[0].name, moves[0].prior, moves[0].value) == ("4", 1.0, None)
    found = pg.load("sequence").start(3).analyse("window")
    assert found.moves[0].value == max(move.value for move in found.moves)
    assert found.position == pg.load("sequence").start(3).view, "as the seat may see it"


def test_a_line_is_written_turn_by_turn_as_people_write_it() -> None:
    assert pg.load("chess").start().written(["g1f3", "e7e5"]) == ["Nf3", "e5"]
    assert pg.load("chess").start().written(["f2f3", "e7e5", "g2g4", "d8h4"]) == ["f3", "e5", "g4", "Qh4#"]
    paco = pg.load("paco_sako").start()
    assert paco.written(["Le2", "Pe4", "Le7", "Pe5", "Ld2"]) == ["e2>e4", "e7>e5"]
    assert paco.written(["Le2"]) == ["e2 ..."]
    assert paco.play("Le2").written(["Pe4"]) == ["e4"]
    assert pg.load("connect_four").start().written(["4", "4"]) == ["4", "4"]


def test_an_agent_without_an_opinion_says_so(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match="random does not tell what it thinks of moves; ask a search"):
        connect_four.start().analyse("random")
    with pytest.raises(pg.InvalidValue, match="an analysis needs a running game"):
        connect_four.position("1212121").analyse("greedy")
