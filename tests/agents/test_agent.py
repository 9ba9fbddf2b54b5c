"""Agents: legal, sensible, reproducible, and named by specs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plyground as pg
from conftest import ROOT, TESTS, TINY
from naive.minimax import naive_minimax
from plyground import specs
from plyground.agents.agent import Agent, ask
from plyground.agents.registry import AGENTS, entries, known, make
from plyground.agents.scripted import ScriptedAgent
from plyground.checks import laws
from plyground.games.rng import MIX_1, MIX_2, STEP, seeds
from plyground.learners.evaluation import notation
from plyground.play.session import Session
from plyground.play.watching import by_agents
from plyground.search.minimax import Minimax
from plyground.web import thinking


def _choices(agent: Agent, position: pg.Position, n: int = 200) -> set[str]:
    """The names of what an agent plays in one position, over many generators."""
    actions = agent.act(np.repeat(position.states, n), seeds(1, n))
    return {position.name(int(action)) for action in actions}


ELSEWHERE = ("uci:", "search:", "level:")
"""agents with tests of their own: engines have a clock, and tree search takes long to compile for each game"""


def test_every_known_agent_plays_legal_moves(game: pg.Game) -> None:
    sample = laws.sample(game, 20, most=400)
    masks = pg.Batch(game, 1).legal_mask(sample.states)
    for word in (word for word in known(game) if not word.startswith(ELSEWHERE)):
        actions = make(word, game).act(sample.states.copy(), seeds(2, len(sample.states)))
        assert actions.shape == (len(sample.states),)
        assert masks[np.arange(len(actions)), actions].all(), word


def test_a_row_alone_gets_the_action_it_gets_in_a_batch(game: pg.Game) -> None:
    sample = laws.sample(game, 10, most=100)
    for word in (word for word in known(game) if not word.startswith(ELSEWHERE)):
        agent, rngs = make(word, game), seeds(4, len(sample.states))
        together = agent.act(sample.states.copy(), rngs.copy())
        for row in range(0, len(together), 5):
            alone = agent.act(sample.states[row : row + 1].copy(), rngs[row : row + 1].copy())
            assert alone[0] == together[row], word


@pytest.mark.parametrize("word", ["greedy", "punisher", "minimax:depth=2", "minimax:depth=5"])
def test_wins_are_taken_and_threats_are_blocked(connect_four: pg.Game, word: str) -> None:
    agent = make(word, connect_four)
    assert _choices(agent, connect_four.position("121212")) == {"1"}, "its own win comes first"
    assert _choices(agent, connect_four.position("1212127")) == {"2"}
    assert _choices(agent, connect_four.position("1212137")) == {"1"}, "the only block"


def test_without_a_threat_greedy_takes_the_centre_and_punisher_anything(connect_four: pg.Game) -> None:
    start, filled = connect_four.start(), connect_four.position("444444")
    assert _choices(make("greedy", connect_four), start) == {"4"}
    assert _choices(make("greedy", connect_four), filled) == {"3", "5"}
    assert _choices(make("punisher", connect_four), start) == set("1234567")
    assert _choices(make("random", connect_four), filled) == set("123567")


@pytest.mark.parametrize("word", ["connect_four", TINY[1], f"{TINY[1]}:length=5"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_minimax_finds_what_the_naive_search_finds(word: str, depth: int) -> None:
    game = pg.load(word)
    sample = laws.sample(game, 12, seed=3)
    rows = np.arange(0, len(sample.states), max(1, len(sample.states) // 40))
    states = sample.states[rows]
    actions, values = Minimax(game, depth).search(states, seeds(0, len(states)))
    for row in range(len(states)):
        position = pg.Position(game, states[row : row + 1])
        assert values[row] == pytest.approx(naive_minimax(position, depth), abs=1e-5)
        child = position.play(int(actions[row]))
        after = naive_minimax(child, depth - 1, ply=1)
        assert values[row] == pytest.approx(after if child.to_move == position.to_move else -after, abs=1e-5)


def test_minimax_draws_from_all_equal_moves(connect_four: pg.Game) -> None:
    assert len(_choices(make("minimax:depth=1", connect_four), connect_four.start())) == 1
    both_ends = connect_four.position("41526")  # x wins at 3 or at 7, whatever o does
    assert _choices(make("minimax:depth=2", connect_four), both_ends) == set("1234567")


def test_minimax_prefers_the_quick_win_and_the_late_loss(connect_four: pg.Game) -> None:
    agent = make("minimax:depth=5", connect_four)
    quick = connect_four.position("415263")  # o spoiled one end: x wins at once at 7
    assert _choices(agent, quick) == {"7"}
    assert isinstance(agent, Minimax)
    doomed = connect_four.position("41526")
    _, values = agent.search(doomed.states, seeds(0, 1))
    assert values[0] == -(1000 - 1)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gredy", "did you mean 'greedy'"),
        ("", "no agent for connect_four ''"),
        ("minimax:depth=0", "1 to 40 plies ahead, not 0"),
        ("minimax:depth=41", "not 41"),
        ("minimax:depth=x", "a whole number, not 'x'"),
        ("minimax:deep=3", "no option of the agent minimax 'deep'; did you mean 'depth'"),
        ("random:depth=3", "no option of the agent random 'depth'; known: none"),
        ("run:", "names no DIR; write run:DIR"),
        ("run:x,learn=maybe", "learn of the agent run is true or false, not 'maybe'"),
        ("run:x,step=3", "no option of the agent run 'step'; known: checkpoint, learn"),
        ("run:x,sims=50", "a search with its network: search:model=x,sims=50"),
        ("minimax:", "cannot read ''"),
    ],
)
def test_a_wrong_spec_is_refused(connect_four: pg.Game, word: str, message: str) -> None:
    with pytest.raises(pg.Error, match=message):
        make(word, connect_four)


@pytest.mark.parametrize("number", ["9" * 4000, "-" + "9" * 4000, "9" * 5000])
@pytest.mark.parametrize("option", ["minimax:depth", "minimax:nodes", "minimax:table", "search:sims", "search:time"])
def test_a_number_of_thousands_of_digits_is_refused_in_a_short_sentence(
    connect_four: pg.Game, option: str, number: str
) -> None:
    with pytest.raises(pg.InvalidValue) as error:
        make(f"{option}={number}", connect_four)
    assert len(str(error.value)) < 200


def test_an_agent_that_cannot_play_a_game_says_what_it_needs(connect_four: pg.Game) -> None:
    duel = pg.load(TINY[0])
    assert known(duel) == ["random", "search:sims=1000", "level:5"]
    for spec in ("minimax:depth=2", "greedy"):
        with pytest.raises(pg.InvalidValue, match=r"cannot play .*: it needs .* is hidden .*; known: random, search.*"):
            make(spec, duel)
    with pytest.raises(pg.UnknownName, match="no agent for chess 'solver'"):
        make("solver", pg.load("chess"))
    with pytest.raises(pg.InvalidValue, match="it needs a pretrained network"):
        make("trained", duel)


def test_every_entry_of_the_table_is_listed_made_and_documented(connect_four: pg.Game) -> None:
    table = entries(connect_four)
    assert list(table)[:3] == ["random", "greedy", "punisher"]
    assert set(AGENTS) < set(table)
    searches = ["minimax:depth=3", "search:sims=1000", "level:5"]
    assert known(connect_four) == ["random", "greedy", "punisher", "solver", *searches, "trained"]
    for name, entry in table.items():
        assert len(entry.make.__doc__ or "") > 5, name
        assert entry.path or make(entry.example, connect_four) is not None, name
    assert isinstance(make("greedy", connect_four), ScriptedAgent), "a game's own agent comes first"
    assert isinstance(make("greedy", pg.load(TINY[1])), Minimax)


@pytest.mark.parametrize(
    ("text", "path", "options"),
    [
        ("runs/a", "runs/a", {}),
        ("runs/a,checkpoint=last,learn=true", "runs/a", {"checkpoint": "last", "learn": "true"}),
        ("runs/a,b=1/c", "runs/a,b=1/c", {}),
        ("C:\\engines\\fish.exe,elo=1350", "C:\\engines\\fish.exe", {"elo": "1350"}),
    ],
)
def test_a_path_and_its_options_are_told_apart(text: str, path: str, options: dict[str, str]) -> None:
    assert specs.split_path(text) == (path, options)


def test_a_path_that_exists_is_not_split(tmp_path: Path) -> None:
    odd = tmp_path / "run,gamma=1"
    odd.mkdir()
    assert specs.split_path(str(odd)) == (str(odd), {})
    assert specs.split_path(f"{odd},checkpoint=last") == (str(odd), {"checkpoint": "last"})


@pytest.mark.parametrize(
    ("returned", "told"),
    [(None, "nothing"), ([0], "[0], int64 of shape (1,)"), (["4", "4"], "['4', '4'], <U1 of shape (2,)")],
)
def test_an_agent_of_ones_own_that_returns_no_actions_is_told_so(
    connect_four: pg.Game, returned: Any, told: str
) -> None:
    class Own:
        def act(self, states: Any, rngs: Any) -> Any:
            return returned

    sentence = f"the agent Own of test_agent.py returns {told} from `act`, not a whole number for each state, here "
    with pytest.raises(pg.InvalidValue, match=re.escape(sentence + "2 actions")):
        pg.match(connect_four, Own(), "random", games=4)
    if returned != [0]:  # which is right for one position
        with pytest.raises(pg.InvalidValue, match="a whole number for each state, here 1 action"):
            connect_four.start().ask(Own())


def test_an_agent_of_another_game_is_refused(connect_four: pg.Game) -> None:
    hops = pg.load(TINY[1])
    for agent in (make("greedy", connect_four), make("random", connect_four), make("minimax:depth=2", connect_four)):
        with pytest.raises(pg.InvalidValue, match=rf"^this agent plays connect_four, not {hops} \({agent}\)$"):
            pg.match(hops, "random", agent, games=2)
    with pytest.raises(pg.InvalidValue, match=r"^this agent plays sequence:seats=4, not sequence "):
        make(make("random", "sequence:seats=4"), "sequence")


def test_an_agent_plays_on_when_its_file_is_copied_or_edited_unless_records_change(tmp_path: Path) -> None:
    file, text = tmp_path / "hops.py", Path(TINY[1]).read_text()
    file.write_text(text)
    agent = make("random", TINY[1])
    assert make(agent, pg.load(file)) is agent
    agent = make("random", pg.load(file))
    file.write_text(text.replace("% 3 == 0", "% 2 == 0"))
    assert make(agent, pg.load(file)) is agent
    file.write_text(text.replace("LONGEST = 15", "LONGEST = 17"))
    with pytest.raises(pg.InvalidValue, match=f"^this agent plays {file}, not {file}: its records have changed "):
        make(agent, pg.load(file))


def test_what_is_no_agent_is_refused(connect_four: pg.Game) -> None:
    class Own:
        def act(self, states: Any, rngs: Any) -> Any: ...

    for wrong in (None, 3, int, Own):
        with pytest.raises(
            pg.InvalidValue, match="^an agent is a spec such as 'random', .*, not " + re.escape(repr(wrong))
        ):
            make(wrong, connect_four)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "spec", ["random", "greedy", "solver", "minimax:depth=2", "minimax:nodes=50", "level:1", "search:sims=9"]
)
def test_an_agent_is_shown_by_its_game_and_spec(connect_four: pg.Game, spec: str) -> None:
    agent = make(spec, connect_four)
    assert (str(agent), repr(agent)) == (spec, f"<agent for connect_four: {spec}>")


# ---- what an agent gets to see ----


class Asked:
    """Plays at random, and keeps what it was asked."""

    def __init__(self, game: pg.Game) -> None:
        self.game, self.random = game, make("random", game)
        self.states, self.rngs = list[Any](), list[Any]()

    def act(self, states: Any, rngs: Any) -> Any:
        assert len(states), "no states: nothing to choose"
        self.states.append(states.copy())
        self.rngs.append(rngs.copy())
        return self.random.act(states, rngs)

    def analyse(self, position: pg.Position, rngs: Any) -> Any:
        self.states.append(position.states.copy())
        self.rngs += [rngs.copy(), position.rngs.copy()]
        return None


class Learner(Asked):
    """The same, told which games it plays."""

    def act_in(self, games: Any, states: Any, rngs: Any) -> Any:
        return self.act(states, rngs)

    def ended(self, games: Any, outcomes: Any) -> None: ...


PEEK = """
class Peek:
    def __init__(self, game):
        self.game = game

    def act(self, states, rngs):
        hidden = states["where"] * 3 ** __import__("numpy").arange(8)  # of the deck and of both hands
        legal = self.game.legal_mask(states)
        return [row.nonzero()[0][key % row.sum()] for row, key in zip(legal, hidden.sum(1))]


