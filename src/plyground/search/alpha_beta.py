"""Template: alpha-beta over any game of perfect information, with any model: it deepens until it is told to stop, or
searches to a fixed depth.

A search is a loop with a stack, since compiled code that is cached cannot recurse. A value is for the side to move of
its node; it is negated where the side to move changes, since one side may act several times in a row. Beyond the depth,
up to `quiescence` more plies follow only actions that the game calls loud (captures). There the side to move may also
stand pat, which is worth what the model says.

The literal PLAIN decides what is compiled.

False: iterative deepening. `search_on` searches a number of nodes and returns; its whole state lies in arrays, so that
the caller looks at the clock and calls it again. No clock is read here, and the result does not depend on where the
search was suspended. A depth counts turns: where one side acts several times in a row, a leaf is the end of a turn.
Each node holds the whole state, so that draws by repetition and clock are seen in the tree. A win is worth `WIN` less
the number of turns before the winning one.

* Principal-variation search: the first action has the whole window, the others a window without width; one that raises
  alpha is searched again. Iterations after the fourth begin with an aspiration window around the last value.
* Order: the action of the transposition table, loud actions, killers, then by history.
* If `selective`: late quiet actions are searched less deep, and again if they raise alpha; a side in check is searched
  a turn deeper; a position that recurs on the path is a draw. If also `prunes`: null moves, futility pruning.
* A win or a loss found is proven: it ends in leaves where the game is over, and what is pruned never gives such values.

Within a turn of several actions, a position that several ways lead to (different lifts, chains that run in circles) is
searched once, with the window that is open then: what it gives has reached the node in which the turn began, whose
value is therefore complete. The values of the nodes in between are lower bounds where a position was left out. Turns
are followed for LONGEST_TURN actions: the first way into a circle of chains is a long one, and must leave levels of the
stack for the answers. What lies beyond is left out; shorter ways lead there. A turn for which the stack has no levels
left is evaluated, so that nothing is proven by it.

True: one iteration of a fixed depth, for many positions at once (`search_all`). Each action is a turn: a depth counts
plies. Nodes are heads, without history; the first action is also played on the whole state, so that a draw by
repetition is seen there. Every window has its whole width, and order and table change no value. Of the first actions,
the `exact` best get their value, the others only a bound below these; or one of the best is drawn.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plyground.games.bits import wrapping
from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import STEP, below, mix
from plyground.kernels.arrays import int64
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.kernels.slots import (
    PLAIN,
    can_win,
    in_check,
    legal,
    legal_loud,
    loudness,
    model_value,
    pass_turn,
    play,
    play_head,
    refresh,
    transposition_key,
    update,
)
from plyground.search.alpha_beta_arrays import WIN, Doubles, Limits, Memory, Records, Roots, RootScores, Stack

PROVEN = WIN / 2  # values beyond are wins or losses
NO_WIDTH = 1e-9  # of a window that only asks whether a value is higher; evaluations differ by more
TIE = 1e-9  # between the values of equally good first actions
AT_LEAST, AT_MOST, EXACT = 1, 2, 3  # what a value in the table is
OPEN, NEXT, PASS, REDUCED, NARROW, FULL = range(6)
"""stages of a node: it is to be opened; its next action is due; or its child is searched: after a null move, with
reduced depth, with a window without width, with the whole window"""
FROM_TABLE, LOUD, KILLER = 1 << 62, 1 << 50, 1 << 45  # ranks; those of other actions are lower
FIRST_MARGIN, WIDEST = 0.06, 1.0  # aspiration windows: half their width at first, and when they are given up
ASPIRES = 4  # first iteration with one
SAFE_MARGIN = 0.12  # reverse futility: for each turn of depth, how far `evaluate` must lie above beta
FUTILE_MARGIN = 0.16  # futility: for each turn of depth, how much a quiet action may be expected to gain
PRUNED_DEPTH = 4  # the depth up to which these two prune
LATE = 3  # actions that are never reduced
LONGEST_TURN = 40  # actions of a turn that are searched; positions beyond are left out


def _reductions() -> NDArray[np.int64]:
    """[depth, number of the action] turns by which the search of a late action is shortened."""
    depth, number = np.ogrid[0:64, 0:64]
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = 0.4 + np.log(depth) * np.log(number) / 2.4
    return np.where((depth < 2) | (number <= LATE), 0, grown).astype(np.int64)


REDUCTIONS = _reductions()


@uncounted_loop
def search_all(roots: Roots, limits: Limits, stack: Stack, memory: Memory, result: RootScores) -> None:
    """PLAIN: the best action of each position, of equally good ones a random one; or, if `exact`, scores only."""
    root, states = stack.nodes[0], stack.states
    for i in range(len(roots.heads)):
        memory.whole[0] = roots.states[i]
        for k in range(len(memory.order)):
            memory.order[k] = roots.order[i, k]
        memory.history[:] = 0  # what is found does not depend on the positions before
        enter_root(roots.heads[i], stack, memory)
        root["alpha"], root["beta"], root["depth"], root["hash_action"] = -2 * WIN, 2 * WIN, limits.depth, -1
        level, known, ties, result.chosen[i] = int64(0), False, int64(0), -1
        while True:
            if not known:  # a new node
                open_node(level, limits, stack, memory)
            known = True
            if next_action(level, limits, stack, memory):
                known, value = play_ply(level, limits, stack, memory)
                if not known:
                    level += 1
                    continue
            else:  # done: back to the parent
                close_node(level, stack, memory)
                if level == 0:
                    break
                value, level = np.float64(stack.nodes[level]["best"]), level - 1
            if states[level + 1]["to_move"] != states[level]["to_move"]:
                value = -value
            if level > 0:
                back_up(level, value, stack, memory)
                continue
            result.scores[i, memory.order[root["tried"] - 1]] = value
            if limits.exact > 0:
                narrow(root, value, limits.exact, memory.best)
                continue
            ties = 0 if value > root["best"] + TIE else ties
            equal = value >= root["best"] - TIE
            root["best"] = max(root["best"], value)
            root["alpha"] = root["best"] - 2 * TIE  # the value of an equal action must be exact, not a bound
            if equal:
                ties += 1
                if below(roots.rngs[i : i + 1], ties) == 0:
                    result.chosen[i] = root["action"]
        result.values[i] = root["best"]
        for k in range(len(memory.order)):
            result.actions[i, k] = stack.actions[0, k] if k < root["count"] else -1


@uncounted_loop
def begin_search(root: Records, stack: Stack, memory: Memory) -> None:
    """Begin the search of one position, root [1] of STATE. Table and history are kept, the latter with less weight."""
    memory.barred[:] = 0
    for side in range(2):
        for action in range(memory.history.shape[1]):
            memory.history[side, action] >>= 3
    enter_root(root[0], stack, memory)
    set_out(1, 0.0, -1, stack.nodes[0], memory.progress[0])


@uncounted_loop
def search_line(depth: int, value: float, action: int, stack: Stack, memory: Memory) -> None:
    """Begin an iteration of `begin_search`'s position, without the actions that are `barred` there; `value` and
    `action` are what the iteration before found (-1: no action)."""
    run, barred = memory.progress[0], np.int64(0)
    for other in range(len(memory.barred)):
        barred += memory.barred[other]
    run["barred"] = barred
    set_out(depth, value, action, stack.nodes[0], run)


@uncounted_loop
def search_on(budget: int, limits: Limits, stack: Stack, memory: Memory) -> None:
    """Search `budget` nodes, or fewer if the search is finished."""
    run = memory.progress[0]
    level, visited = int64(run["level"]), 0
    while visited < budget and not run["finished"]:
        node = stack.nodes[level]
        if node["stage"] == OPEN:
            open_node(level, limits, stack, memory)
        if node["stage"] == NEXT and not next_action(level, limits, stack, memory):  # done: back to the parent
            close_node(level, stack, memory)
            if level == 0:
                end_iteration(limits, node, run)
                continue
            value, level = node["best"], level - 1
        else:
            visited += 1
            known, value = descend(level, limits, stack, memory)
            if not known:
                level += 1
                stack.nodes[level]["stage"] = OPEN
                continue
        receive(level, value, stack, memory)
    run["level"] = level
    run["nodes"] += visited


# ---- iterations ----


@uncounted_body
def enter_root(state: State, stack: Stack, memory: Memory) -> None:
    """The stack's first level holds the position; nothing is searched yet."""
    run, node = memory.progress[0], stack.nodes[0]
    run["nodes"], run["age"], run["barred"] = 0, (np.int64(run["age"]) + 1) % 128, 0
    memory.killers[:] = -1
    stack.states[0] = state
    refresh(stack.states[0], memory.weights[0], stack.scratch[0])
    node["turn"], node["step"], node["passed"] = 0, 0, 0
    run["completed"] = 0
    if not PLAIN:
        node["checked"] = in_check(stack.states[0], memory.work[0])
        node["key"] = key_of(stack, int64(0))


