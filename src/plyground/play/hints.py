"""Hints: a good turn for the side to move, and why."""

from __future__ import annotations

from typing import NamedTuple

from plyground.agents.agent import Agent, known, make
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.play import typed
from plyground.position import Position
from plyground.report.analysis import Scores, solve

AGENTS = ("minimax:depth=4", "greedy", "random")  # to ask where there is no solver; the first that the game has
LONGEST_TURN = 40  # actions


class Hint(NamedTuple):
    """What to play."""

    actions: list[int]  # of a turn, in order; only the first where chance comes between them
    text: str


def hint(position: Position) -> Hint:
    """The game's own advice, and the best turn by its solver or, where there is none, by an agent."""
    game = position.game
    own = [advice] if game.rules.advise is not None and (advice := game.rules.advise(position)) else []
    scores = solve(position)
    found = _by_solver(position, scores) if scores else _by_agent(position, make(agent_for(game), game))
    return Hint(found.actions, ". ".join([*own, found.text]))


def prepare(start: Position) -> None:
    """Compile everything that hints need."""
    if start.game.rules.solve is None:
        make(agent_for(start.game), start.game).act(start.states[:0].copy(), seeds(0, 0))
    if not start.over:
        hint(start)


def agent_for(game: Game) -> str:
    """The spec of the agent that gives hints."""
    words = {spec.partition(":")[0] for spec in known(game)}
    return next(spec for spec in AGENTS if spec.partition(":")[0] in words)


def _by_solver(position: Position, scores: Scores) -> Hint:
    best, *others = [action for action in scores if scores[action][0] == max(score for score, _ in scores.values())]
    same = ", ".join(typed.notation(position, action) for action in others)
    why = f"it {scores[best][1]}{f' (equally good: {same})' if same else ''}"
    return Hint([best], f"the solver would play {typed.notation(position, best)}: {why}")


def _by_agent(position: Position, agent: Agent) -> Hint:
    rules, side, actions, names = position.game.rules, position.to_move, list[int](), list[str]()
    while not position.over and position.to_move == side and len(actions) < LONGEST_TURN:
        actions.append(position.ask(agent))
        names.append(typed.notation(position, actions[-1]))
        if rules.CHANCE or rules.hidden:  # what follows is not known yet
            break
        position = position.play(actions[-1])
    return Hint(actions, f"{agent} would play {' '.join(names)}")
