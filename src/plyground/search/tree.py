"""Template: tree search over any game, on the CPU: PUCT and Gumbel search, with proofs.

A simulation selects a path from the root to a leaf, evaluates the leaf and backs its value up. A body for tree i is the
same on every device; `cuda_tree.py` calls the same bodies. Without a network the leaves are evaluated here, and a whole
search is one compiled loop; nodes are then expanded at their second visit, since most are visited once. With a network
a node is expanded when the network has evaluated it.

A value is negated where the side to move changes, since one side may act several times in a row.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.interface import FIRST_WINS, RUNNING, State, value_for
from plyground.games.rng import Rng, below, uniform
from plyground.kernels.slots import MAX_LEGAL, STATE, choose, evaluate, legal, play, play_head, seat
from plyground.kernels.uncounted import uncounted_body, uncounted_loop
from plyground.search.tree_arrays import (
    DRAWN,
    EVALUATE,
    LOST,
    NETWORK,
    OPEN,
    SCRIPTED,
    WON,
    Floats,
    Ints,
    Records,
    Result,
    Settings,
    Trees,
)

Whole = int | np.int64
Words = NDArray[np.generic]

SIZE = STATE.itemsize // STATE.alignment  # of a record, in words
NEVER = np.float32(-1e6)  # the weight of an edge that is a proven loss: it is not selected again
LEAST = 1e-12  # a prior has a logarithm
NOTHING = -1e30
NOT_BEGUN = -1  # in place of a number of simulations: a network evaluates the root first


# ---- begin a search ----


@uncounted_body
def begin_tree(i: int, trees: Trees, roots: Words) -> None:
    """A tree of one node: the root, which is not expanded."""
    for k in range(SIZE):
        trees.words[i, 0, k] = roots[i, k]
    tree = trees.counters[i]
    tree["nodes"], tree["edges"], tree["total"] = 1, 0, 0
    add_node(i, 0, -1, -1, trees)
    trees.nodes[i, 0]["visits"] = 1


@uncounted_body
def add_node(i: int, n: Whole, parent: Whole, edge: Whole, trees: Trees) -> None:
    """Fill node n, whose state is there already."""
    state, node = trees.states[i, n], trees.nodes[i, n]
    node["first"], node["count"], node["visits"], node["value"] = 0, 0, 0, 0.0
    node["parent"], node["edge"], node["distance"] = parent, edge, 0
    node["side"], node["proven"] = state["to_move"], OPEN
    if state["outcome"] != RUNNING:
        node["value"] = value_for(state["outcome"], state["to_move"])
        node["proven"] = int(node["value"]) + DRAWN


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


# ---- select ----


@uncounted_body
def select_leaf(i: int, trees: Trees, wanted: Ints, settings: Settings, work: State) -> Whole:
    """Follow the best edges from the root to a new node, which is added, or to a proven one.

    If the tree is full, it is the last node on the way: that is evaluated once more.
    """
    n = np.int64(0)
    while trees.nodes[i, n]["proven"] == OPEN:
        wins = np.int64(-1)
        if trees.nodes[i, n]["count"] == 0:
            if settings.leaf == NETWORK or not expand(i, n, trees, settings, work):
                break
            wins = find_win(i, n, trees, settings, work)
        e = wins if wins >= 0 else choose_edge(i, n, trees, wanted, settings)
        child = np.int64(trees.edges[i, e]["child"])
        if child < 0:
            child = add_child(i, n, e, trees, work)
            n = child if child >= 0 else n
            break
        n = child
    return n


@uncounted_body
def expand(i: int, n: Whole, trees: Trees, settings: Settings, work: State) -> bool:
    """Add an edge for each legal action, with equal priors; false if there is no room for them."""
    node, tree, actions = trees.nodes[i, n], trees.counters[i], trees.actions[i]
    count, first = legal(trees.states[i, n], actions, work), tree["edges"]
    if first + count > trees.edges.shape[1]:
        return False
    prior, value = np.float32(1.0 / count), np.float32(-settings.first_play)
    if settings.leaf <= EVALUATE:
        value += node["value"]
    for k in range(count):
        edge = trees.edges[i, first + k]
        edge["value"], edge["weight"], edge["prior"] = value, prior, prior
        edge["child"], edge["action"], edge["visits"] = -1, actions[k], 0
    node["first"], node["count"] = first, count
    tree["edges"] = first + count
    return True


@uncounted_body
def find_win(i: int, n: Whole, trees: Trees, settings: Settings, work: State) -> Whole:
    """An edge of an expanded node that wins at once, as far as `lookahead` asks for it; -1 if there is none."""
    node, state = trees.nodes[i, n], trees.ahead[i]
    first, count = np.int64(node["first"]), np.int64(node["count"])
    found, e = np.int64(-1), first
    while settings.lookahead and found < 0 and e < first + count:
        for k in range(settings.head_size):
            trees.ahead_words[i, k] = trees.words[i, n, k]
        play_head(state, trees.edges[i, e]["action"], trees.rngs[i : i + 1], work)
        if state["outcome"] == FIRST_WINS + node["side"]:
            found = e
        e += 1
    return found


@uncounted_body
def add_child(i: int, n: Whole, e: Whole, trees: Trees, work: State) -> Whole:
    """The number of the node that edge e of node n leads to, which is added; -1 if the tree is full."""
    tree, edge = trees.counters[i], trees.edges[i, e]
    child = np.int64(tree["nodes"])
    if child == trees.nodes.shape[1]:
        return np.int64(-1)
    for k in range(SIZE):
        trees.words[i, child, k] = trees.words[i, n, k]
    play(trees.states[i, child], edge["action"], trees.rngs[i : i + 1], work)
    add_node(i, child, n, e, trees)
    edge["child"], tree["nodes"] = child, child + 1
    return child


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
    mixed, scale = mixed_value(i, 0, trees), completed_scale(i, 0, trees, settings)
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


# ---- evaluate a leaf without a network ----


@uncounted_body
def leaf_value(i: int, n: Whole, trees: Trees, settings: Settings, work: State) -> float:
    """The value of node n for its side to move: proven, by `evaluate`, or by random play."""
    node = trees.nodes[i, n]
    if node["proven"] != OPEN:
        return np.float64(node["proven"] - DRAWN)
    if settings.leaf == EVALUATE:
        return np.float64(evaluate(trees.states[i, n]))
    total = 0.0
    for _ in range(settings.rollouts):
        total += play_out(i, n, trees, settings, work)
    return total / settings.rollouts


@uncounted_body
def play_out(i: int, n: Whole, trees: Trees, settings: Settings, work: State) -> float:
    """The result of random play, or of a scripted agent's against itself, from node n for its side to move; after
    `rollout_plies`, the game's `evaluate`."""
    for k in range(SIZE):
        trees.ahead_words[i, k] = trees.words[i, n, k]
    state, actions, rng, left = trees.ahead[i], trees.actions[i], trees.rngs[i : i + 1], settings.rollout_plies
    while state["outcome"] == RUNNING and left > 0:
        if settings.leaf == SCRIPTED:
            action = int(choose(state, rng, work))
        else:
            action = actions[below(rng, legal(state, actions, work))]
        play(state, action, rng, work)
        left -= 1
    side = trees.nodes[i, n]["side"]
    if state["outcome"] != RUNNING:
        return value_for(state["outcome"], side)
    value = np.float64(evaluate(state))
    return value if state["to_move"] == side else -value