@njit
def set_out(depth: int, value: float, action: int, root: State, run: State) -> None:
    """Begin with an iteration: nothing is found in it yet."""
    run["level"], run["finished"], run["line"], run["action"], run["value"] = 0, 0, 0, action, value
    begin_iteration(depth, root, run)


@njit
def begin_iteration(depth: int, root: State, run: State) -> None:
    run["depth"], run["margin"] = depth, FIRST_MARGIN if depth >= ASPIRES else WIDEST
    open_window(run["value"], root, run)


@njit
def open_window(value: float, root: State, run: State) -> None:
    """Search the root with an aspiration window around a value."""
    wide = run["margin"] >= WIDEST or abs(value) > PROVEN
    root["alpha"] = -2 * WIN if wide else value - run["margin"]
    root["beta"] = 2 * WIN if wide else value + run["margin"]
    root["depth"], root["hash_action"], root["stage"] = run["depth"], run["action"], OPEN
    run["serial"] += 1
    root["serial"] = run["serial"]


@njit
def end_iteration(limits: Limits, root: State, run: State) -> None:
    """The root is done: widen its window if the value is outside; else finish, or search a turn deeper."""
    value = root["best"]
    low, high = value <= root["floor"] and root["floor"] > -WIN, value >= root["beta"] and root["beta"] < WIN
    if low or high:
        run["margin"] *= 4
        open_window(value, root, run)
        return
    run["value"], run["completed"] = value, run["depth"]
    soon = WIN - abs(value) < run["depth"]  # a proven value: no shorter way to the end has been overlooked
    if run["depth"] == limits.depth or soon or root["count"] == 1:
        run["finished"] = 1
    else:
        begin_iteration(run["depth"] + 1, root, run)


