"""Template: tree search over any game, on the CPU: PUCT and Gumbel search, with proofs.

A simulation selects a path from the root to a leaf, evaluates the leaf and backs its value up. A body for tree i is the
same on every device; `cuda_tree.py` calls the same bodies. Without a network the leaves are evaluated here, and a whole
search is one compiled loop; nodes are then expanded at their second visit, since most are visited once. A learned
model may judge all actions of an expanded node, by the states after them: that gives priors and first values. With a
network a node is expanded when the network has evaluated it.

A value is negated where the side to move changes, since one side may act several times in a row.
"""

from __future__ import annotations

import math

import numpy as np

from plyground.games.interface import FIRST_WINS, RUNNING, State, value_for
from plyground.games.rng import below
from plyground.kernels.arrays import Judge, int32, int64
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop, uncounted_part
from plyground.kernels.slots import STATE, choose, legal, model_value, play, play_head, refresh, seat, update
from plyground.models.judge import judged, judged_apart
from plyground.models.numbers import exp
from plyground.search.tree_arrays import (
    DRAWN,
    EVALUATE,
    LOST,
    NONE,
    OPEN,
    SCRIPTED,
    TOP,
    WON,
    Floats,
    Ints,
    Records,
    Result,
    Settings,
    Trees,
    Whole,
    Words,
)
from plyground.search.tree_policy import NOTHING, begin_round, choose_edge
from plyground.search.tree_result import finish_tree, seen_by_parent
from plyground.search.tree_reuse import copy_subtree, find_node, keep_subtree

SIZE = STATE.itemsize // STATE.alignment  # of a record, in words
NEVER = np.float32(-1e6)  # the weight of an edge that is a proven loss: it is not selected again
NOT_BEGUN = -1  # in place of a number of simulations: a network evaluates the root first


# ---- begin a search ----


@uncounted_body
def begin_tree(i: int, trees: Trees, roots: Words) -> None:
    """A tree of one node: the root, which is not expanded."""
    for k in range(SIZE):
        trees.words[i, 0, k] = roots[i, k]
    tree = trees.counters[i]
    tree["nodes"], tree["edges"], tree["total"] = 1, 0, 0
    add_node(i, TOP, NONE, NONE, trees)
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


# ---- select ----


@uncounted_body
def select_leaf(i: int, start: Whole, trees: Trees, wanted: Ints, settings: Settings, work: State) -> Whole:
    """Follow the best edges from a node to a new one, which is added, or to one that is proven or not expanded.

    If the tree is full, it is the last node on the way: that is evaluated once more.
    """
    n = np.int64(start)
    while trees.nodes[i, n]["proven"] == OPEN and trees.nodes[i, n]["count"] > 0:
        e = look_beside(i, n, choose_edge(i, n, trees, wanted, settings), trees)
        child = np.int64(trees.edges[i, e]["child"])
        if child < 0:
            child = add_child(i, n, e, trees, work)
            n = child if child >= 0 else n
            break
        n = child
    return n


@uncounted_body
def look_beside(i: int, n: Whole, e: Whole, trees: Trees) -> Whole:
    """The edge of node n to follow when edge e is selected. From a proven draw nothing more can be learned: the best
    edge that is not proven is followed, and the simulation is a visit of e all the same, which the node remembers."""
    node, child = trees.nodes[i, n], np.int64(trees.edges[i, e]["child"])
    node["distance"] = 0
    full = trees.counters[i]["nodes"] == trees.nodes.shape[1]
    if full or child < 0 or trees.nodes[i, child]["proven"] == OPEN:
        return e
    first, count = np.int64(node["first"]), np.int64(node["count"])
    followed, best = e, np.float32(NOTHING)
    for k in range(first, first + count):
        edge = trees.edges[i, k]
        is_open = edge["child"] < 0 or trees.nodes[i, edge["child"]]["proven"] == OPEN
        if is_open and edge["value"] > best:
            followed, best = k, edge["value"]
    node["distance"] = e - first + 1
    return followed


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


# ---- priors from a model ----


@uncounted_part
def judge_actions(i: int, n: Whole, trees: Trees, settings: Settings, judge: Judge, work: State) -> None:
    """Let a model judge the state after each action of an expanded node: its values, for the side to move in the node,
    are the edges' first ones, and softmax(value / temperature) are their priors."""
    node, state, before = trees.nodes[i, n], trees.ahead[i], trees.states[i, n]
    weights, known, tried = judge.weights[0], judge.scratch[0], judge.scratch[1]
    first, count = np.int64(node["first"]), np.int64(node["count"])
    refresh(before, weights, known)
    top, total = NOTHING, 0.0
    for e in range(first, first + count):
        for k in range(settings.head_size):
            trees.ahead_words[i, k] = trees.words[i, n, k]
        play_head(state, trees.edges[i, e]["action"], trees.rngs[i : i + 1], work)
        if state["outcome"] != RUNNING:
            value = value_for(state["outcome"], node["side"])
        else:
            update(before, state, weights, known, tried)
            value = np.float64(model_value(state, weights, tried))
            if state["to_move"] != node["side"]:
                value = -value
        trees.edges[i, e]["value"] = value
        top = max(top, value)
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        edge["prior"] = exp((edge["value"] - top) / settings.temperature)
        total += edge["prior"]
    for e in range(first, first + count):
        edge = trees.edges[i, e]
        edge["prior"] = edge["weight"] = edge["prior"] / total


# ---- evaluate a leaf without a network ----


