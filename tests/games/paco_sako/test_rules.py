"""Paco Ŝako: what the original engine answered, a naive twin, and the searches."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import JIT, TESTS
from plyground.checks import laws
from plyground.games.paco_sako import analysis, rules
from plyground.games.paco_sako import text as texts
from plyground.games.paco_sako.text import reason
from torture.games import Comparison

REQUIRED = ("Lift", "Place", "PromoteThenLift", "PromoteThenPlace", "PromoteThenFinish")
SHORT = dict(zip(("L", "P", "pL", "pP", "pF"), REQUIRED, strict=True))
DATA = TESTS / "data" / "paco_sako"


def lines(path: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [json.loads(line) for line in text.splitlines()]


def action_of(name: str) -> int:
    return 128 + "RNBQ".index(name[1]) if name[0] == "=" else texts.SQUARES.index(name[1:]) + 64 * (name[0] == "P")


def result(state: np.void) -> str:
    """The engine's word for the state's outcome; a player who cannot act has lost here, and plays on there."""
    wins = {pg.Outcome.FIRST_WINS: "PacoVictory(White)", pg.Outcome.SECOND_WINS: "PacoVictory(Black)"}
    return {
        "": "Running",
        "no legal action": "Running",
        "repetition": "RepetitionDraw",
        "no progress": "NoProgressDraw",
    }.get(texts.reason(state), wins.get(pg.Outcome(int(state["outcome"])), ""))


def set_up(entry: dict[str, Any]) -> pg.Position:
    """Play what an entry of the data plays: `start` (`start0`: repetitions never end the game) or a FEN; actions."""
    start, _, actions = entry["in"].partition(";")
    game = pg.load("paco_sako", repetitions=0 if start == "start0" else 3)
    position = game.position("startpos" if start.startswith("start") else start)
    names = actions.split()
    if "err" in entry:
        assert entry["err"] == f"ILLEGAL {names.pop()}"
        with pytest.raises(pg.IllegalAction):
            set_up({"in": f"{start}; {' '.join(names)}"}).play(entry["err"].split()[1])
    for name in names:
        position = position.play(name)
    return position


def agrees(entry: dict[str, Any]) -> None:
    """Everything that an entry says about a position is what we say."""
    position = set_up(entry)
    state, turn = position.state, analysis.count_turn(position)
    promoting = int(state["promoting"])
    found: dict[str, Any] = {
        "fen": texts.fen(state),
        "req": REQUIRED[state["required"]],
        "player": "wb"[position.to_move],
        "promo": texts.SQUARES[promoting] if promoting >= 0 else "-",
        "np": int(state["idle"]),
        "state": result(state),
        "legal": " ".join(position.names()),
        "turn_ends": turn.ends,
        "wins": turn.wins,
        "mids": turn.inner,
        "dead": turn.dead,
    }
    assert turn.complete
    if "sakoW" in entry:
        for side, letter in enumerate("WB"):
            ways = analysis.chains(position, side)
            assert ways.complete
            found[f"sako{letter}"] = analysis.in_sako(position, 1 - side)
            found[f"paco{letter}"] = sorted(len(chain) for chain in ways.found)
    assert {**entry, **found} == entry
    assert position.game.position(position.text) == position


CASES = lines(DATA / "cases.jsonl")


@pytest.mark.parametrize("part", range(8))
def test_the_cases_of_the_engine(part: int) -> None:
    entries = [
        entry
        for entry in CASES
        if not entry["in"].split(";")[0].strip().endswith(("BHbh - -", "CFcf - -", "DHdh - -", "AFaf - -"))
    ]
    assert len(entries) == 135
    for entry in entries[part :: 8 if JIT else 64]:
        agrees(entry)


def test_chess960_is_refused(paco_sako: pg.Game) -> None:
    with pytest.raises(pg.InvalidText, match="Chess960 is not played here"):
        paco_sako.position("brnbnqkr/pppppppp/8/8/8/8/PPPPPPPP/BRNBNQKR w 0 BHbh - -")


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["puzzles", "recorded_games"])
def test_puzzles_and_recorded_games(foreign_data: Path, name: str) -> None:
    for entry in lines(foreign_data / "paco_sako" / f"{name}.jsonl"):
        agrees(entry)


GAME_FILES = ["castling_boards", "en_passant_boards", "games_from_random_boards", "games_from_start"]


@pytest.mark.parametrize("name", GAME_FILES)
def test_complete_games(foreign_data: Path, paco_sako: pg.Game, name: str) -> None:
    replay_games(foreign_data, paco_sako, name, read_back=9)


@pytest.mark.slow
@pytest.mark.parametrize("name", GAME_FILES)
def test_every_text_of_the_complete_games_reads_back(foreign_data: Path, paco_sako: pg.Game, name: str) -> None:
    replay_games(foreign_data, paco_sako, name, read_back=1)


def replay_games(foreign_data: Path, paco_sako: pg.Game, name: str, read_back: int) -> None:
    """Text, required action, legal actions and result of every state; every so many texts are read back."""
    games = [entry["steps"] for entry in lines(foreign_data / "paco_sako" / f"{name}.jsonl.gz")]
    games = games if JIT else games[:: len(games) // 4]
    states = np.concatenate([paco_sako.position(steps[0][0]).states for steps in games])
    for time in range(max(map(len, games))):
        rows = [row for row, steps in enumerate(games) if len(steps) > time]
        now = states[rows]
        masks = paco_sako.legal_mask(now)
        for place, row in enumerate(rows):
            state, mask = now[place], masks[place]
            legal = " ".join(texts.action_name(state, int(action)) for action in np.flatnonzero(mask))
            expected = [games[row][time][0], SHORT[games[row][time][1]], *games[row][time][2:4]]
            assert [texts.fen(state), REQUIRED[state["required"]], legal, result(state)] == expected
            if (row + time) % read_back == 0:
                position = pg.Position(paco_sako, now[place : place + 1])
                assert paco_sako.position(position.text) == position
        rows = [row for row in rows if games[row][time][4]]
        actions = np.array([action_of(games[row][time][4]) for row in rows], np.int32)
        now = states[rows]
        paco_sako.kernels().play_all(now, actions, np.zeros(len(rows), np.uint64), paco_sako.work())
        states[rows] = now


def test_the_engines_indices() -> None:
    from plyground.games.paco_sako.encoders import encoder_name

    for entry in lines(DATA / "repr.jsonl"):
        position = set_up(entry)
        assert [rules.engine_number(action, position.to_move) for action in position.legal()] == entry["legal_idx"]
        for bits in (0, 1, 6, 7):
            assert (
                position.encode(encoder_name("index", *(bool(bits & bit) for bit in (1, 2, 4)))).tolist()
                == entry[f"idx{bits}"]
            )


# ---- the naive twin ----


@pytest.mark.parametrize("word", ["paco_sako", "paco_sako:castling=clean", "paco_sako:repetitions=2"])
def test_random_games_agree_with_the_naive_twin(word: str) -> None:
    comparison = Comparison(word, 4, 40 if JIT else 1)
    assert comparison.play(lambda: comparison.steps >= (400 if JIT else 40)) == []


def test_the_texts_of_a_random_game_read_back(paco_sako: pg.Game) -> None:
    position, rng = paco_sako.start(), np.random.default_rng(4)
    while not position.over and (JIT or position.state["idle"] < 12):
        position = position.play(rng.choice(position.names()))
        assert paco_sako.position(position.text, strict=True) == position


# ---- rules that need a word ----


def test_who_cannot_act_has_lost(paco_sako: pg.Game) -> None:
    blocked = paco_sako.position("8/8/8/8/8/p7/P6k/8 w 0 - - -")
    assert (blocked.outcome, blocked.reason, blocked.legal()) == (pg.Outcome.SECOND_WINS, "no legal action", [])
    chained = paco_sako.position("4k3/8/8/p7/a7/8/1N6/4K3 w 0 - - -").play("Lb2").play("Pa4")
    assert (chained.outcome, chained.to_move) == (pg.Outcome.SECOND_WINS, 0)
    assert paco_sako.position(chained.text) == chained


def test_a_released_rook_keeps_its_right_by_the_engines_rule_only(paco_sako: pg.Game) -> None:
    clean = pg.load("paco_sako", castling="clean")
    for game, text, places in ((paco_sako, "H", 6), (clean, "-", 5)):
        position = game.position("4k3/2p5/8/8/4B3/8/8/4K2I w 0 H - -")
        for name in ["Le4", "Ph1", "Ph5", "Lc7", "Pc6", "Le1"]:
            position = position.play(name)
        assert position.text.split()[3] == text
        assert len(position.legal()) == places
        assert ("Pg1" in position.names()) == (game is paco_sako)


def test_the_repetition_limit_is_a_setting() -> None:
    for limit, plies in ((2, 10), (3, 18)):
        position = pg.load("paco_sako", repetitions=limit).start()
        shuffle = ["Lg1", "Pf3", "Lg8", "Pf6", "Lf3", "Pg1", "Lf6", "Pg8"] * 3
        for name in shuffle[:plies]:
            assert not position.over
            position = position.play(name)
        assert (position.outcome, position.reason) == (pg.Outcome.DRAW, "repetition")
        assert position.game.position(position.text) == position
    assert not pg.load("paco_sako", repetitions=0).position("startpos").over


def test_engine_numbers_are_from_1_and_mirrored_for_black(paco_sako: pg.Game) -> None:
    assert [rules.engine_number(action) for action in paco_sako.start().legal()] == [2, 7, *range(9, 17)]
    black = paco_sako.start().play("Le2").play("Pe4")
    assert [rules.engine_number(black.action(name), 1) for name in ("Lg8", "Le7")] == [7, 13]
    assert [black.name(rules.from_engine_number(number, 1)) for number in (3, 103)] == ["Lc8", "Pg4"]
    for side in (0, 1):
        assert [rules.from_engine_number(rules.engine_number(a, side), side) for a in range(132)] == list(range(132))


def test_every_finished_game_has_a_reason(paco_sako: pg.Game) -> None:
    sample = laws.sample(paco_sako, 60 if JIT else 2, seed=3)
    over = sample.after[sample.after["outcome"] != 0]
    assert {reason(state) for state in over} <= {"Paco Ŝako", "no legal action", "repetition", "no progress"}
    assert all(reason(state) for state in over)
