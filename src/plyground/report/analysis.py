"""A whole game analysed, as plain data: the value after each ply, what was better, and the mistakes.

Each position of the game is searched with the same limit. A move costs the value of the best move less the value of the
position that it led to, for the side that moved; values are between -1 (lost) and 1 (won). In a solved game the
solver's results count: win 1, draw 0, loss -1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plyground.errors import Error, InvalidValue
from plyground.games.interface import value_for
from plyground.games.scene import Scene
from plyground.position import Position
from plyground.search.analysis import Analysis, Analyst, MoveAnalysis, last_analysis

SOLVER_SECONDS = 20.0  # for one position; where they are not enough, the search counts
THRESHOLDS = {"blunder": 0.3, "mistake": 0.2, "inaccuracy": 0.1}
"""names of moves that lose at least so much of the value"""
OPPOSITES = {"win": "loss", "loss": "win"}

Scores = Mapping[int, tuple[int, str]]  # action: the solver's score for the side to move, in words


@dataclass(frozen=True)
class PlyAnalysis:
    """One move of a game."""

    ply: int
    """the number of the move, from 1"""
    side: str
    played: str
    best: str
    """the best move; the one that was played, if it was as good"""
    line: list[str]
    """the principal variation of the best move"""
    value: float
    """of the position after the move, for the first side, by the search"""
    exact: int | None
    """the same by the solver: 1, 0 or -1"""
    lost: float
    """how much of the value the side that moved has lost"""
    mistake: str
    """inaccuracy, mistake or blunder; empty: none of them"""
    words: str
    """the solver's words on the move and on the best one"""
    position: str
    """before the move"""
    number: str = ""
    """before the move, as people write it: `5...`; empty where plies are counted"""
    result: str = ""
    """what is proven of the position after the move, for the first side: `win in 2 moves`; empty: nothing"""
    actions: list[int] = field(default_factory=list[int])
    """`line` as actions"""


@dataclass(frozen=True)
class GameAnalysis:
    """A game, or its plies so far."""

    game: str
    plies: list[PlyAnalysis]
    length: int
    """plies of the whole game"""

    def worst(self) -> list[PlyAnalysis]:
        """The named mistakes, the worst first."""
        return sorted((each for each in self.plies if each.mistake), key=lambda each: (-each.lost, each.ply))


def name_mistake(lost: float) -> str:
    """What a move is called that loses so much; empty: nothing."""
    return next((name for name, least in THRESHOLDS.items() if lost >= least - 1e-9), "")


def solve(position: Position, seconds: float = SOLVER_SECONDS) -> Scores:
    """The solver's score of each action and its words; none where the game is not solved or the time is not enough."""
    solver = position.game.rules.solve
    if solver is None or position.over:
        return {}
    try:
        return solver(position, seconds)
    except Error:  # out of time
        return {}


def add_scores(analysis: Analysis, scores: Scores) -> Analysis:
    """The same with the solver's scores."""
    if not scores:
        return analysis
    moves = [replace(move, exact=scores[move.action][0], words=scores[move.action][1]) for move in analysis.moves]
    return replace(analysis, moves=moves)


def with_reasons(position: Position, move: MoveAnalysis) -> Scene:
    """The position after a move, as the seat that makes it sees it: the cells are marked that are reasons for it, and
    the status says how much they change."""
    reasons = {each.cell for each in move.reasons}
    zones = position.after_turn(move.actions).scene(position.seat).zones
    board = next((zone for zone in zones if reasons & {cell.name for cell in zone.cells}), zones[0])
    cells = [replace(cell, marks=("reason",) if cell.name in reasons else ()) for cell in board.cells]
    return Scene((replace(board, cells=tuple(cells)),), "\n".join(each.words for each in move.reasons))


def analyse_game(analyst: Analyst, start: Position, actions: Sequence[int], seed: int = 0) -> Iterator[GameAnalysis]:
    """The analysis of the plies so far, after each position that was searched."""
    if not actions:
        raise InvalidValue(f"a game needs at least one move to be analysed; there is none after {start.text!r}")
    rules, plies = start.game.rules, list[PlyAnalysis]()
    position, found = start, search_and_solve(analyst, start, seed)
    for ply, action in enumerate(actions, start=1):
        after, mover = position.play(action), position.to_move
        next_found = None if after.over else search_and_solve(analyst, after, seed)
        value = _value(after, next_found, mover)
        played, best = next(move for move in found.moves if move.action == action), found.moves[0]
        if best.exact is not None:  # the move that the solver prefers, in doubt the one that was played
            best = max(found.moves, key=lambda move: (move.exact or 0, move.action == action))
        lost = 0.0 if best.action == action else max(0.0, found.value - value)
        exact = _sign(played.exact)
        if exact is not None:
            lost = float((_sign(best.exact) or 0) - exact)
        words = f"{played.name} {played.words}" + (f", {best.name} {best.words}" if best.action != action else "")
        better = best if lost else played
        judged = PlyAnalysis(
            ply=ply,
            side=rules.SIDES[mover],
            played=played.name,
            best=better.name,
            line=better.line,
            value=value if mover == 0 else -value,
            exact=exact if exact is None or mover == 0 else -exact,
            lost=lost,
            mistake=name_mistake(lost),
            words=words if exact is not None else "",
            position=position.text,
            number=rules.move_number(position.state) if rules.move_number else "",
            result=_result(after, next_found),
            actions=better.actions,
        )
        plies.append(judged)
        yield GameAnalysis(str(start.game), list(plies), len(actions))
        if next_found is not None:
            position, found = after, next_found


def search_and_solve(analyst: Analyst, position: Position, seed: int = 0) -> Analysis:
    """The analysis of the whole search, with the solver's scores."""
    return add_scores(last_analysis(analyst, *position.seen_by(analyst, seed)), solve(position))


def _value(position: Position, found: Analysis | None, side: int) -> float:
    """The value of a position for a side; where nothing was searched, the game is over."""
    if found is None:
        return float(value_for(int(position.outcome), side))
    return found.value if position.to_move == side else -found.value


def _result(position: Position, found: Analysis | None) -> str:
    """What is proven of a position, for the first side; where nothing was searched, the game is over."""
    if found is None:
        return {0.0: "draw", 1.0: "win", -1.0: "loss"}[_value(position, None, 0)]
    best = found.moves[0]
    told = best.judgement if found.proven and best.proven == found.proven else found.proven
    first, _, rest = told.partition(" ")
    return told if position.to_move == 0 else f"{OPPOSITES.get(first, first)} {rest}".strip()


def _sign(score: int | None) -> int | None:
    return None if score is None else (score > 0) - (score < 0)
