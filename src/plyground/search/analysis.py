"""What an agent thinks of each move of a position, as plain data; of a tree search again and again while it goes on.

`analyse` grows one tree, a few milliseconds at a time, and describes it: each legal move with its prior, visits, value
and principal variation. With a limit by simulations its last answer is the answer of the agent with the same settings.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from plyground.errors import InvalidValue, counted, shorten
from plyground.game import Game
from plyground.models.compiled import CompiledModel
from plyground.models.model import Reason
from plyground.position import Position
from plyground.search.alpha_beta_arrays import WIN
from plyground.search.pieces import in_pieces
from plyground.search.tree_arrays import DRAWN, LOST, OPEN, WON, Records, Result, Rngs
from plyground.search.tree_config import MOST_SIMULATIONS, SearchConfig, halving_schedule
from plyground.search.tree_memory import new_result, words_of
from plyground.search.tree_search import FIRST_ROUND, TreeSearch, tree_search

CLOCK_INTERVAL = 0.05  # seconds of search between two readings of the clock; Ctrl-C waits no longer
EVERY = 0.25  # seconds between two answers
SHOWN = 10  # moves that `print` shows
LONGEST_LINE = 20  # plies of a principal variation
RESULTS = {OPEN: "", LOST: "loss", DRAWN: "draw", WON: "win"}


@dataclass(frozen=True)
class MoveAnalysis:
    """One legal move; values are for the side to move."""

    name: str
    action: int
    prior: float
    """the probability that the network gives it; without a network all are equal"""
    visits: int
    """simulations of a tree search; 0 for other agents"""
    value: float | None
    """-1 to 1; None: no simulation has tried it"""
    proven: str
    """win, draw or loss; empty: nothing is proven"""
    plies: int | None
    """of the proven win or loss, this move included"""
    line: list[str]
    """the principal variation, which begins with this move"""
    actions: list[int]
    """the same as actions"""
    exact: int | None = None
    """the solver's score, in a solved game"""
    words: str = ""
    """that score in words"""
    distance: int | None = None
    """moves of the side that wins until the proven end, where it is known: 2 for "mate in 2"; a whole turn is one"""
    reasons: list[Reason] = field(default_factory=list[Reason])
    """of the first move, by an n-tuple network: without which cells it would be worth another value; where none stands
    out, none"""

    @property
    def judgement(self) -> str:
        """The proven result or the value: `win in 2 moves`, `draw`, `+0.35`; `-` where there is neither."""
        if self.proven:
            return self.proven + (f" in {counted(self.distance, 'move')}" if self.distance is not None else "")
        return "-" if self.value is None else f"{self.value:+z.2f}"


