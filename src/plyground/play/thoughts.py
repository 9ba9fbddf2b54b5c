"""What an opponent thinks of a person's moves: in whole turns, and with values even where it plays by a rule."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

from plyground.agents.registry import can_search, make
from plyground.games import GAMES
from plyground.play import typed
from plyground.position import Position
from plyground.search.analysis import Analysis, MoveAnalysis

AT_A_GLANCE = "level:1"  # tells the `evaluate` after each action, or the score of the game's scorer
MOST = 10  # moves of which the whole turn is found
LONGEST = 16  # actions of a turn; a chain may run in circles
SECONDS = 3.0  # after which no further turn is completed


class Thoughts(NamedTuple):
    """The answer to `think`."""

    analysis: Analysis
    rule: str = ""
    """how an agent chooses that gives no values, and its choice"""
    values_of: str = ""
    """whose values the analysis then has; empty: there are none"""


def think(position: Position, agent: Any) -> Thoughts:
    """What an agent thinks of each move. One that plays by a rule has no values: then its rule, its turn, and the
    values of the game's `evaluate` or scorer."""
    position = position.in_thought()
    first = position.analyse(agent)
    found = in_whole_turns(position, agent, first)
    chosen = [move for move in found.moves if move.prior > 0.0]
    if sum(move.prior > 0.0 for move in first.moves) != 1 or len(found.moves) == 1 or chosen[0].value is not None:
        return Thoughts(found)
    turn = typed.turns_of(position, chosen[0].actions)[0]
    described = (getattr(getattr(agent, "function", None), "__doc__", "") or "").strip()  # of a scripted agent
    first_line = described.partition("\n")[0].rstrip(".")
    how = f": {first_line[0].lower()}{first_line[1:]}" if first_line else ""
    rule = f"It plays by a rule, without values{how}. It would {turn.advice}."
    rules = position.game.rules
    scorer = "".join(f"{name}, which scores moves" for name in list(rules.SCORERS)[:1])
    whose = "the game's evaluation function" if can_search(position.game) else scorer
    if not whose:
        return Thoughts(found, rule)
    # The interpreter is quick enough for these values, and nobody waits for a compiler.
    game = position.game.without_compiler() if position.game.word in GAMES else position.game
    here, glance = Position(game, position.states, rngs=position.rngs), make(AT_A_GLANCE, game)
    return Thoughts(in_whole_turns(here, glance, here.analyse(glance)), rule, whose)


def in_whole_turns(position: Position, agent: Any, found: Analysis) -> Analysis:
    """The same, where a turn has several actions, with the rest of the turn as the agent would play it; moves for which
    there is no time keep neither value nor prior. Nobody knows how a turn goes on after dice or hidden cards."""
    if position.game.rules.turn_text is None or position.game.uncertain:
        return found
    by_prior, end = len({move.prior for move in found.moves}) > 1, time.perf_counter() + SECONDS
    moves = list[MoveAnalysis]()
    for number, move in enumerate(found.moves):
        tells = move.value is not None or (by_prior and move.prior > 0.0)
        if not (tells and (number < 2 or (number < MOST and time.perf_counter() < end))):
            moves.append(replace(move, value=None, prior=0.0 if by_prior else move.prior))
            continue
        here = position.after_turn(move.actions)
        while here.to_move == position.to_move and not here.over and len(move.line) < LONGEST:
            best = here.analyse(agent).moves[0]
            move = replace(
                best,  # what is thought of the turn's last action
                name=move.name,
                action=move.action,
                line=[*move.line, *best.line],
                actions=[*move.actions, *best.actions],
                prior=move.prior * best.prior if by_prior else move.prior,
                value=move.value if best.value is None else best.value,
            )
            here = here.after_turn(best.actions)
        moves.append(move)
    worst = -2.0
    moves.sort(key=lambda move: (-(worst if move.value is None else move.value), -move.prior))
    return replace(found, moves=moves)