# ---- back up ----


@uncounted_body
def back_up(i: int, leaf: Whole, value: float, trees: Trees) -> None:
    """Enter the value of a leaf, for its side to move, on the way back to the root, and what it proves."""
    n, node = np.int64(leaf), trees.nodes[i, leaf]
    proves = node["proven"] != OPEN and node["visits"] == 0
    node["visits"] += 1
    refuted = False
    while n > 0:
        e, parent = np.int64(node["edge"]), np.int64(node["parent"])
        edge, above = trees.edges[i, e], trees.nodes[i, parent]
        if above["side"] != node["side"]:
            value = -value
        visits = edge["visits"] + 1
        edge["value"] = value if visits == 1 or refuted else edge["value"] + (value - edge["value"]) / visits
        edge["weight"], edge["visits"] = edge["prior"] / np.float32(1 + visits), visits
        above["visits"] += 1
        if parent == 0:
            trees.roots[i, e - above["first"]]["visits"] += 1
        refuted = False
        if proves:
            proves = prove(i, parent, e, trees)
            if proves:
                value = np.float64(above["proven"] - DRAWN)
            elif edge["weight"] < 0.0:
                value, refuted = remaining_value(i, parent, value, trees)
        n, node = parent, above
    tree = trees.counters[i]
    tree["simulations"] += 1
    tree["total"] += 1


