"""A batch of tensors plays the games of a batch of arrays, on either device; `test_games.py` tests a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import JIT, ROOT, TESTS
from plyground.agents.registry import make
from plyground.backend.device import SIMULATED
from plyground.games.rng import draw

STEPS = 60 if JIT else 6
PIG = str(TESTS / "tiny_games" / "pig.py")


def same(array: Any, tensor: torch.Tensor) -> bool:
    """Whether they hold the same bytes, of the same type and shape; records are rows of bytes."""
    if array.dtype.names:
        array = array.view(np.uint8).reshape(*array.shape, array.dtype.itemsize)
    found = tensor.cpu().numpy()
    return array.dtype == found.dtype and array.shape == found.shape and array.tobytes() == found.tobytes()


def assert_same_games(arrays: pg.Batch, tensors: pg.Batch) -> None:
    for name in ("states", "next_states", "rngs", "plies", "to_move"):
        assert same(getattr(arrays, name), getattr(tensors, name)), name


def test_a_batch_on_the_cpu_plays_the_games_of_arrays(game: pg.Game) -> None:
    arrays, tensors = pg.Batch(game, 9, seed=3, max_plies=25), pg.Batch(game, 9, seed=3, max_plies=25, device="cpu")
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
    begins, plies = np.arange(9) % 2 == 0, (np.arange(9) % 4).astype(np.int32)
    arrays.begin_games(begins, plies)
    tensors.begin_games(torch.from_numpy(begins), torch.from_numpy(plies))
    assert_same_games(arrays, tensors)
    assert not arrays.plies[begins].any()


@pytest.mark.parametrize("name", ["seats", "heads", "evaluate", "transform", "ask", "find_illegal", "encode", "expand"])
def test_what_learners_ask_of_a_game_is_the_same_of_arrays(name: str) -> None:
    game = pg.load("chess")
    arrays, tensors = pg.Batch(game, 7, seed=4), pg.TensorBatch(game, 7, 4)
    arrays.random_play(9)
    tensors.random_play(9)
    assert_same_games(arrays, tensors)
    found: list[Any] = []
    for batch, as_its_own in ((arrays, np.asarray), (tensors, torch.as_tensor)):
        on, states = batch.on, batch.on.from_records(batch.on.to_records(batch.states))
        chosen, where = as_its_own(np.full(7, -1, np.int32)), as_its_own(np.arange(7) % 3 == 0)
        if name == "transform":
            on.transform(states, as_its_own(np.zeros(7, np.int32)))
            found.append(states)
        elif name == "ask":
            batch.ask(make("random", game).act, batch.rngs, where, chosen)
            assert (chosen[where] >= 0).all()
            assert (chosen[~where] == -1).all()
            found.append(chosen)
        elif name == "find_illegal":
            chosen[:5] = batch.random_actions()[:5]
            found.append(on.find_illegal(states, chosen))
            assert found[-1].tolist() == [5]
        elif name == "encode":
            found.append(batch.encode("planes", dtype=on.on.dtype(np.float64)))
            assert (found[-1].dtype, found[-1].shape) == (on.on.dtype(np.float64), (7, 20, 8, 8))
            room = on.zeros((7, 20, 8, 8), np.float64)
            assert batch.encode("planes", out=room, dtype=room.dtype) is room
            assert (room == found[-1]).all()
        elif name == "expand":
            found.append(on.expand("index", batch.encode("index")))
            assert (found[-1] == batch.encode("planes")).all()
        else:
            found.append(getattr(on, name)(states))
    assert same(*found)


def test_arrays_need_no_torch() -> None:
    """All that a compiled learner needs, in a process that cannot import torch."""
    code = """
import sys
sys.modules["torch"] = None
import numpy as np
import plyground as pg
for word in ("connect_four", "sequence"):
    game = pg.load(word)
    batch = pg.Batch(game, 5, seed=1, max_plies=40)
    batch.begin_games(np.ones(5, np.bool_), np.arange(5, dtype=np.int32))
    for _ in range(3):
        actions = batch.legal_list()[0][:, 0].copy()
        first = lambda states, rngs: game.legal_mask(states).argmax(1).astype(np.int32)
        batch.ask(first, batch.rngs, actions > 2, actions)
        batch.step(actions)
    batch.step(batch.random_actions())
    batch.random_play(9)
    batch.encode("", dtype=np.float16), batch.legal_mask(), batch.position(0), batch.reset()
    game.arrays.heads(batch.next_states), game.arrays.seats(batch.states)
