"""How well an agent plays Connect Four, measured with the perfect player.

In many positions every move has the same value, and a random mover seems good. So accuracy is reported only where
the choice matters, by win/draw/loss and by exact score, each over the positions with at least two different values, and
always next to what a random mover would reach on the same positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plyground.agents.agent import Agent, ask
from plyground.agents.registry import make
from plyground.agents.scripted import Random
from plyground.arena.grade import Grade, Mistake, Share
from plyground.arena.match import play_match
from plyground.errors import Error, InvalidValue
from plyground.game import Game
from plyground.games.connect_four import rules
from plyground.games.connect_four.agents import Perfect
from plyground.games.connect_four.solver.solver import NO_MOVE, Solver, in_words, perfect, sides, solves
from plyground.games.interface import RUNNING
from plyground.games.rng import draw, seeds
from plyground.position import Position

PHASES = {"opening": (0, 12), "middle": (12, 24), "end": (24, 42)}  # plies played: from, and up to
WORST = 10

COSTLY = range(10, 13)  # just after the book's last ply, where exact scores of all moves take the solver longest
SLOW = range(10, 15)  # plies at which a greedy player replaces the perfect one
OPENING = 4  # plies at random, so that games differ
SLIPS = 0.2  # how often a player errs on purpose

Records = NDArray[np.void]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Player = Callable[[Records, int, NDArray[np.uint64]], NDArray[np.int32]]  # states, their ply, generators -> actions


def grade(
    game: Game,
    agent: Agent,
    positions: Records | int = 1000,
    seed: int = 0,
    games: int = 20,
    solver: Solver | None = None,
    progress: Callable[[int], None] | None = None,
) -> Grade:
    """Grade an agent on given positions or on so many made from the seed, and in games against the perfect player."""
    if not solves(game):
        raise InvalidValue(f"grades need a game that is solved: connect_four, not {game}")
    solver = solver or perfect()
    if isinstance(positions, int):
        if positions < 1:
            raise InvalidValue(f"a grade needs at least 1 position, not {positions}")
        states, scores = np.zeros(0, game.rules.STATE), np.zeros((0, 7), np.int64)  # whose moves differ in exact score
        for attempt in range(20):
            drawn = draw_positions(game, max(30, int(1.25 * (positions - len(states)))), agent, seed + 100 * attempt)
            drawn = drawn[~np.isin(drawn, states)]
            values = solver.move_scores(drawn).astype(np.int64)
            keep = _differ(values, values != NO_MOVE)
            states, scores = np.concatenate([states, drawn[keep]]), np.concatenate([scores, values[keep]])
            if len(states) >= positions:
                break
        chosen = np.random.default_rng(seed).permutation(len(states))[:positions]
        states, scores = states[chosen], scores[chosen]
    else:
        states, scores = positions, solver.move_scores(positions).astype(np.int64)
    rngs = seeds(seed + 3, len(states))
    actions = ask(agent, game, states.copy(), rngs).astype(np.int64)
    legal = (actions >= 0) & (actions < 7) & (scores[np.arange(len(states)), actions % 7] != NO_MOVE)
    for row in np.flatnonzero(~legal)[:1]:
        refusal = Position(game, states[row : row + 1]).refusal(int(actions[row]))
        raise Error(f"the agent {agent} chose an illegal action: {refusal}")
    report = judged(game, states, scores, actions)
    if games:
        match = play_match(game, agent, Perfect(solver=solver), games, seed, progress=progress)
        report = replace(report, games=match)
    return report


def judged(game: Game, states: Records, scores: NDArray[np.int64], actions: NDArray[np.int64]) -> Grade:
    """The report on chosen `actions` [N], given all moves' exact scores [N, 7]; without games."""
    rows, legal, ply = np.arange(len(states)), scores != NO_MOVE, states["ply"].astype(np.int64)
    values = np.where(legal, scores, -NO_MOVE)  # [N, 7]
    best, signs = values.max(axis=1), np.where(legal, np.sign(scores), -9)
    right = values == best[:, None]  # [N, 7]
    keeps = signs == signs.max(axis=1, keepdims=True)
    wins = legal & (scores == ((43 - ply) // 2)[:, None])
    lost = np.where(legal, best[:, None] - scores, 0)  # [N, 7]

    def share(good: NDArray[np.generic], among: Bools) -> Share:
        """Over the positions `among` [N]: the mean of `good` [N, 7] at the chosen move, and over all moves."""
        if not among.any():
            return Share(0, float("nan"), float("nan"))
        at_random = (good * legal).sum(axis=1) / legal.sum(axis=1)
        return Share(int(among.sum()), float(good[rows, actions][among].mean()), float(at_random[among].mean()))

    def by_phase(good: Bools, among: Bools) -> dict[str, Share]:
        parts = {name: among & (ply >= low) & (ply < high) for name, (low, high) in PHASES.items()}
        return {name: share(good, part) for name, part in {"all": among, **parts}.items()}

    blocks = _blocks(states) & legal & ~wins.any(axis=1)[:, None]
    return Grade(
        positions=len(states),
        wdl=by_phase(keeps, _differ(signs, legal)),
        exact=by_phase(right, _differ(scores, legal)),
        wins_taken=share(wins, wins.any(axis=1) & _differ(scores, legal)),
        threats_blocked=share(blocks, blocks.sum(axis=1) == 1),
        value_lost=share(lost, np.ones(len(states), np.bool_)),
        mistakes=_worst(game, states, values, signs, actions),
        games=None,
    )


def _differ(values: NDArray[np.int64], legal: Bools) -> Bools:
    """[N] whether the legal moves have at least two different values."""
    return np.where(legal, values, -999).max(axis=1) != np.where(legal, values, 999).min(axis=1)


def _blocks(states: Records) -> Bools:
    """[N, 7] the columns in which the opponent would win at once."""
    mine, theirs = sides(states)
    taken = mine | theirs
    blocks = np.zeros((len(states), 7), np.bool_)
    for column in range(7):
        cell = (taken + rules.BOTTOM) & rules.BOARD & (rules.COLUMN << np.uint64(7 * column))
        blocks[:, column] = _has_four(theirs | cell)
    return blocks & ~_has_four(theirs)[:, None]


def _has_four(stones: NDArray[np.uint64]) -> Bools:
    """[N] the rules' test over arrays, without the compiler."""
    found = np.zeros(len(stones), np.bool_)
    for step in (rules.S1, rules.S6, rules.S7, rules.S8):
        pairs = stones & (stones >> step)
        found |= (pairs & (pairs >> (step + step))) != 0
    return found


def _worst(
    game: Game, states: Records, values: NDArray[np.int64], signs: NDArray[np.int64], actions: NDArray[np.int64]
) -> list[Mistake]:
    """The moves that gave away most: first by win/draw/loss, then by exact score."""
    rows = np.arange(len(states))
    result = signs.max(axis=1) - signs[rows, actions]
    points = values.max(axis=1) - values[rows, actions]
    order = np.lexsort((rows, -points, -result))[:WORST]
    mistakes: list[Mistake] = []
    for row in order[points[order] > 0]:
        position, best = Position(game, states[row : row + 1]), int(values[row].argmax())
        words = [in_words(int(values[row, action]), position) for action in (int(actions[row]), best)]
        mistakes.append(
            Mistake(
                position=position,
                text=position.text,
                played=position.name(int(actions[row])),
                best=position.name(best),
                lost=int(points[row]),
                words=f"{position.name(int(actions[row]))} {words[0]}, {position.name(best)} {words[1]}",
            )
        )
    return mistakes


# ---- positions, made from a seed, so that an agent cannot be tuned to a fixed list ----


def draw_positions(game: Game, n: int, agent: Agent, seed: int) -> Records:
    """[about n] running positions, each once: a third from random games, a third from the agent's games with itself,
    a third from the perfect player's games with itself; the last two err now and then.
    """
    dice, greedy = Random(game), make("greedy", game)

    def slipping(player: Agent) -> Player:
        def act(states: Records, ply: int, rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
            chosen = ask(greedy if ply in SLOW and isinstance(player, Perfect) else player, game, states, rngs)
            slips = draw(rngs, np.full(len(states), 1000)) < 1000 * SLIPS
            return np.where(slips | (ply < OPENING), ask(dice, game, states, rngs), chosen)

        return act

    at_random: Player = lambda states, ply, rngs: ask(dice, game, states, rngs)  # noqa: E731
    players = [at_random, slipping(agent), slipping(Perfect())]
    parts = [_from_games(game, -(-n // 3), player, seed + 7 * k) for k, player in enumerate(players)]
    return np.unique(np.concatenate(parts))


def _from_games(game: Game, n: int, player: Player, seed: int) -> Records:
    """[n] one position from each of n games, all plies of a game equally likely but the costly ones."""
    kernels, rngs, plies = game.kernels(), seeds(seed, n), game.rules.MAX_PLIES
    course, length = np.repeat(game.blank, n * plies).reshape(plies, n), np.zeros(n, np.int64)
    states = course[0].copy()
    kernels.reset_all(states, game.blank, rngs)
    for ply in range(plies):
        rows = np.flatnonzero(states["outcome"] == RUNNING)
        course[ply], length[rows] = states, ply + 1
        going, luck = states[rows], rngs[rows]
        actions = np.ascontiguousarray(player(going.copy(), ply, luck), np.int32)
        kernels.play_all(going, actions, luck.copy(), game.work())
        states[rows], rngs[rows] = going, luck
    cheap = length - np.clip(length - COSTLY.start, 0, len(COSTLY))  # [n] plies to choose from
    chosen = draw(rngs, cheap)
    return course[np.where(chosen < COSTLY.start, chosen, chosen + len(COSTLY)), np.arange(n)]
