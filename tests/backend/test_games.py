"""A game's functions on a GPU give the results of the CPU, bit for bit.

Without a GPU these tests skip here, and `test_device.py` runs them with numba's simulation in its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import ROOT
from noise import noise
from plyground.backend.device import SIMULATED, TORCH_CUDA, problem

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(problem()), reason=f"needs a GPU: {problem()}")]

ROWS, STEPS, PLIES = (5, 4, 12) if SIMULATED else (3000, 150, 400)


def same(array: Any, tensor: torch.Tensor) -> bool:
    """Whether they hold the same numbers, of the same type and shape."""
    found = tensor.cpu().numpy()
    return array.dtype == found.dtype and array.shape == found.shape and array.tobytes() == found.tobytes()


def encoders(game: pg.Game) -> list[str]:
    """All of them, by name; where there are many sets of options, every fifth."""
    names = list(dict.fromkeys(map(str, game.encoders.values())))
    return names[::5] if len(names) > 10 else names


def both(game: pg.Game, **options: Any) -> tuple[pg.Batch, pg.Batch]:
    return pg.Batch(game, ROWS, seed=3, **options), pg.Batch(game, ROWS, seed=3, device="cuda", **options)


def assert_same_games(cpu: pg.Batch, gpu: pg.Batch) -> None:
    assert same(cpu.states.view(np.uint8).reshape(len(cpu), -1), gpu.states)
    assert same(cpu.next_states.view(np.uint8).reshape(len(cpu), -1), gpu.next_states)  # the gaps of a record too
    assert same(cpu.rngs, gpu.rngs)
    assert same(cpu.plies, gpu.plies)
    assert same(cpu.to_move, gpu.to_move)


def test_steps_lists_and_masks_are_the_same(game: pg.Game) -> None:
    cpu, gpu = both(game, max_plies=50)
    assert_same_games(cpu, gpu)
    ended = 0
    for _ in range(STEPS):
        actions, drawn = cpu.random_actions(), gpu.random_actions()
        assert same(actions, drawn)
        for expected, found in zip(cpu.step(actions), gpu.step(drawn), strict=True):
            assert same(expected, found)
            ended += expected.astype(bool).sum()
        assert_same_games(cpu, gpu)
    assert ended or SIMULATED
    for records, rows in ((cpu.states, gpu.states), (cpu.next_states, gpu.next_states)):
        assert same(cpu.legal_mask(records), gpu.legal_mask(rows))
        assert all(map(same, cpu.legal_list(records), gpu.legal_list(rows)))


def test_children_are_the_same(game: pg.Game) -> None:
    cpu, gpu = both(game)
    cpu.random_play(PLIES)
    gpu.random_play(PLIES)
    for _ in range(2):  # the second from other redraws
        actions, rows = cpu.legal_list()[0][:, :20], gpu.legal_list()[0][:, :20]
        children = cpu.children(actions)
        assert same(children.view(np.uint8).reshape(*actions.shape, -1), gpu.children(rows))
        assert same(cpu.redraw_rngs, gpu.redraw_rngs)
        assert_same_games(cpu, gpu)


def test_every_encoder_writes_the_same(game: pg.Game) -> None:
    cpu, gpu = both(game)
    cpu.random_play(PLIES)
    gpu.random_play(PLIES)
    for name in encoders(game):
        assert same(cpu.encode(name), gpu.encode(name)), name
        assert same(cpu.encode(name, cpu.next_states), gpu.encode(name, gpu.next_states)), name
        assert same(cpu.encode(name, seat=1), gpu.encode(name, seat=1)), name


def test_some_of_the_rows_encode_like_all(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, ROWS, device="cuda")
    batch.random_play(7)
    some = batch.states[::3]
    assert torch.equal(batch.encode("planes", some), batch.encode("planes")[::3])
    assert torch.equal(batch.legal_mask(some), batch.legal_mask()[::3])
    assert all(torch.equal(a, b[::3]) for a, b in zip(batch.legal_list(some), batch.legal_list(), strict=True))
    out = torch.empty((ROWS + 1, 6, 7), dtype=torch.int8, device=TORCH_CUDA)[1:]  # begins between words
    assert torch.equal(batch.encode("board", out=out), batch.encode("board"))
    half = torch.zeros((ROWS, *batch.encode("planes").shape[1:]), dtype=torch.float16, device=TORCH_CUDA)
    assert batch.encode("planes", out=half, dtype=torch.float16) is half
    assert torch.equal(half.float(), batch.encode("planes"))


def test_a_head_of_any_size(tmp_path: Path) -> None:
    """Eleven bytes, of a record that is copied in words of eight."""
    source = (ROOT / "examples" / "three_in_a_row.py").read_text()
    lines = source.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("STATE"))
    head = lines[place].replace("STATE", "HEAD")
    lines[place : place + 1] = [
        head,
        lines[place].replace('("outcome", np.int8)', '("outcome", np.int8), ("more", np.int64)'),
    ]
    (tmp_path / "padded.py").write_text("\n".join(lines))
    cpu, gpu = both(pg.load(str(tmp_path / "padded.py")))
    assert (cpu.game.rules.HEAD.itemsize, cpu.game.rules.STATE.alignment) == (11, 8)
    for _ in range(6):
        cpu.step(cpu.random_actions())
        gpu.step(gpu.random_actions())
        assert_same_games(cpu, gpu)


@pytest.mark.parametrize("word", ["connect_four", "paco_sako"])
def test_bytes_do_not_depend_on_noise_in_memory(word: str) -> None:
    """Records that numpy copied, rows that torch copied, heads and the fields of both."""
    found = list[bytes]()
    for byte in (0xA5, 0x5A):
        with noise(byte):
            gpu = pg.Batch(pg.load(word), ROWS, seed=3, device="cuda")
            gpu.random_play(PLIES)
            rows = torch.arange(ROWS - 1, -1, -1, device=gpu.device)
            records = gpu.on.to_records(gpu.states[rows])
            copies = gpu.on.from_records(records[np.arange(ROWS) % 3 > 0])  # numpy copies field by field
            parts = (gpu.states[rows], gpu.next_states, gpu.on.heads(gpu.states), copies, gpu.on.heads(copies))
            found.append(b"".join(part.cpu().numpy().tobytes() for part in parts))
    assert found[0] == found[1]


def test_random_play_is_the_same(game: pg.Game) -> None:
    cpu, gpu = both(game)
    assert same(cpu.random_play(PLIES), gpu.random_play(PLIES))
    assert_same_games(cpu, gpu)
    gpu.reset()
    cpu.reset()
    assert_same_games(cpu, gpu)


@pytest.mark.parametrize(("word", "depth", "leaves"), [("connect_four", 5, 16807), ("chess", 3, 8902)])
def test_perft(word: str, depth: int, leaves: int) -> None:
    game = pg.load(word)
    if SIMULATED:
        depth, leaves = 2, {"connect_four": 49, "chess": 400}[word]
    assert pg.Batch(game, 2, device="cuda").perft(depth).tolist() == [leaves, leaves]
    cpu, gpu = both(game)
    cpu.random_play(5)
    gpu.random_play(5)
    assert same(cpu.perft(2), gpu.perft(2))
    with pytest.raises(pg.InvalidValue, match="0 to 64"):
        gpu.perft(65)


@pytest.mark.parametrize("word", ["chess", "paco_sako"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_indices_from_the_cpu_expand_on_the_gpu(word: str, dtype: torch.dtype) -> None:
    game = pg.load(word)
    cpu, gpu = both(game)
    cpu.random_play(PLIES)
    for encoder in map(game.encoder, encoders(game)):
        if encoder.spread is None:
            continue
        tokens = torch.from_numpy(cpu.encode(str(encoder)).astype(np.int16))
        expected = torch.from_numpy(cpu.encode(encoder.dense)).to(dtype)
        assert torch.equal(gpu.on.expand(str(encoder), tokens, dtype).cpu(), expected)
        between = torch.empty(expected.numel() + 1, dtype=dtype, device=TORCH_CUDA)[1:].view(expected.shape)  # words
        assert torch.equal(gpu.on.expand(str(encoder), tokens, dtype, between).cpu(), expected)


INDEX = """

