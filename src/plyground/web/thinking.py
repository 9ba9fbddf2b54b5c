"""What workers compute, as plain data: pasted texts, hints, analyses, reviews, policies, ladders. They are the same
functions that the command line uses."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from plyground.agents.agent import can_search, make
from plyground.arena import puzzles
from plyground.arena.ladder import Ladder, Result
from plyground.arena.match import play_match
from plyground.errors import Error, IllegalAction, InvalidText, InvalidValue, counted, shorten
from plyground.game import Game
from plyground.play import typed
from plyground.play.hints import hint
from plyground.play.saved import game_told, read_games
from plyground.position import Position
from plyground.report.analysis import GameAnalysis, PlyAnalysis, add_scores, analyse_game, solve
from plyground.search.analysis import Analysis, MoveAnalysis
from plyground.search.minimax import Minimax
from plyground.web.catalogue import title_of
from plyground.web.messages import MoveInfo, PlyReview, PolicyMove, Rung, Threat

SOLVER_SECONDS = 5.0
LONGEST_NAME, REASON = 40, 100  # characters of a player's name, and of a reason why a text cannot be read
QUOTED = re.compile(r"; | in '| \(in |,? such as ")  # where an error begins to quote
EVERY = 0.15  # seconds between two answers of an analysis or a review
MOST_THREATS, GAIN, WON = 3, 0.15, 1.0
LOGISTIC = 4.0  # accuracy: how fast a loss of value lowers it


class Start(msgspec.Struct, frozen=True):
    """Where a game begins."""

    text: str
    """the first position; empty: the usual one"""
    actions: list[int]
    """that were played from there"""
    players: list[str] = []
    """for each side, empty where the text does not tell; none: it tells of no player"""


class Advice(msgspec.Struct, frozen=True):
    action: int
    clicks: list[str]
    text: str


class Found(msgspec.Struct, frozen=True):
    """An analysis so far; `value` is for the first side."""

    side: int
    value: float
    proven: str
    effort: str
    """`1,000 simulations`, or `1,000,000 nodes to depth 11`"""
    seconds: float
    moves: list[MoveInfo]
    threats: list[Threat]


class Reviewed(msgspec.Struct, frozen=True):
    plies: list[PlyReview]
    length: int
    worst: list[int]
    accuracy: list[float]


class NetworkPolicy(msgspec.Struct, frozen=True):
    value: float | None
    moves: list[PolicyMove]
    puzzles: dict[str, float]


class Climbed(msgspec.Struct, frozen=True):
    rungs: list[Rung]
    """their ids are agent specs"""
    next: list[str]
    """the two agents that play next; none at the end"""


# ---- texts ----


def read_start(game: Game, text: str, number: int) -> Start:
    """Where a game begins that a text holds: a position, or a game, or one of several."""
    try:
        games = read_games(text, game, openly=True)
    except Error as error:
        as_game = error
    else:
        if not 1 <= number <= len(games):
            raise InvalidValue(f"the text has {counted(len(games), 'game')}: there is no number {number}")
        start, actions, players, *_ = games[number - 1]
        usual = start == game.start() and not game.rules.CHANCE
        named = [shorten(player, LONGEST_NAME) for player in players] if any(players) else []
        return Start("" if usual else start.text, actions, named)
    try:
        return Start(game.position(text).text, [])
    except Error as error:
        if game_told(text)[0]:
            raise InvalidText(shorten(str(as_game), 2 * REASON)) from None
        given, name = shorten(" ".join(text.split()), 30), title_of(game.label)
        if text.split()[0].count("/") > 1:  # rows of a board
            why = _reason(error, text).removeprefix(f"not a position of {game}: ")
            raise InvalidText(f"{given!r} is no position of {name}: {why}") from None
        raise InvalidText(f"{given!r} is neither a game of {name} ({_reason(as_game, text)}) nor a position") from None


def _reason(error: Error, text: str) -> str:
    """Why a text cannot be read, without the positions and the lists of moves that an error quotes."""
    return shorten(QUOTED.split(str(error).replace(repr(shorten(text)), "it"))[0], REASON)


# ---- hints ----


def advise(position: Position) -> Advice:
    """The first action of the turn that a hint proposes."""
    found = hint(position)
    return Advice(found.actions[0], position.clicks(found.actions[0]), found.text)


# ---- one position ----


def analyse_position(agent: Any, position: Position, with_threats: bool) -> Iterator[Found]:
    """The search of a position, again and again; with the solver's scores, which come first."""
    scores = solve(position, SOLVER_SECONDS)
    threats = threats_in(position) if with_threats else []
    last: Found | None = None
    told = False
    thought = position.in_thought()
    for each in agent.analyst()(*position.seen_by(agent), EVERY):
        last = _found(thought, add_scores(each, scores), threats)
        told = bool(each.nodes) or each.simulations >= len(each.moves)  # before that, the value is that of chance
        if told:
            yield last
    if last is not None and not told:
        yield last