@uncounted_body
def remaining_value(i: int, n: Whole, otherwise: float, trees: Trees) -> tuple[float, bool]:
    """The mean of a node's visits without those of actions that are proven losses, and whether there are any."""
    node, visits, total = trees.nodes[i, n], 0, 0.0
    first, count = np.int64(node["first"]), np.int64(node["count"])
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        if edge["weight"] >= 0.0 and edge["visits"] > 0:
            visits += edge["visits"]
            total += edge["visits"] * np.float64(edge["value"])
    return (total / visits, True) if visits > 0 else (otherwise, False)


@uncounted_body
def seen_by_parent(parent: State, child: State) -> Whole:
    """What a proven node is for the side to move in its parent."""
    return np.int64(child["proven"]) if parent["side"] == child["side"] else 2 * DRAWN - np.int64(child["proven"])


@uncounted_body
def prove(i: int, n: Whole, e: Whole, trees: Trees) -> bool:
    """Enter that edge e of node n leads to a proven node; returns whether that proves node n too."""
    node, edge = trees.nodes[i, n], trees.edges[i, e]
    child = trees.nodes[i, edge["child"]]
    result = seen_by_parent(node, child)
    edge["value"] = np.float32(result - DRAWN)
    if result == WON:
        node["proven"], node["distance"] = WON, child["distance"] + 1
        return True
    if result == LOST:
        edge["weight"] = NEVER
    best, distance = LOST, 0
    first, count = np.int64(node["first"]), np.int64(node["count"])
    for k in range(first, first + count):
        below_it = np.int64(trees.edges[i, k]["child"])
        if below_it < 0 or trees.nodes[i, below_it]["proven"] == OPEN:
            return False
        best = max(best, seen_by_parent(node, trees.nodes[i, below_it]))
        distance = max(distance, np.int64(trees.nodes[i, below_it]["distance"]) + 1)
    node["proven"], node["distance"] = best, distance if best == LOST else 0
    return True


@uncounted_body
def take_win(i: int, n: Whole, trees: Trees, settings: Settings, work: State) -> bool:
    """Make an action that wins at once, if an expanded node has one, a simulation of its own."""
    wins = find_win(i, n, trees, settings, work)
    child = add_child(i, n, wins, trees, work) if wins >= 0 else np.int64(-1)
    if child >= 0:
        back_up(i, child, np.float64(trees.nodes[i, child]["value"]), trees)
    return bool(child >= 0)


# ---- with a network ----


