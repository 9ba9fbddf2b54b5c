"""Parts of trees that are kept for the next search."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from plain_trees import NO_MODEL, bodies
from plyground.search.tree_config import SearchConfig, halving_schedule
from plyground.search.tree_memory import new_trees, words_of

pytestmark = pytest.mark.compiled


def test_a_subtree_is_moved_to_the_root_with_all_it_holds(three: pg.Game) -> None:
    kernels, config = bodies(three), SearchConfig(leaf="random", lookahead=False)
    settings, wanted, source = config.settings(three), halving_schedule(16, 1), new_trees(three, 1, 300)
    kernels.begin_all(source, words_of(three.start().states), settings, NO_MODEL, three.work())
    kernels.simulate_all(source, 250, wanted, settings, NO_MODEL, three.work())
    position = three.start().play(4).play(0)
    node = kernels.find_state(source, words_of(position.states))
    target = new_trees(three, 1, 300)
    kernels.move_root(source, node, target, np.zeros(300, np.int32))
    assert target.states[0, 0].tobytes() == position.states[0].tobytes()
    old, new = source.nodes[0, node], target.nodes[0, 0]
    assert (new["visits"], new["count"], new["proven"]) == (old["visits"], old["count"], old["proven"])
    for k in range(target.counters["nodes"][0]):
        for e in range(target.nodes[0, k]["first"], target.nodes[0, k]["first"] + target.nodes[0, k]["count"]):
            child = target.edges[0, e]["child"]
            if child >= 0:
                assert (target.nodes[0, child]["parent"], target.nodes[0, child]["edge"]) == (k, e)
                assert target.nodes[0, child]["visits"] >= target.edges[0, e]["visits"]
    assert kernels.find_state(source, words_of(three.position("xo.xo.x.o").states)) == -1
