"""Template: a model learns by games against itself (TD(lambda)), in compiled code. `training.py` says what it does."""

from __future__ import annotations

from plyground.games.interface import RUNNING, State, value_for
from plyground.games.rng import below, uniform
from plyground.kernels.no_refcounts import uncounted_body, uncounted_loop
from plyground.kernels.slots import learn, legal, play, reset
from plyground.models.judge import judged
from plyground.models.training import Records, SelfPlayMemory, SelfPlaySettings


@uncounted_body
def best_action(state: State, count: int, memory: SelfPlayMemory) -> int:
    """The action after which the model values the position most, of equal ones the first."""
    best, chosen, after = -2.0, 0, memory.after[0]
    for k in range(count):
        memory.after[0] = state
        play(after, memory.actions[k], memory.own, memory.work[0])
        if after["outcome"] != RUNNING:
            value = value_for(after["outcome"], state["to_move"])
        else:
            value = judged(after, memory.judge)
            if after["to_move"] != state["to_move"]:
                value = -value
        if value > best:
            best, chosen = value, memory.actions[k]
    return chosen


@uncounted_body
def play_game(blank: Records, settings: SelfPlaySettings, memory: SelfPlayMemory) -> int:
    """Play one game into the memory; returns its length."""
    states, plies = memory.states, 0
    states[0] = blank[0]
    reset(states[0], memory.rng)
    opening = below(memory.rng, settings.opening_plies + 1)
    while states[plies]["outcome"] == RUNNING and plies < len(memory.explored):
        state = states[plies]
        memory.values[plies] = judged(state, memory.judge)
        count = legal(state, memory.actions, memory.work[0])
        random = plies < opening or uniform(memory.rng) < settings.epsilon
        memory.explored[plies] = random
        action = memory.actions[below(memory.rng, count)] if random else best_action(state, count, memory)
        states[plies + 1] = state
        play(states[plies + 1], action, memory.rng, memory.work[0])
        plies += 1
    return plies


@uncounted_loop
def learn_games(games: int, blank: Records, settings: SelfPlaySettings, memory: SelfPlayMemory) -> int:
    """Play and learn from so many games; returns the number of their plies."""
    total = 0
    for _ in range(games):
        plies = play_game(blank, settings, memory)
        total += plies
        last = memory.states[plies]
        following = value_for(last["outcome"], last["to_move"])  # the next position's value; `target`: its return
        target, side = following, last["to_move"]
        for k in range(plies - 1, -1, -1):
            state = memory.states[k]
            if state["to_move"] != side:
                following, target = -following, -target
            side = state["to_move"]
            target = settings.td_lambda * target + (1.0 - settings.td_lambda) * following
            following = memory.values[k]
            if memory.explored[k]:  # what follows is no fault of this position
                target = following
            else:
                learn(state, target, settings.rate, memory.judge.weights[0], memory.judge.scratch[0])
    return total
