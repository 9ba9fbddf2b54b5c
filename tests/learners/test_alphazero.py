"""AlphaZero: its targets by hand and against exact values, what it refuses, resume, and that it learns."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import TINY
from plyground.agents.registry import make
from plyground.agents.search import AS_LEARNED, make_search
from plyground.errors import Error
from plyground.games.connect_four.solver.solver import NO_MOVE, perfect
from plyground.games.rng import seeds
from plyground.kernels.replay import RUNS_ON, TERMINATED, TRUNCATED
from plyground.learners import saving
from plyground.learners.alphazero import AlphaZeroLearner, Targets, entropy_of_targets, policy_loss, value_loss
from plyground.learners.config import AlphaZero
from plyground.learners.defaults import resolve
from plyground.learners.training import save, train
from plyground.models.network import NetworkEvaluator
from plyground.networks import log_probabilities
from plyground.runs.directory import create, newest_whole
from plyground.search.network_search import NetworkSearch, search_records
from plyground.search.tree_arrays import OPEN
from plyground.search.tree_config import SearchConfig
from resumed import after_steps, begin, check_resume, silent
from runs_on_disk import read_records
from small_runs import ROW, trained

SMALL: dict[str, Any] = {
    "game": ROW, "network": "16+value", "num_envs": 8, "simulations": 8, "buffer_size": 400, "learning_starts": 32,
    "batch_size": 16, "cycles": 9, "games_per_cycle": 20, "eval_games": 4, "threads": 1, "eval_opponents": ("random",),
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "small": {},
    "everything": {
        "opponents": ("0.4 self", "0.3 snapshot", "0.3 greedy"), "snapshot_interval": 1, "snapshots": 2,
        "simulations_initial": 3, "opening_plies": 3, "opening_share": 0.5, "gate": True, "game": "connect_four",
        "weight_decay": 0.1,
    },
    "normed": {"network": "b1c4-norm+value", "opponents": ("0.5 self", "0.5 snapshot"), "snapshot_interval": 1},
    "otherwise": {"game": TINY[1], "max_plies": 9, "opponents": ("0.5 self", "0.5 random"), "symmetries": False},
}  # fmt: skip
SOLVES: dict[str, Any] = {
    "network": "256-128+value", "num_envs": 256, "simulations": 16, "opening_plies": 8, "games_per_cycle": 5000,
    "cycles": 1, "buffer_size": 20_000, "learning_starts": 1000, "batch_size": 512, "learning_rate": 4e-3,
    "replay_ratio": 8.0,
}  # fmt: skip


def small(**changes: Any) -> AlphaZero:
    return AlphaZero(**{**SMALL, **changes})


def learner_of(**changes: Any) -> AlphaZeroLearner:
    return AlphaZeroLearner(resolve(small(**changes)))


def test_runs_are_evaluated_by_the_search_that_they_learned_with() -> None:
    """The same settings, read from the config, without noise."""
    learner = learner_of(value_scale=0.4, considered=5)
    config = learner.config
    how = {name: getattr(config, name) for name in AS_LEARNED}
    agent = make_search(learner.game, {"sims": str(config.simulations)}, learner.model.present, how)
    assert agent.config == replace(learner.search.config, noise=False)


def test_a_policy_is_learned_by_the_outputs_of_the_side_to_move() -> None:
    """The encoder turns the board for Black: what White learns of e2e4, Black learns of e7e5."""
    learner = AlphaZeroLearner(resolve(small(game="chess", encoder="planes", num_envs=2)), plays=False)
    game, found, replay = learner.game, learner.found, learner.replay
    board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR {} KQkq - 0 1"
    positions = [game.position(board.format(side)) for side in "wb"]
    for row, (position, name) in enumerate(zip(positions, ("e2e4", "e7e5"), strict=True)):
        replay.states[0, row] = learner.view.rows(position.states)[0, : replay.states.shape[2]]
        found.actions[0, row, 0] = position.action(name)
        found.policy[0, row, 0] = 1.0
    replay.usable[0], replay.plies.ended[0], replay.time = True, TERMINATED, 1
    targets = learner.sample()
    assert set(learner.view.on.seats(targets.states).tolist()) == {0, 1}
    assert set(targets.outputs[:, 0].tolist()) == {positions[0].action("e2e4")}, "White's outputs are the actions"
    assert targets.policy[:, 0].eq(1.0).all()


# ---- value targets by hand ----

Ply = tuple[int, int, float, int, bool, float]  # side, next side, reward, ended, explored, the search's value


def value_targets(plies: list[Ply], td_lambda: float, gamma: float = 1.0) -> list[float]:
    """The targets of a game of one environment."""
    learner = learner_of(num_envs=1)
    replay, stored = learner.replay, learner.replay.plies
    for row, (side, next_side, reward, ended, explored, value) in enumerate(plies):
        stored.sides[row], stored.next_sides[row], stored.rewards[row] = side, next_side, reward
        stored.ended[row], stored.explored[row], learner.found.values[row] = ended, explored, value
    replay.time = len(plies)
    return replay.lambda_returns(torch.arange(len(plies)), learner.found.values, gamma, td_lambda).tolist()


def test_the_result_is_negated_for_the_side_that_lost() -> None:
    plies: list[Ply] = [
        (0, 1, 0.0, RUNS_ON, False, 0.5), (1, 0, 0.0, RUNS_ON, False, 0.25), (0, 1, 1.0, TERMINATED, False, 0.75),
    ]  # fmt: skip
    assert value_targets(plies, 1.0) == [1.0, -1.0, 1.0]
    assert value_targets(plies, 0.0) == [0.5, 0.25, 0.75]
    last = 0.5 * 0.75 + 0.5 * 1.0
    middle = 0.5 * 0.25 - 0.5 * last
    assert value_targets(plies, 0.5) == pytest.approx([0.5 * 0.5 - 0.5 * middle, middle, last])
    assert value_targets(plies, 1.0, gamma=0.5) == [0.25, -0.5, 1.0]


def test_a_side_that_acts_twice_keeps_the_sign() -> None:
    """Side 0 acts twice, then side 1 wins."""
    plies: list[Ply] = [
        (0, 0, 0.0, RUNS_ON, False, 0.5), (0, 1, 0.0, RUNS_ON, False, 0.5), (1, 0, 1.0, TERMINATED, False, 0.5),
    ]  # fmt: skip
    assert value_targets(plies, 1.0) == [-1.0, -1.0, 1.0]
    assert value_targets(plies, 1.0, gamma=0.5) == [-0.5, -0.5, 1.0]


def test_a_result_counts_only_as_far_as_the_search_played() -> None:
    """In the second ply an opponent played something else, or the position was proven: its own value stands there."""
    plies: list[Ply] = [
        (0, 1, 0.0, RUNS_ON, False, 0.5), (1, 0, 0.0, RUNS_ON, True, -0.25), (0, 1, 1.0, TERMINATED, False, 0.75),
    ]  # fmt: skip
    assert value_targets(plies, 1.0) == [0.25, -0.25, 1.0]
    assert value_targets(plies, 0.5) == pytest.approx([0.5 * 0.5 + 0.5 * 0.25, -0.25, 0.875])


@pytest.mark.parametrize(("next_side", "expected"), [(0, [-0.75, 0.75]), (1, [-0.75, 0.75])])
def test_a_truncated_game_keeps_the_value_of_its_last_search(next_side: int, expected: list[float]) -> None:
    """Whoever would have moved next."""
    plies: list[Ply] = [(0, 1, 0.0, RUNS_ON, False, 0.5), (1, next_side, 0.0, TRUNCATED, False, 0.75)]
    assert value_targets(plies, 1.0) == expected


# ---- policy targets ----


def test_the_policy_loss_by_hand() -> None:
    logits, legal = torch.tensor([[0.0, 1.0, 2.0, 9.0]]), torch.tensor([[True, True, True, False]])
    targets = Targets(
        torch.zeros(1, 1), torch.tensor([[2, 0, 3]]), torch.tensor([[0.75, 0.25, 0.0]]), *[torch.ones(1)] * 2
    )
    log_probs = log_probabilities(logits, legal)
    total = np.log(1 + np.e + np.e**2)
    assert policy_loss(log_probs, targets).tolist() == pytest.approx([0.75 * (total - 2) + 0.25 * total])
    entropy = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    assert entropy_of_targets(targets.policy).tolist() == pytest.approx([entropy])


def test_the_value_loss_is_least_at_its_target_and_does_not_saturate() -> None:
    values = torch.linspace(-0.99, 0.99, 199)
    for target in (-1.0, -0.5, 0.0, 0.7, 1.0):
        losses = value_loss(values, torch.tensor(target))
        assert abs(float(values[losses.argmin()]) - target) <= 0.011
    logit = torch.tensor([-5.0], requires_grad=True)  # sure to lose, and wrong
    value_loss(torch.tanh(logit), torch.tensor([1.0])).sum().backward()
    assert float(logit.grad) == pytest.approx(-2.0, abs=0.01)  # type: ignore


@pytest.mark.parametrize("word", ["connect_four", ROW], ids=["connect_four", "three_in_a_row"])
def test_targets_belong_to_their_positions(word: str) -> None:
    """In the positions that are learned from, transformed by symmetries, the policy has only legal actions; and where
    one wins at once, it wins and the value is 1."""
    learner = learner_of(game=word, num_envs=64, buffer_size=6400, batch_size=400, max_plies=40)
    rules, view = learner.game.rules, learner.view
    while learner.games.results.games < 100:
        learner.play()
    targets = learner.sample()
    assert targets.weights.mean() > 0.9
    records, legal = view.on.to_records(targets.states), view.legal(targets.states)
    assert (legal.gather(1, targets.outputs) | (targets.policy == 0)).all()
    torch.testing.assert_close(targets.policy.sum(1), torch.ones(400))
    actions, wins = (
        view.action_of(targets.states, targets.outputs.gather(1, targets.policy.argmax(1)[:, None])[:, 0]),
        0,
    )
    for record, action, value, weight in zip(records, actions.tolist(), targets.values, targets.weights, strict=True):
        position = pg.Position(learner.game, np.array([record]).astype(rules.HEAD))
        won = 2 + position.to_move
        if weight and any(position.play(each).outcome == won for each in position.legal()):
            wins += 1
            assert position.play(action).outcome == won, position.text
            assert value == 1.0
    assert wins > 8


@functools.cache
def exact(cells: tuple[int, ...]) -> tuple[int, tuple[bool, ...]]:
    """Of a running position of three in a row: its value for the side to move, and which actions keep it."""
    lines = (0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)
    side, found = 1 + (9 - cells.count(0)) % 2, [-9] * 9
    for cell in (each for each in range(9) if cells[each] == 0):
        after = (*cells[:cell], side, *cells[cell + 1 :])
        won = any(all(after[each] == side for each in line) for line in lines)
        found[cell] = 1 if won else 0 if 0 not in after else -exact(after)[0]
    return max(found), tuple(each == max(found) for each in found)


def every_position(game: pg.Game) -> tuple[Any, Any]:
    """All running positions of three in a row that play can reach, and which actions keep their value [N, 9]."""
    exact.cache_clear()
    exact((0,) * 9)
    found, waiting = dict[tuple[int, ...], Any](), [(0,) * 9]
    while waiting:
        cells = waiting.pop()
        if cells in found:
            continue
        found[cells] = exact(cells)[1]
        for cell in (each for each in range(9) if cells[each] == 0):
            after = game.position("".join(".xo"[each] for each in cells)).play(cell)
            if not after.over:
                waiting.append(tuple(after.states["cells"][0].tolist()))
    states = np.repeat(game.start().states, len(found))
    states["cells"] = list(found)
    states["to_move"] = (states["cells"] != 0).sum(1) % 2
    return states, np.array(list(found.values()))


def test_proven_values_are_those_of_perfect_play() -> None:
    """A wrong sign, or the value of the other side, would be seen here."""
    learner = learner_of(num_envs=64, buffer_size=6400, batch_size=2000, simulations=32, opening_plies=4)
    while learner.games.results.games < 300:
        learner.play()
    indices = learner.replay.draw(2000)
    proven = learner.replay.at(learner.replay.plies.explored, indices) & learner.replay.at(
        learner.replay.usable, indices
    )
    values = learner.replay.lambda_returns(indices, learner.found.values, 1.0, 0.5)[proven]
    cells = learner.view.on.to_records(learner.replay.at(learner.replay.states, indices))["cells"][proven.numpy()]
    right = [exact(tuple(each))[0] for each in cells.tolist()]
    assert values.tolist() == right
    assert {*right} == {-1, 0, 1}


# ---- play ----


def test_the_ply_that_is_played_is_the_one_that_the_search_chose() -> None:
    learner = learner_of()
    found = learner.search_positions()
    states, chosen = learner.view.on.to_records(learner.games.batch.states.clone()), found.chosen.clone()
    learner.found.write(found)
    ply = learner.games.step(found.chosen.clone())
    for state, action, after in zip(states, chosen.tolist(), learner.view.on.to_records(ply.next_states), strict=True):
        assert (pg.Position(learner.game, state[None]).play(action).states["cells"] == after["cells"]).all()


def test_positions_of_opponents_are_learned_from_but_end_the_result() -> None:
    learner = learner_of(opponents=("1 random",), num_envs=64, buffer_size=6400, simulations=2)
    for _ in range(12):
        learner.play()
    replay = learner.replay
    assert replay.usable.any()
    rows = slice(replay.filled)
    found, chosen = learner.found, replay.actions[rows]
    best = found.actions[rows].gather(2, found.policy[rows].argmax(2, keepdim=True))[:, :, 0]
    others = ~replay.plies.explored[rows]
    assert (chosen[others] == best[others]).float().mean() > 0.4, "what the search chose, apart from its noise"
    assert replay.plies.explored[rows].float().mean() > 0.3


def test_with_a_gate_the_best_network_plays() -> None:
    learner = learner_of(gate=True)
    before = learner.search_positions().values.clone()
    with torch.no_grad():
        for weights in learner.model.network.parameters():
            weights.add_(0.3)
    learner.games.batch.rngs.copy_(learner_of(gate=True).games.batch.rngs)
    assert learner.search_positions().values.tolist() == before.tolist()
    learner.model.keep_best()
    assert learner.search_positions().values.tolist() != before.tolist()


def test_simulations_grow_with_the_run() -> None:
    learner, most = learner_of(simulations=20, simulations_initial=4), list[int]()
    for learner.state.progress in (0.0, 0.5, 1.0):
        most.append(int(learner.search_positions().simulations.max()))
    assert most == [4, 12, 20]


@pytest.mark.parametrize(("rows", "notes"), [(4, 1), (45, 0)])
def test_a_buffer_that_is_shorter_than_the_games_is_noted_once(rows: int, notes: int) -> None:
    settings = {
        "game": "connect_four",
        "simulations": 2,
        "learning_starts": 16,
        "replay_ratio": 0.0,
        "opening_plies": 0,
    }
    learner = learner_of(buffer_size=8 * rows, **settings)
    for _ in range(rows + 4):
        learner.play()
    assert len(learner.state.notes) == notes
    for note in learner.state.notes:
        assert note.startswith(
            "the replay buffer holds 4 plies of each environment (buffer_size / num_envs), and in 100%"
        )
        assert note.endswith("give a larger buffer_size or fewer num_envs")


def test_a_share_of_the_games_begins_at_the_start() -> None:
    learner = learner_of(num_envs=400, buffer_size=4000, opening_plies=5, opening_share=0.5)
    stones = (learner.view.on.to_records(learner.games.batch.states)["cells"] != 0).sum(1)
    assert 0.4 < (stones == 0).mean() < 0.75, "half of them, and a sixth of the others"


# ---- runs ----


@pytest.mark.parametrize("variant", VARIANTS)
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, variant: str) -> None:
    check_resume(tmp_path, small(**VARIANTS[variant]), 30)


def test_without_its_buffer_a_run_resumes_with_weights_optimizer_and_counters(tmp_path: Path) -> None:
    learner = learner_of(save_buffer=False)
    with create(tmp_path / "run", {}) as run:
        for _ in range(30):
            learner.iterate()
        save(learner, run)
    again = learner_of(save_buffer=False)
    saving.load(again, newest_whole(run.path))
    assert (again.state.updates, again.state.plies) == (learner.state.updates, 240)
    for one, other in zip(learner.model.network.parameters(), again.model.network.parameters(), strict=True):
        assert torch.equal(one, other)
    assert len(again.replay) == 0
    assert not list(newest_whole(run.path).path.glob("replay*"))
    before = again.state.updates
    for _ in range(3):
        assert not again.iterate(), "the buffer refills before the next update"
    assert again.state.updates == before
    for _ in range(9):
        again.iterate()
    assert again.state.updates > before


def test_a_run_records_its_metrics_and_its_network_plays(tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", small())
    with run:
        train(learner, run, silent, after_steps(learner, 40))
    cycle = [record for record in read_records(run.path) if record["event"] == "cycle"][-1]
    assert {"policy_loss", "kl", "agreement", "value_error", "entropy", "gradient", "proven"} <= cycle.keys()
    assert {"search", "network", "update", "replay", "rules"} <= cycle["seconds"].keys()
    game = learner.game
    for spec in (f"run:{run.path}", f"search:model={run.path},sims=8"):
        action = make(spec, game).act(game.start().states, seeds(0, 1))[0]
        assert 0 <= action < 9


@pytest.mark.parametrize(
    "word",
    [
        "connect_four",
        f"{TINY[1]}:length=5,resting=forbidden",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("chess", "paco_sako")),
    ],
)
def test_updates_on_other_games(word: str) -> None:
    """Finite metrics, no illegal action."""
    learner, metrics = learner_of(game=word, max_plies=20, simulations=4), dict[str, float]()
    before = [weights.clone() for weights in learner.model.network.parameters()]
    while learner.state.updates < 50:  # no step raises IllegalAction
        metrics = {**metrics, **learner.iterate()}
    assert all(np.isfinite(value) for value in metrics.values())
    assert len(metrics) == 7
    assert any(not torch.equal(*pair) for pair in zip(before, learner.model.network.parameters(), strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"network": "16"}, r"value head: 16\+value, not 16"),
        ({"buffer_size": 24}, "buffer_size holds 24 plies, but updates begin with 32"),
        ({"simulations_initial": 9}, "simulations_initial is at most simulations, 8, not 9"),
        ({"simulations": 1}, "simulations is a number of at least 2"),
    ],
)
def test_settings_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        small(**change)


def test_games_with_hidden_hands_are_refused() -> None:
    with pytest.raises(Error, match="alphazero needs a game without chance in which nothing is hidden; sequence"):
        learner_of(game="sequence")


# ---- learning ----


def share_kept(actions: Any, keeps: Any) -> float:
    return float(keeps[np.arange(len(keeps)), actions].mean())


def test_three_in_a_row_from_any_position() -> None:
    """After some seconds nearly perfect without search, and with 64 simulations all but one in a thousand."""
    learner = trained("alphazero", **SOLVES)
    states, keeps = every_position(learner.game)
    rngs = seeds(1, len(states))
    assert len(states) == 4520
    assert share_kept(learner.model.agent().act(states.copy(), rngs), keeps) > 0.97
    config = SearchConfig(simulations=64, selection="gumbel", leaf="network")
    search = NetworkSearch(learner.view, NetworkEvaluator(learner.view, learner.model.network), config, len(states))
    found = search_records(search, states, rngs)
    assert share_kept(found.chosen, keeps) > 0.999
    assert (found.proven != OPEN).mean() > 0.5


def late_positions(game: pg.Game) -> tuple[Any, Any]:
    """Positions of random games where moves differ in win, draw or loss, and which moves keep the value [N, 7]."""
    batch = pg.Batch(game, 400, seed=9, threads=1)
    for _ in range(24):
        batch.step(batch.random_actions())
    states = batch.states[batch.states["ply"] >= 16].copy()
    scores = perfect().move_scores(states).astype(np.int64)
    signs = np.where(scores != NO_MOVE, np.sign(scores), -9)
    differ = np.where(scores != NO_MOVE, signs, 9).min(1) < signs.max(1)
    return states[differ], (signs == signs.max(1, keepdims=True))[differ]


@pytest.mark.parametrize(
    ("games", "least"), [(2000, 0.35), pytest.param(25_000, 0.6, marks=pytest.mark.slow)], ids=["tiny", "a minute"]
)
def test_a_short_run_on_connect_four_improves_its_grade(games: int, least: float, connect_four: pg.Game) -> None:
    """The perfect player judges the network without search."""
    states, keeps = late_positions(connect_four)
    settings = {**SOLVES, "network": "128+value", "num_envs": 128, "batch_size": 256, "opening_plies": 30}
    settings |= {"simulations": 8, "buffer_size": 40_000, "games_per_cycle": games, "game": "connect_four"}
    untrained = learner_of(**settings).model.agent().act(states.copy(), seeds(1, len(states)))
    agent = trained("alphazero", **settings).model.agent()
    after = share_kept(agent.act(states.copy(), seeds(1, len(states))), keeps)
    assert after > max(least, share_kept(untrained, keeps) + 0.15)


@pytest.mark.slow
def test_three_in_a_row_from_any_position_without_search() -> None:
    learner = trained("alphazero", **{**SOLVES, "cycles": 12, "replay_ratio": 16.0})
    states, keeps = every_position(learner.game)
    assert share_kept(learner.model.agent().act(states.copy(), seeds(1, len(states))), keeps) == 1.0
