"""What workers think about: agents' moves, pasted texts, hints, analyses, reviews, policies, ladders. They are the same
functions that the command line uses."""

from __future__ import annotations

import functools
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from plyground.agents.agent import GIVES_UP, Agent, compile_kernels, why_it_gives_up
from plyground.agents.registry import can_search, make
from plyground.agents.turns import Turn
from plyground.arena import puzzles
from plyground.arena.ladder import Ladder, PairResult
from plyground.arena.match import play_match
from plyground.errors import Error, InvalidText, InvalidValue, counted, shorten
from plyground.game import Game
from plyground.models.ntuple import NTuple
from plyground.models.ntuple_explained import caption, in_words, learned, scene_of
from plyground.play import typed
from plyground.play.hints import hint
from plyground.play.line import Line
from plyground.play.saved import game_told, read_games, read_run_game
from plyground.position import Position
from plyground.report.analysis import PlyAnalysis, add_scores, analyse_game, solve, with_reasons
from plyground.search.analysis import Analysis, scored
from plyground.search.minimax import Minimax
from plyground.web.catalogue import title_of
from plyground.web.host import job
from plyground.web.messages import Analysed, Hinted, Laddered, Learned, Opponent, Policy, Reviewed, Rung, Threat

HELD = 16  # agents that a process keeps ready
SOLVER_SECONDS = 5.0
LONGEST_NAME, REASON = 40, 100  # characters of a player's name, and of a reason why a text cannot be read
QUOTED = re.compile(r"; | in '| \(in |,? such as ")  # where an error begins to quote
EVERY = 0.15  # seconds between two answers of an analysis or a review
PATTERNS = 6  # of each table of an n-tuple network
MOST_THREATS, GAIN, WON = 3, 0.15, 1.0
LOGISTIC = 4.0  # accuracy: how fast a loss of value lowers it


# ---- moves ----


class Thought(msgspec.Struct, frozen=True):
    action: int
    turn: Turn | None
    """the same after the action, if it goes on: for the next action of this game, in whatever process"""
    seconds: float
    """without the time to make the agent ready"""


@functools.lru_cache(maxsize=HELD)
def ready_agent(game: Game, spec: str) -> Agent:
    """An agent with everything compiled that it needs."""
    agent = make(spec, game)
    compile_kernels(agent)
    return agent


@job
def think(position: Position, spec: str, seed: int, turn: Turn | None = None) -> Thought:
    """An agent's action, in the turn that it is in."""
    agent = ready_agent(position.game, spec)
    position.turns = {0: turn} if turn else {}
    begun = time.perf_counter()
    action = position.ask(agent, seed)
    if action == GIVES_UP:
        raise Error(f"{spec} gives up: {why_it_gives_up(agent)}")
    return Thought(action, position.turns.get(0), time.perf_counter() - begun)


# ---- texts ----


class Start(msgspec.Struct, frozen=True):
    """Where a game begins."""

    text: str
    """the first position; empty: the usual one"""
    actions: list[int]
    """that were played from there"""
    players: list[str] = []
    """for each side, empty where the text does not tell; none: it tells of no player"""


@job
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


@job
def read_kept(game: Game, head: str, moves: str) -> Start:
    """A game that a run has saved."""
    start, actions, players, *_ = read_run_game(game, head, moves)
    return Start(start.text, actions, list(players))


# ---- hints ----


@job
def advise(position: Position) -> Hinted:
    """The first action of the turn that a hint proposes."""
    found = hint(position)
    return Hinted(action=found.actions[0], clicks=position.clicks(found.actions[0]), text=found.text)


# ---- one position ----


@job
def analyse(position: Position, spec: str) -> Iterator[Analysed]:
    """The search of a position, again and again; with the solver's scores, which come first."""
    agent: Any = ready_agent(position.game, spec)
    scores, threats = solve(position, SOLVER_SECONDS), threats_in(position)
    thought, clicks, sign = position.in_thought(), position.paths(), 1 - 2 * position.to_move
    last: Analysed | None = None
    for each in agent.analyst()(*position.seen_by(agent), EVERY):
        # so far, its value may be no more than that of chance
        if last is not None and (last.analysis.nodes or last.analysis.simulations >= len(last.analysis.moves)):
            yield last
        found = add_scores(each, scores)
        exact = [move.exact for move in found.moves if move.exact is not None]
        value = float(np.sign(max(exact))) if exact else found.value
        moves = [  # in the notation of a page
            replace(move, name=typed.turns_of(thought, move.actions)[0].text, line=parts(thought, move.actions))
            for move in found.moves
        ]
        told = replace(found, moves=moves)
        last = Analysed(analysis=told, clicks=clicks, value=sign * value, effort=found.effort, threats=threats)
    if last is not None:
        yield msgspec.structs.replace(last, done=True)


