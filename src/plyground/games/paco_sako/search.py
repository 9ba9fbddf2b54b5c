"""What can happen within one turn of Paco Ŝako: threats through chains, Ŝako, the shortest ways to a king.

A chain is a walk through states of one turn, and it may run in circles. So every search here keeps the states it has
seen as nodes and never enters one twice; the memory for them is handed in and has a size, and a search that fills it
says so. Nothing is allocated: the same functions run on a GPU, with one memory for each thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import ONE, ZERO, Whole, bit, lowest
from plyground.games.interface import RUNNING, State
from plyground.games.paco_sako import board
from plyground.games.records import without_padding
from plyground.games.rng import mix

UNKNOWN = ~ZERO
NODE = without_padding(np.dtype([*board.BOARD, ("action", np.int16), ("parent", np.int16)], align=True))
"""a state within a turn, and the action that led there first, from which node"""


def memory(nodes: int) -> Any:
    """Room for `nodes` different states; `table` finds them: 0, or a node's number plus one."""
    return np.dtype([("nodes", NODE, (nodes,)), ("table", np.int16, (2 * nodes,))], align=True)


WORK = np.dtype([("chain", memory(2048)), ("turn", memory(2048))], align=True)
"""what the rules and the agents of the game are handed: for chains in search of threats, and for whole turns"""
DEEP_WORK = np.dtype([("chain", memory(2048)), ("turn", memory(8192)), ("reply", memory(8192))], align=True)
"""what people's questions are answered with: more room, and a second turn after the first"""


# ---- memory ----


@njit
def copy(source: State, target: State) -> None:
    """Copy the board's fields between records of any two kinds."""
    for side in range(2):
        target["hand"][side] = source["hand"][side]
        for digit in range(3):
            target["planes"][side, digit] = source["planes"][side, digit]
    target["to_move"] = source["to_move"]
    target["outcome"] = source["outcome"]
    target["required"] = source["required"]
    target["origin"] = source["origin"]
    target["en_passant"] = source["en_passant"]
    target["promoting"] = source["promoting"]
    target["rights"] = source["rights"]
    target["castling"] = source["castling"]


@njit
def small_fields(node: State) -> np.uint64:
    """All that a node holds beside the planes, as one number."""
    bits = np.int64(node["hand"][0]) | np.int64(node["hand"][1]) << 3 | np.int64(node["to_move"]) << 6
    bits |= np.int64(node["required"]) << 7 | np.int64(node["rights"]) << 10 | np.int64(node["outcome"]) << 14
    bits |= (np.int64(node["origin"]) + 1) << 16 | (np.int64(node["en_passant"]) + 1) << 24
    return np.uint64(bits | (np.int64(node["promoting"]) + 1) << 32)


@njit
def key(node: State) -> np.uint64:
    """A node's fields scattered over 64 bits."""
    mixed = mix(small_fields(node))
    for side in range(2):
        for digit in range(3):
            mixed = mix(mixed ^ node["planes"][side, digit])
    return mixed


@njit
def same(one: State, other: State) -> bool:
    equal = small_fields(one) == small_fields(other)
    for side in range(2):
        for digit in range(3):
            equal &= one["planes"][side, digit] == other["planes"][side, digit]
    return equal


@njit
def begin(memory: State) -> None:
    """Forget everything but node 0."""
    memory["table"][:] = 0
    remember(memory, 0)


@njit
def remember(memory: State, count: int) -> int:
    """Keep the node written behind the first `count`, unless it is known already; the number of nodes after that."""
    nodes, table = memory["nodes"], memory["table"]
    slot = np.int64(key(nodes[count]) & np.uint64(len(table) - 1))
    while table[slot] != 0:
        if same(nodes[table[slot] - 1], nodes[count]):
            return count
        slot = (slot + 1) & (len(table) - 1)
    table[slot] = count + 1
    return count + 1


@njit
def suppose(state: State, side: int, node: State) -> None:
    """The state as if `side` had the turn: as it is where it has, else with empty hands and promotions to queens."""
    copy(state, node)
    if state["to_move"] == side and state["required"] <= board.PROMOTE_THEN_PLACE:
        return
    if state["promoting"] != board.NOWHERE:
        board.promote(node, board.QUEEN)
    node["to_move"] = side
    node["required"] = board.LIFT
    node["hand"][0] = 0
    node["hand"][1] = 0
    node["origin"] = board.NOWHERE


# ---- threats ----


