"""What a tree has found, on trees that are built by hand."""

from __future__ import annotations

import pytest

import plyground as pg
from plain_trees import grown
from plyground.search.tree_arrays import DRAWN, LOST, OPEN, WON
from plyground.search.tree_memory import new_result

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("selection", ["puct", "gumbel"])
def test_an_action_that_loses_has_no_share_and_is_not_chosen(three: pg.Game, selection: str) -> None:
    """However often it was visited before it was refuted."""
    kernels, settings, trees = grown(three, [(0.5, 9, 0.9), (0.3, 3, 0.2), (0.2, 1, -0.1)], selection=selection)
    trees.nodes[0, 1]["proven"] = WON
    trees.roots[0]["visits"][:3] = [9, 3, 1]
    result = new_result(three, 1)
    kernels.finish_tree(0, trees, settings, result)
    assert result.action_proven[0, :3].tolist() == [LOST, OPEN, OPEN]
    assert result.policy[0, 0] == 0.0
    assert result.policy[0].sum() == pytest.approx(1.0)
    assert result.chosen[0] == 1
    assert (result.actions[0, 3:] == -1).all()


@pytest.mark.parametrize(("seen", "own", "chosen"), [(LOST, WON, 2), (WON, LOST, 1)])
def test_the_soonest_win_and_the_latest_loss_are_chosen(three: pg.Game, seen: int, own: int, chosen: int) -> None:
    kernels, settings, trees = grown(three, [(0.5, 9, 0.0), (0.3, 3, 0.0), (0.2, 1, 0.0)])
    trees.nodes[0, 0]["proven"] = own
    for k, distance in enumerate((4, 6, 2)):
        trees.nodes[0, k + 1]["proven"], trees.nodes[0, k + 1]["distance"] = seen, distance
    result = new_result(three, 1)
    kernels.finish_tree(0, trees, settings, result)
    assert result.chosen[0] == chosen
    assert result.values[0] == own - DRAWN
    assert result.policy[0, :3] == pytest.approx([1 / 3] * 3)


def test_actions_without_visits_count_in_the_value_with_the_mixed_value(three: pg.Game) -> None:
    kernels, settings, trees = grown(three, [(0.5, 2, 0.4), (0.5, 0, 0.0)], selection="gumbel")
    trees.nodes[0, 0]["value"] = 0.1
    result = new_result(three, 1)
    kernels.finish_tree(0, trees, settings, result)
    mixed = (0.1 + 2 * 0.4) / 3
    assert result.values[0] == pytest.approx(result.policy[0, 0] * 0.4 + result.policy[0, 1] * mixed, abs=1e-6)
