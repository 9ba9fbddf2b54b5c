"""A person in front of the page, in a real browser, for tests: clicks, keys, and what is seen."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import plyground as pg
from plyground.play.typed import part

PATIENCE = 300_000  # milliseconds until a test gives an answer up: a search may be compiled first, on a busy machine
READY = ".scene.yours:not(.pending), .status.ended"  # the person is to act, or the game is over
LIVE = ".cell:is(.movable, .target):visible"

# positions
CHAIN = "1or1k2r/2P2p2/1pDqp3/3p2a1/pabb3a/4N3/1B1PBP1R/1RQ1K1N1 w 8 h - -"  # Rh2 releases on h4, then on g5
GIFT = "rFb1k3/3nS2r/p1p4p/Pp1p2pe/1P1Pp1D1/4P2N/3B1P1P/1R1Q1K1R w 4 - - - =b8L"  # black moved a white pawn to b8
JACK = (
    "#________#/bb________/__b___r_br/__________/__________/rbr__r____/_____r____/_______b__/__________/#________# "
    "turn=0 hands=qh9s+8h+9s+2c+jd+,8h4h4cad+7c+7s+ display=8s2s7c4sad deck=tdkh3ckhkskcjc3dqcjhah3s6s2sts7h5s5s2hkc4d"
    "7h9h4hahjs7d3h4d2h5hjskd8d9c4sts6h9d6sqdqh9d5h7dtd2dth9h8d6hqd3d9c6c8stcksac6dasqs7sacqcas3c5d8c3s5c4c2c "
    "discards=qs2d8cjdth5d3h5cjhkd6djctc6c sequences=0,0 last=place-tc-a6-take-jd,place-6c-a2-take-7s"
)
TRADE = (
    "#rrbrbb__#/_rr_rrrb__/rbb__rb_rb/_bb_rrb_b_/bbrr_brr__/brbbbr____/brb_b__bbr/rrrrbb_brr/b_brrb__rb/#rrrbbb_r# "
    "turn=0 hands=ad4d+5h+9s+2d+ac+,ts+th+7s+th+8c+ks+ display=asjc3c3djh deck=8s7d8dtdjs6h2sqhkh2h8h7h9d7d6c "
    "discards=jdqc4h8d2c3s5cjhkhqs7c2dahks7c6s3cjstc9c3h5d5sqd2s5h6htdqc9c9s8h6dkcadqhtsas3s2h5ckd4c4h8stc5s9dkdjc3d8ckc"
    "9h4sqs4dacjd2c4c6d9h6cah7s5d6s3h4sqd7h sequences=0,0 last=place-qd-d10-take-ac,place-7h-d6-take-ks"
)


class Person:
    """What a person does on a page of Playwright."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address

    def go(self, view: str = "") -> None:
        """Load a view anew: `watch`, `learn`; empty: the first one."""
        self.page.goto(f"{self.address}#/{view}")
        self.page.reload()
        self.page.locator("h1").wait_for()

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name, exact=True)

    def field(self, label: str) -> Any:
        """The select or input beside a label of the forms."""
        text = self.page.locator("span", has_text=re.compile(f"^{re.escape(label)}$"))
        return self.page.locator("label", has=text).locator("select, input, textarea")

    def new(self, game: str, against: str = "random", text: str = "", **fields: str) -> None:
        """Begin a game; `fields` are settings and other selects, by label with underscores."""
        self.go()
        self.page.get_by_role("radio", name=game, exact=True).check()
        for label, value in fields.items():
            self.field(label.replace("_", " ")).select_option(label=value)
        self.field("Against").select_option(label=against)
        if text:
            self.page.get_by_text("Begin at another position").click()
            self.field("Position or game as text").fill(text)
        self.page.locator("form").first.get_by_role("button", name="Play").click()
        self.page.locator(".scene .cell").first.wait_for(timeout=PATIENCE)

    def study(self, game: str, text: str) -> None:
        """Open a position or a game to study."""
        self.go()
        form = self.page.locator("form", has_text="Study a position")
        form.locator("select").select_option(game)
        form.locator("textarea").fill(text)
        form.get_by_role("button", name="Open").click()
        self.page.locator(".scene .cell").first.wait_for(timeout=PATIENCE)

    # ---- the board ----

    def cell(self, word: str) -> Any:
        """The first cell with a word in click paths."""
        return self.page.locator(f'.scene .cell[data-click="{word}"]:visible').first

    def named(self, name: str) -> Any:
        return self.page.locator(f'.scene .cell[data-cell="{name}"]')

    def click(self, word: str) -> None:
        self.cell(word).click()

    def press(self, word: str) -> None:
        """Go to a cell with the keyboard alone, and press space."""
        keys = self.page.keyboard
        for _ in range(200):
            where = self.page.evaluate(WAY, word)
            if where == "there":
                keys.press(" ")
                return
            keys.press(where)
        raise AssertionError(f"the keyboard does not reach {word}")

    def wait(self) -> None:
        """Until the person is to act, or the game is over."""
        self.page.locator(READY).first.wait_for(timeout=PATIENCE)

    @property
    def over(self) -> bool:
        return bool(self.page.locator(".status.ended").count())

    @property
    def status(self) -> str:
        return self.page.locator(".status").inner_text()

    @property
    def moves(self) -> list[str]:
        return self.page.locator(".moves .move").all_inner_texts()

    def items(self) -> dict[str, str]:
        """What stands on the cells of the board, by name."""
        cells = self.page.locator('.zone[data-zone="board"] .cell[data-items]')
        return dict(cells.evaluate_all("all => all.map(cell => [cell.dataset.cell, cell.dataset.items])"))

    def labels(self) -> list[str]:
        return self.page.locator(".scene .cell").evaluate_all("all => all.map(cell => cell.ariaLabel)")

    # ---- whole games ----

    def play(self, choose: Callable[[list[str]], Iterator[str]], act: Callable[[str], None], most: int = 400) -> str:
        """Play to the end: `choose` gives the words of the next action, `act` clicks them. The result in words."""
        for _ in range(most):
            self.wait()
            if self.over:
                return self.status
            for word in choose(self.moves):
                act(word)
        raise AssertionError(f"no end after {most} actions: {self.moves}")

    def any_clicks(self, seed: int) -> Callable[[list[str]], Iterator[str]]:
        """One cell after another of those that the page offers."""
        rng = random.Random(seed)

        def choose(_: list[str]) -> Iterator[str]:
            before = len(self.moves)  # quick opponents may have answered already: then a new move has begun
            while len(self.moves) == before and not self.page.locator(".scene.pending").count():
                words = self.page.locator(LIVE).evaluate_all("all => all.map(cell => cell.dataset.click)")
                if not words:
                    return  # the answer came meanwhile
                yield rng.choice(sorted(set(words)))

        return choose


