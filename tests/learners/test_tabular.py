"""The table learner: updates by hand, what is never stored, bounds, bit-exact resume, and that it learns."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT
from every_line import losses_against_everything
from killed import go_on
from plyground.agents.agent import ask, make, tell
from plyground.agents.tabular import load_run, rule_of
from plyground.arena.match import play_match
from plyground.errors import Error
from plyground.games.interface import DRAW, FIRST_WINS, RUNNING
from plyground.games.sequence.cards import TRADES
from plyground.kernels.table import NOTHING, Rule, correct
from plyground.learners import saving
from plyground.learners.config import resolve
from plyground.learners.tabular import Tabular, TabularLearner
from plyground.learners.training import progress, save, train
from plyground.runs.directory import Checkpoint, find_checkpoint, newest_whole, read_metrics, steps_of
from plyground.runs.files import Busy
from plyground.tables import Table
from resumed import begin, check_resume, silent

ROW = str(ROOT / "examples" / "three_in_a_row.py")
THREE = Tabular(
    game=ROW, cycles=3, games_per_cycle=100, num_envs=8, opening_plies=2, eval_games=4, eval_opponents=("random",),
    epsilon=0.5, alpha=0.3, opponents=("1 self", "1 random"),
)  # fmt: skip
RICH = Tabular(
    game="sequence", key="cards", method="sarsa", cycles=3, games_per_cycle=12, num_envs=8, eval_games=2,
    eval_opponents=("random",), opponents=("1 self", "1 greedy"), prior=5.0, epsilon=0.2,
)  # fmt: skip
PLAIN = Rule(
    sarsa=False, alpha=0.25, gamma=0.9, epsilon=0.0, score_weight=0.4, value_weight=0.0, draw_weight=0.5,
    reward_weight=0.1, prior=0.0, limit=10.0,
)  # fmt: skip


# ---- updates by hand ----

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
        self.pending, self.scratch, self.sums = self.table.pending(1), self.table.scratch(), np.zeros(3)

    def key(self, action: int) -> Any:
        """What the table calls an action here."""
        key = self.scratch.key
        self.table.choose(self.position.states, np.zeros(1, np.uint64), self.rule, self.table.entries, self.scratch)
        key[-1] = self.scratch.words[action % TRADES if action < TRADES else action]
        return key.copy()

    def set(self, name: str, value: float) -> None:
        """Let the table know one value, visited once."""
        self.table.reserve(1)
        correct(self.table.entries, self.key(self.position.action(name)), value, 1.0)

    def value(self, key: Any) -> tuple[float, int]:
        found = np.zeros(1, np.int64)
        self.table.kernels.find_all(self.table.entries, key[None], found)
        entry = int(found[0])
        return (
            (float(self.table.entries.values[entry]), int(self.table.entries.visits[entry])) if entry >= 0 else (0, 0)
        )

    def act(self) -> str:
        """The seat to move chooses, learns, and plays."""
        states, actions = self.position.states, np.zeros(1, np.int32)
        self.table.reserve(3)
        self.table.kernels.act_all(
            *(states, self.table.records(states), np.zeros(1, np.int64), np.zeros(1, np.uint64), self.table.entries),
            *(self.rule, True, self.pending, actions, np.zeros(self.game.num_actions, np.int64), self.sums),
            *(self.game.work(), self.scratch),
        )
        name = self.position.name(int(actions[0]))
        self.position = self.position.play(name)
        return name

    def end(self, outcome: int) -> None:
        self.table.reserve(6)
        outcomes = np.array([outcome], np.int8)
        self.table.kernels.end_games(
            np.zeros(1, np.int64), outcomes, self.table.entries, self.rule, self.pending, self.sums
        )


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
    assert pupil.sums[0] == 3
    assert pupil.value(trade)[1] == 1, "nothing was judged twice"


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
    assert not pupil.pending.waiting.any()


def test_later_visits_count_alpha() -> None:
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN)
    key, value = pupil.key(pupil.position.action("place ah g5 take 9d")), 0.0
    for visit in range(1, 9):
        pupil.position = pupil.game.position(DEAD_CARD.replace("2sah", "9cah"), strict=False)
        pupil.act()
        pupil.end(FIRST_WINS if visit % 2 else DRAW)
        value += max(0.25, 1 / visit) * (0.1 * FOUR + visit % 2 - value)
        assert pupil.value(key) == (pytest.approx(value, abs=1e-6), visit)


def test_what_an_action_does_and_what_it_draws_are_not_mixed() -> None:
    """The drawn card decides which card is taken, but is no part of the reward."""
    pupil = Pupil(DEAD_CARD.replace("2sah", "9cah"), PLAIN)
    key = pupil.key(pupil.position.action("place ah g5 take 9d"))
    assert pupil.act() == "place ah g5 take 9d"
    assert pupil.pending.rewards[0, 0] == pytest.approx(0.1 * FOUR)
    pupil.end(DRAW)
    assert pupil.value(key)[0] == pytest.approx(0.1 * FOUR)


def test_an_action_without_features_leaves_no_entry() -> None:
    alone = "#________#/" + "__________/" * 8 + "#________# turn=0 hands=5h5h5h5h5h5h,2d3d4d5d6d8s display=9d9sts3s4s"
    pupil = Pupil(alone + " deck=5s6s7s8s2c3c4c", PLAIN._replace(prior=3.0))
    assert pupil.act().startswith("place 5h")
    pupil.end(FIRST_WINS)
    assert len(pupil.table) == 0
    assert pupil.sums[0] == 0


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


# ---- bounds ----


def _extreme(config: Tabular, moves: int) -> tuple[float, float, float]:
    """The largest value of a state and action, the largest of all, and the limit, after so many moves."""
    learner = TabularLearner(resolve(config))
    while learner.state.plies < moves:
        learner.state.progress = progress(learner)
        learner.iterate()
    values = np.abs(learner.table.state()["values"])
    return float(values[learner.table.plain()].max()), float(values.max()), rule_of(asdict(config)).limit


WILD = replace(RICH, num_envs=64, alpha=1.0, alpha_final=1.0, gamma=1.0, gamma_final=1.0)
WILD = replace(WILD, reward_weight=0.0, epsilon=0.5)


@pytest.mark.parametrize("method", ["q", "sarsa"])
def test_values_stay_bounded(method: Any) -> None:
    """No averaging, no discount, guesses built on guesses: without a limit they would feed each other."""
    largest, of_all, limit = _extreme(replace(WILD, method=method, prior=100.0), 40_000)
    assert limit == 1.0
    assert largest <= 1.0
    assert of_all <= 2.0, "an advantage is a difference of two"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["q", "sarsa"])
@pytest.mark.parametrize("key", ["patterns", "cards"])
def test_values_stay_bounded_for_long(method: Any, key: str) -> None:
    config = replace(WILD, method=method, key=key, prior=0.0, gamma=0.99, gamma_final=0.99, reward_weight=1.0)
    largest, _, limit = _extreme(replace(config, opponents=("1 self",)), 2_000_000)
    assert largest <= 1 + (limit - 1) / 2, "the geometric sum of one best reward a turn, for ever; it needs no cutting"


# ---- learning ----


SOLVES = replace(
    THREE, opponents=("1 self",), games_per_cycle=60_000, cycles=1, num_envs=128, opening_plies=4, epsilon=0.5,
    epsilon_final=0.1, alpha=0.3, alpha_final=0.02,
)  # fmt: skip


@pytest.mark.parametrize("method", ["q", "sarsa"])
def test_it_solves_three_in_a_row(method: Any) -> None:
    learner = TabularLearner(resolve(replace(SOLVES, method=method)))
    while learner.cycle.progress() < 1:
        learner.state.progress = progress(learner)
        learner.iterate()
    game, agent = learner.game, learner.agent()
    assert play_match(game, agent, make("minimax:depth=9", game), 200, seed=3, opening_plies=0).losses == 0
    assert losses_against_everything(game, agent) == 0
    assert play_match(game, agent, make("random", game), 200, seed=3).score > 0.85


# ---- runs ----


@pytest.mark.parametrize(("config", "stop"), [(THREE, 33), (THREE, 110), (RICH, 100)], ids=["33", "110", "rich"])
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, config: Tabular, stop: int) -> None:
    check_resume(tmp_path, replace(config, cycles=50), stop)
    assert len(find_checkpoint(tmp_path / "parts", "last").tensors("table")["values"]) > 100


@pytest.fixture
def three(tmp_path: Path) -> Path:
    learner, run = begin(tmp_path / "three", THREE)
    with run:
        assert train(learner, run, silent)
    return run.path


def test_a_cycle_tells_what_pictures_need(three: Path) -> None:
    *_, cycle = (record for record in read_metrics(three) if record["event"] == "cycle")
    table = load_run(str(three), None, "last").table
    assert cycle["entries"] == sum(cycle["visits"]) == sum(cycle["values"]["counts"]) == len(table)
    assert np.sum(cycle["squares"]) > 0
    assert cycle["table_bytes"] == table.bytes


def test_the_best_table_is_kept_while_the_other_goes_on() -> None:
    learner = TabularLearner(resolve(THREE))
    for _ in range(50):
        learner.iterate()
    learner.versions.keep_best()
    batch = pg.Batch(learner.game, 64, seed=3)
    for _ in range(3):
        batch.step(batch.random_actions())
    before = learner.versions.best_agent().act(batch.states, np.zeros(64, np.uint64))
    assert (before == learner.agent().act(batch.states, np.zeros(64, np.uint64))).all()
    for _ in range(300):
        learner.iterate()
    assert (before == learner.versions.best_agent().act(batch.states, np.zeros(64, np.uint64))).all()
    assert (before != learner.agent().act(batch.states, np.zeros(64, np.uint64))).any()


def test_a_run_begins_with_what_another_learned(three: Path) -> None:
    best = json.loads((three / "best.json").read_text())
    best["step"] = steps_of(three)[-1]
    (three / "best.json").write_text(json.dumps(best))
    learner = TabularLearner(resolve(replace(THREE, init=str(three))))
    assert len(learner.table) == len(load_run(str(three)).table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 1.5}, "alpha is at most 1"),
        ({"gamma_final": -1.0}, "gamma_final is a number of at least 0"),
        ({"opponents": ("1 snapshot",)}, "no snapshots"),
        ({"opponents": ("greedy",)}, "an opponent is a weight and an agent spec"),
        ({"num_envs": 0}, "num_envs is a number of at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(Error, match=message):
        replace(THREE, **change)


def test_keys_that_do_not_exist_are_refused() -> None:
    with pytest.raises(Error, match="did you mean 'patterns-v1'"):
        resolve(replace(RICH, key="pattern"))
    with pytest.raises(Error, match="no table key 'exact'"):
        resolve(replace(RICH, key="exact"))


def test_another_key_is_refused(three: Path, tmp_path: Path) -> None:
    learner, run = begin(tmp_path / "run", RICH)
    with run:
        save(learner, run)
    with pytest.raises(Error, match="key: "):
        saving.load(TabularLearner(resolve(replace(RICH, key="patterns"))), newest_whole(run.path))
    with pytest.raises(Error, match="has learned sequence, not"):
        make(f"run:{run.path}", pg.load(ROW))


def test_a_run_does_not_begin_with_a_table_of_another_key(tmp_path: Path, three: Path) -> None:
    learner, run = begin(tmp_path / "run", RICH)
    with run:
        save(learner, run)
    assert len(TabularLearner(resolve(replace(RICH, init=str(run.path)))).table) == len(learner.table)
    with pytest.raises(Error, match=r"run has a table of cards-v\d, not of patterns-v1"):
        TabularLearner(resolve(replace(RICH, key="patterns", init=str(run.path))))
    with pytest.raises(Error, match=r"has learned .*three_in_a_row.*, not sequence"):
        TabularLearner(resolve(replace(RICH, init=str(three))))


# ---- learning while it plays ----


def updates_of(checkpoint: Checkpoint) -> int:
    return checkpoint.state()["parts"]["state"]["updates"]


def test_an_agent_that_goes_on_learning_saves_what_it_learned(three: Path) -> None:
    game, before, best = pg.load(ROW), find_checkpoint(three, "last"), (three / "best.json").read_text()
    old = before.tensors("table")
    agent: Any = make(f"run:{three},learn=true", game)
    with pytest.raises(Busy):
        make(f"run:{three},learn=true", game)
    match = play_match(game, agent, make("random", game), 20, seed=8)
    after = find_checkpoint(three, "last")
    new, corrections = after.tensors("table"), updates_of(after) - updates_of(before)
    assert after.step == before.step + 1
    assert new["visits"].sum() - old["visits"].sum() == corrections
    assert corrections > match.games
    assert (new["keys"][: len(old["keys"])] == old["keys"]).all()
    assert (new["visits"][: len(old["visits"])] >= old["visits"]).all()
    assert (three / "best.json").read_text() == best, "what is best is decided by matches"
    assert "learned from 20 games" in read_metrics(three)[-1]["text"]
    play_match(game, agent, make("random", game), 4, seed=9)
    assert find_checkpoint(three, "last").step == before.step + 2
    agent.run.close()
    learner, run = go_on(three)
    with run:
        assert learner.state.step == before.step + 2
        assert len(learner.table) == len(agent.table)


@pytest.mark.parametrize("plies", [4, 8])
def test_a_match_that_is_stopped_keeps_what_was_learned(three: Path, plies: int) -> None:
    """After four plies no game has ended, after eight some have."""
    game, before, ended = pg.load(ROW), find_checkpoint(three, "last"), list[int]()
    agent: Any = make(f"run:{three},learn=true", game)

    def ctrl_c(games: int) -> None:
        ended.append(games)
        if len(ended) == plies:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_match(game, agent, make("random", game), 20, seed=8, opening_plies=0, progress=ctrl_c)
    agent.run.close()
    assert (ended[-1] > 0) == (plies == 8)
    after = find_checkpoint(three, "last")
    assert after.step == before.step + 1
    assert f"learned from {ended[-1]} games" in read_metrics(three)[-1]["text"]
    corrections = updates_of(after) - updates_of(before)
    assert corrections >= 20
    assert after.tensors("table")["visits"].sum() - before.tensors("table")["visits"].sum() == corrections
    again: Any = make(f"run:{three},learn=true", game)
    assert len(again.table) == len(agent.table)
    again.run.close()


def test_it_learns_as_the_learner_would(three: Path) -> None:
    """One game against a person, with a move taken back: the values are those of the plain rule."""
    game = pg.load(ROW)
    agent: Any = make(f"run:{three},learn=true", game)
    gamma, alpha = agent.rule.gamma, agent.rule.alpha
    position, number, rngs = game.start(), np.array([3]), np.zeros(1, np.uint64)

    def answer() -> int:
        return int(ask(agent, number, position.states.copy(), rngs)[0])

    def entry(state: pg.Position, action: int) -> tuple[float, int]:
        key, found = np.zeros((1, agent.table.key.words), np.uint64), np.zeros(1, np.int64)
        key[0, :-1] = np.frombuffer(
            agent.table.records(state.states).tobytes().ljust(8 * (key.size - 1), b"\0"), np.uint64
        )
        key[0, -1] = action + 1
        agent.table.kernels.find_all(agent.table.entries, key, found)
        if found[0] < 0:
            return 0.0, 0
        return float(agent.table.entries.values[found[0]]), int(agent.table.entries.visits[found[0]])

    start, first = game.position(position.text), answer()
    value, visits = entry(start, first)
    position = position.play(first)
    position = position.play(position.legal()[0])
    middle, second = game.position(position.text), answer()
    behind = max((entry(middle, move)[0] for move in middle.legal()), default=0.0)
    expected = value + max(alpha, 1 / (visits + 1)) * (gamma * behind - value)
    assert entry(start, first) == (pytest.approx(expected, abs=1e-6), visits + 1)
    held = entry(middle, second)
    tell(agent, number, np.array([RUNNING], np.int8))  # taken back
    assert entry(middle, second) == held
    third = answer()  # the same action, or another that is as good
    held = entry(middle, third)
    tell(agent, number, np.array([FIRST_WINS + start.to_move], np.int8))
    expected = held[0] + max(alpha, 1 / (held[1] + 1)) * (1.0 - held[0])
    assert entry(middle, third) == (pytest.approx(expected, abs=1e-6), held[1] + 1)
    assert steps_of(three)[-1] == agent.checkpoint.step
    agent.run.close()


def test_only_tables_go_on_learning(three: Path) -> None:
    with pytest.raises(Error, match="last checkpoint, not with 'best'"):
        make(f"run:{three},checkpoint=best,learn=true", pg.load(ROW))
    with pytest.raises(Error, match=r"learn .* is true or false"):
        make(f"run:{three},learn=yes", pg.load(ROW))
    config = three / "config.toml"
    config.write_text(config.read_text().replace('learner = "tabular"', 'learner = "dqn"'))
    with pytest.raises(Error, match="only tables do"):
        make(f"run:{three},learn=true", pg.load(ROW))
