"""The rules of each game against a twin: another program that was written from the same rules, and shares no code.

Random games, compared at every ply: the state with its outcome and the legal actions, at every TEXTS-th the written
position and move too. Batches of the compiled games are described as lists, which the twins follow (`twins.py`), in
this process or in one of their own, by PyPy where that is installed and pays. A number of games of one kind:

    python -m torture.games connect_four --games 1000000 --seed 1

python-chess is the twin of chess, but too slow for so many games: there a compiled twin (`naive/chess.py`) follows all
of them and python-chess those of one row. Their states are compared as arrays.
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plyground as pg
from naive import chess
from plyground.games.chess.text import notation
from plyground.games.paco_sako.text import LETTERS, fen
from plyground.games.sequence import cards
from plyground.games.sequence.text import MARKS, rows
from torture import Deadline, Report
from torture.twins import Follower

ROWS = 256  # games side by side
TEXTS = 32  # steps from one comparison of texts to the next: they are written in Python, one by one
BY_PYPY = ("connect_four", "sequence")  # it is slower with the 64-bit integers of python-chess, and with dictionaries
SHORT = 60.0  # seconds below which the twins are in this process
OUTCOMES = np.array([str(outcome) for outcome in pg.Outcome], object)
WORDS = (
    "connect_four",
    "chess",
    "chess:draws=automatic",
    "paco_sako",
    "sequence",
    "sequence:seats=4",
    "sequence:rules=boxed",
    "sequence:rules=boxed,seats=4",
    "sequence:compat_scores=true",
)

FIELDS = (
    *("pieces", "sides", "castling", "en_passant", "to_move"),
    *("repetitions", "clock", "move_number", "outcome", "ending"),
)
"""of chess: the same in the record and in the compiled twin"""

States = NDArray[np.void]  # [N] records of a game
Integers = NDArray[np.integer[Any]]
Names = NDArray[np.object_]


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


class PacoSako(ConnectFour):
    """Here too an action has the same name in every state."""

    def columns(self, states: States) -> list[list[Any]]:
        squares = np.arange(64, dtype=np.uint64)
        digits = (states["planes"][..., None] >> squares & np.uint64(1)).astype(int)  # [N, 2, 3, 64]
        kinds = digits[:, :, 0] + 2 * digits[:, :, 1] + 4 * digits[:, :, 2]  # [N, 2, 64]
        return [
            *(drawn(LETTERS, kinds[:, side]) for side in range(2)),
            drawn(LETTERS, states["hand"]),
            *(states[name].tolist() for name in ("origin", "en_passant", "promoting", "rights")),
            np.where(states["outcome"] == 0, states["required"], -1).tolist(),
            *(states[name].tolist() for name in ("idle", "to_move")),
            outcomes(states),
        ]

    def texts(self, state: np.void, action: int | None, legal: list[int]) -> list[str]:
        return [fen(state)]


class Sequence:
    def __init__(self, game: pg.Game) -> None:
        taken = (*range(cards.KINDS), cards.NO_CARD)
        self.moves = np.stack([names_of(game, range(cards.MOVES), display=card) for card in taken])
        self.others = names_of(game, (cards.DECLINE, cards.PASS))

    def columns(self, states: States) -> list[list[Any]]:
        seats = int(states["seats"][0])
        hands = [states["hands"][:, seat] for seat in range(seats)]
        return [
            drawn(MARKS, states["cells"]),
            *(stacked(pile) for pile in (states["deck"], states["discards"], states["display"], *hands)),
            states["sequences"][:, :seats].tolist(),
            states["turn"].tolist(),
            (states["traded"] != 0).tolist(),
            outcomes(states),
        ]

    def actions(self, states: States, owners: Integers, actions: Integers) -> Names:
        move = actions < cards.DECLINE
        names = np.empty(len(actions), object)
        slots, moves = np.divmod(actions[move], cards.MOVES)
        names[move] = self.moves[states["display"][owners[move], slots], moves]
        names[~move] = self.others[actions[~move] - cards.DECLINE]
        return names

    def texts(self, state: np.void, action: int | None, legal: list[int]) -> list[str]:
        return rows(state)


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


def stacked(pile: Integers) -> list[str]:
    """[N] the names of the cards of a pile, without a gap; numpy drops the empty places at the end."""
    names = np.array([*cards.CARDS, ""])
    return np.ascontiguousarray(names[pile]).view(f"U{2 * pile.shape[1]}")[:, 0].tolist()


def reshuffled(before: States, after: States) -> Iterator[tuple[int, str]]:
    """Rows of Sequence with a reshuffle, and the deck that it gave, with the card that was drawn from it at once."""
    for row in np.flatnonzero(after["reshuffles"] > before["reshuffles"]):
        state, seat = after[row], before["turn"][row]
        drawn = state["hands"][seat, state["held"][seat] - 1]
        yield int(row), stacked(state["deck"][None])[0] + cards.CARDS[drawn]


KINDS: dict[str, Any] = {"connect_four": ConnectFour, "chess": Chess, "paco_sako": PacoSako, "sequence": Sequence}


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


# ---- the comparison ----


class Comparison:
    """Games of one kind side by side with their twins."""

    def __init__(self, word: str, seed: int, games: int = ROWS, apart: bool = False) -> None:
        self.game = pg.load(word)
        self.word, self.seed, self.kind = word, seed, KINDS[self.game.word](self.game)
        self.batch = pg.Batch(self.game, games, seed, threads=1)
        self.follower: Any = Apart(word) if apart else Follower(word)
        self.followed = games  # rows, from the first
        self.games = self.plies = self.steps = 0

    def play(self, over: Callable[[], bool]) -> list[str]:
        """Play until `over`; what differs."""
        findings: list[str] = []
        while not findings:
            findings = self.compare(*self.step())
            if over():
                break
        if isinstance(self.follower, Apart):
            plies, findings = self.follower.end()
            if plies != self.plies and not findings:
                findings = [f"the twin has compared {plies} of {self.plies} plies"]
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
        """What differs in a step and in the final positions of the games that it has ended."""
        rows, after = np.arange(self.followed), self.batch.next_states
        plies = list(self.described(rows, before[rows], actions[rows]))
        if self.game.word == "sequence":
            for row, deck in reshuffled(before, after):
                plies[row][4] = deck
        ended = ended[ended < self.followed]
        return self.follower.follow(plies + list(self.described(ended, after[ended], None)))

    def described(self, numbers: Integers, states: States, actions: Integers | None) -> Iterator[list[Any]]:
        """[row, state, legal, action, chance, texts] of each state, `chance` still None."""
        if not len(states):
            return
        lists, counts = self.batch.legal_list(states)
        names = self.kind.actions(states, np.repeat(np.arange(len(states)), counts), lists[lists >= 0]).tolist()
        chosen = [None] * len(states) if actions is None else self.kind.actions(states, np.arange(len(states)), actions)
        columns, end = self.kind.columns(states), np.cumsum(counts).tolist()
        for k, state in enumerate(zip(*columns, strict=True)):
            texts = None
            if self.steps % TEXTS == 1:
                legal = lists[k, : counts[k]].tolist()
                texts = self.kind.texts(states[k], None if actions is None else int(actions[k]), legal)
            yield [int(numbers[k]), list(state), names[end[k] - counts[k] : end[k]], chosen[k], None, texts]


class ManyChess(Comparison):
    """Chess beside its compiled twin in every row; python-chess follows the first row too, with the texts."""

    def __init__(self, word: str, seed: int, games: int = 4 * ROWS) -> None:
        super().__init__(word, seed, games)
        self.followed = 1
        self.twins = chess.started(games, automatic=word.endswith("draws=automatic"))  # [N]
        self.fresh = self.twins[:1].copy()

    def compare(self, before: States, actions: Integers, ended: Integers) -> list[str]:
        findings = self.differences(before, self.twins)
        if findings:
            return findings
        chess.play_all(self.twins, actions.astype(np.int32))
        findings = self.differences(self.batch.next_states[ended], self.twins[ended])
        self.twins[ended] = self.fresh
        return findings or super().compare(before, actions, ended)

    def differences(self, states: States, twins: States) -> list[str]:
        """The first row in which each field differs, and in which the sets of legal actions do."""
        (lists, counts), theirs = self.batch.legal_list(states), twins["actions"]
        wide = max(counts.max(initial=0), twins["count"].max(initial=0))  # the rest of both is empty
        listed = np.arange(wide) < twins["count"][:, None]
        pairs = {name: (states[name], twins[name]) for name in FIELDS}
        pairs["check"] = states["checkers"] != 0, twins["check"]
        pairs["count"] = counts, twins["count"]
        pairs["legal"] = np.sort(lists[:, :wide]), np.sort(np.where(listed, theirs[:, :wide], -1))
        findings: list[str] = []
        for name, (ours, twin) in pairs.items():
            if not np.array_equal(ours, twin):
                row = np.argwhere(ours != twin)[0, 0]
                text = self.game.rules.text(states[row])
                findings.append(f"{self.word}: {name} {ours[row]} of {text} is {twin[row]} for the twin")
        return findings


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
    many = given.game.startswith("chess")
    comparison = ManyChess(given.game, given.seed) if many else Comparison(given.game, given.seed, apart=True)
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
