"""Runs in a real browser: live curves, the demo, ladders."""

from __future__ import annotations

import re
import time
from typing import Any, cast

import pytest

from browsing import Person
from runs_on_disk import add_cycle, new_run
from served import Served


def test_curves_follow_a_live_run_beside_another(person: Person, served: Served) -> None:
    folder = served.house.catalogue.runs
    old, live = new_run(folder, "old"), new_run(folder, "live")
    for cycle in (1, 2, 3):
        add_cycle(old, cycle)
    add_cycle(live, 1)
    person.go("learn")
    for name in ("old", "live"):
        person.page.get_by_label(f"Show {name}", exact=True).check()
    curve = person.page.locator(".chart[aria-label^='Score against random']")
    person.page.locator("[aria-label='Score against random: old 30%, live 10%']").wait_for()
    assert curve.locator("polygon.band").count() == 2  # intervals
    add_cycle(live, 2)
    person.page.locator("[aria-label='Score against random: old 30%, live 20%']").wait_for()
    person.page.locator(".chart[aria-label^='loss: old 0.333, live 0.5']").wait_for()
    assert person.page.locator(".chart[aria-label^='plies per second']").count() == 1


class Stopping:
    """Stands in for the process of a run that takes its time to stop."""

    def send_signal(self, number: int) -> None:
        pass


def test_a_run_says_at_once_that_it_is_stopping(person: Person, served: Served) -> None:
    runs, run = served.house.runs, new_run(served.house.catalogue.runs, "lingering")
    add_cycle(run, 1)
    (run / "checkpoints" / "10").mkdir(parents=True)
    cast(Any, runs.processes)[run.name] = Stopping()
    try:
        person.go("learn")
        row = person.page.locator("tr", has_text=run.name)
        row.get_by_role("button", name="Stop").click()
        row.get_by_text("stopping …").wait_for(timeout=5_000)
        assert row.get_by_role("button", name="Stop").count() == 0
        assert row.get_by_role("button", name="Resume").count() == 0
    finally:
        del runs.processes[run.name]
        runs.stopping.clear()
        runs.ended[run.name] = time.time()
    row.get_by_role("button", name="Resume").wait_for()
    assert row.locator(".live").count() == 0


def test_a_ladder_rates_the_agents(person: Person) -> None:
    person.go("learn")
    form = person.page.locator('[aria-label="Ladder"] form')
    for box in form.get_by_role("checkbox").all():
        box.uncheck()
    for name in ("random", "greedy"):
        form.get_by_label(name, exact=True).check()
    person.field("Games of each pair").select_option("10")
    stop = form.get_by_role("button", name="Stop")
    assert stop.is_disabled(), "there is nothing to stop yet"
    person.button("Play the ladder").click()
    person.page.get_by_text("Done.").wait_for()
    assert stop.is_disabled()
    rows = person.page.locator('[aria-label="Ladder"] tbody tr').all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["greedy", "random"]


@pytest.mark.slow
def test_the_demo_learns_before_ones_eyes(person: Person) -> None:
    minutes = 240_000
    demo = person.page.locator('[aria-label="Demo"]')
    thought = person.page.locator("[aria-label='What it thinks'] [role=status]", has_text=re.compile(r"Checkpoint \d"))
    person.go("learn")
    person.button("Start the demo").click()
    thought.wait_for(timeout=minutes)
    before = person.page.locator(".small-board .badge").evaluate_all("all => all.map(badge => badge.dataset.text)")
    assert len(before) == 7
    person.page.locator(".chart[aria-label^='Score against random']").wait_for(timeout=minutes)
    person.page.locator("[aria-label='Puzzles solved'] li").first.wait_for(timeout=minutes)
    demo.get_by_role("button", name="Play against it").click(timeout=minutes)
    person.wait()
    person.click("column:4")
    person.page.locator(".moves .move").nth(1).wait_for(timeout=minutes)
    person.go("learn")
    thought.wait_for(timeout=minutes)
    after = person.page.locator(".small-board .badge").evaluate_all("all => all.map(badge => badge.dataset.text)")
    assert after != before
    stop(person)
    person.page.get_by_role("button", name="Resume").first.click()
    person.page.locator(".live").wait_for(timeout=minutes)
    stop(person)


def stop(person: Person) -> None:
    """Press Stop as a person does: again, if the process was still starting and has not heard it."""
    for _ in range(30):
        button = person.page.locator('[aria-label="Demo"]').get_by_role("button", name="Stop")
        if button.count():
            button.click()
        person.page.wait_for_timeout(5000)
        if not person.page.locator(".live").count():
            return
    raise AssertionError("the run does not stop")
