"""How strong an agent is: paired matches against fixed yardsticks, with intervals, and a few games to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plyground.agents.agent import Agent, make
from plyground.arena.match import Match, openings, play_match
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.position import Position

OPENINGS_SEED = 1_000_003  # the same openings in every evaluation of every run


def score(
    game: Game, agent: Agent, opponent: Agent, games: int, max_plies: int | None, seed: int = OPENINGS_SEED
) -> Match:
    return play_match(game, agent, opponent, games, seed, max_plies=max_plies)


def summary(match: Match) -> dict[str, Any]:
    low, high = match.interval
    counts = {"games": match.games, "wins": match.wins, "draws": match.draws, "losses": match.losses}
    return {"score": match.score, "low": low, "high": high, **counts, "step_limit": match.unfinished}


def yardsticks(game: Game, agent: Agent, words: Sequence[str], games: int, max_plies: int | None) -> dict[str, Any]:
    """The score against each yardstick."""
    return {word: summary(score(game, agent, make(word, game), games, max_plies)) for word in words}


def notation(game: Game, agent: Agent, opponent: Agent, name: str, games: int, seed: int, max_plies: int | None) -> str:
    """A few games in notation, the agent first and second in turn, from random openings."""
    lines: list[str] = []
    starts, _, _ = openings(game, games, seed)
    for k in range(games):
        position, rngs, moves = (
            Position(game, starts[k : k + 1].copy(), seed + k),
            seeds(seed + k, 1),
            list[str](),
        )
        lines.append(
            f"# from {position.text}: the learner is {game.rules.SIDES[k % 2]}, {name} {game.rules.SIDES[1 - k % 2]}"
        )
        while not position.over and len(moves) < (max_plies or game.rules.MAX_PLIES):
            actor = agent if position.to_move == k % 2 else opponent
            move = int(actor.act(position.states.copy(), rngs)[0])
            moves.append(position.name(move))
            position = position.play(move)
        lines.append(
            " ".join([*moves, str(position.outcome), f"({position.reason})" if position.reason else ""]).strip()
        )
    return "\n".join(lines) + "\n"
