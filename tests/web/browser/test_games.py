"""Complete games in a real browser, against `random`: by clicks, and by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from browsing import Person, as_agent

TITLES = {"connect_four": "Connect Four", "chess": "Chess", "paco_sako": "Paco Ŝako", "sequence": "Sequence"}


def chooser(person: Person, game: str) -> Callable[[list[str]], Iterator[str]]:
    """A player that wins soon; where hands are hidden, one that clicks what it is offered."""
    return person.any_clicks(seed=1) if game == "sequence" else as_agent(game, "greedy")


@pytest.mark.parametrize("name", TITLES)
def test_a_complete_game_by_clicks(person: Person, name: str) -> None:
    person.new(TITLES[name])
    result = person.play(chooser(person, name), person.click)
    assert any(word in result.lower() for word in ("win", "lose", "draw")), result
    assert person.moves
    assert not person.page.locator(".scene.yours").count()


@pytest.mark.parametrize("name", TITLES)
def test_a_complete_game_by_the_keyboard_alone(person: Person, name: str) -> None:
    begin_by_keyboard(person, list(TITLES).index(name))
    result = person.play(chooser(person, name), person.press)
    assert any(word in result.lower() for word in ("win", "lose", "draw")), result


def test_a_digit_plays_a_column(person: Person) -> None:
    begin_by_keyboard(person, 0)
    person.page.keyboard.press("4")  # the board has the focus when a game begins
    person.page.locator(".moves .move").first.wait_for()
    assert "4" in person.moves[0]


def test_the_board_does_not_take_the_focus_from_a_field(person: Person) -> None:
    person.new("Connect Four")
    person.page.evaluate("document.activeElement.closest('.scene') || document.body.append('no focus on the board')")
    assert not person.page.get_by_text("no focus on the board").count()
    address = person.page.url
    person.go()
    person.page.evaluate(
        """address => {
          new MutationObserver(() => document.querySelector('.typed input')?.focus())
            .observe(document.getElementById('main'), { childList: true });
          location.href = address;
        }""",
        address,
    )
    person.page.locator(".scene .cell").first.wait_for()
    assert person.page.evaluate("document.activeElement.ariaLabel") == "Type a move"


def begin_by_keyboard(person: Person, number: int) -> None:
    """The form of a new game: the game by arrow keys, the opponent by its first letters, then Enter."""
    person.go()
    keys = person.page.keyboard
    focused = "() => document.activeElement.closest('label')?.innerText.split('\\n')[0] ?? ''"

    def tab_to(label: str) -> None:
        for _ in range(30):
            if person.page.evaluate(focused).startswith(label):
                return
            keys.press("Tab")
        raise AssertionError(f"the keyboard does not reach {label}")

    tab_to("Connect Four")
    for _ in range(number):
        keys.press("ArrowRight")
    tab_to("Against")
    keys.type("random")
    tab_to("Clock")
    keys.press("Tab")
    keys.press("Enter")
    person.page.locator(".scene .cell").first.wait_for()


@pytest.mark.parametrize("title", ["Three In A Row", "Hops"])
def test_a_game_of_a_file_of_ones_own(person: Person, title: str) -> None:
    """The second one defines no scene: its actions are a list below a picture."""
    person.new(title)
    assert person.page.locator(".picture").count() == (title == "Hops")
    result = person.play(person.any_clicks(seed=2), person.click)
    assert any(word in result.lower() for word in ("win", "lose", "draw")), result
