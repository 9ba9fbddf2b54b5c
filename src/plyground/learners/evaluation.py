"""Evaluation: paired matches against fixed opponents, with intervals; games in notation; the records of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from plyground.agents.agent import Agent, ask
from plyground.agents.registry import make
from plyground.agents.turns import Turns
from plyground.arena import puzzles
from plyground.arena.match import Match, openings, play_match
from plyground.game import Game
from plyground.games.rng import agent_seeds
from plyground.learners.state import TrainingState
from plyground.learners.versions import Versions
from plyground.position import Position

Event = dict[str, Any]
OPENINGS_SEED = 1_000_003  # the same openings in every evaluation of every run
GAMES_PER_CYCLE = 2000  # where a config names neither games nor seconds


def evaluate_in_matches(game: Game, config: Any, state: TrainingState, versions: Versions[Any]) -> dict[str, Any]:
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
    seen = {"all_seeing": list(match.all_seeing)} if match.all_seeing else {}
    return {"score": match.score, "low": low, "high": high, **counts, "truncated": match.unfinished, **seen}


def notation(game: Game, agent: Agent, opponent: Agent, name: str, games: int, seed: int, max_plies: int | None) -> str:
    """A few games in notation, the agent on both sides in turn, from random openings."""
    lines: list[str] = []
    starts, _, _ = openings(game, games, seed)
    for k in range(games):
        position = Position(game, starts[k : k + 1].copy(), seed + k)
        rngs, moves, turns, sides = agent_seeds(seed + k, 1), list[str](), Turns(), game.rules.SIDES
        lines.append(f"# from {position.text}: the learner is {sides[k % 2]}, {name} {sides[1 - k % 2]}")
        while not position.over and len(moves) < (max_plies or game.rules.MAX_PLIES):
            actor = agent if position.to_move == k % 2 else opponent
            move = int(ask(actor, game, position.states.copy(), rngs, turns=turns)[0])
            moves.append(position.name(move))
            position = position.play(move)
        reason = f"({position.reason})" if position.reason else ""
        lines.append(" ".join([*moves, str(position.outcome), reason]).strip())
    return "\n".join(lines) + "\n"


# ---- cycles ----


class Cycle(Protocol):
    """What the training loop asks about cycles."""

    def begin(self) -> list[Event]:
        """Called before the first iteration of a new run."""
        ...

    def progress(self) -> float:
        """The share of the present cycle that is done; it ends at 1."""
        ...

    def end(self) -> list[Event]:
        """The records of the cycle that has just ended, an evaluation included if it is due."""
        ...

    def summary(self) -> str:
        """The size of the replay buffer or the table, for the live display."""
        ...


class Results(Protocol):
    """The games that ended since the cycle began."""

    @property
    def games(self) -> int: ...

    def clear(self) -> None: ...


@dataclass
class SelfPlayCycle:
    """A cycle of games, or seconds, of play."""

    config: Any
    state: TrainingState
    versions: Versions[Any]
    results: Results
    metrics: Callable[[], Mapping[str, Any]]
    """what the learner records of a cycle, before its games are forgotten"""
    summary: Callable[[], str]

    def begin(self) -> list[Event]:
        return []

    def progress(self) -> float:
        """By games, or by the run's seconds."""
        config, state = self.config, self.state
        if config.seconds_per_cycle and not config.games_per_cycle:
            return state.seconds / config.seconds_per_cycle - state.cycle
        return self.results.games / (config.games_per_cycle or GAMES_PER_CYCLE)

    def end(self) -> list[Event]:
        """The record of the cycle and, if it is due, an evaluation."""
        config, state = self.config, self.state
        self.versions.end_cycle(state.cycle)
        metrics = self.metrics()
        self.results.clear()
        place = {"step": state.step, "cycle": state.cycle, "cycles": config.cycles}
        counts = {"updates": state.updates, "plies": state.plies, "illegal_moves": state.illegal_moves}
        seconds = {"seconds": {"total": state.seconds, **state.time_by_part}}
        events: list[Event] = [{"event": "cycle", **place, **counts, **metrics, **state.averages, **seconds}]
        if state.checkpoint_due(config):
            found = evaluate_in_matches(self.versions.present.game, config, state, self.versions)
            events.append({"event": "evaluation", **place, **found})
        return events
