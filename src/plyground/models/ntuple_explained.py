"""What an n-tuple network has learned, and why it likes a move: both are measured.

A *pattern* is an entry of the network's tables: cells, and what they hold. How often it is met is counted in games of
the network against itself, with random plies. Its weight is what it adds to the sum of which a value is tanh, less the
mean of what its tuple adds in these games: each position meets one entry of a tuple, so that only their differences
mean anything. Patterns are ranked by share * weight², their part of the variance of what their tuple adds: what is
large but rare is noise.

A *reason* is a cell of the position after a move whose absence (the cell holds 0) changes the value most. It must stand
out twice: the change exceeds the median of all cells by OUTLYING times their spread, and the tuples that see the cell
agree, by AGREEING standard errors. The first test alone passes in half of all positions when the network is noise, the
second alone in most when all its entries are equal; both together in none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plyground.games.cells import Cells
from plyground.games.interface import RUNNING
from plyground.games.rng import agent_seeds, seeds
from plyground.games.scene import Cell, Item, Scene, Zone
from plyground.models.model import Reason
from plyground.models.ntuple import NTuple
from plyground.position import Position

Ints = NDArray[Any]
Floats = NDArray[np.float64]
GAMES, PLIES, RANDOM = 64, 120, 0.3  # of the network against itself: games at a time, plies, the share of random ones
LEAST_MET, LEAST_PART = 30, 1e-4  # of a shown pattern: the positions that meet it; its rank, as a part of the highest
REDRAWS = 8  # of what chance and hidden cards may bring after a move
LEAST_CELLS = 8  # among which one can stand out: the spread of fewer says little
OUTLYING, LEAST_SPREAD = 2.5, 0.02  # of a value between -1 and 1
AGREEING = 4.0


# ---- patterns ----


@dataclass(frozen=True)
class Pattern:
    """An entry of a table, for the seat that looks."""

    table: int
    cells: list[int]
    values: list[int]
    """what each of these cells holds"""
    weight: float
    share: float
    """of the positions that its table judges: where it is met, mirrored or not"""


def find_patterns(model: NTuple, top: int, seed: int = 0) -> list[Pattern]:
    """For each table the `top` patterns of several cells, and the `top` of one; of those that hold the same and differ
    in empty cells alone, the first, and at most one of each tuple."""
    starts = np.unique(model.weights["start"][0][: model.used])  # [T] the first entry of each tuple
    sizes, found = model.game.cells.values, list[Pattern]()
    for table, codes in enumerate(codes_met(model, seed)):
        entries, looks = np.unique(codes, return_counts=True)  # a position looks once under each symmetry
        weights, tuples = model.table[table, entries].astype(float), np.searchsorted(starts, entries, side="right") - 1
        weights -= (np.bincount(tuples, looks * weights) / np.maximum(1, np.bincount(tuples, looks)))[tuples]
        codes = np.sort(codes, axis=1)
        first = np.diff(codes, axis=1, prepend=-1) != 0  # of equal codes of a position
        met = np.unique(codes[first], return_counts=True)[1]  # positions, in the order of `entries`
        rank = np.where(met >= LEAST_MET, looks * weights**2, 0.0)
        single = np.array([len(walk) == 1 for walk in model.tuples])[tuples]
        for kind in (~single, single):
            of_kind = np.flatnonzero(kind & (rank > LEAST_PART * max(rank, default=0.0)))
            shown = set[Any]()
            for k in of_kind[np.lexsort((entries[of_kind], -rank[of_kind]))].tolist():
                cells = model.tuples[tuples[k]]
                values = [int(each) for each in np.unravel_index(entries[k] - starts[tuples[k]], sizes[cells], "F")]
                held = frozenset((cell, value) for cell, value in zip(cells, values, strict=True) if value)
                if len(shown) < 2 * top and not {int(tuples[k]), held} & shown:
                    shown |= {int(tuples[k]), held}
                    found.append(Pattern(table, cells, values, float(weights[k]), float(met[k] / len(codes))))
    return found


def codes_met(model: NTuple, seed: int) -> list[Ints]:
    """[P, used] for each table: the codes of the positions that it judges in games of the network against itself."""
    game, kernels, rng = model.game, model.game.kernels(), np.random.default_rng(seed)
    states, rngs, own = np.repeat(game.blank, GAMES), seeds(seed, GAMES), agent_seeds(seed, GAMES)
    kernels.reset_all(states, game.blank, rngs)
    seats, found = np.empty(GAMES, np.int32), [[np.empty((0, model.used), np.int32)] for _ in model.table]
    for ply in range(PLIES):
        kernels.seats_to_act(states, seats)
        best, actions, _ = model.choose(states, own)
        random = (rng.random(GAMES) < RANDOM) | (ply < game.rules.OPENING_PLIES)
        any_one = actions[np.arange(GAMES), rng.integers(0, (actions >= 0).sum(axis=1))]
        kernels.play_all(states, np.where(random, any_one, best).astype(np.int32), rngs, game.work())
        views = viewers(model, states, seats)
        tables = tables_of(model, states, views)
        for view in range(game.rules.SEATS):
            for table in range(len(model.table)):
                rows = (states["outcome"] == RUNNING) & (views == view) & (tables == table)
                if rows.any():
                    found[table].append(codes_of(model, game.write_cells(states[rows], view)))
        ended = np.flatnonzero(states["outcome"] != RUNNING)
        fresh, drawn = np.repeat(game.blank, len(ended)), rngs[ended]
        kernels.reset_all(fresh, game.blank, drawn)
        states[ended], rngs[ended] = fresh, drawn
    return [np.concatenate(each) for each in found]


def codes_of(model: NTuple, cells: NDArray[Any]) -> Ints:
    """[N, used] the codes of cells [N, count]."""
    start, powers = model.weights["start"][0][: model.used], model.weights["powers"][0][:, : model.used]
    return start + cells.astype(np.int32) @ powers


def viewers(model: NTuple, states: NDArray[np.void], movers: NDArray[np.int32]) -> NDArray[np.int32]:
    """[N] the seats that look at running positions to which these seats have led (`viewer` of `ntuple_code.py`)."""
    if model.game.rules.hidden:
        return movers
    seats = np.zeros(len(states), np.int32)
    if len(model.table) == 1:
        model.game.kernels().seats_to_act(states, seats)
    return seats


def tables_of(model: NTuple, states: NDArray[np.void], views: NDArray[np.int32]) -> Ints:
    """[N] which tables judge them for these seats (`table_of` of `ntuple_code.py`)."""
    if model.game.rules.hidden:
        return (views % 2 != states["to_move"]).astype(np.int64)
    return states["to_move"].astype(np.int64) * (len(model.table) - 1)


# ---- patterns for people ----


class Learned(NamedTuple):
    """The patterns of one table."""

    title: str
    """when it judges, and for whom"""
    boards: list[Pattern]
    single: list[Pattern]
    """of one cell"""


def learned(model: NTuple, top: int) -> list[Learned]:
    """The `top` patterns of each table, and as many of one cell."""
    found, tables = find_patterns(model, top), range(len(model.table))
    parts = [
        [[each for each in found if each.table == k and (len(each.cells) == 1) == one] for one in (False, True)]
        for k in tables
    ]
    return [Learned(title_of(model, k), *parts[k]) for k in tables]


def title_of(model: NTuple, table: int) -> str:
    """When a table judges, for whom, and what initials stand for."""
    first, second = model.game.rules.SIDES
    when = f"{(first, second)[table]} to move, values for {first}"
    if model.game.rules.hidden:
        when = f"After a move of {first}, {when}"
    elif len(model.table) == 1:
        when = f"Any side to move, drawn as {first}, values for it"
    return f"{when}{''.join(f' ({each})' for each in initials(model.game.cells))}"


def in_words(model: NTuple, pattern: Pattern) -> dict[str, str]:
    """What each cell holds, as seat 0 sees it."""
    game = model.game
    names, found = game.cells.names(game.start().state, 0), dict[str, str]()
    for cell, value in zip(pattern.cells, pattern.values, strict=True):
        name = of_sides(names[cell], game.rules.SIDES)
        word = of_sides(game.cells.in_words(cell, value), game.rules.SIDES)
        before = found.get(name)  # a square with several layers
        found[name] = word if before in (None, "empty") else before if word == "empty" else f"{before}, {word}"
    return found


def scene_of(model: NTuple, pattern: Pattern) -> Scene:
    """A pattern on the board of the game's start, as seat 0 sees it: what it holds; its cells are marked."""
    game = model.game
    start, cells = game.start(), game.cells
    names, zones = cells.names(start.state, 0), start.scene(0).zones
    held = dict[str, list[str]]()  # by squares, which may have several layers: words
    for cell, value in zip(pattern.cells, pattern.values, strict=True):
        held.setdefault(names[cell], []).extend([cells.in_words(cell, value)] * (value > 0))
    boards = (zone for zone in zones if held.keys() <= {cell.name for cell in zone.cells})
    board = next(boards, None) or _plain_board(cells, names, pattern.cells[0])
    drawn = list[Cell]()
    for cell in board.cells:
        printed = [item for item in cell.items if item.side is None]  # on the board itself
        words = [word for word in held.get(cell.name, ()) if Item(word) not in printed]
        marks = ("pattern",) if cell.name in held else ()
        drawn.append(replace(cell, items=(*printed, *map(item_of, words)), marks=marks))
    return Scene((replace(board, cells=tuple(drawn)),), caption(pattern))