def as_agent(game: str, agent: str) -> Callable[[list[str]], Iterator[str]]:
    """Clicks as an agent would act, which sees the list of moves."""
    loaded = pg.load(game)
    player, positions = pg.agent(agent, loaded), [loaded.start()]

    def choose(moves: list[str]) -> Iterator[str]:
        for name in moves[len(positions) - 1 :]:
            before = positions[-1]
            positions.append(before.play(next(each for each in before.legal() if part(before, each) == name)))
        yield from positions[-1].clicks(positions[-1].ask(player))

    return choose


WAY = """word => {
  const cells = [...document.querySelectorAll('.scene .cell')].filter(each => each.offsetParent);
  const target = cells.find(each => each.dataset.click === word);
  const here = document.activeElement;
  if (here.dataset.click === word) return 'there';
  const zones = [...new Set(cells.map(each => each.closest('.zone')))];
  const [from, to] = [here, target].map(each => zones.indexOf(each.closest('.zone')));
  if (from < 0) return 'Tab';
  if (from !== to) return from < to ? 'Tab' : 'Shift+Tab';
  const columns = Number(zones[from].style.getPropertyValue('--columns'));
  const inside = cells.filter(each => each.closest('.zone') === zones[from]);
  const [a, b] = [here, target].map(each => inside.indexOf(each));
  if (Math.floor(a / columns) !== Math.floor(b / columns)) return a < b ? 'ArrowDown' : 'ArrowUp';
  return a < b ? 'ArrowRight' : 'ArrowLeft';
}"""
"""the next key on the way to a cell"""
