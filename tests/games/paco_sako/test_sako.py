"""Ŝako without the compiler is Ŝako."""

from __future__ import annotations

import plyground as pg
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako.sako import in_sako


def test_a_king_in_danger_is_found_as_the_compiled_search_finds_it(paco_sako: pg.Game) -> None:
    greedy, found = pg.agent("greedy", paco_sako), list[bool]()
    for seed in range(12):
        position = paco_sako.start()
        for ply in range(60):
            if position.over:
                break
            if not any(position.state["hand"]) and position.state["required"] == 0:
                found.append(in_sako(position.state))
                assert found[-1] == bool(analysis.in_sako(position, position.to_move))
            choices = position.legal()
            position = position.play(position.ask(greedy, ply) if ply % 3 else choices[(7 * seed + ply) % len(choices)])
    assert {True, False} == set(found)


def test_within_a_turn_and_after_the_end_nobody_says_it(paco_sako: pg.Game) -> None:
    start = paco_sako.position("4k3/8/8/8/8/8/4r3/4K3 w 0 - - -")
    assert in_sako(start.state)
    assert not in_sako(start.play("Le1").state)
    over = paco_sako.position("4k3/8/8/8/8/8/8/K3R3 w 0 - - -").play("Le1").play("Pe8")
    assert over.over
    assert not in_sako(over.state)
