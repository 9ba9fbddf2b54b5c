"""What a tree has found: the policy, the action to play, values and proofs, as a row of the result.

Bodies for tree i that know no game, the same on every device; `tree.py` calls them.
"""

from __future__ import annotations

import numpy as np

from plyground.games.interface import State
from plyground.kernels.no_refcounts import uncounted_body
from plyground.search.tree_arrays import DRAWN, LOST, OPEN, TOP, WON, Result, Settings, Trees, Whole
from plyground.search.tree_policy import NOTHING, completed_scale, improve_policy, mixed_value


@uncounted_body
def finish_tree(i: int, trees: Trees, settings: Settings, result: Result) -> None:
    """Write what tree i has found into row i of the result."""
    root = trees.nodes[i, 0]
    first, count = np.int64(root["first"]), np.int64(root["count"])
    result.proven[i], result.simulations[i] = root["proven"], trees.counters[i]["total"]
    for k in range(result.actions.shape[1]):
        result.actions[i, k], result.visits[i, k], result.priors[i, k] = -1, 0, 0.0
        result.action_values[i, k], result.action_proven[i, k] = 0.0, OPEN
        result.distances[i, k], result.policy[i, k] = 0, 0.0
    for k in range(count):
        edge = trees.edges[i, first + k]
        result.actions[i, k], result.visits[i, k] = edge["action"], edge["visits"]
        result.priors[i, k], result.action_values[i, k] = edge["prior"], edge["value"]
        if edge["child"] >= 0 and trees.nodes[i, edge["child"]]["proven"] != OPEN:
            child = trees.nodes[i, edge["child"]]
            result.action_proven[i, k] = seen_by_parent(root, child)
            result.distances[i, k] = child["distance"]
    write_policy(i, trees, settings, result)
    result.chosen[i] = -1
    if count > 0:
        chosen = choose_action(i, trees, settings, result)
        result.chosen[i] = result.actions[i, chosen]
    write_value(i, trees, result)


@uncounted_body
def write_policy(i: int, trees: Trees, settings: Settings, result: Result) -> None:
    """The improved policy, or the shares of the visits; of a proven position, the actions that keep its value."""
    root, total = trees.nodes[i, 0], 0.0
    first, count = np.int64(root["first"]), np.int64(root["count"])
    if settings.gumbel and count > 0:
        improve_policy(i, TOP, trees, settings)
    for k in range(count):
        edge, proven = trees.edges[i, first + k], result.action_proven[i, k]
        share = np.float64(edge["weight"]) if settings.gumbel else np.float64(edge["visits"])
        if root["proven"] != OPEN:
            share = 1.0 if proven == root["proven"] else 0.0
        elif proven == LOST:
            share = 0.0
        result.policy[i, k] = share
        total += share
    for k in range(count):
        result.policy[i, k] = result.policy[i, k] / total if total > 0.0 else 1.0 / count


@uncounted_body
def choose_action(i: int, trees: Trees, settings: Settings, result: Result) -> Whole:
    """The place of the action to play: of a proven position the soonest win or the latest loss; otherwise the most
    visited one, of equally visited ones the best."""
    root = trees.nodes[i, 0]
    first, count = np.int64(root["first"]), np.int64(root["count"])
    mixed, scale = 0.0, 1.0
    if settings.gumbel:
        mixed, scale = mixed_value(i, TOP, trees), completed_scale(i, TOP, trees, settings)
    chosen, best, most = np.int64(0), NOTHING, NOTHING
    for k in range(count):
        edge, proven = trees.edges[i, first + k], result.action_proven[i, k]
        rank = np.float64(trees.roots[i, k]["visits"] if settings.gumbel else edge["visits"])
        if root["proven"] == WON or root["proven"] == LOST:
            rank = np.float64(result.distances[i, k]) if root["proven"] == LOST else -np.float64(result.distances[i, k])
        if proven != root["proven"] and (root["proven"] != OPEN or proven == LOST):
            rank -= 1e9
        value = np.float64(edge["value"]) if edge["visits"] > 0 or not settings.gumbel else mixed
        score = trees.roots[i, k]["bias"] + scale * value if settings.gumbel else value
        if rank > most or (rank == most and score > best):
            chosen, best, most = k, score, rank
    return chosen


@uncounted_body
def write_value(i: int, trees: Trees, result: Result) -> None:
    """The position's value: proven, or the mean of its actions' values by the policy."""
    root, value = trees.nodes[i, 0], 0.0
    mixed = mixed_value(i, TOP, trees)
    for k in range(root["count"]):
        value += result.policy[i, k] * (result.action_values[i, k] if result.visits[i, k] > 0 else mixed)
    result.values[i] = np.float64(root["proven"] - DRAWN) if root["proven"] != OPEN else value


@uncounted_body
def seen_by_parent(parent: State, child: State) -> Whole:
    """What a proven node is for the side to move in its parent."""
    return np.int64(child["proven"]) if parent["side"] == child["side"] else 2 * DRAWN - np.int64(child["proven"])
