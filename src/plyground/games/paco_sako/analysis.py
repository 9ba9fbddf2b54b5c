"""Analysis of a Paco Ŝako position: threats through chains, Ŝako, the ways to a king, Paco in 2, turns in words.

>>> game = pg.load("paco_sako")
>>> [chain.actions for chain in chains(game.position("8/5c2/8/5k2/2B5/8/8/8 w 0 - - -")).found]
[['Lc4', 'Pf7', 'Pf5']]
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.batch import Batch
from plyground.game import Game
from plyground.games.interface import RUNNING
from plyground.games.paco_sako.board import PROMOTE_THEN_LIFT
from plyground.games.paco_sako.search import DEEP_WORK
from plyground.games.paco_sako.text import SQUARES, action_name, turn_text
from plyground.games.rng import scatter
from plyground.kernels.cache import load_kernels
from plyground.position import Position

Records = NDArray[np.void]


@dataclass(frozen=True)
class Chain:
    """A turn, action by action: `['Lc4', 'Pf7', 'Pf5']`."""

    actions: list[str]

    def __len__(self) -> int:
        return len(self.actions)

    def __str__(self) -> str:
        return " ".join(self.actions)


@dataclass(frozen=True)
class Search:
    """What a search found, and whether it saw everything or stopped at its limit of states."""

    found: list[Chain]
    complete: bool


@dataclass(frozen=True)
class Turn:
    """How many different states a turn can lead to, as far as the search saw."""

    ends: int
    wins: int
    """ends that unite with the king"""
    inner: int
    """states on the way"""
    dead: int
    """states without a legal action"""
    complete: bool


def threats(position: Position, side: int) -> list[str]:
    """The squares that a side threatens, were it its turn; with chains. (All 64, if the search reached its limit.)"""
    squares = np.zeros(1, np.uint64)
    _kernels().threats_all(position.states, np.array([side], np.int32), squares, _work())
    return [name for square, name in enumerate(SQUARES) if int(squares[0]) >> square & 1]


def in_sako(position: Position, side: int) -> bool | None:
    """Whether the king of `side` could be united with, were it the opponent's turn; None: the search was cut short."""
    found = np.zeros(1, np.int32)
    _kernels().gives_sako_all(position.states, np.array([1 - side], np.int32), found, _work())
    return None if found[0] < 0 else bool(found[0])


def chains(position: Position, side: int | None = None) -> Search:
    """The ways in which a side (who is to move, unless told) can unite with the king in one turn.

    One of the shortest for each different final position, the shortest first.
    """
    work = _work()
    count = _kernels().explore_chains(position.states, position.to_move if side is None else side, work)
    nodes = _nodes(work)
    wins = [index for index in range(1, count) if nodes[index]["outcome"] != 0]
    return Search([_chain(nodes, index) for index in wins], count < len(nodes) - 1)


def count_turn(position: Position) -> Turn:
    """Explore the rest of the turn completely."""
    work, counts = _work(), np.zeros(4, np.int64)
    nodes = _kernels().explore_turn(position.states, work)
    _kernels().count_turn(nodes, work, counts)
    return Turn(*(int(count) for count in counts), complete=nodes < len(_nodes(work)) - 1)


def turns(position: Position) -> Search:
    """Every way to end the turn: one of the shortest for each different final position."""
    work = _work()
    count = _kernels().explore_turn(position.states, work)
    nodes = _nodes(work)
    over = (nodes["to_move"] != position.to_move) | (nodes["outcome"] != 0)
    found = [_chain(nodes, index) for index in range(1, count) if over[index]]
    return Search(found, count < len(nodes) - 1)


def paco_in_2(position: Position, side: int | None = None) -> Search:
    """The turns of a side after which it will unite with the king whatever the opponent does.

    They give Ŝako, do not leave the own king in Ŝako, and every answer leaves the opponent's there. None are found
    where the union is possible at once.
    """
    work, found = _work(), np.empty(len(_nodes(_work())), np.int32)
    count, cut = _kernels().forced_turns(position.states, position.to_move if side is None else side, found, work)
    return Search([_chain(_nodes(work), index) for index in found[:count]], not cut)


