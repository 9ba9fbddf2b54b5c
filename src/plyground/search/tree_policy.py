"""Which edge of a tree a simulation follows: PUCT, or Gumbel search with sequential halving; noise at the root.

Bodies for tree i that know no game, the same on every device; `tree.py` calls them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plyground.games.rng import Rng, uniform
from plyground.kernels.no_refcounts import uncounted_body
from plyground.search.tree_arrays import TOP, Ints, Settings, Trees, Whole

LEAST = 1e-12  # a prior has a logarithm
NOTHING = -1e30


# ---- a round of simulations: noise at the root ----


@uncounted_body
def begin_round(i: int, trees: Trees, settings: Settings) -> None:
    """Draw noise for the expanded root, and count its visits from 0: those of an earlier search do not count in
    sequential halving."""
    root, tree = trees.nodes[i, 0], trees.counters[i]
    first, count, rng = root["first"], root["count"], trees.rngs[i : i + 1]
    tree["simulations"] = 0
    for k in range(count):
        own, edge = trees.roots[i, k], trees.edges[i, first + k]
        own["visits"], own["bias"] = 0, 0.0
        if settings.gumbel:
            own["bias"] = math.log(max(np.float64(edge["prior"]), LEAST))
            if settings.noise > 0.0:
                own["bias"] += settings.noise * gumbel(rng)
    if not settings.gumbel and settings.noise > 0.0:
        add_dirichlet(i, trees, settings)


@uncounted_body
def add_dirichlet(i: int, trees: Trees, settings: Settings) -> None:
    """Mix Dirichlet noise into the priors of the root."""
    root, rng, total = trees.nodes[i, 0], trees.rngs[i : i + 1], 0.0
    first, count = root["first"], root["count"]
    for k in range(count):
        trees.roots[i, k]["bias"] = gamma(rng, settings.noise_alpha)
        total += trees.roots[i, k]["bias"]
    for k in range(count):
        edge = trees.edges[i, first + k]
        edge["prior"] += settings.noise * (trees.roots[i, k]["bias"] / max(total, LEAST) - edge["prior"])
        if edge["weight"] >= 0.0:
            edge["weight"] = edge["prior"] / np.float32(1 + edge["visits"])


@njit
def gumbel(rng: Rng) -> float:
    """A draw of the standard Gumbel distribution."""
    return -math.log(-math.log(max(uniform(rng), LEAST)))


@njit
def gamma(rng: Rng, shape: float) -> float:
    """A draw of the gamma distribution with a small shape: that of shape + 1 (Marsaglia and Tsang), scaled down."""
    d = shape + 1.0 - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        normal = math.sqrt(-2.0 * math.log(max(uniform(rng), LEAST))) * math.cos(2.0 * math.pi * uniform(rng))
        v = (1.0 + c * normal) ** 3
        if v > 0.0 and math.log(max(uniform(rng), LEAST)) < 0.5 * normal * normal + d - d * v + d * math.log(v):
            return d * v * max(uniform(rng), LEAST) ** (1.0 / shape)


# ---- selection ----


@uncounted_body
def choose_edge(i: int, n: Whole, trees: Trees, wanted: Ints, settings: Settings) -> Whole:
    if not settings.gumbel:
        return choose_by_puct(i, n, trees, settings)
    if n > 0:
        return choose_by_improved_policy(i, n, trees, settings)
    return choose_by_halving(i, trees, wanted, settings)


@uncounted_body
def choose_by_puct(i: int, n: Whole, trees: Trees, settings: Settings) -> Whole:
    """The edge with the largest value + exploration * prior * sqrt(visits of the node) / (1 + own visits)."""
    node = trees.nodes[i, n]
    first, count = np.int64(node["first"]), np.int64(node["count"])
    scale = np.float32(settings.exploration * math.sqrt(np.float64(node["visits"])))
    chosen, best = first, np.float32(NOTHING)
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        score = edge["value"] + scale * edge["weight"]
        if score > best:
            chosen, best = e, score
    return chosen


# ---- Gumbel search: completed values, the improved policy, sequential halving ----


@uncounted_body
def mixed_value(i: int, n: Whole, trees: Trees) -> float:
    """What an action without visits is worth: the node's own value and its visited actions, weighted by priors."""
    node = trees.nodes[i, n]
    first, count = node["first"], node["count"]
    visits, prior, value = 0, 0.0, 0.0
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        if edge["visits"] > 0:
            visits += edge["visits"]
            prior += max(np.float64(edge["prior"]), LEAST)
            value += max(np.float64(edge["prior"]), LEAST) * edge["value"]
    return (node["value"] + visits * value / prior) / (1.0 + visits) if visits > 0 else np.float64(node["value"])