def caption(pattern: Pattern) -> str:
    return f"adds {pattern.weight:+.3f}, met in {pattern.share:.1%}"


def _plain_board(cells: Cells, names: Sequence[str], cell: int) -> Zone:
    """The group of a cell, where the scene has no cells of these names."""
    group = next(group for group in cells.groups if cell < cells.places[group.name].stop)
    (rows, columns), first = group.shape or (1, group.size), cells.places[group.name].start
    return Zone("board", rows, columns, tuple(Cell(name) for name in names[first : first + group.size]))


def item_of(word: str) -> Item:
    """The item that a word for a value stands for, as seat 0 sees it: `own locked chip` is a chip of side 0; what
    belongs to nobody is its initial, or a number."""
    side = {"own": 0, "their": 1}.get(word.partition(" ")[0])
    if side is not None:
        return Item(word.rpartition(" ")[2], side)
    return Item(word if word.isdecimal() else word[:1])


def initials(cells: Cells) -> list[str]:
    """`p playable`: the signs on a board for what belongs to nobody."""
    words = [word for group in cells.groups if group.shape for word in group.words]
    return [f"{word[:1]} {word}" for word in words if word.partition(" ")[0] not in ("own", "their")]


def of_sides(word: str, sides: tuple[str, str]) -> str:
    """`own pawn` and `their pawn` with the names of the side that looks and of the other one."""
    first, space, rest = word.partition(" ")
    return {"own": sides[0], "their": sides[1]}.get(first, first) + space + rest


