"""The laws of `games/interface.py`, run on any game: `plyground check my_game.py`, and our own tests.

Each law is a function of samples from random games, its docstring the law in a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import NDArray

from plyground.batch import Batch
from plyground.errors import BrokenGame, Error
from plyground.game import Game
from plyground.games import chance
from plyground.games.interface import RUNNING, SECOND_WINS, value_for
from plyground.position import Position

Records = NDArray[np.void]


@dataclass(frozen=True)
class Sample:
    """Random games of one kind, state by state: `after[i]` is where `actions[i]` led from `states[i]`."""

    game: Game
    states: Records  # [N] running
    actions: NDArray[np.int32]  # [N]
    after: Records  # [N] running or over
    rewards: NDArray[np.float32]  # [N]

    @property
    def every(self) -> Records:
        """[2 N] all states, running or over."""
        return np.concatenate([self.states, self.after])


def sample(game: Game, games: int = 64, seed: int = 0) -> Sample:
    """Play random games to their ends, and keep everything on the way."""
    batch = Batch(game, games, seed, check=False)  # the laws look themselves
    kernels, work = game.kernels(), game.work()
    parts: list[tuple[Records, NDArray[np.int32], Records, NDArray[np.float32]]] = []
    going = np.ones(games, np.bool_)
    for _ in range(game.rules.MAX_PLIES):
        states, actions, rngs = batch.states.copy(), batch.random_actions(), batch.rngs.copy()
        _need(bool((actions >= 0).all()), game, "a running game has no legal action", states[actions < 0])
        after = states.copy()
        kernels.play_all(after, actions, rngs, work)  # `batch.after` has only heads
        step = batch.step(actions)
        parts.append((states[going], actions[going], after[going], step.rewards[going]))
        going &= ~step.terminated
        if not going.any():
            return Sample(game, *(np.concatenate(column) for column in zip(*parts, strict=True)))
    raise BrokenGame(f"{game}: a random game still runs after MAX_PLIES = {game.rules.MAX_PLIES} plies")


def check(game: Game, games: int = 64, seed: int = 0) -> Iterator[str]:
    """Run every law; yields the sentence of each that holds, raises `BrokenGame` at the first that does not."""
    samples = sample(game, games, seed)
    for law in LAWS:
        law(samples)
        yield (law.__doc__ or "").strip()


# ---- the laws ----


def legal_lists(s: Sample) -> None:
    """`legal` lists at least one action while the game runs, none when it is over, ascending and in range."""
    actions, counts = Batch(s.game, 1).legal_list(s.every)
    over = s.every["outcome"] != RUNNING
    _need(
        bool((counts[over] == 0).all()),
        s.game,
        "`legal` finds actions in a finished game",
        s.every[over & (counts > 0)],
    )
    _need(bool((counts[~over] > 0).all()), s.game, "no legal action in a running game", s.every[~over & (counts == 0)])
    for row, count in zip(actions, counts, strict=True):
        legal = row[:count]
        fine = (np.diff(legal) > 0).all() and (legal >= 0).all() and (legal < s.game.num_actions).all()
        _need(bool(fine), s.game, f"`legal` is not ascending within 0 .. {s.game.num_actions - 1}: {legal}")


def masks(s: Sample) -> None:
    """The legal mask says the same as the legal list."""
    actions, counts = Batch(s.game, 1).legal_list(s.every)
    rows = np.repeat(np.arange(len(counts)), counts)
    expected = np.zeros((len(counts), s.game.num_actions), np.bool_)
    expected[rows, actions[actions >= 0]] = True
    _need(bool((expected == s.game.legal_mask(s.every)).all()), s.game, "mask and list differ")


def fields(s: Sample) -> None:
    """`to_move` is 0 or 1, `outcome` one of four, and the seat that acts is on the side to move."""
    side, outcome = s.every["to_move"], s.every["outcome"]
    _need(bool(np.isin(side, (0, 1)).all()), s.game, f"`to_move` takes the values {np.unique(side)}")
    _need(
        bool((outcome >= RUNNING).all() and (outcome <= SECOND_WINS).all()),
        s.game,
        f"`outcome` is {np.unique(outcome)}",
    )
    seats = np.empty(len(s.states), np.int32)
    s.game.kernels().seats_to_act(s.states, seats)
    fine = (seats % 2 == s.states["to_move"]).all() and (seats >= 0).all() and (seats < s.game.rules.SEATS).all()
    _need(bool(fine), s.game, "the seat to act is not of the side to move")


def rewards(s: Sample) -> None:
    """A step's reward is +1, -1 or 0 as the outcome is for the side that acted."""
    expected = [value_for(int(o), int(side)) for o, side in zip(s.after["outcome"], s.states["to_move"], strict=True)]
    _need(bool((s.rewards == expected).all()), s.game, "a step's reward is not the acting side's")