# ---- nodes ----


@uncounted_body
def open_node(level: int, limits: Limits, stack: Stack, memory: Memory) -> None:
    """List and rank a node's actions, unless its value is known to lie beyond the window."""
    node = stack.nodes[level]
    node["best"], node["floor"], node["best_action"] = -2 * WIN, node["alpha"], -1
    node["tried"], node["count"], node["stage"] = 0, 0, FULL if PLAIN else NEXT
    if not PLAIN:
        node["partial"], node["line"] = 0, 0
    if node["depth"] <= 0 or (not PLAIN and limits.prunes and not node["checked"]):
        node["static"] = np.float64(model_value(stack.states[level], memory.weights[0], stack.scratch[level]))
    if node["depth"] <= 0:  # the side to move may stand pat
        node["best"] = node["static"]
        node["alpha"] = max(node["alpha"], node["best"])
        if node["best"] >= node["beta"] or node["depth"] <= -limits.quiescence:
            return
    elif not PLAIN and limits.selective and level > 0:
        if WIN - node["turn"] <= node["alpha"]:  # a shorter win is known
            node["best"] = WIN - node["turn"]
            return
        if limits.prunes and not node["checked"] and prune_all(level, stack, memory):
            return
    list_actions(level, limits, stack, memory)


@uncounted_body
def prune_all(level: int, stack: Stack, memory: Memory) -> bool:
    """Whether `evaluate` lies so far above beta that no action is searched; else perhaps a null move is, first."""
    node = stack.nodes[level]
    if node["beta"] - node["alpha"] > 2 * NO_WIDTH or abs(node["beta"]) > PROVEN:
        return False
    if node["depth"] <= PRUNED_DEPTH and node["static"] - SAFE_MARGIN * node["depth"] >= node["beta"]:
        node["best"] = node["static"]
        return True
    if node["depth"] >= 3 and not node["passed"] and node["static"] >= node["beta"]:
        try_passing(level, stack, memory)
    return False