print(pg.Batch("connect_four", 1).perft(3))
try:
    pg.Batch("connect_four", 1, device="cpu")
except ImportError:
    print("torch is missing")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[343]", "torch is missing"], done.stderr[-2000:]


def test_a_batch_says_where_its_arrays_are(connect_four: pg.Game) -> None:
    assert repr(pg.TensorBatch(connect_four, 2)).startswith("<2 games of connect_four on cpu: 7 actions")
    assert (pg.Batch(connect_four, 2).device, str(pg.TensorBatch(connect_four, 2).device)) == ("cpu", "cpu")
    assert pg.TensorBatch(connect_four, 2).on is pg.Batch(connect_four, 3, device="cpu").on


def test_several_threads_play_the_same_games(connect_four: pg.Game) -> None:
    batches = [pg.Batch(connect_four, 20_000, seed=1, threads=threads, device="cpu") for threads in (1, 2)]
    for _ in range(9 if JIT else 1):
        for batch in batches:
            batch.step(batch.random_actions())
    assert torch.equal(batches[0].states, batches[1].states)
    assert torch.equal(batches[0].legal_mask(), batches[1].legal_mask())


def test_tensors_and_records_share_their_memory(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 3, device="cpu")
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
    batch = pg.Batch(connect_four, 50, seed=2, device="cpu")
    for _ in range(30):
        batch.step(batch.random_actions())
        for rows in (batch.states, batch.next_states, batch.on.heads(batch.states)):
            assert not rows[:, 19:].any()


def test_games_begin_after_random_plies(game: pg.Game, device: str) -> None:
    n = 4 if SIMULATED else 40
    batch = pg.Batch(game, n, seed=5, device=device)
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
    fresh = pg.Batch(game, n, device=device)
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


@pytest.mark.parametrize("word", ["connect_four", "chess", "sequence", PIG])
def test_children_are_the_same_of_arrays_and_tensors(word: str) -> None:
    arrays, tensors = pg.Batch(word, 5, seed=3), pg.Batch(word, 5, seed=3, device="cpu")
    for _ in range(2):
        actions, counts = arrays.legal_list()
        children, found = arrays.children(actions), tensors.children(tensors.legal_list()[0])
        assert same(children, found)
        assert_same_games(arrays, tensors)
        assert same(arrays.redraw_rngs, tensors.redraw_rngs)
        name = next(iter(arrays.game.encoders))
        flat = found[torch.from_numpy(actions >= 0)]  # [M, bytes]
        assert len(flat) == counts.sum()
        assert same(arrays.encode(name, children[actions >= 0]), tensors.encode(name, flat))
        most = int(counts.max())
        assert same(arrays.children(actions[:, :most]), tensors.children(torch.from_numpy(actions)[:, :most]))
        arrays.random_play(7)
        tensors.random_play(7)
    with pytest.raises(pg.IllegalAction, match="row 3: 9999 is not legal"):
        tensors.children(torch.where(torch.arange(5) == 3, 9999, -1)[:, None].int())


def test_an_agent_that_acts_on_records_is_asked_in_some_rows(connect_four: pg.Game, device: str) -> None:
    batch, agent = pg.Batch(connect_four, 6, seed=3, device=device), make("random", connect_four)
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
        pg.Batch(connect_four, 2, device="tpu")
    wrong: list[dict[str, Any]] = [{"n": 0}, {"n": 2, "max_plies": 0}, {"n": 2, "threads": -1}]
    for sizes in wrong:
        with pytest.raises(pg.InvalidValue, match="at least"):
            pg.Batch(connect_four, **sizes, device="cpu")
    batch = pg.Batch(connect_four, 4, device="cpu")
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
    batch = pg.Batch(pg.load(str(steady_path / "mine.py")), 2, device="cpu")
    assert batch.perft(3).tolist() == [504, 504]
