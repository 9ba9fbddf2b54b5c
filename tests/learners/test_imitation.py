"""Imitation: losses by hand, splits without leaks, a run like any other that goes on where it stopped."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from plyground.teaching.imitate import Imitate, Imitation, imitate

import plyground as pg
from plyground.agents.agent import make
from plyground.agents.network import View, load_run
from plyground.agents.teacher import UNIT
from plyground.arena.match import play_match
from plyground.backend.device import problem
from plyground.games.interface import FIRST_WINS
from plyground.learners.dqn import DQN, DQNLearner
from plyground.networks import make_network, scale_outputs
from plyground.runs.directory import create, newest_whole, open_run, read_metrics, steps_of
from plyground.teaching.collect import Collect, collect
from plyground.teaching.examples import keep_held_out, lesson, pack, read_held_out, split
from plyground.teaching.lines import Lines
from plyground.teaching.losses import measures, policy_loss
from plyground.teaching.verify import on_held_out, verify

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


def settings(data: Path, **changes: Any) -> Imitate:
    own = {"game": "connect_four", "network": "64", "epochs": 3, "batch": 64, "lr": 2e-3, "threads": 1}
    return Imitate(**{"data": (str(data),), **own, **changes}).resolved()


def begin(path: Path, config: Imitate, stop_after: int = 10**9) -> list[dict[str, Any]]:
    """A run; its epochs' records without their times."""
    calls: list[int] = []

    def stop() -> bool:
        calls.append(1)
        return len(calls) > stop_after

    with create(path, {"learner": "imitate", **asdict(config)}) as run:
        imitate(Imitation(config, path), run, lambda _: None, stop)
    return epochs(path)


def epochs(path: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in each.items() if k != "seconds"} for each in read_metrics(path)]


# ---- losses ----

LOGITS = torch.tensor([[1.0, 0.0, 5.0, -1.0]])
LEGAL = torch.tensor([[True, True, False, True]])
TOP, POLICY = torch.tensor([[0, 3, 0]]), torch.tensor([[0.75, 0.25, 0.0]])  # the last place is empty
LOGS = [x - math.log(math.e + 1 + math.exp(-1)) for x in (1.0, 0.0, -1.0)]


def test_the_loss_by_hand() -> None:
    plain = policy_loss(LOGITS, LEGAL, TOP, POLICY, 0.0)
    assert plain.item() == pytest.approx(-(0.75 * LOGS[0] + 0.25 * LOGS[2]))
    smooth = policy_loss(LOGITS, LEGAL, TOP, POLICY, 0.3)
    assert smooth.item() == pytest.approx(0.7 * plain.item() - 0.3 * sum(LOGS) / 3)


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