@njit
def threats(state: State, side: int, wanted: np.uint64, work: State) -> np.uint64:
    """The squares that `side` threatens, were it its turn: with lone pieces, and with pieces released in any chain.

    The search ends as soon as all of `wanted` are found. If it runs out of memory, it answers UNKNOWN: every square.
    """
    memory = work["chain"]
    nodes = memory["nodes"]
    suppose(state, side, nodes[0])
    nodes[0]["rights"] = 0  # they change no threat, and states that differ only there are one
    if nodes[0]["required"] == board.PROMOTE_THEN_LIFT:
        found = ZERO
        for kind in range(board.ROOK, board.QUEEN + 1):
            suppose(state, side, nodes[0])
            nodes[0]["rights"] = 0
            board.promote(nodes[0], kind)
            found |= threats_from(memory, wanted)
            if found & wanted == wanted:
                break
        return found
    return threats_from(memory, wanted)


@njit
def threats_from(memory: State, wanted: np.uint64) -> np.uint64:
    """The threats of the player to move in node 0."""
    nodes = memory["nodes"]
    start = nodes[0]
    side = start["to_move"]
    if start["required"] != board.LIFT:
        begin(memory)
        return follow_chains(memory, 1, 0, ZERO, wanted)
    own, other = board.occupied(start, side), board.occupied(start, 1 - side)
    chained = (own & other) | board.passed(start)
    found, entries = ZERO, ZERO
    left = own & ~other
    while left:
        square = lowest(left)
        left &= left - ONE
        seen = board.attacks(side, board.kind_at(start, side, square), square, own | other)
        found |= seen
        if seen & chained != ZERO:
            entries |= bit(square)
    if entries == ZERO or found & wanted == wanted:
        return found
    begin(memory)
    count = 1
    while entries:
        square = lowest(entries)
        entries &= entries - ONE
        nodes[count] = nodes[0]
        board.lift(nodes[count], square)
        count = remember(memory, count)
    return follow_chains(memory, count, 1, found, wanted)


@njit
def follow_chains(memory: State, count: int, first: int, found: np.uint64, wanted: np.uint64) -> np.uint64:
    """Walk through all chains from the nodes `first` .. `count` - 1 on, adding what released pieces threaten."""
    nodes = memory["nodes"]
    room = len(nodes) - 1
    index = first
    while index < count and found & wanted != wanted:
        node = nodes[index]
        side = node["to_move"]
        if node["required"] == board.PROMOTE_THEN_PLACE:
            for kind in range(board.ROOK, board.QUEEN + 1):
                if count < room:
                    nodes[count] = nodes[index]
                    board.promote(nodes[count], kind)
                    count = remember(memory, count)
        elif node["hand"][1 - side] == 0 and node["hand"][side] != board.KING:
            own, other = board.occupied(node, side), board.occupied(node, 1 - side)
            found |= board.attacks(side, node["hand"][side], node["origin"], own | other)
            left = board.targets(node) & ((own & other) | board.passed(node))
            while left and count < room:
                square = lowest(left)
                left &= left - ONE
                nodes[count] = nodes[index]
                board.place(nodes[count], square)
                if nodes[count]["hand"][side] != 0:  # the chain goes on
                    count = remember(memory, count)
        if count >= room:
            return UNKNOWN
        index += 1
    return found


@njit
def gives_sako(state: State, side: int, work: State) -> int:
    """Whether `side`, were it its turn, could unite with the other king: 1 yes, 0 no, -1 unknown for lack of memory."""
    king = board.of_kind(state, 1 - side, board.KING)
    if king == ZERO:
        return 0
    found = threats(state, side, king, work)
    return -1 if found == UNKNOWN else int(found & king == king)


# ---- whole turns ----


@njit
def castlings(state: State, work: State) -> np.uint64:
    """The squares to which the king in the hand may castle: nothing between, and no threat on its way."""
    side = state["to_move"]
    home = 4 + 56 * side
    rights = (state["rights"] >> (2 * side)) & 3
    if rights == 0 or state["hand"][side] != board.KING or state["origin"] != home:
        return ZERO
    taken = board.occupied(state, 0) | board.occupied(state, 1)
    shift = np.uint64(56 * side)
    queen_side, king_side = np.uint64(0b11100) << shift, np.uint64(0b1110000) << shift  # where the king goes along
    long = rights & 1 and taken & (np.uint64(0b1110) << shift) == ZERO
    short = rights & 2 and taken & (np.uint64(0b1100000) << shift) == ZERO
    if not (long or short):
        return ZERO
    wanted = (queen_side if long else ZERO) | (king_side if short else ZERO)
    danger = threats(state, 1 - side, wanted, work)
    found = bit(home - 2) if long and danger & queen_side == ZERO else ZERO
    return found | (bit(home + 2) if short and danger & king_side == ZERO else ZERO)