@dataclass(frozen=True, repr=False)
class Analysis:
    """A position, and its moves: what the search would play first, then by visits, proven losses last. `print` shows
    the best of them."""

    position: str
    """as the seat to move may see it"""
    side: str
    """the side to move"""
    value: float
    """of the first move, for the side to move"""
    proven: str
    simulations: int
    seconds: float
    moves: list[MoveAnalysis]
    nodes: int = 0
    """of alpha-beta, which has no simulations"""
    depth: int = 0
    """of alpha-beta: plies, or turns where a turn has several, that it has searched, and captures beyond them"""

    @staticmethod
    def _write(line: Sequence[str]) -> list[str]:
        """How `print` shows a line, unless `written_by` has said so."""
        return list(line)

    def written_by(self, write: Callable[[Sequence[str]], list[str]]) -> Analysis:
        """The same; `print` shows lines as `write` writes the names of their actions."""
        found = replace(self)
        object.__setattr__(found, "_write", write)  # no field: it is not data
        return found

    def __str__(self) -> str:
        """The best moves, each with its value (a solver's words), its prior where these differ, and its line."""
        valued = [move for move in self.moves if move.judgement != "-" or move.words]
        shown = (valued if self.nodes else self.moves)[:SHOWN]  # alpha-beta looks for values of the best alone
        lines = [self._write(move.line) for move in shown]
        columns = [[line[0] for line in lines]]
        if valued:
            columns.append([f"{move.words or move.judgement:>6}" for move in shown])
        if len({move.prior for move in self.moves}) > 1:
            columns.append([f"{move.prior:>6.1%}" for move in shown])
        columns.append([" ".join(line) if len(line) > 1 else "" for line in lines])
        widths = [max(map(len, column)) for column in columns]
        rows = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
        left = len(self.moves) - len(shown)
        return "\n".join(
            [self._head, *(f"  {row}" for row in rows), *([f"  {counted(left, 'more move')}"] * bool(left))]
        )

    def __repr__(self) -> str:
        best = list[str]()
        for move in self.moves[:3]:  # each with the solver's words, the value, or the prior
            told = move.words or (f"{move.prior:.1%}" if move.judgement == "-" else move.judgement)
            best.append(f"{self._write(move.line)[0]} {told}")
        return f"<analysis: {self._head} {', '.join(best)}>"

    @property
    def _head(self) -> str:
        effort = f" after {self.effort}" if self.effort else ""
        return f"{self.side} to move, value {self.value:+z.2f}{effort}:"

    @property
    def effort(self) -> str:
        """`1,000 simulations`, or `1,000,000 nodes to depth 11`; empty: nothing was searched."""
        if self.nodes:
            return counted(self.nodes, "node") + (f" to depth {self.depth}" if self.depth else "")
        return counted(self.simulations, "simulation") if self.simulations else ""


Analyst = Callable[[Position, Rngs, float], Iterator[Analysis]]
"""the analysis so far of a position, every so many seconds, and at last that of the whole search"""


class Tree(NamedTuple):
    """A tree in the CPU's memory."""

    states: Any  # [M] of STATE
    nodes: Any  # [M] of NODE
    edges: Any  # [E] of EDGE


class Growing(Protocol):
    """The tree of one position, which grows."""

    game: Game
    config: SearchConfig

    def compile(self) -> None:
        """Run all kernels once, so that a clock counts simulations and no compiling."""
        ...

    def begin(self, states: Records, rngs: Rngs) -> None:
        """Plant a tree for states [1]."""
        ...

    def simulate(self, count: int) -> None:
        """Up to `count` simulations, at least one; none after the root is proven."""
        ...

    def finish(self) -> Result:
        """What was found so far; the search may go on."""
        ...

    def tree(self) -> Tree: ...


class GrowingTree:
    """A tree without a network."""

    def __init__(self, game: Game, config: SearchConfig, model: CompiledModel | None = None) -> None:
        self.game, self.config = game, config
        self.search, self.round = TreeSearch(game, config, threads=1, model=model), 0
        self.kernels, self.memory = tree_search(self.search.model, config, 1, self.search.nodes)

    def compile(self) -> None:
        self.search.compile()

    def begin(self, states: Records, rngs: Rngs) -> None:
        self.round = FIRST_ROUND if self.config.seconds else self.config.simulations
        judge = self.memory.judge._replace(weights=self.search.model.weights)
        self.memory = self.memory._replace(judge=judge)
        trees, settings, judge, work, _ = self.memory
        trees.rngs[:] = rngs
        self.kernels.begin_all(trees, words_of(states), settings, judge, work)

    def simulate(self, count: int) -> None:
        trees, settings, judge, work, _ = self.memory
        if settings.gumbel and self.config.seconds:
            if trees.counters["simulations"][0] >= self.round:
                self.round *= 2
                self.kernels.begin_rounds(trees, settings)
            count = min(count, self.round - int(trees.counters["simulations"][0]))
        schedule = halving_schedule(self.config.considered, self.round if settings.gumbel else 1)  # PUCT reads none
        self.kernels.simulate_all(trees, count, schedule, settings, judge, work)

    def finish(self) -> Result:
        result = new_result(self.game, 1)
        self.kernels.finish_all(self.memory.trees, self.memory.settings, result)
        return result

    def tree(self) -> Tree:
        trees = self.memory.trees
        return Tree(trees.states[0], trees.nodes[0], trees.edges[0])