@uncounted_body
def expand_by_network(
    i: int, n: Whole, trees: Trees, settings: Settings, logits: Floats, value: float, outputs: Ints, work: State
) -> bool:
    """Expand node n, which a network has evaluated: logits [N, outputs], and its value for the side to move.

    `outputs` [SEATS, A] is the output for each action as each seat sees it; an action without one has a prior near 0.
    Returns false if there is no room for edges.
    """
    node = trees.nodes[i, n]
    node["value"] = value
    if not expand(i, n, trees, settings, work):
        return False
    first, count, acting = node["first"], node["count"], seat(trees.states[i, n])
    top, total = NOTHING, 0.0
    for e in range(first, first + count):
        output = outputs[acting, trees.edges[i, e]["action"]]
        trees.edges[i, e]["prior"] = logits[i, output] if output < logits.shape[1] else np.float32(NOTHING)
        top = max(top, np.float64(trees.edges[i, e]["prior"]))
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        edge["prior"] = math.exp(max(edge["prior"] - top, -80.0))
        total += edge["prior"]
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        edge["prior"] = edge["weight"] = edge["prior"] / total
    return True


@uncounted_body
def plant(i: int, trees: Trees, roots: Words) -> None:
    """A tree of one node, which a network evaluates first."""
    begin_tree(i, trees, roots)
    trees.counters[i]["total"] = NOT_BEGUN


@uncounted_body
def select_for_network(i: int, trees: Trees, leaves: Words, wanted: Ints, settings: Settings, work: State) -> None:
    """Select a leaf of tree i and copy its state, as far as a network sees it, into leaves [N, size]."""
    n = np.int64(0)
    if trees.nodes[i, 0]["count"] > 0 and trees.counters[i]["total"] != NOT_BEGUN:
        n = select_leaf(i, trees, wanted, settings, work)
    trees.counters[i]["leaf"] = n
    for k in range(leaves.shape[1]):
        leaves[i, k] = trees.words[i, n, k]


@uncounted_body
def expand_and_back_up(
    i: int, trees: Trees, logits: Floats, values: Floats, outputs: Ints, settings: Settings, work: State
) -> None:
    """Expand the selected leaf of tree i, which a network has evaluated, and back its value up."""
    n, tree = np.int64(trees.counters[i]["leaf"]), trees.counters[i]
    node, begins = trees.nodes[i, n], tree["total"] == NOT_BEGUN
    if begins:
        tree["total"] = 0
    if trees.nodes[i, 0]["proven"] != OPEN:
        return
    value, waits = np.float64(values[i]), node["count"] == 0 and node["proven"] == OPEN
    if begins and not waits:  # a root that an earlier search has expanded
        begin_round(i, trees, settings)
        return
    if node["proven"] != OPEN:
        value = np.float64(node["proven"] - DRAWN)
    won = False
    if waits and expand_by_network(i, n, trees, settings, logits, value, outputs, work):
        if n == 0:
            begin_round(i, trees, settings)
        won = take_win(i, n, trees, settings, work)
    if not won and not (n == 0 and waits):  # the root's own evaluation is no simulation
        back_up(i, n, value, trees)


# ---- the result ----


@uncounted_body
def finish_tree(i: int, trees: Trees, settings: Settings, result: Result) -> None:
    """Write what tree i has found into row i of the result."""
    root = trees.nodes[i, 0]
    first, count = np.int64(root["first"]), np.int64(root["count"])
    result.proven[i], result.simulations[i] = root["proven"], trees.counters[i]["total"]
    for k in range(MAX_LEGAL):
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
        improve_policy(i, 0, trees, settings)
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
        mixed, scale = mixed_value(i, 0, trees), completed_scale(i, 0, trees, settings)
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
    mixed = mixed_value(i, 0, trees)
    for k in range(root["count"]):
        value += result.policy[i, k] * (result.action_values[i, k] if result.visits[i, k] > 0 else mixed)
    result.values[i] = np.float64(root["proven"] - DRAWN) if root["proven"] != OPEN else value


# ---- loops ----


@uncounted_body
def begin_search(i: int, trees: Trees, roots: Words, settings: Settings, work: State) -> None:
    """Begin a search without a network."""
    begin_tree(i, trees, roots)
    root = trees.nodes[i, 0]
    if root["proven"] == OPEN:
        if settings.leaf == EVALUATE:
            root["value"] = evaluate(trees.states[i, 0])
        expand(i, 0, trees, settings, work)
    begin_round(i, trees, settings)
    if root["proven"] == OPEN:
        take_win(i, 0, trees, settings, work)


