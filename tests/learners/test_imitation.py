"""Imitation: a run like any other, which resumes in the middle of an epoch, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import plyground as pg
from plyground.agents.registry import load_run, make
from plyground.agents.teacher import UNIT
from plyground.arena.match import play_match
from plyground.backend.device import problem
from plyground.learners import saving
from plyground.learners.config import DQN, Imitation
from plyground.learners.defaults import resolve
from plyground.learners.dqn import DQNLearner
from plyground.learners.imitation import ImitationLearner
from plyground.learners.imitation_batches import read_held_out
from plyground.learners.training import train
from plyground.networks import make_network, scale_outputs
from plyground.report.verify import on_held_out, verify
from plyground.runs.directory import newest_whole, steps_of
from plyground.teaching.collect import collect
from plyground.teaching.config import Collect
from plyground.teaching.lines import Lines
from resumed import after_steps, begin, check_resume, contents, resume, silent
from runs_on_disk import read_records

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "four.ndjson"
    collect(
        Collect(game="connect_four", games=200, opening_plies=12, weak_games=0.0, threads=1, depth=4),
        path,
        lambda *_: None,
    )
    return path


@pytest.fixture(scope="module")
def few(data: Path) -> Path:
    """A tenth of the data, which is read faster."""
    lines = data.read_text().splitlines(keepends=True)
    path = data.with_name("few.ndjson")
    path.write_text("".join(lines[: len(lines) // 10]))
    return path


def settings(data: Path, **changes: Any) -> Imitation:
    own = {"game": "connect_four", "network": "64", "batch_size": 64, "learning_rate": 2e-3, "threads": 1}
    return resolve(Imitation(**{"data": (str(data),), **own, **changes}))


def run_of(path: Path, config: Imitation, steps: int = 10**9) -> list[dict[str, Any]]:
    """A run of at most so many steps; its epochs' records without their times."""
    learner, run = begin(path, config)
    with run:
        train(learner, run, silent, after_steps(learner, steps))
    return epochs(path)


def epochs(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in each.items() if k != "seconds"} for each in read_records(path)]


def test_outputs_are_scaled_without_losing_a_bit() -> None:
    for word, shape, outputs in (
        ("8-8", (4,), 3),
        ("b1c4", (2, 6, 7), 7),
        ("b1c4-pairs", (2, 3, 3), 90),
        ("connect_zero", (3, 6, 7), 7),
    ):
        network, x = make_network(word, shape, outputs, dueling=word == "8-8"), torch.randn(5, *shape)
        before, weights = network(x), [each.clone() for each in network.parameters()]
        scale_outputs(network, UNIT)
        assert torch.allclose(network(x), before * UNIT, atol=1e-6)
        scale_outputs(network, 1 / UNIT)
        assert all(torch.equal(a, b) for a, b in zip(weights, network.parameters(), strict=True))


# ---- data ----


