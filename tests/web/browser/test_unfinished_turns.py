"""Turns of several actions in a real browser: what has been begun is marked, put down again, or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from browsing import CHAIN, GIFT, TRADE, Person

PHONE: dict[str, Any] = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
IN_HAND = '[data-zone="hand"] .cell'


def targets(person: Person) -> set[str]:
    return {str(cell.get_attribute("data-cell")) for cell in person.page.locator(".cell.target").all()}


def lift(person: Person, square: str) -> None:
    person.click(square)
    lifted(person, square)


def lifted(person: Person, square: str) -> None:
    """Wait until this piece is in the hand."""
    person.page.locator(f'.cell.lifted[data-cell="{square}"]').wait_for()
    person.wait()


def nothing_is_lifted(person: Person, square: str = "e2") -> None:
    """The position before the lift is there again, also on the server."""
    person.page.locator(IN_HAND).wait_for(state="detached")
    person.wait()
    assert person.items()[square] == "pawn"
    assert (person.moves, targets(person)) == ([], set())
    person.page.reload()
    person.wait()
    assert person.moves == []
    assert person.page.locator(IN_HAND).count() == 0


def test_where_a_lifted_piece_may_go_is_marked_for_eyes_and_ears(person: Person) -> None:
    person.new("Paco Ŝako")
    lift(person, "e2")
    assert targets(person) == {"e3", "e4"}
    assert person.named("e4").get_attribute("aria-label") == "e4, empty, legal"
    assert person.named("e5").get_attribute("aria-label") == "e5, empty"
    dot = "getComputedStyle(document.querySelector('[data-cell=e4]'), '::after').backgroundColor"
    assert person.page.evaluate(dot) != "rgba(0, 0, 0, 0)"
    person.click("e4")
    person.wait()
    assert person.moves[:2] == ["e2", ">e4"]
    assert targets(person) == set()


def test_a_square_where_a_union_arises_is_marked_by_a_ring(person: Person) -> None:
    person.new("Paco Ŝako", text="4k3/8/8/3p4/4P3/8/8/4K3 w 0 - - -")
    lift(person, "e4")
    assert targets(person) == {"d5", "e5"}
    assert person.named("d5").get_attribute("aria-label") == "black pawn on d5, legal"
    ring = "getComputedStyle(document.querySelector('[data-cell=d5]'), '::after').borderTopWidth"
    assert person.page.evaluate(ring) != "0px"


def drop_on(square: str) -> Callable[[Person], None]:
    return lambda person: person.named("e2").drag_to(person.named(square))


def drop_beside_the_board(person: Person) -> None:
    person.named("e2").drag_to(person.page.locator("h1"))


def click_again(person: Person) -> None:
    lift(person, "e2")
    person.click("e2")


def escape(person: Person) -> None:
    lift(person, "e2")
    person.page.keyboard.press("Escape")


def by_keys_alone(person: Person) -> None:
    person.press("e2")
    lifted(person, "e2")
    assert person.page.evaluate("document.activeElement.ariaLabel").startswith("e2, empty, lifted")
    person.page.keyboard.press("ArrowUp")
    person.page.keyboard.press("Escape")


def the_same_square_by_keys(person: Person) -> None:
    person.press("e2")
    lifted(person, "e2")
    person.page.keyboard.press("Enter")


@pytest.mark.parametrize(
    "put_down",
    [
        click_again,
        escape,
        by_keys_alone,
        the_same_square_by_keys,
        drop_on("e6"),
        drop_on("d2"),
        drop_on("e7"),
        drop_beside_the_board,
    ],
    ids=["click", "escape", "keys", "keys, same square", "e6", "an own piece", "another's piece", "beside"],
)
def test_a_lifted_piece_is_put_down(person: Person, put_down: Callable[[Person], None]) -> None:
    person.new("Paco Ŝako")
    put_down(person)
    nothing_is_lifted(person)
    lift(person, "d2")
    assert targets(person) == {"d3", "d4"}


def test_a_drop_that_comes_before_the_answer_is_put_down_too(person: Person) -> None:
    person.new("Paco Ŝako")
    held = list[Any]()
    person.page.evaluate("window.dispatchEvent(new Event('resize'))")
    from_box, to_box = person.named("e2").bounding_box(), person.named("e6").bounding_box()
    middle = [[box["x"] + box["width"] / 2, box["y"] + box["height"] / 2] for box in (from_box, to_box)]
    held.append(person.page.evaluate(DRAG_AT_ONCE, middle))
    assert held == [True], "the drop came while the lift was on its way"
    nothing_is_lifted(person)


DRAG_AT_ONCE = """([[x, y], [a, b]]) => {
  const at = (type, x, y) =>
    document.elementFromPoint(x, y).dispatchEvent(
      new PointerEvent(type, {bubbles: true, clientX: x, clientY: y, button: 0}));
  at('pointerdown', x, y);
  at('pointermove', (x + a) / 2, (y + b) / 2);
  at('pointermove', a, b);
  const pending = document.querySelector('.scene').classList.contains('pending');
  at('pointerup', a, b);
  return pending;
}"""


def test_another_piece_changes_the_lift(person: Person) -> None:
    person.new("Paco Ŝako")
    lift(person, "e2")
    lift(person, "d2")
    assert targets(person) == {"d3", "d4"}
    assert person.items()["e2"] == "pawn"
    person.press("g1")
    lifted(person, "g1")
    assert targets(person) == {"f3", "h3"}
    assert person.moves == ["Ng1"]
    person.named("c2").drag_to(person.named("c4"))
    person.page.locator(".moves .move").nth(1).wait_for()
    person.wait()
    assert person.moves[:2] == ["c2", ">c4"]


def test_a_click_elsewhere_does_nothing(person: Person) -> None:
    person.new("Paco Ŝako")
    lift(person, "e2")
    for square in ("e6", "e7", "e1"):  # e1: a king that cannot be lifted
        person.click(square)
    assert person.moves == ["e2"]
    assert targets(person) == {"e3", "e4"}


def test_a_thumb_lifts_puts_down_and_changes(persons: Any) -> None:
    person = persons(**PHONE)
    person.new("Paco Ŝako")
    person.cell("e2").tap()
    lifted(person, "e2")
    assert targets(person) == {"e3", "e4"}
    person.cell("e2").tap()
    person.page.locator(IN_HAND).wait_for(state="detached")
    person.cell("e2").tap()
    lifted(person, "e2")
    person.cell("d2").tap()
    lifted(person, "d2")
    touch(person, "c2", "c6")  # not legal there
    nothing_is_lifted(person, "c2")
    person.cell("b1").tap()
    lifted(person, "b1")
    touch(person, "c2", "c4")  # changes the lift
    person.page.locator(".moves .move").nth(1).wait_for()
    assert person.moves[:2] == ["c2", ">c4"]


def touch(person: Person, square: str, to: str) -> None:
    """Drag with a finger."""
    boxes = [person.named(each).bounding_box() for each in (square, to)]
    points = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes]
    session = person.page.context.new_cdp_session(person.page)
    (x, y), (a, b) = points
    way = [("touchStart", x, y), *(("touchMove", x + (a - x) * k / 8, y + (b - y) * k / 8) for k in range(1, 9))]
    for kind, left, top in way:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": left, "y": top}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_chain_goes_back_action_by_action(person: Person) -> None:
    person.new("Paco Ŝako", text=CHAIN)
    before = person.items()
    lift(person, "h2")
    person.click("h4")
    released = person.page.locator(f'{IN_HAND}[aria-label="white pawn in the hand"]')
    released.wait_for()
    assert "g5" in targets(person)
    person.click("h4")  # the rook stands there: whoever clicks the piece to take it up loses nothing
    assert person.moves == ["Rh2", ">Ph4"]
    person.page.keyboard.press("Escape")
    released.wait_for(state="detached")
    lifted(person, "h2")
    assert person.moves == ["Rh2"]
    person.page.keyboard.press("Escape")
    person.page.locator(IN_HAND).wait_for(state="detached")
    assert (person.moves, person.items()) == ([], before)
    person.page.keyboard.press("Escape")  # no turn is begun
    assert person.page.locator(".toast").count() == 0


def test_only_the_unfinished_turn_goes_back(person: Person) -> None:
    person.new("Paco Ŝako")
    lift(person, "e2")
    person.click("e4")
    person.wait()
    played, items = person.moves, person.items()
    person.named("e4").focus()
    person.page.keyboard.press("Escape")
    lift(person, "d2")
    person.page.keyboard.press("Escape")
    person.page.locator(IN_HAND).wait_for(state="detached")
    person.page.keyboard.press("Escape")
    lift(person, "d2")
    assert person.moves[: len(played)] == played
    person.click("d2")
    person.page.locator(IN_HAND).wait_for(state="detached")
    assert (person.moves, person.items()) == (played, items)


def test_a_promotion_is_chosen_again(person: Person) -> None:
    person.new("Paco Ŝako", text=GIFT)
    person.click("promote:queen")
    chooser = person.page.locator('[data-zone="promotion"]')
    chooser.wait_for(state="detached")
    person.wait()
    assert targets(person) == set(), "the pieces that may be lifted are no targets"
    person.named("e3").focus()
    person.page.keyboard.press("Escape")
    chooser.wait_for()
    assert person.moves == []


def test_an_earlier_position_inside_a_turn_only_leads_to_the_one_before(person: Person) -> None:
    person.new("Paco Ŝako")
    lift(person, "e2")
    person.click("e4")
    person.wait()
    moves = person.moves
    person.page.locator(".moves .move").first.click()
    lifted(person, "e2")
    assert targets(person) == {"e3", "e4"}
    person.named("e2").click()
    person.page.get_by_text("You look at ply 0").wait_for()
    assert person.moves == moves


def test_two_windows_see_what_is_put_down(persons: Any) -> None:
    one, two = persons(), persons()
    one.new("Paco Ŝako")
    two.page.goto(one.page.url)
    two.wait()
    lift(one, "e2")
    lifted(two, "e2")
    assert targets(two) == {"e3", "e4"}
    two.click("d2")
    lifted(one, "d2")
    one.page.keyboard.press("Escape")
    two.page.locator(IN_HAND).wait_for(state="detached")
    assert one.moves == two.moves == []


# ---- other games ----


def test_dice_stay_as_they_have_fallen(person: Person) -> None:
    person.new("Race")
    person.click("roll")
    person.page.locator(".status", has_text="rolled").wait_for()
    person.wait()
    assert person.page.locator(".cell.target").count() == 0, "runners are chosen first"
    person.named("c0").focus()
    person.page.keyboard.press("Escape")
    assert person.moves == ["roll"], "a roll is not taken back"
    person.click("c2")
    (to,) = targets(person)
    person.click(to)
    person.page.locator(".moves .move").nth(1).wait_for()
    person.wait()
    assert "c2" in targets(person), "the stone may go there"
    assert "rolled" in person.status
    rolled = person.status
    person.click("c0")  # the other runner in its place
    person.page.locator(".cell.selected").wait_for()
    assert (person.moves, person.status) == (["roll"], rolled)
    (to,) = targets(person)
    person.click(to)
    person.page.locator(".moves .move").nth(1).wait_for()
    person.named(to).focus()
    person.page.keyboard.press("Escape")
    person.page.locator(".moves .move").nth(1).wait_for(state="detached")
    assert (person.moves, person.status) == (["roll"], rolled)


def test_what_hidden_cards_have_shown_stays_shown(person: Person) -> None:
    person.new("Sequence", text=TRADE)
    for word in ("hand:ac", "trade", "take:as"):
        person.click(word)
    person.page.locator(".moves .move").first.wait_for()
    person.wait()
    moves = person.moves
    person.cell("hand:as").focus()
    person.page.keyboard.press("Escape")
    assert person.page.locator(".cell.movable").count() > 0
    assert targets(person) == set()
    assert person.moves == moves


def test_a_game_without_a_scene_goes_on_with_its_list(person: Person) -> None:
    person.new("Hops")
    for _ in range(12):
        person.wait()
        if person.over:
            return
        moves = len(person.moves)
        person.page.locator(".zone.beside .cell").first.click()
        person.page.locator(".moves .move").nth(moves).wait_for()