class Open(Peek):
    sees_all = True
"""


def deals(duel: pg.Game) -> tuple[Any, Any]:
    """[40] deals, and others that look the same to the seat that acts."""
    states = laws.sample(duel, 40, seed=4).states[:40]
    other, seats = states.copy(), np.empty(40, np.int32)
    duel.kernels().seats_to_act(other, seats)
    duel.kernels().determinize_all(other, seats, seeds(9, 40))
    assert (other != states).any()
    return states, other


def test_an_agent_of_ones_own_cannot_play_by_what_is_hidden(tmp_path: Path) -> None:
    duel, file = pg.load(TINY[0]), tmp_path / "peek.py"
    file.write_text(PEEK)
    states, other = deals(duel)
    peek, openly = (make(f"file:{file}:{name}", duel) for name in ("Peek", "Open"))
    assert (ask(peek, duel, states, seeds(1, 40)) == ask(peek, duel, other, seeds(1, 40))).all()
    assert (ask(openly, duel, states, seeds(1, 40)) != ask(openly, duel, other, seeds(1, 40))).any()
    for agent in (Asked(duel), Learner(duel)):
        for deal in (states, other):
            ask(agent, duel, deal, seeds(1, 40), np.arange(40))
        assert agent.states[0].tobytes() == agent.states[1].tobytes() != states.tobytes()
        assert (agent.rngs[0] == seeds(1, 40)).all(), "the draws of what is hidden advance nothing"


def test_results_say_who_sees_what_is_hidden(tmp_path: Path) -> None:
    duel, file = pg.load(TINY[0]), tmp_path / "peek.py"
    file.write_text(PEEK)
    peek, openly = f"file:{file}:Peek", f"file:{file}:Open"
    assert "hidden" not in str(pg.match(duel, peek, "random", games=10))
    found = pg.match(duel, openly, "random", games=10)
    assert str(found).endswith("; Open of peek.py sees what is hidden")
    kept = tmp_path / "ladder.json"
    for _ in range(2):  # played, and read again
        ladder = pg.ladder(duel, openly, "random", games=4, path=kept)
        assert f"{openly} (sees what is hidden)" in str(ladder)
        assert "random (" not in str(ladder)
    file.write_text(PEEK.replace("sees_all = True", "pass"))
    assert f"{openly} (sees what is hidden)" in str(pg.ladder(duel, openly, "random", "level:2", games=4, path=kept))
    assert "hidden" not in str(pg.match("connect_four", make("random", "connect_four"), Seeing(), games=4))


class Seeing:
    sees_all = True

    def act(self, states: Any, rngs: Any) -> Any:
        return pg.load("connect_four").legal_mask(states).argmax(1)


def test_what_is_not_hidden_is_not_copied(connect_four: pg.Game) -> None:
    class Same:
        def act(self, states: Any, rngs: Any) -> Any:
            assert states is given
            return np.zeros(len(states), np.int32)

    given = connect_four.start().states
    ask(Same(), connect_four, given, seeds(0, 1))


def steps_between(one: Any, other: Any) -> Any:
    """How many numbers lie between the states of two generators, at most 2**63."""
    with np.errstate(over="ignore"):
        found = (one - other) * np.uint64(pow(int(STEP), -1, 2**64))
        return np.minimum(found, np.uint64(0) - found)


def unscattered(numbers: Any) -> Any:
    """The inverse of `scatter`."""
    with np.errstate(over="ignore"):
        x = numbers ^ (numbers >> np.uint64(31)) ^ (numbers >> np.uint64(62))
        x = x * np.uint64(pow(int(MIX_2), -1, 2**64))
        x = x ^ (x >> np.uint64(27)) ^ (x >> np.uint64(54))
        x = x * np.uint64(pow(int(MIX_1), -1, 2**64))
        return x ^ (x >> np.uint64(30)) ^ (x >> np.uint64(60))


def seeds_behind(rngs: Any, rows: int) -> Any:
    """[rows, N] the seeds of which `seeds` makes generators [N], were they in these rows."""
    with np.errstate(over="ignore"):
        starts = unscattered(rngs) - np.arange(rows, dtype=np.uint64)[:, None] * STEP
        return unscattered(starts) - STEP


@pytest.mark.compiled
def test_no_agent_has_the_generator_of_its_game() -> None:
    """An agent that had it would know what chance does next: of all that are handed out, none is within a million
    numbers of those that decide, and none tells a seed that is near to the game's."""
    assert (seeds_behind(seeds(5, 3), 3).diagonal() == 5).all()
    pig = pg.load(TESTS / "tiny_games" / "pig.py")

    def asked(play: Any, games: int = 1, seed: int = 0) -> None:
        agent = Asked(pig)
        play(agent)
        assert agent.rngs
        handed = np.concatenate(agent.rngs)
        assert (steps_between(handed[:, None], seeds(seed, games)) > 1_000_000).all()
        first = agent.rngs[0]  # drawn from by nobody
        assert (seeds_behind(first, 2 * games) - np.uint64(seed) > 1_000_000).all()
        positions = [pg.Position(pig, states[:1]).rngs for states in agent.states]  # in which it plays on in thought
        assert (steps_between(np.concatenate(positions)[:, None], seeds(seed, games)) > 1_000_000).all()

    def session(agent: Any) -> None:
        game = Session(pig.start(0), agent, "asked", side=1, seed=0)
        while game.agent_to_move:
            game.reply()

    def watched(agent: Any) -> None:
        by_agents(lambda: (agent, agent), 0)(pig.start(0))

    asked(lambda agent: pig.start(0).ask(agent))
    asked(lambda agent: pig.start(0).analyse(agent))
    asked(lambda agent: pg.match(pig, agent, agent, games=20), games=10)
    asked(lambda agent: notation(pig, agent, agent, "asked", 1, 0, 30))
    asked(session)
    asked(watched)