@uncounted_body
def try_passing(level: int, stack: Stack, memory: Memory) -> None:
    """Let a null move be searched first, if the game allows one here."""
    node, child, after = stack.nodes[level], stack.nodes[level + 1], stack.states[level + 1]
    stack.states[level + 1] = stack.states[level]
    if level + 2 < len(stack.nodes) and pass_turn(after):
        follow(level, stack, memory)
        node["stage"], node["action"], node["quiet"] = PASS, -1, 0
        node["child_depth"] = node["depth"] - 3 - node["depth"] // 4
        child["turn"], child["step"], child["passed"] = node["turn"] + 1, 0, 1
        child["checked"], child["line"] = 0, 0
        child["key"] = key_of(stack, level + 1)


@uncounted_body
def follow(level: int, stack: Stack, memory: Memory) -> None:
    """Let the model's scratch memory follow to the state of the next level."""
    before, after = stack.states[level], stack.states[level + 1]
    update(before, after, memory.weights[0], stack.scratch[level], stack.scratch[level + 1])


@uncounted_body
def next_action(level: int, limits: Limits, stack: Stack, memory: Memory) -> bool:
    """Choose the action of highest rank that is left; False if none is, or if the rest is not worth searching."""
    node, actions, ranks = stack.nodes[level], stack.actions[level], stack.ranks[level]
    first, count = np.int64(node["tried"]), np.int64(node["count"])
    if first == count or node["best"] >= node["beta"]:
        return False
    if PLAIN:  # they are sorted; the caller says in which order it wants the first ones
        node["action"] = actions[first if level > 0 else memory.order[first]]
        node["quiet"], node["tried"] = ranks[first] < LOUD, first + 1
        return True
    best = first
    for k in range(first + 1, count):
        if ranks[k] > ranks[best]:
            best = k
    rank, action = ranks[best], actions[best]
    node["quiet"] = rank < LOUD
    if limits.prunes and rank < KILLER and level > 0 and 0 < node["depth"] <= PRUNED_DEPTH and not node["checked"]:
        late = first >= 4 + node["depth"] * node["depth"] * 2
        futile = node["static"] + FUTILE_MARGIN * node["depth"] <= node["alpha"]
        if node["best"] > -PROVEN and (late or futile):
            return False
    ranks[best], actions[best] = ranks[first], actions[first]
    ranks[first], actions[first] = rank, action
    node["action"], node["tried"] = action, first + 1
    return True


@uncounted_body
def descend(level: int, limits: Limits, stack: Stack, memory: Memory) -> tuple[bool, float]:
    """Set up the child for the node's stage: whether its value is known without a search, and that value."""
    node, child, after = stack.nodes[level], stack.nodes[level + 1], stack.states[level + 1]
    if node["stage"] == NEXT:
        known, value = play_action(level, limits, stack, memory)
        if known:
            node["stage"] = FULL
            return True, value
        node["reduction"] = reduction(node, child, limits)
        whole = node["tried"] == 1 or child["turn"] == node["turn"]  # a position within a turn is not searched twice
        node["stage"] = FULL if whole else REDUCED if node["reduction"] > 0 else NARROW
    if child["turn"] > node["turn"]:  # another search of a turn sees all its positions again
        memory.progress[0]["serial"] += 1
        child["serial"] = memory.progress[0]["serial"]
    set_window(node, child, after["to_move"] == stack.states[level]["to_move"])
    child["depth"] = node["child_depth"] - (node["reduction"] if node["stage"] == REDUCED else 0)
    child["hash_action"] = -1
    if level + 2 == len(stack.nodes):
        child["depth"] = -limits.quiescence
    if child["depth"] > 0:
        return look_up(child, limits.selective, memory)
    return False, 0.0


