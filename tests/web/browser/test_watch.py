"""Agents against agents in a real browser, and games that a run has saved."""

from __future__ import annotations

from browsing import Person
from runs_on_disk import add_cycle, new_run
from served import Served


def test_two_agents_play_at_the_speed_that_is_wished(person: Person) -> None:
    person.go("watch")
    person.page.get_by_role("radio", name="Connect Four", exact=True).check()
    for seat in ("blue", "orange"):
        person.field(seat).select_option(label="random")
    person.button("Watch").click()
    person.page.locator(".moves .move").first.wait_for()
    assert person.page.locator("nav a[aria-current]").all_inner_texts() == ["Watch"]
    person.button("Pause").click()
    person.button("Go on").first.wait_for()
    before = person.moves
    person.page.wait_for_timeout(500)
    assert len(person.moves) <= len(before) + 1  # the one that was on its way
    person.page.locator('[data-key="speed"]').select_option("0")
    person.page.locator('[data-key="pause"]').click()
    person.page.locator(".status.ended").wait_for()


def test_a_saved_game_of_a_run_is_opened(person: Person, served: Served) -> None:
    run = new_run(served.house.catalogue.runs, "with-games")
    add_cycle(run, 1)
    (run / "games").mkdir()
    head = "# from ......./......./......./......./......./.......: the learner is ●, random ○"
    (run / "games" / "10.txt").write_text(f"{head}\n1 2 1 2 1 2 1 FIRST_WINS (four in a row)\n", encoding="utf-8")
    person.go("watch")
    person.field("Run").select_option("with-games")
    person.page.locator("[aria-label='Saved games'] button").first.click()
    person.page.locator(".moves .move").nth(6).wait_for()
    assert person.moves == ["1", "2", "1", "2", "1", "2", "1"]