@njit
def write_index(state: State, seat: int, out: NDArray[np.int16]) -> None:
    for cell in range(9):
        mark = state["cells"][cell]
        out[cell] = 0 if mark == 0 else 1 if mark == 1 + seat else 2


@njit
def spread(place: int, token: int, tokens: int) -> tuple[int, int, int]:
    return (token - 1) * tokens + place, 1 if token > 0 else 0, 100


ENCODERS += (Encoder("index", 1, (9,), np.int16, write_index, "marks", dense="planes-v1", spread=spread),)
"""


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rows_of_any_size_at_any_place_are_expanded(tmp_path: Path, dtype: torch.dtype) -> None:
    """Eighteen cells of two bytes are no whole words of eight, nor does every row begin at one."""
    (tmp_path / "marks.py").write_text((ROOT / "examples" / "three_in_a_row.py").read_text() + INDEX)
    cpu, gpu = both(pg.load(str(tmp_path / "marks.py")))
    cpu.random_play(5)
    tokens, expected = torch.from_numpy(cpu.encode("index")), torch.from_numpy(cpu.encode("planes")).to(dtype)
    assert torch.equal(gpu.on.expand("index", tokens, dtype).cpu(), expected)
    room = torch.full((2 + expected.numel(),), 0.5, dtype=dtype, device=TORCH_CUDA)
    gpu.on.expand("index", tokens, dtype, room[1:-1].view(expected.shape))
    assert torch.equal(room[1:-1].cpu(), expected.flatten())
    assert room[[0, -1]].tolist() == [0.5, 0.5], "nothing beside it is written"


def test_tokens_out_of_any_vocabulary_do_no_harm() -> None:
    game = pg.load("chess")
    gpu = pg.Batch(game, 1, device="cuda")
    tokens = torch.tensor([[-32768, -1, 32767, 839, 2000] * 8], dtype=torch.int16)
    found = gpu.on.expand("index", tokens)
    assert found.shape == (1, 20, 8, 8)
    assert ((found >= 0) & (found <= 1)).all()


def test_an_illegal_action_is_refused_and_nothing_is_played(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 4, device="cuda")
    for _ in range(6):
        batch.step([0, 0, 1, 3])
    before = batch.states.clone()
    with pytest.raises(pg.IllegalAction, match=r"row 1: 0 is not legal in .*; legal: 2, 3, 4, 5, 6, 7 \(numbers 1, 2"):
        batch.step([1, 0, 2, 2])
    for wrong in (-1, 7, 2**31 - 1, 2**40):
        with pytest.raises(pg.IllegalAction, match="row 3"):
            batch.step([1, 1, 2, wrong])
    for wrong in ([1, 2], [0.5, 1, 2, 3], torch.zeros(4), torch.zeros((4, 1), dtype=torch.int32)):
        with pytest.raises(pg.InvalidValue, match="a step takes 4 whole numbers"):
            batch.step(wrong)
    assert torch.equal(batch.states, before)
    batch.step(np.array([4, 2, 2, 1], ">i8")[::-1])  # however the numbers lie
    assert not torch.equal(batch.states, before)


def test_what_cannot_be_is_refused(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match=r"a batch of 1000000000000000 games of connect_four needs .* GB .* fit"):
        pg.Batch(connect_four, 10**15, device="cuda")
    batch = pg.Batch(connect_four, 4, device="cuda")
    with pytest.raises(pg.InvalidValue, match=r"`out` is a contiguous torch.bool of shape \(4, 7\)"):
        batch.legal_mask(out=torch.empty((4, 6), dtype=torch.bool, device=TORCH_CUDA))
    with pytest.raises(pg.InvalidValue, match="reads rows of its own records"):
        batch.legal_mask(torch.zeros((4, 5), dtype=torch.uint8, device=TORCH_CUDA))
    with pytest.raises(pg.InvalidValue, match="reads rows of its own records as bytes on cuda, not"):
        batch.legal_mask(connect_four.start().states)  # type: ignore[arg-type]
    if not SIMULATED:
        with pytest.raises(pg.InvalidValue, match=r"on cuda, not torch.uint8 .* on cpu"):
            batch.encode("planes", batch.states.cpu())
    with pytest.raises(pg.InvalidValue, match="seats 0 to 1, not 2"):
        batch.encode("planes", seat=2)
    with pytest.raises(pg.InvalidValue, match="nothing to expand"):
        batch.on.expand("planes", batch.encode("planes"))


def test_a_row_as_a_position(connect_four: pg.Game) -> None:
    cpu, gpu = both(connect_four)
    cpu.random_play(3)
    gpu.random_play(3)
    assert gpu.position(2) == cpu.position(2)
    assert gpu.position(2).rngs[0] == cpu.rngs[2]
    with pytest.raises(pg.InvalidValue, match="rows 0 to"):
        gpu.position(ROWS)