# ---- agents without a tree ----


def scored(
    position: Position,
    values: Mapping[int, float | None],
    seconds: float,
    priors: Mapping[int, float] | None = None,
    lines: Mapping[int, Sequence[int]] | None = None,
    turns: bool = False,
) -> Analysis:
    """The analysis by an agent that gives a value to each action, or to some; None: it does not.

    Values beyond 1 are proven: WIN for a win with the first ply, or turn (`turns`), and one less for each one later.
    """
    check_running(position)
    legal, moves = position.legal(), list[MoveAnalysis]()
    longest = 1 if position.game.uncertain else LONGEST_LINE  # what comes after chance or hidden cards is not known
    for action in legal:
        line = (lines or {}).get(action, [action])[:longest]
        prior = 1.0 / len(legal) if priors is None else priors.get(action, 0.0)
        moves.append(move_of(position, values.get(action), line, prior, turns))
    rank = {action: -2.0 * WIN if value is None else value for action, value in values.items()}
    moves.sort(key=lambda move: (-rank.get(move.action, -2.0 * WIN), -move.prior))
    best, side = moves[0], position.game.rules.SIDES[position.to_move]
    return Analysis(position.view, side, best.value or 0.0, best.proven, 0, seconds, moves)


def move_of(
    position: Position, value: float | None, line: Sequence[int], prior: float, turns: bool = False
) -> MoveAnalysis:
    """A move with its line and a value as `scored` takes it."""
    names, decided = names_of(position, line), value is not None and abs(value) > WIN / 2
    after = round(WIN - abs(value or 0.0)) + 1 if decided else None  # turns of both sides, or plies
    return MoveAnalysis(
        name=names[0],
        action=line[0],
        prior=prior,
        visits=0,
        value=value if value is None else max(-1.0, min(1.0, value)),
        proven=("win" if (value or 0.0) > 0 else "loss") if decided else "",
        plies=None if turns else after,
        line=names,
        actions=list(line),
        distance=(after + 1) // 2 if after is not None and (turns or after == 1) else None,
    )


def names_of(position: Position, line: Sequence[int]) -> list[str]:
    """The names of the actions of a line."""
    game, states, names = position.game, position.states.copy(), list[str]()
    for number, action in enumerate(line, start=1):
        names.append(game.rules.action_name(states[0], action))
        if number < len(line):
            game.kernels().play_all(states, np.array([action], np.int32), np.zeros(1, np.uint64), game.work())
    return names


def check_running(position: Position) -> None:
    """Refuse a position whose game is over."""
    if position.over:
        text = shorten(position.view)
        raise InvalidValue(f"an analysis needs a running game; {position.outcome} in {text!r}: go back a move")


# ---- a tree search ----


def analyse(growing: Growing, position: Position, rngs: Rngs, every: float = EVERY) -> Iterator[Analysis]:
    """The analysis so far every `every` seconds, and at last that of the whole search."""
    check_running(position)
    growing.compile()
    config, begun = growing.config, time.perf_counter()
    end, most = begun + (config.seconds or math.inf), config.simulations or MOST_SIMULATIONS
    growing.begin(position.states, rngs)
    due, found = begun, growing.finish()

    def left() -> int:
        over = found.simulations[0] > 0 and time.perf_counter() >= end
        return 0 if found.proven[0] or over else most - int(found.simulations[0])

    interval = min(CLOCK_INTERVAL, (config.seconds or math.inf) / 10)
    for now in in_pieces(growing.simulate, left, 1, interval, end):
        found = growing.finish()
        if now >= due and left():
            due = now + every
            yield describe(growing, position, found, now - begun)
    yield describe(growing, position, found, time.perf_counter() - begun)


def last_analysis(analyst: Analyst, position: Position, rngs: Rngs) -> Analysis:
    """The analysis of the whole search."""
    *_, last = analyst(position, rngs, math.inf)
    return last


