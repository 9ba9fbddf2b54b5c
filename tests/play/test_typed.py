"""Typed moves: what a text means, what is asked back, what is refused."""

from __future__ import annotations

import pytest

import plyground as pg
from plyground.play import typed


def refusal(position: pg.Position, text: str) -> str:
    """The question or the refusal that a text gets."""
    with pytest.raises(pg.IllegalAction) as error:
        typed.read(position, text)
    return str(error.value)


def test_a_part_of_a_name_is_enough_where_it_has_one_meaning() -> None:
    position = pg.load("sequence").start(3)  # hand: jh 2h tc 6s ts 8h; face up: 4h kc 5s 5c ts
    for text in ("place ts j2 take 5c", "ts j2 5c", "TS J2 5C", "5c j2 ts"):
        (action,) = typed.read(position, text)
        assert position.name(action) == "place ts j2 take 5c"
    assert [position.name(a) for a in typed.read(position, "ts j2 ts")] == ["place ts j2 take ts"]


def test_a_part_that_fits_several_moves_is_asked_about() -> None:
    position = pg.load("sequence").start(3)
    assert refusal(position, "ts j2") == "ts j2: take 4h, kc, 5s, 5c or ts?"
    assert refusal(position, "ts") == "ts: j2 or b6?"
    assert refusal(position, "qs j3").startswith("'qs j3' is not legal here")
    assert refusal(pg.load("chess").start(), "b1") == "b1: Na3 or Nc3?"


@pytest.mark.parametrize("text", ["e2e4", "e2>e4", "e2-e4", "Le2 Pe4", "e2 e4"])
def test_a_whole_turn_of_paco_sako_is_read_and_the_position_stays(text: str) -> None:
    position = pg.load("paco_sako").start()
    lift, place = typed.read(position, text)
    assert position == pg.load("paco_sako").start()
    assert position.name(lift) == "Le2"
    assert position.play(lift).name(place) == "Pe4"


def test_a_text_that_is_no_whole_turn_is_refused() -> None:
    for text in ("e2e5", "e2e4e5", "Le2 Le2", "e2 nonsense"):
        assert "is not legal here" in refusal(pg.load("paco_sako").start(), text)


def test_a_refusal_lists_few_moves_and_quotes_no_state() -> None:
    assert refusal(pg.load("connect_four").position("4453"), "9") == (
        "'9' is not legal here; legal: 1, 2, 3, 4, 5, 6, 7"
    )
    assert refusal(pg.load("chess").start(), "9") == "'9' is not legal here; `moves` lists the legal moves"


def test_where_whole_turns_are_many_a_refusal_lists_the_first_actions_and_these_are_read(paco_sako: pg.Game) -> None:
    start = paco_sako.start()
    squares = "a2, b2, c2, d2, e2, f2, g2, h2"
    assert refusal(start, "e5") == f"'e5' is not legal here; lift: Nb1, Ng1, {squares}; `moves` lists whole turns"
    assert [start.name(action) for action in typed.read(start, "Nb1")] == ["Lb1"]
    assert "is not legal here" in refusal(start, "Bb1"), "no bishop stands there"
    pair = paco_sako.position("8/5c2/8/5k2/2B5/8/8/8 w 0 - - -")
    assert [pair.name(action) for action in typed.read(pair, "RPf7")] == ["Lf7"]
    assert [pair.play("Lc4").name(action) for action in typed.read(pair.play("Lc4"), "Bd5")] == ["Pd5"]


def test_moves_of_chess_are_read_in_both_notations() -> None:
    position = pg.load("chess").start()
    for text in ("Nf3", "nf3", "g1f3", "Ng1-f3"):
        assert position.name(typed.read(position, text)[0]) == "g1f3"


def test_moves_of_chess_are_listed_with_their_signs() -> None:
    position = pg.load("chess").position("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1")
    assert {"Ra8+", "Rh2+", "Ra7", "Rb8+"} <= {*typed.legal_turns(position)}
    assert "Ra8#" in typed.legal_turns(position.play("Rb7").play("Kg8"))


def test_a_card_that_is_not_held_and_a_square_that_is_not_its_own_are_named() -> None:
    position = pg.load("sequence").start(3)
    card, cell = position.names()[0].split()[1:3]
    missing = next(card for card in ("2h", "3h", "4h", "5h", "6h", "7h") if card not in " ".join(position.names()))
    end = "; `moves` lists the legal moves"
    assert refusal(position, missing) == f"'{missing}' is not legal here: no legal move has {missing}{end}"
    assert refusal(position, f"{card} a1") == f"'{card} a1' is not legal here: no legal move has a1{end}"
    assert "no legal move has zz" in refusal(position, f"{card} {cell} zz")