@uncounted_body
def play_action(level: int, limits: Limits, stack: Stack, memory: Memory) -> tuple[bool, float]:
    """Play the node's action: whether the value of the child follows from the rules, and that value."""
    node, child, after = stack.nodes[level], stack.nodes[level + 1], stack.states[level + 1]
    if node["depth"] <= 0:  # loud actions need no history
        for k in range(stack.head_words):
            stack.words[level + 1, k] = stack.words[level, k]
        play_head(after, node["action"], memory.rng, memory.work[0])
    else:
        stack.states[level + 1] = stack.states[level]
        play(after, node["action"], memory.rng, memory.work[0])
    turned = after["to_move"] != stack.states[level]["to_move"]
    child["turn"], child["passed"], child["checked"], child["line"] = node["turn"] + turned, 0, 0, 0
    child["step"] = 0 if turned else node["step"] + 1
    if after["outcome"] != RUNNING:
        return True, value_for(after["outcome"], after["to_move"]) * (WIN - node["turn"])
    follow(level, stack, memory)
    if node["depth"] <= 0:
        node["child_depth"] = node["depth"] - 1
        return False, 0.0
    child["key"], node["child_depth"] = key_of(stack, level + 1), node["depth"] - turned
    if turned:
        return begin_turn(level, limits, stack, memory)
    child["serial"] = node["serial"]
    if child["step"] == LONGEST_TURN or level + 2 == len(stack.nodes) or seen_in_turn(child, memory):
        node["partial"] = 1
        return True, -2 * WIN
    return False, 0.0


@uncounted_body
def play_ply(level: int, limits: Limits, stack: Stack, memory: Memory) -> tuple[bool, float]:
    """PLAIN: play the node's action and set up the child: whether its value is known, and that value."""
    node, child, after = stack.nodes[level], stack.nodes[level + 1], stack.states[level + 1]
    stack.states[level + 1] = stack.states[level]
    play_head(after, node["action"], memory.rng, memory.work[0])
    if level == 0:  # the outcome may depend on the history
        memory.whole[1] = memory.whole[0]
        play(memory.whole[1], node["action"], memory.rng, memory.work[0])
        after["outcome"] = memory.whole[1]["outcome"]
    if after["outcome"] != RUNNING:
        return True, value_for(after["outcome"], after["to_move"]) * (WIN - level)
    follow(level, stack, memory)
    if node["depth"] - 1 == -limits.quiescence:
        return True, np.float64(model_value(after, memory.weights[0], stack.scratch[level + 1]))
    set_window(node, child, after["to_move"] == stack.states[level]["to_move"])
    child["depth"], child["turn"], child["hash_action"] = node["depth"] - 1, level + 1, -1
    if len(memory.table) > 0 and child["depth"] > 0:
        child["key"] = hash_of(stack.words, level + 1)  # a game's own key may leave out a clock
        return look_up(child, False, memory)
    return False, 0.0


@uncounted_body
def begin_turn(level: int, limits: Limits, stack: Stack, memory: Memory) -> tuple[bool, float]:
    """The child begins a turn: whether it is won or repeated, and its value; in check it is searched deeper."""
    node, child, after = stack.nodes[level], stack.nodes[level + 1], stack.states[level + 1]
    if limits.selective:
        for k in range(level, -1, -1):
            if stack.nodes[k]["key"] == child["key"]:
                return True, 0.0
    if can_win(after, memory.work[0]):
        return True, WIN - child["turn"]
    child["checked"] = in_check(after, memory.work[0])
    if limits.selective and child["checked"] and child["turn"] < 2 * memory.progress[0]["depth"]:
        node["child_depth"] += 1
    return False, 0.0


@uncounted_body
def seen_in_turn(node: State, memory: Memory) -> bool:
    """Whether a position within a turn has been searched since the turn's first node was opened; it is noted."""
    mark = mix(node["key"] ^ mix(np.uint64(node["serial"])))
    slot = np.int64(mark & np.uint64(len(memory.seen) - 1))
    known = memory.seen[slot] == mark
    memory.seen[slot] = mark
    return known


@njit
def reduction(node: State, child: State, limits: Limits) -> int:
    """Turns by which the search of the node's action is shortened at first."""
    if (
        not limits.selective
        or not node["quiet"]
        or node["checked"]
        or child["checked"]
        or child["turn"] == node["turn"]
    ):
        return 0
    less = REDUCTIONS[min(node["depth"], 63), min(node["tried"], 63)]
    if node["beta"] - node["alpha"] > 2 * NO_WIDTH:
        less -= 1
    return max(0, min(less, node["child_depth"] - 1))