def _found(position: Position, found: Analysis, threats: list[Threat]) -> Found:
    side = position.to_move
    moves = [_move_info(position, move) for move in found.moves]
    value = found.value if side == 0 else -found.value
    exact = [move.exact for move in found.moves if move.exact is not None]
    if exact:
        value = float(np.sign(max(exact))) * (1 if side == 0 else -1)
    return Found(side, value, found.proven, found.effort, found.seconds, moves, threats)


def _move_info(position: Position, move: MoveAnalysis) -> MoveInfo:
    actions, names = _line(position, move.line)
    return MoveInfo(
        action=move.action,
        name=_turn(position, actions),
        clicks=position.clicks(move.action),
        prior=move.prior,
        visits=move.visits,
        value=move.value,
        proven=move.proven,
        distance=move.distance,
        line=names,
        actions=actions,
        exact=move.exact,
        words=move.words,
    )


def _line(position: Position, line: Sequence[str]) -> tuple[list[int], list[str]]:
    """The actions of a principal variation and their notation. Where something is hidden, the first alone: the others
    are played with cards that the search has guessed."""
    actions, names = list[int](), list[str]()
    shown = line[:1] if position.game.rules.hidden or position.game.rules.CHANCE else line
    for name in shown:
        try:
            action = position.action(name)
        except IllegalAction:
            break
        actions.append(action)
        names.append(typed.part(position, action))
        position = position.play(action)
    return actions, names


def _turn(position: Position, actions: Sequence[int]) -> str:
    """The first turn of a line as people write it: `Nf3`, `e2>e4`."""
    return typed.turns_of(position, actions)[0].text


def threats_in(position: Position) -> list[Threat]:
    """What the side that does not move would play, were it its turn, if it won at once or gained by it."""
    game = position.game
    if not can_search(game) or position.over:
        return []
    turned = position.states.copy()
    turned["to_move"] = 1 - turned["to_move"]
    if "in_check" in game.rules.compiled and game.rules.problems(turned[0]):  # in check one cannot give the turn away
        return []
    loud = "loudness" in game.rules.compiled
    search = Minimax(game, depth=1, quiescence=4 if loud else 0)
    actions, scores = (found[0] for found in search.scores(turned))
    there, values = np.flatnonzero(actions >= 0), np.clip(scores, -1.0, 1.0)
    usual = float(np.median(values[there]))  # of its moves; most of them threaten nothing
    other, found = Position(game, turned), list[Threat]()
    for k in there[np.argsort(-scores[there], kind="stable")][:MOST_THREATS]:
        action, wins, gain = int(actions[k]), bool(scores[k] > WON), float(values[k]) - usual
        if wins or gain >= GAIN:
            words = "wins at once" if wins else f"gains {gain:.2f}"
            found.append(Threat(typed.part(other, action), other.clicks(action), words))
    return found


# ---- a whole game ----


