"""A portrait of a game: what random play looks like, and faults that keep every law but show there.

`plyground check` ends with it: lengths and results, how often the turn passes, whether the sign of `evaluate` is right,
and whether an encoder that turns the board for a seat turns the actions too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plyground.agents.registry import known
from plyground.arena.match import Match, play_match
from plyground.batch import Batch
from plyground.checks.fault_lines import place_of
from plyground.game import Game
from plyground.games.encoder import Encoder
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING, SECOND_WINS

Records = NDArray[np.void]
LONG = 200  # plies of a long game
SURE = 3.0  # standard errors


@dataclass(frozen=True)
class Portrait:
    """Random play of a game, and what is probably wrong with it."""

    games: int
    plies: NDArray[np.int64]  # [games] length of each
    outcomes: NDArray[np.int64]  # [4] games that ended with each outcome
    legal: NDArray[np.int64]  # [plies of all games] legal actions at each
    passes: float
    """share of the plies after which the other side is to move, the last of each game aside"""
    greedy: Match | None
    """`greedy` against `random`, where the game has it"""
    warnings: tuple[str, ...]

    def sentences(self) -> list[str]:
        """The portrait in words."""
        first, draws, second = (self.outcomes[each] / self.games for each in (FIRST_WINS, DRAW, SECOND_WINS))
        words = [
            f"{self.games} random games: {self.plies.mean():.1f} plies on average ({self.plies.min()} to"
            f" {self.plies.max()}), {self.legal.mean():.1f} legal actions ({self.legal.min()} to {self.legal.max()})",
            f"the first side wins {first:.1%}, the second {second:.1%}, drawn {draws:.1%}",
            f"the turn passes to the other side after {self.passes:.1%} of the plies",
        ]
        return words + ([f"greedy against random: {self.greedy}"] if self.greedy else [])


def portray(game: Game, games: int = 200, seed: int = 0) -> Portrait:
    """Play random games and a match, and look for what is probably wrong."""
    plays = _Plays(game, games, seed)
    passes = float(plays.passed.mean()) if len(plays.passed) else 1.0
    opening = min(game.rules.OPENING_PLIES, int(plays.lengths.min()) - 1)  # so that no game ends within it
    greedy = play_match(game, "greedy", "random", 40, seed, opening) if "greedy" in known(game) else None
    encoders = dict.fromkeys(game.encoders.values())
    more = min(4, LONG // math.ceil(plays.lengths.mean()))  # times as many games tell the sign, where games are short
    signs = _Plays(game, more * games, seed + 1) if more > 1 else plays
    faults = (wrong_sign(game, signs, greedy), *(turned(game, each, plays) for each in encoders))
    found = list[str]()
    if passes == 0:
        found.append("the turn never passes to the other side: `play` does not change `to_move`")
    winners = {FIRST_WINS: "the first side wins", SECOND_WINS: "the second side wins", DRAW: "nobody wins"}
    for outcome, words in winners.items():
        if plays.outcomes[outcome] == games:
            found.append(f"{words} every random game: look at what `play` writes into `outcome`")
    found += filter(None, faults)
    warnings = tuple(f"{fault}; see {place_of(game, fault)}" for fault in found)
    return Portrait(games, plays.lengths, plays.outcomes, plays.legal, passes, greedy, warnings)


def wrong_sign(game: Game, plays: _Plays, greedy: Match | None) -> str:
    """The fault of an `evaluate` that is high for the side to move where that side goes on to lose."""
    if "evaluate" not in game.rules.compiled:
        return ""
    values = np.empty(len(plays.before), np.float32)  # [plies]
    game.kernels("evaluate").evaluate_all(plays.before, values)
    first, second = (_agreement(plays, values, plays.before["to_move"] == side) for side in (0, 1))
    plays_well = greedy is not None and greedy.score > 0.9  # random games may mislead where good ones do not
    plays_badly = greedy is not None and greedy.interval[1] < 0.5
    if not plays_badly and (plays_well or min(first, second) > -SURE):
        return ""
    alike = (first > 0) == (second > 0)
    whose = "the side to move" if alike else f"the {'second' if first > 0 else 'first'} side is to move and"
    seen = f"it is high where {whose} goes on to lose"
    score = f"; `greedy` scores {greedy.score:.1%} against `random`" if greedy else ""
    return (
        f"the sign of `evaluate` seems wrong: in random games {seen}; its value is for the side to move in the state"
        f" that it gets{score}"
    )


def _agreement(plays: _Plays, values: NDArray[np.float32], chosen: NDArray[np.bool_]) -> float:
    """How clearly values have the sign of the results in the chosen plies: the mean over games, in standard errors."""
    games, agrees = plays.game[chosen], (values * plays.result)[chosen]
    counts = np.bincount(games, minlength=len(plays.lengths))  # [games]
    means = np.bincount(games, agrees, len(plays.lengths))[counts > 0] / counts[counts > 0]
    return float(means.mean() / max(means.std() / math.sqrt(len(means)), 1e-9)) if len(means) else 0.0


class _Plays:
    """The plies of random games, each to its end."""

    def __init__(self, game: Game, games: int, seed: int) -> None:
        self.lengths, ends = np.zeros(games, np.int64), np.zeros(games, np.int64)  # [games]
        batch, going = Batch(game, games, seed, check=False), np.arange(games)
        parts: list[tuple[NDArray[Any], ...]] = []
        for _ in range(game.rules.MAX_PLIES):
            before, actions, counts = game.heads(batch.states), batch.random_actions(), batch.legal_list()[1]
            step = batch.step(actions)
            parts.append((going, before[going], actions[going], batch.next_states[going], counts[going]))
            self.lengths[going] += 1
            ends[going] = batch.next_states["outcome"][going]
            going = going[~step.terminated[going]]
            if not len(going):
                break
        self.game, self.before, self.actions, self.after, self.legal = (
            np.concatenate(each) for each in zip(*parts, strict=True)
        )  # [plies]
        self.outcomes = np.bincount(ends, minlength=4)  # [4]
        side, end = self.before["to_move"], ends[self.game]
        self.result = 1.0 * (end == FIRST_WINS + side) - (end == SECOND_WINS - side)  # [plies] for the side to move
        goes_on = self.after["outcome"] == RUNNING
        self.passed = (self.after["to_move"] != self.before["to_move"])[goes_on]


# ---- encoders ----

FEWEST, CLEAR, ENOUGH = 3, 0.4, 0.6  # plies of a slot for each seat; a difference of cosines; a share of the slots
MOST_NUMBERS = 10_000_000  # of observations that are compared


def turned(game: Game, encoder: Encoder, plays: _Plays) -> str:
    """The fault of an encoder that turns the board for a seat, but not the actions with it (or the reverse).

    An action changes some cells of the observation. The same slot of the network must change the same cells for both
    sides: otherwise most slots of the second side change what another slot of the first side changes.
    """
    if game.rules.SEATS != 2 or encoder.dense or game.rules.hidden:
        return ""
    sides = [_changes(game, encoder, plays, seat) for seat in (0, 1)]
    common = sorted(sides[0].keys() & sides[1].keys())  # slots
    if len(common) < 2:
        return ""
    first, second = (np.stack([each[slot] for slot in common]) for each in sides)  # [slots, cells]
    alike = _unit(first) @ _unit(second).T  # [slots, slots] cosines
    own, best = np.diag(alike), alike.max(axis=1)
    if np.mean(best - own > CLEAR) < ENOUGH:
        return ""
    worst = int((best - own).argmax())
    slot, other = common[worst], common[int(alike[worst].argmax())]
    return (
        f"the encoder {encoder} seems to turn the board for one seat, but not the actions: what output {slot} changes"
        f" for the first side, output {other} changes for the second; give it a `slot` that turns them alike"
    )


def _changes(game: Game, encoder: Encoder, plays: _Plays, seat: int) -> dict[int, NDArray[np.float64]]:
    """{slot: [cells] how often a cell of the seat's observation changed when it was played}, for frequent slots."""
    rows = np.flatnonzero(plays.before["to_move"] == seat)[: MOST_NUMBERS // math.prod(encoder.shape)]
    if not len(rows):
        return {}
    before, after = (game.encode(str(encoder), each[rows], seat) for each in (plays.before, plays.after))
    changed = before != after  # [plies, *shape]
    changed &= changed.sum(axis=0) < len(rows) / 2  # without clocks and the like
    if changed.ndim > 2:
        changed = changed.any(axis=1)  # whatever the plane
    changed = changed.reshape(len(rows), -1)  # [plies, cells]
    slots = game.slots(str(encoder))[seat][plays.actions[rows]]  # [plies]
    found, counts = np.unique(slots, return_counts=True)
    return {int(slot): changed[slots == slot].mean(axis=0) for slot in found[counts >= FEWEST]}


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows without what is common to all of them, of length 1."""
    rows = rows - rows.mean(axis=0)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
