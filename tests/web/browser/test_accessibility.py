"""The page for everybody: axe-core finds no violation on any view, cells are labelled, phones and zoom work."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from browsing import Person
from runs_on_disk import add_cycle, new_run
from served import Served

AXE = Path(os.environ.get("PLYGROUND_AXE", Path(__file__).parents[3] / "build/node_modules/axe-core/axe.min.js"))
PHONE: dict[str, Any] = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
RULES = "axe.run(document, {resultTypes: ['violations']})"


def violations(person: Person) -> list[str]:
    """What axe-core finds on the page as it is, with the elements."""
    if not AXE.exists():
        pytest.skip(
            f"axe-core is not there: npm install --prefix build --no-save axe-core, or set PLYGROUND_AXE ({AXE})"
        )
    person.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = person.page.evaluate(f"{RULES}.then(result => result.violations)")
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["", "watch", "learn"])
def test_the_views_have_no_violation(persons: Any, served: Served, view: str, scheme: str) -> None:
    if not (served.house.catalogue.runs / "seen").exists():
        run = new_run(served.house.catalogue.runs, "seen")
        add_cycle(run, 1)
        add_cycle(run, 2)
    person = persons(color_scheme=scheme)
    person.go(view)
    if view == "learn":
        person.page.get_by_label("Show seen", exact=True).check()
        person.page.locator(".chart").first.wait_for()
    assert violations(person) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("title", ["Connect Four", "Chess", "Paco Ŝako", "Sequence"])
def test_a_game_has_no_violation(persons: Any, title: str, scheme: str) -> None:
    person = persons(color_scheme=scheme)
    person.new(title)
    person.wait()
    words = person.page.locator(".cell.movable").evaluate_all("all => all.map(cell => cell.dataset.click)")
    person.click(words[0])
    person.page.get_by_label("Value bar", exact=True).check()
    person.page.get_by_label("Table of moves", exact=True).check()
    person.field("On the board").select_option("visits")
    person.page.locator("table.analysis").wait_for()
    assert violations(person) == []


def test_a_review_and_a_question_have_no_violation(person: Person) -> None:
    person.study("chess", "1. f3 e5 2. g4 Qh4# 0-1")
    person.button("Review the game").click()
    person.page.locator(".mistakes li").first.wait_for()
    assert violations(person) == []
    person.button("Copy text").click()
    assert violations(person) == []


def test_a_violation_would_be_found(person: Person) -> None:
    person.go()
    person.page.evaluate("document.querySelector('h1').append(document.createElement('img'))")
    assert any("image-alt" in each for each in violations(person))


def test_cells_say_what_stands_on_them(person: Person) -> None:
    person.new("Chess")
    labels = person.labels()
    assert "white knight on g1" in labels
    assert "e4, empty" in labels
    person.click("g1")
    assert person.named("g1").get_attribute("aria-label") == "white knight on g1, selected"
    assert person.named("f3").get_attribute("aria-label") == "f3, empty, legal"
    person.click("f3")
    person.wait()
    assert person.named("f3").get_attribute("aria-label") == "white knight on f3"


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Connect Four", "d1, empty, column 4"),
        ("Paco Ŝako", "black queen on d8"),
        ("Sequence", "2 of spades on b1"),
        ("Three In A Row", "b2, empty"),
    ],
)
def test_every_game_is_labelled(person: Person, title: str, label: str) -> None:
    person.new(title)
    labels = person.labels()
    assert label in labels
    assert all(labels)


@pytest.mark.parametrize("title", ["Connect Four", "Chess", "Paco Ŝako", "Sequence"])
def test_a_phone_shows_the_whole_board_and_is_played_by_thumb(persons: Any, title: str) -> None:
    person = persons(**PHONE)
    person.new(title)
    assert person.page.evaluate("document.documentElement.scrollWidth") <= 390
    board = person.page.locator('[data-zone="board"]').bounding_box()
    assert board["width"] >= 340
    cell = person.page.locator('[data-zone="board"] .cell').first.bounding_box()
    assert cell["width"] >= 30
    for button in person.page.locator(".controls button").all():
        assert button.bounding_box()["height"] >= 40
    for word in person.any_clicks(seed=4)([]):
        person.cell(word).tap()
    person.page.locator(".moves .move").first.wait_for()


def test_two_hundred_percent_zoom_needs_no_sideways_scrolling(persons: Any) -> None:
    person = persons(width=640, height=450)  # 1280 x 900 at 200%
    for view in ("", "watch", "learn"):
        person.go(view)
        assert person.page.evaluate("document.documentElement.scrollWidth") <= 640
    person.new("Chess")
    assert person.page.evaluate("document.documentElement.scrollWidth") <= 640


def test_discs_differ_in_shape_and_not_in_colour_alone(person: Person) -> None:
    person.study("connect_four", "12")
    assert person.named("a1").locator("circle.hole").count() == 0
    assert person.named("b1").locator("circle.hole").count() == 1


def test_a_theme_is_chosen_and_remembered(person: Person) -> None:
    person.go()
    colour = "getComputedStyle(document.body).backgroundColor"
    light = person.page.evaluate(colour)
    person.page.locator("#theme").select_option("dark")
    dark = person.page.evaluate(colour)
    assert dark != light
    person.go()
    assert person.page.evaluate(colour) == dark
