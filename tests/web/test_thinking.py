"""Hints, analyses, reviews, policies and ladders as plain data."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import plyground as pg
from models.test_ntuple import network_of
from models.test_ntuple_explained import planted
from plyground.agents.network import NetworkAgent
from plyground.agents.ntuple import NTupleAgent
from plyground.backend.view import View
from plyground.models.network import NetworkModel
from plyground.networks import make_network
from plyground.report.analysis import PlyAnalysis
from plyground.web import messages, thinking
from plyground.web.messages import Opponent

pytestmark = [pytest.mark.compiled, pytest.mark.once]
FOUR = pg.load("connect_four")
CHESS = pg.load("chess")


def test_a_text_is_a_game_a_position_or_an_error_that_says_both() -> None:
    assert thinking.read_start(FOUR, "4453", 1) == thinking.Start("", [3, 3, 4, 2])
    two = '[Event "a"]\n\n1. e4 *\n\n[Event "b"]\n\n1. d4 d5 *\n'
    assert len(thinking.read_start(CHESS, two, 2).actions) == 2
    with pytest.raises(pg.Error, match="no number 3"):
        thinking.read_start(CHESS, two, 3)
    mate = "4k3/8/8/8/8/8/4q3/4K3 w - - 0 1"
    assert thinking.read_start(CHESS, mate, 1) == thinking.Start(mate, [])
    with pytest.raises(pg.Error, match=r"^'e4 e9' is neither a game of Chess \(.* 'e9' is not legal\) nor a position$"):
        thinking.read_start(CHESS, "e4\ne9", 1)
    with pytest.raises(pg.Error, match=r"^'4k3/8/8/8/8/8/8/8 w - - 0 1' is no position of Chess: White has 0 kings$"):
        thinking.read_start(CHESS, "4k3/8/8/8/8/8/8/8 w - - 0 1", 1)
    with pytest.raises(pg.Error, match=r"^it is a game of chess, not of connect_four$"):
        thinking.read_start(FOUR, two, 1)
    with pytest.raises(pg.Error, match="…' is neither a game of Connect Four") as found:
        thinking.read_start(FOUR, "1. e4 e5 2. Nf3 Nc6 " * 20, 1)
    assert str(found.value).endswith("(ply 1: 'e4' is not legal) nor a position")
    assert len(str(found.value)) <= 120
    dealt = thinking.read_start(pg.load("sequence"), pg.load("sequence").start(5).text, 1)
    assert dealt.text, "a deal is kept as it was"


def test_the_players_of_a_text_are_told() -> None:
    tags = '[White "Ada"]\n[Black "?"]\n\n1. e4 *\n'
    assert thinking.read_start(CHESS, tags, 1).players == ["Ada", ""]
    assert thinking.read_start(CHESS, tags.replace("Ada", "A" * 99), 1).players == ["A" * 39 + "…", ""]
    assert thinking.read_start(CHESS, "1. e4 *", 1).players == []


def test_a_pasted_text_does_not_name_the_code_that_is_run(tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text("from pathlib import Path\nPath(__file__).with_name('executed').touch()\n")
    for told in (evil, f"{evil}:length=5"):
        with pytest.raises(pg.Error, match="it is a game of"):
            thinking.read_start(FOUR, f"game: {told}\n\n4\n", 1)
    assert not (tmp_path / "executed").exists()


def test_a_hint_wins_where_it_can() -> None:
    found = thinking.advise(FOUR.position("112233"))
    assert found.action == 3


def test_an_analysis_names_lines_that_can_be_played() -> None:
    start = CHESS.position("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4")
    *_, last = thinking.analyse(start, "search:sims=300")
    assert last.done
    assert last.analysis.moves[0].name == "Qxf7#"
    assert (last.value, last.analysis.proven) == (1.0, "win")
    for move in last.analysis.moves:
        position = start
        for action in move.actions:
            position = position.play(action)
    assert last.clicks[last.analysis.moves[0].action] == ["h5", "f7"]


def test_alpha_beta_names_whole_turns_and_how_far_it_has_searched() -> None:
    start = pg.load("paco_sako").start()
    *_, last = thinking.analyse(start, "minimax:nodes=3000")
    assert last.effort.startswith("3,000 nodes")
    best = last.analysis.moves[0]
    assert (best.name, best.visits) == ("".join(best.line[:2]), 0)
    assert best.line[1][0] == ">"
    assert best.value is not None
    assert last.analysis.moves[-1].value is None


def test_values_are_for_the_first_side() -> None:
    lost = FOUR.position("41513")  # the second side is to move, the first has three in a row with both ends open
    *_, last = thinking.analyse(lost, "search:sims=200")
    assert last.analysis.side == FOUR.rules.SIDES[1]
    assert (last.value, last.analysis.value) == (1.0, -1.0)


def test_a_threat_is_what_the_other_side_would_win_by() -> None:
    threats = thinking.threats_in(CHESS.position("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 3 3"))
    assert next((each.name, each.text) for each in threats) == ("Qxf7#", "wins at once")
    assert thinking.threats_in(CHESS.start()) == []
    assert thinking.threats_in(pg.load("sequence").start()) == []


def test_in_check_there_are_no_threats_but_the_check() -> None:
    assert thinking.threats_in(CHESS.position("4k3/8/8/8/8/8/4q3/4K3 w - - 0 1")) == []


def test_a_review_finds_the_blunder_and_the_accuracy_falls() -> None:
    start = FOUR.start()
    actions = [int(each) - 1 for each in "4414141"]
    *_, last = thinking.review(start, "search:sims=200", actions)
    assert len(last.plies) == 7
    assert last.worst
    assert min(last.accuracy) < 100.0


def test_accuracy_is_a_hundred_where_nothing_was_lost() -> None:
    def ply(side: str, lost: float) -> PlyAnalysis:
        return PlyAnalysis(1, side, "a", "a", [], 0.0, None, lost, "", "", "")

    assert thinking.accuracy([ply("white", 0.0), ply("black", 2.0)], "white") == 100.0
    assert thinking.accuracy([ply("white", 0.0), ply("black", 2.0)], "black") < 1.0
    assert thinking.accuracy([], "white") == 100.0


def test_a_network_shares_its_policy_among_the_legal_moves() -> None:
    found = thinking.policy_of(pg.agent("trained", FOUR), FOUR.position("112233"))
    assert found.analysis is not None
    assert sum(move.prior for move in found.analysis.moves) == pytest.approx(1.0)
    assert max(found.analysis.moves, key=lambda move: move.prior).name == "4"
    assert found.clicks[3] == FOUR.position("112233").clicks(3)
    assert set(found.puzzles) == {"win_in_1", "block_in_1"}


@pytest.mark.parametrize("network", ["16", "16+value"])
def test_the_page_tells_what_the_network_tells(network: str) -> None:
    """Small outputs of a fresh policy are logits, not values: its head decides, not their size."""
    view = View(FOUR, "planes")
    agent = NetworkAgent(NetworkModel(view, make_network(network, view.shape, view.outputs)))
    position = FOUR.start()
    found, own = thinking.policy_of(agent, position), agent.analyse(position, np.zeros(1, np.uint64))
    assert found.value == own.value
    sent = json.loads(messages.encode(found))["analysis"]
    assert {**sent, "seconds": 0.0} == {**asdict(own), "seconds": 0.0}
    assert all((move.value is None) == network.endswith("value") for move in own.moves)


def test_what_tells_no_values_tells_its_choice_and_where_the_game_is_over_nothing() -> None:
    found = thinking.policy_of(pg.agent("random", FOUR), FOUR.start())
    assert found.analysis is not None
    assert (found.value, sorted(move.prior for move in found.analysis.moves)[-2:]) == (None, [0.0, 1.0])
    over = thinking.policy_of(pg.agent("random", FOUR), FOUR.position("1212121"))
    assert (over.value, over.analysis, over.clicks) == (None, None, {})


def test_a_network_of_tuples_tells_why_it_likes_a_move() -> None:
    agent = NTupleAgent(planted(FOUR, 2, 38, 1, 0.03))
    found = thinking.policy_of(agent, FOUR.position("4453"))
    assert found.analysis is not None
    assert found.why is not None
    assert [cell.name for cell in found.why.cells() if cell.marks] == ["d1"]
    assert found.why.status == found.analysis.moves[0].reasons[0].words
    assert sum(len(cell.items) for cell in found.why.cells()) == 5, "after the move"
    sent = json.loads(messages.encode(found))
    assert sent["analysis"]["moves"][0]["reasons"][0]["holds"] == "● disc"
    assert thinking.policy_of(pg.agent("random", FOUR), FOUR.start()).why is None


def test_a_network_of_tuples_shows_what_it_has_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    game = pg.load("sequence")
    monkeypatch.setattr(thinking, "ready_agent", lambda game, _: NTupleAgent(network_of(game)))
    first, second = thinking.learned_by(game, "patterns of a test")
    assert first.title.startswith("After a move of red, red to move")
    assert len(second.boards) == len(second.single) == thinking.PATTERNS
    assert all(any(cell.marks for cell in scene.cells()) for scene in second.boards)
    assert re.fullmatch(r"[\w ]+: \w+, adds [+-]\d\.\d{3}, met in [\d.]+%", second.single[0])
    assert json.loads(messages.encode(thinking.policy_of(pg.agent("random", FOUR), FOUR.start())))["learned"] == []
    monkeypatch.setattr(thinking, "ready_agent", lambda game, _: pg.agent("random", game))
    assert thinking.learned_by(FOUR, "patterns of another test") == []


def test_a_ladder_is_shown_after_each_match() -> None:
    first, last = thinking.climb(FOUR, {each: Opponent(each, each.title(), "") for each in ("random", "greedy")}, 10)
    assert (first.next, first.rungs, first.done) == ("Random against Greedy", [], False)
    assert (last.next, last.done) == ("", True)
    assert [rung.id for rung in last.rungs] == ["greedy", "random"]
    assert all(rung.low < rung.elo < rung.high for rung in last.rungs)
