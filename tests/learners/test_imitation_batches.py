"""Examples: splits without leaks, and what a network is shown of them; losses and measures by hand."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

import plyground as pg
from plyground.agents.teacher import UNIT
from plyground.backend.view import View
from plyground.learners.imitation_batches import (
    Examples,
    action_values,
    held_out_of,
    in_weak_games,
    keep_held_out,
    learned,
    measures,
    policy_loss,
    read_examples,
    read_held_out,
    sharpened,
    split,
)
from plyground.runs.directory import trust_run
from plyground.runs.trust import Untrusted
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.dataset import convert
from plyground.teaching.lines import Lines

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "four.ndjson"
    config = Collect(game="connect_four", games=60, opening_plies=12, weak_games=0.0, threads=1, depth=2)
    collect(config, path, lambda *_: None)
    return path


def test_no_game_and_no_position_is_on_both_sides(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    examples = read_examples([data, data], [], Lines(connect_four), tmp_path / "x.bin", "stop")[
        0
    ]  # everything is there twice
    learn, held = split(examples, 0.2)
    assert 0.1 < len(held) / len(examples) < 0.3
    for name in ("game", "key"):
        assert not set(examples[name][learn]) & set(examples[name][held]), name
    with pytest.raises(pg.InvalidValue, match="cannot be split"):
        split(examples[:5], 0.2)


def test_single_positions_are_held_out_where_that_is_asked_for(
    data: Path, tmp_path: Path, connect_four: pg.Game
) -> None:
    examples = read_examples([data, data], [], Lines(connect_four), tmp_path / "x.bin", "stop")[0]
    learn, held = split(examples, 0.2, "positions")
    assert 0.1 < len(held) / len(examples) < 0.3
    assert not set(examples["key"][learn]) & set(examples["key"][held])
    assert len(set(examples["game"][learn]) & set(examples["game"][held])) > 30, "games are on both sides"


def test_a_position_that_other_games_share_is_not_learned_from(
    data: Path, tmp_path: Path, connect_four: pg.Game
) -> None:
    examples = np.array(read_examples([data], [], Lines(connect_four), tmp_path / "x.bin", "stop")[0])
    _, held = split(examples, 0.2)
    other = np.flatnonzero(~np.isin(np.arange(len(examples)), held))[0]
    examples["key"][other] = examples["key"][held[0]]
    assert other not in split(examples, 0.2)[0]


def test_no_position_of_the_validation_data_is_learned_from(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    lines = Lines(connect_four)
    few = data.with_name("few.ndjson")
    few.write_bytes(b"".join(data.read_bytes().splitlines(keepends=True)[:50]))
    examples, first = read_examples([data], [few], lines, tmp_path / "x.bin", "stop")
    learn, held = held_out_of(examples, first)
    assert len(held) == 50
    assert held.min() == first
    assert not set(examples["key"][learn]) & set(examples["key"][held])
    assert len(learn) == first - 50
    with pytest.raises(pg.InvalidValue, match="no position to learn from"):
        held_out_of(np.concatenate([examples[:50], examples[first:]]), 50)


def test_weak_games_are_those_of_which_one_side_is_shown(tmp_path: Path, connect_four: pg.Game) -> None:
    path, lines = tmp_path / "a.ndjson", Lines(connect_four)
    config = Collect(game="connect_four", games=30, opening_plies=4, weak_games=0.5, threads=1, depth=2)
    collect(config, path, lambda *_: None)
    examples = np.array(read_examples([path], [], lines, tmp_path / "x.bin", "stop")[0])
    weak = in_weak_games(examples)
    sides = {game: set(examples["state"]["to_move"][examples["game"] == game]) for game in set(examples["game"])}
    assert 0 < weak.sum() < len(weak)
    for game, is_weak in zip(examples["game"], weak, strict=True):
        assert is_weak == (len(sides[game]) == 1 and (examples["game"] == game).sum() > 1)


def test_actions_become_the_outputs_of_an_encoder_that_turns_the_board() -> None:
    chess = pg.load("chess")
    position = chess.position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    top = [position.action("e7e5"), position.action("b8c6")]
    examples = np.zeros(1, Lines(chess).dtype)
    examples["state"], examples["top"], examples["policy"][0, :2] = chess.heads(position.states), -1, 0.5
    examples["top"][0, :2] = top
    taught = Examples(View(chess, "planes"), examples).lesson(torch.tensor([0]))
    white = chess.start()
    assert taught.top[0].tolist() == [white.action("e2e4"), white.action("b1c3")], "as White would see it"
    assert taught.legal[0, taught.top[0]].all()
    assert taught.legal.sum() == 20


def examples_of(lines: Lines, count: int) -> np.ndarray:
    found = np.zeros(count, lines.dtype)
    found["policy"][:, 0] = 1
    return found


def test_a_packed_file_is_mapped_and_teaches_what_its_lines_teach(
    data: Path, tmp_path: Path, connect_four: pg.Game
) -> None:
    lines, packed = Lines(connect_four), tmp_path / "a.packed"
    convert(data, packed, lines)
    mapped, first = read_examples([packed], [], lines, tmp_path / "x.bin", "stop")
    assert isinstance(mapped, np.memmap)
    assert mapped.filename == packed
    assert not (tmp_path / "x.bin").exists()
    written, count = read_examples([data], [], lines, tmp_path / "x.bin", "stop")
    assert count == first == len(written)
    one, other = (b"".join(part.tobytes() for part in learned(each, lines)) for each in (mapped, written))
    assert one == other, "so a run goes on with either"
    lessons = [Examples(View(connect_four, ""), each).lesson(torch.arange(50)) for each in (mapped, written)]
    assert torch.equal(lessons[0].policy, lessons[1].policy)
    assert torch.allclose(lessons[0].policy.sum(1), torch.ones(50), atol=1e-6)


def test_held_out_records_of_another_size_are_refused(tmp_path: Path, connect_four: pg.Game) -> None:
    lines = Lines(connect_four)
    keep_held_out(tmp_path, examples_of(lines, lines.learned.itemsize), lines)
    lines.learned = np.dtype([*lines.learned.descr, ("more", np.int32)])
    with pytest.raises(pg.InvalidValue, match="of this version"):
        read_held_out(tmp_path, lines)


def test_forged_held_out_records_wait_for_trust(tmp_path: Path, connect_four: pg.Game) -> None:
    lines = Lines(connect_four)
    keep_held_out(tmp_path, examples_of(lines, 3), lines)
    assert len(read_held_out(tmp_path, lines)) == 3
    unknown = np.frombuffer(os.urandom(3 * lines.learned.itemsize), np.uint8)  # trust is remembered by content
    forged = {"records": unknown.reshape(3, -1)}
    (tmp_path / "held_out.safetensors").write_bytes(safetensors.numpy.save(forged))
    with pytest.raises(Untrusted, match=r"would use positions in held_out\.safetensors unchecked"):
        read_held_out(tmp_path, lines)
    (tmp_path / "config.toml").touch()
    trust_run(tmp_path)
    assert len(read_held_out(tmp_path, lines)) == 3


def test_lessons_are_all_rows_in_order_each_once(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    examples = read_examples([data], [], Lines(connect_four), tmp_path / "x.bin", "stop")[0]
    view, rows = View(connect_four, ""), np.arange(len(examples))[::-1]
    found = list(Examples(view, examples).lessons(rows, 64))
    assert [len(each.values) for each in found] == [64] * (len(rows) // 64) + [len(rows) % 64] * (len(rows) % 64 > 0)
    assert np.concatenate([each.values for each in found]).tolist() == examples["value"][rows].tolist()
    assert all(each.legal.gather(1, each.top[:, :1]).all() for each in found)


def test_an_action_that_the_network_has_no_output_for_is_refused(
    data: Path, tmp_path: Path, connect_four: pg.Game
) -> None:
    examples = read_examples([data], [], Lines(connect_four), tmp_path / "x.bin", "stop")[0]
    with pytest.raises(pg.InvalidValue, match="the data has action 6, but the network only 3 outputs"):
        Examples(View(connect_four, "", outputs=3), examples)


# ---- losses and measures ----

LOGITS = torch.tensor([[1.0, 0.0, 5.0, -1.0]])
LEGAL = torch.tensor([[True, True, False, True]])
TOP, POLICY = torch.tensor([[0, 3, 0]]), torch.tensor([[0.75, 0.25, 0.0]])  # the last place is empty
LOGS = [x - math.log(math.e + 1 + math.exp(-1)) for x in (1.0, 0.0, -1.0)]


def test_the_loss_by_hand() -> None:
    plain = policy_loss(LOGITS, LEGAL, TOP, POLICY, 0.0)
    assert plain.item() == pytest.approx(-(0.75 * LOGS[0] + 0.25 * LOGS[2]))
    smooth = policy_loss(LOGITS, LEGAL, TOP, POLICY, 0.3)
    assert smooth.item() == pytest.approx(0.7 * plain.item() - 0.3 * sum(LOGS) / 3)


def test_targets_by_hand() -> None:
    policy = torch.tensor([[0.5, 0.25, 0.25, 0.0]])
    assert sharpened(policy, 0, 1.0)[0].tolist() == pytest.approx([0.5, 0.25, 0.25, 0.0])
    assert sharpened(policy, 2, 1.0)[0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert sharpened(policy, 0, 0.5)[0].tolist() == pytest.approx([4 / 6, 1 / 6, 1 / 6, 0.0])
    values = action_values(policy, torch.tensor([0.25]))[0].tolist()
    assert values[:3] == pytest.approx([0.25, *[0.25 - UNIT * math.log(2)] * 2]), "equal scores are equal values"
    assert action_values(policy, torch.tensor([-0.9]))[0, 3] == -1


def test_an_illegal_action_gets_no_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    policy_loss(logits, LEGAL, TOP, POLICY, 0.1).sum().backward()
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0
    assert torch.isfinite(logits.grad).all()


def test_measures_by_hand() -> None:
    found = {name: value.item() for name, value in measures(LOGITS, LEGAL, TOP, POLICY).items()}
    assert (found["match@1"], found["match@3"]) == (1, 1), (
        "the best is output 0; output 2 would be better, but is illegal"
    )
    wanted = 0.75 * (math.log(0.75) - LOGS[0]) + 0.25 * (math.log(0.25) - LOGS[2])
    assert found["kl"] == pytest.approx(wanted)
    assert found["entropy"] == pytest.approx(-sum(math.exp(x) * x for x in LOGS))
    assert found["even_entropy"] == pytest.approx(math.log(3))
    other = measures(LOGITS, LEGAL, torch.tensor([[3]]), torch.tensor([[1.0]]))
    assert (other["match@1"].item(), other["match@3"].item()) == (0, 1)
    tied = measures(torch.zeros(1, 4), LEGAL, torch.tensor([[1]]), torch.tensor([[1.0]]))
    assert tied["match@1"].item() == 0, "of equal outputs the lowest is played, which is 0"
    same = measures(POLICY[:, :2].log(), torch.ones(1, 2, dtype=torch.bool), torch.tensor([[0, 1]]), POLICY[:, :2])
    assert same["kl"].item() == pytest.approx(0, abs=1e-6)
