"""The learner of sparse networks: gradients and steps beside a slow twin, threads, resume, what it learns."""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from plyground.agents.registry import make
from plyground.arena.match import play_match
from plyground.errors import Error, InvalidValue
from plyground.learners.config import Sparse
from plyground.learners.defaults import resolve
from plyground.learners.progress_text import ShortLines
from plyground.learners.sparse import PARTS, Optimizer, Positions, Replay, SparseLearner
from plyground.learners.training import progress, train
from plyground.models.numbers import exp
from plyground.models.sparse import CLIP, floats_type
from plyground.models.sparse_training import Examples
from plyground.runs.learned import load_model
from plyground.search.minimax import Minimax
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from resumed import begin, check_resume, contents
from runs_on_disk import read_records

ROW = str(ROOT / "examples" / "three_in_a_row.py")
COINS = str(Path(__file__).parents[1] / "tiny_games" / "coins.py")
SHORT: dict[str, Any] = {
    "game": "connect_four", "units": 32, "nodes": 30, "games_per_cycle": 70, "cycles": 2, "epochs": 2, "rounds_kept": 1,
    "batch_size": 256, "eval_games": 2, "eval_opponents": ("random",), "threads": 1,
}  # fmt: skip
F = np.float32


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Searched positions of Connect Four."""
    path = tmp_path_factory.mktemp("data") / "four.packed"
    config = Collect(game="connect_four", teacher="minimax:nodes=100", games=300, threads=1, opening_plies=20)
    collect(config, path, lambda *_: None)
    return str(path)


def learner_of(**settings: Any) -> SparseLearner:
    return SparseLearner(resolve(Sparse(**{**SHORT, **settings})))


def trained(**settings: Any) -> SparseLearner:
    """After all cycles, as the training loop does it, without evaluations."""
    learner = learner_of(**settings)
    while not learner.state.finished(learner.config):
        learner.state.progress = progress(learner)
        learner.iterate()
        learner.state.step += 1
        if learner.cycle.progress() >= 1:
            learner.state.cycle += 1
            learner.cycle.end()
    return learner


def knowledge(learner: SparseLearner) -> list[bytes]:
    own = learner.optimizer.state()
    return [*(own[name].tobytes() for name in own), *(each.tobytes() for each in learner.network.state().values())]


# ---- gradients and steps ----


def naive_update(
    floats: Any, moments: Any, examples: Examples, rows: Any, rate: float, number: int
) -> tuple[Any, float]:
    """A step of Adam in numpy, number by number where the order matters; returns the new weights and the mean loss."""
    parts: Any = [np.zeros(1, floats.dtype) for _ in range(PARTS)]
    total = 0.0
    first, bias, second = (floats[name][0] for name in ("first", "bias", "second"))
    units = len(bias)
    edges = [len(rows) * k // PARTS for k in range(PARTS + 1)]
    for part, (head, tail) in zip(parts, itertools.pairwise(edges), strict=True):
        loss = 0.0
        for i in rows[head:tail]:
            views, products = [], []
            for view in range(2):
                sums = bias.copy()
                features = examples.features[examples.starts[2 * i + view] : examples.starts[2 * i + view + 1]]
                for feature in features:
                    sums += first[feature]
                a = np.clip(sums, F(0), F(1))
                views.append((features, sums, a))
                products.append(a * a * second[view])
            lanes, width = np.concatenate(products), units
            while width >= 1:
                lanes[:width] += lanes[width : 2 * width]
                width //= 2
            probability = 1.0 / (1.0 + exp(-float(lanes[0] + floats["second_bias"][0, 0])))
            error = probability - float(examples.targets[i])
            loss += error * error
            g = F(2.0 * error * probability * (1.0 - probability))
            part["second_bias"][0, 0] += g
            for view, (features, sums, a) in enumerate(views):
                part["second"][0, view] += g * (a * a)
                inner = np.where((sums > 0) & (sums < 1), g * second[view] * (F(2) * a), F(0))
                part["bias"][0] += inner
                for feature in features:
                    part["first"][0, feature] += inner
        total += loss
    gradient = parts[0].view(F)
    for part in parts[1:]:
        gradient = gradient + part.view(F)
    gradient = gradient * F(1.0 / len(rows))
    means, squares = moments
    means[:] = F(0.9) * means + F(1.0 - 0.9) * gradient
    squares[:] = F(0.999) * squares + F(1.0 - 0.999) * (gradient * gradient)
    unbias = [F(1.0 / (1.0 - np.prod([beta] * number))) for beta in (0.9, 0.999)]
    change = means * unbias[0] / (np.sqrt(squares * unbias[1]) + F(1e-8))
    old = floats.view(F)
    new = old - F(rate) * change
    decayed = floats["first"].size
    new[:decayed] = np.clip(old[:decayed] - F(rate) * (change[:decayed] + F(0.01) * old[:decayed]), F(-CLIP), F(CLIP))
    return new.view(floats.dtype), total / len(rows)


@pytest.mark.parametrize("units", [32, 64])
def test_updates_are_those_of_the_twin_bit_for_bit(units: int) -> None:
    rng, count, features = np.random.default_rng(units), 90, 50
    sizes = rng.integers(0, 12, 2 * count)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    examples = Examples(rng.integers(0, features, starts[-1]).astype(np.uint16), starts, rng.random(count).astype(F))
    floats = np.zeros(1, floats_type(features, units))
    floats["first"], floats["second"] = rng.normal(0, 0.3, (1, features, units)), rng.normal(0, 0.3, (1, 2, units))
    floats["first"][0, 3], floats["bias"] = 1.99, 0.1  # some reach the end of what integers can hold
    optimizer = Optimizer(floats, Sparse(), units, threads=1)
    twin, moments = floats.copy(), (np.zeros_like(floats.view(F)), np.zeros_like(floats.view(F)))
    before = floats.copy()
    for number in range(1, 6):
        rows = rng.permutation(count)[: 90 if number < 3 else 61]
        twin, loss = naive_update(twin, moments, examples, rows, 0.01, number)
        assert optimizer.update(rows, examples, 0.01) == loss
        assert floats.tobytes() == twin.tobytes()
    assert (floats["first"] != before["first"]).any()
    assert np.abs(floats["first"]).max() <= CLIP


def test_any_number_of_threads_gives_the_same_bits(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plyground.learners.sparse.available", lambda: 5)
    for settings in ({"data": (data,)}, {}):
        found = [knowledge(trained(**settings, threads=threads, cycles=1)) for threads in (1, 2, 5)]
        assert found[0] == found[1] == found[2]


# ---- what it learns ----


def test_positions_are_the_quiet_ones_each_once_as_both_sides_see_them(data: str) -> None:
    learner = learner_of(data=(data,))
    positions, game = learner.data, learner.game
    assert len({*positions.keys.tolist()}) == len(positions.keys) > 300
    assert 0 < positions.held_out.mean() < 0.2
    kept = positions.only(positions.held_out).and_those(positions.only(~positions.held_out))
    order = np.argsort(~positions.held_out, kind="stable")
    for k, i in enumerate(order):
        own = [positions.features[positions.starts[2 * i + v] : positions.starts[2 * i + v + 1]] for v in range(2)]
        there = [kept.features[kept.starts[2 * k + v] : kept.starts[2 * k + v + 1]] for v in range(2)]
        assert all((a == b).all() for a, b in zip(own, there, strict=True))
    start = learner.reader.read(_record(learner, game.start()))
    cells = np.zeros((1, game.cells.count), np.int16)
    game.kernels("cells").write_for(game.start().states, 0, cells)
    wanted = [game.cells.features[k] + value - 1 for k, value in enumerate(cells[0]) if value > 0]
    assert start.features.tolist() == wanted * 2
    assert start.targets[0] == F(0.5 + 0.25 * 0.5 * 0) or learner.config.result_share == 0


def test_of_few_games_one_is_held_out(tmp_path: Path) -> None:
    for seed in range(4):
        path = tmp_path / f"{seed}.packed"
        config = Collect(game=ROW, teacher="minimax:nodes=20", games=3, threads=1, seed=seed, opening_plies=2)
        collect(config, path, lambda *_: None)
        held_out = learner_of(game=ROW, data=(str(path),)).data.held_out
        assert 0 < held_out.sum() < len(held_out)


def _record(learner: SparseLearner, position: pg.Position) -> Any:
    from plyground.teaching.searched import SearchedLines

    found = np.zeros(1, SearchedLines(learner.game).dtype)
    found["state"], found["quiet"] = learner.game.heads(position.states), 1
    return found


@pytest.mark.parametrize(("share", "value", "result", "target"), [
    (0.0, 0.0, 1, 0.5), (0.3, 0.0, 1, 0.65), (0.0, 0.5, 0, 0.7773), (1.0, 0.5, -1, 0.0), (0.0, 1.0, 0, 1.0),
])  # fmt: skip
def test_the_target_is_a_mixture_of_value_and_result(share: float, value: float, result: int, target: float) -> None:
    learner = learner_of(result_share=share)
    record = _record(learner, learner.game.start())
    record["value"], record["result"] = value, result
    assert learner.reader.read(record).targets[0] == pytest.approx(target, abs=1e-4)


def test_it_learns_from_data_more_than_the_hand_written_evaluation_knows(data: str) -> None:
    learner = learner_of(data=(data,), cycles=30, batch_size=128)
    before = learner.measure()
    learner = trained(data=(data,), cycles=30, batch_size=128)
    after = learner.measure()
    assert before["hand_loss"] == after["hand_loss"]
    assert learner.state.best["loss"] < 0.95 * min(before["loss"], before["hand_loss"])
    assert learner.state.best["loss"] <= after["loss"]
    game = learner.game
    assert play_match(game, learner.model.best_agent(), make("random", game), 20, 1).score > 0.9


def test_from_nothing_it_learns_three_in_a_row() -> None:
    """What it says of positions agrees with perfect play, which what it said at first did not."""
    learner = trained(game=ROW, from_="nothing", games_per_cycle=100, cycles=6, rounds_kept=6, batch_size=64, epochs=8)
    game, fresh, rng = learner.game, learner_of(game=ROW).network, np.random.default_rng(0)
    positions = list[pg.Position]()
    for _ in range(200):
        position = game.start()
        for _ in range(int(rng.integers(6))):
            position = position if position.over else position.play(int(rng.choice(position.legal())))
        positions += [] if position.over else [position]
    states = np.concatenate([position.states for position in positions])
    perfect = np.sign(Minimax(game, 9).search(states, np.zeros(len(states), np.uint64))[1])
    agree = [float(np.corrcoef(network.judge(states), perfect)[0, 1]) for network in (learner.network, fresh)]
    assert agree[0] > agree[1] + 0.2
    assert learner.round.own


def test_it_plays_its_own_games_when_it_is_as_strong_as_the_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def evaluated(score: float) -> Any:
        def found(game: Any, config: Any, *_: Any) -> Any:
            asked.append(config.eval_opponents)
            return {"eval_opponents": {spec: {"score": score} for spec in config.eval_opponents}}

        return found

    learner = learner_of()
    for score, own in ((0.49, False), (0.5, True), (0.1, True)):
        monkeypatch.setattr("plyground.learners.sparse.evaluate_in_matches", evaluated(score))
        learner.state.cycle += 1
        learner.cycle.end()
        assert learner.round.own is own
    assert [len(each) for each in asked] == [2, 2, 1]
    assert asked[0][-1] == "minimax:nodes=1000"


# ---- runs ----


def test_a_stopped_run_goes_on_as_if_it_had_not(data: str, tmp_path: Path) -> None:
    """In the middle of games, of passes and of epochs."""
    check_resume(tmp_path / "games", resolve(Sparse(**SHORT)), 2)
    check_resume(tmp_path / "passes", resolve(Sparse(**{**SHORT, "epochs": 60, "batch_size": 64})), 4)
    check_resume(tmp_path / "epochs", resolve(Sparse(**{**SHORT, "data": (data,), "batch_size": 32, "cycles": 4})), 1)


@pytest.mark.compiled
def test_a_killed_run_ends_where_it_would_have_ended(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "plyground", "train", "sparse", "connect_four", "--cycles", "3", "--nodes", "100"]
    line += ["--games-per-cycle", "96", "--eval-games", "2", "--eval-opponents", "random", "--units", "32"]
    line += ["--batch-size", "256", "--threads", "1"]
    for name in ("whole", "killed"):
        process = subprocess.Popen([*line, "--out", str(tmp_path / name)], stdout=subprocess.DEVNULL)
        if name == "killed":
            while not (tmp_path / name / "checkpoints" / "0").is_dir() or not read_records(tmp_path / name):
                time.sleep(0.05)
                assert process.poll() is None, "it has ended before it was killed"
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process = subprocess.Popen(
                [sys.executable, "-m", "plyground", "resume", str(tmp_path / name)], stdout=subprocess.DEVNULL
            )
        assert process.wait(300) == 0
    whole, killed = (contents(tmp_path / name) for name in ("whole", "killed"))
    states = [json.loads(found.pop("state"))["parts"] for found in (whole, killed)]
    assert states[0] == states[1]
    assert whole == killed
    assert load_model(tmp_path / "killed").units == 32


def test_a_run_goes_on_from_another_one_and_from_its_own_data_alone(data: str, tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", Sparse(**{**SHORT, "data": (data,)}))
    said = list[str]()
    with run:
        train(learner, run, ShortLines(said.append))
    assert re.fullmatch(
        r"cycle 1/2: loss [\d.]+ on held-out games, [\d.]+ by `evaluate` · [\d,]+ positions, \d+ s", said[0]
    )
    again = learner_of(init=str(tmp_path / "run"))
    assert again.round.own
    assert all(
        (a == b).all() for a, b in zip(again.network.state().values(), learner.model.best.state().values(), strict=True)
    )
    other = tmp_path / "other.packed"
    collect(Collect(game="connect_four", teacher="minimax:nodes=50", games=100, threads=1), other, lambda *_: None)
    with pytest.raises(InvalidValue, match="not the data that this run was begun with"):
        learner_of(data=(str(other),)).kept.load_state(learner.kept.state())


def test_damaged_positions_of_a_checkpoint_are_refused() -> None:
    learner = learner_of()
    learner.iterate()
    replay, count = Replay(learner), learner.game.cells.num_features
    good: Any = replay.state()
    replay.load_state(good)
    for name, change in {
        "features": lambda array: array + np.uint16(count),
        "starts": lambda array: array[::-1].copy(),
        "targets": lambda array: array[1:],
        "held_out": lambda array: array.astype(np.int8),
    }.items():
        with pytest.raises(InvalidValue, match="features below"):
            replay.load_state({**good, name: change(good[name])})
    assert isinstance(learner.data, Positions)


def test_what_cannot_be_is_refused_in_one_sentence(data: str) -> None:
    with pytest.raises(InvalidValue, match="hides some from a side"):
        learner_of(game="sequence")
    with pytest.raises(InvalidValue, match="without chance"):
        learner_of(game=COINS)
    with pytest.raises(InvalidValue, match="32, 64, 128 or 256"):
        learner_of(units=100)
    with pytest.raises(InvalidValue, match="between 0 and 1"):
        learner_of(validation_split=0.0)
    with pytest.raises(Error, match="not the positions of chess"):
        learner_of(game="chess", data=(data,))