def test_no_game_and_no_position_is_on_both_sides(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    examples = pack([data, data], Lines(connect_four), tmp_path / "x.bin", "stop")  # everything is there twice
    learn, held = split(examples, 0.2)
    assert 0.1 < len(held) / len(examples) < 0.3
    for name in ("game", "key"):
        assert not set(examples[name][learn]) & set(examples[name][held]), name
    with pytest.raises(pg.InvalidValue, match="cannot be split"):
        split(examples[:5], 0.2)


def test_a_position_that_other_games_share_is_not_learned_from(
    data: Path, tmp_path: Path, connect_four: pg.Game
) -> None:
    examples = np.array(pack([data], Lines(connect_four), tmp_path / "x.bin", "stop"))
    _, held = split(examples, 0.2)
    other = np.flatnonzero(~np.isin(np.arange(len(examples)), held))[0]
    examples["key"][other] = examples["key"][held[0]]
    assert other not in split(examples, 0.2)[0]


def test_a_run_that_goes_on_with_another_holds_out_the_same_games(data: Path, tmp_path: Path) -> None:
    lines = data.read_text().splitlines(keepends=True)
    (tmp_path / "half").write_text("".join(lines[: len(lines) // 2 : -1]))  # other data: less, in another order
    first = Imitation(settings(data, seed=1, val_split=0.2), tmp_path)
    learned_from = set(first.examples["game"][first.rows])
    (tmp_path / "other").mkdir()
    for changes in ({"seed": 2}, {"val_split": 0.1}, {"data": (str(tmp_path / "half"),)}):
        again = Imitation(replace(first.config, **changes), tmp_path / "other")
        assert not learned_from & set(again.examples["game"][again.held]), changes


def test_a_run_cannot_hold_out_more_than_the_one_it_goes_on_with(data: Path, tmp_path: Path) -> None:
    begin(tmp_path / "run", settings(data, epochs=1, val_split=0.1))
    again = settings(data, val_split=0.1, seed=5, init=str(tmp_path / "run"))
    assert len(Imitation(again, tmp_path).held)
    with pytest.raises(pg.InvalidValue, match=r"run has held out 10% .* val_split is at most 0.1, not 0.2"):
        Imitation(replace(again, val_split=0.2), tmp_path)


def test_actions_become_the_outputs_of_an_encoder_that_turns_the_board() -> None:
    chess = pg.load("chess")
    position = chess.position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1")
    top = [position.action("e7e5"), position.action("b8c6")]
    examples = np.zeros(1, Lines(chess).dtype)
    examples["state"], examples["top"], examples["policy"][0, :2] = chess.heads(position.states), -1, 0.5
    examples["top"][0, :2] = top
    taught = lesson(View(chess, "planes"), examples)
    white = chess.start()
    assert taught.top[0].tolist() == [white.action("e2e4"), white.action("b1c3")], "as White would see it"
    assert taught.legal[0, taught.top[0]].all()
    assert taught.legal.sum() == 20


# ---- runs ----


def test_it_learns_and_the_run_plays_and_goes_on_in_dqn(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    records = begin(tmp_path / "run", settings(data))
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
    assert learned.network(learned.view.observe(connect_four.start().states)).abs().max() < 2, "values, not logits"
    common = {
        "game": "connect_four",
        "network": "64",
        "threads": 1,
        "concurrency": 8,
        "memory": 400,
        "batch": 16,
        "warm_up": 16,
    }
    warm = DQNLearner(DQN(**common, dueling=True, init=str(tmp_path / "run")).resolved())
    assert torch.equal(warm.network.state_dict()["body.0.weight"], learned.network.state_dict()["body.0.weight"])
    with pytest.raises(pg.Error, match=r"does not fit: network: '.*dueling' instead of '.*-7'"):
        DQNLearner(DQN(**common, dueling=False, init=str(tmp_path / "run")).resolved())
    page = verify(tmp_path / "run", games=4)
    assert "| after imitation | untrained |" in page
    assert "| before imitation | teacher |" in page
    assert (tmp_path / "run" / "verify.png").stat().st_size > 5000


def test_the_value_is_learned_where_it_counts(data: Path, tmp_path: Path) -> None:
    without, with_value = (begin(tmp_path / f"mu{mu}", settings(data, mu=mu, epochs=4))[-1] for mu in (0.0, 100.0))
    assert with_value["value_error"] < without["value_error"]


def test_a_network_with_a_value_head_says_the_value_there(data: Path, tmp_path: Path, connect_four: pg.Game) -> None:
    records = begin(tmp_path / "run", settings(data, network="64+value", dueling=False, mu=10.0))
    assert records[-1]["match@1"] > records[0]["match@1"] + 0.1
    found = on_held_out(load_run(str(tmp_path / "run")), read_held_out(tmp_path / "run", Lines(connect_four)))
    for name in ("kl", "value_error"):
        assert found[name] == pytest.approx(records[-1][name], abs=1e-5), "what is saved is what was measured"


def test_a_run_that_was_stopped_goes_on_to_the_same_end(data: Path, tmp_path: Path) -> None:
    config = settings(data, val_split=0.2)
    whole = begin(tmp_path / "whole", config)
    begin(tmp_path / "part", config, stop_after=whole[1]["step"] + 2)  # in the second epoch
    assert len(epochs(tmp_path / "part")) == 2
    with open_run(tmp_path / "part") as run:
        checkpoint = newest_whole(tmp_path / "part")
        learner = Imitation(config, tmp_path / "part")
        learner.restore(checkpoint)
        run.rewind(checkpoint)
        assert imitate(learner, run, lambda _: None)
    assert epochs(tmp_path / "part") == whole
    last = [newest_whole(tmp_path / name).tensors("network") for name in ("whole", "part")]
    assert all(np.array_equal(last[0][name], last[1][name]) for name in last[0])
    assert steps_of(tmp_path / "part")[0] == 0, "the untrained network is kept"
    assert not (tmp_path / "part" / "examples.bin").exists()


def test_held_out_records_of_another_size_are_refused(tmp_path: Path, connect_four: pg.Game) -> None:
    lines = Lines(connect_four)
    keep_held_out(tmp_path, np.zeros(lines.dtype.itemsize, np.dtype([*lines.dtype.descr, ("more", np.int32)])))
    with pytest.raises(pg.InvalidValue, match="of this version"):
        read_held_out(tmp_path, lines)


@pytest.mark.parametrize("change", ["value", "order"])
def test_a_run_does_not_go_on_with_other_data(data: Path, tmp_path: Path, change: str) -> None:
    lines = data.read_text().splitlines()
    if change == "value":
        lines[0] = json.dumps({**json.loads(lines[0]), "value": 0.123})
    else:
        lines[:2] = lines[1::-1]
    (tmp_path / "other.ndjson").write_text("".join(f"{line}\n" for line in lines))
    begin(tmp_path / "run", settings(data), stop_after=1)
    learner = Imitation(settings(tmp_path / "other.ndjson"), tmp_path / "run")
    with pytest.raises(pg.InvalidValue, match="not the data that"):
        learner.restore(newest_whole(tmp_path / "run"))


def test_it_stops_when_nothing_gets_better(data: Path, tmp_path: Path) -> None:
    records = begin(tmp_path / "run", settings(data, epochs=60, lr=0.02, network="512", patience=1, batch=32))
    assert len(records) < 60
    best = json.loads((tmp_path / "run" / "best.json").read_text())
    assert best["kl"] == min(each["kl"] for each in records)


def test_bad_lines_stop_it_or_are_left_out(data: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.ndjson"
    lines = data.read_bytes().splitlines(keepends=True)
    broken.write_bytes(b"".join([*lines[:9], lines[9][:50] + b"\n", *lines[10:]]))
    with pytest.raises(pg.InvalidValue, match=r"broken.ndjson, line 10: the line is cut or not JSON.*--bad-lines skip"):
        begin(tmp_path / "a", settings(broken))
    records = begin(tmp_path / "b", settings(broken, bad_lines="skip", epochs=1))
    assert records[-1]["rejected"] == 1
    assert json.loads((tmp_path / "broken.ndjson.rejected").read_text())["line"] == 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": ()}, "needs a dataset"),
        ({"smooth": 1.0}, "smooth is below 1"),
        ({"val_split": 0.0}, "val_split is above 0"),
        ({"epochs": 0}, "epochs is a number of at least 1"),
        ({"lr": -1.0}, "lr is a number of at least 0"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(pg.InvalidValue, match=message):
        replace(Imitate(data=("x",)), **changes)


def test_the_bonus_rewards_the_teachers_choice(connect_four: pg.Game) -> None:
    config = DQN(network="8", threads=1, concurrency=4, memory=40, batch=4, warm_up=4, imitation_bonus=0.25)
    learner = DQNLearner(config.resolved())
    states = np.repeat(connect_four.position("121212").states, 3)  # column 1 wins
    assert learner._bonus(states, np.array([0, 1, 6], np.int32)).tolist() == [0.25, 0.0, 0.0]  # pyright: ignore
    learner.cycle = 5  # half of the run is over
    assert learner.guidance == 0.5
    assert replace(config, shaping_share=0.25).shaping_share == 0.25


def test_the_bonus_is_for_own_plies_only(connect_four: pg.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """An opponent that plays as the teacher would is not rewarded for it."""
    config = DQN(network="8", threads=1, concurrency=32, memory=32 * 40, batch=4, warm_up=32 * 40, epsilon=0.2)
    config = replace(config, imitation_bonus=0.25, opponents=("0.5 self", "0.5 greedy"), games_per_cycle=10**9)
    learner, theirs = DQNLearner(config.resolved()), list[Any]()
    answer = learner.selfplay.answer
    monkeypatch.setattr(learner.selfplay, "answer", lambda *given: theirs.append(answer(*given)) or theirs[-1])
    for _ in range(40):
        learner.play()
    memory, others, teacher = learner.memory, np.array(theirs), learner.teacher
    assert teacher is not None
    states = memory.states.reshape(-1)
    agrees = teacher.act(states, np.zeros(len(states), np.uint64)).reshape(others.shape) == memory.actions
    plain = memory.after["outcome"] == FIRST_WINS + memory.states["to_move"]  # nobody loses by an own move
    assert memory.rewards - plain == pytest.approx(0.25 * (agrees & ~others), abs=1e-6)
    assert (agrees & others).sum() > 20
    assert (agrees & ~others).sum() > 20


def test_auto_is_a_device_in_python_too(data: Path, tmp_path: Path) -> None:
    found = Imitation(replace(settings(data), device="auto"), tmp_path).view
    assert found.device.type == ("cpu" if problem() else "cuda")
