"""Batches: rewards, ends, limits, checks, and independence of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import EVERY_GAME, TESTS, TINY
from plyground.games.rng import STEP, agent_seeds, scatter, seeds
from plyground.kernels import threads

PIG = str(TESTS / "tiny_games" / "pig.py")


def test_the_final_state_stays_visible_when_a_fresh_game_takes_its_place(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 2)
    for action in (0, 1, 0, 1, 0, 1):
        step = batch.step([action, action])
        assert not step.terminated.any()
        assert (batch.next_states == batch.states).all()
    step = batch.step([0, 6])
    assert step.rewards.tolist() == [1, 0]
    assert step.terminated.tolist() == [True, False]
    assert step.truncated.tolist() == [False, False]
    final = pg.Position(connect_four, batch.next_states[:1])
    assert final.outcome == pg.Outcome.FIRST_WINS
    assert final == connect_four.position("1212121")
    assert batch.position(0) == connect_four.start()
    assert batch.position(1) == connect_four.position("1212127")
    assert batch.encode("board", batch.next_states)[0].sum() == 4 + 2 * 3
    assert batch.legal_mask(batch.next_states)[0].sum() == 0
    assert batch.plies.tolist() == [0, 7]


def test_the_reward_is_the_acting_sides_also_where_one_loses_by_acting() -> None:
    hops = pg.load(TINY[1], length=5)
    batch = pg.Batch(hops, 1)
    assert batch.step([0]).rewards[0] == 0  # first pushes left, off the middle
    assert batch.to_move[0] == 1
    batch.step([2])  # second rests
    step = batch.step([0])  # first pushes the token over the second side's line
    assert step.terminated[0]
    assert step.rewards[0] == -1


def test_a_limit_of_plies_truncates_and_does_not_terminate(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 3, max_plies=5)
    for ply in range(1, 11):
        step = batch.step(batch.random_actions())
        assert (step.truncated == (ply % 5 == 0)).all()
        assert not step.terminated.any()
        assert (batch.next_states["ply"] == (ply - 1) % 5 + 1).all()
    with_end = pg.Batch(connect_four, 1, max_plies=7)
    for action in (0, 1, 0, 1, 0, 1):
        with_end.step([action])
    step = with_end.step([0])
    assert step.terminated[0]
    assert not step.truncated[0]


def test_an_illegal_action_is_refused_and_nothing_is_played(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 4)
    for _ in range(6):
        batch.step([0, 0, 1, 3])
    before = batch.states.copy()
    with pytest.raises(pg.IllegalAction, match=r"row 1: 0 is not legal in .*; legal: 2, 3, 4, 5, 6, 7 \(numbers 1, 2"):
        batch.step([1, 0, 2, 2])
    assert (batch.states == before).all()
    for wrong in (-1, 7, 2**31 - 1):
        with pytest.raises(pg.IllegalAction):
            batch.step([1, 1, 2, wrong])


@pytest.mark.parametrize("actions", [[1, 2], [[1, 2, 3]], [0.5, 1, 2], ["a", "b", "c"], 3, [2**40, 0, 0]])
def test_what_is_no_list_of_actions_is_refused(connect_four: pg.Game, actions: object) -> None:
    with pytest.raises(pg.Error):
        pg.Batch(connect_four, 3).step(actions)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        *({"n": 0}, {"n": -3}, {"n": "2"}, {"game": None}, {"seed": None}, {"seed": "a"}),
        *({"max_plies": 0}, {"max_plies": 1.5}, {"threads": -1}, {"threads": "1"}),
    ],
)
def test_an_impossible_batch_is_refused(connect_four: pg.Game, wrong: dict[str, Any]) -> None:
    with pytest.raises(pg.InvalidValue):
        pg.Batch(**{"game": connect_four, "n": 2, **wrong})


def test_rows_and_plies_are_numbers(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 2)
    with pytest.raises(pg.InvalidValue, match="a batch of 2 has rows 0 to 1, not 'a'"):
        batch.position("a")  # pyright: ignore
    for wrong in ("a", -1, 1.5):
        with pytest.raises(pg.InvalidValue, match=f"a number of plies, at least 0, not {wrong!r}"):
            batch.random_play(wrong)  # pyright: ignore


def test_results_depend_on_the_seed_and_not_on_threads(game: pg.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "CHUNK", 8)
    batches = [pg.Batch(game, 100, seed=5, threads=n) for n in (1, 2, 7)]
    for _ in range(30):
        actions = [batch.random_actions() for batch in batches]
        steps = [batch.step(row) for batch, row in zip(batches, actions, strict=True)]
        for other in (1, 2):
            assert (actions[other] == actions[0]).all()
            assert all((a == b).all() for a, b in zip(steps[other], steps[0], strict=True))
            assert (batches[other].legal_mask() == batches[0].legal_mask()).all()
    wrong = batches[0].legal_list()[0][:, 0].copy()
    wrong[[60, 97]] = game.num_actions
    assert [game.first_illegal(batches[0].states, wrong, n) for n in (1, 2, 7)] == [60] * 3
    ended = [batch.random_play(50) for batch in batches]
    assert (ended[0] == ended[1]).all()
    assert (ended[0] == ended[2]).all()
    assert ended[0].sum() > 0
    other_seed = pg.Batch(game, 100, seed=6)
    assert (other_seed.random_actions() != pg.Batch(game, 100, seed=5).random_actions()).any()


def test_random_connect_four_has_its_known_statistics(connect_four: pg.Game) -> None:
    ended = pg.Batch(connect_four, 2000, seed=1).random_play(5000)
    games = ended.sum()
    assert ended[2] / games == pytest.approx(0.556, abs=0.01)  # the first side wins
    assert ended[1] / games == pytest.approx(0.0025, abs=0.0015)
    assert 2000 * 5000 / games == pytest.approx(21.3, abs=0.15)


def test_legal_lists_end_in_minus_one(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 1)
    for _ in range(6):
        batch.step([2])
    actions, counts = batch.legal_list()
    assert actions.tolist() == [[0, 1, 3, 4, 5, 6, -1]]
    assert counts.tolist() == [6]


def test_heads_are_copies(game: pg.Game) -> None:
    batch = pg.Batch(game, 4)
    heads = game.heads(batch.states)
    assert heads.dtype == game.rules.HEAD
    before = heads.copy()
    batch.random_play(3)
    assert (heads == before).all()
    assert not np.shares_memory(heads, batch.states)


def test_a_seat_that_does_not_exist_is_refused(connect_four: pg.Game) -> None:
    with pytest.raises(pg.InvalidValue, match="seats 0 to 1, not 2"):
        pg.Batch(connect_four, 1).encode("planes", seat=2)
    with pytest.raises(pg.UnknownName, match="did you mean 'planes-v1'"):
        pg.Batch(connect_four, 1).encode("plane-v1")


@pytest.mark.parametrize(
    "out",
    [
        np.empty((4, 1), np.float32),
        np.empty((4, 2, 6, 7), np.float64),
        np.empty((3, 2, 6, 7), np.float32),
        np.empty((8, 2, 6, 7), np.float32)[::2],
    ],
    ids=["shape", "dtype", "rows", "strided"],
)
def test_room_that_does_not_fit_is_refused(connect_four: pg.Game, out: np.ndarray) -> None:
    with pytest.raises(pg.InvalidValue, match="`out` is a writable, contiguous float32 of shape"):
        pg.Batch(connect_four, 4).encode("planes", out=out)
    with pytest.raises(pg.InvalidValue, match="`out`"):
        pg.Batch(connect_four, 4).legal_mask(out=np.empty((4, 6), np.bool_))


def test_records_of_another_game_are_refused(connect_four: pg.Game) -> None:
    duel = pg.load(TINY[0])
    with pytest.raises(pg.InvalidValue, match="reads rows of its own records"):
        connect_four.encode("planes", pg.Batch(duel, 3).states)
    assert connect_four.encode("planes", np.zeros(0, connect_four.rules.STATE)).shape == (0, 2, 6, 7)


def test_slices_of_a_batch_encode_like_the_whole(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 10)
    batch.random_play(7)
    assert (batch.encode("planes", batch.states[::3]) == batch.encode("planes")[::3]).all()
    assert (batch.legal_mask(batch.states[::3]) == batch.legal_mask()[::3]).all()


def test_random_play_leaves_a_batch_that_goes_on(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 20, max_plies=3)
    batch.random_play(2)
    assert (batch.plies == 2).all()
    assert (batch.next_states == batch.states).all()
    assert batch.step(batch.random_actions()).truncated.all()


def test_a_row_as_a_position_has_the_rows_chance() -> None:
    batch = pg.Batch(pg.load(TINY[0]), 5, seed=np.int64(5))  # type: ignore[arg-type]
    position = batch.position(3)
    assert position.rngs[0] == batch.rngs[3]
    for wrong in (-1, 5):
        with pytest.raises(pg.InvalidValue, match="rows 0 to 4"):
            batch.position(wrong)


def test_a_name_stands_for_a_game_and_a_batch_says_what_it_is() -> None:
    batch = pg.Batch("connect_four", 1200)
    assert batch.game == pg.load(batch.game) == pg.load("connect_four")
    assert repr(batch) == "<1,200 games of connect_four: 7 actions, 2 seats, planes-v1 2x6x7 and 5 more>"


def test_arguments_in_the_wrong_order_are_answered_with_the_right_one() -> None:
    with pytest.raises(pg.InvalidValue, match=r"such as Batch\('chess', 64\); 'chess' is no number of games"):
        pg.Batch(64, "chess")  # pyright: ignore


# ---- the states after all legal actions ----


def after_some_plies(word: str, n: int = 12, seed: int = 4) -> pg.Batch:
    batch = pg.Batch(word, n, seed=seed)
    for ply in range(9):
        actions = batch.random_actions()
        actions[ply::9] = batch.legal_list()[0][ply::9, 0]
        batch.step(actions)
    return batch


def played_one_by_one(batch: pg.Batch, row: int, actions: list[int], generator: np.uint64) -> list[pg.Position]:
    """The positions after the actions, in the world that the next number of a generator draws."""
    with np.errstate(over="ignore"):
        rngs = scatter(np.array([generator]) + STEP)
    position = pg.Position(batch.game, batch.states[row : row + 1])
    if batch.game.rules.hidden:
        batch.game.kernels().determinize_all(position.states, np.array([position.seat], np.int32), rngs)
    return [pg.Position(batch.game, position.states, rngs=rngs).play(action) for action in actions]


@pytest.mark.parametrize("word", [*EVERY_GAME, PIG])
def test_children_are_what_a_position_becomes(word: str) -> None:
    batch, rngs = after_some_plies(word), seeds(8, 12)
    actions, counts = batch.legal_list()
    before, own, given = batch.states.copy(), batch.rngs.copy(), rngs.copy()
    children = batch.children(actions, rngs)
    assert children.dtype == batch.states.dtype
    assert children.shape == actions.shape
    for row, count in enumerate(counts):
        legal = actions[row, :count].tolist()
        twins = played_one_by_one(batch, row, legal, given[row])
        assert children[row, :count].tobytes() == b"".join(each.states.tobytes() for each in twins)
        assert not children[row, count:].tobytes().strip(b"\0")
    assert (batch.states == before).all()
    assert (batch.rngs == own).all()
    with np.errstate(over="ignore"):
        assert (rngs == (given + STEP if batch.game.uncertain else given)).all()
    few = batch.children(actions[:, :2], given)
    assert (few == children[:, :2]).all()


def test_children_follow_neither_the_dice_to_come_nor_hidden_cards() -> None:
    for word in (PIG, "sequence", TINY[0]):
        batch = after_some_plies(word)
        actions, _ = batch.legal_list()
        first = batch.children(actions, seeds(8, 12))
        batch.rngs[:] = seeds(99, 12)  # another chance will decide
        batch.states[:] = batch.game.redrawn(batch.states, agent_seeds(5, 12))  # and others' cards differ
        assert (batch.children(actions, seeds(8, 12)) == first).all(), word
        assert (batch.children(actions, seeds(9, 12)) != first).any(), word


def test_a_child_says_nothing_of_the_die_that_falls() -> None:
    """In Pig: each face after each, as often as chance has it; all faces are equally likely."""
    batch, faces = pg.Batch(PIG, 6000, seed=1), np.zeros((6, 6))
    for _ in range(3):
        batch.states["turn"] = 0
        own = batch.rngs.copy()
        child = batch.children(batch.legal_list()[0])[:, 0]
        assert (batch.rngs == own).all()
        batch.step(np.zeros(6000, np.int32))
        foreseen, fallen = (np.where(each["turn"] == 0, 0, each["turn"] - 1) for each in (child, batch.next_states))
        np.add.at(faces, (foreseen, fallen), 1)
    expected = 18000 / 36
    assert ((faces - expected) ** 2 / expected).sum() < 75  # chi squared of 35 degrees: one in ten thousand


def test_children_of_actions_that_are_not_legal_are_refused(connect_four: pg.Game) -> None:
    batch = pg.Batch(connect_four, 2)
    for _ in range(6):
        batch.step([0, 1])
    for wrong in (0, 7, 2**31 - 1):
        with pytest.raises(pg.IllegalAction, match=f"row 0: {wrong} is not legal"):
            batch.children(np.array([[3, wrong], [0, -1]], np.int32))
    for odd in ([[0], [0]], np.zeros(2, np.int32), np.zeros((3, 1), np.int32), np.zeros((2, 1))):
        with pytest.raises(pg.InvalidValue, match=r"as legal_list returns them, \[2, K\] int32"):
            batch.children(odd)
    assert batch.children(np.zeros((2, 0), np.int32)).shape == (2, 0)


def test_what_chance_may_bring_has_its_mean_over_children() -> None:
    """A state's children, drawn again and again: the mean of a roll in Pig is that of a die."""
    batch, found = pg.Batch(PIG, 1, seed=1), list[int]()
    for _ in range(3000):
        child = batch.children(np.zeros((1, 1), np.int32))[0, 0]
        found.append(int(child["turn"]) if child["to_move"] == 0 else 1)
    assert abs(np.mean(found) - 3.5) < 0.15
    assert set(found) == {1, 2, 3, 4, 5, 6}