def texts(s: Sample) -> None:
    """A state's text reads back as an equal state in which nothing is wrong; reading changes no setting."""
    for state in _some(s.every):
        position = Position(s.game, state)
        try:
            again = s.game.position(position.text)
        except Error as error:
            raise BrokenGame(f"{s.game}: its own text {position.text!r} is refused: {error}") from error
        _need(
            again == position, s.game, f"the text {position.text!r} reads back as {again.text!r}, or as another state"
        )


def names(s: Sample) -> None:
    """Different legal actions of a state have different names, and each name finds its action."""
    for state in _some(s.states):
        position = Position(s.game, state)
        found = [position.action(name) for name in position.names()]
        _need(found == position.legal(), s.game, f"names that do not tell actions apart: {position.names()}", state)


def fresh_start(s: Sample) -> None:
    """`reset` gives a running game whatever was there before, and keeps the settings."""
    states = s.every.copy()
    s.game.kernels().reset_all(states, s.game.blank, chance.seeds(1, len(states)))
    _need(bool((states["outcome"] == RUNNING).all()), s.game, "a fresh game is not running")
    for name in s.game.rules.SETTINGS:
        _need(bool((states[name] == s.game.blank[name]).all()), s.game, f"`reset` changes the setting {name}")


def chance_is_declared(s: Sample) -> None:
    """Unless CHANCE is set, neither `reset` nor `play` depends on the generator."""
    if not s.game.rules.CHANCE:
        kernels, n = s.game.kernels(), len(s.states)
        for seed in (1, 2):
            again = s.states.copy()
            kernels.play_all(again, s.actions, chance.seeds(seed, n), s.game.work())
            _need(_equal(s.game, again, s.after), s.game, "`play` draws from `rng`, but CHANCE is not set")


def rows_are_alone(s: Sample) -> None:
    """A game's course depends on its seed alone: not on its neighbours, nor on the number of threads."""
    whole = Batch(s.game, 40, seed=3, threads=1)
    whole.random_play(20)
    part = Batch(s.game, 7, seed=3)
    part.random_play(20)
    _need(_equal(s.game, whole.states[:7], part.states), s.game, "a game's course depends on the other games")


def heads_suffice(s: Sample) -> None:
    """`legal`, `text` and every encoder read nothing but the HEAD of a state."""
    rules, heads = s.game.rules, s.game.heads(s.every)
    if rules.HEAD == rules.STATE:
        return
    try:
        same = np.array_equal(s.game.legal_mask(heads), s.game.legal_mask(s.every))
        _need(same, s.game, "`legal` reads beyond HEAD")
        for name in s.game.encoders:
            same = np.array_equal(s.game.encode(name, heads), s.game.encode(name, s.every))
            _need(same, s.game, f"the encoder {name} reads beyond HEAD")
        for state, head in zip(_some(s.every), _some(heads), strict=True):
            _need(rules.text(state[0]) == rules.text(head[0]), s.game, "`text` reads beyond HEAD")
    except (NumbaError, ValueError) as error:  # the compiler, or numpy, finds no such field
        raise BrokenGame(f"{s.game}: `legal`, `text` or an encoder reads beyond HEAD: {error}") from error


def encoders_fill(s: Sample) -> None:
    """Every encoder writes each of its numbers, all finite, for every seat."""
    for name, encoder in s.game.encoders.items():
        for seat in range(s.game.rules.SEATS):
            outs = [np.full((len(s.every), *encoder.shape), old, encoder.dtype) for old in (0, 77)]
            for out in outs:
                s.game.encode(name, s.every, seat, out)
            _need(np.array_equal(outs[0], outs[1]), s.game, f"the encoder {name} leaves some numbers unwritten")
            _need(bool(np.isfinite(outs[0]).all()), s.game, f"the encoder {name} writes numbers that are not finite")


