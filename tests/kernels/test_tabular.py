"""Updates of Q-learning, SARSA and Monte Carlo returns by hand, one action after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import plyground as pg
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.sequence.cards import TRADES
from plyground.kernels.table import NOTHING, Rule, update
from plyground.tables import Table

FULL = np.log1p(15000.0)
PLAIN = Rule(
    sarsa=False, learning_rate=0.25, averages=True, gamma=0.9, epsilon=0.0, score_weight=0.4, value_weight=0.0,
    draw_weight=0.5,
    reward_weight=0.1, prior=0.0, full=FULL, limit=10.0,
)  # fmt: skip


# Red has _ooo_ in row 5 and a dead 2s; ah on g5 makes a live four, qs on b5 a four with a gap. 9d would complete the
# four on h5, and lies face up: it is the best card to take.
DEAD_CARD = (
    "#b_______#/__________/__________/__________/___rrr____/__________/__________/__________/______r___/#________# "
    "turn=0 hands=2sahqs6c7d8d,2d3d4d5d6d8s display=9d9sts3s4s deck=5s6s7s8s2c3c4c discards=2s2h3h4h5h6h"
)


class Pupil:
    """One game, in which the seats that are asked learn by the compiled rule, step by step."""

    def __init__(self, text: str, rule: Rule, game: str = "sequence") -> None:
        self.game, self.rule = pg.load(game), rule
        self.table = Table(self.game)
        self.position = self.game.position(text, strict=False)
        self.updates, self.scratch = self.table.updates(1), self.table.scratch()

    def key(self, action: int) -> Any:
        """What the table calls an action here."""
        key = self.scratch.key
        self.table.choose(self.position.states, np.zeros(1, np.uint64), self.rule, self.table.entries, self.scratch)
        key[-1] = self.scratch.words[action % TRADES if action < TRADES else action]
        return key.copy()

    def set(self, name: str, value: float) -> None:
        """Let the table know one value, visited once."""
        self.table.reserve(1)
        update(self.table.entries, self.key(self.position.action(name)), value, 1.0, True)

    def value(self, key: Any) -> tuple[float, int]:
        found = np.zeros(1, np.int64)
        self.table.kernels.find_all(self.table.entries, key[None], found)
        entry = int(found[0])
        return (
            (float(self.table.entries.values[entry]), int(self.table.entries.visits[entry])) if entry >= 0 else (0, 0)
        )

    def act(self) -> str:
        """The seat to move chooses, learns, and plays."""
        row, rng, actions = np.zeros(1, np.int64), np.zeros(1, np.uint64), np.zeros(1, np.int32)
        games = self.table.games(self.position.states, row, rng, actions)
        self.table.learn(games, self.rule, self.updates, self.scratch)
        name = self.position.name(int(actions[0]))
        self.position = self.position.play(name)
        return name

    def end(self, outcome: int) -> None:
        self.table.end_games(np.zeros(1, np.int64), np.array([outcome], np.int8), self.rule, self.updates)


FOUR = np.log(10_000 + 3 + 1) / np.log(15_001)  # a live four, and three times a live one
FIVE = np.log(15_000 + 3 + 1) / np.log(15_001)


@pytest.mark.parametrize(("sarsa", "behind_the_trade"), [(False, 0.9), (True, 0.5)])
def test_updates_by_hand(sarsa: bool, behind_the_trade: float) -> None:
    pupil = Pupil(DEAD_CARD, PLAIN._replace(sarsa=sarsa))
    trade = pupil.key(pupil.position.action("trade 2s take 9d"))
    assert pupil.act() == "trade 2s take 9d"
    assert pupil.position.to_move == 0, "the same turn goes on"
    pupil.set("place ah g5 take 9s", 0.5)
    pupil.set("place qs b5 take 9s", 0.9)
    four = pupil.key(pupil.position.action("place ah g5 take 9s"))
    assert pupil.value(trade) == (0, 0), "judged only when its player acts again"
    assert pupil.act().startswith("place ah g5")
    assert pupil.value(trade) == (pytest.approx(behind_the_trade), 1), "reward 0, and no discount within a turn"
    assert pupil.value(four) == (0.5, 1)
    pupil.position = pupil.position.play("place 2d c3 take 3s")
    pupil.set("place 9d h5 take 9s", 0.4)
    five = pupil.key(pupil.position.action("place 9d h5 take 9s"))
    assert pupil.act().startswith("place 9d h5")
    target = 0.1 * FOUR + 0.9 * 0.4
    assert pupil.value(four) == (pytest.approx(0.5 + (target - 0.5) / 2), 2), "the second visit counts half"
    pupil.end(FIRST_WINS)
    assert pupil.value(five) == (pytest.approx(0.4 + (0.1 * FIVE + 1 - 0.4) / 2), 2)
    assert pupil.updates.sums[0] == 3
    assert pupil.value(trade)[1] == 1, "nothing was judged twice"


def test_monte_carlo_returns_by_hand() -> None:
    """Three actions of one player, a trade among them; what the table knows of later ones plays no part."""
    pupil = Pupil(DEAD_CARD, PLAIN)
    pupil.updates = pupil.table.updates(1, 8)
    trade = pupil.key(pupil.position.action("trade 2s take 9d"))
    pupil.act()
    pupil.set("place ah g5 take 9s", 0.5)
    four = pupil.key(pupil.position.action("place ah g5 take 9s"))
    pupil.act()
    pupil.position = pupil.position.play("place 2d c3 take 3s")
    five = pupil.key(pupil.position.action("place 9d h5 take 9s"))
    pupil.act()
    assert pupil.updates.sums[0] == 0, "nothing is updated before the end"
    assert pupil.updates.pending.waiting.sum(axis=2)[0, :2].tolist() == [3, 0]
    pupil.end(FIRST_WINS)
    last = 0.1 * FIVE + 1
    middle = 0.1 * FOUR + 0.9 * last
    assert pupil.value(five) == (pytest.approx(last), 1)
    assert pupil.value(four) == (pytest.approx((0.5 + middle) / 2), 2)
    assert pupil.value(trade) == (pytest.approx(middle), 1), "reward 0, and no discount within a turn"
    assert not pupil.updates.pending.waiting.any()


def test_the_oldest_action_is_forgotten_where_there_is_no_room_for_more() -> None:
    pupil = Pupil(DEAD_CARD, PLAIN)
    pupil.updates = pupil.table.updates(1, 2)
    trade = pupil.key(pupil.position.action("trade 2s take 9d"))
    pupil.act()
    four = pupil.key(pupil.position.action("place ah g5 take 9s"))
    pupil.act()
    pupil.position = pupil.position.play("place 2d c3 take 3s")
    pupil.act()
    pupil.end(FIRST_WINS)
    assert pupil.value(trade) == (0, 0)
    assert pupil.value(four) == (pytest.approx(0.1 * FOUR + 0.9 * (0.1 * FIVE + 1)), 1)


def test_a_rate_of_alpha_is_the_update_as_it_is_written() -> None:
    """Q += alpha * (reward + gamma * next value - Q), from the first visit on."""
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN._replace(averages=False))
    start, key, value = pupil.position, pupil.key(pupil.position.action("place ah g5 take 9d")), 0.0
    for visit in range(1, 5):
        pupil.position = start
        pupil.act()
        pupil.end(FIRST_WINS)
        value += 0.25 * (0.1 * FOUR + 1 - value)
        assert pupil.value(key) == (pytest.approx(value, abs=1e-6), visit)


def test_a_loss_a_draw_and_a_game_that_was_stopped() -> None:
    for outcome, result in ((FIRST_WINS + 1, -1.0), (DRAW, 0.0)):
        pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN)
        key = pupil.key(pupil.position.action("place ah g5 take 9d"))
        pupil.act()
        pupil.end(outcome)
        assert pupil.value(key) == (pytest.approx(0.1 * FOUR + result), 1)
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN)
    pupil.act()
    pupil.end(RUNNING)
    assert len(pupil.table) == 0
    assert not pupil.updates.pending.waiting.any()


def test_later_visits_count_alpha() -> None:
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN)
    start, key, value = pupil.position, pupil.key(pupil.position.action("place ah g5 take 9d")), 0.0
    for visit in range(1, 9):
        pupil.position = start
        pupil.act()
        pupil.end(FIRST_WINS if visit % 2 else DRAW)
        value += max(0.25, 1 / visit) * (0.1 * FOUR + visit % 2 - value)
        assert pupil.value(key) == (pytest.approx(value, abs=1e-6), visit)


def test_on_the_raw_scale_a_reward_is_the_score_itself() -> None:
    pupil = Pupil(DEAD_CARD, PLAIN._replace(full=0.0, limit=1e6))
    pupil.act()
    assert pupil.act().startswith("place ah g5")
    assert pupil.updates.pending.rewards[0, 0, 0] == pytest.approx(0.1 * 10_003), (
        "a live four, and three times a live one"
    )


def test_what_an_action_does_and_what_it_draws_are_not_mixed() -> None:
    """The drawn card decides which card is taken, but is no part of the reward."""
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN)
    key = pupil.key(pupil.position.action("place ah g5 take 9d"))
    assert pupil.act() == "place ah g5 take 9d"
    assert pupil.updates.pending.rewards[0, 0, 0] == pytest.approx(0.1 * FOUR)
    pupil.end(DRAW)
    assert pupil.value(key)[0] == pytest.approx(0.1 * FOUR)


def test_an_action_without_features_leaves_no_entry() -> None:
    alone = "#________#/" + "__________/" * 8 + "#________# turn=0 hands=5h5h5h5h5h5h,2d3d4d5d6d8s display=9d9sts3s4s"
    pupil = Pupil(alone + " deck=5s6s7s8s2c3c4c", PLAIN._replace(prior=3.0))
    assert pupil.act().startswith("place 5h")
    pupil.end(FIRST_WINS)
    assert len(pupil.table) == 0
    assert pupil.updates.sums[0] == 0


def test_a_guess_is_the_states_value_and_the_actions_advantage() -> None:
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN._replace(prior=3.0, value_weight=0.6))
    key = pupil.key(pupil.position.action("place ah g5 take 9d"))
    state, anywhere = key.copy(), key.copy()
    state[-1], anywhere[:-1] = NOTHING, np.uint64(2**64 - 1)
    pupil.act()
    pupil.end(DRAW)
    for each in (key, state, anywhere):
        assert pupil.value(each) == (pytest.approx(0.1 * FOUR), 1), "the first target, all of it a surprise"
    pupil.position = pg.load("sequence").position(DEAD_CARD.replace("2sah", "9cah"), strict=False)
    pupil.key(0)  # looks at the state
    effect = pupil.position.action("place ah g5 take 9d")
    guess = 0.1 * FOUR + 0.1 * FOUR
    assert pupil.scratch.values[effect] == pytest.approx((1 * 0.1 * FOUR + 3 * guess) / 4)
    other = pupil.position.action("place qs b5 take 9d")
    assert pupil.scratch.values[other] == pytest.approx(0.1 * FOUR), "unknown here and elsewhere: the state's value"
