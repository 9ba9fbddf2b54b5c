"""Environments: who acts in them, how opponents are drawn, what one ply stores, and which agents answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import plyground as pg
from conftest import TINY
from plyground.agents.network import NetworkAgent
from plyground.agents.registry import make
from plyground.backend import parts
from plyground.backend.games import DeviceGame, on_device
from plyground.backend.view import View
from plyground.errors import Error, IllegalAction
from plyground.learners.config import DQN, opponent_shares
from plyground.learners.selfplay import MAX_REASONS, MAX_REASONS_PER_PLY, GameResults, SelfPlay, Transition
from plyground.models.network import NetworkModel
from plyground.networks import make_network


def environments(**changes: Any) -> SelfPlay:
    config = DQN(**{"game": "connect_four", "num_envs": 256, "max_plies": 0, **changes})
    return SelfPlay(pg.load(config.game), "cpu", config, torch.Generator().manual_seed(config.seed))


def random_ply(games: SelfPlay, snapshots: Any = ()) -> Transition:
    return games.step(games.batch.random_actions(), snapshots)


def test_shares_add_up_to_1_and_wrong_ones_are_refused() -> None:
    assert opponent_shares(("1 self", "3 greedy")) == {"self": 0.25, "greedy": 0.75}
    assert opponent_shares(("2 minimax:depth=1",)) == {"minimax:depth=1": 1.0}
    for mix in (("self",), ("0 self",), ("-1 self",), ("nan self",), ("inf self",), ("1 ",), ("1",)):
        with pytest.raises(Error, match="an opponent is a weight and an agent spec"):
            opponent_shares(mix)
    assert opponent_shares(()) == {"self": 1.0}


def test_opponents_are_drawn_by_their_shares_and_the_learner_plays_both_sides() -> None:
    games = environments(num_envs=4000, opponents=("1 self", "2 random", "1 greedy"))
    shares = np.bincount(games.opponent, minlength=3) / 4000
    assert shares == pytest.approx([0.25, 0.5, 0.25], abs=0.03)
    assert games.side.float().mean().item() == pytest.approx(0.5, abs=0.03)


def test_the_learner_acts_on_its_side_and_against_itself_on_both() -> None:
    games = environments(opponents=("1 self", "1 random"))
    for _ in range(5):
        random_ply(games)
    myself = games.opponent == 0
    assert torch.equal(games.own_turns(), myself | (games.side == games.batch.to_move))
    assert games.own_turns()[myself].all()
    assert 0 < int(games.own_turns()[~myself].sum()) < int((~myself).sum())


def test_a_scripted_opponent_answers_with_its_own_action_and_generator(connect_four: pg.Game) -> None:
    games, agent = environments(num_envs=64, opponents=("1 greedy",)), make("greedy", connect_four)
    games.batch.random_play(9)
    records, rngs = games.batch.on.to_records(games.batch.states).copy(), games.agent_rngs.numpy().copy()
    chances = games.batch.rngs.numpy().copy()
    theirs = ~games.own_turns().numpy()
    actions = torch.full((64,), -1, dtype=torch.int32)
    own = games._answer(actions, [])
    assert own.tolist() == (~theirs).tolist()
    assert 0 < theirs.sum() < 64
    wanted = rngs[theirs].copy()
    assert actions.numpy()[theirs].tolist() == agent.act(records[theirs], wanted).tolist()
    assert (actions.numpy()[~theirs] == -1).all(), "the learner's rows are left alone"
    after = games.agent_rngs.numpy()
    assert after[theirs].tolist() == wanted.tolist()
    assert after[~theirs].tolist() == rngs[~theirs].tolist()
    assert games.batch.rngs.numpy().tolist() == chances.tolist(), "what decides the games is not drawn from"


def test_an_agent_that_searches_answers_on_records(connect_four: pg.Game) -> None:
    games = environments(num_envs=32, opponents=("1 minimax:depth=2",))
    games.batch.random_play(9)
    records, theirs = games.batch.on.to_records(games.batch.states).copy(), ~games.own_turns().numpy()
    rngs = games.agent_rngs.numpy().copy()[theirs]
    actions = torch.full((32,), -1, dtype=torch.int32)
    games._answer(actions, [])
    wanted = make("minimax:depth=2", connect_four).act(records[theirs], rngs)
    assert actions.numpy()[theirs].tolist() == wanted.tolist()


def test_an_opponent_sees_what_its_seat_may_know_and_foresees_nothing() -> None:
    games, seen = environments(game=TINY[0], num_envs=64, opponents=("1 random",)), list[Any]()

    class Asked:
        def act(self, states: Any, rngs: Any) -> Any:
            seen.extend((states.copy(), rngs.copy()))
            return games.game.legal_mask(states).argmax(1)

    games.agents["random"] = Asked()
    records, theirs = games.batch.on.to_records(games.batch.states).copy(), ~games.own_turns().numpy()
    games._answer(torch.full((64,), -1, dtype=torch.int32), [])
    states, rngs = seen
    assert (states["where"] != records["where"][theirs]).any()
    side = states["to_move"][:, None]
    assert ((states["where"] == side) == (records["where"][theirs] == side)).all()
    assert not np.isin(rngs, games.batch.rngs.numpy()).any()


def test_runs_whose_opponents_drew_from_the_games_go_on(connect_four: pg.Game) -> None:
    games = environments(num_envs=8)
    old = {name: tensor.numpy().copy() for name, tensor in games.state().items() if name != "agent_rngs"}
    games.load_state(old)
    assert len(set(games.agent_rngs.tolist())) == 8


def test_snapshots_answer_each_in_its_own_rows(connect_four: pg.Game) -> None:
    view = View(connect_four, "")
    agents = [NetworkAgent(NetworkModel(view, make_network("8", view.shape, view.outputs))) for _ in range(2)]
    for column, agent in enumerate(agents):
        with torch.no_grad():
            for each in agent.network.parameters():
                each.zero_()
            agent.network.head.bias[column] = 1.0  # pyright: ignore
    games = environments(num_envs=64, opponents=("1 snapshot",), snapshots=2)
    actions = torch.full((64,), -1, dtype=torch.int32)
    own = games._answer(actions, agents)
    assert torch.equal(actions[~own].long(), (games.snapshot % 2)[~own])
    assert {0, 1} <= set(actions.tolist())
    before = torch.full((64,), -1, dtype=torch.int32)
    games._answer(before, [])
    assert (before == -1).all(), "without snapshots the learner's own actions stand"


@pytest.mark.parametrize("spec", ["connect_four", *TINY])
def test_a_transition_is_what_the_rules_say(spec: str) -> None:
    games = environments(game=spec, num_envs=16, max_plies=12)
    on = games.batch.on
    for _ in range(30):
        before, plies = games.batch.states.clone(), games.batch.plies.clone()
        ply = random_ply(games)
        assert torch.equal(ply.states, on.heads(before))
        assert torch.equal(ply.lengths, plies + 1)
        assert torch.equal(ply.terminated, on.field(ply.next_states, "outcome") > 0)
        assert torch.equal(ply.truncated, (ply.lengths == 12) & ~ply.terminated)
        won = on.field(ply.next_states, "outcome") - 2 == on.field(ply.states, "to_move")
        assert torch.equal(ply.rewards == 1, won & ply.terminated)
        assert (games.batch.plies[ply.terminated | ply.truncated] == 0).all(), "new games"
    assert games.results.games > 0


def test_a_new_game_draws_a_new_opponent_and_a_running_one_keeps_it() -> None:
    games = environments(opponents=("1 self", "1 random"))
    changed = torch.zeros(256, dtype=torch.bool)
    for _ in range(40):
        before = games.opponent.clone()
        ply = random_ply(games)
        over = ply.terminated | ply.truncated
        assert torch.equal(games.opponent[~over], before[~over])
        changed |= games.opponent != before
    assert changed.float().mean() > 0.3


def test_openings_are_random_and_at_most_as_long_as_said() -> None:
    games = environments(num_envs=2000, opening_plies=4)
    stones = games.batch.on.to_records(games.batch.states)["ply"]
    assert set(stones.tolist()) == {0, 1, 2, 3, 4}
    assert (games.batch.plies == 0).all() or set(games.batch.plies.tolist()) <= {0, 1, 2, 3, 4}
    assert len({bytes(row) for row in games.batch.states[:200].numpy()}) > 20


def test_games_begin_with_the_openings_of_a_book(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("444\n12345\n")
    games = environments(num_envs=64, openings=str(tmp_path / "book.txt"))
    begun = games.batch.states.clone()
    wanted = {bytes(row) for row in begun.numpy()}
    assert len(wanted) == 2
    for _ in range(40):
        ply = random_ply(games)
        over = ply.terminated | ply.truncated
        assert {bytes(row) for row in games.batch.states[over].numpy()} <= wanted
        assert not (ply.terminated & (ply.lengths < 3)).any(), "the plies of an opening are not counted"


@pytest.mark.parametrize(("name", "value"), [("opponent", 2), ("opponent", -1), ("side", 2), ("plies", -1)])
def test_saved_games_with_an_impossible_opponent_or_side_are_refused(name: str, value: int) -> None:
    games = environments(num_envs=3, opponents=("1 self", "1 random"))
    saved = {each: tensor.numpy().copy() for each, tensor in games.state().items()}
    games.load_state(saved)
    saved[name][1] = value
    with pytest.raises(pg.InvalidValue, match=f"the games' {name} is from 0 to .*, not from"):
        games.load_state(saved)


def test_an_illegal_action_is_an_error_that_names_its_row() -> None:
    games = environments(num_envs=8)
    actions = torch.zeros(8, dtype=torch.int32)
    for _ in range(6):
        games.step(actions.clone())
    actions[:] = 1
    actions[5] = 0
    with pytest.raises(IllegalAction, match="row 5: 0 is not legal"):
        games.step(actions)


def rows(games: DeviceGame, *texts: str) -> torch.Tensor:
    """[N, bytes] heads of positions."""
    return torch.cat([games.from_records(games.game.heads(games.game.position(text).states)) for text in texts])


def ended(next_states: torch.Tensor, terminated: torch.Tensor, truncated: torch.Tensor, lengths: torch.Tensor) -> Any:
    """A ply of every environment that led to these states."""
    nothing = torch.zeros_like(lengths)
    return Transition(next_states, nothing, nothing, next_states, terminated, truncated, terminated, lengths)


def counted(games: DeviceGame, results: GameResults, ply: Transition, illegal: int | None = None) -> None:
    results.add(games, ply, torch.tensor([len(ply.actions) if illegal is None else illegal]))
    results.count(games, ply)


def test_counts_that_are_read_later_are_the_same(connect_four: pg.Game) -> None:
    """On a GPU they are read only at every READ_INTERVAL-th ply; what was not read yet is saved too."""
    games, late = on_device(connect_four, "cpu"), GameResults(connect_four, "cpu", 2)
    late.interval = 3
    ply = ended(
        rows(games, "1212121", "12"), torch.tensor([True, False]), torch.tensor([False] * 2), torch.tensor([7, 2])
    )
    for seen in (0, 0, 3, 3):
        counted(games, late, ply)
        assert late.games == seen
    saved, plain, again = {}, {}, GameResults(connect_four, "cpu", 2)
    parts.dump("results", late, saved, plain)
    parts.restore("results", again, saved, plain)
    again.interval = 3
    counted(games, again, ply, illegal=1)
    with pytest.raises(IllegalAction, match="row 1: 0 is not legal"):
        counted(games, again, ply)
    assert (again.games, again.counts["plies"], again.counts["longest"]) == (6, 42, 7)


def test_reasons_are_counted_however_many_games_end_at_once(connect_four: pg.Game) -> None:
    """Of 2,000 games that end together some are put into words, and of those that end later too."""
    n = 2000
    games, results, yes = on_device(connect_four, "cpu"), GameResults(connect_four, "cpu", n), torch.ones(n) > 0
    ply = ended(rows(games, "1212121").repeat(n, 1), yes, ~yes, torch.full((n,), 7, dtype=torch.int32))
    for _ in range(2):
        counted(games, results, ply)
    assert results.games == 2 * n
    assert results.reasons == {"four in a row": 2 * MAX_REASONS_PER_PLY}
    for _ in range(30):
        counted(games, results, ply)
    assert results.reasons == {"four in a row": MAX_REASONS}


def five_games(connect_four: pg.Game) -> GameResults:
    """Two wins of the first side, one of the second, one truncation, one game that continues."""
    games, results = on_device(connect_four, "cpu"), GameResults(connect_four, "cpu", 5)
    next_states = rows(games, "1212121", "1212121", "12121232", "12", "12")
    terminated = torch.tensor([True, True, True, False, False])
    truncated = torch.tensor([False, False, False, True, False])
    lengths = torch.tensor([7, 9, 8, 40, 2], dtype=torch.int32)
    counted(games, results, ended(next_states, terminated, truncated, lengths))
    return results


def test_shares_and_lengths_by_hand(connect_four: pg.Game) -> None:
    results = five_games(connect_four)
    assert results.games == 4
    record = results.record()
    assert (record["first_wins"], record["second_wins"], record["draws"], record["truncated"]) == (0.5, 0.25, 0, 0.25)
    assert record["mean_length"] == pytest.approx((7 + 9 + 8 + 40) / 4)
    assert record["longest"] == 40
    assert record["reasons"] == {"four in a row": 3}, "a truncated game has no reason"
    results.clear()
    assert results.record()["games"] == 0
    assert results.record()["reasons"] == {}


def test_saved_counts_are_restored_and_replace_others(connect_four: pg.Game) -> None:
    results, again = five_games(connect_four), GameResults(connect_four, "cpu", 5)
    again.counts["games"], again.reasons["no. 7 of the rules"] = 99, 5
    saved, plain = {}, {}
    parts.dump("results", results, saved, plain)
    parts.restore("results", again, saved, plain)
    assert (again.counts, again.reasons) == (results.counts, results.reasons)
    again.reasons["a reason. With a full stop"] = 2
    plain.clear()
    parts.dump("results", again, saved, plain)
    parts.restore("results", results, saved, plain)
    assert results.reasons == again.reasons


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("counts.games", "3"), ("counts.plies", {"x": 1}), ("counts.longest", -1), ("reasons.over", [1])),
        *(("reasons.over", True), ("unread", 1.5), ("unread", 10**30)),
        *(("sums", -7), ("extremes", -7), ("extremes", 6)),
    ],
)
def test_saved_counts_that_are_none_are_refused_by_name(connect_four: pg.Game, name: str, value: Any) -> None:
    results = GameResults(connect_four, "cpu", 5)
    saved: dict[str, Any] = {"unread": 0, "counts.games": 3}
    saved |= {each: getattr(results, each).numpy().copy() for each in ("sums", "extremes")}
    results.load_state(saved)
    if name in ("sums", "extremes"):
        saved[name][-1] = value
    else:
        saved[name] = value
    with pytest.raises(pg.InvalidValue, match=rf"{name}.* of the games' results"):
        results.load_state(saved)
