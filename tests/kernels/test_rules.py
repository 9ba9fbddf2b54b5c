"""The loops of a game's rules against single positions."""

from __future__ import annotations

import numpy as np
import pytest

import plyground as pg
from conftest import JIT, ROOT
from plyground.games.rng import seeds
from plyground.kernels.arrays import Games

N = 20 if JIT else 4


def played(game: pg.Game, plies: int = 6) -> pg.Batch:
    batch = pg.Batch(game, N, seed=7)
    batch.random_play(plies)
    return batch


def test_legal_actions_are_those_of_each_position(game: pg.Game) -> None:
    batch = played(game)
    kernels, work, scratch = game.kernels(), game.work(), game.scratch()
    lists, counts = np.zeros((N, game.rules.MAX_LEGAL), np.int32), np.zeros(N, np.int32)
    masks = np.ones((N, game.num_actions), np.bool_)
    kernels.legal_lists(batch.states, lists, counts, work)
    kernels.legal_masks(batch.states, masks, work, scratch)
    backwards = np.arange(game.num_actions, dtype=np.int32)[::-1].copy()
    outputs, turned = np.stack([backwards] * game.rules.SEATS), np.zeros((N, game.num_actions - 1), np.bool_)
    kernels.mask_outputs(batch.states, turned, outputs, work)
    for row in range(N):
        legal = batch.position(row).legal()
        assert lists[row, : counts[row]].tolist() == legal
        assert (lists[row, counts[row] :] == -1).all()
        assert np.flatnonzero(masks[row]).tolist() == legal
        shown = [game.num_actions - 1 - action for action in reversed(legal) if action > 0]
        assert np.flatnonzero(turned[row]).tolist() == shown, "the last output is beyond the mask"
    assert kernels.first_illegal(batch.states, lists[:, 0].copy(), game.num_actions, work, scratch) == -1
    wrong = lists[:, 0].copy()
    wrong[2] = game.num_actions
    assert kernels.first_illegal(batch.states, wrong, game.num_actions, work, scratch) == 2


def opened(game: pg.Game, plies: int) -> Games:
    states, heads = np.zeros(N, game.rules.STATE), np.zeros(N, game.rules.HEAD)
    games = game.arrays.games(states, heads, seeds(3, N), np.full(N, 9, np.int32))
    begins, wanted = np.arange(N) % 2 == 0, np.full(N, plies, np.int32)
    game.kernels().open_games(games, begins, wanted, game.arrays.fresh, game.work())
    return games


def test_a_game_that_random_plies_always_end_begins_at_the_start() -> None:
    game = pg.load(str(ROOT / "examples" / "three_in_a_row.py"))
    games = opened(game, 9)
    assert (games.words[::2] == game.arrays.fresh).all()
    assert (games.words[1::2] == 0).all(), "other rows stay as they are"
    assert games.plies.tolist() == [0, 9] * (N // 2)


def test_an_opening_has_the_wanted_plies(connect_four: pg.Game) -> None:
    assert opened(connect_four, 5).states["ply"][::2].tolist() == [5] * (N // 2)


@pytest.mark.parametrize(("word", "leaves"), [("connect_four", 343), ("chess", 8902)])
def test_perft(word: str, leaves: int) -> None:
    depth = 3 if JIT else 2
    game = pg.load(word)
    assert game.perft(game.start().states, depth).tolist() == [leaves if JIT else {343: 49, 8902: 400}[leaves]]
