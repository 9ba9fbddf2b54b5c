"""Turns of several actions in any game: the wins that nobody must overlook, and the best end of a turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.search.alpha_beta_arrays import Ints, Records, Words
from plyground.search.choosing_arrays import ENDS, FULL, NONE, SEEN, TURN_NODE, WIN_BEGUN, WINS, Choices, TurnMemory
from plyground.search.tree_memory import words_of

TEMPLATE = "plyground.search.choosing"
MOST, LONGEST = 20_000, 100  # positions and actions within one turn, in which a win is looked for
MOST_OF_ENDS = 2_000  # positions within a turn among whose ends the best is looked for
DRAWS = 4  # of what is hidden: a win that needs no luck is there in all of them
PLACES, MORE = 1 << 10, 4  # for positions at first; where they do not suffice, so many times as many


def to_win(game: Game) -> Choices:
    """How a win within the turn is looked for. What the seat to act cannot see is redrawn: an action must begin a win
    in each of DRAWS redraws. What chance decides is no win: luck is what the other moves are weighed for."""
    return Choices(WINS, DRAWS if game.rules.hidden else 1, MOST, LONGEST)


def best_end(game: Game, state: Records, returning: int = NONE) -> list[int]:
    """The way from a state [1] to the best end of its turn by `evaluate`, the shortest of equally good ones; without
    `evaluate` only results count. Empty where there is no end, or where chance decides where the action `returning`
    leads, in place of which it is asked for."""
    choices = Choices(ENDS, most=MOST_OF_ENDS, returning=returning)
    actions, turn = choose(game, state, np.zeros(1, np.uint64), choices)
    line: list[int] = turn.line.tolist()
    return line[: line.index(NONE)] if actions[0] != NONE else []


def choose(game: Game, states: Records, rngs: Words, choices: Choices) -> tuple[Ints, TurnMemory]:
    """[N] what is chosen in running states [N], each with its generator of `rngs` [N], or -1; and the memory, as the
    last state has left it."""
    turn, actions, work = new_turn(game, PLACES), np.full(len(states), FULL, np.int32), game.work()[0]
    for row, words in enumerate(words_of(states)):
        while True:
            actions[row] = game.kernels(TEMPLATE).choose(words, rngs[row : row + 1], choices, turn, work)
            if actions[row] != FULL:
                break
            turn = new_turn(game, MORE * len(turn.nodes))
    return actions, turn


def compile_choices(game: Game) -> None:
    """Compile what chooses: without draws it calls none of the game's functions."""
    choose(game, game.blank, np.zeros(1, np.uint64), Choices(draws=0))


def new_turn(game: Game, places: int) -> TurnMemory:
    """Memory for so many positions, a power of two; it is filled as far as a turn needs it."""
    states, most = np.empty(places, game.rules.STATE), game.rules.MAX_LEGAL
    word = game.arrays.head_word
    return TurnMemory(
        states=states,
        words=words_of(states),
        heads=states.view(f"u{word}").reshape(places, -1)[:, : game.rules.HEAD.itemsize // word],
        nodes=np.empty(places, TURN_NODE),
        table=np.empty(2 * places, np.int32),
        line=np.empty(places, np.int32),
        wins=np.empty(most, WIN_BEGUN),
        actions=np.empty(most, np.int32),
        seen=np.empty(most, SEEN),
        rng=np.empty(1, np.uint64),
    )


def after_actions(game: Game, states: Records, actions: Ints, rng: np.uint64) -> Records:
    """[F] the states after actions [F], each with the same chance, which follows `rng`."""
    after = states.copy()
    game.kernels().play_all(after, actions, np.full(len(after), rng, np.uint64), game.work())
    return after


def turn_of(game: Game, state: Records, line: Sequence[int]) -> tuple[list[int], Records]:
    """The actions of a line, played from a state [1] of a game without chance, that belong to its first turn, and the
    state [1] after them: the turn goes on there if the line ends before it."""
    side, turn = state["to_move"][0], list[int]()
    for action in line:
        if state["outcome"][0] != RUNNING or state["to_move"][0] != side:
            break
        turn.append(action)
        state = after_actions(game, state, np.array([action], np.int32), np.uint64(0))
    return turn, state