def test_no_agent_is_asked_about_nothing(tmp_path: Path, connect_four: pg.Game) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "class Own:\n    def __init__(self, game):\n        self.game = game\n\n    def act(self, states, rngs):\n"
        "        if not len(states):\n            raise ZeroDivisionError\n"
        "        return self.game.legal_mask(states).argmax(1)\n"
    )
    spec = f"file:{file}:Own"
    pg.match(connect_four, spec, "random", games=4)
    pg.ladder(connect_four, spec, "random", games=2)
    pg.grade(connect_four, Asked(connect_four), positions=60, games=2, seed=2)
    assert Session(connect_four.start(), spec, "own", side=1, seed=0).reply()
    assert thinking.ready_agent(pg.load("connect_four"), spec)
    assert notation(connect_four, make(spec, connect_four), Asked(connect_four), "own", 2, 0, None)
    assert not len(ask(make(spec, connect_four), connect_four, connect_four.blank[:0].copy(), seeds(0, 0)))


def test_agents_are_asked_in_one_place() -> None:
    """`ask` hides what a seat cannot see and asks about no empty batch; whoever calls `act` himself may forget it."""
    own = {"agents/agent.py", "agents/from_file.py"}
    own |= {"agents/levels.py", "interop/uci_thinkers.py", "interop/onnx.py"}  # parts of agents of ours
    own |= {"checks/laws.py"}  # scripted agents, as devices run them
    for path in (ROOT / "src" / "plyground").rglob("*.py"):
        calls = re.findall(r"(?<!self)\.act(?:_in)?\b(?!\w)", path.read_text())
        assert not calls or str(path.relative_to(ROOT / "src" / "plyground")) in own, path
