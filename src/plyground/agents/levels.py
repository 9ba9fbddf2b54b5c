"""Difficulty levels: `level:1` loses to a child, `level:10` is the strongest agent for the game.

A level thinks, or it looks only at the moves themselves. *Thinking* is another agent: alpha-beta with few or many
nodes, or a search with few or many simulations. A *glance* is how people blunder: each action is
scored by the position right after it, the answer is not considered, and one is drawn from the softmax of the scores.
From level SEES_WINS on, a win within the turn is never missed. All levels below 10 are reproducible: the same
generator, the same moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground import specs
from plyground.agents.agent import compile_kernels, independent, stoppable
from plyground.agents.registry import can_search, current, has_network, make
from plyground.agents.search import thorough
from plyground.errors import InvalidValue, shorten
from plyground.game import Game, agent_repr
from plyground.position import Position
from plyground.search.analysis import Analysis, check_running, scored
from plyground.search.choosing_arrays import EVALUATED, SCORED, Choices
from plyground.search.within_turn import choose, compile_choices, to_win

Ints = NDArray[np.int32]
Records = NDArray[np.void]
Rngs = NDArray[np.uint64]

EASIEST, HARDEST, SEES_WINS = 1, 10, 5
OFTEN = 0.4  # a share of moves chosen at a glance
FEW = 100  # simulations
ANALYSED_NODES, ANALYSED_WITH_NETWORK = 2_000_000, 400  # nodes and simulations for each position of an analysis


@dataclass(frozen=True)
class Level:
    """How a level chooses a move."""

    glances: float
    """the share of its moves that are chosen at a glance"""
    temperature: float
    """of that choice: softmax(score / temperature)"""
    thinks: str = ""
    """the agent that chooses the others; empty: the game's strongest"""


ALPHA_BETA: Mapping[int, Level] = {
    1: Level(1.00, 2.00),
    2: Level(1.00, 0.50),
    3: Level(0.80, 0.20, "minimax:nodes=100"),
    4: Level(0.50, 0.10, "minimax:nodes=100"),
    5: Level(0.30, 0.10, "minimax:nodes=300"),
    6: Level(0.15, 0.10, "minimax:nodes=1000"),
    7: Level(0.06, 0.10, "minimax:nodes=3000"),
    8: Level(0.02, 0.10, "minimax:nodes=10000"),
    9: Level(0.00, 0.10, "minimax:nodes=40000"),
    10: Level(0.00, 0.10),
}
"""games whose strongest agent without a network is alpha-beta"""
SEARCH: Mapping[int, Level] = {
    1: Level(1.00, 2.00),
    2: Level(1.00, 0.30),
    3: Level(0.70, 0.30, "search:sims=10"),
    4: Level(0.45, 0.20, "search:sims=10"),
    5: Level(0.30, 0.20, "search:sims=20"),
    6: Level(0.15, 0.20, "search:sims=50"),
    7: Level(0.06, 0.20, "search:sims=100"),
    8: Level(0.02, 0.20, "search:sims=300"),
    9: Level(0.00, 0.20, "search:sims=1000"),
    10: Level(0.00, 0.20),
}
"""all others"""


def strongest(game: Game) -> str:
    """The spec of the strongest agent for a game that can play here."""
    spec = game.rules.STRONGEST_WITH_NETWORK
    return spec if spec and has_network(game) else strongest_without_network(game)


def strongest_without_network(game: Game) -> str:
    """The spec of the strongest agent without a network."""
    return game.rules.STRONGEST or "search:time=0.5"


def analysis_spec(game: Game, seconds: float = 0.0) -> str:
    """The spec of the agent that analyses positions, each for so many seconds (0: about half a second's work, the same
    every time): alpha-beta where that is the strongest without a network, otherwise tree search."""
    name = "minimax" if strongest_without_network(game).startswith("minimax") else "search"
    return with_limit(game, name, {"time": f"{seconds:g}"} if seconds else {})


def with_limit(game: Game, name: str, options: Mapping[str, str]) -> str:
    """The spec of `minimax` or `search` for analyses; without a limit it gets the usual one."""
    options = current(options)
    if name == "minimax" and not {"depth", "quiescence", "time", "nodes"} & options.keys():
        options = {**options, "nodes": str(ANALYSED_NODES)}
    elif name == "search" and not {"sims", "time"} & options.keys():
        compiled = options.get("model", "evaluate") == "evaluate" or options["model"].endswith(".py")
        sims = thorough(game) if compiled else ANALYSED_WITH_NETWORK
        options = {**options, "sims": str(sims)}
    return specs.join(name, options)


def levels_of(game: Game) -> Mapping[int, Level]:
    """The table for a game."""
    return ALPHA_BETA if strongest_without_network(game).startswith("minimax") else SEARCH


def read_level(text: str) -> int:
    """The number in `level:3`."""
    found = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(HARDEST)) else 0
    if not EASIEST <= found <= HARDEST:
        raise InvalidValue(f"a level is a whole number from {EASIEST} to {HARDEST}, not {shorten(text)!r}")
    return found


class LevelAgent:
    """An opponent of a strength from 1 to 10."""

    def __init__(self, game: Game, number: int) -> None:
        self.game, self.number, self.level = game, number, levels_of(game)[number]
        self.choices = (to_win(game) if number >= SEES_WINS else Choices())._replace(
            glances=self.level.glances,
            temperature=self.level.temperature,
            scores=EVALUATED if can_search(game) else SCORED,  # by the game's scorer; without one, all are equal
        )
        self.thinker: Any = make(self.level.thinks or strongest(game), game) if self.level.glances < 1.0 else None
        self.think: Any = getattr(self.thinker, "act_turns", getattr(self.thinker, "act", None))
        self.independent = self.thinker is None or independent(self.thinker)
        self.leaves_circles = True
        self.stoppable = self.thinker is not None and stoppable(self.thinker)

    __repr__ = agent_repr

    def __str__(self) -> str:
        return f"level:{self.number}"

    def act(self, states: Records, rngs: Rngs) -> Ints:
        return np.array([turn[0] for turn in self.act_turns(states, rngs)], np.int32)

    def act_turns(self, states: Records, rngs: Rngs) -> list[list[int]]:
        """For each state all actions of the turn that the level has decided."""
        actions, _ = choose(self.game, states, rngs, self.choices)
        turns, rows = [[int(action)] for action in actions], np.flatnonzero(actions < 0)
        if len(rows):
            own = rngs[rows]
            for row, chosen in zip(rows, self.think(states[rows], own), strict=True):
                turns[row] = chosen if isinstance(chosen, list) else [int(chosen)]
            rngs[rows] = own
        return turns

    def compile_kernels(self) -> None:
        compile_choices(self.game)
        compile_kernels(self.thinker)

    def analyse(self, position: Position, rngs: Rngs) -> Analysis:
        """What it thinks of each move or, at lower levels, what it sees at a glance. Thinking says more where it thinks
        often enough, and its search tries a move more than once or twice."""
        simulations = specs.split(self.level.thinks)[1].get("sims", str(FEW))
        if self.level.glances < OFTEN and int(simulations) >= FEW:
            return self.thinker.analyse(position, rngs)
        check_running(position)
        glance = self.choices._replace(within=0, glances=1.0)
        _, turn = choose(self.game, position.states, rngs.copy(), glance)
        seen = turn.seen[: len(position.legal())]
        return scored(position, dict(zip(seen["action"].tolist(), seen["score"].tolist(), strict=True)), 0.0)