def review_game(agent: Any, start: Position, actions: Sequence[int]) -> Iterator[Reviewed]:
    """The review of the plies so far, every EVERY seconds, and at last that of the whole game."""
    positions, due = [start], 0.0
    for action in actions:
        positions.append(positions[-1].play(action))
    for found in analyse_game(agent.analyst(), start, actions):
        if time.monotonic() >= due or len(found.plies) == found.length:
            due = time.monotonic() + EVERY
            yield _reviewed(found, positions)


def _reviewed(found: GameAnalysis, positions: Sequence[Position]) -> Reviewed:
    plies = [_ply_review(each, positions[each.ply - 1]) for each in found.plies]
    worst = [each.ply for each in found.worst()]
    return Reviewed(plies, found.length, worst, [accuracy(plies, side) for side in (0, 1)])


def _ply_review(each: PlyAnalysis, before: Position) -> PlyReview:
    actions, names = _line(before, each.line)
    return PlyReview(
        ply=each.ply,
        side=before.to_move,
        played=typed.part(before, before.action(each.played)),
        best=typed.part(before, before.action(each.best)),
        best_line=names,
        best_actions=actions,
        value=each.value if each.exact is None else float(each.exact),
        lost=each.lost,
        mistake=each.mistake,
        words=each.words,
    )


def accuracy(plies: Sequence[PlyReview], side: int) -> float:
    """Percent: the mean over a side's moves of exp(-LOGISTIC * lost); 100 where it has lost nothing."""
    own = [math.exp(-LOGISTIC * each.lost) for each in plies if each.side == side]
    return 100.0 * sum(own) / len(own) if own else 100.0


# ---- runs ----


def policy_of(agent: Any, position: Position) -> NetworkPolicy:
    """What a checkpoint thinks of a position, and its puzzles; a table tells its choice alone."""
    solved, paths = puzzles.solved(position.game, agent), position.paths()
    if hasattr(agent, "analyse") and not position.over:
        found: Analysis = position.analyse(agent)
        told = {move.action: (move.prior, move.value) for move in found.moves}
        value = found.value
    else:
        chosen = -1 if position.over else position.ask(agent)
        told, value = {action: (float(action == chosen), None) for action in paths}, None
    moves = [PolicyMove(action, position.name(action), path, *told[action]) for action, path in paths.items()]
    return NetworkPolicy(value, moves, solved)


def climb(game: Game, specs: Sequence[str], games: int) -> Iterator[Climbed]:
    """A round robin, after each match."""
    ladder = Ladder(str(game), games, 0)
    agents, pairs = {spec: make(spec, game) for spec in specs}, list[tuple[str, str]]()
    for place, a in enumerate(specs):
        pairs += [(a, b) for b in specs[place + 1 :]]
    for a, b in pairs:
        yield Climbed(_rungs(ladder), [a, b])
        match = play_match(game, agents[a], agents[b], games, 0)
        result = Result(a, b, match.wins, match.draws, match.losses)
        ladder = Ladder(ladder.game, games, 0, (*ladder.results, result))
    yield Climbed(_rungs(ladder), [])


def _rungs(ladder: Ladder) -> list[Rung]:
    """The ladder so far, the strongest first; `id` is the agent's spec."""
    if not ladder.results:
        return []
    ratings, scores = ladder.ratings(), dict[str, list[float]]()
    for result in ladder.results:
        scores.setdefault(result.a, []).append(result.score / result.games)
        scores.setdefault(result.b, []).append(1.0 - result.score / result.games)
    rungs = [
        Rung(
            id=name,
            name=name,
            elo=float(ratings.elo[k]),
            low=float(ratings.elo[k] - ratings.error[k]),
            high=float(ratings.elo[k] + ratings.error[k]),
            score=float(np.mean(scores[name])),
        )
        for k, name in enumerate(ladder.agents)
    ]
    return sorted(rungs, key=lambda rung: -rung.elo)