def test_moves_are_grouped() -> None:
    names = [f"place qs {cell} take {card}" for cell in ("j3", "b4") for card in ("6s", "qd")]
    names += ["place 2h a1 take 6s", "place 2h a1 take qd", "pass"]
    assert typed.grouped([name.split() for name in names]) == [
        "place qs j3, b4 take 6s, qd",
        "place 2h a1 take 6s, qd",
        "pass",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n", " \t "])
def test_blanks_are_no_move(text: str) -> None:
    position = pg.load("connect_four").start()
    with pytest.raises(pg.IllegalAction, match="is not legal here"):
        typed.read(position, text)


def test_an_incomplete_move_is_asked_about_and_not_played() -> None:
    chess = pg.load("chess").start()
    assert refusal(chess, "Nf") == "Nf: Nf3?"
    assert refusal(chess, "g1") == "g1: Nf3 or Nh3?"
    assert refusal(chess, "N") == "N: Na3, Nc3, Nf3 or Nh3?"
    assert refusal(chess, "n") == "'n' is not legal here; `moves` lists the legal moves"
    assert refusal(chess, "Q") == "'Q' is not legal here; `moves` lists the legal moves"


@pytest.mark.parametrize("text", ["1. Nf3", "1.Nf3", "12...Nf3", "1... Nf3"])
@pytest.mark.parametrize("word", ["chess", "paco_sako"])
def test_the_number_of_a_move_is_left_out(word: str, text: str) -> None:
    position = pg.load(word).start()
    assert typed.read(position, text) == typed.read(position, "Nf3")
    assert refusal(position, "1. Nf") == refusal(position, "Nf")
    assert "'1.' is not legal here" in refusal(position, "1.")


def test_in_paco_sako_too_a_piece_and_its_square_are_enough(paco_sako: pg.Game) -> None:
    start = paco_sako.start()
    for text in ("Nf3", "nf3", "N>f3"):
        assert [start.action("Lg1"), start.play("Lg1").action("Pf3")] == typed.read(start, text)
    assert refusal(start, "Nf") == "Nf: Ng1>f3?"
    assert refusal(start, "N") == "N: Nb1>a3, Nb1>c3, Ng1>f3 or Ng1>h3?"
    assert "is not legal here" in refusal(start, "Ne5")
    assert "is not legal here" in refusal(start, "Bf3")
    two = paco_sako.position("4k3/8/8/8/8/5N2/8/1N2K3 w 0 - - -")
    assert refusal(two, "Nd2") == "Nd2: Nb1>d2 or Nf3>d2?"
    chain = paco_sako.position("8/5c2/8/5k2/2B5/8/8/8 w 0 - - -")
    assert [chain.action("Lc4"), chain.play("Lc4").action("Pf7")] == typed.read(chain, "Bf7"), "the turn goes on"


@pytest.mark.parametrize(
    ("fen", "text", "names"),
    [
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w 0 AHah - -", "d4", ["Ld2", "Pd4"]),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w 0 AHah - -", "exd5", ["Le4", "Pd5"]),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w 0 AHah - -", "ed5", ["Le4", "Pd5"]),
        ("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w 0 AHah - -", "e4", ["Le4"]),
        ("4k3/8/8/8/8/2p5/1P1B4/4K3 w 0 - - -", "bxc3", ["Lb2", "Pc3"]),
        ("4k3/8/8/8/8/2p5/1P1B4/4K3 w 0 - - -", "Bxc3", ["Ld2", "Pc3"]),
        ("4k3/P7/8/8/8/8/8/4K3 w 0 - - -", "a8", ["La7", "Pa8"]),
        ("4k3/P7/8/8/8/8/8/4K3 w 0 - - -", "a8=R", ["La7", "Pa8", "=R"]),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQK2R w 0 AHah - -", "O-O", ["Le1", "Pg1"]),
    ],
)
def test_in_paco_sako_moves_of_chess_are_read(fen: str, text: str, names: list[str], paco_sako: pg.Game) -> None:
    position, found = paco_sako.position(fen), list[str]()
    for action in typed.read(position, text):
        found.append(position.name(action))
        position = position.play(action)
    assert found == names


def test_in_paco_sako_a_pawn_move_that_is_not_there_is_refused(paco_sako: pg.Game) -> None:
    position = paco_sako.position("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w 0 AHah - -")
    for text in ("d5", "cxd5", "exf5", "d4=Q"):
        assert "is not legal here" in refusal(position, text)
    assert "is not legal here" in refusal(position.play("Ld2"), "exd5"), "in the middle of a turn"


def test_a_turn_is_written_as_people_write_it() -> None:
    paco = pg.load("paco_sako").start()
    actions = typed.read(paco, "e2e4")
    assert typed.turn_text([paco, paco.play(actions[0])], actions) == "e2>e4"
    chess = pg.load("chess").start()
    assert typed.turn_text([chess], [chess.action("g1f3")]) == "Nf3"


def test_a_line_has_whole_turns_and_a_part_of_one_is_said_in_words(paco_sako: pg.Game) -> None:
    start = paco_sako.start()
    here, line = start, list[int]()
    for name in ("Le2", "Pe4", "Le7", "Pe5", "Ld2"):
        line.append(here.action(name))
        here = here.play(name)
    assert [turn.text for turn in typed.turns_of(start, line)] == ["e2>e4", "e7>e5"], "the last turn is cut off"
    assert [turn.text for turn in typed.turns_of(start, line[:1])] == ["lift e2 ..."]
    assert [turn.text for turn in typed.turns_of(start.play("Le2"), line[1:])] == ["place e4", "e7>e5"]
    (turn,) = typed.turns_of(start.play("Le2"), line[1:2])
    assert (turn.whole, turn.advice) == (False, "place e4")
    (turn,) = typed.turns_of(start, line[:2])
    assert (turn.whole, turn.advice) == (True, "play e2>e4")


def test_legal_turns_are_whole_and_one_that_goes_on_says_so(paco_sako: pg.Game) -> None:
    start = paco_sako.start()
    turns = typed.legal_turns(start)
    assert (len(turns), turns[-2:]) == (20, ["h2>h3", "h2>h4"])
    assert typed.legal_turns(start.play("Le2")) == ["place e3", "place e4"]
    assert refusal(start.play("Le2"), "e5") == "'e5' is not legal here; legal: place e3, place e4"
    promotes = paco_sako.position("4k3/P7/8/8/8/8/8/4K3 w 0 - - -")
    assert "a7>a8 ..." in typed.legal_turns(promotes)
