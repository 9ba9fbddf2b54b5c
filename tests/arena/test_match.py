"""Matches: in pairs, from both sides, reproducible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import plyground as pg
from conftest import TINY
from plyground.agents.agent import independent
from plyground.agents.registry import make
from plyground.arena import match
from plyground.arena.match import Match, combined, openings, play_match, play_pairs
from plyground.games.interface import RUNNING


class Lowest:
    """Plays the first legal action: no chance in it."""

    def __init__(self, game: pg.Game) -> None:
        self.game = game
        self.seen: list[NDArray[np.void]] = []
        self.sees_all = False

    def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
        self.seen.append(states)
        return self.game.legal_mask(states).argmax(1).astype(np.int32)


def test_an_agent_against_itself_scores_exactly_one_half(game: pg.Game) -> None:
    """Deterministic twins play the same game twice in a pair, once from each side."""
    result = play_match(game, Lowest(game), Lowest(game), 40, seed=3)
    assert result.score == 0.5
    assert (result.scores.sum(axis=1) == 1).all()
    assert result.elo == 0
    assert result.games == 40
    assert result.wins + result.draws + result.losses == 40


def test_the_same_seed_gives_the_same_match(connect_four: pg.Game) -> None:
    def scores(seed: int) -> list[list[float]]:
        agents = make("greedy", connect_four), make("punisher", connect_four)
        return play_match(connect_four, *agents, 100, seed).scores.tolist()

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


def test_a_pair_shares_its_opening(connect_four: pg.Game) -> None:
    first, second = Lowest(connect_four), Lowest(connect_four)
    play_match(connect_four, first, second, 20, seed=1, opening_plies=6)
    assert (first.seen[0] == second.seen[0]).all(), "first acts in even rows where second acts in odd ones"
    assert (first.seen[0]["ply"] == 6).all()
    assert len({state.tobytes() for state in first.seen[0]}) > 5


def test_a_pair_shares_its_deal() -> None:
    duel = pg.load(TINY[0])
    first, second = Lowest(duel), Lowest(duel)
    play_match(duel, first, second, 20, seed=1, opening_plies=0)
    assert (first.seen[0] != second.seen[0]).any(), "each sees its own cards"
    first.sees_all = second.sees_all = True
    first.seen, second.seen = [], []
    play_match(duel, first, second, 20, seed=1, opening_plies=0)
    assert (first.seen[0] == second.seen[0]).all()


def test_openings_are_never_decided(connect_four: pg.Game) -> None:
    states, chances, plies = openings(connect_four, 300, seed=2, plies=20)
    assert (states["outcome"] == RUNNING).all()
    assert (states["ply"] == 20).all()
    assert (plies == 20).all()
    assert len(np.unique(chances)) == 300
    with pytest.raises(pg.InvalidValue, match="42 random plies nearly always end a game"):
        openings(connect_four, 1, plies=42)


def test_strength_shows(connect_four: pg.Game) -> None:
    def score(a: str, b: str) -> float:
        return play_match(connect_four, make(a, connect_four), make(b, connect_four), 400, seed=5).score

    assert score("greedy", "random") > 0.95
    assert score("punisher", "random") > 0.9
    assert score("greedy", "punisher") > 0.6
    assert score("minimax:depth=3", "greedy") > 0.7
    assert score("minimax:depth=5", "minimax:depth=3") > 0.6


def test_progress_is_told_to_the_end(connect_four: pg.Game) -> None:
    told: list[int] = []
    play_match(connect_four, Lowest(connect_four), Lowest(connect_four), 10, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 10


def test_an_illegal_choice_is_the_agents_error(connect_four: pg.Game) -> None:
    class Stubborn:
        def act(self, states: NDArray[np.void], rngs: NDArray[np.uint64]) -> NDArray[np.int32]:
            return np.zeros(len(states), np.int32)

        def __str__(self) -> str:
            return "stubborn"

    with pytest.raises(pg.Error, match="the agent stubborn chose an illegal action: 0 is not legal"):
        play_match(connect_four, Stubborn(), Stubborn(), 10, opening_plies=3)
    del Stubborn.__str__
    with pytest.raises(pg.Error, match=r"the agent Stubborn of test_match\.py chose an illegal action"):
        play_match(connect_four, Stubborn(), Stubborn(), 10, opening_plies=3)


@pytest.mark.parametrize("games", [0, 1, 7, -2])
def test_games_come_in_pairs(connect_four: pg.Game, games: int) -> None:
    with pytest.raises(pg.InvalidValue, match=f"not {games}"):
        play_match(connect_four, Lowest(connect_four), Lowest(connect_four), games)


def test_names_stand_for_a_game_and_agents() -> None:
    game = pg.load(TINY[1])
    one, other = (
        pg.match(TINY[1], "random", "greedy", games=20),
        pg.match(game, "random", make("greedy", game), games=20),
    )
    assert (one.scores == other.scores).all()
    low, high = one.interval
    counts = f"{one.wins} wins, {one.draws} draws, {one.losses} losses"
    assert str(one) == f"{one.score:.1%} [{low:.1%}, {high:.1%}] of 20 games: {counts}"


def test_a_match_is_shown_by_its_score_and_interval() -> None:
    match = pg.match("connect_four", "greedy", "random", games=20)
    low, high = match.interval
    assert str(match).startswith(f"{match.score:.1%} [{low:.1%}, {high:.1%}] of 20 games: {match.wins} wins")
    assert repr(match) == f"<match: {match}>"


INDEPENDENT = {
    "connect_four": [
        *("random", "greedy", "minimax:depth=2", "minimax:nodes=50", "level:3", "solver"),
        *("search:sims=20", "search:sims=20,reuse=true"),
    ],
    "sequence": ["greedy", "search:sims=8"],
}


def same(a: Match, b: Match) -> bool:
    equal = (a.plies, a.unfinished, list(a.endings.items()), a.max_plies)
    return bool((a.scores == b.scores).all()) and equal == (b.plies, b.unfinished, list(b.endings.items()), b.max_plies)


@pytest.mark.parametrize(("name", "spec"), [(name, spec) for name, specs in INDEPENDENT.items() for spec in specs])
def test_pairs_are_the_same_alone_and_with_others(name: str, spec: str) -> None:
    """For each agent that says so: what other machines play is the same match."""
    game = pg.load(name)
    first, second = make(spec, game), make("random", game)
    assert independent(first)
    whole = play_match(game, first, second, 14, seed=4)
    parts = [play_pairs(game, first, second, pairs, seed=4) for pairs in (range(2), range(2, 3), range(3, 7))]
    assert same(whole, combined(parts))


def test_pairs_from_a_book_are_the_same_alone_and_with_others(connect_four: pg.Game) -> None:
    book = np.concatenate([connect_four.position(text).states for text in ("4", "44", "445")])
    agents = make("greedy", connect_four), make("random", connect_four)
    whole = play_match(connect_four, *agents, 14, seed=4, book=book)
    parts = [play_pairs(connect_four, *agents, pairs, seed=4, book=book) for pairs in (range(4), range(4, 7))]
    assert same(whole, combined(parts))


def test_agents_that_may_depend_on_their_batch_play_in_blocks(
    connect_four: pg.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "BLOCK", 5)
    greedy, unknown = make("greedy", connect_four), Lowest(connect_four)
    assert match.blocks(12, greedy, greedy) == [range(12)]
    assert match.blocks(12, greedy, unknown) == [range(5), range(5, 10), range(10, 12)]
    finished: list[int] = []
    whole = play_match(connect_four, unknown, greedy, 24, seed=4, progress=finished.append)
    assert len(unknown.seen[0]) <= 10
    assert finished == sorted(finished)
    assert finished[-1] == 24
    monkeypatch.undo()
    assert same(whole, play_match(connect_four, unknown, greedy, 24, seed=4))


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        ((None, "random", "random"), {}, "a game is its name, .*, not None"),
        (("connect_four", "random", None), {}, "an agent is a spec such as 'random', .*, not None"),
        (("connect_four", "random", "random"), {"games": "x"}, "an even number of games, at least 2, not 'x'"),
        (("connect_four", "random", "random"), {"seed": "a"}, "a seed is a whole number, not 'a'"),
        (("connect_four", "random", "random"), {"max_plies": "x"}, "max_plies of a match is a whole number"),
        (("connect_four", "random", "random"), {"opening_plies": "x"}, "0 to 42 plies, not 'x'"),
    ],
)
def test_arguments_of_the_wrong_type_are_our_errors(arguments: Any, settings: Any, message: str) -> None:
    with pytest.raises(pg.InvalidValue, match=message):
        pg.match(*arguments, **settings)