@njit
def set_window(node: State, child: State, same_side: bool) -> None:
    """The child's window: the node's, or one without width, as the child's side to move sees it."""
    low, high = node["alpha"], node["beta"]
    if node["stage"] == PASS:
        low = high - NO_WIDTH
    elif node["stage"] != FULL:
        high = low + NO_WIDTH
    child["alpha"] = low if same_side else -high
    child["beta"] = high if same_side else -low


@uncounted_body
def receive(level: int, value: float, stack: Stack, memory: Memory) -> None:
    """Enter the child's value: it is searched again, or backed up."""
    node, stage = stack.nodes[level], stack.nodes[level]["stage"]
    if stack.states[level + 1]["to_move"] != stack.states[level]["to_move"]:
        value = -value
    node["stage"] = NEXT
    if stage == PASS:
        if value >= node["beta"]:
            node["best"] = value if value < PROVEN else node["beta"]  # a win after a null move is no proof
    elif stage == REDUCED and value > node["alpha"]:
        node["stage"] = NARROW
    elif stage == NARROW and node["alpha"] < value < node["beta"] and node["beta"] - node["alpha"] > 2 * NO_WIDTH:
        node["stage"] = FULL
    else:
        back_up(level, value, stack, memory)


@uncounted_body
def back_up(level: int, value: float, stack: Stack, memory: Memory) -> None:
    """Enter the value of the node's action."""
    node, action = stack.nodes[level], stack.nodes[level]["action"]
    node["best"] = max(node["best"], value)
    if value <= node["alpha"]:
        return
    node["alpha"], node["best_action"] = value, action
    if not PLAIN and node["beta"] - node["floor"] > 2 * NO_WIDTH:
        length = stack.nodes[level + 1]["line"]
        stack.lines[level, 0] = action
        for k in range(length):
            stack.lines[level, k + 1] = stack.lines[level + 1, k]
        node["line"] = length + 1
    if not PLAIN and level == 0:
        run = memory.progress[0]
        run["action"], run["value"], run["line"] = action, value, node["line"]
        for k in range(node["line"]):
            memory.line[k] = stack.lines[0, k]
    if value >= node["beta"] and node["quiet"] and node["depth"] > 0:
        memory.history[stack.states[level]["to_move"], action] += node["depth"] * node["depth"]
        if memory.killers[level, 0] != action:
            memory.killers[level, 1], memory.killers[level, 0] = memory.killers[level, 0], action


@njit
def narrow(root: State, value: float, exact: int, best: Doubles) -> None:
    """Enter the value of a first action, and raise the window to what the next must reach to get their exact value."""
    place = root["tried"] - 1
    while place > 0 and best[place - 1] < value:
        best[place] = best[place - 1]
        place -= 1
    best[place] = value
    root["best"] = best[0]
    if root["tried"] >= exact:
        root["alpha"] = best[exact - 1] - 2 * TIE


# ---- lists of actions ----


@uncounted_body
def list_actions(level: int, limits: Limits, stack: Stack, memory: Memory) -> None:
    """List the actions with their ranks, if PLAIN sorted; beyond the depth only the loud ones."""
    node, state, actions, ranks = stack.nodes[level], stack.states[level], stack.actions[level], stack.ranks[level]
    work, side, kept = memory.work[0], state["to_move"], 0
    count = legal(state, actions, work) if node["depth"] > 0 else legal_loud(state, actions, work)
    for k in range(count):
        action = actions[k]
        loud = np.int64(loudness(state, action))
        if (loud <= 0 and node["depth"] <= 0) or (not PLAIN and level == 0 and memory.barred[action]):
            continue
        if PLAIN and (level == 0 or not limits.ordered):
            rank = 0
        elif action == node["hash_action"]:
            rank = FROM_TABLE
        elif loud > 0:
            rank = LOUD + loud
        elif action == memory.killers[level, 0]:
            rank = KILLER + 1
        elif action == memory.killers[level, 1]:
            rank = KILLER
        else:
            rank = memory.history[side, action]
        place = kept
        if PLAIN:
            while place > 0 and ranks[place - 1] < rank:
                actions[place], ranks[place] = actions[place - 1], ranks[place - 1]
                place -= 1
        actions[place], ranks[place] = action, rank
        kept += 1
    node["count"] = kept


