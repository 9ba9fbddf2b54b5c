"""A batch of tensors plays the games of a batch of arrays, on either device; `test_games.py` tests a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import JIT, ROOT
from plyground.agents.agent import make
from plyground.backend.device import SIMULATED
from plyground.games.rng import draw

STEPS = 60 if JIT else 6


def same(array: Any, tensor: torch.Tensor) -> bool:
    """Whether they hold the same bytes, of the same type and shape; records are rows of bytes."""
    if array.dtype.names:
        array = array.view(np.uint8).reshape(len(array), array.dtype.itemsize)
    found = tensor.cpu().numpy()
    return array.dtype == found.dtype and array.shape == found.shape and array.tobytes() == found.tobytes()


def assert_same_games(arrays: pg.Batch, tensors: pg.TensorBatch) -> None:
    for name in ("states", "next_states", "rngs", "plies", "to_move"):
        assert same(getattr(arrays, name), getattr(tensors, name)), name


def test_a_batch_on_the_cpu_plays_the_games_of_arrays(game: pg.Game) -> None:
    arrays, tensors = pg.Batch(game, 9, seed=3, max_plies=25), pg.TensorBatch(game, 9, seed=3, max_plies=25)
    ended = 0
    assert_same_games(arrays, tensors)
    for _ in range(STEPS):
        actions, drawn = arrays.random_actions(), tensors.random_actions()
        assert same(actions, drawn)
        for expected, found in zip(arrays.step(actions), tensors.step(drawn), strict=True):
            assert same(expected, found)
            ended += expected.astype(bool).sum()
        assert_same_games(arrays, tensors)
    assert ended or not JIT
    for records, rows in ((arrays.states, tensors.states), (arrays.next_states, tensors.next_states)):
        assert same(arrays.legal_mask(records), tensors.legal_mask(rows))
        assert all(map(same, arrays.legal_list(records), tensors.legal_list(rows)))
    for encoder in list(dict.fromkeys(map(str, game.encoders.values())))[:3]:
        assert same(arrays.encode(encoder), tensors.encode(encoder)), encoder
        assert same(arrays.encode(encoder, seat=1), tensors.encode(encoder, seat=1)), encoder
    assert same(arrays.random_play(5), tensors.random_play(5))
    assert_same_games(arrays, tensors)


def test_several_threads_play_the_same_games(connect_four: pg.Game) -> None:
    batches = [pg.TensorBatch(connect_four, 20_000, seed=1, threads=threads) for threads in (1, 2)]
    for _ in range(9 if JIT else 1):
        for batch in batches:
            batch.step(batch.random_actions())
    assert torch.equal(batches[0].states, batches[1].states)
    assert torch.equal(batches[0].legal_mask(), batches[1].legal_mask())


def test_tensors_and_records_share_their_memory(connect_four: pg.Game) -> None:
    batch = pg.TensorBatch(connect_four, 3)
    records = batch.on.to_records(batch.states)
    batch.step([0, 1, 2])
    assert records["ply"].tolist() == [1, 1, 1]
    records["ply"][1] = 5
    assert batch.on.field(batch.states, "ply").tolist() == [1, 5, 1]
    assert np.shares_memory(batch.on.records(batch.on.rows(batch.states)), batch.states.numpy())
    copy = batch.on.from_records(records)
    records["ply"][1] = 6
    assert batch.on.field(copy, "ply").tolist() == [1, 5, 1]


def test_gaps_of_a_record_stay_zero(connect_four: pg.Game) -> None:
    """Connect Four's record has 19 bytes of fields in 24."""
    batch = pg.TensorBatch(connect_four, 50, seed=2)
    for _ in range(30):
        batch.step(batch.random_actions())
        for rows in (batch.states, batch.next_states, batch.on.heads(batch.states)):
            assert not rows[:, 19:].any()