# ---- reasons ----


def find_reasons(model: NTuple, position: Position, line: Sequence[int]) -> list[Reason]:
    """The cells without which the position after a move, the first turn of a line, would be worth another value; the
    most important first. None where none stands out, or the game is over."""
    game, seat, changes = model.game, position.seat, Changes(model)
    for seed in range(REDRAWS if game.uncertain else 1):
        after = (position.redrawn(seat, seed) if game.uncertain else position).after_turn(line)
        if not after.over:
            changes.add(after, seat)
    return changes.reasons()


class Changes:
    """What removing each cell changes in one position, or in several that chance may bring."""

    def __init__(self, model: NTuple) -> None:
        cells = model.game.cells
        self.model, self.told = model, dict[int, tuple[str, str]]()  # a cell: its name and what it holds
        on_board = np.array([len(near) > 0 for near in cells.neighbours])
        self.tried = on_board if on_board.any() else ~on_board  # hands and counters are the same after most moves
        self.times, self.values = np.zeros(cells.count), np.zeros(cells.count)
        self.terms = np.zeros((cells.count, model.used))  # of the sum: less without the cell
        self.seen = np.zeros((cells.count, model.used), np.bool_)  # by which tuples, under which symmetries

    def add(self, after: Position, mover: int) -> None:
        """A position to which a seat has led."""
        model, cells, sides = self.model, self.model.game.cells, self.model.game.rules.SIDES
        views = viewers(model, after.states, np.array([mover], np.int32))
        view, table = int(views[0]), model.table[tables_of(model, after.states, views)[0]]
        (held,) = model.game.write_cells(after.states, view)
        there = np.flatnonzero((held > 0) & self.tried)  # [K]
        powers = model.weights["powers"][0][there, : model.used]  # [K, used]
        whole = codes_of(model, held[None])  # [1, used]
        without = table[whole - held[there, None] * powers].astype(float)  # [K, used]
        entries = table[whole].astype(float)
        sign = 1.0 if view % 2 == mover % 2 else -1.0
        self.times[there] += 1
        self.values[there] += sign * (np.tanh(entries.sum()) - np.tanh(without.sum(axis=1)))
        self.terms[there] += entries - without
        self.seen[there] |= powers > 0
        names, looking = cells.names(after.state, view), (sides[view % 2], sides[1 - view % 2])
        for cell in there.tolist():
            self.told[cell] = names[cell], of_sides(cells.in_words(cell, int(held[cell])), looking)

    def reasons(self) -> list[Reason]:
        tried = np.flatnonzero(self.times)  # [K]
        changes = self.values[tried] / self.times[tried]
        agree = agreement(self.terms[tried], self.seen[tried])
        found = [
            Reason(*self.told[int(tried[k])], float(changes[k]))
            for k in np.flatnonzero(standing_out(changes) & (agree >= AGREEING))
        ]
        return sorted(found, key=lambda reason: -abs(reason.change))


def standing_out(changes: Floats) -> NDArray[np.bool_]:
    """[K] which changes are far larger than the others, whatever their sign."""
    if len(changes) < LEAST_CELLS:
        return np.zeros(len(changes), np.bool_)
    sizes = abs(changes)
    middle = np.median(sizes)
    spread = 1.4826 * np.median(abs(sizes - middle))  # a robust standard deviation
    return sizes - middle > OUTLYING * max(spread, LEAST_SPREAD)


def agreement(terms: Floats, seen: NDArray[np.bool_]) -> Floats:
    """[K] by how many standard errors the mean of a cell's terms [K, used], over the tuples that see it, differs from
    0. Few tuples may agree by chance: no cell's terms count as less spread than those of all cells are."""
    counts = np.maximum(1, seen.sum(axis=1))  # [K]
    means = terms.sum(axis=1) / counts
    squares = np.where(seen, (terms - means[:, None]) ** 2, 0.0).sum(axis=1)
    pooled = squares.sum() / max(1, counts.sum() - len(counts))
    variances = np.maximum(np.maximum(pooled, squares / np.maximum(1, counts - 1)), 1e-18)
    return abs(means) / np.sqrt(variances / counts)
