"""The rules of each game against a twin: another program that was written from the same rules, and shares no code.

Random games, compared at every ply: the state with its outcome and the legal actions, at every TEXTS-th the written
position and move too. A twin is plain Python, to which batches of the compiled games are described as lists
(`twins.py`), in this process or in one of its own, by PyPy where that is installed and pays; or it is compiled
(`naive/`), and its states are compared as arrays. A number of games of one kind:

    python -m torture.games connect_four --games 1000000 --seed 1

python-chess is the twin of chess, but too slow for so many games: there a compiled twin follows all of them and
python-chess those of one row.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import plyground as pg
from naive import chess, paco_sako, sequence
from plyground.games.chess.text import notation
from plyground.games.paco_sako.text import LETTERS, fen
from plyground.games.sequence import cards
from plyground.games.sequence.text import MARKS, rows
from torture import Deadline, Report
from torture.twins import Follower

ROWS = 256  # games side by side
TEXTS = 32  # steps from one comparison of texts to the next: they are written in Python, one by one
WRITTEN = 8  # rows beside compiled twins whose texts are compared
BY_PYPY = ("connect_four",)  # it is slower with the 64-bit integers of python-chess
SHORT = 60.0  # seconds below which the twins are in this process
OUTCOMES = np.array([str(outcome) for outcome in pg.Outcome], object)
WORDS = (
    "connect_four",
    "chess",
    "chess:draws=automatic",
    "paco_sako",
    "paco_sako:castling=clean",
    "paco_sako:repetitions=2",
    "sequence",
    "sequence:seats=4",
    "sequence:rules=boxed",
    "sequence:rules=boxed,seats=4",
    "sequence:compat_scores=true",
)

States = NDArray[np.void]  # [N] records of a game
Integers = NDArray[np.integer[Any]]
Names = NDArray[np.object_]
Pairs = dict[str, tuple[NDArray[Any], NDArray[Any]]]  # ours and the twin's, [N, ...] each


# ---- what twins say of a state and of actions, for many at once ----


class ConnectFour:
    def __init__(self, game: pg.Game) -> None:
        self.game = game
        self.names = names_of(game, range(game.rules.NUM_ACTIONS))

    def columns(self, states: States) -> list[list[Any]]:
        """Columns of N values, which together are the `state` of N twins."""
        bits = np.array([7 * column + row for row in reversed(range(6)) for column in range(7)], np.uint64)
        stones = (states["stones"][:, :, None] >> bits & np.uint64(1)).astype(int)  # [N, 2, 42]
        return [drawn(".xo", stones[:, 0] + 2 * stones[:, 1]), outcomes(states)]

    def actions(self, states: States, owners: Integers, actions: Integers) -> Names:
        """[K] the names of actions, each in the state of its owner [K]."""
        return self.names[actions]

    def texts(self, state: np.void, action: int | None, legal: list[int]) -> list[str]:
        """The state as it is written, and the action (None: the game is over), where it is written in another way."""
        return [self.game.rules.text(state)]


class Chess:
    def __init__(self, game: pg.Game) -> None:
        self.game = game
        every = range(game.rules.NUM_ACTIONS)
        self.names = np.stack([names_of(game, every, to_move=side) for side in range(2)])  # but for queens
        self.endings = np.array([game.rules.reason(record(game, ending=ending)) for ending in range(6)], object)

    def columns(self, states: States) -> list[list[Any]]:
        sets = *states["pieces"].T, *states["sides"].T
        first, last = ("castling", "en_passant", "to_move"), ("repetitions", "clock", "move_number")
        return [
            *(each.tolist() for each in sets),
            *(states[name].tolist() for name in first),
            (states["checkers"] != 0).tolist(),
            *(states[name].tolist() for name in last),
            outcomes(states),
            self.endings[states["ending"]].tolist(),
        ]

    def actions(self, states: States, owners: Integers, actions: Integers) -> Names:
        names = self.names[states["to_move"][owners], actions]
        start, rank = actions // 64, actions % 64 // 8
        pawns = states["pieces"][owners, 0] >> (start % 64).astype(np.uint64) & np.uint64(1)
        names[(pawns == 1) & np.isin(rank, (0, 7)) & (start < 64)] += "q"
        return names

    def texts(self, state: np.void, action: int | None, legal: list[int]) -> list[str]:
        return [self.game.rules.text(state), *([notation(state, action, legal)] if action is not None else [])]


def record(game: pg.Game, **fields: Any) -> np.void:
    """Zeros but for the settings and these fields."""
    state = game.blank.copy()
    for name, value in fields.items():
        state[name] = value
    return state[0]


def names_of(game: pg.Game, actions: Iterable[int], **fields: Any) -> Names:
    """[K] names of actions; empty for a promotion of chess that would leave the board."""
    state, names = record(game, **fields), list[str]()
    for action in actions:
        try:
            names.append(game.rules.action_name(state, action))
        except IndexError:
            names.append("")
    return np.array(names, object)


def outcomes(states: States) -> list[str]:
    return OUTCOMES[states["outcome"]].tolist()


def drawn(marks: str, codes: Integers) -> list[str]:
    """[N] texts of K characters: of each code its mark."""
    return np.array([ord(mark) for mark in marks], np.uint32)[codes].view(f"U{codes.shape[1]}")[:, 0].tolist()


KINDS: dict[str, Any] = {"connect_four": ConnectFour, "chess": Chess}


# ---- twins in another process ----


class Apart:
    """A `Follower` in a process of its own. It reads ahead: what it finds is known at the end, or when it stops."""

    def __init__(self, word: str) -> None:
        pypy = shutil.which("pypy3") if word.startswith(BY_PYPY) else None
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        command = [pypy or sys.executable, "-m", "torture.twins", word]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )

    def follow(self, plies: list[Any]) -> list[str]:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(plies) + "\n")
        except BrokenPipeError:
            return ["the twin has stopped"]
        return []

    def end(self) -> tuple[int, list[str]]:
        """How many plies it has compared, and what differed."""
        try:
            out, _ = self.process.communicate()
            found = json.loads(out)
        except (BrokenPipeError, ValueError):
            return 0, [f"the process of the twin ended with code {self.process.wait()}"]
        return found["plies"], found["findings"]


# ---- ways to compare ----


class Described:
    """Twins in Python for the first rows of a batch, which are described to them as lists."""

    def __init__(self, batch: pg.Batch, word: str, rows: int, apart: bool = False) -> None:
        self.batch, self.rows, self.kind = batch, rows, KINDS[batch.game.word](batch.game)
        self.follower: Any = Apart(word) if apart else Follower(word)

    def compare(self, before: States, actions: Integers, ended: Integers, written: bool) -> list[str]:
        """What differs in a step and in the final positions of the games that it has ended."""
        rows, ended = np.arange(self.rows), ended[ended < self.rows]
        plies = list(self.described(rows, before[rows], actions[rows], written))
        return self.follower.follow(plies + list(self.described(ended, self.batch.next_states[ended], None, written)))

    def described(
        self, numbers: Integers, states: States, actions: Integers | None, written: bool
    ) -> Iterator[list[Any]]:
        """[row, state, legal, action, texts] of each state."""
        if not len(states):
            return
        lists, counts = self.batch.legal_list(states)
        names = self.kind.actions(states, np.repeat(np.arange(len(states)), counts), lists[lists >= 0]).tolist()
        chosen = [None] * len(states) if actions is None else self.kind.actions(states, np.arange(len(states)), actions)
        columns, end = self.kind.columns(states), np.cumsum(counts).tolist()
        for k, state in enumerate(zip(*columns, strict=True)):
            texts = None
            if written:
                legal = lists[k, : counts[k]].tolist()
                texts = self.kind.texts(states[k], None if actions is None else int(actions[k]), legal)
            yield [int(numbers[k]), list(state), names[end[k] - counts[k] : end[k]], chosen[k], texts]

    def end(self, plies: int) -> list[str]:
        """What a process of its own has found."""
        if not isinstance(self.follower, Apart):
            return []
        compared, findings = self.follower.end()
        if compared != plies and not findings:
            findings = [f"the twin has compared {compared} of {plies} plies"]
        return findings


class Compiled:
    """Compiled twins for all rows of a batch, whose states are compared as arrays."""

    naive: ModuleType
    fields: tuple[str, ...]  # that have the same names in the records of both

    def __init__(self, batch: pg.Batch, word: str) -> None:
        self.batch, self.word = batch, word
        self.twins = self.started(batch.states)  # [N]
        self.marks = np.zeros(batch.game.rules.NUM_ACTIONS, np.bool_)

    def started(self, states: States) -> States:
        """[N] twins at the beginning of the same games."""
        raise NotImplementedError

    def pairs(self, states: States, twins: States) -> Pairs:
        """What has another form in the two records, by name."""
        raise NotImplementedError

    def texts(self, state: np.void, twin: np.void, action: int) -> tuple[list[str], list[str]]:
        """The position and the action as both write them."""
        return [], []

    def tell_chance(self, before: States) -> None:
        """Let the twins know what the coming step has drawn."""

    def compare(self, before: States, actions: Integers, ended: Integers, written: bool) -> list[str]:
        findings = self.differences(before, self.twins)
        if written and not findings:
            findings = self.misspelt(before, actions)
        if findings:
            return findings
        self.tell_chance(before)
        self.naive.play_all(self.twins, actions.astype(np.int32))
        findings = self.differences(self.batch.next_states[ended], self.twins[ended])
        if len(ended):
            self.twins[ended] = self.started(self.batch.states[ended])
        return findings

    def differences(self, states: States, twins: States) -> list[str]:
        """The first row in which each field differs, and in which the sets of legal actions do."""
        lists, counts = self.batch.legal_list(states)
        pairs = {name: (states[name], twins[name]) for name in self.fields}
        pairs |= self.pairs(states, twins) | {"count": (counts, twins["count"])}
        findings: list[str] = []
        for name, (ours, twin) in pairs.items():
            if not np.array_equal(ours, twin):
                row = np.argwhere(ours != twin)[0, 0]
                findings.append(self.finding(name, states[row], ours[row], twin[row]))
        row = first_other_set(lists, counts, twins["actions"], twins["count"], self.marks)
        if row >= 0:
            ours, twin = lists[row, : counts[row]], twins["actions"][row, : twins["count"][row]]
            findings.append(self.finding("legal", states[row], ours, np.sort(twin)))
        return findings

    def finding(self, name: str, state: Any, ours: Any, twin: Any) -> str:
        return f"{self.word}: {name} {ours} of {self.batch.game.rules.text(state)} is {twin} for the twin"

    def misspelt(self, states: States, actions: Integers) -> list[str]:
        """The texts of some rows that differ."""
        findings: list[str] = []
        for row in range(min(WRITTEN, len(states))):
            ours, twin = self.texts(states[row], self.twins[row], int(actions[row]))
            if ours != twin:
                findings.append(f"{self.word}: {ours} is {twin} for the twin")
        return findings

    def end(self, plies: int) -> list[str]:
        return []


@njit(cache=True)
def first_other_set(
    lists: Integers, counts: Integers, actions: Integers, sizes: Integers, marks: NDArray[np.bool_]
) -> int:
    """The first row in which our list has not just the twin's actions, each of them once; -1 if there is none.

    `marks` is False for all actions. Sorting both lists would take longer than the twins.
    """
    for row in range(len(counts)):
        for k in range(sizes[row]):
            marks[actions[row, k]] = True
        same = counts[row] == sizes[row]
        for k in range(counts[row]):
            same &= marks[lists[row, k]]
            marks[lists[row, k]] = False
        if not same:
            return row
    return -1


class CompiledChess(Compiled):
    naive = chess
    fields = (
        *("pieces", "sides", "castling", "en_passant", "to_move"),
        *("repetitions", "clock", "move_number", "outcome", "ending"),
    )

    def started(self, states: States) -> States:
        return chess.started(len(states), automatic=self.word.endswith("draws=automatic"))

    def pairs(self, states: States, twins: States) -> Pairs:
        return {"check": (states["checkers"] != 0, twins["check"])}


class CompiledPacoSako(Compiled):
    naive = paco_sako
    fields = "idle", "outcome"

    def started(self, states: States) -> States:
        settings = self.batch.game.settings
        return paco_sako.started(len(states), int(settings["repetitions"]), settings["castling"] == "clean")

    def pairs(self, states: States, twins: States) -> Pairs:
        letters, board, running = np.frombuffer(LETTERS.encode(), np.uint8), twins["board"], states["outcome"] == 0
        planes = np.unpackbits(states["planes"].copy().view(np.uint8), axis=-1, bitorder="little")
        digits = planes.reshape(len(states), 2, 3, 64)
        kinds = digits[:, :, 0] + 2 * digits[:, :, 1] + 4 * digits[:, :, 2]  # [N, 2, 64]
        required = np.where(running, states["required"], -1), np.where(running, board[:, paco_sako.MUST], -1)
        return {
            "pieces": (letters[kinds], board[:, paco_sako.PIECES :].reshape(kinds.shape)),
            "hand": (letters[states["hand"]], board[:, paco_sako.HAND : paco_sako.HAND + 2]),
            "to_move": (states["to_move"], board[:, paco_sako.MOVER]),
            "required": required,
            "origin": (states["origin"], board[:, paco_sako.ORIGIN]),
            "en_passant": (states["en_passant"], board[:, paco_sako.PASSED]),
            "promoting": (states["promoting"], board[:, paco_sako.PROMOTING]),
            "rights": (states["rights"], board[:, paco_sako.RIGHTS]),
        }

    def texts(self, state: np.void, twin: np.void, action: int) -> tuple[list[str], list[str]]:
        ours = [fen(state), self.batch.game.rules.action_name(state, action)]
        return ours, [paco_sako.fen(twin), paco_sako.name(action)]


class CompiledSequence(Compiled):
    naive = sequence
    fields = "turn", "passes", "reshuffles", "outcome"

    def started(self, states: States) -> States:
        settings = self.batch.game.settings
        packs = np.stack([pack_of(state) for state in states])
        compat = bool(settings["compat_scores"])
        return sequence.started(packs, settings["rules"] == "boxed", int(settings["seats"]), compat)

    def pairs(self, states: States, twins: States) -> Pairs:
        chips, piles = np.frombuffer(MARKS.encode(), np.uint8)[states["cells"]], twins["piles"]
        return {
            "board": (chips, twins["chips"].reshape(-1, 100)),
            "deck": (states["deck"], piles[:, sequence.DECK]),
            "discards": (states["discards"], piles[:, sequence.DISCARDS]),
            "display": (states["display"], piles[:, sequence.DISPLAY, : cards.SLOTS]),
            "hands": (states["hands"], piles[:, sequence.HANDS :, : cards.MOST_HELD]),
            "sequences": (states["sequences"], twins["scores"]),
            "traded": (states["traded"] != 0, twins["traded"]),
        }

    def texts(self, state: np.void, twin: np.void, action: int) -> tuple[list[str], list[str]]:
        ours = [*rows(state), self.batch.game.rules.action_name(state, action)]
        return ours, [*sequence.rows(twin), sequence.name(twin, action)]

    def tell_chance(self, before: States) -> None:
        """The deck after a reshuffle, with the card that was drawn from it at once."""
        after = self.batch.next_states
        for row in np.flatnonzero(after["reshuffles"] > before["reshuffles"]):
            state, seat, size = after[row], before["turn"][row], after["deck_size"][row]
            self.twins["next_deck"][row] = state["deck"]
            self.twins["next_deck"][row, size] = state["hands"][seat, state["held"][seat] - 1]


def pack_of(state: np.void) -> NDArray[np.int8]:
    """[104] the pack from which a game was dealt: the deck, and on it what was dealt, the first card on top."""
    hands = [hand[:held] for hand, held in zip(state["hands"], state["held"], strict=True)]
    dealt = np.concatenate([state["display"][: state["display_size"]], *hands])
    return np.concatenate([state["deck"][: state["deck_size"]], dealt[::-1]])


COMPILED: dict[str, type[Compiled]] = {
    "chess": CompiledChess,
    "paco_sako": CompiledPacoSako,
    "sequence": CompiledSequence,
}


# ---- the comparison ----


class Comparison:
    """Games of one kind side by side with their twins.

    Of chess either python-chess follows all rows, or, with `many`, the compiled twin does and python-chess the first.
    """

    def __init__(self, word: str, seed: int, games: int = ROWS, apart: bool = False, many: bool = False) -> None:
        self.game = pg.load(word)
        self.word, self.seed = word, seed
        self.batch = pg.Batch(self.game, games, seed, threads=1)
        self.games = self.plies = self.steps = 0
        self.twins: list[Compiled | Described] = []
        if many or self.game.word not in KINDS:
            self.twins.append(COMPILED[self.game.word](self.batch, word))
        if self.game.word in KINDS:
            self.twins.append(Described(self.batch, word, 1 if many else games, apart))

    def play(self, over: Callable[[], bool]) -> list[str]:
        """Play until `over`; what differs."""
        findings: list[str] = []
        while not findings:
            findings = self.compare(*self.step())
            if over():
                break
        for twins in self.twins:
            findings = twins.end(self.plies) or findings
        return [f"{finding} (seed {self.seed})" for finding in findings]

    def step(self) -> tuple[States, Integers, Integers]:
        """One ply of every game: the states before it [N], the actions [N], and the rows whose games it has ended."""
        before, actions = self.batch.states.copy(), self.batch.random_actions()
        ended = np.flatnonzero(self.batch.step(actions).terminated)
        self.games += len(ended)
        self.plies += len(actions)
        self.steps += 1
        return before, actions, ended

    def compare(self, before: States, actions: Integers, ended: Integers) -> list[str]:
        """What differs for the first of the twins that finds something."""
        for twins in self.twins:
            findings = twins.compare(before, actions, ended, self.steps % TEXTS == 1)
            if findings:
                return findings
        return []


def run(seed: int, seconds: float) -> Report:
    """Compare all games for equal times, or until one differs."""
    begun, findings, figures = Deadline(seconds), list[str](), dict[str, float]()
    for word in WORDS:
        comparison = Comparison(word, seed, 4 if seconds < SHORT else ROWS, apart=seconds >= SHORT)
        findings += comparison.play(Deadline(seconds / len(WORDS)).over)
        figures |= {f"games of {word}": float(comparison.games), f"plies of {word}": float(comparison.plies)}
    plies = sum(value for name, value in figures.items() if name.startswith("plies"))
    return Report("games", int(plies), findings, begun.passed, figures)


def main() -> int:
    """Compare a number of games of one kind, and print a line for each hundredth of them."""
    parser = argparse.ArgumentParser(prog="torture.games", description=__doc__)
    parser.add_argument("game", metavar="GAME", choices=WORDS, help=", ".join(WORDS))
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    many = given.game.partition(":")[0] in COMPILED
    comparison = Comparison(given.game, given.seed, 4 * ROWS if many else ROWS, apart=not many, many=many)
    clock, reported = Deadline(0.0), 0

    def over() -> bool:
        nonlocal reported
        if comparison.games * 100 // given.games > reported or comparison.games >= given.games:
            reported = comparison.games * 100 // given.games
            figures = f"{comparison.games:,} games, {comparison.plies:,} plies"
            print(f"{given.game} (seed {given.seed}): {figures} in {clock.passed:.0f} s", flush=True)
        return comparison.games >= given.games

    findings = comparison.play(over)
    print("\n".join(findings) or "no finding", flush=True)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
