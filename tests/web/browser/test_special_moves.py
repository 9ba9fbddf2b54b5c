"""Moves of several clicks and turns of several actions, in a real browser."""

from __future__ import annotations

import re

from browsing import CHAIN, GIFT, JACK, TRADE, Person

PROMOTES = "7k/P7/8/8/8/8/8/K7 w - - 0 1"


def test_a_pawn_promotes_to_what_is_chosen(person: Person) -> None:
    person.new("Chess", text=PROMOTES)
    chooser = person.page.locator('[data-zone="promotion"]')
    assert chooser.is_hidden()
    person.click("a7")
    person.click("a8")
    assert chooser.is_visible()
    person.click("a7")  # another thought
    assert chooser.is_hidden()
    person.named("a7").drag_to(person.named("a8"))
    person.click("promote:knight")
    person.wait()
    assert person.moves[0] == "a8=N"
    assert person.items()["a8"] == "knight"


def test_a_chain_is_followed_step_by_step(person: Person) -> None:
    person.new("Paco Ŝako", text=CHAIN)
    hand = person.page.locator('[data-zone="hand"] .cell')
    person.click("h2")
    assert hand.get_attribute("aria-label") == "white rook in the hand"
    assert "lifted" in str(person.named("h2").get_attribute("class"))
    person.click("h4")
    hand.get_by_text("").first.wait_for(state="attached")
    person.page.locator('[data-zone="hand"] .cell[aria-label="white pawn in the hand"]').wait_for()
    person.click("g5")
    person.page.locator(".moves .move").nth(2).wait_for()
    person.click("g6")
    person.wait()
    assert person.moves[:4] == ["Rh2", ">Ph4", ">Pg5", ">g6"]
    assert person.page.locator(".moves .turn").first.locator(".move").count() == 4


def test_an_unfinished_turn_is_taken_back(person: Person) -> None:
    person.new("Paco Ŝako", text=CHAIN)
    before = person.items()
    person.click("h2")
    person.page.locator('[data-zone="hand"]').wait_for()
    person.click("h4")
    person.page.locator(".moves .move").nth(1).wait_for()
    person.button("Undo").click()
    person.page.locator('[data-zone="hand"]').wait_for(state="detached")
    assert person.items() == before
    assert person.moves == []


def test_a_promotion_that_the_opponent_gave_is_chosen_first(person: Person) -> None:
    person.new("Paco Ŝako", text=GIFT)
    assert person.page.locator('[data-zone="promotion"]').is_visible()
    person.click("promote:queen")
    person.page.locator('[data-zone="promotion"]').wait_for(state="detached")
    person.wait()
    assert person.moves == ["=Q:"]  # as turns are written: =Q:e2>e4
    assert person.page.locator(".cell.movable").count() > 0  # the turn goes on with a lift


def test_a_union_is_drawn_as_two_pieces_on_one_square(person: Person) -> None:
    person.new("Paco Ŝako", text=CHAIN)
    union = person.named("c6")
    assert union.locator("svg.partner").count() == 2
    assert re.fullmatch(r"white \w+ and black \w+ on c6.*", str(union.get_attribute("aria-label")))


def test_a_union_is_made_by_dragging(person: Person) -> None:
    person.new("Paco Ŝako", text="4k3/8/8/3p4/4P3/8/8/4K3 w 0 - - -")
    person.named("e4").drag_to(person.named("d5"))
    person.page.locator(".moves .move").nth(1).wait_for()
    assert person.moves[:2] == ["e4", "xd5"]


def test_a_jack_goes_anywhere_and_a_card_is_taken(person: Person) -> None:
    person.new("Sequence", text=JACK)
    person.click("hand:jd")
    assert person.page.locator('[data-zone="board"] .cell.target').count() > 80
    person.click("g1")
    assert person.page.locator('[data-zone="face up"] .cell.target').count() == 5
    person.click("take:4s")
    person.wait()
    assert "chip" in person.items()["g1"]
    assert person.moves[0].startswith("place jd g1 take 4s")


def test_a_dead_card_is_traded(person: Person) -> None:
    person.new("Sequence", text=TRADE)
    assert person.cell("decline").is_visible()
    person.click("hand:ac")
    person.click("trade")
    person.click("take:as")
    person.page.locator(".moves .move").first.wait_for()
    person.wait()
    assert person.moves[0] == "trade ac take as"
    assert person.page.locator('[data-zone="hand"] [data-click="hand:as"]').count() == 1


def test_four_seats_and_the_boxed_rules(person: Person) -> None:
    person.go()
    person.page.get_by_role("radio", name="Sequence", exact=True).check()
    person.field("seats").select_option("4")
    person.field("rules").select_option("boxed")
    for seat in ("blue, seat 2", "red, seat 3", "blue, seat 4"):
        person.field(seat).select_option(label="random")
    person.page.locator("form").first.get_by_role("button", name="Play").click()
    person.wait()
    choose = person.any_clicks(seed=3)
    for word in choose([]):
        person.click(word)
    person.wait()
    assert len(person.moves) == 4
    assert person.page.locator('[data-zone^="seat"]').count() == 3
    assert person.page.locator('[data-zone="face up"]').count() == 0
