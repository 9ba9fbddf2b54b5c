"""Paco Ŝako as a picture of characters."""

from __future__ import annotations

import plyground as pg


def test_unions_and_choices_are_drawn(paco_sako: pg.Game) -> None:
    position = paco_sako.position("4k3/8/8/8/8/2p5/8/c3K3 w 0 - - -")
    assert str(position).splitlines()[7] == "1  ♖♟  ·   ·   ·   ♔   ·   ·   ·"
    position = position.play("La1")
    assert paco_sako.rules.draw_marked is not None
    marked = paco_sako.rules.draw_marked(position.state, 0, None, position.legal()).splitlines()
    assert marked[7] == "1   ·  * ·  * ·  * ·    ♔    ·    ·    ·"
    assert marked[8] == "    a    b    c    d    e    f    g    h"
    before = paco_sako.position("4k3/8/8/8/8/8/8/c3K3 w 0 - - -")
    union = paco_sako.rules.draw_marked(before.state, 0, paco_sako.position("4k3/8/8/8/8/8/8/4K3 w 0 - - -").state, [0])
    assert union.splitlines()[7].startswith("1 *[♖♟]  ·  "), "what has changed and may be lifted"
    assert marked[-1] == "White: place · ♖♟ from a1 in the hand"