# ---- transposition table ----


@uncounted_body
def key_of(stack: Stack, level: int) -> np.uint64:
    """What tells positions apart: the game's own key, or a hash of the record."""
    key = transposition_key(stack.states[level])
    return key if key != np.uint64(0) else hash_of(stack.words, level)


@wrapping
def hash_of(words: NDArray[np.generic], level: int) -> np.uint64:
    """64 bits for a record (words [L, W])."""
    x = STEP
    for k in range(words.shape[1]):
        x = mix(x ^ np.uint64(words[level, k])) + STEP
    return x


@uncounted_body
def look_up(child: State, selective: bool, memory: Memory) -> tuple[bool, float]:
    """Whether the table knows enough of a position, and its value. A principal variation is always searched."""
    entry = memory.table[np.int64(child["key"] & np.uint64(len(memory.table) - 1))]
    sealed, value, action, depth, bound = entry["key"], entry["value"], entry["action"], entry["depth"], entry["bound"]
    if bound == 0 or sealed != seal(child["key"], value, action, depth, bound):
        return False, 0.0
    child["hash_action"] = action
    if abs(value) > PROVEN:
        value += -child["turn"] if value > 0 else child["turn"]
    deep = depth == child["depth"]
    if not PLAIN and selective:
        proven = (value > PROVEN and bound != AT_MOST) or (value < -PROVEN and bound != AT_LEAST)
        deep = depth >= child["depth"] or proven
    high = bound != AT_MOST and value >= child["beta"]
    low = bound != AT_LEAST and value <= child["alpha"]
    if PLAIN:
        return deep and (high or low or bound == EXACT), value
    return deep and child["beta"] - child["alpha"] < 2 * NO_WIDTH and (high or low), value


@uncounted_body
def close_node(level: int, stack: Stack, memory: Memory) -> None:
    """Enter a node that is done into the table."""
    node, run = stack.nodes[level], memory.progress[0]
    if PLAIN and (level == 0 or len(memory.table) == 0):
        return
    within = not PLAIN and level > 0 and stack.nodes[level - 1]["turn"] == node["turn"]
    if node["partial"] and within:
        stack.nodes[level - 1]["partial"] = 1
    if (
        not PLAIN and node["best"] == -2 * WIN and not within
    ):  # a turn for which no level was left: its side has not lost
        node["best"] = np.float64(model_value(stack.states[level], memory.weights[0], stack.scratch[level]))
        return
    if level == 0 and run["barred"]:  # the value of the other actions alone
        return
    value = node["best"]
    bound = AT_LEAST if value >= node["beta"] else AT_MOST if value <= node["floor"] else EXACT
    if node["depth"] <= 0 or abs(value) > WIN or (node["partial"] and within and bound != AT_LEAST):
        return
    entry = memory.table[np.int64(node["key"] & np.uint64(len(memory.table) - 1))]
    known = entry["action"]
    same = entry["key"] == seal(node["key"], entry["value"], known, entry["depth"], entry["bound"])
    if not same and entry["age"] == run["age"] and entry["depth"] > node["depth"]:
        return
    if abs(value) > PROVEN:
        value += node["turn"] if value > 0 else -node["turn"]
    action = node["best_action"] if node["best_action"] >= 0 or not same else known
    entry["key"] = seal(node["key"], value, action, node["depth"], bound)
    entry["value"], entry["action"] = value, action
    entry["depth"], entry["bound"], entry["age"] = node["depth"], bound, run["age"]


@njit
def seal(key: np.uint64, value: float, action: int, depth: int, bound: int) -> np.uint64:
    """An entry's key, mixed with its contents: where two threads write at once, an entry made of both fits no key."""
    rest = np.int64(action) << 32 ^ np.int64(depth) << 8 ^ np.int64(bound)
    return key ^ np.float64(value).view(np.uint64) ^ np.uint64(rest)