def secrets_are_kept(s: Sample) -> None:
    """`determinize` for a seat changes nothing that the seat may do or that an encoder shows it."""
    rules, kernels = s.game.rules, s.game.kernels()
    n = len(s.states)
    acting = np.empty(n, np.int32)
    kernels.seats_to_act(s.states, acting)
    for seat in range(rules.SEATS):
        other = s.states.copy()
        kernels.determinize_all(other, np.full(n, seat, np.int32), chance.seeds(5, n))
        for name in s.game.encoders:
            same = np.array_equal(s.game.encode(name, other, seat), s.game.encode(name, s.states, seat))
            _need(same, s.game, f"the encoder {name} shows seat {seat} what it cannot know")
        mine = acting == seat
        same = np.array_equal(s.game.legal_mask(other)[mine], s.game.legal_mask(s.states)[mine])
        _need(same, s.game, f"redrawing what seat {seat} cannot see changes what it may do")
        _need(rules.hidden or _equal(s.game, other, s.states), s.game, "`determinize` changes a game without secrets")
        for state in _some(other):
            wrong = rules.problems(state[0])
            _need(not wrong, s.game, f"`determinize` makes an impossible state: {wrong}", state)


def judgement(s: Sample) -> None:
    """`evaluate` lies in [-1, 1]."""
    if "evaluate" in s.game.rules.compiled:
        values = np.empty(len(s.states), np.float32)
        s.game.kernels("evaluate").evaluate_all(s.states, values)
        _need(bool((np.abs(values) <= 1).all()), s.game, f"`evaluate` gives {values.min()} to {values.max()}")


def symmetries(s: Sample) -> None:
    """Playing and transforming commute, and a transformed state has the transformed actions; k = 0 is the identity."""
    game, n = s.game, len(s.states)
    kernels = game.kernels()
    for k in range(game.rules.SYMMETRIES):
        which = np.full(n, k, np.int32)
        before, after = s.states.copy(), s.after.copy()
        kernels.transform_all(before, which)
        kernels.transform_all(after, which)
        _need(k > 0 or _equal(game, before, s.states), game, "symmetry 0 is not the identity")
        mapped = [_transform_action(game, action, k) for action in range(game.num_actions)]
        _need(sorted(mapped) == list(range(game.num_actions)), game, f"symmetry {k} is no permutation of the actions")
        same = np.array_equal(game.legal_mask(before)[:, mapped], game.legal_mask(s.states))
        _need(same, game, f"symmetry {k} changes what is legal")
        played = np.array([mapped[action] for action in s.actions], np.int32)
        kernels.play_all(before, played, chance.seeds(0, n), game.work())
        _need(game.rules.CHANCE or _equal(game, before, after), game, f"symmetry {k} and playing do not commute")


LAWS: tuple[Callable[[Sample], None], ...] = (
    *(legal_lists, masks, fields, rewards, texts, names, fresh_start, chance_is_declared, rows_are_alone),
    *(heads_suffice, encoders_fill, secrets_are_kept, judgement, symmetries),
)


# ---- helpers ----


def _need(holds: bool, game: Game, message: str, states: Any = ()) -> None:
    """Raise `BrokenGame` unless it holds; shows the first of the states where it does not."""
    if not holds:
        where = f" in {game.rules.text(np.atleast_1d(states)[0])!r}" if len(states) else ""
        raise BrokenGame(f"{game}: {message}{where}")


def _some(states: Records, most: int = 500) -> Iterator[Records]:
    """Single states [1], evenly spread, as copies."""
    for row in np.unique(np.linspace(0, len(states) - 1, most).astype(int)):
        yield states[row : row + 1].copy()


def _equal(game: Game, one: Records, other: Records) -> bool:
    """Equal in every field (padding bytes between fields mean nothing)."""
    return all(np.array_equal(one[name], other[name]) for name in game.rules.STATE.names or ())


def _transform_action(game: Game, action: int, symmetry: int) -> int:
    transform = game.rules.compiled.get("transform_action")
    return action if transform is None else int(transform(action, symmetry))
