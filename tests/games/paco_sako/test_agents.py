"""The greedy player of Paco Ŝako, its advice, and the terminal in which a turn is several actions."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest

import plyground as pg
from conftest import finish_compiling
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.cli import play, terminal
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako.agents import advise
from plyground.games.rng import seeds


def turn_of_greedy(position: pg.Position, seed: int = 0) -> pg.Position:
    """Let greedy play a whole turn."""
    agent, side, rngs = make("greedy", position.game), position.to_move, seeds(seed, 1)
    while position.to_move == side and not position.over:
        position = position.play(int(agent.act(position.states.copy(), rngs)[0]))
    return position


def test_greedy_beats_random_in_95_of_100_games(paco_sako: pg.Game) -> None:
    match = play_match(paco_sako, make("greedy", paco_sako), make("random", paco_sako), 100, seed=0)
    assert match.wins >= 95


@pytest.mark.parametrize(
    "text",
    [
        "5rk1/ppp2pep/8/1B1ah2D/4f1b1/2N3SP/PPP2DP1/5L1K w 0 - - -",  # 15 actions
        "4e3/3P1e2/3k4/8/8/8/8/8 w 0 - - -",  # only by promoting to a knight within the chain
        "rn2k1nr/pppppppp/4E2q/8/2E5/8/PP1PKPPP/RNBQ1BNR b 0 ah - -",  # one may go round and round
    ],
)
def test_greedy_finds_the_chain_that_unites_with_the_king(paco_sako: pg.Game, text: str) -> None:
    position = turn_of_greedy(paco_sako.position(text))
    assert position.over
    assert position.reason == "Paco Ŝako"


def test_greedy_leaves_its_king_out_of_sako_and_then_prefers_unions(paco_sako: pg.Game) -> None:
    rng = np.random.default_rng(8)
    compared = 0
    for game in range(12):
        position = paco_sako.start()
        while not position.over and compared < 100:
            if rng.random() < 0.2 and position.state["required"] == 0 and not analysis.chains(position).found:
                worths = [worth(position, chain) for chain in analysis.turns(position).found]
                after = turn_of_greedy(position, seed=game)
                assert safe_and_new(position, after) == max(worths)
                compared += 1
            position = position.play(rng.choice(position.names()))
    assert compared == 100


def worth(position: pg.Position, chain: analysis.Chain) -> tuple[bool, bool]:
    after = position
    for name in chain.actions:
        after = after.play(name)
    return safe_and_new(position, after)


def safe_and_new(before: pg.Position, after: pg.Position) -> tuple[bool, bool]:
    """Whether a turn keeps the own king out of Ŝako, and whether it makes a union."""
    unions = [
        np.bitwise_and(*np.bitwise_or.reduce(p.state["planes"], axis=1)).item().bit_count() for p in (before, after)
    ]
    return not analysis.in_sako(after, before.to_move), unions[1] > unions[0]


def test_advice(paco_sako: pg.Game) -> None:
    assert advise(paco_sako.position("8/5c2/8/5k2/2B5/8/8/8 w 0 - - -")) == "Paco Ŝako: Bc4>Rf7xKf5"
    forced = paco_sako.position("r2q2k1/ppp1n2p/4c2e/3f1C2/1b1o1p1P/2S1P3/PPP2PP1/2KR1B2 w 0 - - -")
    assert advise(forced) == "Paco Ŝako in two turns: Rd1>Nd4>Re6>g6"
    assert advise(paco_sako.position("4k3/8/8/8/8/8/8/4K2R b 0 - - -")) == ""
    assert advise(paco_sako.position("4k3/8/8/8/8/8/8/4R2K b 0 - - -")) == "your king is in Ŝako"


# ---- the terminal ----


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[pg.Position, str], str]:
    """What a person sees who types these words, prompts included."""

    def run(position: pg.Position, words: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(words.split())))
        monkeypatch.setattr(terminal.console, "_width", 200)
        monkeypatch.setattr(play, "PATIENCE", 600.0)  # for a compiler on a busy machine
        session = pg.Session(position, None, "random", position.to_move, seed=1)
        play.play(session, lambda: make("random", position.game))
        finish_compiling()
        return capsys.readouterr().out

    return run


def test_a_person_lifts_places_and_takes_back(paco_sako: pg.Game, typed: Callable[[pg.Position, str], str]) -> None:
    chain = paco_sako.position("4k3/8/8/8/3c4/8/8/B3K3 w 0 - - -")
    shown = typed(chain, "a1 quit")
    assert "lift>" in shown
    assert "place>" in shown
    assert "White: place · ♗ from a1 in the hand" in shown
    assert "4   ·    ·    ·  * ♖♟   ·    ·    ·    ·" in shown  # it may take over the union


def test_undo_takes_back_the_whole_unfinished_turn(
    paco_sako: pg.Game, typed: Callable[[pg.Position, str], str]
) -> None:
    start = paco_sako.position("4k3/8/8/8/3c4/8/8/B3K3 w 0 - - -")
    pictures = typed(start, "a1 d4 undo quit").split("lift>")
    assert len(pictures) == 3  # before the turn, and again after taking it back
    assert "♖ from d4 in the hand" in pictures[1]
    assert pictures[0].splitlines()[-9:] == pictures[1].splitlines()[-9:]


def test_hint_and_mistakes(paco_sako: pg.Game, typed: Callable[[pg.Position, str], str]) -> None:
    start = paco_sako.position("8/5c2/8/5k2/2B5/8/8/8 w 0 - - -")
    shown = typed(start, "hint e5 c4 f7 f5")
    assert "Paco Ŝako: Bc4>Rf7xKf5. minimax:time=0.5 would play Bc4" in shown
    assert "'e5' is not legal here; lift: Bc4, RPf7; `moves` lists whole turns" in shown
    assert "8/5c2/8" not in shown, "the board is there for the eye"
    assert "You win (Paco Ŝako)!" in shown
