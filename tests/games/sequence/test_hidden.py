"""What a seat of Sequence may know: card counting, redrawn worlds, views; agents that do not peek."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import plyground as pg
from conftest import JIT
from naive.sequence import Counting
from plyground.agents.registry import make
from plyground.checks import laws
from plyground.games.rng import seeds
from plyground.games.sequence.cards import CARDS, OPEN
from plyground.games.sequence.text import known_hand, pool, view

VARIANTS = ["sequence", "sequence:seats=4", "sequence:rules=boxed", "sequence:rules=boxed,seats=4"]


def _after(word: str, plies: int, seed: int = 3) -> pg.Position:
    """A game after some random actions."""
    position, rng = pg.load(word).start(seed), np.random.default_rng(seed)
    for _ in range(plies):
        legal = position.legal()
        position = position.play(legal[rng.integers(len(legal))])
    assert not position.over
    return position


def _redrawn(position: pg.Position, seat: int, times: int, seed: int = 1) -> np.ndarray:
    states = np.repeat(position.states, times)
    position.game.kernels().determinize_all(states, np.full(times, seat, np.int32), seeds(seed, times))
    return states


@pytest.mark.parametrize("word", ["sequence", "sequence:seats=4"])
def test_watching_the_actions_tells_as_much_as_the_record(word: str) -> None:
    game, rng = pg.load(word), np.random.default_rng(6)
    for seed in range(5 if JIT else 1):
        position = game.start(seed)
        seats = int(position.state["seats"])
        watcher = Counting(seats)
        while not position.over:
            legal = position.legal()
            action, owner = legal[rng.integers(len(legal))], position.seat
            watcher.watch(owner, position.name(action))
            position = position.play(action)
            state = position.state
            for seat in range(seats):
                hand = known_hand(state, seat, seat)
                display = [CARDS[card] for card in state["display"] if card >= 0]
                assert pool(state, seat) == watcher.pool(seat, hand, display)
                for other in set(range(seats)) - {seat}:
                    assert Counter(known_hand(state, seat, other)) == +watcher.known[other]


def test_after_six_secret_cards_a_hand_is_open() -> None:
    position, rng = pg.load("sequence").start(2), np.random.default_rng(2)
    while not position.over and (position.state["drawn"][1, :6] != OPEN).any():
        legal = position.legal()
        position = position.play(legal[rng.integers(len(legal))])
    assert not position.over
    assert sorted(known_hand(position.state, 0, 1)) == sorted(known_hand(position.state, 1, 1))
    for state in _redrawn(position, 0, 20):
        assert known_hand(state, 1, 1) == known_hand(position.state, 1, 1)


@pytest.mark.compiled
@pytest.mark.parametrize("word", VARIANTS)
@pytest.mark.parametrize("plies", [0, 25])
def test_redrawn_cards_have_hypergeometric_frequencies(word: str, plies: int) -> None:
    """10,000 draws: every secret place holds each card of the pool as often as it has copies there."""
    position, draws = _after(word, plies), 10_000
    seat = position.seat
    expected = pool(position.state, seat)
    size = sum(expected.values())
    states = _redrawn(position, seat, draws)
    for owner in range(int(position.state["seats"])):
        for k in np.flatnonzero(position.state["drawn"][owner, : position.state["held"][owner]] != OPEN):
            if owner != seat:
                assert _fits(states["hands"][:, owner, k], expected, size)
                assert not _fits(np.repeat(position.state["hands"][owner, k], draws), expected, size)
    top = states["deck"][:, int(position.state["deck_size"]) - 1]
    assert _fits(top, expected, size)
    pairs = np.array([len({int(c) for c in hand}) for hand in states["hands"][:, 1 - seat % 2, :2]])
    assert plies or abs((pairs == 1).mean() - sum(n * (n - 1) for n in expected.values()) / (size * (size - 1))) < 0.004


def _fits(cards: np.ndarray, expected: Counter[str], size: int) -> bool:
    """A chi-square test that fails once in a hundred thousand times where nothing is wrong."""
    counts = np.bincount(cards, minlength=len(CARDS))
    wanted = np.array([expected[card] / size * len(cards) for card in CARDS])
    if counts[wanted == 0].any():
        return False
    kinds = wanted > 0
    chi_square = ((counts - wanted)[kinds] ** 2 / wanted[kinds]).sum()
    degrees = int(kinds.sum()) - 1
    return chi_square < degrees + 4.3 * (2 * degrees) ** 0.5 + 12


@pytest.mark.parametrize("word", VARIANTS)
def test_redrawing_keeps_everything_public(word: str) -> None:
    game = pg.load(word)
    states = laws.sample(game, 30 if JIT else 1, seed=9, most=2000 if JIT else 30).states
    n = len(states)
    for seat in range(int(states[0]["seats"])):
        redrawn = states.copy()
        game.kernels().determinize_all(redrawn, np.full(n, seat, np.int32), seeds(2, n))
        for name in game.rules.STATE.names or ():
            if name not in ("hands", "deck"):
                assert np.array_equal(redrawn[name], states[name]), name
        assert np.array_equal(redrawn["hands"][:, seat], states["hands"][:, seat])
        open_cards = states["drawn"] == OPEN
        assert np.array_equal(redrawn["hands"][open_cards], states["hands"][open_cards])
        for old, new in zip(states[:: n // 20], redrawn[:: n // 20], strict=True):
            assert pool(old, seat) == pool(new, seat)
            assert view(old, seat) == view(new, seat)
            assert game.rules.observe(old, seat) == game.rules.observe(new, seat)
        assert (redrawn["hands"] != states["hands"]).any()


@pytest.mark.compiled
def test_old_secrets_stay_among_old_places_after_a_reshuffle() -> None:
    """Four seats, boxed: what three hands held when the discards were reshuffled is known together, not apart."""
    position, rng, seed = pg.load("sequence:rules=boxed,seats=4").start(0), np.random.default_rng(0), 0
    while not position.state["reshuffles"] or (position.state["drawn"][:, 0] != 0).any():
        legal = position.legal()
        if not legal:
            seed += 1
            position = position.game.start(seed)
            continue
        position = position.play(legal[rng.integers(len(legal))])
    states = _redrawn(position, 0, 500)
    old = position.state["drawn"][1:] == 0
    old &= position.state["hands"][1:] >= 0
    truth = sorted(position.state["hands"][1:][old].tolist())
    for state in states:
        assert sorted(state["hands"][1:][old].tolist()) == truth
    assert (states["hands"][:, 1:] != position.state["hands"][1:]).any()


def test_two_boxed_seats_know_each_other_when_the_discards_are_reshuffled() -> None:
    position, rng, seed = pg.load("sequence:rules=boxed").start(0), np.random.default_rng(0), 0
    owner = 0
    while not position.state["reshuffles"]:
        legal = position.legal()
        if not legal:
            seed += 1
            position = position.game.start(seed)
            continue
        owner = position.seat
        position = position.play(legal[rng.integers(len(legal))])
    assert known_hand(position.state, owner, 1 - owner) == known_hand(position.state, 1 - owner, 1 - owner)
    assert len(known_hand(position.state, 1 - owner, owner)) == 6  # all but the card drawn from the new deck


@pytest.mark.parametrize("word", VARIANTS)
@pytest.mark.parametrize("name", ["greedy", "window", "random"])
def test_agents_do_not_peek(word: str, name: str) -> None:
    """The same choice, with the same luck, in every world that the seat cannot tell from this one."""
    game = pg.load(word)
    states = laws.sample(game, 30 if JIT else 1, seed=4, most=1500 if JIT else 10).states
    agent, n = make(name, game), len(states)
    seats = np.empty(n, np.int32)
    game.kernels().seats_to_act(states, seats)
    other = states.copy()
    game.kernels().determinize_all(other, seats, seeds(7, n))
    assert np.array_equal(agent.act(states, seeds(1, n)), agent.act(other, seeds(1, n)))


def test_a_view_hides_the_deck_and_the_secret_cards() -> None:
    position = _after("sequence", 10)
    text = view(position.state, 0)
    assert f"deck={position.state['deck_size']}" in text
    assert "??" in text
    assert "??" not in view(position.state, 0).split("hands=")[1].split(",")[0]
    with pytest.raises(pg.InvalidText, match="seat's view"):
        position.game.position(text)


def test_a_refusal_does_not_tell_the_secrets() -> None:
    position = _after("sequence", 10)
    with pytest.raises(pg.IllegalAction, match="is not legal in") as caught:
        position.play("place 2s a1")
    assert position.view in str(caught.value)
    assert "deck=77" in str(caught.value)
    assert position.text not in str(caught.value)
