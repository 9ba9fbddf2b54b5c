"""One game in a real browser: what one may do beside moves, and two pages that stay equal."""

from __future__ import annotations

from typing import Any

import pytest

from browsing import Person


def played(person: Person, *columns: int) -> None:
    """Columns of Connect Four against an agent."""
    for column in columns:
        person.wait()
        person.click(f"column:{column}")
    person.wait()


def test_an_illegal_click_does_nothing(person: Person) -> None:
    person.new("Chess")
    before = person.page.locator(".scene").inner_html()
    person.named("e5").click()  # empty
    person.named("e7").click()  # not one's own
    assert person.page.locator(".cell.selected, .cell.target").count() == 0
    person.click("e2")
    assert {cell.get_attribute("data-cell") for cell in person.page.locator(".cell.target").all()} == {"e3", "e4"}
    person.named("d5").click()  # not legal for this pawn
    assert person.page.locator(".cell.selected").get_attribute("data-cell") == "e2"
    person.named("e2").click()
    person.page.mouse.move(0, 0)
    person.page.evaluate("document.activeElement.blur()")
    assert person.moves == []
    assert person.page.locator(".cell.selected, .cell.target").count() == 0
    assert person.page.locator(".scene .piece").count() == before.count('class="piece') == 32


def test_a_reload_keeps_the_game(person: Person) -> None:
    person.new("Connect Four")
    played(person, 4, 4)
    moves, items = person.moves, person.items()
    person.page.reload()
    person.wait()
    assert (person.moves, person.items()) == (moves, items)


def test_undo_takes_back_both_moves(person: Person) -> None:
    person.new("Connect Four")
    played(person, 4)
    before = person.items()
    played(person, 4)
    person.button("Undo").click()
    person.page.locator(".moves .move").nth(2).wait_for(state="detached")
    assert len(person.moves) == 2
    assert person.items() == before


def test_a_hint_is_shown_on_the_board_and_in_words(person: Person) -> None:
    person.new("Connect Four")
    played(person, 4)
    person.button("Hint").click()
    person.page.locator(".badge.hint").wait_for()
    assert "would play" in person.page.locator(".advice").inner_text()


