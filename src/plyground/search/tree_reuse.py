"""The part of a tree below a node, kept for the next search: found by its state, and moved to the root.

Bodies for tree i that know no game, the same on every device; `tree.py` calls them.
"""

from __future__ import annotations

import numpy as np

from plyground.kernels.no_refcounts import uncounted_body
from plyground.search.tree_arrays import NONE, OPEN, TOP, Ints, Trees, Whole, Words


@uncounted_body
def find_node(i: int, trees: Trees, roots: Words) -> Whole:
    """The most visited node of tree i with the state roots [N, SIZE]; -1 if there is none."""
    found, most = np.int64(-1), np.int64(0)
    for n in range(trees.counters[i]["nodes"]):
        k = 0
        while k < roots.shape[1] and trees.words[i, n, k] == roots[i, k]:
            k += 1
        if k == roots.shape[1] and trees.nodes[i, n]["visits"] > most:
            found, most = np.int64(n), np.int64(trees.nodes[i, n]["visits"])
    return found


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
    for k in range(trees.words.shape[2]):
        trees.words[i, place, k] = trees.words[i, n, k]
    for k in range(count):
        trees.edges[i, used + k] = trees.edges[i, first + k]
        child = np.int64(trees.edges[i, used + k]["child"])
        if child >= 0:  # it has a higher number: it has not moved yet
            trees.edges[i, used + k]["child"] = places[i, child]
            trees.nodes[i, child]["parent"], trees.nodes[i, child]["edge"] = place, used + k
    return used + count


@uncounted_body
def copy_subtree(source: Trees, n: Whole, target: Trees, origin: Ints) -> None:
    """Copy the part of the first source tree below node n into the first target tree. `origin` [M] is scratch memory:
    where each node was."""
    size, used, k, origin[0] = 1, 0, 0, n
    add_parent(target, TOP, NONE, NONE)
    while k < size:
        old, node = source.nodes[0, origin[k]], target.nodes[0, k]
        for w in range(source.words.shape[2]):
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
