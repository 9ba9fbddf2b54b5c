"""Paco Ŝako's scripted agent: unite with the king, else stay out of Ŝako, else form unions. And advice for people."""

from __future__ import annotations

from numba import njit

from plyground.games.bits import popcount
from plyground.games.interface import RUNNING, Rng, State
from plyground.games.paco_sako import analysis
from plyground.games.paco_sako.board import LIFT, PROMOTE_THEN_LIFT, occupied
from plyground.games.paco_sako.search import copy, ended, explore, gives_sako
from plyground.games.rng import below
from plyground.position import Position

SAFE, UNITES = 2, 1  # what a turn is worth


@njit
def greedy(state: State, rng: Rng, work: State) -> int:
    """Unite with the king, else stay out of Ŝako, else form a union; of the best turns all are equally likely.

    Returns the first action of such a turn. With something in the hand it heads for the nearest of the best ends, so
    that no chain runs in circles.
    """
    memory = work["turn"]
    nodes, side = memory["nodes"], state["to_move"]
    copy(state, nodes[0])
    count = explore(memory, True, work)
    for index in range(1, count):
        if nodes[index]["outcome"] != RUNNING:
            return first_action(memory, index)
    copy(state, nodes[0])
    count = explore(memory, False, work)
    hurry = state["required"] != LIFT and state["required"] != PROMOTE_THEN_LIFT
    before = unions(state)
    chosen, best, ties, near = 1, -1, 0, 0
    for index in range(1, count):
        if not ended(nodes[index], side):
            continue
        worth = UNITES if unions(nodes[index]) > before else 0
        if worth + SAFE < best:
            continue
        if gives_sako(nodes[index], 1 - side, work) == 0:
            worth += SAFE
        depth = steps_to(memory, index) if hurry else 0
        if worth > best or (worth == best and depth < near):
            best, ties, near = worth, 0, depth
        if worth == best and depth == near:
            ties += 1
            if below(rng, ties) == 0:
                chosen = index
    return first_action(memory, chosen)


@njit
def unions(state: State) -> int:
    """How many there are, with one in the hand."""
    lifted = state["hand"][0] != 0 and state["hand"][1] != 0
    return popcount(occupied(state, 0) & occupied(state, 1)) + lifted


@njit
def steps_to(memory: State, index: int) -> int:
    """How many actions lead to a node."""
    steps = 0
    while index > 0:
        index = memory["nodes"][index]["parent"]
        steps += 1
    return steps


@njit
def first_action(memory: State, index: int) -> int:
    """The first action on the way to a node."""
    nodes = memory["nodes"]
    while nodes[index]["parent"] > 0:
        index = nodes[index]["parent"]
    return nodes[index]["action"]


POLICIES = {"greedy": greedy}
STRONGEST = "minimax:time=0.5"
STRONGEST_WITH_NETWORK = "search:model=trained,time=0.2"


def advise(position: Position) -> str:
    """A way to the opponent's king, or a warning that the own king is in danger."""
    ways = analysis.chains(position)
    if ways.found:
        return f"Paco Ŝako: {_in_words(position, ways.found[0])}"
    forced = analysis.paco_in_2(position)
    if forced.found:
        return f"Paco Ŝako in two turns: {_in_words(position, forced.found[0])}"
    return "your king is in Ŝako" if analysis.in_sako(position, position.to_move) else ""


def _in_words(position: Position, chain: analysis.Chain) -> str:
    """A turn as people write it."""
    return " ".join(analysis.replay(position, chain.actions))