def test_playing_at_an_earlier_move_asks_before_it_prunes(person: Person) -> None:
    person.new("Connect Four")
    played(person, 4, 4)
    moves = person.moves
    person.button("First position").click()
    person.page.get_by_text("You look at ply 0").wait_for()
    person.click("column:2")
    dialog = person.page.locator("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    assert person.moves == moves
    person.click("column:2")
    dialog.get_by_role("button", name="Remove them").click()
    person.page.locator(".moves .move").nth(2).wait_for(state="detached")
    person.wait()
    assert person.moves[0] == "2"
    assert len(person.moves) == 2


def test_a_branch_in_a_copy_leaves_the_game_as_it_is(person: Person) -> None:
    person.new("Connect Four")
    played(person, 4, 4)
    moves, address = person.moves, person.page.url
    person.button("First position").click()
    person.page.get_by_text("You look at ply 0").wait_for()
    person.click("column:2")
    person.page.locator("dialog").get_by_role("button", name="Keep it").click()
    person.page.wait_for_url(lambda url: url != address)
    person.page.locator(".moves .move").nth(2).wait_for(state="detached")
    person.wait()
    assert person.moves[0] == "2"
    person.page.goto(address)
    person.page.locator(".moves .move").nth(3).wait_for()
    assert person.moves == moves


def test_the_move_list_is_walked_by_keys(person: Person) -> None:
    person.new("Connect Four")
    played(person, 4, 4)
    person.page.locator(".moves .move").last.focus()
    person.page.keyboard.press("ArrowLeft")
    person.page.get_by_text("You look at ply 3").wait_for()
    assert len(person.items()) == 3
    person.page.keyboard.press("Home")
    person.page.get_by_text("You look at ply 0").wait_for()
    assert person.items() == {}
    person.button("Last position").click()
    assert len(person.items()) == 4


def test_resigning_asks_and_ends_the_game(person: Person) -> None:
    person.new("Connect Four")
    person.button("Resign").click()
    person.page.locator("dialog").get_by_role("button", name="Resign").click()
    person.page.locator(".status.ended").wait_for()
    assert "resign" in person.status.lower()


def test_moves_are_typed(person: Person) -> None:
    person.new("Chess")
    field = person.page.get_by_label("Type a move")
    field.fill("Nf3")
    field.press("Enter")
    person.page.locator(".moves .move").nth(1).wait_for()
    person.wait()
    assert person.moves[0] == "Nf3"
    field.fill("Ke5")
    field.press("Enter")
    told = person.page.locator(".toast").inner_text()
    assert "not legal" in told
    assert "`moves`" not in told, "a command of the terminal"
    assert "e4" in told


def test_a_refusal_takes_the_place_of_the_one_before_and_goes_with_the_next_move(person: Person) -> None:
    person.study("chess", "1. e4")
    field = person.page.get_by_label("Type a move")
    for text in ("Ke5", "Qh9", "e9"):
        field.fill(text)
        field.press("Enter")
        person.page.locator(".toast", has_text=text).wait_for()
        assert person.page.locator(".toast").count() == 1
    field.fill("e5")
    field.press("Enter")
    person.page.locator(".moves .move").nth(1).wait_for()
    assert person.page.locator(".toast").count() == 0


def test_the_settings_of_a_game_are_explained(person: Person) -> None:
    person.go()
    person.page.get_by_role("radio", name="Paco Ŝako", exact=True).check()
    told = person.page.locator("label", has=person.page.get_by_label("castling", exact=True)).inner_text()
    assert "a rook keeps its right" in told


@pytest.mark.parametrize("title", ["Chess", "Paco Ŝako", "Sequence"])
def test_how_a_move_is_typed_can_be_read_whole(person: Person, title: str) -> None:
    person.new(title)
    field = person.page.get_by_label("Type a move")
    assert len(field.get_attribute("placeholder")) <= 12
    told = person.page.locator(f"#{field.get_attribute('aria-describedby')}")
    assert told.inner_text().startswith("Type a" if title != "Paco Ŝako" else "Type the square")


def test_the_board_is_flipped(person: Person) -> None:
    person.new("Chess")
    first = person.page.locator('.zone[data-zone="board"] .cell').first
    assert first.get_attribute("data-cell") == "a8"
    person.button("Flip").click()
    assert first.get_attribute("data-cell") == "h1"
    person.click("e2")
    person.click("e4")
    person.wait()
    assert person.moves[0] == "e4"


def test_texts_are_copied_and_pasted(person: Person) -> None:
    person.new("Chess")
    person.click("e2")
    person.click("e4")
    person.wait()
    person.button("Copy text").click()
    person.page.locator("dialog textarea").nth(1).wait_for()
    fen, pgn = (area.input_value() for area in person.page.locator("dialog textarea").all())
    assert fen.split()[1] == "w"
    assert "1. e4" in pgn
    person.page.locator("dialog").get_by_role("button", name="Close").click()
    moves, items = person.moves, person.items()
    person.study("chess", pgn)
    person.page.locator(".moves .move").nth(1).wait_for()
    assert (person.moves, person.items()) == (moves, items)
    person.study("chess", fen)
    assert person.items() == items


def test_the_clock_runs_for_the_side_to_move(person: Person) -> None:
    person.new("Connect Four", Clock="1 minute")
    clocks = person.page.locator(".clock")
    person.page.locator(".player.acts .clock", has_text="0:58").wait_for()
    assert clocks.first.inner_text() == "1:00"


def test_two_pages_of_one_game_stay_equal(persons: Any) -> None:
    one, two = persons(), persons(width=390, height=844)
    one.new("Connect Four")
    two.page.goto(one.page.url)
    two.wait()
    played(one, 4)
    two.page.locator(".moves .move").nth(1).wait_for()
    two.wait()
    assert (two.moves, two.items()) == (one.moves, one.items())
    played(two, 3)
    one.page.locator(".moves .move").nth(3).wait_for()
    assert (two.moves, two.items()) == (one.moves, one.items())
    two.button("Undo").click()
    one.page.locator(".moves .move").nth(3).wait_for(state="detached")
    two.page.locator(".moves .move").nth(3).wait_for(state="detached")
    assert (two.moves, two.items()) == (one.moves, one.items())


def test_moves_are_announced(person: Person) -> None:
    person.new("Chess")
    person.click("e2")
    person.click("e4")
    person.wait()
    assert any("Random plays" in line for line in person.page.locator("#announcer p").all_inner_texts())


def test_games_are_listed_opened_and_deleted(person: Person) -> None:
    person.new("Three In A Row")
    person.click("b2")
    person.wait()
    person.go()
    row = person.page.locator(".list li", has_text="Three In A Row").first
    count = person.page.locator(".list li", has_text="Three In A Row").count()
    row.get_by_role("link").click()
    person.wait()
    person.go()
    delete = person.page.locator(".list li", has_text="Three In A Row").first.get_by_role("button")
    delete.click()
    dialog = person.page.locator("dialog")
    dialog.get_by_role("button", name="Cancel").click()
    assert person.page.locator(".list li", has_text="Three In A Row").count() == count
    delete.click()
    assert "cannot be taken back" in dialog.inner_text()
    dialog.get_by_role("button", name="Delete").click()
    person.page.locator(".list li", has_text="Three In A Row").nth(count - 1).wait_for(state="detached")


def test_a_game_without_moves_is_deleted_at_once(person: Person) -> None:
    person.new("Three In A Row")
    person.go()
    rows = person.page.locator(".list li", has_text="Three In A Row")
    count = rows.count()
    rows.filter(has_text="0 plies").first.get_by_role("button").click()
    rows.nth(count - 1).wait_for(state="detached")


def test_a_double_click_begins_one_game_and_a_wait_has_a_sign(persons: Any) -> None:
    person = persons()
    person.page.add_init_script(SLOW_GAMES)
    person.go()
    rows = person.page.locator(".list li")
    count = rows.count()
    person.page.locator("form").first.get_by_role("button", name="Play").dblclick()
    person.page.get_by_role("status").get_by_text("Getting the game ready").wait_for()
    person.page.locator(".scene .cell").first.wait_for()
    assert person.page.get_by_text("Getting the game ready").count() == 0
    person.go()
    assert rows.count() == count + 1
    person.page.locator("form").first.get_by_role("button", name="Play").click()  # works again
    person.page.locator(".scene .cell").first.wait_for()


SLOW_GAMES = """
const send = WebSocket.prototype.send;
WebSocket.prototype.send = function (text) {
  if (text.includes('"new_game"')) setTimeout(() => send.call(this, text), 1500);
  else send.call(this, text);
};
"""


def test_a_thinking_agent_shows_a_sign_and_can_be_stopped(person: Person) -> None:
    person.new("Chess", against="minimax:time=9")
    person.click("e2")
    person.click("e4")
    sign = person.page.locator(".sign-row")
    sign.get_by_text("is thinking").wait_for()
    sign.get_by_role("button", name="Stop").click()
    sign.get_by_text("stopped").wait_for()
    assert person.moves == ["e4"]
    person.button("Undo").click()
    person.page.locator(".moves .move").wait_for(state="detached")
    person.wait()


@pytest.mark.parametrize("title", ["Connect Four", "Chess", "Paco Ŝako", "Sequence"])
def test_the_buttons_below_the_board_are_visible_also_with_a_hint(persons: Any, title: str) -> None:
    person = persons(width=1200, height=768)
    person.new(title)
    person.wait()
    person.button("Hint").click()
    person.page.locator(".advice:not(:empty)").wait_for()
    box = person.button("Undo").bounding_box()
    assert box["y"] + box["height"] <= 768
    assert person.page.evaluate("scrollY") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pieces_move_and_discs_fall_where_motion_is_wanted(persons: Any, scheme: str) -> None:
    person = persons(reduced_motion="no-preference", color_scheme=scheme)
    person.new("Connect Four")
    person.click("column:4")
    person.page.locator(".disc").first.wait_for()
    assert person.page.evaluate("document.getAnimations().length") >= 1
    calm = persons(reduced_motion="reduce")
    calm.new("Connect Four")
    calm.click("column:4")
    calm.page.locator(".disc").first.wait_for()
    assert calm.page.evaluate("document.getAnimations().length") == 0