@uncounted_body
def completed_scale(i: int, n: Whole, trees: Trees, settings: Settings) -> float:
    """The factor of values beside log priors: it grows with the visits of the most visited action."""
    node, most = trees.nodes[i, n], 0
    first, count = node["first"], node["count"]
    for e in range(first, first + count):
        most = max(most, np.int64(trees.edges[i, e]["visits"]))
    return (settings.visit_offset + most) * settings.value_scale


@uncounted_body
def improve_policy(i: int, n: Whole, trees: Trees, settings: Settings) -> float:
    """Leave in each edge's `weight` the share of its action in the improved policy, not normalised; returns the sum.

    The improved policy is softmax(log prior + scale * completed value), without proven losses.
    """
    node = trees.nodes[i, n]
    first, count = node["first"], node["count"]
    mixed, scale = mixed_value(i, n, trees), completed_scale(i, n, trees, settings)
    top, total = NOTHING, 0.0
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        if edge["weight"] >= 0.0:
            top = max(top, np.float64(edge["value"]) if edge["visits"] > 0 else mixed)
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        if edge["weight"] >= 0.0:
            value = np.float64(edge["value"]) if edge["visits"] > 0 else mixed
            edge["weight"] = max(np.float64(edge["prior"]), LEAST) * math.exp(max(scale * (value - top), -80.0))
            total += edge["weight"]
    return total


@uncounted_body
def choose_by_improved_policy(i: int, n: Whole, trees: Trees, settings: Settings) -> Whole:
    """The edge whose share of the visits lies furthest below its share in the improved policy."""
    total = improve_policy(i, n, trees, settings)
    node, visits = trees.nodes[i, n], 1
    first, count = np.int64(node["first"]), np.int64(node["count"])
    for e in range(first, first + count):
        visits += trees.edges[i, e]["visits"]
    chosen, best = first, NOTHING
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        score = edge["weight"] / total - edge["visits"] / np.float64(visits)
        if edge["weight"] >= 0.0 and score > best:
            chosen, best = e, score
    return chosen


@uncounted_body
def choose_by_halving(i: int, trees: Trees, wanted: Ints, settings: Settings) -> Whole:
    """Sequential halving at the root: the best action among those with as many visits in this round as the schedule
    `wanted` [considered + 1, simulations] names; proven losses aside. If there is none, the best of all."""
    root, tree = trees.nodes[i, 0], trees.counters[i]
    first, count = np.int64(root["first"]), np.int64(root["count"])
    mixed, scale = mixed_value(i, TOP, trees), completed_scale(i, TOP, trees, settings)
    due = wanted[min(count, wanted.shape[0] - 1), min(np.int64(tree["simulations"]), wanted.shape[1] - 1)]
    chosen, best, found = first, NOTHING, False
    for k in range(count):
        edge, own = trees.edges[i, first + k], trees.roots[i, k]
        if edge["weight"] < 0.0:
            continue
        score = own["bias"] + scale * (edge["value"] if edge["visits"] > 0 else mixed)
        fits = own["visits"] == due
        if (fits and not found) or (fits == found and score > best):
            chosen, best, found = first + k, score, fits
    return chosen
