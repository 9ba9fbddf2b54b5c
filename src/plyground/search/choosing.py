"""Template: what a side chooses within its own turn, as a scalar function over one position: the same on every device.

A *win within the turn* and the *best end* of a turn, which leads out of a circle, are looked for by breadth: all
positions after one action, after two, and so on. A *glance* scores each action by the position right after it and draws
one from the softmax of the scores.

The positions of a turn stand side by side, the root first. An action is played into the first free place, and the
position stays there if it is new. Nothing is allocated: where the places do not suffice the answer is FULL, and the
generator is as before, for a caller who has more of them; to others it means NONE.

It is one long function that calls each function of the game in one place. As parts of their own, or with a loop over
rows around it, it took the compiler up to three times as long.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plyground.games.interface import FIRST_WINS, RUNNING, State, value_for
from plyground.games.rng import STEP, Rng, below, mix
from plyground.kernels.arrays import int32, int64
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.kernels.slots import CHANCE, STATE, determinize, evaluate, first_score, legal, play, seat
from plyground.models.numbers import exp
from plyground.search.alpha_beta_arrays import WIN
from plyground.search.choosing_arrays import ENDS, EVALUATED, FULL, NONE, SCORED, STEPS, WINS, Choices, TurnMemory

Words = NDArray[np.generic]

SIZE = STATE.itemsize // STATE.alignment  # of a record, in words
THROWS = 16 if CHANCE else 1  # of the dice, which show whether they decide anything
DECIDED = 1.5  # a score of a win: wins and losses lie beyond all evaluations, which are in [-1, 1]


@uncounted_loop
def choose(root: Words, rng: Rng, choices: Choices, turn: TurnMemory, work: State) -> np.int32:
    """An action in a running position, the words `root` [SIZE], with its generator `rng`; NONE; or FULL. It is what is
    found within the turn; otherwise, in a share of all cases, what is drawn at a glance.

    For WINS that is the first action that begins a win in each draw of what is hidden, unless chance has a part in it:
    an action counts if in all throws it leads to the same position, or ends the game alike. For ENDS it is the first
    action on the way to the best end by result and `evaluate`, the shortest of equally good ones.
    """
    states, nodes, actions, wins, within = turn.states, turn.nodes, turn.actions, turn.wins, choices.within
    before = rng[0]
    glances = choices.glances >= 0.0 and below(rng, STEPS) / STEPS < choices.glances
    bits, seen, found = rng[0], 0, int64(0)  # how many actions were seen at a glance, and how many begin a win
    best, last, ending = -np.inf, 0, int32(NONE)  # of the best end: the value, the place before it and its action
    for draw in range(choices.draws):
        for k in range(SIZE):
            turn.words[0, k] = root[k]
        turn.rng[0] = bits
        if within != ENDS:  # which are looked for in a position that was drawn
            determinize(states[0], seat(states[0]), turn.rng)
        bits, side = turn.rng[0], states[0]["to_move"]
        for slot in range(len(turn.table)):
            turn.table[slot] = 0
        nodes[0]["depth"] = 0
        place, count, depth = 0, int64(1), 0
        while place < count:
            if nodes[place]["depth"] > depth:
                depth += 1
                if depth == choices.longest or count > choices.most:
                    break
            scored = glances and draw == 0 and place == 0
            listed = legal(states[place], actions, work)
            seen = listed if scored else seen
            for k in range(listed):
                if count + 2 > len(nodes):
                    rng[0] = before
                    return int32(FULL)
                action, after = actions[k], states[count]
                goes_on, wins_now, luck = False, False, False
                for throw in range(THROWS):
                    target = count + (throw > 0)
                    for word in range(SIZE):
                        turn.words[target, word] = turn.words[place, word]
                    turn.rng[0] = bits if throw == 0 else mix(bits + np.uint64(throw) * STEP)
                    play(states[target], action, turn.rng, work)
                    if throw == 0:
                        goes_on = after["outcome"] == RUNNING and after["to_move"] == side
                        wins_now = after["outcome"] == FIRST_WINS + side
                        if within != ENDS and not (within == WINS and (goes_on or wins_now)):
                            break
                    elif after["outcome"] == RUNNING or states[target]["outcome"] != after["outcome"]:
                        luck = luck or not is_same(count, target, turn)
                ends, value = within == ENDS and not goes_on, 0.0
                if ends or (scored and choices.scores == EVALUATED):
                    if after["outcome"] != RUNNING:
                        value = value_for(after["outcome"], side) * WIN
                    else:
                        value = np.float64(evaluate(after))
                        value = value if after["to_move"] == side else -value
                elif scored and choices.scores == SCORED:
                    value = np.float64(first_score(states[0], action))
                if scored:
                    turn.seen[k]["action"], turn.seen[k]["score"] = action, value
                if luck:
                    if place == 0 and action == choices.returning:
                        return int32(NONE)
                    continue
                first = nodes[place]["first"] if place else action
                if ends:
                    if np.float32(value) > best:
                        best, last, ending = np.float64(np.float32(value)), place, action
                elif within == WINS and wins_now:
                    if choices.draws == 1:
                        return int32(first)
                    found = mark_win(first, draw, found, wins)
                elif within and goes_on and enter(count, turn):
                    node = nodes[count]
                    node["origin"], node["action"], node["first"], node["depth"] = place, action, first, depth + 1
                    count += 1
            place += 1
        if found == 0:
            break
        bits += STEP
    for k in range(found):
        if wins[k]["draws"] == choices.draws:
            return int32(wins[k]["action"])
    if ending != NONE:
        turn.line[nodes[last]["depth"] + 1] = NONE
        for k in range(nodes[last]["depth"], -1, -1):
            turn.line[k] = ending
            ending, last = nodes[last]["action"], nodes[last]["origin"]
        return int32(turn.line[0])
    return draw_by_score(turn.seen, seen, choices.temperature, rng) if glances else int32(NONE)


@uncounted_body
def is_same(place: int, other: int, turn: TurnMemory) -> bool:
    """Whether two positions have the same head."""
    k = 0
    while k < turn.heads.shape[1] and turn.heads[place, k] == turn.heads[other, k]:
        k += 1
    return k == turn.heads.shape[1]


@uncounted_body
def enter(place: int, turn: TurnMemory) -> bool:
    """Enter a position into the table; False if its head is there already."""
    key, last = np.uint64(0), len(turn.table) - 1
    for k in range(turn.heads.shape[1]):
        key = mix(key ^ np.uint64(turn.heads[place, k])) + STEP
    slot = np.int64(key & np.uint64(last))
    while turn.table[slot] != 0 and not is_same(int64(turn.table[slot]), place, turn):
        slot = (slot + 1) & last
    new = turn.table[slot] == 0
    if new:
        turn.table[slot] = place
    return new


@uncounted_body
def mark_win(first: int, draw: int, found: int, wins: NDArray[np.void]) -> int:
    """Note that an action begins a win in this draw, if it did so in all earlier ones; how many actions are noted."""
    k = 0
    while k < found and wins[k]["action"] != first:
        k += 1
    if k == found and draw == 0:
        wins[k]["action"], wins[k]["draws"] = first, 0
        found += 1
    if k < found and wins[k]["draws"] == draw:
        wins[k]["draws"] = draw + 1
    return found


@uncounted_body
def draw_by_score(seen: NDArray[np.void], count: int, temperature: float, rng: Rng) -> np.int32:
    """An action drawn from the softmax of the scores of `count` actions."""
    best, total, k = -DECIDED, 0.0, 0
    for place in range(count):
        best = max(best, min(seen[place]["score"], DECIDED))
    for place in range(count):
        total += exp((min(max(seen[place]["score"], -DECIDED), DECIDED) - best) / temperature)
        seen[place]["sum"] = total
    wanted = below(rng, STEPS) / STEPS * total
    while seen[k]["sum"] <= wanted:
        k += 1
    return int32(seen[k]["action"])