@uncounted_body
def simulate(i: int, count: int, trees: Trees, wanted: Ints, settings: Settings, work: State) -> None:
    """Up to `count` simulations in tree i without a network; none after its root is proven."""
    while count > 0 and trees.nodes[i, 0]["proven"] == OPEN:
        leaf = select_leaf(i, trees, wanted, settings, work)
        value = leaf_value(i, leaf, trees, settings, work)
        if trees.nodes[i, leaf]["visits"] == 0:
            trees.nodes[i, leaf]["value"] = value
        back_up(i, leaf, value, trees)
        count -= 1


@uncounted_loop
def begin_all(trees: Trees, roots: Words, settings: Settings, work: Records) -> None:
    """Begin a search without a network of each position [N, SIZE]."""
    for i in range(len(roots)):
        begin_search(i, trees, roots, settings, work[0])


@uncounted_loop
def plant_all(trees: Trees, roots: Words) -> None:
    """Begin a search with a network: trees of one node, which the network evaluates first."""
    for i in range(len(roots)):
        plant(i, trees, roots)


@uncounted_loop
def replant_all(trees: Trees, roots: Words, places: Ints) -> None:
    """The same with the parts of the last trees that are below the new roots."""
    for i in range(len(roots)):
        replant(i, trees, roots, places)


@uncounted_loop
def select_all(trees: Trees, leaves: Words, wanted: Ints, settings: Settings, work: Records) -> None:
    """Select a leaf in each tree for a network; see `select_for_network`."""
    for i in range(len(leaves)):
        select_for_network(i, trees, leaves, wanted, settings, work[0])


@uncounted_loop
def expand_and_back_up_all(
    trees: Trees, logits: Floats, values: Floats, outputs: Ints, settings: Settings, work: Records
) -> None:
    """Enter what a network says of each tree's leaf: logits [N, outputs] and values [N] for the side to move."""
    for i in range(len(values)):
        expand_and_back_up(i, trees, logits, values, outputs, settings, work[0])


@uncounted_loop
def simulate_all(trees: Trees, count: int, wanted: Ints, settings: Settings, work: Records) -> None:
    """Up to `count` simulations without a network in each tree."""
    for i in range(len(trees.counters)):
        simulate(i, count, trees, wanted, settings, work[0])


@uncounted_loop
def finish_all(trees: Trees, settings: Settings, result: Result) -> None:
    """Write what each tree has found into its row of the result."""
    for i in range(len(trees.counters)):
        finish_tree(i, trees, settings, result)


@uncounted_loop
def begin_rounds(trees: Trees, settings: Settings) -> None:
    """Begin another round of sequential halving in each tree."""
    for i in range(len(trees.counters)):
        begin_round(i, trees, settings)


# ---- reuse ----


@uncounted_body
def find_node(i: int, trees: Trees, roots: Words) -> Whole:
    """The most visited node of tree i with the state roots [N, SIZE]; -1 if there is none."""
    found, most = np.int64(-1), np.int64(0)
    for n in range(trees.counters[i]["nodes"]):
        k = 0
        while k < SIZE and trees.words[i, n, k] == roots[i, k]:
            k += 1
        if k == SIZE and trees.nodes[i, n]["visits"] > most:
            found, most = np.int64(n), np.int64(trees.nodes[i, n]["visits"])
    return found


@uncounted_loop
def find_state(trees: Trees, roots: Words) -> Whole:
    """`find_node` of the first tree."""
    return find_node(0, trees, roots)


@uncounted_body
def replant(i: int, trees: Trees, roots: Words, places: Ints) -> None:
    """Tree i with a new root: the part below it, if the tree has it, or one node."""
    n = find_node(i, trees, roots)
    if n < 0 or not keep_subtree(i, n, trees, places):
        plant(i, trees, roots)
    trees.counters[i]["total"] = NOT_BEGUN


