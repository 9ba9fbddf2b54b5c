"""The rules of each game against a twin: another program that was written from the same rules, and shares no code.

Random games, as many as the time allows, compared at every ply: the legal actions, the state and the outcome.
`counts` has the games and plies of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import chess
import numpy as np

import plyground as pg
from naive import connect_four, paco_sako, sequence
from plyground.games.chess.text import notation as san
from plyground.games.paco_sako.text import fen
from plyground.games.sequence import cards
from plyground.games.sequence.text import rows
from torture import MOST_FINDINGS, Deadline, Report

ROWS = 64  # games side by side
ROUND = 64  # plies of each before another game has its turn


class ConnectFour:
    """The twin of Connect Four."""

    def __init__(self, game: pg.Game, state: np.void) -> None:
        self.board = connect_four.Board()

    def legal(self) -> list[str]:
        return [str(column + 1) for column in self.board.legal()]

    def described(self) -> tuple[Any, ...]:
        return "/".join(self.board.rows()), self.board.outcome

    def play(self, name: str, after: np.void) -> None:
        self.board.play(int(name) - 1)

    @staticmethod
    def of(game: pg.Game, state: np.void) -> tuple[Any, ...]:
        """The state in the same words as `described`."""
        return game.rules.text(state), str(pg.Outcome(int(state["outcome"])))


class Chess:
    """python-chess, as the twin of chess."""

    def __init__(self, game: pg.Game, state: np.void) -> None:
        self.board, self.automatic = chess.Board(), game.settings["draws"] == "automatic"

    def legal(self) -> list[str]:
        return [] if self.end()[0] != "RUNNING" else sorted(move.uci() for move in self.board.legal_moves)

    def described(self) -> tuple[Any, ...]:
        occurred = next(n for n in range(6, 0, -1) if self.board.is_repetition(n))
        return (self.board.fen(en_passant="legal"), self.board.is_check(), occurred, *self.end())

    def end(self) -> tuple[str, str]:
        """Outcome and reason."""
        board, many, clock = self.board, 5 if self.automatic else 3, 150 if self.automatic else 100
        if board.is_checkmate():
            return ("SECOND_WINS" if board.turn else "FIRST_WINS"), "checkmate"
        for holds, reason in (
            (board.is_stalemate(), "stalemate"),
            (board.is_insufficient_material(), "insufficient material"),
            (board.is_repetition(many), f"{'fifth' if self.automatic else 'third'} occurrence"),
            (board.halfmove_clock >= clock, f"{clock // 2}-move rule"),
        ):
            if holds:
                return "DRAW", reason
        return "RUNNING", ""

    def play(self, name: str, after: np.void) -> None:
        self.board.push_uci(name)

    def notation(self, name: str) -> str:
        return self.board.san(chess.Move.from_uci(name)).rstrip("+#")

    @staticmethod
    def of(game: pg.Game, state: np.void) -> tuple[Any, ...]:
        outcome, reason = str(pg.Outcome(int(state["outcome"]))), game.rules.reason(state)
        return game.rules.text(state), bool(state["checkers"]), int(state["repetitions"]), outcome, reason


class PacoSako:
    """The twin of Paco Ŝako."""

    def __init__(self, game: pg.Game, state: np.void) -> None:
        self.board = paco_sako.Board()

    def legal(self) -> list[str]:
        return [] if self.board.outcome != "RUNNING" else sorted(self.board.legal())

    def described(self) -> tuple[Any, ...]:
        return self.board.fen(), self.board.mover, self.board.outcome

    def play(self, name: str, after: np.void) -> None:
        self.board.play(name)

    @staticmethod
    def of(game: pg.Game, state: np.void) -> tuple[Any, ...]:
        return fen(state), int(state["to_move"]), str(pg.Outcome(int(state["outcome"])))


class SequenceTable:
    """The twin of Sequence; it is dealt the same cards, and told what a reshuffle gave."""

    def __init__(self, game: pg.Game, state: np.void) -> None:
        hands, display, deck, _ = piles(state)
        boxed, compat = game.settings["rules"] == "boxed", bool(game.settings["compat_scores"])
        self.table = sequence.Table(boxed, int(state["seats"]), compat, hands, display, deck)

    def legal(self) -> list[str]:
        return sorted(self.table.legal())

    def described(self) -> tuple[Any, ...]:
        table = self.table
        held = table.hands, table.display, table.deck, table.discards
        return table.rows(), held, table.scores, table.turn, table.traded, table.outcome()

    def play(self, name: str, after: np.void) -> None:
        table = self.table
        if after["reshuffles"] > table.reshuffles:
            drawn = after["hands"][table.turn, after["held"][table.turn] - 1]
            table.next_deck = [*piles(after)[2], cards.CARDS[drawn]]
        table.play(name)

    @staticmethod
    def of(game: pg.Game, state: np.void) -> tuple[Any, ...]:
        scores = state["sequences"][: int(state["seats"])].tolist()
        outcome = str(pg.Outcome(int(state["outcome"])))
        return rows(state), piles(state), scores, int(state["turn"]), bool(state["traded"]), outcome


def piles(state: np.void) -> tuple[list[list[str]], list[str], list[str], list[str]]:
    """The hands, the face-up cards, the deck and the discards, as names."""
    hands = [[cards.CARDS[card] for card in hand if card >= 0] for hand in state["hands"][: int(state["seats"])]]
    display, deck, discards = (
        [cards.CARDS[card] for card in state[pile] if card >= 0] for pile in ("display", "deck", "discards")
    )
    return hands, display, deck, discards


TWINS: dict[str, Any] = {
    "connect_four": ConnectFour,
    "chess": Chess,
    "chess:draws=automatic": Chess,
    "paco_sako": PacoSako,
    "sequence": SequenceTable,
    "sequence:seats=4": SequenceTable,
    "sequence:rules=boxed": SequenceTable,
    "sequence:rules=boxed,seats=4": SequenceTable,
    "sequence:compat_scores=true": SequenceTable,
}
"""game: the class of its twin"""


class Comparison:
    """Games of one kind side by side with their twins."""

    def __init__(self, word: str, seed: int, games: int = ROWS) -> None:
        self.word, self.game, self.twin = word, pg.load(word), TWINS[word]
        self.batch = pg.Batch(self.game, games, seed)
        self.twins = [self.twin(self.game, state) for state in self.batch.states]
        self.seed, self.games, self.plies = seed, 0, 0

    def play(self, deadline: Deadline) -> Iterator[str]:
        """ROUND plies of every game, or fewer where the time ends; yields what differs."""
        for _ in range(ROUND):
            lists, counts = self.batch.legal_list()
            actions, names = self.batch.random_actions(), list[str]()
            before = self.batch.states.copy()
            for state, twin, legal, action in zip(before, self.twins, lists, actions, strict=True):
                names.append(self.game.rules.action_name(state, int(action)))
                yield from self._differences(state, twin, legal[: counts[len(names) - 1]].tolist())
                if self.twin is Chess:
                    written = san(state, int(action), legal[legal >= 0].tolist())
                    if written != twin.notation(names[-1]):
                        yield f"{self.word}: {names[-1]} is {twin.notation(names[-1])}, not {written}"
            step = self.batch.step(actions)
            for row, name in enumerate(names):
                self._follow(row, name)
                if step.terminated[row]:
                    yield from self._differences(self.batch.next_states[row], self.twins[row], [])
                    self.twins[row] = self.twin(self.game, self.batch.states[row])
                    self.games += 1
            self.plies += len(names)
            if deadline.over():
                return

    def _follow(self, row: int, name: str) -> None:
        self.twins[row].play(name, self.batch.next_states[row])

    def _differences(self, state: np.void, twin: Any, legal: Sequence[int]) -> Iterator[str]:
        ours, theirs = self.twin.of(self.game, state), twin.described()
        if ours != theirs:
            yield f"{self.word} (seed {self.seed}): {ours} is {theirs} for the twin"
        names = sorted(self.game.rules.action_name(state, action) for action in legal)
        if names != twin.legal():
            odd = sorted(set(names) ^ set(twin.legal()))
            yield f"{self.word} (seed {self.seed}): in {self.game.rules.text(state)!r} only one side has {odd}"


def run(seed: int, seconds: float) -> Report:
    """Compare all games, in turns of equal time, until the time is over or too much differs."""
    deadline, findings = Deadline(seconds), list[str]()
    comparisons = [Comparison(word, seed, 4 if seconds < 60 else ROWS) for word in TWINS]
    spent = dict.fromkeys(TWINS, 0.0)
    while not findings and (not deadline.over() or 0.0 in spent.values()):
        turn = min(comparisons, key=lambda each: spent[each.word])
        begun = deadline.passed
        findings += itertools.islice(turn.play(deadline), MOST_FINDINGS)
        spent[turn.word] += max(deadline.passed - begun, 1e-9)
    figures = {f"games of {each.word}": float(each.games) for each in comparisons}
    figures |= {f"plies of {each.word}": float(each.plies) for each in comparisons}
    return Report("games", sum(each.plies for each in comparisons), findings, deadline.passed, figures)