def test_games_begin_after_random_plies(game: pg.Game, device: str) -> None:
    n = 4 if SIMULATED else 40
    batch = pg.TensorBatch(game, n, seed=5, device=device)
    batch.random_play(3)
    states, rngs = batch.states.clone(), batch.rngs.cpu().numpy().copy()
    begins = torch.arange(n, device=batch.device) % 2 == 0
    plies = (torch.arange(n, device=batch.device) % 3).int()
    batch.plies.fill_(77)
    batch.begin_games(begins, plies)
    assert torch.equal(batch.states[1::2], states[1::2])
    assert (batch.rngs.cpu().numpy()[1::2] == rngs[1::2]).all()
    assert batch.plies.tolist() == [0, 77] * (n // 2)
    assert not batch.on.field(batch.states, "outcome")[::2].any(), "every game goes on"
    fresh = pg.TensorBatch(game, n, device=device)
    fresh.rngs.copy_(torch.from_numpy(rngs))
    fresh.reset()
    expected = fresh.states.clone()
    for row in range(0, n, 2):  # the same plies one by one, where no opening ended
        played = pg.Position(game, fresh.on.to_records(expected[row : row + 1]).copy())
        played.rngs = fresh.rngs[row : row + 1].cpu().numpy().copy()
        for _ in range(int(plies[row])):
            legal = played.legal()
            if not legal:
                break
            played = played.play(legal[int(draw(played.rngs, np.array([len(legal)]))[0])])
        if not played.over:
            assert played == batch.position(row)
            assert played.rngs[0] == batch.position(row).rngs[0]


def test_an_agent_that_acts_on_records_is_asked_in_some_rows(connect_four: pg.Game, device: str) -> None:
    batch, agent = pg.TensorBatch(connect_four, 6, seed=3, device=device), make("random", connect_four)
    batch.random_play(5)
    records, before = batch.on.to_records(batch.states).copy(), batch.rngs.cpu().numpy().copy()
    where = torch.tensor([True, False, True, True, False, False], device=batch.device)
    actions = torch.full((6,), -1, dtype=torch.int32, device=batch.device)
    generators = batch.rngs.clone()
    batch.ask(agent.act, generators, where, actions)
    own = before[[0, 2, 3]].copy()
    assert actions[where].tolist() == agent.act(records[[0, 2, 3]], own).tolist()
    assert actions[~where].tolist() == [-1, -1, -1]
    assert generators.cpu().numpy().tolist() == [own[0], before[1], own[1], own[2], before[4], before[5]]
    assert batch.rngs.cpu().numpy().tolist() == before.tolist(), "those that decide the games are nobody's to draw from"
    batch.ask(lambda *_: pytest.fail("no row is set"), generators, torch.zeros_like(where), actions)


def test_what_cannot_be_is_refused(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match="no device 'tpu'; known: cpu, cuda"):
        pg.TensorBatch(connect_four, 2, device="tpu")
    wrong: list[dict[str, Any]] = [{"n": 0}, {"n": 2, "max_plies": 0}, {"n": 2, "threads": -1}]
    for sizes in wrong:
        with pytest.raises(pg.InvalidValue, match="at least"):
            pg.TensorBatch(connect_four, **sizes)
    batch = pg.TensorBatch(connect_four, 4)
    with pytest.raises(pg.InvalidValue, match="reads rows of its own records as bytes on cpu, not"):
        batch.legal_mask(torch.zeros((4, 5), dtype=torch.uint8))
    with pytest.raises(pg.InvalidValue, match=r"`out` is a contiguous torch.bool of shape \(4, 7\) on cpu"):
        batch.legal_mask(out=torch.empty((4, 6), dtype=torch.bool))
    with pytest.raises(pg.InvalidValue, match="rows 0 to 3, not 4"):
        batch.position(4)
    with pytest.raises(pg.IllegalAction, match="row 2: 7 is not legal"):
        batch.step([1, 1, 7, 1])
    with pytest.raises(pg.InvalidValue, match="a step takes 4 whole numbers"):
        batch.step(torch.zeros(4))
    assert batch.plies.tolist() == [0, 0, 0, 0]


def test_a_file_of_ones_own_is_played_too(steady_path: Path) -> None:
    (steady_path / "mine.py").write_text((ROOT / "examples" / "three_in_a_row.py").read_text())
    batch = pg.TensorBatch(pg.load(str(steady_path / "mine.py")), 2)
    assert batch.perft(3).tolist() == [504, 504]