def test_a_run_that_goes_on_with_another_holds_out_the_same_games(few: Path, tmp_path: Path) -> None:
    lines = few.read_text().splitlines(keepends=True)
    (tmp_path / "half").write_text("".join(lines[: len(lines) // 2 : -1]))  # other data: less, in another order
    first = ImitationLearner(settings(few, seed=1, validation_split=0.2), tmp_path)
    learned_from = set(first.records["game"][first.rows])
    (tmp_path / "other").mkdir()
    for changes in ({"seed": 2}, {"validation_split": 0.1}, {"data": (str(tmp_path / "half"),)}):
        again = ImitationLearner(replace(first.config, **changes), tmp_path / "other")
        assert not learned_from & set(again.records["game"][again.held_out]), changes


def test_a_run_cannot_hold_out_more_than_the_one_it_goes_on_with(few: Path, tmp_path: Path) -> None:
    run_of(tmp_path / "run", settings(few, epochs=1, validation_split=0.1))
    again = settings(few, validation_split=0.1, seed=5, init=str(tmp_path / "run"))
    assert len(ImitationLearner(again, tmp_path).held_out)
    with pytest.raises(pg.InvalidValue, match=r"run has held out 10% .* validation_split is at most 0.1, not 0.2"):
        ImitationLearner(replace(again, validation_split=0.2), tmp_path)


# ---- runs ----


def test_it_learns_and_the_run_plays_and_goes_on_in_dqn(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    records = run_of(tmp_path / "run", settings(data))
    divergences = [each["kl"] for each in records]
    assert divergences == sorted(divergences, reverse=True)
    assert records[-1]["match@1"] > records[0]["match@1"] + 0.15
    before, after = (make(f"run:{tmp_path / 'run'},checkpoint={k}", connect_four) for k in ("0", "best"))
    greedy = make("greedy", connect_four)
    scores = [play_match(connect_four, agent, greedy, 200, seed=1).score for agent in (before, after)]
    assert scores[1] > scores[0] + 0.05
    learned = load_run(str(tmp_path / "run"))
    found = on_held_out(learned, read_held_out(tmp_path / "run", Lines(connect_four)))
    assert found["kl"] == pytest.approx(records[-1]["kl"], abs=1e-5), "what is saved is what was measured"
    start = learned.view.rows(connect_four.start().states)
    assert learned.network(learned.view.observe(start)).abs().max() < 2, "values, not logits"
    common = {
        "game": "connect_four",
        "network": "64",
        "threads": 1,
        "num_envs": 8,
        "buffer_size": 400,
        "batch_size": 16,
        "learning_starts": 16,
    }
    warm = DQNLearner(resolve(DQN(**common, dueling=True, init=str(tmp_path / "run"))))
    assert torch.equal(warm.q_network.state_dict()["body.0.weight"], learned.network.state_dict()["body.0.weight"])
    with pytest.raises(pg.Error, match=r"does not fit: network: '.*dueling' instead of '.*-7'"):
        DQNLearner(resolve(DQN(**common, dueling=False, init=str(tmp_path / "run"))))
    page = verify(tmp_path / "run", games=4)
    assert "| after imitation | untrained |" in page
    assert "| before imitation | teacher |" in page
    assert (tmp_path / "run" / "verify.png").stat().st_size > 5000


def test_the_value_is_learned_where_it_counts(data: Path, tmp_path: Path) -> None:
    without, with_value = (
        run_of(tmp_path / f"mu{mu}", settings(data, value_coef=mu, epochs=4))[-1] for mu in (0.0, 100.0)
    )
    assert with_value["value_error"] < without["value_error"]


def test_a_network_with_a_value_head_says_the_value_there(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    records = run_of(tmp_path / "run", settings(data, network="64+value", dueling=False, value_coef=10.0))
    assert records[-1]["match@1"] > records[0]["match@1"] + 0.1
    found = on_held_out(load_run(str(tmp_path / "run")), read_held_out(tmp_path / "run", Lines(connect_four)))
    for name in ("kl", "value_error"):
        assert found[name] == pytest.approx(records[-1][name], abs=1e-5), "what is saved is what was measured"


def test_other_targets_learn_too_and_weights_decay(few: Path, tmp_path: Path) -> None:
    sharp = {"target_temperature": 0.5, "target_top_k": 3, "action_value_coef": 1.0, "weight_decay": 5.0}
    records = run_of(tmp_path / "sharp", settings(few, epochs=2, **sharp))
    assert records[-1]["kl"] < records[0]["kl"]
    run_of(tmp_path / "plain", settings(few, epochs=2))
    sizes = [
        sum(each.square().sum() for each in load_run(str(tmp_path / name)).network.parameters())
        for name in ("sharp", "plain")
    ]
    assert sizes[0] < sizes[1]


def test_data_of_another_seed_is_held_out(data: Path, few: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ndjson"
    collect(
        Collect(game="connect_four", games=20, opening_plies=12, threads=1, depth=2, seed=9), other, lambda *_: None
    )
    learner = ImitationLearner(settings(few, validation_data=(str(other),)), tmp_path)
    assert len(learner.held_out) == len(other.read_bytes().splitlines())
    found = learner.measure()
    assert learner.weak.any()
    share = learner.weak.mean()
    for name in ("match@1", "kl"):
        assert found[name] == pytest.approx(share * found[f"weak_{name}"] + (1 - share) * found[f"equal_{name}"])


@pytest.mark.parametrize(("stop", "epoch"), [(2, 0), (8, 1)])
def test_stopped_and_resumed_equals_never_stopped(few: Path, tmp_path: Path, stop: int, epoch: int) -> None:
    def in_the_middle_of_an_epoch(learner: ImitationLearner) -> None:
        assert 0 < learner.epoch.examples < len(learner.rows)
        assert learner.state.cycle == epoch

    config = settings(few, validation_split=0.2, epochs=9, batch_size=4)
    check_resume(tmp_path, config, stop, in_the_middle_of_an_epoch)


def test_a_run_that_was_stopped_in_an_epoch_continues_to_the_same_end(data: Path, tmp_path: Path) -> None:
    config = settings(data, validation_split=0.2)
    whole = run_of(tmp_path / "whole", config)
    run_of(tmp_path / "part", config, steps=whole[1]["step"] + 2)  # in the second epoch
    assert len(epochs(tmp_path / "part")) == 2
    learner, run = resume(tmp_path / "part", config)
    assert 0 < learner.epoch.examples < len(learner.rows)
    with run:
        assert train(learner, run, silent)
    assert epochs(tmp_path / "part") == whole
    one, other = contents(tmp_path / "whole"), contents(tmp_path / "part")
    assert {name for name in one if one[name] != other[name]} == set()
    assert steps_of(tmp_path / "part")[0] == 0, "the untrained network is kept"
    assert not (tmp_path / "part" / "examples.bin").exists()


@pytest.mark.parametrize("change", ["value", "order"])
def test_a_run_does_not_go_on_with_other_data(few: Path, tmp_path: Path, change: str) -> None:
    lines = few.read_text().splitlines()
    if change == "value":
        lines[0] = json.dumps({**json.loads(lines[0]), "value": 0.123})
    else:
        lines[:2] = lines[1::-1]
    (tmp_path / "other.ndjson").write_text("".join(f"{line}\n" for line in lines))
    run_of(tmp_path / "run", settings(few), steps=1)
    learner = ImitationLearner(settings(tmp_path / "other.ndjson"), tmp_path / "run")
    changed = f"{tmp_path / 'other.ndjson'}"
    learner.config = settings(few)  # as if the file itself had changed
    before = learner.network.state_dict()["body.0.weight"].clone()
    with pytest.raises(pg.InvalidValue, match=f"{few}: not the data that this run was begun with"):
        saving.load(learner, newest_whole(tmp_path / "run"))
    assert torch.equal(learner.network.state_dict()["body.0.weight"], before), "nothing was used"
    with pytest.raises(pg.InvalidValue, match=f"data: .*{changed}"):
        saving.load(ImitationLearner(settings(Path(changed)), tmp_path / "run"), newest_whole(tmp_path / "run"))


@pytest.mark.parametrize("examples", [10**9, -1])
def test_more_examples_learned_than_there_are_is_an_error(few: Path, tmp_path: Path, examples: int) -> None:
    (tmp_path / "run").mkdir()
    learner = ImitationLearner(settings(few), tmp_path / "run")
    learner.epoch.examples = examples
    with pytest.raises(pg.InvalidValue, match=f"examples; {examples} cannot be learned already"):
        learner.iterate()


def test_it_stops_when_nothing_gets_better(data: Path, tmp_path: Path) -> None:
    records = run_of(
        tmp_path / "run", settings(data, epochs=60, learning_rate=0.02, network="512", patience=1, batch_size=32)
    )
    assert len(records) < 60
    best = json.loads((tmp_path / "run" / "best.json").read_text())
    assert best["kl"] == min(each["kl"] for each in records)


def test_bad_lines_stop_it_or_are_left_out(few: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ndjson"
    lines = few.read_bytes().splitlines(keepends=True)
    broken.write_bytes(b"".join([*lines[:9], lines[9][:50] + b"\n", *lines[10:]]))
    with pytest.raises(pg.InvalidValue, match=r"broken.ndjson, line 10: the line is cut or not JSON.*--bad-lines skip"):
        run_of(tmp_path / "a", settings(broken))
    records = run_of(tmp_path / "b", settings(broken, bad_lines="skip", epochs=1))
    assert records[-1]["rejected"] == 1
    assert json.loads((tmp_path / "broken.ndjson.rejected").read_text())["line"] == 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": ()}, "needs a dataset"),
        ({"label_smoothing": 1.0}, "label_smoothing is below 1"),
        ({"validation_split": 0.0}, "validation_split is above 0"),
        ({"epochs": 0}, "epochs is a number of at least 1"),
        ({"learning_rate": -1.0}, "learning_rate is a number of at least 0"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pg.InvalidValue, match=message):
        replace(Imitation(data=("x",)), **changes)


def test_auto_is_a_device_in_python_too(few: Path, tmp_path: Path) -> None:
    found = ImitationLearner(replace(settings(few), device="auto"), tmp_path).view
    assert found.device.type == ("cpu" if problem() else "cuda")
