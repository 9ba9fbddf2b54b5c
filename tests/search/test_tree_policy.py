"""Which edge is followed, on trees that are built by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plyground as pg
from plain_trees import bodies, grown
from plyground.search.tree_config import halving_schedule

pytestmark = pytest.mark.compiled


def test_puct_balances_value_and_prior(three: pg.Game) -> None:
    edges = [(0.5, 10, 0.1), (0.3, 3, 0.1), (0.2, 1, -0.1)]
    kernels, settings, trees = grown(three, edges, exploration=1.5)
    root = math.sqrt(15.0)
    scores = [value + 1.5 * root * prior / (1 + visits) for prior, visits, value in edges]
    assert kernels.choose_by_puct(0, 0, trees, settings) == int(np.argmax(scores)) == 1


def test_the_mixed_value_weighs_visited_actions_by_their_priors(three: pg.Game) -> None:
    kernels, _, trees = grown(three, [(0.5, 2, 0.4), (0.3, 1, -0.2), (0.2, 0, 0.0)], selection="gumbel")
    trees.nodes[0, 0]["value"] = 0.1
    visited = (0.5 * 0.4 + 0.3 * -0.2) / 0.8
    assert kernels.mixed_value(0, 0, trees) == pytest.approx((0.1 + 3 * visited) / 4, abs=1e-6)


def test_the_improved_policy_is_a_softmax_of_log_priors_and_completed_values(three: pg.Game) -> None:
    edges = [(0.5, 2, 0.4), (0.3, 1, -0.2), (0.2, 0, 0.0)]
    kernels, settings, trees = grown(three, edges, selection="gumbel")
    mixed, scale = kernels.mixed_value(0, 0, trees), (50 + 2) * 0.1
    logits = [math.log(prior) + scale * (value if visits else mixed) for prior, visits, value in edges]
    total = kernels.improve_policy(0, 0, trees, settings)
    wanted = np.exp(logits) / np.exp(logits).sum()
    assert trees.edges["weight"][0, :3] / total == pytest.approx(wanted, abs=1e-5)
    shares = wanted - np.array([2, 1, 0]) / 4
    assert kernels.choose_by_improved_policy(0, 0, trees, settings) == int(np.argmax(shares))


def test_sequential_halving_visits_all_and_then_the_better_half() -> None:
    schedule = halving_schedule(4, 16)
    assert schedule[4].tolist() == [0] * 4 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, 5]
    assert schedule[1].tolist() == list(range(16))


@pytest.mark.parametrize("before", [[0, 0, 0, 0], [9, 0, 3, 1]])
def test_visits_of_an_earlier_search_do_not_break_sequential_halving(three: pg.Game, before: list[int]) -> None:
    """Each of the four actions is visited in the round, however often it was before."""
    edges = [(0.25, visits, 0.1 * k if visits else 0.0) for k, visits in enumerate(before)]
    kernels, settings, trees = grown(three, edges, selection="gumbel", considered=4)
    wanted, chosen = halving_schedule(4, 8), list[int]()
    for _ in range(8):
        chosen.append(kernels.choose_by_halving(0, trees, wanted, settings))
        kernels.back_up(0, chosen[-1] + 1, 0.0, trees)
    assert sorted(chosen[:4]) == [0, 1, 2, 3]
    assert trees.roots["visits"][0, :4].sum() == 8
    assert sorted(trees.roots["visits"][0, :4])[:2] == [1, 1]


def test_dirichlet_noise_has_the_share_and_the_mean_that_it_should(three: pg.Game) -> None:
    kernels = bodies(three)
    rng = np.array([3], np.uint64)
    draws = np.array([kernels.gamma(rng, 0.3) for _ in range(4000)])
    assert draws.mean() == pytest.approx(0.3, abs=0.04)
    assert draws.var() == pytest.approx(0.3, abs=0.08)
    _, settings, trees = grown(three, [(0.7, 0, 0.0), (0.2, 0, 0.0), (0.1, 0, 0.0)], noise=True, noise_share=0.25)
    priors = trees.edges["prior"][0, :3]
    assert priors.sum() == pytest.approx(1.0, abs=1e-5)
    assert settings.noise == 0.25
    assert (priors >= np.array([0.7, 0.2, 0.1]) * 0.75 - 1e-6).all()
    assert priors.tolist() != pytest.approx([0.7, 0.2, 0.1])
