"""Evaluation: paired matches against fixed opponents, with intervals, and a few games in notation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from plyground.agents.agent import Agent, make
from plyground.arena import puzzles
from plyground.arena.match import Match, openings, play_match
from plyground.game import Game
from plyground.games.rng import seeds
from plyground.learners.state import TrainingState
from plyground.position import Position

OPENINGS_SEED = 1_000_003  # the same openings in every evaluation of every run


class BestVersion(Protocol):
    """Plays with the present and with the best version of what was learned."""

    def agent(self) -> Agent: ...

    def best_agent(self) -> Agent: ...

    def keep_best(self) -> None: ...


def evaluate_in_matches(game: Game, config: Any, state: TrainingState, versions: BestVersion) -> dict[str, Any]:
    """Scores against the evaluation opponents, and against the best version so far, which a score of at least 1/2
    replaces."""
    agent, limit, games = versions.agent(), config.max_plies or None, config.eval_games
    scores = evaluate(game, agent, config.eval_opponents, games, limit)
    match = play_match(game, agent, versions.best_agent(), games, state.step, max_plies=limit)
    against_best = summary(match)
    if match.score >= 0.5:
        versions.keep_best()
        previous = state.best.get("step")
        state.best = {"step": state.step, "previous": previous, "match": against_best, "eval_opponents": scores}
    found = {"eval_opponents": scores, "against_best": against_best}
    return {**found, "puzzles": puzzles.solved(game, agent), "best": state.best.get("step")}


def evaluate(game: Game, agent: Agent, specs: Sequence[str], games: int, max_plies: int | None) -> dict[str, Any]:
    """The score against each opponent."""
    matches = {
        spec: play_match(game, agent, make(spec, game), games, OPENINGS_SEED, max_plies=max_plies) for spec in specs
    }
    return {spec: summary(match) for spec, match in matches.items()}


def summary(match: Match) -> dict[str, Any]:
    low, high = match.interval
    counts = {"games": match.games, "wins": match.wins, "draws": match.draws, "losses": match.losses}
    return {"score": match.score, "low": low, "high": high, **counts, "truncated": match.unfinished}


def notation(game: Game, agent: Agent, opponent: Agent, name: str, games: int, seed: int, max_plies: int | None) -> str:
    """A few games in notation, the agent on both sides in turn, from random openings."""
    lines: list[str] = []
    starts, _, _ = openings(game, games, seed)
    for k in range(games):
        position = Position(game, starts[k : k + 1].copy(), seed + k)
        rngs, moves, sides = seeds(seed + k, 1), list[str](), game.rules.SIDES
        lines.append(f"# from {position.text}: the learner is {sides[k % 2]}, {name} {sides[1 - k % 2]}")
        while not position.over and len(moves) < (max_plies or game.rules.MAX_PLIES):
            actor = agent if position.to_move == k % 2 else opponent
            move = int(actor.act(position.states.copy(), rngs)[0])
            moves.append(position.name(move))
            position = position.play(move)
        reason = f"({position.reason})" if position.reason else ""
        lines.append(" ".join([*moves, str(position.outcome), reason]).strip())
    return "\n".join(lines) + "\n"