@uncounted_body
def keep_subtree(i: int, root: Whole, trees: Trees, places: Ints) -> bool:
    """Move the part of tree i below a node to its beginning; false if that is not possible in place.

    A network expands nodes in the order in which they are added, so nodes and edges only move to the left. (A node that
    was left without edges in a full tree may have been expanded later.) `places` [N, M] is scratch memory: the new
    number of each node, or -1.
    """
    size, used, nodes, before = 0, 0, trees.nodes[i], np.int64(-1)
    for n in range(root, trees.counters[i]["nodes"]):
        node = nodes[n]
        places[i, n] = -1
        if n == root or (node["parent"] >= root and places[i, node["parent"]] >= 0):
            if node["count"] > 0 and node["first"] < before:
                return False
            before, places[i, n] = max(before, np.int64(node["first"])), size
            size += 1
    for n in range(root, trees.counters[i]["nodes"]):
        if places[i, n] >= 0:
            used = move_node(i, n, used, trees, places)
    nodes[0]["parent"] = nodes[0]["edge"] = -1
    tree = trees.counters[i]
    tree["nodes"], tree["edges"], tree["simulations"] = size, used, 0
    return bool(nodes[0]["count"] > 0 or nodes[0]["proven"] != OPEN)


@uncounted_body
def move_node(i: int, n: Whole, used: Whole, trees: Trees, places: Ints) -> Whole:
    """Move node n to its place and its edges behind the first `used` ones; returns how many are used then."""
    place, first, count = np.int64(places[i, n]), np.int64(trees.nodes[i, n]["first"]), trees.nodes[i, n]["count"]
    trees.nodes[i, place] = trees.nodes[i, n]
    trees.nodes[i, place]["first"] = used
    for k in range(SIZE):
        trees.words[i, place, k] = trees.words[i, n, k]
    for k in range(count):
        trees.edges[i, used + k] = trees.edges[i, first + k]
        child = np.int64(trees.edges[i, used + k]["child"])
        if child >= 0:  # it has a higher number: it has not moved yet
            trees.edges[i, used + k]["child"] = places[i, child]
            trees.nodes[i, child]["parent"], trees.nodes[i, child]["edge"] = place, used + k
    return used + count


@uncounted_loop
def move_root(source: Trees, n: Whole, target: Trees, origin: Ints) -> None:
    """Copy the part of the first source tree below node n into the first target tree. `origin` [M] is scratch memory:
    where each node was."""
    size, used, k, origin[0] = 1, 0, 0, n
    add_parent(target, 0, -1, -1)
    while k < size:
        old, node = source.nodes[0, origin[k]], target.nodes[0, k]
        for w in range(SIZE):
            target.words[0, k, w] = source.words[0, origin[k], w]
        node["first"], node["count"], node["visits"], node["value"] = used, old["count"], old["visits"], old["value"]
        node["distance"], node["proven"], node["side"] = old["distance"], old["proven"], old["side"]
        for e in range(old["count"]):
            edge, before = target.edges[0, used + e], source.edges[0, old["first"] + e]
            edge["value"], edge["weight"], edge["prior"] = before["value"], before["weight"], before["prior"]
            edge["action"], edge["visits"], edge["child"] = before["action"], before["visits"], -1
            if before["child"] >= 0:
                edge["child"], origin[size] = size, before["child"]
                add_parent(target, size, k, used + e)
                size += 1
        used += old["count"]
        k += 1
    tree = target.counters[0]
    tree["nodes"], tree["edges"], tree["total"], tree["simulations"] = size, used, 0, 0


@uncounted_body
def add_parent(trees: Trees, n: Whole, parent: Whole, edge: Whole) -> None:
    trees.nodes[0, n]["parent"], trees.nodes[0, n]["edge"] = parent, edge
