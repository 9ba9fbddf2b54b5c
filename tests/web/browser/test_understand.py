"""What a search says, in a real browser: off until it is wanted, then remembered; the review of a game."""

from __future__ import annotations

from pathlib import Path

from browsing import Person

FOOLS_MATE = "1. f3 e5 2. g4 Qh4# 0-1"


def wish(person: Person, *names: str) -> None:
    for name in names:
        person.page.get_by_label(name, exact=True).check()


def test_everything_is_off_at_first(person: Person) -> None:
    person.new("Connect Four")
    assert person.page.locator(".bar").is_hidden()
    assert person.page.locator(".options input:checked").count() == 0
    assert person.page.locator(".badge, .arrow, table.analysis").count() == 0


def test_what_is_wanted_is_remembered(person: Person) -> None:
    person.new("Connect Four")
    wish(person, "Value bar", "Table of moves")
    person.page.locator("table.analysis").wait_for()
    person.page.reload()
    person.page.locator("table.analysis").wait_for()
    assert person.page.locator(".bar").is_visible()
    assert person.page.get_by_label("Value bar").is_checked()


def test_a_hint_stays_on_the_board_while_the_analysis_goes_on(person: Person) -> None:
    person.new("Chess")
    wish(person, "Value bar", "Table of moves")
    person.page.locator("table.analysis").wait_for()
    person.button("Hint").click()
    person.page.locator(".advice:not(:empty)").wait_for()
    rate = person.page.locator(".result > .soft").inner_text()
    person.page.wait_for_function("old => document.querySelector('.result > .soft').innerText !== old", arg=rate)
    assert person.page.locator(".arrow.hint").count() == 1
    person.field("On the board").select_option("visits")
    person.page.locator(".arrow.move").first.wait_for()
    assert person.page.locator(".arrow.hint").count() == 1
    person.click("e2")
    person.click("e4")
    person.page.locator(".moves .move").nth(1).wait_for()
    assert person.page.locator(".arrow.hint").count() == 0


def test_the_solver_judges_every_column(person: Person) -> None:
    person.study("connect_four", "44")
    person.field("On the board").select_option("solver")
    person.page.locator(".badge").nth(6).wait_for()
    words = person.page.locator(".badge").evaluate_all("all => all.map(badge => badge.dataset.text)")
    assert len(words) == 7
    assert set(words) <= {"win", "draw", "loss"}


def test_the_line_of_a_move_is_walked_and_played_in_a_copy(person: Person) -> None:
    person.study("connect_four", "4455")
    wish(person, "Table of moves")
    line = person.page.locator(".line-row").first.get_by_role("button")
    line.nth(1).wait_for()
    line.nth(1).click()
    person.page.get_by_text("A line: 2 moves after ply 4").wait_for()
    assert len(person.items()) == 6
    person.button("Back to the game").click()
    assert len(person.items()) == 4
    person.page.locator(".line-row").first.get_by_role("button").nth(0).click()
    person.page.get_by_text("A line: 1 moves after ply 4").wait_for()
    person.button("Play on from here in a copy").click()
    person.page.locator(".moves .move").nth(4).wait_for()
    assert len(person.moves) == 5


def test_arrows_show_the_visits_and_a_threat(person: Person) -> None:
    person.study("chess", "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR w KQkq - 0 2")  # Qh4 mates next
    person.field("On the board").select_option("visits")
    wish(person, "Threats")
    person.page.locator(".arrow.threat").first.wait_for()
    assert person.page.locator(".arrow.move").count() >= 1
    assert "Qh4" in person.page.locator('[aria-label="Threats"]').inner_text()


def test_the_value_bar_follows_the_winner(person: Person) -> None:
    person.study("connect_four", "415263")  # the first side wins at once
    wish(person, "Value bar")
    person.page.locator('.bar[aria-valuenow="1.00"]').wait_for()


def test_a_pasted_game_is_reviewed(person: Person) -> None:
    person.study("chess", FOOLS_MATE)
    assert len(person.moves) == 4
    person.button("Review the game").click()
    person.page.locator(".mistakes li", has_text="g4").wait_for()
    person.page.get_by_text("Accuracy:").wait_for()
    person.page.get_by_text("Values are from −1 (a loss) to +1 (a win); lost").wait_for()
    worst = person.page.locator(".mistakes li").first.inner_text()
    assert worst.startswith("2. white g4"), "by the number of the row in the list of moves"
    assert "blunder" in worst
    person.page.locator(".chart .sign.blunder").first.wait_for()
    assert any("??" in move for move in person.moves)
    person.button("First position").click()
    person.page.get_by_text("You look at ply 0").wait_for()
    person.button("Next mistake").click()
    person.page.get_by_text("You look at ply").wait_for()


def test_a_review_that_goes_on_says_how_far_it_is(person: Person) -> None:
    person.study("chess", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O")
    person.button("Review the game").click()
    person.page.get_by_text("Accuracy so far (").wait_for()
    assert "of 16 plies" in person.page.get_by_text("Accuracy").inner_text()


def test_only_the_first_search_of_a_game_says_that_it_compiles(person: Person) -> None:
    person.study("connect_four", "44")
    assert person.page.locator(".result").inner_text() == "Switch on what you want to see."
    wish(person, "Table of moves")
    person.page.get_by_text("Values are from −1 (a loss) to +1 (a win), for the side to move.").wait_for()
    seen = person.page.evaluate_handle(SEEN)
    person.click("column:3")
    person.page.locator(".moves .move").nth(2).wait_for()
    person.page.locator("table.analysis").wait_for()
    texts = seen.json_value()
    assert any(text.startswith("Searching") for text in texts)
    assert not any("compiles" in text for text in texts)


SEEN = """() => {
  const result = document.querySelector('.result'), texts = [];
  new MutationObserver(() => texts.push(result.textContent)).observe(result, { childList: true });
  return texts;
}"""
"""a list of all texts that the result of a search has from now on"""


def test_a_file_may_be_in_latin_1(person: Person, tmp_path: Path) -> None:
    file = tmp_path / "game.pgn"
    file.write_text(f'[White "Müller"]\n\n{FOOLS_MATE}', encoding="latin-1")
    person.go()
    person.page.locator("input[type=file]").set_input_files(file)
    text = person.page.locator("form", has_text="Study a position").locator("textarea").element_handle()
    person.page.wait_for_function("text => text.value.includes('Müller')", arg=text)


def test_one_tries_again_before_a_mistake(person: Person) -> None:
    person.study("chess", FOOLS_MATE)
    person.button("Review the game").click()
    item = person.page.locator(".mistakes li", has_text="g4").first
    item.wait_for()
    address = person.page.url
    item.get_by_role("button", name="Try again from here").click()
    person.page.wait_for_url(lambda url: url != address)
    person.wait()
    assert person.moves == ["f3", "e5"]
    person.click("e2")
    person.click("e4")
    person.page.locator(".moves .move").nth(2).wait_for()