@dataclass(frozen=True)
class Count:
    """What `count_turns` counted at one depth."""

    sequences: int
    """of actions"""
    positions: int
    """different ones"""
    over: int
    """positions in which the game has ended"""
    gifts: int
    """positions in which the player to move must first promote"""
    united: int
    """positions with at least one union"""


def count_turns(position: Position, depth: int) -> list[Count]:
    """Perft by turns: everything that 1, 2, ... `depth` turns can lead to. A finished game is not continued."""
    states, ways, counts = position.states, np.ones(1, np.int64), list[Count]()
    for _ in range(depth):
        running = states["outcome"] == RUNNING
        states, ways = states[running], ways[running]
        parts = [slice(begin, begin + CHUNK) for begin in range(0, len(states), CHUNK)]
        ends = [_after_turns(position.game, states[part], ways[part]) for part in parts]
        states, ways = (np.concatenate(column) for column in zip(*ends, strict=True))
        states, ways = _merged(states, ways)
        white, black = (np.bitwise_or.reduce(states["planes"][:, side], axis=1) for side in (0, 1))
        flags = states["outcome"] != RUNNING, states["required"] == PROMOTE_THEN_LIFT, (white & black) != 0
        counts.append(Count(int(ways.sum()), len(states), *(int(flag.sum()) for flag in flags)))
    return counts


CHUNK = 5_000  # states whose turns are played out at once


def _after_turns(game: Game, states: Records, ways: NDArray[np.int64]) -> tuple[Records, NDArray[np.int64]]:
    """The states after every turn, and how many sequences lead to each."""
    ends: list[tuple[Records, NDArray[np.int64]]] = []
    while len(states):
        actions, counts = Batch(game, 1).legal_list(states)
        sides = np.repeat(states["to_move"], counts)
        states, ways = np.repeat(states, counts), np.repeat(ways, counts)
        game.kernels().play_all(states, actions[actions >= 0], np.zeros(len(states), np.uint64), game.work())
        over = (states["to_move"] != sides) | (states["outcome"] != RUNNING)
        ends.append(_merged(states[over], ways[over]))
        states, ways = states[~over], ways[~over]
    merged = _merged(*(np.concatenate(column) for column in zip(*ends, strict=True)))
    return merged[0], merged[1]


def _merged(states: Records, ways: NDArray[np.int64]) -> tuple[Records, NDArray[np.int64]]:
    """Equal positions once, with the sum of their ways."""
    keys = states["to_move"].astype(np.uint64)
    for name in ("rights", "en_passant", "promoting"):
        keys = keys * np.uint64(128) + (states[name].astype(np.int64) + 1).astype(np.uint64)
    keys = scatter(keys)
    for plane in states["planes"].reshape(len(states), 6).T:
        keys = scatter(keys ^ plane)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return states[first], np.bincount(inverse, weights=ways).astype(np.int64)


def replay(position: Position, actions: Iterable[int | str]) -> list[str]:
    """A sequence of actions as turns in words: `['e2>e4', 'Bf1xNa6', '0-0']`; an unfinished turn comes last."""
    now, written = position, list[str]()
    steps: list[tuple[np.void, int]] = []
    for move in actions:
        action, side = now.action(move), now.to_move
        steps.append((now.state, action))
        now = now.play(action)
        if now.to_move != side or now.over:
            written.append(turn_text(steps))
            steps = []
    return written + ([turn_text(steps)] if steps else [])


def _chain(nodes: NDArray[np.void], index: int) -> Chain:
    """The actions that lead to a node."""
    actions: list[str] = []
    while index > 0:
        actions.append(action_name(nodes[index], int(nodes[index]["action"])))
        index = int(nodes[index]["parent"])
    return Chain(actions[::-1])


def _nodes(work: NDArray[np.void]) -> NDArray[np.void]:
    return work["turn"]["nodes"][0]


def _work() -> NDArray[np.void]:
    return np.zeros(1, DEEP_WORK)


@functools.cache
def _kernels() -> Any:
    return load_kernels("plyground.games.paco_sako.kernels", {}, "paco_sako")