@uncounted_body
def leaf_value(i: int, n: Whole, trees: Trees, settings: Settings, judge: Judge, work: State) -> float:
    """The value of node n for its side to move: proven, by a model, or by random play."""
    node = trees.nodes[i, n]
    if node["proven"] != OPEN:
        return np.float64(node["proven"] - DRAWN)
    if settings.temperature > 0.0 and node["visits"] == 0:  # it was judged with its parent's other actions
        value = np.float64(trees.edges[i, node["edge"]]["value"])
        return value if trees.nodes[i, node["parent"]]["side"] == node["side"] else -value
    if settings.leaf == EVALUATE:
        return judged(trees.states[i, n], judge)
    total = 0.0
    for _ in range(settings.rollouts):
        total += play_out(i, n, trees, settings, judge, work)
    return total / settings.rollouts


@uncounted_body
def play_out(i: int, n: Whole, trees: Trees, settings: Settings, judge: Judge, work: State) -> float:
    """The result of random play, or of a scripted agent's against itself, from node n for its side to move; after
    `rollout_plies`, what the model says."""
    for k in range(SIZE):
        trees.ahead_words[i, k] = trees.words[i, n, k]
    state, actions, rng, left = trees.ahead[i], trees.actions[i], trees.rngs[i : i + 1], settings.rollout_plies
    while state["outcome"] == RUNNING and left > 0:
        if settings.leaf == SCRIPTED:
            action = int32(choose(state, rng, work))
        else:
            action = actions[below(rng, legal(state, actions, work))]
        play(state, action, rng, work)
        left -= 1
    side = trees.nodes[i, n]["side"]
    if state["outcome"] != RUNNING:
        return value_for(state["outcome"], side)
    value = judged_apart(state, judge)
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
        only = node["visits"] == 1 or refuted
        edge["value"] = value if only else edge["value"] + (value - edge["value"]) / node["visits"]
        visited = np.int64(above["first"]) + above["distance"] - 1 if above["distance"] > 0 else e
        if visited != e:  # a look beside a draw
            value = 0.0
        count_visit(i, visited, parent, trees)
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
def count_visit(i: int, e: Whole, parent: Whole, trees: Trees) -> None:
    """A visit of edge e, which leaves the node `parent`."""
    edge, above = trees.edges[i, e], trees.nodes[i, parent]
    edge["visits"] += 1
    edge["weight"] = edge["prior"] / np.float32(1 + edge["visits"])
    above["visits"] += 1
    if parent == 0:
        trees.roots[i, e - above["first"]]["visits"] += 1


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
        n = select_leaf(i, TOP, trees, wanted, settings, work)
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


# ---- loops ----


@uncounted_body
def begin_search(i: int, trees: Trees, roots: Words, settings: Settings, judge: Judge, work: State) -> None:
    """Begin a search without a network."""
    begin_tree(i, trees, roots)
    root = trees.nodes[i, 0]
    if root["proven"] == OPEN:
        if settings.leaf == EVALUATE:
            root["value"] = judged(trees.states[i, 0], judge)
        if expand(i, TOP, trees, settings, work) and settings.temperature > 0.0:
            judge_actions(i, TOP, trees, settings, judge, work)
    begin_round(i, trees, settings)
    if root["proven"] == OPEN:
        take_win(i, TOP, trees, settings, work)


@uncounted_body
def simulate(i: int, count: int, trees: Trees, wanted: Ints, settings: Settings, judge: Judge, work: State) -> None:
    """Up to `count` simulations in tree i without a network; none after its root is proven."""
    while count > 0 and trees.nodes[i, 0]["proven"] == OPEN:
        leaf, selects = TOP, True
        while selects:
            leaf = select_leaf(i, leaf, trees, wanted, settings, work)
            node = trees.nodes[i, leaf]
            again = node["visits"] > 0 and node["count"] == 0 and node["proven"] == OPEN
            selects = again and expand(i, leaf, trees, settings, work)
            if selects:
                if settings.temperature > 0.0:
                    judge_actions(i, leaf, trees, settings, judge, work)
                wins = find_win(i, leaf, trees, settings, work)
                child = add_child(i, leaf, wins, trees, work) if wins >= 0 else np.int64(-1)
                if child >= 0:
                    leaf, selects = child, False
        value = leaf_value(i, leaf, trees, settings, judge, work)
        if trees.nodes[i, leaf]["visits"] == 0:
            trees.nodes[i, leaf]["value"] = value
        back_up(i, leaf, value, trees)
        count -= 1


@uncounted_loop
def begin_all(trees: Trees, roots: Words, settings: Settings, judge: Judge, work: Records) -> None:
    """Begin a search without a network of each position [N, SIZE]."""
    for i in range(len(roots)):
        begin_search(i, trees, roots, settings, judge, work[0])


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
def simulate_all(trees: Trees, count: int, wanted: Ints, settings: Settings, judge: Judge, work: Records) -> None:
    """Up to `count` simulations without a network in each tree."""
    for i in range(len(trees.counters)):
        simulate(i, count, trees, wanted, settings, judge, work[0])


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


@uncounted_loop
def find_state(trees: Trees, roots: Words) -> Whole:
    """`find_node` of the first tree."""
    return find_node(int64(0), trees, roots)


@uncounted_body
def replant(i: int, trees: Trees, roots: Words, places: Ints) -> None:
    """Tree i with a new root: the part below it, if the tree has it, or one node."""
    n = find_node(i, trees, roots)
    if n < 0 or not keep_subtree(i, n, trees, places):
        plant(i, trees, roots)
    trees.counters[i]["total"] = NOT_BEGUN


@uncounted_loop
def move_root(source: Trees, n: Whole, target: Trees, origin: Ints) -> None:
    """`copy_subtree`."""
    copy_subtree(source, n, target, origin)