def describe(growing: Growing, position: Position, found: Result, seconds: float) -> Analysis:
    """The tree so far as plain data."""
    tree, rules, moves = growing.tree(), growing.game.rules, list[MoveAnalysis]()
    for k in range(int((found.actions[0] >= 0).sum())):
        # the move, that of an edge of the root, and the best play after it, as far as the tree knows it
        first = edge = int(tree.nodes[0]["first"]) + k
        node, actions, names = 0, list[int](), list[str]()
        while edge >= 0 and len(names) < LONGEST_LINE:
            actions.append(int(tree.edges[edge]["action"]))
            names.append(rules.action_name(tree.states[node], actions[-1]))
            node = int(tree.edges[edge]["child"])
            edge = best_edge(tree, node) if node >= 0 else -1
        result, visits = int(found.action_proven[0, k]), int(found.visits[0, k])
        move = MoveAnalysis(
            name=names[0],
            action=actions[0],
            prior=float(found.priors[0, k]),
            visits=visits,
            value=float(found.action_values[0, k]) if visits or result else None,
            proven=RESULTS[result],
            plies=int(found.distances[0, k]) + 1 if result in (LOST, WON) else None,
            line=names,
            actions=actions,
            distance=_winners_moves(tree, first, result == WON) if result in (LOST, WON) else None,
        )
        moves.append(move)
    chosen = int(found.chosen[0])

    def rank(move: MoveAnalysis) -> tuple[Any, ...]:
        """Proven losses come last, the quickest at the very end."""
        late = (-(move.distance or 0), -(move.plies or 0)) if move.proven == "loss" else (0, 0)
        return move.action != chosen, move.proven == "loss", *late, -move.visits, -(move.value or 0.0)

    moves.sort(key=rank)
    best = moves[0].value
    proven = int(found.proven[0])
    return Analysis(
        position=position.view,
        side=rules.SIDES[position.to_move],
        value=float(proven - DRAWN) if proven else float(found.values[0]) if best is None else best,
        proven=RESULTS[proven],
        simulations=int(found.simulations[0]),
        seconds=seconds,
        moves=moves,
    )


def _winners_moves(tree: Tree, edge: int, won: bool) -> int:
    """Turns of the side that wins when an edge of the root is played and then the best play that is proven."""
    node, turns = 0, list[int]()  # the side of each turn
    while node == 0 or (node > 0 and tree.nodes[node]["distance"] > 0):
        side = int(tree.nodes[node]["side"])
        turns += [side] * (turns[-1:] != [side])
        edge = best_edge(tree, node) if node else edge
        node = int(tree.edges[edge]["child"]) if edge >= 0 else -1
    return turns.count(turns[0] if won else 1 - turns[0])


def best_edge(tree: Tree, node: int) -> int:
    """The edge that a search would play in a node: the soonest win or the latest loss where that is proven, otherwise
    the most visited one that is no proven loss, of equally visited ones the best; -1: none was tried."""
    here = tree.nodes[node]
    rows = np.arange(int(here["first"]), int(here["first"]) + int(here["count"]))
    known = (tree.edges["child"][rows] >= 0) & (tree.nodes["proven"][tree.edges["child"][rows]] != OPEN)
    rows = rows[(tree.edges["visits"][rows] > 0) | known]
    if not len(rows):
        return -1
    edges, below = tree.edges[rows], tree.nodes[tree.edges["child"][rows]]
    opponents = (below["side"] != here["side"]) & (below["proven"] != OPEN)
    proven: Any = below["proven"] + 2 * opponents * (DRAWN - below["proven"])  # for the side to move in this node
    visits, distance = edges["visits"].astype(np.int64), below["distance"].astype(np.int64)
    if here["proven"] == OPEN:
        rank = np.where(proven == LOST, -1, visits)
    else:
        preferred: Any = {WON: -distance, LOST: distance, DRAWN: visits}[int(here["proven"])]
        rank = np.where(proven == here["proven"], preferred, -(2**31))
    return int(rows[np.lexsort((edges["value"], rank))[-1]])