def parts(position: Position, actions: Sequence[int]) -> list[str]:
    """The notation of actions that follow one another: `e2`, `>e4`."""
    names = list[str]()
    for action in actions:
        names.append(typed.part(position, action))
        position = position.play(action)
    return names


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


@job
def review(start: Position, spec: str, actions: list[int]) -> Iterator[Reviewed]:
    """The review of the plies so far, every EVERY seconds, and at last that of the whole game."""
    agent: Any = ready_agent(start.game, spec)
    positions, due = Line(start, actions).positions, 0.0
    for found in analyse_game(agent.analyst(), start, actions):
        done = len(found.plies) == found.length
        if time.monotonic() < due and not done:
            continue
        due = time.monotonic() + EVERY
        plies = [
            replace(
                each,
                played=typed.part(before, action),
                best=typed.part(before, each.actions[0]),
                line=parts(before, each.actions),
                value=each.value if each.exact is None else float(each.exact),
            )
            for each, before, action in zip(found.plies, positions, actions, strict=False)
        ]
        worst = [each.ply for each in found.worst()]
        percent = [accuracy(plies, side) for side in start.game.rules.SIDES]
        yield Reviewed(plies=plies, length=found.length, worst=worst, accuracy=percent, done=done)


def accuracy(plies: Sequence[PlyAnalysis], side: str) -> float:
    """Percent: the mean over a side's moves of exp(-LOGISTIC * lost); 100 where it has lost nothing."""
    own = [math.exp(-LOGISTIC * each.lost) for each in plies if each.side == side]
    return 100.0 * sum(own) / len(own) if own else 100.0


# ---- runs ----


@job
def show_policy(game: Game, text: str, run: str, step: int) -> Policy:
    """What a checkpoint of a run thinks of the position of a text."""
    spec = f"run:{run},checkpoint={step}"
    return msgspec.structs.replace(
        policy_of(ready_agent(game, spec), game.position(text)), learned=learned_by(game, spec)
    )


def policy_of(agent: Any, position: Position) -> Policy:
    """What a checkpoint thinks of a position, and its puzzles; a table tells its choice alone."""
    solved, clicks, scene = puzzles.solved(position.game, agent), position.paths(), position.scene()
    found: Analysis | None = None
    value: float | None = None
    if not position.over and hasattr(agent, "analyse"):
        found = position.analyse(agent)
        value = found and found.value
    elif not position.over:
        found = scored(position, {}, 0.0, {position.ask(agent): 1.0})
    best = found.moves[0] if found else None
    why = with_reasons(position, best) if best and best.reasons else None
    return Policy(scene=scene, analysis=found, value=value, clicks=clicks, puzzles=solved, why=why)


@functools.lru_cache(maxsize=HELD)
def learned_by(game: Game, spec: str) -> list[Learned]:
    """The patterns of a run of n-tuples; none of any other."""
    model: Any = getattr(ready_agent(game, spec), "model", None)
    if not isinstance(model, NTuple):
        return []
    found = list[Learned]()
    for each in learned(model, PATTERNS):
        boards = [scene_of(model, pattern) for pattern in each.boards]
        single = list[str]()
        for pattern in each.single:
            ((cell, holds),) = in_words(model, pattern).items()
            single.append(f"{cell}: {holds}, {caption(pattern)}")
        found.append(Learned(each.title, boards, single))
    return found


@job
def climb(game: Game, opponents: dict[str, Opponent], games: int) -> Iterator[Laddered]:
    """A round robin of agents, by their specs, after each match."""
    ladder, agents = Ladder(str(game), games, 0), {spec: make(spec, game) for spec in opponents}
    for a, b in combinations(opponents, 2):
        pair = f"{opponents[a].name} against {opponents[b].name}"
        yield Laddered(rungs=_rungs(ladder, opponents), next=pair, done=False)
        match = play_match(game, agents[a], agents[b], games, 0)
        result = PairResult(a, b, match.wins, match.draws, match.losses)
        ladder = Ladder(ladder.game, games, 0, (*ladder.results, result))
    yield Laddered(rungs=_rungs(ladder, opponents), next="", done=True)


def _rungs(ladder: Ladder, opponents: Mapping[str, Opponent]) -> list[Rung]:
    """The ladder so far, the strongest first."""
    if not ladder.results:
        return []
    ratings = ladder.ratings()
    rungs = [
        Rung(
            id=opponents[spec].id,
            name=opponents[spec].name,
            elo=float(elo),
            low=float(elo - error),
            high=float(elo + error),
            score=ladder.scores[spec],
        )
        for spec, elo, error in zip(ladder.agents, ratings.elo, ratings.error, strict=True)
    ]
    return sorted(rungs, key=lambda rung: -rung.elo)
