"""What the page loads: little, from its own server alone, and no rules."""

from __future__ import annotations

import time
from typing import Any

from browsing import Person

MOST_BYTES = 300_000
LOADED = """() => {
  const entries = ['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind));
  const size = async name => [name, (await (await fetch(name)).arrayBuffer()).byteLength];
  return Promise.all([...new Set(entries.map(each => each.name))].map(size));
}"""
CLICKS = """async actions => {
  const { click, nextWords } = await import('/static/paths.js');
  const legal = actions.map(clicks => ({ action: clicks.join(), name: '', clicks }));
  const words = clicks => [...nextWords(legal, clicks)].sort();
  const after = (clicks, word) => {
    const found = click(legal, clicks, word);
    return [found.clicks.join(), found.action?.action ?? '', found.changed];
  };
  return {
    first: words([]), second: words(['a7']), third: words(['a7', 'a8']),
    begins: after([], 'a7'), illegal: after([], 'c5'), other: after(['a7'], 'b1'), lost: after(['a7'], 'c5'),
    again: after(['a7'], 'a7'), played: after(['b1'], 'c3'), chosen: after(['a7', 'a8'], 'promote:rook'),
  };
}"""


def test_everything_is_small_and_comes_from_the_server(person: Person) -> None:
    person.new("Sequence")
    person.go("learn")
    loaded = person.page.evaluate(LOADED)
    assert all(name.startswith(person.address) for name, _ in loaded), loaded
    assert 50_000 < sum(size for _, size in loaded) < MOST_BYTES


def test_a_kept_game_is_on_the_screen_soon(person: Person) -> None:
    """Within a second on an idle machine; the limit here is one for busy ones."""
    person.new("Connect Four")
    person.click("column:4")
    person.wait()
    begun = time.perf_counter()
    person.page.reload()
    person.page.locator(".disc").first.wait_for()
    assert time.perf_counter() - begun < 10


def test_paths_are_followed_click_by_click(person: Person) -> None:
    person.go()
    actions = [["a7", "a8", f"promote:{kind}"] for kind in ("queen", "rook")] + [["b1", "a3"], ["b1", "c3"]]
    found: dict[str, Any] = person.page.evaluate(CLICKS, actions)
    assert found["first"] == ["a7", "b1"]
    assert found["second"] == ["a8"]
    assert found["third"] == ["promote:queen", "promote:rook"]
    assert found["begins"] == ["a7", "", True]
    assert found["illegal"] == ["", "", False]
    assert found["other"] == ["b1", "", True]  # another piece instead
    assert found["lost"] == ["a7", "", False]  # nothing changes
    assert found["again"] == ["", "", True]  # the selection ends
    assert found["played"] == ["", "b1,c3", True]
    assert found["chosen"] == ["", "a7,a8,promote:rook", True]