@njit
def explore(memory: State, chains_only: bool, work: State) -> int:
    """Fill `memory` with everything that the turn of node 0 can lead to, nearest first; returns how many nodes.

    With `chains_only` the ends are those that unite with the king, and nothing is followed that cannot be a part of
    such a chain. A number of nodes that reaches `limit(memory)` means that there were more.
    """
    begin(memory)
    nodes = memory["nodes"]
    nodes[0]["parent"] = -1
    nodes[0]["action"] = -1
    side = nodes[0]["to_move"]
    count, index = 1, 0
    while index < count:
        node = nodes[index]
        if not ended(node, side):
            first, squares = choices(node, chains_only, work)
            while squares and count < limit(memory):
                action = first + lowest(squares)
                squares &= squares - ONE
                nodes[count] = nodes[index]
                act(nodes[count], action)
                nodes[count]["action"] = action
                nodes[count]["parent"] = index
                over = ended(nodes[count], side)
                if not (chains_only and over and nodes[count]["outcome"] == RUNNING):
                    count = remember(memory, count)
        index += 1
    return count


@njit
def limit(memory: State) -> int:
    """The most nodes of a search (one more is needed to try the next on)."""
    return len(memory["nodes"]) - 1


@njit
def ended(node: State, side: int) -> bool:
    """Whether a node lies behind the turn of `side`."""
    return node["to_move"] != side or node["outcome"] != RUNNING


@njit
def choices(node: State, chains_only: bool, work: State) -> tuple[int, np.uint64]:
    """The legal actions of a node: the first action of their sort, and bits to be added to it."""
    if node["required"] == board.LIFT:
        squares = board.liftable(node)
        if chains_only:
            squares &= ~(board.occupied(node, 1 - node["to_move"]) | board.of_kind(node, node["to_move"], board.KING))
        return 0, squares
    if node["required"] == board.PLACE:
        squares = board.targets(node)
        if chains_only:
            side = node["to_move"]
            pairs = board.occupied(node, side) & board.occupied(node, 1 - side)
            return 64, squares & (pairs | board.of_kind(node, 1 - side, board.KING) | board.passed(node))
        return 64, squares | castlings(node, work)
    return 128, np.uint64(0b1111)


@njit
def act(node: State, action: Whole) -> bool:
    """Carry out an action on the board; says whether it is progress: a new union or a promotion."""
    if action < 64:
        board.lift(node, action)
        return False
    if action < 128:
        return board.place(node, action - 64)
    board.promote(node, board.ROOK + action - 128)
    return True


@njit
def forced_wins(state: State, side: int, work: State, found: NDArray[np.int32]) -> tuple[int, bool]:
    """Paco in 2: the turns of `side` that threaten to unite with the king, whatever the opponent does, and are safe.

    Writes the numbers of their end nodes in `work["turn"]` to `found`, and returns how many, and whether a search was
    cut short (a turn whose replies could not all be seen does not count). Where a union with the king is possible at
    once there are none.
    """
    turn, reply = work["turn"], work["reply"]
    suppose(state, side, turn["nodes"][0])
    now = gives_sako(turn["nodes"][0], side, work)
    if now != 0:
        return 0, now < 0
    count = explore(turn, False, work)
    cut = count >= limit(turn)
    wins = 0
    for index in range(1, count):
        end = turn["nodes"][index]
        if not ended(end, side):
            continue
        threat, danger = gives_sako(end, side, work), gives_sako(end, 1 - side, work)
        cut |= threat < 0 or danger < 0
        if threat == 1 and danger == 0:
            copy(end, reply["nodes"][0])
            held = holds_sako(reply, work)
            cut |= held < 0
            if held == 1 and wins < len(found):
                found[wins] = index
                wins += 1
    return wins, cut


@njit
def holds_sako(memory: State, work: State) -> int:
    """Whether every turn of the player in node 0 leaves the own king in Ŝako: 1 yes, 0 no, -1 unknown."""
    side = memory["nodes"][0]["to_move"]
    count = explore(memory, False, work)
    if count >= limit(memory):
        return -1
    held = 1
    for index in range(1, count):
        if ended(memory["nodes"][index], side):
            held = min(held, gives_sako(memory["nodes"][index], 1 - side, work))
            if held == 0:
                break
    return held
