"""Hints: a good turn for the side to move by the best agent that there is, and why, in words and values."""

from __future__ import annotations

from typing import NamedTuple

from plyground.agents.levels import strongest, strongest_without_network
from plyground.agents.registry import can_search
from plyground.errors import counted
from plyground.game import Game
from plyground.games import GAMES
from plyground.play import typed
from plyground.position import Position
from plyground.report.analysis import solve
from plyground.search.analysis import Analysis, MoveAnalysis

SHORT = 6  # plies of the expected play
STANDING = {0.07: "it is about even", 0.2: "you stand a little {}", 0.4: "you stand clearly {}", 1.0: "you should {}"}
"""the largest size of a value: what it means for the side to move. In chess a pawn is about 0.15, a knight 0.4."""


class Hint(NamedTuple):
    """What to play."""

    actions: list[int]  # of a turn, in order; only the first where chance comes between them
    text: str


def hint(position: Position) -> Hint:
    """The game's own advice, and the best turn by its solver or, where there is none, by its adviser."""
    game, position = position.game, position.in_thought()
    own = [advice] if game.rules.advise is not None and (advice := game.rules.advise(position)) else []
    scores = solve(position)
    if scores:
        most = max(score for score, _ in scores.values())
        best, *others = [action for action, (score, _) in scores.items() if score == most]
        same = ", ".join(position.notation(action) for action in others)
        why = f"it {scores[best][1]}{f' (equally good: {same})' if same else ''}"
        found = Hint([best], f"the solver would play {position.notation(best)}: {why}")
    else:
        found = _by_agent(position, adviser(game))
    return Hint(found.actions, ". ".join([*own, found.text]))


def adviser(game: Game) -> str:
    """The spec of the agent that gives hints: alpha-beta where that plays, since it tells whole turns; otherwise the
    strongest."""
    plain = strongest_without_network(game)
    return plain if plain.startswith("minimax") else strongest(game)


def early_hint(position: Position) -> Hint | None:
    """A hint without the compiler, by an agent that looks at few positions; None for a game of one's own, which nobody
    has tested without the compiler."""
    game = position.game.without_compiler()
    simple = "minimax:nodes=300" if can_search(game) else next(iter(game.rules.SCORERS), "")
    if game.word not in GAMES or not simple:
        return None
    found = _by_agent(Position(game, position.states).in_thought(), simple)
    return Hint(found.actions, f"{found.text} (at first sight: the better adviser is being compiled)")


def prepare(start: Position) -> None:
    """Compile everything that hints need."""
    if not start.over:
        hint(start)


def _by_agent(position: Position, agent: str) -> Hint:
    found: Analysis = position.analyse(agent)
    turns = typed.turns_of(position, found.moves[0].actions)
    best = found.moves[0]
    if best.proven == "win":
        why = f"it wins{_distance(best)}"
    elif best.proven == "loss":
        why = f"every move loses, this one{_distance(best)}"
    elif best.proven == "draw":
        why = "it is a draw, and nothing is better"
    else:  # what the value means, the next best move, and the expected play
        parts = [f"{standing(best.value or 0.0)} ({best.value or 0.0:+z.2f})"]
        others = [move for move in found.moves[1:] if move.value is not None]
        if others:
            second = typed.turns_of(position, others[0].actions)[0].text
            parts.append(f"next best {second} ({others[0].value:+z.2f})")
        if len(turns) > 1:
            parts.append(f"expected {' '.join(turn.text for turn in turns[:SHORT])}")
        why = "; ".join(parts)
    return Hint(turns[0].actions, f"{agent} would {turns[0].advice}: {why}")


def standing(value: float) -> str:
    """What a value, -1 to 1, means for the side to move: `you stand a little worse`."""
    size = min(abs(value), 1.0)
    words = next(words for most, words in STANDING.items() if size <= most)
    better, win = ("better", "win") if value > 0 else ("worse", "lose")
    return words.format(win if words == STANDING[1.0] else better)


def _distance(move: MoveAnalysis) -> str:
    return f" in {counted(move.distance, 'move')}" if move.distance is not None else ""
