"""Texts that a person pastes, in a real browser: the game that they name, their players, and errors that go away."""

from __future__ import annotations

from browsing import Person

PGN = """[Event "Club"]
[White "Ada"]
[Black "Grace"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1
"""
SEVERAL = PGN + "\n" + PGN.replace("Ada", "Emmy").replace("Grace", "?")
LONGEST = 150  # characters of an error about a text: what is wrong, and that its game may be another


def paste(person: Person, text: str, number: int = 1) -> None:
    """Open a text while the list stands on its first game."""
    person.go()
    form = person.page.locator("form", has_text="Study a position")
    form.locator("textarea").fill(text)
    person.field("of several games, number").fill(str(number))
    form.get_by_role("button", name="Open").click()


def names(person: Person) -> list[str]:
    """The players above and below the board."""
    person.page.locator(".moves .move").first.wait_for()
    return person.page.locator(".player .names").all_inner_texts()


def test_a_text_that_names_its_game_opens_it(person: Person) -> None:
    paste(person, PGN)
    assert names(person) == ["Grace", "Ada"]
    assert person.page.locator("h1").inner_text().startswith("Chess")
    assert [move.rstrip("#") for move in person.moves] == ["f3", "e5", "g4", "Qh4"]


def test_a_text_that_only_one_game_reads_opens_it_and_the_list_of_games_has_its_result(person: Person) -> None:
    paste(person, "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6?? 4. Qxf7#")
    person.page.locator(".moves .move").nth(6).wait_for()
    assert person.page.locator(".toast").inner_text() == "Read as Chess."
    assert person.page.locator("h1").inner_text() == "Chess: a study"
    assert person.status == "White wins (checkmate)."
    person.page.get_by_role("link", name="Play", exact=True).click()
    newest = person.page.locator('[aria-label="Games"] li').first
    newest.get_by_text("7 plies, white wins (checkmate).").wait_for()


def test_moves_are_read_as_the_chosen_game_and_games_with_hidden_cards_are_not_offered(person: Person) -> None:
    person.study("paco_sako", "e4 d5 Nf3")
    assert person.page.locator("h1").inner_text() == "Paco Ŝako: a study"
    assert person.page.locator(".toast").count() == 0
    person.go()
    listed = person.page.locator("form", has_text="Study a position").locator("select option")
    values = [each.get_attribute("value") for each in listed.all()]
    assert "chess" in values
    assert "sequence" not in values


def test_each_of_several_games_has_its_players(person: Person) -> None:
    paste(person, SEVERAL, 2)
    assert names(person) == ["You", "Emmy"], "a question mark is no name"


def test_a_text_that_is_no_game_is_answered_by_a_short_sentence_that_goes_with_the_view(person: Person) -> None:
    for text in ("nonsense", "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 Ke4"):
        paste(person, text)
        told = person.page.locator(".toast", has_text=text.split()[0])
        told.wait_for()  # perhaps after a word that the game is being prepared
        assert len(told.inner_text()) <= LONGEST
    person.page.get_by_role("link", name="Watch").click()
    person.page.get_by_role("heading", name="Watch", exact=True).wait_for()
    assert person.page.locator(".toast").count() == 0


def test_a_window_closes_when_the_view_changes(person: Person) -> None:
    person.study("connect_four", "44")
    person.button("Copy text").click()
    person.page.locator("dialog").wait_for()
    person.page.evaluate("location.hash = '#/watch'")
    person.page.get_by_role("heading", name="Watch", exact=True).wait_for()
    person.page.locator("dialog").wait_for(state="detached", timeout=5_000)


def test_the_reason_why_a_game_cannot_be_opened_is_shown_on_the_view_that_follows(person: Person) -> None:
    person.go("table/0000000000000000")
    assert "no game" in person.page.locator(".toast").inner_text()  # first: it goes away by itself
    person.page.get_by_role("heading", name="Play", exact=True).wait_for()
